"""The walk down a hierarchy, one QP a level."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from wbc.arrays import Array, IntArray
from wbc.solvers.answer import Answer, AnswerStatus, Sides, grade
from wbc.solvers.elimination import eliminate
from wbc.solvers.hierarchical_qp import HierarchicalQP
from wbc.solvers.level import Hierarchy
from wbc.solvers.qp import QuadraticProgram
from wbc.triangular import triangular_inverse

_ATTEMPTS = ((3e-11, 1e-6), (1e-8, 1e-4))
"""Where a QP is not solved it is tried again with the next of these. First: by what fraction of |row| (1 + |x|) the
slack that is carried down is widened: above a QP solver's tolerance, well below a user's (without it the next level is
infeasible by rounding). Second: the weight of the distance from the last point in directions that a level does not care
for."""

TOLERANCE = 1e-6
"""A row counts as violated, or as active, within this fraction of |row| (1 + |x|)."""

PRESSED = 1e-2
"""Greatest relative change of x to keep the first level exactly."""

_UNEVEN = 30.0
"""Unknowns are brought to one size where the norms of their columns differ by more."""

_NOTHING = 1e-13
"""An unknown of which no row has more than this share is in none: that is rounding."""

_ROUNDS = 8
"""So often at most a level is solved again from where the last round arrived."""

_BEST = 1e-8
"""A level is at its least where no allowed direction lowers its cost by more than this share of |A_k| |residual|."""


class Descent:
    """The walk down a hierarchy.

    Attributes:
        x: the point reached.
        ranks: directions fixed by the equalities of each level.
        calls: QP calls so far.
        free: what the levels above left each level that was solved.
        stopped: some level is not at its least: the time was over, or nothing solved it.
        reason: the last error of a QP solver.
    """

    def __init__(
        self, hierarchy: Hierarchy, quadratic: QuadraticProgram, rank_tolerance: float, deadline: float
    ) -> None:
        self.A, self.lower, self.upper = hierarchy.scaled()
        self.starts = hierarchy.starts
        self.quadratic, self.rank_tolerance, self.deadline = quadratic, rank_tolerance, deadline
        n = self.A.shape[1]
        self.norms = np.sqrt((self.A * self.A).dot(np.ones(n)))
        if not hierarchy.sane():
            hierarchy.check()
        self.equal = self.lower == self.upper
        # A QP solver's tolerances know nothing of units: unknowns of very different size are brought to one.
        size = np.sqrt(((self.A / np.maximum(self.norms, 1e-300)[:, None]) ** 2).sum(axis=0))
        self.units: Array = np.ones(n)
        some = size > _NOTHING * size.max(initial=0.0)
        if not self.equal.all() and size.max(initial=0.0) > _UNEVEN * size.min(initial=np.inf, where=some):
            self.units[some] = size.max() / size[some]
            self.A = self.A * self.units
            self.norms = np.sqrt((self.A * self.A).dot(np.ones(n)))
        self.x: Array = np.zeros(n)
        self.Z: Array = np.eye(n, order="F")
        self.carried: IntArray = np.zeros(0, dtype=np.intp)
        self.low, self.high = self.lower.copy(), self.upper.copy()
        self.ranks = [0] * len(hierarchy)
        self.calls = 0
        self.free: list[Array] = []
        self.stopped = False
        self.reason: Exception | None = None

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return perf_counter() > self.deadline

    def level(self, level: int) -> None:
        """Solve one level without moving the costs of those above."""
        rows = np.arange(self.starts[level], self.starts[level + 1])
        fixed, loose = rows[self.equal[rows]], rows[~self.equal[rows]]
        loose = loose[np.isfinite(self.lower[loose]) | np.isfinite(self.upper[loose])]
        self.free.append(self.Z)
        Y, C, Z = self.Z[:, :0], np.zeros((len(fixed), 0)), self.Z
        if fixed.size and self.Z.shape[1]:
            factor = eliminate(self.A[fixed], self.Z, self.norms[fixed], self.rank_tolerance)
            self.ranks[level], Z = factor.rank, factor.Z
            if factor.rank:
                C = self.A[fixed].dot(factor.Y)
                Y = factor.Y
                if not loose.size and self.settled(step := Y.dot(factor.solve(self.rest(fixed)))):
                    # Nothing that was carried down is in the way of the exact answer.
                    self.x, self.Z = self.x + step, Z
                    return
        if self.Z.shape[1] and (fixed.size or self.slack(loose, self.x).any()):
            self.minimise(fixed, loose, Y, C, Z)
            if not self.late and not self.is_least(level):
                self.stand_in(fixed, loose)
        self.Z = Z
        self.carry(loose)
        # What a violated row has is the same at every optimum of its level: an equality from here on, and no thin box
        # for a QP.
        slack = np.abs(self.slack(loose, self.x))
        stuck = loose[slack > TOLERANCE * self.norms[loose] * (1.0 + np.linalg.norm(self.x))]
        if stuck.size and self.Z.shape[1]:
            self.Z = eliminate(self.A[stuck], self.Z, self.norms[stuck], self.rank_tolerance).Z

    def rest(self, rows: IntArray) -> Array:
        """Residuals of equality rows: b - A x."""
        return self.lower[rows] - self.A[rows].dot(self.x)  # type: ignore[no-any-return]

    def slack(self, rows: IntArray, x: Array) -> Array:
        """Signed violations of inequality rows at x."""
        value = self.A[rows].dot(x)
        return value - np.clip(value, self.lower[rows], self.upper[rows])  # type: ignore[no-any-return]

    def cost(self, fixed: IntArray, loose: IntArray) -> float:
        """The cost of a level at x."""
        return float(np.hypot(np.linalg.norm(self.rest(fixed)), np.linalg.norm(self.slack(loose, self.x))))

    def settled(self, step: Array) -> bool:
        """All that was carried down holds after a step."""
        value = self.A[self.carried].dot(self.x + step)
        return bool(((value <= self.high[self.carried]) & (value >= self.low[self.carried])).all())

    def carry(self, rows: IntArray) -> None:
        """Hold the inequalities of a level, from now on, to what they have at x."""
        value = self.A[rows].dot(self.x)
        self.low[rows] = np.minimum(self.lower[rows], value)
        self.high[rows] = np.maximum(self.upper[rows], value)
        self.carried = np.concatenate([self.carried, rows])

    def minimise(self, fixed: IntArray, loose: IntArray, Y: Array, C: Array, Z: Array) -> None:
        """Move x to the least cost of a level.

        The change is ``Y R⁻¹ v + Z z`` with ``C = Q R``: the cost is |v - Qᵀ(b - A x)|² and the QP perfectly
        conditioned in v. z, which the equalities do not see, is held to the last point by a small weight and the QP is
        solved again from where it arrived until it stays.
        """
        r, m = Y.shape[1], len(loose)
        Q, R = np.linalg.qr(C)
        parts = [Y @ triangular_inverse(R)] if r else []
        basis = np.hstack([*parts, Z])
        f = basis.shape[1] - r
        inequalities = np.concatenate([self.carried, loose])
        G = self.A[inequalities].dot(basis)
        size = np.linalg.norm(G, axis=1)
        # Rows that nothing left free can move are as they are.
        moved = size > 1e-8 * np.maximum(self.norms[inequalities], 1e-300)
        own = np.arange(len(inequalities)) >= len(self.carried)
        keep = moved | own
        inequalities, G, own = inequalities[keep], G[keep], own[keep]
        unit = np.maximum(size[keep], np.where(own, 1.0, 0.0))
        slacks = np.zeros((len(G), m))
        slacks[own] = -np.eye(m)
        G = np.hstack([G, slacks]) / unit[:, None]
        cost = self.cost(fixed, loose)
        for attempt, (margin, weight) in enumerate(_ATTEMPTS):
            for _ in range(_ROUNDS):
                if self.late:
                    return
                value = self.A[inequalities].dot(self.x)
                room = margin * self.norms[inequalities] * (1.0 + np.linalg.norm(self.x))
                low = np.where(own, self.lower[inequalities], np.minimum(self.low[inequalities] - room, value))
                high = np.where(own, self.upper[inequalities], np.maximum(self.high[inequalities] + room, value))
                P = np.diag(np.concatenate([np.ones(r), np.full(f, weight), np.ones(m)]))
                q = np.concatenate([-Q.T.dot(self.rest(fixed)), np.zeros(f + m)])
                left = self.deadline - perf_counter()
                found = self.quadratic.solve(P, q, G, (low - value) / unit, (high - value) / unit, attempt, left)
                self.calls += 1
                if found is None and perf_counter() > self.deadline:  # it was stopped: that is no fault
                    return
                if found is None:
                    self.reason = self.quadratic.reason
                    break
                self.x = self.x + basis.dot(found[: r + f])
                self.polish(fixed, loose, room_of=margin)
                before, cost = cost, self.cost(fixed, loose)
                if before - cost < 1e-9 * (1.0 + cost):
                    return
            else:
                return

    def is_least(self, level: int, share: float = _BEST) -> bool:
        """Whether no allowed direction lowers the cost of a level: its gradient is what the rows above push back.

        Args:
            level: its number.
            share: of |A_k| |residual| that may be left of the gradient.
        """
        from scipy.optimize import nnls  # slow to import

        start, stop = self.starts[level], self.starts[level + 1]
        rows, Z = np.arange(start, stop), self.free[level]
        value = self.A[start:stop].dot(self.x)
        residual = value - np.clip(value, self.lower[start:stop], self.upper[start:stop])
        length = 1.0 + float(np.linalg.norm(self.x))
        residual = residual * (np.abs(residual) > 1e-11 * self.norms[rows] * length)
        size = float(np.abs(residual).dot(self.norms[rows]))
        gradient = Z.T.dot(self.A[rows].T.dot(residual))
        if np.linalg.norm(gradient) <= share * size:
            return True
        at = self.carried[self.carried < start]
        near = 1e-9 * self.norms[at] * length
        value = self.A[at].dot(self.x)
        top, bottom = value >= self.high[at] - near, value <= self.low[at] + near
        pushing = np.vstack([self.A[at[top]], -self.A[at[bottom]]]).dot(Z)
        sizes, norms = np.linalg.norm(pushing, axis=1), np.concatenate([self.norms[at[top]], self.norms[at[bottom]]])
        free = sizes > 1e-11 * norms  # what is left of the others is rounding
        pushing = pushing[free] / sizes[free, None]
        if not len(pushing):
            return False
        try:
            return bool(nnls(pushing.T, -gradient)[1] <= share * size)
        except RuntimeError:  # too many steps: nobody knows
            return False

    def stand_in(self, fixed: IntArray, loose: IntArray) -> None:
        """Solve a level by active-set search where the QPs did not: what was carried down, in what is free."""
        c, level = len(self.carried), np.concatenate([fixed, loose])
        rows = np.concatenate([self.carried, level]).astype(np.intp)
        value = self.A[rows].dot(self.x)
        within = Hierarchy([c, len(level)], self.Z.shape[1])
        within.A = np.ascontiguousarray(self.A[rows].dot(self.Z))
        within.lower[:c] = np.minimum(self.low[self.carried] - value[:c], 0.0)
        within.upper[:c] = np.maximum(self.high[self.carried] - value[:c], 0.0)
        within.lower[c:], within.upper[c:] = self.lower[level] - value[c:], self.upper[level] - value[c:]
        within.norms = self.norms[rows]
        solver = HierarchicalQP(10 * (len(rows) + 10), rank_tolerance=self.rank_tolerance)
        answer = solver.solve(within, seconds=self.deadline - perf_counter())
        self.calls += answer.iterations
        before, cost = self.x, self.cost(fixed, loose)
        self.x = self.x + self.Z.dot(answer.x)
        if answer.status == "failed" or self.cost(fixed, loose) > cost * (1.0 + 1e-9) + 1e-12:
            self.x = before

    def polish(self, fixed: IntArray, loose: IntArray, room_of: float) -> None:
        """Solve a level exactly with the rows that the QP found at their bounds, and keep the better point.

        What was carried down and is at its bound stays there; then the equalities and the violated inequalities of the
        level are met as well as possible.
        """
        length = 1.0 + float(np.linalg.norm(self.x))
        value, near = self.A.dot(self.x), TOLERANCE * self.norms * length
        rows = self.carried
        top, bottom = value[rows] >= self.high[rows] - near[rows], value[rows] <= self.low[rows] + near[rows]
        active = rows[top | bottom]
        bound = np.where(top, self.high[rows], self.low[rows])[top | bottom]
        over, under = value[loose] > self.upper[loose], value[loose] < self.lower[loose]
        pulled = np.concatenate([fixed, loose[over | under]]).astype(np.intp)
        aim = np.concatenate([self.lower[fixed], np.where(over, self.upper[loose], self.lower[loose])[over | under]])
        x, Z = self.x, self.Z
        for at, target in ((active, bound), (pulled, aim)):
            if len(at) and Z.shape[1]:
                factor = eliminate(self.A[at], Z, self.norms[at], self.rank_tolerance)
                if factor.rank:
                    x = x + factor.Y.dot(factor.solve(target - self.A[at].dot(x)))
                    Z = factor.Z
        kept, self.x = self.x, x
        worse = self.cost(fixed, loose)
        after, room = self.A[rows].dot(x), room_of * self.norms[rows] * length
        holds = (after <= self.high[rows] + room).all() and (after >= self.low[rows] - room).all()
        self.x = kept
        # The QP's point may owe a little of its cost to the room it was given; the exact one owes nothing and may be
        # above it.
        if holds and worse - (cost := self.cost(fixed, loose)) <= 1e4 * room_of * (1.0 + cost):
            self.x = x

    def is_solved(self) -> bool:
        """Whether every level is at its least, now that those below it have had their part."""
        return not self.stopped and all(self.is_least(level, 10.0 * _BEST) for level in range(len(self.free)))

    def press(self) -> None:
        """Move x as little as it takes to put the first level's inequalities exactly where they were carried down.

        Every QP may use a little of its tolerance; hard limits are judged by more than that. Levels below lose no more
        than what they owed to it.
        """
        first = slice(0, self.starts[1])
        size = self.norms[first] * (1.0 + np.linalg.norm(self.x))
        value = self.A[first].dot(self.x)
        off = np.abs(value - np.clip(value, self.lower[first], self.upper[first]))
        # where it could not hold its slack is what it is; where it holds to rounding there is nothing to do
        near = bool((off <= TOLERANCE * size).all() and (off > 1e-14 * size).any())
        if self.stopped or near or (self.free and not self.is_least(0)):
            kept = Hierarchy([self.starts[1]], len(self.x))
            kept.A, kept.norms = np.ascontiguousarray(self.A[first]), self.norms[first]
            kept.lower, kept.upper = self.lower[first] - value, self.upper[first] - value
            step = HierarchicalQP(100 + 4 * len(value), rank_tolerance=self.rank_tolerance).solve(kept).x
            if self.stopped or np.linalg.norm(step) <= PRESSED * (1.0 + np.linalg.norm(self.x)):
                self.x = self.x + step

    def answer(self, hierarchy: Hierarchy, began: float) -> Answer:
        """The answer at the point reached."""
        value = self.A.dot(self.x)
        size = self.norms * (1.0 + np.linalg.norm(self.x))
        near = TOLERANCE * size
        side: Sides = np.where(value >= self.upper - near, 1, np.where(value <= self.lower + near, -1, 0)).astype(
            np.int8
        )
        side[self.equal] = 0
        status: AnswerStatus | None = "iteration-limit" if self.stopped else None
        return grade(
            hierarchy,
            self.x * self.units,
            iterations=self.calls,
            time=perf_counter() - began,
            ranks=self.ranks,
            side=side,
            status=status,
            reason=self.reason,
            tolerance=TOLERANCE,
        )
