"""The active-set search over a whole hierarchy: `hierarchical_qp` is its face to the user.

The working set holds every equality and some inequality rows, each at one of its bounds and *in the least-squares sense
of its own level*. The invariant: every row outside the set is satisfied at the current x. No feasible start is needed
and nothing is ever infeasible. One inner step solves the equality hierarchy of the set (`elimination`); then a row
outside that blocks the way enters, or a held row whose multiplier has the wrong sign leaves, or x is optimal
(Escande, Mansard, Wieber 2014; Dimitrov, Sherikov, Wieber 2015).
"""

from __future__ import annotations

from itertools import pairwise
from time import perf_counter
from typing import TypeAlias

import numpy as np

from wbc.arrays import Array, IntArray, as_slice
from wbc.solvers.answer import Pulls, Sides
from wbc.solvers.elimination import Factor, eliminate
from wbc.solvers.prediction import projected

Rows: TypeAlias = tuple[Array, Array, Array, "slice | IntArray"]
"""The held rows of a level: the rows, what they are held at, their norms, and where they stand in the block."""

FEASIBILITY = 1e-12
"""A row counts as violated beyond this fraction of |row| (1 + |x|)."""

NEGLIGIBLE = 3e-13
"""A residual below this fraction of its terms is rounding."""

SIGNIFICANT = 1e-8
"""A multiplier of the wrong sign counts beyond this fraction of |A_k| |residual|."""

SETTLED = 1e-6
"""A multiplier of the right sign settles its row beyond this fraction of |A_k| |residual|. One in between
costs at most an inner step: if its row leaves for the sake of a lower level it blocks at once, and comes back."""


class Layout:
    """What stays the same from tick to tick: which rows belong to which level, and which are equalities.

    Attributes:
        equal: whether each row is an equality.
        level_of: the level of each row.
        equalities: the equality rows of each level; None where all rows of the level are equalities (or it has none).
        ones: 1 for each row.
        identity: of the size of x.
        blocks: the levels that have equalities, and where these stand.
        inequalities: where the other rows stand.
    """

    __slots__ = ("blocks", "equal", "equalities", "identity", "inequalities", "level_of", "ones", "starts")

    def __init__(self, starts: list[int], unknowns: int, equal: np.ndarray) -> None:
        self.equal, self.starts = equal, starts.copy()
        self.ones: Array = np.ones(max(len(equal), unknowns))
        self.identity: Array = np.eye(unknowns, order="F")
        self.level_of: list[int] = []
        self.equalities: list[IntArray | None] = []
        for level, (start, stop) in enumerate(pairwise(starts)):
            here = equal[start:stop]
            self.level_of += [level] * (stop - start)
            self.equalities.append(None if here.all() else np.flatnonzero(here) + start)
        every = [np.flatnonzero(equal[start:stop]) + start for start, stop in pairwise(starts)]
        self.blocks = [(level, as_slice(rows)) for level, rows in enumerate(every) if len(rows)]
        self.inequalities = as_slice(np.flatnonzero(~equal))

    def fits(self, starts: list[int], unknowns: int, equal: np.ndarray) -> bool:
        """Whether it is the layout of these levels."""
        same = self.starts == starts and len(self.identity) == unknowns
        return same and self.equal.tobytes() == equal.tobytes()


