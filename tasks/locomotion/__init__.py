"""Walking: a schedule of feet, planners of footsteps and of the centre of mass, and the tracking of their plans."""

from tasks.locomotion.adaptation import StepAdaptation
from tasks.locomotion.footsteps import CommandedSteps, Footstep, FootstepPlanner, ListedSteps, Moment
from tasks.locomotion.gait import Gait
from tasks.locomotion.pendulum import CenterPlanner, DivergentPlanner, Piece, Plan
from tasks.locomotion.pushes import PushEstimate
from tasks.locomotion.schedule import Interval, Schedule
from tasks.locomotion.tracking import Tracker, ZeroMomentTracker
from tasks.locomotion.trot import Trot
from tasks.locomotion.walk import Walk

__all__ = [
    "CenterPlanner",
    "CommandedSteps",
    "DivergentPlanner",
    "Footstep",
    "FootstepPlanner",
    "Gait",
    "Interval",
    "ListedSteps",
    "Moment",
    "Piece",
    "Plan",
    "PushEstimate",
    "Schedule",
    "StepAdaptation",
    "Tracker",
    "Trot",
    "Walk",
    "ZeroMomentTracker",
]
