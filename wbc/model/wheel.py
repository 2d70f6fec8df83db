"""A wheel: its shape, and where and how it touches a plane. Plain data and geometry."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from wbc.arrays import Array, cross
from wbc.copies import Remade
from wbc.errors import WbcError, number
from wbc.model.parts import direction

LEAST_SINE = 1e-3
"""Smallest sine of the angle between axle and normal: a wheel that lies on its side can't roll, but its directions stay
finite."""


@dataclass(frozen=True, eq=False)
class Wheel(Remade):
    """The shape of a wheel around the origin of its frame.

    Its tyre is a ring: a circle about the axle, and around that the rounding of the tyre. Its lowest point is what
    touches, wherever the wheel has turned to and however it leans.

    Attributes:
        radius: of the wheel as it stands upright, m.
        axle: about which it turns, a direction in its frame, shape (3,). A wheel that turns positively about an axle
            that points to the left rolls forward.
        crown: radius of the rounding of the tyre, m: 0 is the sharp rim of a disc, `radius` a ball.
        rollers: the angle of the axes of the rollers on its rim against the direction in which the wheel rolls, as
            seen from above at the ground, rad, positive to the left: 0 for an omni wheel, ±π/4 for a mecanum wheel.
            Rollers hold the ground along their axes only. None: a tyre, which holds it in all directions.
        castor: whether it rolls of itself in any direction: a ball in a socket, a swivel castor without mass, or a
            point that slides without friction. Its crown is its radius.
    """

    radius: float
    axle: Array = field(default_factory=lambda: np.array([0.0, 1.0, 0.0]))
    crown: float = 0.0
    rollers: float | None = None
    castor: bool = False

    def __post_init__(self) -> None:
        keep = object.__setattr__
        keep(self, "radius", number(self.radius, "a wheel: its radius, m,", high=1e3, above=not self.castor))
        keep(self, "crown", number(self.crown, "a wheel: its crown, m,", high=self.radius))
        keep(self, "axle", direction(self.axle, "a wheel: its axle"))
        if self.rollers is not None:
            if self.castor:
                raise WbcError("a wheel is a castor or has rollers, not both")
            keep(self, "rollers", number(self.rollers, "a wheel: the angle of its rollers, rad,", -math.pi, math.pi))
            if math.isclose(abs(math.cos(self.rollers)), 0.0, abs_tol=1e-6):
                raise WbcError("a wheel whose rollers turn about its own axle can't be driven: their angle is ±π/2")
        if self.castor:
            keep(self, "crown", self.radius)

    @property
    def held(self) -> Array:
        """The directions that the ground holds, in rows over the contact's axes (along, to the left, normal), shape (n,
        3).

        Three rows for a tyre, two for rollers (along their axes, and the normal), one for a castor (the normal).
        """
        if self.castor:
            return np.array([[0.0, 0.0, 1.0]])
        if self.rollers is None:
            return np.eye(3)
        return np.array([[math.cos(self.rollers), math.sin(self.rollers), 0.0], [0.0, 0.0, 1.0]])

    def same(self, other: Wheel) -> bool:
        """Whether another wheel has the same shape."""
        mine, theirs = ((w.radius, w.crown, w.rollers, w.castor) for w in (self, other))
        return mine == theirs and np.array_equal(self.axle, other.axle)

    def touch(self, axle: Array, normal: Array) -> tuple[Array, Array]:
        """The point where it touches a plane, and the axes of the contact.

        Args:
            axle: unit vector, world axes, shape (3,).
            normal: of the plane, a unit vector, world axes, shape (3,).

        Returns:
            From the wheel's centre to its lowest point, m, world axes, shape (3,); and the axes of the contact in rows,
            world axes, shape (3, 3): along which the wheel rolls, to the left of that, the normal.
        """
        p = float(normal @ axle)
        sine = max(math.sqrt(max(1.0 - p * p, 0.0)), LEAST_SINE)
        along = cross(axle, normal) / sine
        down = -(self.radius - self.crown) / sine * (normal - p * axle) - self.crown * normal
        return down, np.array([along, cross(normal, along), normal])
