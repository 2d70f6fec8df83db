"""A robot's dynamics behind one interface: `Dynamics`, with numpy, Pinocchio and MuJoCo backends.

Other algorithms and other forms, each in a module that is imported on use: `projected` (M, C and g as a
sum over bodies), `recursive` (inverse dynamics from link to link), `representation` (the base's twist as left, right
or mixed), `coordinates` (Euler angles or rotation vectors and their rates), `links` (velocities and forces of every
body).
"""

from wbc.dynamics.base import Dynamics
from wbc.dynamics.load import BACKENDS, load

__all__ = ["BACKENDS", "Dynamics", "load"]
