"""Torque-level whole-body control: tasks in strict priority, any robot, any dynamics backend, any simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import scipy.linalg  # noqa: F401  the heaviest import: from the depths of others it takes Python a tenth longer

from wbc.contacts import Contact, PointContact, RollingContact, SurfaceContact
from wbc.control.stack import Stack
from wbc.dynamics import Dynamics, load
from wbc.errors import WbcError, WbcWarning
from wbc.lazy import lazy
from wbc.model import Actuator, Body, Frame, Joint, JointCoupling, Limits, LoopClosure, Model, Shape, Wheel
from wbc.tasking.gains import Gains
from wbc.tasking.levels import Levels
from wbc.tasking.rows import Rows
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick, Variables
from wbc.threads import single_threaded

if TYPE_CHECKING:
    from wbc import classical as classical
    from wbc import gym as gym
    from wbc import kinematics as kinematics
    from wbc import liegroups as liegroups
    from wbc import solvers as solvers
    from wbc import sweeps as sweeps
    from wbc.control.batch import Batch
    from wbc.control.controller import Controller
    from wbc.control.solution import Solution
    from wbc.simulation import Log, MujocoSimulator, Push, Simulator, read_log, run
    from wbc.solvers import Level
    from wbc.sweeps import cases, grid, normal, sweep, tune, uniform

__version__ = "0.1.0"

__all__ = [
    "Actuator",
    "Batch",
    "Body",
    "Contact",
    "Controller",
    "Dynamics",
    "Frame",
    "Gains",
    "Joint",
    "JointCoupling",
    "Level",
    "Levels",
    "Limits",
    "Log",
    "LoopClosure",
    "Model",
    "MujocoSimulator",
    "PointContact",
    "Push",
    "RollingContact",
    "Rows",
    "Shape",
    "Simulator",
    "Solution",
    "Stack",
    "SurfaceContact",
    "Task",
    "Tick",
    "Variables",
    "WbcError",
    "WbcWarning",
    "Wheel",
    "__version__",
    "cases",
    "grid",
    "load",
    "normal",
    "read_log",
    "run",
    "single_threaded",
    "sweep",
    "tune",
    "uniform",
]


_LATER = {
    "Batch": "wbc.control.batch",
    "Controller": "wbc.control.controller",
    "Level": "wbc.solvers",
    "Log": "wbc.simulation",
    "MujocoSimulator": "wbc.simulation",
    "Push": "wbc.simulation",
    "Simulator": "wbc.simulation",
    "Solution": "wbc.control.solution",
    "cases": "wbc.sweeps",
    "grid": "wbc.sweeps",
    "normal": "wbc.sweeps",
    "read_log": "wbc.simulation",
    "run": "wbc.simulation",
    "sweep": "wbc.sweeps",
    "tune": "wbc.sweeps",
    "uniform": "wbc.sweeps",
}
"""What is imported when it is asked for, and from where: describing a robot and its tasks needs none of it."""

__getattr__ = lazy(__name__, _LATER, modules=("classical", "gym", "kinematics", "liegroups", "solvers", "sweeps"))
