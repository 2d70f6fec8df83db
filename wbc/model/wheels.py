"""The wheels of a robot: those its model declares, and those its collision shapes tell of."""

from __future__ import annotations

import numpy as np

from wbc.model.model import Model
from wbc.model.parts import Shape
from wbc.model.tree import Tree
from wbc.model.wheel import Wheel

NEAR = 1e-4
"""How far from a frame's origin the centre of its wheel may be, m."""


def find_wheel(model: Model, frame: str) -> Wheel | None:
    """The wheel at a frame: the one that is declared, else the largest ball, cylinder or capsule centred on it.

    It turns about the axis of the joint that carries it, or, on another body, about the axis of its shape.

    Args:
        model: of the robot.
        frame: at the centre of the wheel.
    """
    if frame in model.wheels or frame not in model.frame_names:
        return model.wheels.get(frame)
    tree = Tree(model)
    node, pose = tree.place(frame)
    found: Wheel | None = None
    for shape in round_shapes(tree, frame):
        radius = float(shape.size[0])
        turning = pose[:3, :3].T @ tree.nodes[node].axis  # zero, where what carries it does not turn about an axis
        place = tree.places[shape.body][1] @ shape.pose
        axle = turning if shape.kind == "sphere" else pose[:3, :3].T @ place[:3, 2]
        if axle.any() and (found is None or radius > found.radius):
            crown = 0.0 if shape.kind == "cylinder" else radius
            found = Wheel(radius, -axle if axle @ turning < 0 else axle, crown)
    return found


def round_shapes(tree: Tree, frame: str) -> list[Shape]:
    """The balls, cylinders and capsules that touch and are centred on a frame."""
    node, pose = tree.place(frame)
    found = []
    for shape in tree.model.shapes:
        carrier, place = tree.places[shape.body]
        near = np.linalg.norm((place @ shape.pose)[:3, 3] - pose[:3, 3]) < NEAR
        if shape.collides and shape.kind != "box" and carrier == node and near:
            found.append(shape)
    return found
