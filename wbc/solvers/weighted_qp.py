"""``weighted-qp``: level 0 exact, the priorities below it traded by weights."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from wbc.errors import WbcError
from wbc.solvers.answer import Answer, grade
from wbc.solvers.base import CompiledPlan, Solver
from wbc.solvers.elimination import RANK_TOLERANCE
from wbc.solvers.hierarchical_qp import HierarchicalQP
from wbc.solvers.level import Hierarchy, LevelLike


class WeightedQP(Solver, trades_priorities=True):
    """Soft priorities: ``min Σ_k ratio^(1-k) |r_k|²`` over the levels k ≥ 1, such that level 0 stays as good as it can
    be.

    The classical alternative to strict priorities: a large lower task can still move a higher one. It is a hierarchy of
    two levels, and solved as one (`hierarchical_qp`): level 0 is exact whatever the ratio.
    """

    def __init__(
        self,
        ratio: float = 1e3,
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
            WbcError: a ratio below 1; another argument that can't be used.
        """
        if not 1.0 <= ratio < np.inf:
            raise WbcError(f"ratio is {ratio!r}, expected a number from 1 up")
        self.ratio = float(ratio)
        self._exact = HierarchicalQP(max_iterations, deadline, warm_start, rank_tolerance, compiled)
        self.max_iterations, self.deadline = self._exact.max_iterations, deadline
        self.rank_tolerance, self.compiled = self._exact.rank_tolerance, compiled
        self.warm_start = warm_start
        self._weights: tuple[list[int], float, np.ndarray] = ([], 0.0, np.zeros(0))

    @property
    def engine(self) -> str:
        """See `Solver`."""
        return self._exact.engine

    def reset(self) -> None:
        """Forget the last active sets."""
        self._exact.reset()

    def compiled_plan(self, levels: int, exact: int, posture: int) -> CompiledPlan | None:
        """Level 0, and all others in a second one, see `Solver.compiled_plan`."""
        plan = self._exact.compiled_plan(levels, exact, posture)
        if type(self) is not WeightedQP or plan is None:
            return None
        places = tuple(min(k, exact) for k in range(levels))
        factors = tuple(self.ratio ** float(exact - max(k, exact)) for k in range(levels))
        return plan._replace(places=places, factors=factors)

    def solve(
        self, levels: Hierarchy | Sequence[LevelLike], *, validate: bool = True, seconds: float = np.inf
    ) -> Answer:
        """Solve a hierarchy.

        Args:
            levels: highest priority first; a `Hierarchy` is taken as it is.
            validate: False trusts tuples of arrays.
            seconds: how long it may take, where that is less than `deadline`.

        Raises:
            WbcError: a level cannot be used; the message names level and row.
        """
        began = perf_counter()
        hierarchy = Hierarchy.of(levels, validate)
        exact = self._exact
        exact.max_iterations, exact.warm_start = self.max_iterations, self.warm_start
        exact.rank_tolerance, exact.compiled = self.rank_tolerance, self.compiled
        if not hierarchy.sane():
            hierarchy.check()
        found = exact.solve(self._merged(hierarchy), seconds=min(self.deadline, seconds))
        # Which level below the first fixed which direction is not defined: they share one objective.
        kept = [level.rank for level in found.levels[: hierarchy.exact]]
        ranks = (kept + [0] * len(hierarchy))[: len(hierarchy)]
        return grade(
            hierarchy,
            found.x,
            iterations=found.iterations,
            time=perf_counter() - began,
            ranks=ranks,
            side=found.side,
            status=found.status if found.status in ("iteration-limit", "failed") else None,
            reason=found.reason,
        )

    def _merged(self, hierarchy: Hierarchy) -> Hierarchy:
        """Level 0, and all that is below it as one level with weights."""
        starts, first = hierarchy.starts, hierarchy.exact
        if len(hierarchy) <= first:
            return hierarchy
        if self._weights[0] != [*starts, first] or self._weights[1] != self.ratio:
            factors = self.ratio ** np.minimum(float(first) - np.arange(float(len(hierarchy))), 0.0)
            self._weights = [*starts, first], self.ratio, np.repeat(factors, np.diff(starts))
        weights = self._weights[2]
        merged = Hierarchy.__new__(Hierarchy)
        merged.A, merged.lower, merged.upper = hierarchy.A, hierarchy.lower, hierarchy.upper
        merged.starts, merged.names = [*starts[: first + 1], starts[-1]], [""] * (first + 1)
        merged.weights = weights if hierarchy.weights is None else weights * hierarchy.weights
        merged.norms = hierarchy.norms
        merged.exact, merged.elasticity = first, None
        return merged
