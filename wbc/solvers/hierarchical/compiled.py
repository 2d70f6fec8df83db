"""The compiled kernel as an engine."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from wbc import compiled as build
from wbc.errors import WbcError
from wbc.solvers.answer import Sides
from wbc.solvers.hierarchical.engine import STOPPED, Found, Request


class Compiled:
    """Solves hierarchies of the same sizes by a plan of the kernel, which remembers the last active set."""

    def __init__(
        self, kernel: ModuleType, unknowns: int, sizes: list[int], max_steps: int, rank_tolerance: float
    ) -> None:
        self._made_of = unknowns, sizes, max_steps, rank_tolerance
        self._plan = kernel.Plan(*self._made_of)
        self._levels, self._rows = len(sizes), sum(sizes)

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_anew, (type(self), self._made_of, self._plan.memory())

    def solve(self, request: Request) -> Found:
        """Solve levels of the sizes it was made for."""
        x, value = np.empty(request.A.shape[1]), np.empty(self._rows)
        side: Sides = np.empty(self._rows, dtype=np.int8)
        ranks = np.empty(self._levels)
        problem = request.A, request.lower, request.upper, request.norms
        found = x, value, side, ranks
        status, steps, _, _ = self._plan.solve(*problem, request.seconds, *found)
        pulling: list[int] = []
        lines = None
        if status < STOPPED and side.any():
            lines = np.empty((self._levels + 1, self._rows))
            pulling = list(self._plan.multipliers(lines.reshape(-1)))
        return Found(status, x, value, side, ranks.astype(int).tolist(), steps, pulling, lines)

    def forget(self) -> None:
        """Forget the last active set."""
        self._plan.forget()


def _made_anew(kind: type[Compiled], made_of: tuple[Any, ...], memory: bytes) -> Compiled:
    """An engine that remembers what another one did."""
    if build.kernel is None:
        raise WbcError("a solver that uses the compiled kernel was copied to where there is none")
    engine = kind(build.kernel, *made_of)
    engine._plan.recall(memory)
    return engine
