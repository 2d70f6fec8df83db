"""The search in numpy, with all that leads to it: what runs where the compiled kernel was not built, and what explains
it.

A solve tries, in this order: the active set of the last solve, where that was often right lately; the equalities alone;
the search from a guess of the active set. The kernel (`kernel/solver/search.c`) takes the same steps
from a guess of its own, and makes that again where the search has far to go.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from wbc.arrays import Array
from wbc.solvers.answer import Sides
from wbc.solvers.hierarchical.engine import OPTIMAL, STOPPED, UNSOUND, Found, Request
from wbc.solvers.hierarchical.guess import Guess
from wbc.solvers.hierarchical.multipliers import is_accurate
from wbc.solvers.hierarchical.rows import LevelRows
from wbc.solvers.hierarchical.search import Outcome, Search
from wbc.solvers.hierarchical.working_set import WorkingSet

_OFTEN = 0.3
"""How often the last set must have been right lately for an inner step to be spent on it."""


_FAR = 1e3
"""Rounding at a point that is further out than this is not measured by the point."""


class Reference:
    """Solves hierarchies of the same sizes; it remembers the last active set."""

    def __init__(self, unknowns: int, sizes: list[int], max_steps: int, rank_tolerance: float) -> None:
        self._starts = [0, *np.cumsum(sizes).tolist()]
        self._max_steps, self._tolerance = max_steps, rank_tolerance
        self._side: Sides = np.zeros(self._starts[-1], dtype=np.int8)
        self._lasting = 1.0

    def forget(self) -> None:
        """Forget the last active set."""
        self._side[:] = 0
        self._lasting = 1.0

    def solve(self, request: Request) -> Found:
        """Solve levels of the sizes it was made for."""
        deadline = perf_counter() + request.seconds
        A = request.A
        norms = np.sqrt((A * A).sum(axis=1))
        if request.norms is not None:
            norms = np.where(norms < np.inf, request.norms, norms)
        rows = LevelRows(A, request.lower, request.upper, norms, self._starts, self._tolerance)
        if not _is_sound(rows):
            return self._unsound(rows)
        search = Search(WorkingSet(rows), deadline)
        before = self._start_from(rows)
        outcome = self._solve(search, before)
        if outcome is Outcome.UNSOUND:
            return self._unsound(rows)
        working = search.working
        self._side = working.side.copy()
        self._lasting += 0.1 * (np.array_equal(self._side, before) - self._lasting)
        x, value, multipliers = search.x, search.value, search.multipliers
        if outcome is Outcome.STOPPED:
            x, multipliers = keep_first_levels(rows, x), None
            value = rows.A.dot(x)
        levels, lines = ([], None) if multipliers is None else (multipliers.levels, multipliers.lines)
        status = OPTIMAL if outcome is Outcome.OPTIMAL else STOPPED
        return Found(status, x, value, working.side, working.ranks, working.steps, levels, lines)

    def _start_from(self, rows: LevelRows) -> Sides:
        """The last active set: without rows that are equalities now, or have lost their bound."""
        bound = np.where(self._side > 0, rows.upper, rows.lower)
        kept = (self._side != 0) & np.isfinite(bound) & (rows.lower < rows.upper)
        return np.where(kept, self._side, 0).astype(np.int8)

    def _solve(self, search: Search, before: Sides) -> Outcome:
        working = search.working
        if self._lasting > _OFTEN and before.any():
            for row in np.flatnonzero(before).tolist():
                working.hold(row, int(before[row]))
            outcome = search.run(1)
            if outcome is not Outcome.STOPPED:
                return outcome
            working.clear()
        worst = search.solve_set()
        if worst != worst:
            return Outcome.UNSOUND
        if not worst > 0.0:  # no inequality is in the way
            search.accept()
            search.multipliers = None
            return Outcome.OPTIMAL if is_accurate(working) else Outcome.STOPPED
        guess_active_set(search)
        outcome = search.run(self._max_steps)
        if outcome is Outcome.STOPPED and search.cycles and perf_counter() < search.deadline:
            outcome = break_cycle(search, self._max_steps)
        return outcome

    def _unsound(self, rows: LevelRows) -> Found:
        self.forget()
        m, n = rows.A.shape
        side: Sides = np.zeros(m, dtype=np.int8)
        return Found(UNSOUND, np.zeros(n), np.zeros(m), side, [0] * (len(rows.starts) - 1), 0, [], None)


def _is_sound(rows: LevelRows) -> bool:
    """Whether every bound can be used, and every row is finite."""
    bounds = (rows.lower <= rows.upper) & (rows.lower < np.inf) & (rows.upper > -np.inf)
    return bool(bounds.all()) and bool((rows.norms < np.inf).all())


def guess_active_set(search: Search) -> None:
    """From the solution of the equalities: hold what a guess finds, and start from its point. Else start there."""
    working = search.working
    rows = working.rows
    search.x = working.x
    mixed = [
        level for level, at in enumerate(working.equalities) if len(at) < rows.starts[level + 1] - rows.starts[level]
    ]
    exact = mixed[0] if mixed else len(rows.starts) - 2
    Z = working.before[exact + 1][1]
    if not Z.shape[1]:
        return
    found = Guess(rows, working.x, Z, exact).find(search.deadline)
    if found is None:
        return
    side, search.x = found
    for row in np.flatnonzero(side).tolist():
        working.hold(row, int(side[row]))


def break_cycle(search: Search, limit: int) -> Outcome:
    """Find the optimum with bounds wider by a little at random, where no two vertices meet, and take its set."""
    working = search.working
    rows = working.rows
    spread = 0.5 + np.random.default_rng(0).random(len(rows.lower))
    working.widen(1e-11 * spread * rows.norms * (1.0 + float(np.linalg.norm(search.x))))
    search.cycles = 0
    outcome = search.run(limit)
    working.widen(np.zeros(len(rows.lower)))
    if outcome is not Outcome.OPTIMAL:
        return outcome
    if not search.solve_set() < np.inf:
        return Outcome.STOPPED
    search.accept()
    off = np.maximum(working.value - working.high, working.low - working.value)
    # by the size of this point: one far out, where the search began, may have widened the bounds beyond all measure
    if not (off <= 1e-10 * working.size).all() or search.leaving() or not is_accurate(working):
        return Outcome.STOPPED
    return Outcome.OPTIMAL


def keep_first_levels(rows: LevelRows, x: Array) -> Array:
    """What is left to do where the search was stopped: keep the rows of the first levels, as near as that can be.

    These are the levels down to the first that has inequalities. Where they can't all hold they are met as well as they
    can be. Where x is so far out that the nearest point is not accurate it is the one of least norm.
    """
    equal = rows.lower == rows.upper
    ends = [stop for stop in rows.starts[1:] if not equal[:stop].all()]
    first = rows.first(rows.starts.index(ends[0], 1) if ends else len(rows.starts) - 1)
    x = x if np.isfinite(x).all() else np.zeros(len(x))
    if _holds(first, x):
        return x
    found = nearest(first, x)
    if _holds(first, found):
        return found
    safe = nearest(first, np.zeros(len(x)))  # perhaps they can't hold
    worst = np.abs(_violation(first, safe)) + 1e-9 * first.norms * (1.0 + float(np.linalg.norm(safe)))
    if (np.abs(_violation(first, x)) <= worst).all():
        return x
    return found if (np.abs(_violation(first, found)) <= worst).all() else safe


def _holds(rows: LevelRows, x: Array) -> bool:
    """Whether all rows hold at x, but for rounding."""
    length = float(np.linalg.norm(x))
    reach = 1.0 + length if length < _FAR else 1.0
    return bool((np.abs(_violation(rows, x)) <= 1e-9 * reach * rows.norms).all())


def _violation(rows: LevelRows, x: Array) -> Array:
    value = rows.A.dot(x)
    return value - np.clip(value, rows.lower, rows.upper)  # type: ignore[no-any-return]


def nearest(rows: LevelRows, x: Array) -> Array:
    """The point nearest to x that solves a hierarchy."""
    search = Search(WorkingSet(rows.seen_from(x)), np.inf)
    worst = search.solve_set()
    if worst > 0.0:
        guess_active_set(search)
        limit = 50 + 2 * len(rows.lower)
        if search.run(limit) is Outcome.STOPPED and search.cycles:
            break_cycle(search, limit)
    else:
        search.accept()
    found = x + search.x
    return found if np.isfinite(found).all() else x
