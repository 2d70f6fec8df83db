"""The active-set search over a whole hierarchy: from a working set to the optimum.

The working set holds every equality and some inequality rows, each at one of its bounds and *in the least-squares sense
of its own level*. The invariant: every row outside the set is satisfied at the current x. No feasible start is needed
and nothing is ever infeasible. One inner step solves the equality hierarchy of the set (`working_set`); then a row
outside that blocks the way enters, or a held row whose multiplier has the wrong sign leaves, or x is optimal
(Escande, Mansard, Wieber 2014; Dimitrov, Sherikov, Wieber 2015).
"""

from __future__ import annotations

from enum import Enum
from time import perf_counter

import numpy as np

from wbc.arrays import Array, MaskArray
from wbc.solvers.hierarchical.multipliers import (
    SETTLED,
    SIGNIFICANT,
    Multipliers,
    find_multipliers,
    is_accurate,
    leaving_rows,
)
from wbc.solvers.hierarchical.working_set import WorkingSet

FEASIBILITY = 1e-12
"""A row counts as violated beyond this share of |row| (1 + |x|)."""

_AT_ONCE = 1e-12
"""A step that is no step."""

_ROUNDING = 1e-13
"""A share that may be rounding."""

_WRONG = 1e-8
"""Of a row that came back at once: so large a share with the wrong sign is none of rounding."""

_ROUNDS = 3
"""So often a working set may come back to a careful search before it gives up."""


class Outcome(Enum):
    """How a search ended."""

    OPTIMAL = 0
    STOPPED = 2
    """By the bound on steps or time, or by a cycle that nothing broke."""
    UNSOUND = 3
    """A number is not finite."""


class Search:
    """One search; `run` may be called again with another working set.

    Attributes:
        working: the working set.
        x, value: the best point so far, and A x.
        multipliers: as found last.
        cycles: whether and how often a set came back to a careful search.
        deadline: until when it may search, by `time.perf_counter()`.
    """

    def __init__(self, working: WorkingSet, deadline: float) -> None:
        self.working, self.deadline = working, deadline
        self.x: Array = np.zeros(len(working.x))
        self.value: Array = np.zeros(len(working.value))
        self.multipliers: Multipliers | None = None
        self.cycles = 0
        self._stuck: MaskArray = np.zeros(len(working.side), dtype=bool)
        self._beyond: Array = np.zeros(len(working.side))

    def solve_set(self, start: int = 0) -> float:
        """Take an inner step, from the level `start` on.

        Returns:
            How far the worst row outside the set is violated at its solution; NaN where a number is not finite.
        """
        working = self.working
        working.solve(start)
        if not working.length < np.inf:
            return np.nan
        beyond = np.maximum(working.value - working.high, working.low - working.value)
        self._beyond = beyond - FEASIBILITY * working.size
        return float(self._beyond.max(initial=-np.inf))

    def accept(self) -> None:
        """Make the solution of the set the current point."""
        self.x, self.value = self.working.x, self.working.value

    def run(self, limit: int) -> Outcome:
        """Search from the current set and x.

        A set that comes back means a cycle: from then on the search is careful. Where it comes back all the same, some
        times, the search gives up.

        Args:
            limit: bound on inner steps.
        """
        working = self.working
        start, begun, careful = 0, False, False
        last: int | None = None
        seen: set[bytes] = set()
        before, left = b"", list[int]()
        for step in range(limit):
            worst = self.solve_set(start)
            if worst != worst:
                return Outcome.UNSOUND
            if worst > 0.0:
                if step + 1 == limit:  # x is where it was: a point that keeps what held there
                    break
                start = self._step(careful, last) if begun else self._begin()
                begun, last = True, None
            else:
                self.accept()
                begun = True
                name = working.side.tobytes()
                if name != before:
                    self._stuck[:] = False
                    if name in seen:
                        self.cycles += careful
                        if careful and self.cycles > _ROUNDS:
                            return Outcome.STOPPED
                        careful, seen = True, set()
                    else:
                        seen.add(name)
                else:  # what left last is back: it is held for a reason after all
                    self._stuck[left] = True
                before = name
                left = leaving = self.leaving(careful)
                if not leaving:
                    return Outcome.OPTIMAL if self._is_optimal() else Outcome.STOPPED
                last = leaving[0] if len(leaving) == 1 else None
                start = min(working.release(row) for row in leaving)
            if perf_counter() > self.deadline:
                break
        return Outcome.STOPPED

    def leaving(self, careful: bool = False, settled: float = SETTLED, significant: float = SIGNIFICANT) -> list[int]:
        """The rows that leave the set at its solution."""
        self.multipliers = find_multipliers(self.working)
        return leaving_rows(self.working, self.multipliers, self._stuck, careful, settled, significant)

    def _is_optimal(self) -> bool:
        """Whether the solution of the set may be called optimal.

        What is stuck must have a multiplier of the right sign, however small, and the equations must be solved as well
        as numbers allow.
        """
        stuck = bool(self._stuck.any())
        self._stuck[:] = False
        return not (stuck and self.leaving(True, _ROUNDING, _WRONG)) and is_accurate(self.working)

    def _begin(self) -> int:
        """Make the start the current point: rows violated there enter. Returns the first level to solve again."""
        working = self.working
        self.value = working.rows.A.dot(self.x)
        up = self.value > working.high
        rows = np.flatnonzero(up | (self.value < working.low)).tolist()
        if not rows:
            return self._step(careful=False)
        return min(working.hold(row, 1 if up[row] else -1) for row in rows)

    def _step(self, careful: bool, last: int | None = None) -> int:
        """Go towards the solution of the set until the first row outside it blocks; it enters. Returns its level.

        Args:
            careful: of those that block together the first enters, not the one that is violated most.
            last: the row that has just left alone; None: there is none. Where it blocks at once it was held for a
                reason after all: it is stuck, as long as the set is this one.
        """
        working = self.working
        rows = np.flatnonzero(self._beyond > 0.0)
        value = working.value[rows]
        up = value > working.high[rows]
        change = value - self.value[rows]
        room = np.where(up, working.high[rows], working.low[rows]) - self.value[rows]
        share = np.zeros(len(rows))
        np.divide(room, change, out=share, where=room * change > 0.0)
        np.minimum(share, 1.0, out=share)
        first = float(share.min())
        ties = np.flatnonzero(share <= first + 1e-14)
        pick = int(ties[0] if careful else ties[self._beyond[rows[ties]].argmax()])
        for back in np.flatnonzero((rows == last) & (share <= _AT_ONCE)).tolist() if last is not None else ():
            pick, first = back, float(share[back])
            self._stuck[last] = True
        self.x = self.x + first * (working.x - self.x)
        self.value = self.value + first * (working.value - self.value)
        return working.hold(int(rows[pick]), 1 if up[pick] else -1)
