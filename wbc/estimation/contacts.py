"""Detects which feet stand, from forces with hysteresis and a delay."""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array, MaskArray
from wbc.errors import WbcError, number


class ContactDetector:
    """Detects from normal forces which feet stand.

    Args:
        feet: how many there are.
        on: a foot with more than this stands, N.
        off: one with less does not, N.
        settle: s for which it has to be more: a foot that comes down bounces and slides.

    Attributes:
        standing: which feet do, shape (feet,).
    """

    def __init__(self, feet: int, on: float, off: float, settle: float = 0.01) -> None:
        self._on, self._off = number(on, "on, N,"), number(off, "off, N,")
        if off > on:
            raise WbcError(f"off = {off:g} N must be no more than on = {on:g} N")
        self._settle = number(settle, "settle, s,", high=1e3)
        self._for = [-1.0] * feet  # how long each has carried enough, s; negative: it does not
        self.standing: MaskArray = np.zeros(feet, dtype=bool)

    def update(self, forces: Array, dt: float) -> MaskArray:
        """Takes the next forces; which feet stand.

        Args:
            forces: normal ones, N, shape (feet,).
            dt: since the last ones, s.
        """
        on, off = self._on, self._off  # feet are few: numbers one by one take half the time of arrays
        for foot, force in enumerate(forces.tolist()):
            since = self._for[foot]
            touches = force > on if since < 0.0 else force >= off
            self._for[foot] = max(since, 0.0) + dt if touches else -1.0
        self.standing = np.array([since >= self._settle for since in self._for], dtype=bool)
        return self.standing

    def assume(self, standing: MaskArray) -> None:
        """These feet stand, and have for long.

        Args:
            standing: shape (feet,).
        """
        self._for = np.where(standing, self._settle, -1.0).tolist()
        self.standing = standing.copy()
