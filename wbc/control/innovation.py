"""What sensors err, told from what a model errs: by what follows it.

The innovation of v is what was measured less what the tick before expected, v + T v̇. White noise of the sensors is in
two innovations in a row, with opposite signs: they correlate with −1/2, whatever the robot does. A contact that gives,
a foot that slips, a mass that is wrong last for many ticks: there they correlate with nearly 1. Where nothing errs,
what is left is rounding and the integrator: an innovation that is small beside what was commanded, T v̇, is no sign of
noise. Noise that makes torques go to and fro is many times larger than that: a gain kd answers it with T kd of it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from wbc.arrays import Array

SMALL = 0.1
"""An innovation below this share of T v̇ is explained by the model."""

MEMORY = 0.03
"""Time constant of the mean, s."""


class Innovation(NamedTuple):
    """How much alike innovations are that follow each other.

    Attributes:
        likeness: the mean cosine between an innovation and the next one, a ratio from −1 to 1: about −1/2 where sensors
            are noisy, 0 where nothing is known.
        last: the innovation of the tick before, m/s and rad/s, shape (nv,); None: not known.
    """

    likeness: float = 0.0
    last: Array | None = None

    def followed(self, found: Array, passed: float, expected: float = 0.0) -> Innovation:
        """With the next tick's.

        Args:
            found: its innovation, m/s and rad/s, shape (nv,).
            passed: since the tick before, s.
            expected: |T v̇|, how far v was to change, m/s and rad/s.
        """
        if self.last is None:
            return Innovation(self.likeness, found)
        size = math.sqrt(float(found.dot(found)) * float(self.last.dot(self.last)))
        cosine = float(found.dot(self.last)) / size if size > 0.0 else 0.0
        if 0.0 < size <= (SMALL * expected) ** 2:
            cosine = 1.0
        return Innovation(self.likeness - (cosine - self.likeness) * math.expm1(-passed / MEMORY), found)
