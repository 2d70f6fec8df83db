"""Torque-level whole-body control: tasks in strict priority, any robot, any dynamics backend, any simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wbc.lazy import lazy

if TYPE_CHECKING:
    from wbc import classical as classical
    from wbc import collision as collision
    from wbc import estimation as estimation
    from wbc import gym as gym
    from wbc import kinematics as kinematics
    from wbc import liegroups as liegroups
    from wbc import realtime as realtime
    from wbc import solvers as solvers
    from wbc import sweeps as sweeps
    from wbc import web as web
    from wbc.collision import CollisionGeometry
    from wbc.contacts import Contact, PointContact, RollingContact, SurfaceContact
    from wbc.control.batch import Batch
    from wbc.control.controller import Controller
    from wbc.control.solution import Solution
    from wbc.control.stack import Stack
    from wbc.dynamics.base import Dynamics
    from wbc.dynamics.load import load
    from wbc.errors import WbcError, WbcWarning
    from wbc.model import Actuator, Body, Frame, Joint, JointCoupling, Limits, LoopClosure, Model, Shape, Wheel
    from wbc.simulation import Log, MujocoSimulator, Push, Simulator, read_log, run
    from wbc.solvers import Level
    from wbc.sweeps import cases, grid, normal, sweep, tune, uniform
    from wbc.tasking.gains import Gains
    from wbc.tasking.levels import Levels
    from wbc.tasking.reference import Reference
    from wbc.tasking.rows import Rows
    from wbc.tasking.task import Task
    from wbc.tasking.tick import Tick, Variables
    from wbc.threads import single_threaded

__version__ = "0.2.0"

__all__ = [
    "Actuator",
    "Batch",
    "Body",
    "CollisionGeometry",
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
    "Reference",
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
    "Reference": "wbc.tasking.reference",
    "Actuator": "wbc.model",
    "Batch": "wbc.control.batch",
    "Body": "wbc.model",
    "Contact": "wbc.contacts",
    "CollisionGeometry": "wbc.collision",
    "Controller": "wbc.control.controller",
    "Dynamics": "wbc.dynamics.base",
    "Frame": "wbc.model",
    "Gains": "wbc.tasking.gains",
    "Joint": "wbc.model",
    "JointCoupling": "wbc.model",
    "Level": "wbc.solvers",
    "Levels": "wbc.tasking.levels",
    "Limits": "wbc.model",
    "Log": "wbc.simulation",
    "LoopClosure": "wbc.model",
    "Model": "wbc.model",
    "MujocoSimulator": "wbc.simulation",
    "PointContact": "wbc.contacts",
    "Push": "wbc.simulation",
    "RollingContact": "wbc.contacts",
    "Rows": "wbc.tasking.rows",
    "Shape": "wbc.model",
    "Simulator": "wbc.simulation",
    "Solution": "wbc.control.solution",
    "Stack": "wbc.control.stack",
    "SurfaceContact": "wbc.contacts",
    "Task": "wbc.tasking.task",
    "Tick": "wbc.tasking.tick",
    "Variables": "wbc.tasking.tick",
    "WbcError": "wbc.errors",
    "WbcWarning": "wbc.errors",
    "Wheel": "wbc.model",
    "cases": "wbc.sweeps",
    "grid": "wbc.sweeps",
    "load": "wbc.dynamics.load",
    "normal": "wbc.sweeps",
    "read_log": "wbc.simulation",
    "run": "wbc.simulation",
    "single_threaded": "wbc.threads",
    "sweep": "wbc.sweeps",
    "tune": "wbc.sweeps",
    "uniform": "wbc.sweeps",
}
"""The module of each name, imported on first use: `wbc --help` needs none of them."""

_MODULES = (
    "classical",
    "collision",
    "estimation",
    "gym",
    "kinematics",
    "liegroups",
    "realtime",
    "solvers",
    "sweeps",
    "web",
)

__getattr__ = lazy(__name__, _LATER, _MODULES)


def __dir__() -> list[str]:
    """The names that completion at a prompt offers."""
    return [*__all__, *_MODULES]
