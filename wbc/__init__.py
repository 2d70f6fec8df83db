"""Torque-level whole-body control: tasks in strict priority, any robot, any dynamics backend, any simulator."""

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
    "Model",
    "PointContact",
    "Rows",
    "Shape",
    "Solution",
    "Stack",
    "SurfaceContact",
    "Task",
    "Variables",
    "WbcError",
    "WbcWarning",
    "__version__",
    "load",
]
