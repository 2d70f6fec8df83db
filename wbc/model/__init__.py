"""Robots as plain data, the files they are read from, and the robots that come with the package."""

from typing import TYPE_CHECKING

from wbc.lazy import lazy
from wbc.model.actuators import Actuator
from wbc.model.loops import JointCoupling, LoopClosure
from wbc.model.model import Model
from wbc.model.packaged import packaged_path, packaged_robots
from wbc.model.parts import Body, Frame, Joint, Limits, Mesh, Shape
from wbc.model.space import ConfigurationSpace
from wbc.model.tree import Tree
from wbc.model.wheel import Wheel

if TYPE_CHECKING:
    from wbc.model.urdf import read_urdf

__all__ = [
    "Actuator",
    "Body",
    "ConfigurationSpace",
    "Frame",
    "Joint",
    "JointCoupling",
    "Limits",
    "LoopClosure",
    "Mesh",
    "Model",
    "Shape",
    "Tree",
    "Wheel",
    "packaged_path",
    "packaged_robots",
    "read_urdf",
]

__getattr__ = lazy(__name__, {"read_urdf": "wbc.model.urdf"})  # when there is something to read
