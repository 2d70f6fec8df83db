"""The working set of the active-set search, and the equality hierarchy that it stands for."""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array, IntArray, MaskArray
from wbc.solvers.answer import Sides
from wbc.solvers.elimination import Factor, eliminate
from wbc.solvers.hierarchical.rows import LevelRows


class WorkingSet:
    """All equalities, and some inequality rows, each held at one of its bounds.

    A held row is an equality *in the least-squares sense* of its own level. `solve` solves the hierarchy of these.

    Attributes:
        rows: the problem.
        equal: which rows are equalities.
        level_of: the level of each row.
        side: what each inequality row is held at: -1 `lower`, +1 `upper`, 0 not held.
        held: the held inequality rows of each level.
        target: what the rows in the set are held at.
        low, high: bounds of the rows outside the set.
        slack: by how much bounds are widened, while a cycle is broken.
        factors: of each level; None where it has no row in the set or nothing was free.
        left: what each level can't meet, in the coordinates of its factor.
        x, value: the solution of the set, and A x.
        length: |x|.
        size: |row| (1 + |x|).
        steps: how often it was solved.
    """

    def __init__(self, rows: LevelRows) -> None:
        self.rows = rows
        p, (m, n) = len(rows.starts) - 1, rows.A.shape
        self.equal: MaskArray = rows.lower == rows.upper
        self.level_of: IntArray = np.repeat(np.arange(p), np.diff(rows.starts))
        self.side: Sides = np.zeros(m, dtype=np.int8)
        self.slack: Array = np.zeros(m)
        self.held: list[list[int]] = [[] for _ in range(p)]
        self.equalities = [
            np.flatnonzero(self.equal[a:b]) + a for a, b in zip(rows.starts, rows.starts[1:], strict=False)
        ]
        self.target = rows.lower.copy()
        self.low, self.high = rows.lower.copy(), rows.upper.copy()
        self.low[self.equal], self.high[self.equal] = -np.inf, np.inf
        self.factors: list[Factor | None] = [None] * p
        self.left: list[Array] = [np.zeros(0)] * p
        self.before: list[tuple[Array, Array]] = [(np.zeros(n), np.eye(n, order="F"))]
        self.x, self.value = np.zeros(n), np.zeros(m)
        self.size: Array  # from the first `solve` on
        self.length: float
        self.steps = 0

    def hold(self, row: int, side: int) -> int:
        """Put a row into the set, or turn it to its other bound; returns its level."""
        level = int(self.level_of[row])
        if not self.side[row]:
            self.held[level].append(row)
        self.side[row] = side
        low, high = self.rows.lower[row] - self.slack[row], self.rows.upper[row] + self.slack[row]
        self.target[row] = high if side > 0 else low
        self.low[row], self.high[row] = (low, np.inf) if side > 0 else (-np.inf, high)
        return level

    def release(self, row: int) -> int:
        """Take a row out of the set; returns its level."""
        level = int(self.level_of[row])
        self.held[level].remove(row)
        self.side[row] = 0
        self.low[row], self.high[row] = self.rows.lower[row] - self.slack[row], self.rows.upper[row] + self.slack[row]
        return level

    def clear(self) -> None:
        """Take all inequality rows out."""
        for row in [row for rows in self.held for row in rows]:
            self.release(row)

    def widen(self, slack: Array) -> None:
        """Move the bounds of all inequalities apart."""
        self.slack = np.where(self.equal, 0.0, slack)
        free = ~self.equal & (self.side == 0)
        self.low[free] = (self.rows.lower - self.slack)[free]
        self.high[free] = (self.rows.upper + self.slack)[free]
        for row in np.flatnonzero(self.side).tolist():
            self.hold(row, int(self.side[row]))

    def members(self, level: int) -> IntArray:
        """The rows of a level in the set, equalities first."""
        return np.concatenate([self.equalities[level], np.array(self.held[level], dtype=np.intp)])

    def solve(self, start: int = 0) -> None:
        """The inner step: solve the equality hierarchy of the set, from the level `start` on."""
        rows = self.rows
        x, Z = self.before[start]
        del self.before[start + 1 :]
        for level in range(start, len(rows.starts) - 1):
            self.factors[level] = None
            at = self.members(level)
            if len(at) and Z.shape[1]:
                A = rows.A[at]
                factor = eliminate(A, Z, rows.norms[at], rows.tolerance, Z.shape[1] == len(x))
                self.factors[level] = factor
                w, self.left[level] = factor.split(self.target[at] - A.dot(x))
                if factor.rank:
                    x, Z = x + factor.Y.dot(w), factor.Z
            self.before.append((x, Z))
        self.x, self.value = x, rows.A.dot(x)
        self.length = float(x.dot(x)) ** 0.5
        self.size = rows.norms * (1.0 + self.length)
        self.steps += 1

    @property
    def ranks(self) -> list[int]:
        """How many directions each level fixes."""
        return [0 if factor is None else factor.rank for factor in self.factors]
