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
        self._settle = number(settle, "settle, s,")
        self._touching = np.zeros(feet, dtype=bool)
        self._since = np.zeros(feet)
        self.standing: MaskArray = np.zeros(feet, dtype=bool)

    def update(self, forces: Array, dt: float) -> MaskArray:
        """Takes the next forces; which feet stand.

        Args:
            forces: normal ones, N, shape (feet,).
            dt: since the last ones, s.
        """
        self._touching = np.where(self._touching, forces >= self._off, forces > self._on)
        self._since = np.where(self._touching, self._since + dt, 0.0)
        self.standing = self._touching & (self._since >= self._settle)
        return self.standing

    def assume(self, standing: MaskArray) -> None:
        """These feet stand, and have for long.

        Args:
            standing: shape (feet,).
        """
        self._touching, self._since = standing.copy(), np.where(standing, self._settle, 0.0)
        self.standing = standing.copy()
