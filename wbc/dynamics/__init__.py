"""A robot's dynamics behind one interface: `Dynamics`, with numpy, Pinocchio and MuJoCo backends."""

from wbc.dynamics.base import Dynamics
from wbc.dynamics.load import BACKENDS, load

__all__ = ["BACKENDS", "Dynamics", "load"]
