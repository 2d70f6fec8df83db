"""DAQP's own hierarchy (`break_points`) as a solver, for comparison: one call for all levels, fast, and not exact."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import daqp
import numpy as np

from wbc.solvers import Answer, Hierarchy, Solver, grade, make_solver
from wbc.solvers.level import LevelLike

FAR = 1e30
"""DAQP's infinity."""


class DaqpHierarchy(Solver):
    """Hands all levels to DAQP at once, as soft constraints in groups of falling priority.

    DAQP reports neither which rows are held nor its time limit's best point: `seconds` has no effect.
    """

    def solve(
        self, levels: Hierarchy | Sequence[LevelLike], *, validate: bool = True, seconds: float = np.inf
    ) -> Answer:
        """Solves a hierarchy; arguments as in `Solver.solve`.

        Args:
            levels: highest priority first.
            validate: see there.
            seconds: see there.
        """
        began = perf_counter()
        laid = Hierarchy.of(levels, validate)
        A, lower, upper = laid.scaled()
        some = np.flatnonzero(np.diff(laid.starts))  # a level without rows is none
        stops = np.array([laid.starts[k + 1] for k in some], dtype=np.int32)
        # copies: DAQP normalises rows where they are
        bounds = np.clip(upper, -FAR, FAR), np.clip(lower, -FAR, FAR)
        kinds = np.zeros(len(A), dtype=np.int32)
        x, _, flag, info = daqp.solve(None, None, A.copy(), *bounds, kinds, break_points=stops)
        return grade(
            laid,
            np.array(x),
            iterations=int(info["iterations"]),
            time=perf_counter() - began,
            ranks=[0] * len(laid),
            status=None if flag >= 0 else "failed",
        )


class Judged(Solver):
    """Solves by DAQP and exactly, and notes how far the levels of both are from their least.

    Attributes:
        gaps: of DAQP, and of the exact solver: for each solve the worst level's (cost − least cost) / (1 + cost).
    """

    def __init__(self) -> None:
        self._solvers = DaqpHierarchy(), make_solver("hierarchical-qp")
        self.gaps: tuple[list[float], list[float]] = [], []

    def solve(
        self, levels: Hierarchy | Sequence[LevelLike], *, validate: bool = True, seconds: float = np.inf
    ) -> Answer:
        """Solves a hierarchy twice; the exact answer counts.

        Args:
            levels: highest priority first.
            validate: see `Solver.solve`.
            seconds: not looked at.
        """
        from tests.solvers.judge import gaps  # it needs clarabel

        laid = Hierarchy.of(levels, validate)
        A, lower, upper = laid.scaled()
        plain = [(A[laid.rows(k)], lower[laid.rows(k)], upper[laid.rows(k)]) for k in range(len(laid))]
        for solver, found in zip(self._solvers, self.gaps, strict=True):
            answer = solver.solve(laid)
            found.append(float(gaps(plain, answer.x).max()))
        return answer
