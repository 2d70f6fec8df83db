"""Copies that share nothing that changes."""

from __future__ import annotations

import copy
from typing import Self


class Independent:
    """Whose copies are independent, those of `copy.copy` too.

    A shallow copy of what remembers shares its memory with it: of two such controllers each would move the other on.
    """

    def __copy__(self) -> Self:
        return copy.deepcopy(self)
