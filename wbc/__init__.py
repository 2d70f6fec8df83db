"""Torque-level whole-body control: tasks in strict priority, any robot, any dynamics backend, any simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wbc.contact import Contact, PointContact, SurfaceContact
from wbc.controller import Controller
from wbc.dynamics import Dynamics, load
from wbc.errors import WbcError, WbcWarning
from wbc.gains import Gains
from wbc.model import Body, Frame, Joint, Limits, Model, Shape
from wbc.problem import Rows, Variables
from wbc.solution import Solution
from wbc.solvers import Level
from wbc.stack import Levels, Stack
from wbc.task import Task
from wbc.threads import single_threaded

if TYPE_CHECKING:
    from wbc.simulation import Log, MujocoSimulator, Push, Simulator, read_log, run

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


def __getattr__(name: str) -> Any:  # noqa: ANN401  simulation is imported when it is asked for
    if name in ("Log", "MujocoSimulator", "Push", "Simulator", "read_log", "run"):
        from wbc import simulation

        return getattr(simulation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
