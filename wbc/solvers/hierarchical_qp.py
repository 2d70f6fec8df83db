"""``hierarchical-qp``: the exact hierarchical solver, inequalities on every level, warm-started."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from time import perf_counter

import numpy as np

from wbc import compiled as build
from wbc.errors import WbcError
from wbc.solvers.answer import Answer, grade
from wbc.solvers.base import CompiledPlan, Solver
from wbc.solvers.elimination import RANK_TOLERANCE
from wbc.solvers.hierarchical.compiled import Compiled
from wbc.solvers.hierarchical.engine import STOPPED, UNSOUND, Engine, Found, Request
from wbc.solvers.level import Hierarchy, LevelLike

_KEPT = 8
"""So many layouts are kept, each with its last active set: a controller has one for each set of closed contacts."""


class HierarchicalQP(Solver):
    """Lexicographic least squares with inequalities on every level, exact to rounding.

    If the levels leave freedom, the x of least norm is returned: x is unique, bounded, and continuous in the bounds.

    The work is done by the compiled kernel where it was built, and else in numpy (`hierarchical`): the same method, the
    same answers. A solve starts from the active set of the last one where the sizes are the same: in a control loop
    most ticks are one inner step and one check. The start does not change the answer beyond rounding; `reset` forgets
    it.
    """

    def __init__(
        self,
        max_iterations: int = 1000,
        deadline: float = np.inf,
        warm_start: bool = True,
        rank_tolerance: float = RANK_TOLERANCE,
        compiled: bool | None = None,
    ) -> None:
        """Make a solver.

        Args:
            max_iterations: bound on the inner steps of a search; beyond it the best point so far is returned with
                status ``iteration-limit``, moved as little as it takes to keep level 0.
            deadline: the same, in seconds from the start of a solve. Keeping level 0 is counted by what it took lately.
            warm_start: begin with the last solve's active set.
            rank_tolerance: see `elimination.RANK_TOLERANCE`.
            compiled: whether the compiled kernel is used; None: where it was built.

        Raises:
            WbcError: an argument can't be used; `compiled` is True and there is no kernel.
        """
        if max_iterations < 1:
            raise WbcError(f"max_iterations is {max_iterations!r}, expected 1 or more")
        if not 0.0 < rank_tolerance < 1.0:
            raise WbcError(f"rank_tolerance is {rank_tolerance!r}, expected a number between 0 and 1")
        if compiled and build.kernel is None:
            raise WbcError(
                "compiled=True, but the compiled kernel is not there: install wbc where a C compiler is "
                "(pip install --no-binary wbc wbc), and leave WBC_KERNEL unset"
            )
        self.max_iterations, self.deadline, self.warm_start = int(max_iterations), deadline, warm_start
        self.rank_tolerance, self.compiled = float(rank_tolerance), compiled
        self._engines: dict[tuple[object, ...], Engine] = {}

    @property
    def engine(self) -> str:
        """See `Solver`."""
        return "compiled" if self._is_compiled() else "numpy"

    def reset(self) -> None:
        """Forget the last active sets."""
        for engine in self._engines.values():
            engine.forget()

    def compiled_plan(self, levels: int, exact: int, posture: int) -> CompiledPlan | None:
        """Each level is where it is, see `Solver.compiled_plan`."""
        if type(self) is not HierarchicalQP or not self._is_compiled():  # what a subclass has changed counts
            return None
        return CompiledPlan(tuple(range(levels)), (1.0,) * levels, self.max_iterations, self.rank_tolerance)

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
        A, lower, upper = hierarchy.scaled()
        norms = hierarchy.scaled_norms()
        engine = self._engine(hierarchy)
        if not self.warm_start:
            engine.forget()
        spent = perf_counter() - began
        seconds = min(self.deadline, seconds) - spent
        found = engine.solve(Request(A, lower, upper, norms, seconds))
        if found.status == UNSOUND:
            return _unsound(hierarchy, found, began)
        if norms is None or hierarchy.weights is not None:
            norms = np.sqrt((hierarchy.A * hierarchy.A).sum(axis=1))
        return grade(
            hierarchy,
            found.x,
            iterations=found.steps,
            time=perf_counter() - began,
            ranks=found.ranks,
            side=found.side,
            pulls=None if found.multipliers is None else (found.pulling, found.multipliers),
            status="iteration-limit" if found.status == STOPPED else None,
            value=found.value if hierarchy.weights is None else None,
            size=norms * (1.0 + float(found.x.dot(found.x)) ** 0.5),
            candidates=np.flatnonzero(found.side).tolist(),
        )

    def _is_compiled(self) -> bool:
        return build.kernel is not None and self.compiled is not False

    def _engine(self, hierarchy: Hierarchy) -> Engine:
        """What solves levels of these sizes."""
        n, starts = hierarchy.A.shape[1], hierarchy.starts
        key = (n, *starts, self.max_iterations, self.rank_tolerance, self.compiled)
        engine = self._engines.get(key)
        if engine is None:
            while len(self._engines) >= _KEPT:
                del self._engines[next(iter(self._engines))]
            sizes = [stop - start for start, stop in pairwise(starts)]
            if self._is_compiled():
                assert build.kernel is not None
                engine = Compiled(build.kernel, n, sizes, self.max_iterations, self.rank_tolerance)
            else:
                from wbc.solvers.hierarchical.reference import Reference  # not imported where it is not needed

                engine = Reference(n, sizes, self.max_iterations, self.rank_tolerance)
            self._engines[key] = engine
        return engine


def _unsound(hierarchy: Hierarchy, found: Found, began: float) -> Answer:
    """The answer where a number is not finite: an error where that was handed over, "failed" where it came out."""
    hierarchy.check()
    return grade(
        hierarchy,
        np.zeros(hierarchy.A.shape[1]),
        iterations=found.steps,
        time=perf_counter() - began,
        ranks=found.ranks,
        status="failed",
        reason=OverflowError("the numbers of these levels are too large, or too far apart, to compute with"),
    )
