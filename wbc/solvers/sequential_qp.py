"""``sequential-qp``: one QP a level, ETH 3.10.3, with inequalities on every level, by any QP solver."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from wbc.solvers.answer import Answer
from wbc.solvers.base import Solver
from wbc.solvers.descent import Descent
from wbc.solvers.elimination import RANK_TOLERANCE
from wbc.solvers.level import Hierarchy, LevelLike
from wbc.solvers.qp import QuadraticProgram


class SequentialQP(Solver):
    """Strict priorities by one QP a level, ETH (3.108), inequalities on every level.

    Equalities never see the QP: they are eliminated exactly by an orthonormal basis (`elimination`), and a hierarchy of
    equalities alone is solved without any. A level's inequalities get slacks; what slack is left at its optimum is what
    the levels below may use of it. Every QP is written in the change from the last point, which satisfies all that was
    carried down: none is infeasible. A QP's answer is sharpened by solving its active rows exactly. Where the QP solver
    gives up all the same, or a level could be better as its gradient shows, it is solved by active-set search
    (`hierarchical_qp`). A level that is not at its least then either is never called optimal: ``iteration-limit``.
    """

    def __init__(self, qp: str = "daqp", rank_tolerance: float = RANK_TOLERANCE) -> None:
        """Make a solver.

        Args:
            qp: name of the QP solver, as qpsolvers spells it: "daqp", "proxqp", "osqp", "piqp", "clarabel", ...
            rank_tolerance: see `elimination.RANK_TOLERANCE`.

        Raises:
            WbcError: no such QP solver, or not installed.
        """
        self.qp, self.rank_tolerance = qp, rank_tolerance
        self._quadratic = QuadraticProgram(qp)

    def solve(
        self, levels: Hierarchy | Sequence[LevelLike], *, validate: bool = True, seconds: float = np.inf
    ) -> Answer:
        """Solve a hierarchy.

        Args:
            levels: highest priority first; a `Hierarchy` is taken as it is.
            validate: False trusts tuples of arrays.
            seconds: how long it may take; looked at between the QPs, and by DAQP within one.

        Raises:
            WbcError: a level cannot be used; the message names level and row.
        """
        began = perf_counter()
        hierarchy = Hierarchy.of(levels, validate)
        descent = Descent(hierarchy, self._quadratic, self.rank_tolerance, began + seconds)
        for level in range(len(hierarchy)):
            if descent.late:
                descent.stopped = True
                break
            descent.level(level)
        descent.press()
        if not descent.stopped and not descent.is_solved():
            descent.stopped = True
            descent.press()  # what is given then is no optimum, but keeps the first level
        return descent.answer(hierarchy, began)
