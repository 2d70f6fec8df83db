"""Detects the fall of a robot with a free base."""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array
from wbc.dynamics.base import Dynamics
from wbc.model.parts import Shape

SINKING = 0.6
"""A base that comes down by more than this share of its standing height has fallen."""

UPRIGHT = 0.5
"""A base whose vertical axis has less than this of its length left along the world's has fallen: 60 degrees."""


class Fall:
    """Detects whether a robot has fallen since it stood.

    The standing height is that of the base above the floor. Of a robot whose base begins near the floor, as that of a
    wheeled one does, it is half of its own height. The floor is at z = 0, or as low as the robot reaches.

    Args:
        robot: whose state may be changed.
        q: as it stands, shape (nq,).

    Attributes:
        height: in which it stands, m; 0 for a robot with a fixed base, which does not fall.
    """

    def __init__(self, robot: Dynamics, q: Array) -> None:
        self._floating = robot.model.floating
        self.height, self._start = 0.0, 0.0
        if not self._floating or not np.isfinite(q).all():
            return
        robot.update(q)
        low, high = _extent(robot)
        self._start = float(q[2])
        self.height = max(self._start - min(low, 0.0), (high - low) / 2)

    def has_fallen(self, q: Array) -> bool:
        """Whether it lies now.

        Args:
            q: shape (nq,).
        """
        if not self._floating:
            return False
        sunk = self._start - float(q[2])
        w, x, y, z = q[3:7].tolist()
        upright = 1.0 - 2.0 * (x * x + y * y) / max(w * w + x * x + y * y + z * z, 1e-300)
        return sunk > SINKING * self.height or upright < UPRIGHT


def _extent(robot: Dynamics) -> tuple[float, float]:
    """How far down and up the robot reaches: its bodies' origins, and its shapes, m."""
    model = robot.model
    own = {model.root}
    for joint in model.joints.values():  # depth first
        if joint.parent in own:
            own.add(joint.child)
    bodies = [name for name in own if not model.bodies[name].virtual]
    heights = [float(robot.pose(name)[2, 3]) for name in bodies]
    for shape in model.shapes:
        if shape.body in own:
            T = robot.pose(shape.body) @ shape.pose
            reach = _half_height(shape, T[2, :3])
            heights += [float(T[2, 3]) - reach, float(T[2, 3]) + reach]
    return min(heights), max(heights)


def _half_height(shape: Shape, up: Array) -> float:
    """How far a shape reaches up from its centre, m; `up` is the world's vertical in the axes of the shape."""
    if shape.kind == "box":
        return float(np.abs(up) @ shape.size) / 2
    radius, along = shape.size[0], abs(float(up[2]))
    if shape.kind == "sphere":
        return radius
    half = along * shape.size[1] / 2
    return half + (radius if shape.kind == "capsule" else radius * float(np.sqrt(max(0.0, 1.0 - along**2))))
