"""``hierarchical-qp``: the exact hierarchical solver, inequalities on every level, warm-started."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from wbc.arrays import Array
from wbc.solvers.active_set import Layout, Search, nearest
from wbc.solvers.answer import Answer, grade
from wbc.solvers.base import Solver
from wbc.solvers.elimination import RANK_TOLERANCE
from wbc.solvers.level import Hierarchy, LevelLike
from wbc.solvers.prediction import Predictor
from wbc.solvers.unconstrained import solve_equations

_WORTH_A_TRY = 0.3
"""How often a guess must have been right lately for an inner step to be spent on it before a prediction."""


class HierarchicalQP(Solver):
    """Lexicographic least squares with inequalities on every level, exact to rounding (`active_set`).

    What all levels leave free is fixed by least |x|: x is unique, bounded, and continuous in the bounds.

    A solve starts from the active set of the last one where the sizes are the same: in a control loop most ticks are
    one inner step and one check. The start does not change the answer beyond rounding; `reset` forgets it.
    """

    def __init__(
        self,
        max_iterations: int = 1000,
        deadline: float = np.inf,
        warm_start: bool = True,
        rank_tolerance: float = RANK_TOLERANCE,
    ) -> None:
        """Make a solver.

        Args:
            max_iterations: bound on inner steps; beyond it the best point so far is returned with status
                ``iteration-limit``, moved as little as it takes to keep level 0.
            deadline: the same, in seconds from the start of a solve. Keeping level 0 comes on top of it.
            warm_start: begin with the last solve's active set.
            rank_tolerance: see `elimination.RANK_TOLERANCE`.
        """
        self.max_iterations, self.deadline, self.warm_start = max_iterations, deadline, warm_start
        self.rank_tolerance = rank_tolerance
        self._layout: Layout | None = None
        self._last: list[tuple[int, int]] = []
        self._shape: tuple[int, ...] = ()
        self._x: Array = np.zeros(0)
        self._lasting, self._empty = 1.0, 0.5  # how often, lately, the set was that of the solve before, or empty
        self._predictor: tuple[Layout, Predictor] | None = None

    def reset(self) -> None:
        """Forget the last active set."""
        self._last, self._shape = [], ()

    def solve(
        self, levels: Hierarchy | Sequence[LevelLike], *, validate: bool = True, seconds: float = np.inf
    ) -> Answer:
        """Solve a hierarchy.

        Args:
            levels: highest priority first; a `Hierarchy` is taken as it is.
            validate: False trusts tuples of arrays.
            seconds: how long it may take.

        Raises:
            WbcError: a level cannot be used; the message names level and row.
        """
        began = perf_counter()
        hierarchy = Hierarchy.of(levels, validate)
        A, lower, upper = hierarchy.scaled()
        starts, n = hierarchy.starts, A.shape[1]
        equal = lower == upper
        layout = self._layout
        if layout is None or not layout.fits(starts, n, equal):
            layout = self._layout = Layout(starts, n, equal)
        norms = hierarchy.norms
        if norms is None or hierarchy.weights is not None:
            norms = (A * A).dot(layout.ones[:n])
            np.sqrt(norms, out=norms)
        shape = (n, *starts)
        warm = self.warm_start and shape == self._shape
        lasts = warm and self._lasting >= self._empty
        last = self._last if lasts else []
        trying = (self._lasting if lasts else self._empty) > _WORTH_A_TRY
        if trying and not last:
            free = solve_equations(A, lower, upper, norms, layout, self.rank_tolerance)
            if free is not None:
                self._remember(shape, free.x, [], warm)
                return grade(
                    hierarchy,
                    free.x,
                    iterations=1,
                    time=perf_counter() - began,
                    ranks=free.ranks,
                    value=free.value if hierarchy.weights is None else None,
                    size=free.size,
                    candidates=(),
                )
        search = Search(A, lower, upper, starts, self.rank_tolerance, layout, norms)
        if not self._search(search, last if trying else [], began + min(self.deadline, seconds), False):
            ranks, taken = [0] * len(hierarchy), perf_counter() - began
            return grade(hierarchy, np.zeros(n), iterations=1, time=taken, ranks=ranks, status="failed")
        if not search.sound:
            hierarchy.check()
        held = [(row, int(search.side[row])) for rows in search.held for row in rows]
        self._remember(shape, search.x, held, warm)
        ranks = [0 if factor is None else factor.rank for factor in search.factors]
        if not search.optimal:
            x = nearest(A[: starts[1]], lower[: starts[1]], upper[: starts[1]], search.x, self.rank_tolerance)
            return grade(
                hierarchy,
                x,
                iterations=search.iterations,
                time=perf_counter() - began,
                ranks=ranks,
                side=search.side,
                status="iteration-limit",
            )
        return grade(
            hierarchy,
            search.x,
            iterations=search.iterations,
            time=perf_counter() - began,
            ranks=ranks,
            side=search.side,
            pulls=search.pulls(),
            value=search.value if hierarchy.weights is None else None,
            size=search.size,
            candidates=[row for row, _ in held],
        )

    def _remember(self, shape: tuple[int, ...], x: Array, held: list[tuple[int, int]], warm: bool) -> None:
        """Note what the next solve may start from, and how good a start it would have been here."""
        if warm:
            self._lasting += 0.1 * ((held == self._last) - self._lasting)
        self._empty += 0.1 * ((not held) - self._empty)
        self._shape, self._x, self._last = shape, x.copy(), held

    def _search(self, search: Search, last: list[tuple[int, int]], until: float, tentative: bool) -> bool:
        """Search from the last active set, where there is one worth a try; if it is not that, from a predicted one.

        Returns:
            False where the prediction sees that level 0 can't hold, and a `tentative` caller has no use for more.
        """
        center = np.zeros(search.n)
        if last:
            search.run(center, self._x, last, 1, until)
            if search.optimal or not search.sound or self.max_iterations <= 1 or perf_counter() > until:
                return True
            search.clear()
        if self._predictor is None or self._predictor[0] is not search.layout:
            self._predictor = search.layout, Predictor(search.layout.equal, search.starts, search.n)
        predictor = self._predictor[1]
        guess = predictor.predict(search.A, search.lower, search.upper, search.norms)
        if tentative and predictor.infeasible:
            return False
        rows, start = ([], center) if guess is None else guess
        search.run(center, start, rows, self.max_iterations, until)
        return True
