"""``elastic-qp``: strict priorities, as long as no level pulls harder than a bound; one weighted QP a solve."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError
from wbc.solvers.answer import Answer, grade
from wbc.solvers.base import CompiledPlan, Pulling, Solver
from wbc.solvers.elimination import RANK_TOLERANCE
from wbc.solvers.hierarchical_qp import HierarchicalQP
from wbc.solvers.level import Elasticity, Hierarchy, LevelLike

PULL = 2000.0
"""Bound on the pull of the level above the posture, m/s², if a hierarchy tells none."""

RATIO = 300.0
"""How much more a squared residual weighs than one a level below, for levels above the posture."""

GROWTH = 3.0
"""How much harder a level may pull than the one below it. Above 2 it outweighs all levels below together."""

LARGEST = 1e18
"""Largest weight: double precision can't tell rows apart whose weights differ by more."""

HELD = 1.0
"""A bound on a level that yields counts as held if it is missed by less than this, in the unit of its row. At 1 kHz an
acceleration that is off by 1 m/s² is off by 1 µm in a period."""


class Memory(NamedTuple):
    """What a solve leaves to the next one.

    Attributes:
        rows: names of the rows that it is for, and how many have each name.
        time: of the tick, s; NaN: unknown.
        missed: by how much each row missed what it demanded, its multiplier included, shape (M,).
    """

    rows: tuple[tuple[str, int], ...]
    time: float
    missed: Array

    def continued(self, rows: tuple[tuple[str, int], ...]) -> Array:
        """What rows missed, for other rows: those of the same name and number go on, the others begin with zero."""
        if rows == self.rows:
            return self.missed
        ends = np.cumsum([0, *(count for _, count in self.rows)]).tolist()
        known = {row: self.missed[a:b] for row, a, b in zip(self.rows, ends, ends[1:], strict=False)}
        return np.concatenate([np.zeros(0), *(known.get(row, np.zeros(row[1])) for row in rows)])


