"""The height of the centre of mass over uneven ground, and the slope that the feet feel."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tasks.locomotion.footsteps import Footstep
from tasks.locomotion.soles import Soles
from wbc.arrays import Array

RATE = 2 * math.pi * 1.0
"""With which height and slope follow the ground, 1/s."""


class Rise:
    """Follows the ground smoothly.

    Args:
        soles: of the feet.
        height: of the centre of mass over the ground, m.
        tilts: whether the trunk follows the slope: then the height is over the plane of the feet, or over one parallel
            to it through the foot that is farthest below. Otherwise it is over the lowest foot.

    Attributes:
        high: of the centre of mass: where it should be, m, its rate, and the rate of that, shape (3,).
        normal: of the ground as the feet feel it, shape (3,).
    """

    def __init__(self, soles: Soles, height: float, tilts: bool) -> None:
        self._soles, self._height, self.tilts = soles, height, tilts
        self.high, self.normal = np.zeros(3), np.array([0.0, 0.0, 1.0])

    def begin(self, z: float, feet: Sequence[Footstep]) -> None:
        """Begins where the robot stands.

        Args:
            z: of the centre of mass, m.
            feet: on the ground.
        """
        self.high, self.normal = np.array([z, 0.0, 0.0]), self._soles.normal(feet)

    def update(
        self, at: Array, feet: Sequence[Footstep], standing: Sequence[Footstep], landing: Sequence[Footstep], dt: float
    ) -> None:
        """Goes on.

        Args:
            at: where the centre of mass is, world, m, shape (2,).
            feet: all, where they are on the ground or were last.
            standing: those that stand.
            landing: where those that swing are to land.
            dt: s.
        """
        z, rate, _ = self.high
        plane = self._soles.plane(feet)
        self.normal = self.normal + min(RATE * dt, 1.0) * (plane.normal - self.normal)
        self.normal /= np.linalg.norm(self.normal)
        # a leg that steps down must reach its place: the robot sinks before the foot lands
        coming = (*(standing or feet), *landing)
        if self.tilts:
            below = [plane.height(step.position[:2]) - float(step.position[2]) for step in coming]
            ground = plane.height(at) - max(0.0, *below)
        else:
            ground = min(float(step.position[2]) for step in coming)
        change = RATE * RATE * (ground + self._height - z) - 2 * RATE * rate
        rate += change * dt
        self.high = np.array([z + rate * dt, rate, change])
