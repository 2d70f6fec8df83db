"""The compiled kernel as an engine."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from wbc.arrays import Array
from wbc.solvers.answer import Sides
from wbc.solvers.hierarchical.engine import STOPPED, Found, Request


class Compiled:
    """Solves hierarchies of the same sizes by a plan of the kernel, which remembers the last active set."""

    def __init__(
        self, kernel: ModuleType, unknowns: int, sizes: list[int], max_steps: int, rank_tolerance: float
    ) -> None:
        self._plan = kernel.Plan(unknowns, sizes, max_steps, rank_tolerance)
        self._levels, self._rows = len(sizes), sum(sizes)
        self._starts, self._tolerance = [0, *np.cumsum(sizes).tolist()], rank_tolerance

    def solve(self, request: Request) -> Found:
        """Solve levels of the sizes it was made for."""
        x, value = np.empty(request.A.shape[1]), np.empty(self._rows)
        side: Sides = np.empty(self._rows, dtype=np.int8)
        ranks = np.empty(self._levels)
        status, steps, _, _ = self._plan.solve(
            request.A, request.lower, request.upper, request.norms, request.seconds, x, value, side, ranks
        )
        if status < STOPPED and not _holds(request, x, value, side):
            status = STOPPED
        if status == STOPPED:
            x = self._kept(request, x)
            value = request.A.dot(x)
        pulling: list[int] = []
        lines = None
        if status < STOPPED and side.any():
            lines = np.empty((self._levels + 1, self._rows))
            pulling = list(self._plan.multipliers(lines.reshape(-1)))
        return Found(status, x, value, side, ranks.astype(int).tolist(), steps, pulling, lines)

    def _kept(self, request: Request, x: Array) -> Array:
        """A point that keeps the first levels: the kernel's own, where it does."""
        # imported late: it is seldom needed
        from wbc.solvers.hierarchical.reference import keep_first_levels
        from wbc.solvers.hierarchical.working_set import Rows

        norms = np.sqrt((request.A * request.A).sum(axis=1)) if request.norms is None else request.norms
        return keep_first_levels(Rows(request.A, request.lower, request.upper, norms, self._starts, self._tolerance), x)

    def forget(self) -> None:
        """Forget the last active set."""
        self._plan.forget()


def _holds(request: Request, x: Array, value: Array, side: Sides) -> bool:
    """Whether the rows outside the active set hold: what an optimum is by definition, and an answer must show."""
    off = np.maximum(value - request.upper, request.lower - value)
    off[(side != 0) | (request.lower == request.upper)] = 0.0
    if not off.size or off.max() <= 0.0:
        return True
    norms = np.sqrt((request.A * request.A).sum(axis=1)) if request.norms is None else request.norms
    return bool((off <= 1e-9 * norms * (1.0 + float(np.linalg.norm(x)))).all())
