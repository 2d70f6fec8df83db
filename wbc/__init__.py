"""Torque-level whole-body control: tasks in strict priority, any robot, any dynamics backend, any simulator."""

from wbc.dynamics import Dynamics, load
from wbc.errors import WbcError, WbcWarning
from wbc.model import Body, Frame, Joint, Limits, Model, Shape

__version__ = "0.1.0"

__all__ = [
    "Body",
    "Dynamics",
    "Frame",
    "Joint",
    "Limits",
    "Model",
    "Shape",
    "WbcError",
    "WbcWarning",
    "__version__",
    "load",
]