class ElasticQP(Solver, trades_priorities=True, yields=True):
    """Strict priorities whose pulls are bounded: a level demands less if it would cost the posture too much.

    The levels down to the posture are one least-squares problem. With residuals r_k = A_k x − b_k, and s_k the root
    mean square size of a level's equations (a bound is measured by the size of its own row):

        min Σ_k w_k y_k |r_k − μ_k|² / s_k²   such that the exact levels hold,

    with w_k = ratio^u for the u-th level above the posture. Levels below the posture use what is left free, strictly.

    The pull of a level is the acceleration of the posture that it may cost, w_k |r_k − μ_k| / s_k. Its bound is
    K growth^(u−1). What a level missed in the last solve, r_k − μ_k, gives its multiplier μ_k for this one, projected
    onto the ball of that bound (method of multipliers): so a level is met exactly although its weight is finite. A
    level whose pull is at its bound loses weight, y_k = (1 + (pull / bound)²)^(−1/2) (pseudo-Huber).

    Near a singularity σ a strict level demands du = b / σ. Here du ≤ K σ, which goes to zero with σ: in the closed loop
    a spring of stiffness K, 1/s². A controller derives K from what calms that spring (`wbc.control.pulls`). A posture
    of all joints makes the problem strictly convex, and its exact levels can always hold: accelerations are unique, and
    continuous in state and targets.
    """

    def __init__(
        self,
        ratio: float = RATIO,
        max_iterations: int = 1000,
        deadline: float = np.inf,
        warm_start: bool = True,
        rank_tolerance: float = RANK_TOLERANCE,
        compiled: bool | None = None,
    ) -> None:
        """Make a solver.

        Args:
            ratio: how much more a squared residual weighs than one a level below, at least 1.
            max_iterations: as in `HierarchicalQP`, and so are the others.
            deadline: in seconds.
            warm_start: begin with the last solve's active set.
            rank_tolerance: see `elimination.RANK_TOLERANCE`.
            compiled: whether the compiled kernel is used; None: where it was built.

        Raises:
            WbcError: an argument can't be used.
        """
        if not 1.0 <= ratio < np.inf:
            raise WbcError(f"ratio is {ratio!r}, expected a number from 1 up")
        self.ratio = float(ratio)
        self._exact = HierarchicalQP(max_iterations, deadline, warm_start, rank_tolerance, compiled)
        self.max_iterations, self.deadline = self._exact.max_iterations, deadline
        self.rank_tolerance, self.compiled = self._exact.rank_tolerance, compiled
        self.warm_start = warm_start
        self._before: Memory | None = None
        self._now: Memory | None = None

    @property
    def engine(self) -> str:
        """See `Solver`."""
        return self._exact.engine

    def reset(self) -> None:
        """Forget the last active sets, and the multipliers."""
        self._exact.reset()
        self._before = self._now = None

    def pulling(self, levels: int, pull: float) -> Pulling:
        """How levels that yield pull.

        Args:
            levels: how many there are, the last of them the posture.
            pull: bound on the pull of the level above the posture, m/s².
        """
        up = np.arange(levels - 1.0, -1.0, -1.0)
        ratio = min(self.ratio, LARGEST ** (1.0 / max(levels - 1.0, 1.0)))
        weight: Array = ratio**up
        bound = pull * GROWTH ** (up - 1.0)
        return Pulling(weight, np.where(up > 0.0, bound / weight, np.inf), HELD)

    def compiled_plan(self, levels: int, exact: int, posture: int) -> CompiledPlan | None:
        """The levels down to the posture share one that yields, see `Solver.compiled_plan`."""
        plan = self._exact.compiled_plan(levels, exact, posture)
        if type(self) is not ElasticQP or plan is None:
            return None
        merged = max(posture - exact, 0)
        places = tuple(k if k < exact else max(k - merged, exact) for k in range(levels))
        return plan._replace(places=places, elastic=self)

    def solve(
        self, levels: Hierarchy | Sequence[LevelLike], *, validate: bool = True, seconds: float = np.inf
    ) -> Answer:
        """Solve a hierarchy; with `Hierarchy.elasticity` as the next one of a series.

        Without it the last level is the posture, pulls are bounded by `PULL`, and multipliers are zero: a level is
        missed by the error of its finite weight.

        Args:
            levels: highest priority first; a `Hierarchy` is taken as it is.
            validate: False trusts tuples of arrays.
            seconds: how long it may take, where that is less than `deadline`.

        Raises:
            WbcError: a level cannot be used; the message names level and row.
        """
        began = perf_counter()
        hierarchy = Hierarchy.of(levels, validate)
        inner = self._exact
        inner.max_iterations, inner.warm_start = self.max_iterations, self.warm_start
        inner.rank_tolerance, inner.compiled = self.rank_tolerance, self.compiled
        if not hierarchy.sane():
            hierarchy.check()
        count, exact = len(hierarchy), min(hierarchy.exact, len(hierarchy))
        told = hierarchy.elasticity or Elasticity(count - 1, PULL)
        rows = told.rows or tuple((str(k), int(size)) for k, size in enumerate(np.diff(hierarchy.starts)))
        yielding = slice(exact, min(told.posture, count - 1) + 1)
        units, bound, weight = _units(hierarchy), np.full(count, np.inf), np.ones(count)
        pulling = self.pulling(max(yielding.stop - exact, 0), told.pull)
        bound[yielding] = pulling.reach
        before = self._missed(told.time, rows) if hierarchy.elasticity is not None else np.zeros(len(hierarchy.A))
        shift, yields = _projected(hierarchy, bound, before, units)
        weight[yielding] = pulling.weight * yields[yielding]
        merged = _merged(hierarchy, yielding, weight, shift, units)
        found = inner.solve(merged, seconds=min(self.deadline, seconds))
        loads, slack = None, np.zeros(len(hierarchy.A))
        slack[hierarchy.starts[yielding.start] : hierarchy.starts[yielding.stop]] = HELD
        if found.status not in ("iteration-limit", "failed"):
            value = hierarchy.A @ found.x
            missed = np.clip(value, merged.lower, merged.upper) - value
            loads = _lengths(hierarchy, missed, units) / bound
            if hierarchy.elasticity is not None:
                self._now = Memory(rows, told.time, missed)
        kept = [level.rank for level in found.levels[:exact]]
        return grade(
            hierarchy,
            found.x,
            iterations=found.iterations,
            time=perf_counter() - began,
            ranks=(kept + [0] * count)[:count],
            side=found.side,
            status=found.status if found.status in ("iteration-limit", "failed") else None,
            reason=found.reason,
            slack=slack,
            loads=loads,
        )

    def _missed(self, time: float, rows: tuple[tuple[str, int], ...]) -> Array:
        """What rows missed in the solve before this tick, shape (M,)."""
        if self._now is not None and self._now.time != time:  # a solve at the same time is that one once more
            self._before = self._now
        if self._before is None:
            return np.zeros(sum(count for _, count in rows))
        return self._before.continued(rows)


