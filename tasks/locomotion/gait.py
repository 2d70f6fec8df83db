"""Gaits on four legs, or another number of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from tasks import stacks
from tasks.contacts import ContactMotion, FrictionCones
from tasks.joints import JointAcceleration, TorqueMinimization
from tasks.limits import TorqueLimits
from tasks.locomotion.adaptation import StepAdaptation
from tasks.locomotion.footsteps import CommandedSteps, FootstepPlanner
from tasks.locomotion.keeping import kept_joints_and_legs
from tasks.locomotion.pendulum import CenterPlanner
from tasks.locomotion.reach import horizontal_reach
from tasks.locomotion.schedule import Schedule
from tasks.locomotion.soles import Soles
from tasks.locomotion.stepping import Stepping
from tasks.locomotion.tracking import Tracker
from wbc.arrays import Array, ArrayLike
from wbc.contacts import PointContact
from wbc.control.equation_of_motion import EquationOfMotion
from wbc.control.stack import Stack
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, show, unknown_name
from wbc.simulation.terrain import Terrain
from wbc.tasking.gains import Gains

GAITS = ("trot", "walk", "pace")

FASTEST = np.array([0.8, 0.45, 0.35])
"""The greatest command forward, to the side, and to turn, in times of what legs reach in a stance. The packaged
quadruped keeps 1.1 m/s forward and 0.6 m/s to the side; beyond that it gets to where its motors end, and falls.
"""

ROOM = 0.06
"""Kept from the ends of joints, rad: legs that step across their diagonal, pushed, swing fast to the ends of hips."""

PASSES = 0.016
"""Time in which a torque may pass from zero to its limit, s: as feet change, the answer has a step. With 16 ms the
quadruped holds 31 of 32 pushes of 30 N s; with 30 ms, or without a limit, 29 of 32."""

Phases = Mapping[str, tuple[float, float]]
"""By foot, the shares of a cycle at which it is lifted and put down."""


class Gait(Stepping):
    """Makes a robot on four legs step in a gait and follow a velocity command.

    Feet are placed around a middle that moves at the commanded velocity, and shifted by the capture point when the
    robot is pushed. The trunk follows the slope that the feet feel.

        gait = tasks.locomotion.Gait(robot, "trot", (0.5, 0.0, 0.0))
        controller = wbc.Controller(robot, gait.stack())
        log = wbc.run(controller, plant, duration=10, targets=gait)

    Args:
        robot: of `wbc.load`, with point feet.
        gait: "trot" (diagonal pairs), "pace" (pairs of a side), "walk" (one foot after the other); a `Schedule`; or
            your own phases: by foot, the shares of a cycle at which it is lifted and put down.
        command: velocity forward and to the left, m/s, and yaw rate, rad/s.
        swing: time of a foot in the air, s.
        overlap: time on all feet between two swings, s.
        lift: height of a swing over the ground, m.
        period: cycle time for your own phases, s.
        terrain: the known terrain; None: only what the feet feel is known.
        friction: of the feet with the ground.
        planner: of footsteps; None: a `CommandedSteps`.
        center: see `Stepping`.
        tracker: see `Stepping`.
        adaptation: see `Stepping`.
        settle: time to stand before the first step, s.
        begin: time from then to the first step, s.
        greatest: acceleration with which a command is taken up, m/s², m/s² and rad/s².
        limits: greatest command, m/s, m/s, rad/s; None: from how far the legs reach.
        touch: share of the robot's weight from which on a foot counts as on the ground.
        patience: how long a foot continues downward if the ground comes late, s.
        swing_gains: of the feet.
        trunk_gains: of the trunk's orientation.
        height_gains: of the height.
        heed: weight of the centre of mass relative to the trunk's orientation.
    """

    def __init__(
        self,
        robot: Dynamics,
        gait: str | Schedule | Phases = "trot",
        command: ArrayLike = (0.0, 0.0, 0.0),
        *,
        swing: float = 0.25,
        overlap: float = 0.05,
        lift: float = 0.06,
        period: float = 0.6,
        terrain: Terrain | None = None,
        friction: float = 0.6,
        planner: FootstepPlanner | None = None,
        center: CenterPlanner | None = None,
        tracker: Tracker | None = None,
        adaptation: StepAdaptation | None = None,
        settle: float = 0.3,
        begin: float = 0.15,
        greatest: Sequence[float] = (0.4, 0.4, 1.5),
        limits: Sequence[float] | None = None,
        touch: float = 0.05,
        patience: float = 0.15,
        swing_gains: Gains | None = None,
        trunk_gains: Gains | None = None,
        height_gains: Gains | None = None,
        heed: float = 1.0,
    ) -> None:
        if not isinstance(robot, Dynamics):
            raise WbcError(f"a gait needs a robot of wbc.load, not {show(robot)}")
        feet = tuple(robot.model.feet)
        if len(feet) < 3:
            raise WbcError(
                f"a gait needs three feet or more; {robot.model.name!r} has {len(feet)}: name them, wbc.load(..., "
                "feet=[...]), or take tasks.locomotion.Walk for two legs with soles"
            )
        soles = Soles(robot, feet, points=True)
        middle = np.mean(list(soles.nominal.values()), axis=0)
        places = {foot: place[:2] - middle[:2] for foot, place in soles.nominal.items()}
        schedule = _schedule(robot, gait, places, swing, overlap, period)
        unknown = [foot for foot in schedule.feet if foot not in feet]
        if unknown:
            raise unknown_name("foot", unknown[0], feet)
        posed = robot.copy()
        posed.update(robot.model.nominal, np.zeros(robot.nv))
        reach = min(horizontal_reach(posed, foot, soles.nominal[foot], 0.0) for foot in feet)
        if limits is None:
            stance = max(schedule.stance(foot) for foot in schedule.feet)
            wide = max(float(np.hypot(*place)) for place in places.values())
            limits = (FASTEST * reach / stance / np.array([1.0, 1.0, wide])).tolist()
        super().__init__(
            robot,
            command,
            schedule,
            soles,
            usual=CommandedSteps(
                schedule, places, None, (reach, 0.75 * reach), terrain, dict.fromkeys(feet, np.zeros(2))
            ),
            planner=planner,
            center=center,
            tracker=tracker,
            adaptation=adaptation
            or StepAdaptation(
                off=30.0, time=30.0, heedless=(0.0, 0.0), fastest=0.6 * swing, slowest=1.1, swiftest=80.0
            ),
            height=float(posed.com[2] - middle[2]),
            lift=lift,
            friction=friction,
            settle=settle,
            begin=begin,
            greatest=greatest,
            limits=limits,
            inside=1.0,
            touch=touch,
            patience=patience,
            tilts=True,
            swing_gains=Gains(8.0) if swing_gains is None else swing_gains,
            trunk_gains=Gains(2.0) if trunk_gains is None else trunk_gains,
            height_gains=Gains(2.0) if height_gains is None else height_gains,
            heed=heed,
        )

    def stack(self) -> Stack:
        """A stack to step with: physics, limits, contacts, feet in the air, balance, posture, least torque.

        Joints keep within their ranges and legs off each other whatever contacts ask.
        """
        robot = self.robot
        rate = float(robot.limits.effort.max(initial=0.0)) / PASSES
        limits = TorqueLimits(rate=rate if 0.0 < rate < math.inf else None) + FrictionCones()
        levels = EquationOfMotion() / limits
        kept = kept_joints_and_legs(robot, self.feet, ROOM)
        if kept is not None:
            levels = levels / kept
        levels = levels / ContactMotion()
        first, second, *others = self.swings.values()
        levels = levels / sum(others, start=first + second) / (self.balance + self.trunk + self.heading)
        levels = levels / JointAcceleration(stacks._posture(robot), gains=Gains(1.5)) / TorqueMinimization()
        found = Stack(levels, contacts=[PointContact(foot, self.friction) for foot in self.feet])
        for foot in self.feet:
            found.switch_off(f"swing of {foot}")
        return found


def _schedule(
    robot: Dynamics,
    gait: str | Schedule | Phases,
    places: Mapping[str, Array],
    swing: float,
    overlap: float,
    period: float,
) -> Schedule:
    """The schedule of a gait by its name, by phases, or as it is."""
    if isinstance(gait, Schedule):
        return gait
    if isinstance(gait, Mapping):
        return Schedule.of_phases(gait, period)
    if gait not in GAITS:
        raise unknown_name("gait", gait, GAITS)
    if len(places) != 4:
        raise WbcError(
            f"a {gait} needs four feet; {robot.model.name!r} has {len(places)}: give your own phases: by foot, the "
            "shares of a cycle at which it is lifted and put down"
        )
    front = sorted(places, key=lambda foot: -places[foot][0])[:2]
    back = [foot for foot in places if foot not in front]
    lf, rf = sorted(front, key=lambda foot: -places[foot][1])
    lh, rh = sorted(back, key=lambda foot: -places[foot][1])
    groups = {"trot": ((lf, rh), (rf, lh)), "pace": ((lf, lh), (rf, rh)), "walk": ((lh,), (lf,), (rh,), (rf,))}
    return Schedule.in_turn(groups[gait], swing, overlap)
