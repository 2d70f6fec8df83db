"""What sensors err, told from what a model errs: by what follows it.

The innovation of v is what was measured less what the tick before expected, v + T v̇. White noise of the sensors is in
two innovations in a row, with opposite signs: they correlate with −1/2, whatever the robot does. A contact that gives,
a foot that slips, a mass that is wrong last for many ticks: there they correlate with nearly 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from wbc.arrays import Array

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

    def followed(self, found: Array, passed: float) -> Innovation:
        """With the next tick's.

        Args:
            found: its innovation, m/s and rad/s, shape (nv,).
            passed: since the tick before, s.
        """
        if self.last is None:
            return Innovation(self.likeness, found)
        size = math.sqrt(float(found.dot(found)) * float(self.last.dot(self.last)))
        cosine = float(found.dot(self.last)) / size if size > 0.0 else 0.0
        return Innovation(self.likeness - (cosine - self.likeness) * math.expm1(-passed / MEMORY), found)