class Search:
    """One search. The arrays handed over are read, never written.

    Attributes:
        x: the best point so far.
        value: A x there.
        size: |row| (1 + |x|) at the last inner solution.
        side: what every row is held at: -1 `lower`, +1 `upper`, 0 not held (equalities: 0).
        held: the held inequality rows of each level.
        iterations: inner steps taken.
        optimal: the search ended by itself.
        sound: every number of A is finite, and no bound is NaN.
    """

    def __init__(
        self,
        A: Array,
        lower: Array,
        upper: Array,
        starts: list[int],
        rank_tolerance: float,
        layout: Layout | None = None,
        norms: Array | None = None,
    ) -> None:
        self.A, self.lower, self.upper, self.starts = A, lower, upper, starts
        self.rank_tolerance = rank_tolerance
        self.p, self.n = len(starts) - 1, A.shape[1]
        if layout is None:
            layout = Layout(starts, self.n, lower == upper)
        if norms is None:
            norms = np.sqrt((A * A).dot(layout.ones[: self.n]))
        self.layout, self.norms, equal = layout, norms, layout.equal
        self.sound = bool(norms.dot(norms) < np.inf)
        self.low: Array = lower.copy()
        self.high: Array = upper.copy()
        np.copyto(self.low, -np.inf, where=equal)
        np.copyto(self.high, np.inf, where=equal)
        self.target: Array = np.zeros(len(lower))
        np.copyto(self.target, lower, where=equal)
        self.side: Sides = np.zeros(len(lower), dtype=np.int8)
        self.held: list[list[int]] = [[] for _ in range(self.p)]
        self.working: list[Rows | None] = [None] * self.p
        self.stale = [True] * self.p
        self.factors: list[Factor | None] = [None] * self.p
        self.before: list[tuple[Array, Array]] = []
        self.columns: list[int] = []
        self.shares: dict[int, Array] = {}
        self.iterations = 0
        self.optimal = False

    # The working set ------------------------------------------------------------------------------------------------

    def hold(self, row: int, side: int) -> int:
        """Put an inequality row into the set, or turn it to its other bound; returns its level."""
        level = self.layout.level_of[row]
        if not self.side[row]:
            self.held[level].append(row)
        self.side[row] = side
        if side > 0:
            self.target[row], self.low[row], self.high[row] = self.upper[row], self.lower[row], np.inf
        else:
            self.target[row], self.low[row], self.high[row] = self.lower[row], -np.inf, self.upper[row]
        self.stale[level] = True
        return level

    def release(self, row: int) -> int:
        """Take an inequality row out of the set; returns its level."""
        level = self.layout.level_of[row]
        self.held[level].remove(row)
        self.side[row] = 0
        self.low[row], self.high[row] = self.lower[row], self.upper[row]
        self.stale[level] = True
        return level

    def clear(self) -> None:
        """Take all inequality rows out of the set."""
        for rows in self.held:
            for row in rows.copy():
                self.release(row)

    def rows_of(self, level: int) -> Rows | None:
        """The held rows of a level, equalities first; None where there are none."""
        if not self.stale[level]:
            return self.working[level]
        self.stale[level] = False
        fixed, held = self.layout.equalities[level], self.held[level]
        found: Rows | None
        if fixed is None:
            at = slice(self.starts[level], self.starts[level + 1])
            found = (self.A[at], self.target[at], self.norms[at], at) if at.stop > at.start else None
        elif not held and not fixed.size:
            found = None
        else:
            index = np.concatenate((fixed, held)) if fixed.size and held else np.array(held) if held else fixed
            found = (self.A.take(index, axis=0), self.target.take(index), self.norms.take(index), index)
        self.working[level] = found
        return found

    # The inner step ---------------------------------------------------------------------------------------------------

    def inner(self, start: int) -> Array:
        """Solve the equality hierarchy of the set; the levels above `start` are as they were at the last inner step."""
        x, Z = self.before[start]
        del self.before[start + 1 :]
        for level in range(start, self.p):
            self.factors[level] = None
            if Z.shape[1]:
                rows = self.rows_of(level)
                if rows is not None:
                    factor = eliminate(rows[0], Z, rows[2], self.rank_tolerance, Z.shape[1] == self.n)
                    self.factors[level] = factor
                    if factor.rank:
                        x = x + factor.Y.dot(factor.solve(rows[1] - rows[0].dot(x)))
                        Z = factor.Z
            self.before.append((x, Z))
        return x

    # Who leaves -------------------------------------------------------------------------------------------------------

    def blame(self, x: Array, value: Array) -> dict[int, float]:
        """Find the multipliers of the held rows, for every level that has a residual.

        From the lowest level up: level k's residual pulls with ``g = -A_kᵀ w_k``; what level j above it takes of the
        pull is ``λ = C_j (C_jᵀ C_j)⁻¹ Y_jᵀ g``, and ``g - A_jᵀ λ`` is left for the levels above. Leaves in `columns`
        the levels that pull, lowest priority first, and in `shares` for each level its rows' λ, a line for each of the
        first of these; level p is the implicit last one, min ½|x - center|².

        Own multipliers are left out where a level holds no inequality: they are its residual.

        Returns:
            what a multiplier of each of these levels is measured by.
        """
        held, p = self.held, self.p
        self.columns, self.shares = columns, shares = [], {}
        sizes: dict[int, float] = {}
        ones = self.layout.ones
        if not any(held):
            return sizes
        pull = np.empty((p + 1, self.n))
        length = 1.0 + float(x.dot(x)) ** 0.5
        offset = self.before[0][0] - x
        distance = float(offset.dot(offset)) ** 0.5
        if distance > NEGLIGIBLE * length:
            pull[0] = offset
            columns.append(p)
            sizes[p] = distance
        # Rounding is cleared away row by row: it must neither settle a row nor make one leave.
        residual = value - self.target
        size = np.abs(residual)
        noise = np.abs(self.target)
        noise += self.size
        noise *= NEGLIGIBLE
        size *= size > noise
        size *= self.norms
        for level in range(p - 1, -1, -1):
            rows = self.rows_of(level)
            if rows is None:
                continue
            A, _, _, at = rows
            factor = self.factors[level]
            q = len(columns)
            part: Array | None = None
            if q and factor is not None and factor.rank:
                part = factor.multipliers(pull[:q].dot(factor.Y))
                if level:
                    pull[:q] -= part.dot(A)
            own = 0.0
            if factor is None or not factor.exact:
                here = size[at]
                own = float(here.dot(ones[: len(here)]))
            if own:
                columns.append(level)
                sizes[level] = own
                w = residual[at]
                np.negative(w.dot(A), out=pull[q])
            if held[level]:
                found = np.zeros((len(columns), len(A)))
                if part is not None:
                    found[:q] = part
                if own:
                    found[q] = w * (here > 0.0)
                shares[level] = found
            elif part is not None:
                shares[level] = part
        return sizes

    def pulls(self) -> Pulls | None:
        """The multipliers found last, as `answer.Answer.multipliers` reads them; None where there are none."""
        if not self.columns:
            return None
        found = []
        for level, shares in self.shares.items():
            rows = self.working[level]
            assert rows is not None
            found.append((rows[3], shares))
        return self.columns, found

    def leaving(self, x: Array, value: Array, tried: set[int] | None) -> list[int]:
        """The rows that leave the set at an inner solution; none: x is optimal.

        Args:
            x: the inner solution.
            value: A x.
            tried: None where this set is met for the first time; else the rows whose leaving led back to it.
        """
        sizes = self.blame(x, value)
        columns = self.columns
        if not columns:
            return []
        # For each level that pulls, the held rows' shares of it, turned so that a row held for a reason is positive.
        signed: list[list[tuple[float, int, int]]] = [[] for _ in columns]
        wrong = False
        side, norms = self.side, self.norms
        for level, found in self.shares.items():
            held = self.held[level]
            if held:
                # The held inequalities stand behind the equalities.
                behind = found.shape[1] - len(held)
                for column, line in enumerate(found[:, behind:].tolist()):
                    size = sizes[columns[column]]
                    for row, share in zip(held, line, strict=True):
                        share *= int(side[row]) * float(norms[row]) / size
                        signed[column].append((share, row, level))
                        if share < -SIGNIFICANT:
                            wrong = True
        if not wrong:
            return []
        settled: set[int] = set()
        for k, entries in sorted(zip(columns, signed, strict=True)):
            against = [
                entry
                for entry in entries
                if entry[0] < -SIGNIFICANT and entry[1] not in settled and not (tried and entry[1] in tried)
            ]
            if against:
                own = [row for _, row, level in against if level == k]
                return own if own and tried is None else [min(against)[1]]
            settled.update(row for share, row, _ in entries if share > SETTLED)
        return []

    # The search
    # ---------------------------------------------------------------------------------------------------------

    def run(self, center: Array, start_at: Array, warm: list[tuple[int, int]], limit: int, deadline: float) -> None:
        """Search from a working set until optimal, or until `limit` inner steps or the time `deadline`.

        Args:
            center: x where nothing else is wanted: the implicit last level is min |x - center|².
            start_at: any x; the rows violated there are in the first working set.
            warm: further inequality rows to begin with, and their sides.
            limit: bound on inner steps.
            deadline: bound on `time.perf_counter()`.
        """
        for row, side in warm:
            # What was held at the last tick may be an equality now, or have lost its bound.
            if abs(self.upper[row] if side > 0 else self.lower[row]) < np.inf and self.lower[row] < self.upper[row]:
                self.hold(row, side)
        self.before = [(center, self.layout.identity)]
        self.x, begun, start = start_at, False, 0
        seen: dict[bytes, set[int]] = {}
        while True:
            target = self.inner(start)
            self.iterations += 1
            value = self.A.dot(target)
            length = float(target.dot(target)) ** 0.5
            if not length < np.inf:
                return
            beyond = value - self.high
            np.maximum(beyond, self.low - value, out=beyond)
            self.size = self.norms * (1.0 + length)
            beyond -= FEASIBILITY * self.size
            worst = float(beyond[beyond.argmax()]) if beyond.size else 0.0
            if worst != worst:
                self.sound = False  # a bound is NaN
                return
            if worst > 0.0:
                start = self.step(target, value, beyond) if begun else self.begin(target, value, beyond)
                begun = True
            else:
                self.x, self.value = target, value
                key = self.side.tobytes()
                tried = seen.get(key)
                rows = self.leaving(target, value, tried)
                if not rows:
                    self.optimal = True
                    break
                if tried is None:
                    seen[key] = set(rows) if len(rows) == 1 else set()
                else:
                    tried.update(rows)
                begun = True
                start = min(self.release(row) for row in rows)
            if self.iterations >= limit or perf_counter() > deadline:
                return

    def begin(self, target: Array, value: Array, beyond: Array) -> int:
        """Make the start the current point: rows violated there enter. Returns the first level to solve again."""
        self.value = self.A.dot(self.x)
        outside = np.maximum(self.value - self.high, self.low - self.value)
        rows = np.flatnonzero(outside > 0.0).tolist()
        if not rows:
            return self.step(target, value, beyond)
        return min(self.hold(row, 1 if self.value[row] > self.high[row] else -1) for row in rows)

    def step(self, target: Array, value: Array, beyond: Array) -> int:
        """Go from x towards `target` until the first row outside the set blocks; it enters. Returns its level."""
        at = self.value
        rows = np.flatnonzero(beyond > 0.0)
        up = value[rows] > self.high[rows]
        bound = np.where(up, self.high[rows], self.low[rows])
        change = value[rows] - at[rows]
        room = bound - at[rows]
        share = np.zeros(len(rows))
        np.divide(room, change, out=share, where=room * change > 0.0)
        np.minimum(share, 1.0, out=share)
        first = share.min()
        ties = np.flatnonzero(share <= first + 1e-14)
        pick = int(ties[np.argmax(beyond[rows[ties]])])
        self.x = self.x + first * (target - self.x)
        self.value = at + first * (value - at)
        return self.hold(int(rows[pick]), 1 if up[pick] else -1)


def nearest(A: Array, lower: Array, upper: Array, x: Array, rank_tolerance: float) -> Array:
    """The point nearest to x that solves one level: what it takes to keep hard rows exactly.

    Args:
        A: rows of the level, shape (m, n).
        lower: shape (m,).
        upper: shape (m,).
        x: where to start from, shape (n,).
        rank_tolerance: see `elimination.RANK_TOLERANCE`.
    """
    search = Search(A, lower, upper, [0, len(A)], rank_tolerance)
    held, start = projected(A, lower, upper, x)
    search.run(x, start, held, 100 + 4 * len(A), np.inf)
    return search.x
