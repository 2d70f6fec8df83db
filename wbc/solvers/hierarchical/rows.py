"""The rows that the reference solves."""

from __future__ import annotations

from dataclasses import dataclass

from wbc.arrays import Array


@dataclass(frozen=True, eq=False)
class LevelRows:
    """The rows of a hierarchy: what is solved.

    Attributes:
        A: rows of all levels, shape (M, n).
        lower: shape (M,).
        upper: shape (M,).
        norms: the size of each row, before anything was eliminated from it: ranks are judged by it. Shape (M,).
        starts: first row of each level, and M at the end.
        tolerance: see `elimination.RANK_TOLERANCE`.
    """

    A: Array
    lower: Array
    upper: Array
    norms: Array
    starts: list[int]
    tolerance: float

    def first(self, levels: int) -> LevelRows:
        """The first levels alone."""
        stop = self.starts[levels]
        starts = self.starts[: levels + 1]
        return LevelRows(self.A[:stop], self.lower[:stop], self.upper[:stop], self.norms[:stop], starts, self.tolerance)

    def seen_from(self, x: Array) -> LevelRows:
        """The same rows in the distance from x."""
        value = self.A.dot(x)
        lower, upper = self.lower - value, self.upper - value
        return LevelRows(self.A, lower, upper, self.norms, self.starts, self.tolerance)
