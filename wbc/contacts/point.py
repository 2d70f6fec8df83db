"""A point that touches: three forces."""

from __future__ import annotations

import math

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.contacts.cone import force_cone
from wbc.contacts.contact import Contact
from wbc.dynamics.base import Dynamics


class PointContact(Contact):
    """A point contact with friction and without moments: three forces, in world axes.

    The normal is in world axes, or in the axes of `on` where the contact is on another body. On the ground its pyramid
    of forces is aligned with the robot's heading (`wbc.contacts.heading`).
    """

    size = rows = 3

    def __init__(
        self,
        frame: str,
        friction: float = 0.6,
        *,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        minimum: float = 0.0,
        maximum: float = math.inf,
        on: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(frame, friction, normal=normal, minimum=minimum, maximum=maximum, on=on, name=name)
        self.plain = self.grounded = on is None
        self._cones: dict[int, Array] = {}

    def motion(self, robot: Dynamics) -> tuple[Array, Array]:
        """See `Contact`."""
        J, bias = self._against(robot)
        return J[:3], bias[:3]

    def spread(self, robot: Dynamics, J: Array) -> Array:
        """See `Contact`."""
        return J

    @property
    def carrier(self) -> str | None:
        """See `Contact`: what it touches."""
        return self.on

    def carried_normals(self) -> Array:
        """See `Contact`."""
        return self.normal

    def carried_cone(self, sides: int) -> Array:
        """A pyramid inside the cone of friction; see `Contact`."""
        C = self._cones.get(sides)
        if C is None:
            C = self._cones[sides] = force_cone(self.normal, self.friction, sides)
            C.flags.writeable = False
        return C

    def error(self, robot: Dynamics, anchor: Array) -> Array:
        """See `Contact`."""
        desired = anchor if self.on is None else robot.pose(self.on) @ anchor
        return np.asarray(desired[:3, 3] - robot.pose(self.frame)[:3, 3])

    def wrench(self, robot: Dynamics, force: Array) -> Array:
        """See `Contact`."""
        return force

    def margin(self, robot: Dynamics, force: Array, sides: int) -> float:
        """Of the true cone, whatever the sides; see `Contact`."""
        n = self.normals(robot)
        normal = float(n @ force)
        return min(self.friction * normal - float(np.linalg.norm(force - normal * n)), normal)
