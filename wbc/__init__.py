"""Torque-level whole-body control: tasks in strict priority, any robot, any dynamics backend, any simulator."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import scipy.linalg  # noqa: F401  the heaviest import: from the depths of others it takes Python a tenth longer

from wbc.contact import Contact, PointContact, SurfaceContact
from wbc.dynamics import Dynamics, load
from wbc.errors import WbcError, WbcWarning
from wbc.gains import Gains
from wbc.model import Body, Frame, Joint, Limits, Model, Shape
from wbc.problem import Rows, Variables
from wbc.stack import Levels, Stack
from wbc.task import Task
from wbc.threads import single_threaded

if TYPE_CHECKING:
    from wbc import classical as classical
    from wbc import kinematics as kinematics
    from wbc import liegroups as liegroups
    from wbc import solvers as solvers
    from wbc.controller import Controller
    from wbc.simulation import Log, MujocoSimulator, Push, Simulator, read_log, run
    from wbc.solution import Solution
    from wbc.solvers import Level

__version__ = "0.1.0"

__all__ = [
    "Body",
    "Contact",
    "Controller",
    "Dynamics",
    "Frame",
    "Gains",
    "Joint",
    "Level",
    "Levels",
    "Limits",
    "Log",
    "Model",
    "MujocoSimulator",
    "PointContact",
    "Push",
    "Rows",
    "Shape",
    "Simulator",
    "Solution",
    "Stack",
    "SurfaceContact",
    "Task",
    "Variables",
    "WbcError",
    "WbcWarning",
    "__version__",
    "load",
    "read_log",
    "run",
    "single_threaded",
]


_LATER = {
    "Controller": "wbc.controller",
    "Level": "wbc.solvers",
    "Log": "wbc.simulation",
    "MujocoSimulator": "wbc.simulation",
    "Push": "wbc.simulation",
    "Simulator": "wbc.simulation",
    "Solution": "wbc.solution",
    "read_log": "wbc.simulation",
    "run": "wbc.simulation",
}
"""What is imported when it is asked for, and from where: describing a robot and its tasks needs none of it."""


def __getattr__(name: str) -> Any:  # noqa: ANN401  of many kinds
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    if name in ("classical", "kinematics", "liegroups", "solvers"):
        return importlib.import_module(f"wbc.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
