"""The wheels of a robot: those its model declares, and those its collision shapes tell of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wbc.arrays import Array
from wbc.model.model import Model
from wbc.model.parts import Shape
from wbc.model.tree import Tree
from wbc.model.wheel import Wheel

NEAR = 1e-4
"""How far from a frame's origin the centre of its wheel may be, m."""

SIDES, ROUND = 24, 0.06
"""Ways in which a mesh is measured, and how far from round it may be, as a share of its radius."""


def find_wheel(model: Model, frame: str) -> Wheel | None:
    """The wheel at a frame: the one that is declared, else the largest ball, cylinder or capsule centred on it.

    It turns about the axis of the joint that carries it, or, on another body, about the axis of its shape. A mesh is a
    wheel where it is round about the axis of its joint, through the frame. A ball on a part that turns about no axis is
    a castor, and so is a wheel without a motor on a fork without one.

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
        if shape.kind == "sphere" and not turning.any():  # a ball that is fixed slides, or stands for one that rolls
            found = found or Wheel(radius, castor=True)
            continue
        axle = turning if shape.kind == "sphere" else pose[:3, :3].T @ place[:3, 2]
        if axle.any() and (found is None or radius > found.radius):
            crown = 0.0 if shape.kind == "cylinder" else radius
            found = Wheel(radius, -axle if axle @ turning < 0 else axle, crown)
    found = found or _of_meshes(tree, node, pose)
    return found if found is None or found.castor or not _swivels(tree, node) else replace(found, castor=True)


def _swivels(tree: Tree, node: int) -> bool:
    """Whether a part turns on another that turns, and no motor drives either: the wheel of a swivel castor."""
    joints = {joint.child: joint for joint in tree.model.joints.values()}
    turning = [joints.get(tree.nodes[number].name) for number in (node, tree.nodes[node].parent)]
    return all(
        joint is not None and joint.kind in ("revolute", "continuous") and not tree.model.drives(joint.name)
        for joint in turning
    )


def _of_meshes(tree: Tree, node: int, pose: Array) -> Wheel | None:
    """The wheel that the meshes of a part are, if they are round about the axis of its joint.

    Args:
        tree: of the robot.
        node: the part.
        pose: of the frame at the middle of the wheel, in the part, shape (4, 4).
    """
    points = [np.zeros((0, 3))]
    for mesh in tree.model.meshes:
        carrier, place = tree.places[mesh.body]
        if carrier == node:
            points.append(mesh.points @ place[:3, :3].T + place[:3, 3])
    seen, turning = (np.vstack(points) - pose[:3, 3]) @ pose[:3, :3], pose[:3, :3].T @ tree.nodes[node].axis
    if len(seen) < 3 or not turning.any():
        return None
    ways = np.linalg.svd(turning[None])[2][1:]
    angles = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    reach = (seen @ ways.T @ np.stack([np.cos(angles), np.sin(angles)])).max(axis=0)
    radius = float(reach.max())
    return Wheel(radius, turning) if radius > 0.0 and reach.min() > (1.0 - ROUND) * radius else None


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