def _units(hierarchy: Hierarchy) -> Array:
    """What rows are measured by, shape (M,).

    The equations of a level by the root mean square of their norms; a bound by its own norm, for it is the same bound
    however it is scaled.
    """
    found = np.linalg.norm(hierarchy.A, axis=1) if hierarchy.norms is None else hierarchy.norms.copy()
    equal = hierarchy.lower == hierarchy.upper
    for at in _levels(hierarchy):
        own, among = found[at], equal[at]
        size = np.sqrt(np.mean(own[among] ** 2)) if among.any() else 0.0
        own[among | (own == 0.0)] = size or 1.0
    return found


def _levels(hierarchy: Hierarchy) -> list[slice]:
    return [hierarchy.rows(k) for k in range(len(hierarchy))]


def _lengths(hierarchy: Hierarchy, missed: Array, units: Array) -> Array:
    """What the rows of each level miss together, each in its unit and with its weight, shape (levels,)."""
    own = (missed / units) ** 2 * (1.0 if hierarchy.weights is None else hierarchy.weights)
    return np.sqrt([own[at].sum() for at in _levels(hierarchy)])


def _projected(hierarchy: Hierarchy, bound: Array, missed: Array, units: Array) -> tuple[Array, Array]:
    """The multiplier of each row, as a residual: what it missed, projected onto the ball of its level's bound. And what
    is left of each level's weight.
    """
    fraction = _lengths(hierarchy, missed, units) / bound
    kept = np.where(np.isfinite(bound), 1.0 / np.maximum(fraction, 1.0), 0.0)
    return missed * np.repeat(kept, np.diff(hierarchy.starts)), 1.0 / np.sqrt(1.0 + fraction**2)


def _merged(hierarchy: Hierarchy, yielding: slice, weight: Array, shift: Array, units: Array) -> Hierarchy:
    """The same with the levels that yield as one of weighted rows. A bound is shifted inwards only."""
    sizes = np.diff(hierarchy.starts)
    own = np.ones(len(hierarchy.A)) if hierarchy.weights is None else hierarchy.weights
    merged = Hierarchy([0], hierarchy.A.shape[1])
    inner = range(yielding.start + 1, yielding.stop)
    merged.starts = [start for k, start in enumerate(hierarchy.starts) if k not in inner]
    merged.names = [""] * (len(merged.starts) - 1)
    merged.A, merged.norms = hierarchy.A, hierarchy.norms
    equal = hierarchy.lower == hierarchy.upper
    lower = hierarchy.lower + np.where(equal, shift, np.maximum(shift, 0.0))
    upper = hierarchy.upper + np.where(equal, shift, np.minimum(shift, 0.0))
    middle = 0.5 * (lower + upper)
    merged.lower, merged.upper = np.where(lower > upper, middle, lower), np.where(lower > upper, middle, upper)
    measure = np.ones(len(own))
    rows = slice(hierarchy.starts[yielding.start], hierarchy.starts[yielding.stop])
    measure[rows] = units[rows]
    merged.weights = own * np.repeat(weight, sizes) / measure**2
    return merged
