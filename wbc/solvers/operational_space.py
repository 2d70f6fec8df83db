"""``operational-space``: the null-space cascade, and what stays free fixed by least xᵀ W x (ETH 3.9.4)."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.errors import WbcError
from wbc.solvers.answer import Answer, grade
from wbc.solvers.base import Solver
from wbc.solvers.elimination import RANK_TOLERANCE
from wbc.solvers.level import Hierarchy, LevelLike
from wbc.solvers.nullspace import cascade


class OperationalSpace(Solver, ignores_inequalities=True, dynamically_consistent=True):
    """Equalities in order of priority, then ``min |F x - d|²`` over what they leave free.

    With x = τ and ``Fᵀ F = M⁻¹`` this is ``min τᵀ M⁻¹ τ``: for one task ``J M⁻¹ τ = ẇ* + J M⁻¹ (b + g) - J̇ q̇`` of a
    fixed-base robot the answer is ``τ = Jᵀ (Λ ẇ* + μ + p)``, ETH (3.90), without Λ ever being formed. What the metric
    does not see either is fixed by least |x|. Inequalities are ignored, as in `NullSpace`.
    """

    def __init__(
        self,
        metric: ArrayLike | None = None,
        factor: ArrayLike | None = None,
        target: ArrayLike | None = None,
        rank_tolerance: float = RANK_TOLERANCE,
    ) -> None:
        """Make a solver.

        Args:
            metric: W, symmetric positive semidefinite, shape (n, n). None, with no factor either: the identity.
            factor: F with ``W = Fᵀ F``, shape (r, n), in place of `metric`.
            target: d, shape (r,); zeros where it is None. Only with a factor.
            rank_tolerance: see `elimination.RANK_TOLERANCE`.
        """
        self.rank_tolerance = rank_tolerance
        self._factor: Array | None = None
        self._target: Array | None = None
        self.measure(metric=metric, factor=factor, target=target)

    def measure(
        self, metric: ArrayLike | None = None, factor: ArrayLike | None = None, target: ArrayLike | None = None
    ) -> None:
        """Change what is minimised, as from tick to tick with M; arguments as those of the class."""
        if metric is not None and factor is not None:
            raise WbcError("give a metric or a factor of it, not both")
        if target is not None and factor is None:
            raise WbcError("a target needs a factor: |F x - target|² is what is minimised")
        if metric is not None:
            W = numbers(metric, "metric")
            if W.ndim != 2 or W.shape[0] != W.shape[1] or not np.isfinite(W).all():
                raise WbcError(f"metric has shape {W.shape}, expected a finite square matrix")
            values, vectors = np.linalg.eigh(0.5 * (W + W.T))
            top = float(np.abs(values).max(initial=0.0))
            if len(values) and values[0] < -1e-9 * top:
                raise WbcError(f"metric is not positive semidefinite: its least eigenvalue is {values[0]:.3g}")
            factor = (vectors * np.sqrt(np.maximum(values, 0.0))).T
        self._factor = None if factor is None else np.ascontiguousarray(numbers(factor, "factor"))
        if self._factor is not None and (self._factor.ndim != 2 or not np.isfinite(self._factor).all()):
            raise WbcError(f"factor has shape {self._factor.shape}, expected a finite matrix (rows, unknowns)")
        self._target = None if target is None else numbers(target, "target")

    def solve(
        self, levels: Hierarchy | Sequence[LevelLike], *, validate: bool = True, seconds: float = np.inf
    ) -> Answer:
        """Solve the equalities of a hierarchy; arguments and errors as in `NullSpace.solve`."""
        began = perf_counter()
        hierarchy = Hierarchy.of(levels, validate)
        F, full = self._factor, hierarchy
        if F is not None:
            n = hierarchy.A.shape[1]
            d = np.zeros(len(F)) if self._target is None else self._target
            if F.shape[1] != n or d.shape != (len(F),):
                raise WbcError(
                    f"metric is for {F.shape[1]} unknowns with a target of {d.shape}, the levels have {n} unknowns"
                )
            A, lower, upper = hierarchy.scaled()
            full = Hierarchy(np.diff([*hierarchy.starts, len(A) + len(F)]).tolist(), n)
            full.A, full.lower, full.upper = np.vstack([A, F]), np.concatenate([lower, d]), np.concatenate([upper, d])
            if (norms := hierarchy.scaled_norms()) is not None:
                full.norms = np.concatenate([norms, np.linalg.norm(F, axis=1)])
        x, ranks, done = cascade(full, self.rank_tolerance, began + seconds)
        return grade(
            hierarchy,
            x,
            iterations=done,
            time=perf_counter() - began,
            ranks=ranks[: len(hierarchy)],
            status="iteration-limit" if done < len(full) else None,
            ignores_inequalities=True,
        )
