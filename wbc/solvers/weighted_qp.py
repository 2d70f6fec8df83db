"""``weighted-qp``: level 0 exact, the priorities below it traded by weights, in one QP."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np
from scipy.linalg import lapack

from wbc.arrays import Array
from wbc.errors import WbcError
from wbc.solvers.answer import Answer, Sides, grade
from wbc.solvers.base import Solver
from wbc.solvers.elimination import RANK_TOLERANCE, eliminate
from wbc.solvers.level import Hierarchy, LevelLike
from wbc.solvers.quadratic import QuadraticProgram
from wbc.solvers.sequential_qp import TOLERANCE, Descent

_LEAST_NORM = 1e-8
"""Size of the rows that ask for least |z| where nothing else is wanted, relative to the largest of the rest."""


_LEAST_CURVATURE = 1e-13
"""The same, relative to the curvature of the rest."""


class WeightedQP(Solver, trades_priorities=True):
    """Soft priorities: ``min Σ_k ratio^(1-k) |r_k|²`` over the levels k ≥ 1, such that level 0 stays as good as it can
    be.

    The classical alternative to strict priorities: one QP, cheap; a large lower task can still move a higher one. Level
    0 is exact: its equalities are eliminated, its inequalities are constraints, and where it cannot be met at all it is
    solved by itself first.
    """

    def __init__(self, ratio: float = 1e3, qp: str = "daqp", rank_tolerance: float = RANK_TOLERANCE) -> None:
        """Make a solver.

        Args:
            ratio: how much more a squared residual weighs than one a level below, at least 1.
            qp: name of the QP solver, as qpsolvers spells it.
            rank_tolerance: see `elimination.RANK_TOLERANCE`.

        Raises:
            WbcError: a ratio below 1; no such QP solver, or not installed.
        """
        if not 1.0 <= ratio < np.inf:
            raise WbcError(f"ratio is {ratio!r}, expected a number from 1 up")
        self.ratio, self.qp, self.rank_tolerance = float(ratio), qp, rank_tolerance
        self._quadratic = QuadraticProgram(qp)
        self._plain: tuple[list[int], bytes, bool] = ([], b"", False)
        self._weights_of: tuple[list[int], Array, Array] = ([], np.zeros(0), np.zeros(0))

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
        programme = self._programme(hierarchy) if self._is_plain(hierarchy) else None
        if programme is not None:
            answer = _unbounded(hierarchy, *programme, began)
            if answer is not None:
                return answer
        if not hierarchy.sane():
            hierarchy.check()
        if programme is not None:
            answer = self._bounded(hierarchy, *programme, began)
            if answer is not None:
                return answer
        merged = self._merged(hierarchy)
        rank = 0
        calls, failed = 1, False
        x: Array | None = None
        if len(merged) == 2:
            x, rank = self._at_once(merged)
        if x is None:
            descent = Descent(merged, self._quadratic, self.rank_tolerance)
            for level in range(len(merged)):
                descent.level(level)
            x, calls, failed, rank = descent.x * descent.units, descent.calls + 1, descent.failed, descent.ranks[0]
        # Which level below the first fixed which direction is not defined: they share one objective.
        ranks = [rank] + [0] * (len(hierarchy) - 1)
        return grade(
            hierarchy,
            x,
            iterations=calls,
            time=perf_counter() - began,
            ranks=ranks,
            side=_sides(hierarchy, x),
            status="failed" if failed else None,
            tolerance=TOLERANCE,
        )

    def _is_plain(self, hierarchy: Hierarchy) -> bool:
        """Whether level 0 has inequalities only, and the one or two below it equalities only, as in a control loop."""
        starts, first = hierarchy.starts, hierarchy.starts[1]
        if self.qp != "daqp" or not hierarchy.A.shape[1] or not first or len(starts) > 4:
            return False
        equal = hierarchy.lower == hierarchy.upper
        kinds = equal.tobytes()
        if self._plain[0] != starts or self._plain[1] != kinds:
            self._plain = starts.copy(), kinds, bool(equal[first:].all() and not equal[:first].any())
        return self._plain[2]

    def _programme(self, hierarchy: Hierarchy) -> tuple[Array, Array]:
        """H and q: what a plain hierarchy minimises is ½ xᵀ H x + qᵀ x."""
        starts, first = hierarchy.starts, hierarchy.starts[1]
        roots = self._weights(starts)[1]
        if hierarchy.weights is not None:
            roots = roots * np.sqrt(hierarchy.weights[first:])
        B = hierarchy.A[first:] * roots[:, None]
        H = B.T.dot(B)
        H.reshape(-1)[:: len(H) + 1] += _LEAST_CURVATURE * (1.0 + float(np.vdot(B, B)))
        return H, B.T.dot(hierarchy.lower[first:] * -roots)

    def _bounded(self, hierarchy: Hierarchy, H: Array, q: Array, began: float) -> Answer | None:
        """The answer to a plain hierarchy; None where level 0 can't be met."""
        first = hierarchy.starts[1]
        solved = self._quadratic.hold(H, q, hierarchy.A[:first], hierarchy.lower[:first], hierarchy.upper[:first])
        if solved is None:
            return None
        x, multipliers = solved
        side: Sides = np.zeros(len(hierarchy.lower), dtype=np.int8)
        side[:first] = np.sign(multipliers)
        return _grade_plain(hierarchy, x, side, began)

    def _weights(self, starts: list[int]) -> tuple[Array, Array]:
        """The weight of each row below level 0, that of its level, and its root."""
        if self._weights_of[0] != starts:
            sizes = np.diff(starts[1:])
            weights = np.repeat(self.ratio ** -np.arange(float(len(sizes))), sizes)
            self._weights_of = starts.copy(), weights, np.sqrt(weights)
        return self._weights_of[1:]

    def _merged(self, hierarchy: Hierarchy) -> Hierarchy:
        """Level 0, and all that is below it as one level with weights."""
        if len(hierarchy) == 1:
            return hierarchy
        first, last = hierarchy.starts[1], hierarchy.starts[-1]
        merged = Hierarchy([first, last - first], hierarchy.A.shape[1])
        weights = np.ones(last)
        weights[first:] = self._weights(hierarchy.starts)[0]
        merged.A, merged.lower, merged.upper = hierarchy.A, hierarchy.lower, hierarchy.upper
        merged.weights = weights if hierarchy.weights is None else weights * hierarchy.weights
        merged.names = ["", ""]
        return merged

    def _at_once(self, merged: Hierarchy) -> tuple[Array | None, int]:
        """The one QP that is enough where level 0 can be met; x is None where it cannot."""
        A, lower, upper = merged.scaled()
        first, n = merged.starts[1], A.shape[1]
        equal = lower == upper
        x, Z, rank = np.zeros(n), np.eye(n, order="F"), 0
        fixed = np.flatnonzero(equal[:first])
        if fixed.size:
            rows = A[fixed]
            factor = eliminate(rows, Z, np.linalg.norm(rows, axis=1), self.rank_tolerance, True)
            rank = factor.rank
            if rank:
                x, Z = factor.Y.dot(factor.solve(lower[fixed])), factor.Z
        value = A.dot(x)
        hard = np.flatnonzero(~equal[:first])
        wanted = np.flatnonzero(equal[first:]) + first
        soft = np.flatnonzero(~equal[first:]) + first
        f, m = Z.shape[1], len(soft)
        if f:
            # With [B; δ I] = Q R and v = R z the objective is |v - Qᵀ r|²: weights of any ratio, and P is the identity.
            B = A[wanted].dot(Z)
            ridge = _LEAST_NORM * (np.abs(B).max(initial=0.0) or 1.0)
            stacked = np.zeros((len(wanted) + f, f), order="F")
            stacked[: len(wanted)] = B
            stacked[np.arange(len(wanted), len(stacked)), np.arange(f)] = ridge
            qr, tau, _, _ = lapack.dgeqrf(stacked, overwrite_a=1)
            rest = np.zeros((len(stacked), 1), order="F")
            rest[: len(wanted), 0] = lower[wanted] - value[wanted]
            aim = lapack.dormqr("L", "T", qr, tau, rest, 64)[0][:f, 0]
            R = qr[:f]
            at = np.concatenate([hard, soft])
            G = np.zeros((len(at), f + m))
            G[:, :f] = lapack.dtrtrs(R, A[at].dot(Z).T, 0, 1)[0].T
            G[np.arange(len(hard), len(at)), np.arange(f, f + m)] = -1.0
            size = np.sqrt((G * G).sum(axis=1))
            size[size == 0.0] = 1.0
            G /= size[:, None]
            low, high = (lower[at] - value[at]) / size, (upper[at] - value[at]) / size
            z = self._quadratic.solve(np.eye(f + m), np.concatenate([-aim, np.zeros(m)]), G, low, high)
            if z is None:
                return None, rank
            x = x + Z.dot(lapack.dtrtrs(R, z[:f])[0])
            value = A.dot(x)
        residual = value[:first] - np.clip(value[:first], lower[:first], upper[:first])
        room = 1e-8 * np.sqrt((A[:first] ** 2).sum(axis=1)) * (1.0 + np.linalg.norm(x)) + 1e-12
        return (x if (np.abs(residual) <= room).all() else None), rank


