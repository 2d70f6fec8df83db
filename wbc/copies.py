"""Copies that share no mutable state."""

from __future__ import annotations

import copy
from typing import Self


class Independent:
    """A class whose copies are independent, also those of `copy.copy`.

    A shallow copy would share its memory with the original: each of two such controllers would advance the other.
    """

    def __copy__(self) -> Self:
        return copy.deepcopy(self)
