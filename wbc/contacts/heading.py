"""The heading of a robot, with which friction pyramids on the ground are aligned, so that torques don't depend on the
compass.

A pyramid stands in for a round cone, and has edges. With its edges along the world's axes, a robot that pushes to its
left could push harder facing north than facing north-east. They are along the robot's heading instead: the turn about
the vertical that is in the orientation of its base, R = Rz(ψ) S with S a tilt about a horizontal axis.

No rule for a heading is continuous in all orientations (the unit tangents of a sphere can't be combed). Of all rules
this one fails only where a base is upside down: not where it is on its side, or its nose points up.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from wbc.arrays import Array
from wbc.dynamics.base import Dynamics
from wbc.model.model import WORLD, Model
from wbc.model.parts import plane_axes
from wbc.model.tree import Tree

UPSIDE_DOWN = 1e-12
"""Where cos²(tilt / 2) is less, the turn about the vertical is lost in rounding, and taken as none."""

UPRIGHT = 1e-9
"""An axis that is off the vertical by less is vertical."""


def heading(robot: Dynamics) -> tuple[float, float]:
    """The cosine and the sine of the angle ψ about the world's z by which a robot is turned.

    With a floating base, that of the base. A fixed base may carry joints that only shift what is on them, or turn it
    about the vertical, such as the wheels of a mobile base or the first joint of an arm: that of what these carry.

    Args:
        robot: updated.
    """
    carrier = _carrier(robot.model)
    if carrier is None:
        q = robot.q
        w, z = q.item(3), q.item(6)
        cosine, sine = w * w - z * z, 2.0 * w * z
    else:
        R = robot.pose(carrier)
        cosine, sine = float(R[0, 0] + R[1, 1]), float(R[1, 0] - R[0, 1])
    size = math.hypot(cosine, sine)
    return (cosine / size, sine / size) if size > UPSIDE_DOWN else (1.0, 0.0)


@lru_cache(maxsize=32)
def _carrier(model: Model) -> str | None:
    """The last body of a robot with a fixed base that all joints below it keep as upright as it was mounted.

    None where the base floats: its orientation is in q.
    """
    if model.floating:
        return None
    nodes, at, R = Tree(model).nodes, 0, np.eye(3)
    found = model.root
    while True:
        on = [index for index, node in enumerate(nodes) if node.parent == at]
        if len(on) != 1:
            return found
        node = nodes[on[0]]
        R = R @ node.pose[:3, :3]
        if node.kind == "spherical" or (node.kind == "revolute" and abs((R @ node.axis)[2]) < 1.0 - UPRIGHT):
            return found
        at = on[0]
        if node.name != WORLD and not model.bodies[node.name].virtual:
            found = node.name


def aligned(normal: Array) -> Array:
    """How a cone that is given for `plane_axes(normal)` turns with the heading ψ.

    Its tangents are the robot's forward direction and what is at right angles to it, each carried from the horizontal
    to the plane of the contact the shortest way: without a singularity, whatever the normal. Where the normal points
    down, from the horizontal seen from below.

    Args:
        normal: unit vector, world axes, shape (3,).

    Returns:
        K, A, B, shape (3, 3, 3): the rotation is K + cos ψ A + sin ψ B, shape (3, 3).
    """
    return _aligned(*normal.tolist())


@lru_cache(maxsize=256)
def _aligned(*entries: float) -> Array:
    """As `aligned`; most contacts of a robot have the same normal."""
    normal = np.array(entries)
    first, second = plane_axes(normal)
    pole = np.array([0.0, 0.0, 1.0 if normal[2] >= 0.0 else -1.0])
    parts = [np.outer(normal, normal)]
    for level in np.eye(3)[:2]:
        forward = level - (normal @ level) / (1.0 + normal @ pole) * (pole + normal)
        parts.append(np.outer(forward, first) + np.outer(np.cross(normal, forward), second))
    found = np.array(parts)
    found.flags.writeable = False
    return found