def _unbounded(hierarchy: Hierarchy, H: Array, q: Array, began: float) -> Answer | None:
    """The answer to a plain hierarchy that meets no inequality, as in most ticks: one factorisation. Else None."""
    _, x, info = lapack.dposv(H, q)
    if info != 0 or not x.dot(x) < np.inf:
        return None
    answer = _grade_plain(hierarchy, -x, None, began)
    return None if answer.residual[: hierarchy.starts[1]].any() else answer


def _grade_plain(hierarchy: Hierarchy, x: Array, side: Sides | None, began: float) -> Answer:
    """The answer of an x that keeps level 0."""
    norms = hierarchy.norms
    if norms is None or hierarchy.weights is not None:
        norms = np.sqrt((hierarchy.A * hierarchy.A).sum(axis=1))
    return grade(
        hierarchy,
        x,
        iterations=1,
        time=perf_counter() - began,
        ranks=[0] * len(hierarchy),
        side=side,
        tolerance=TOLERANCE,
        size=norms * (1.0 + float(x.dot(x)) ** 0.5),
        candidates=range(hierarchy.starts[1]) if side is not None else (),
    )


def _sides(hierarchy: Hierarchy, x: Array) -> Sides:
    """The inequality rows at or beyond a bound."""
    value = hierarchy.A.dot(x)
    near = TOLERANCE * (np.abs(hierarchy.A).dot(np.abs(x)) + 1.0)
    side: Sides = np.where(value >= hierarchy.upper - near, 1, np.where(value <= hierarchy.lower + near, -1, 0)).astype(
        np.int8
    )
    side[hierarchy.lower == hierarchy.upper] = 0
    return side
