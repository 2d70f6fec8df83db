"""``nullspace``: iterative null-space projection, ETH algorithm 2, by orthogonal factorisation."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np
from scipy.linalg import lapack

from wbc.arrays import Array, IntArray
from wbc.errors import WbcError
from wbc.solvers.answer import Answer, grade
from wbc.solvers.base import Solver
from wbc.solvers.elimination import RANK_TOLERANCE, eliminate
from wbc.solvers.level import Hierarchy, LevelLike


class NullSpace(Solver, ignores_inequalities=True):
    """Strict priorities between equalities, ETH (3.104)–(3.107): ``x ← x + N_k (A_k N_k)⁺ (b_k - A_k x)``.

    Inequalities are ignored: where x violates one the status is ``violated`` and `LevelAnswer.violated` names the rows.
    What all levels leave free is zero: x is the solution of least norm.
    """

    def __init__(self, damping: float = 0.0, rank_tolerance: float = RANK_TOLERANCE) -> None:
        """Make a solver.

        Args:
            damping: λ of the damped inverse ``Bᵀ (B Bᵀ + λ² I)⁻¹``, ETH (2.207), in the units of ``B = A_k N_k``. It
                bounds x near a singularity, at the price of a residual that a lower level may still reduce.
            rank_tolerance: see `elimination.RANK_TOLERANCE`.
        """
        if not 0.0 <= damping < np.inf:
            raise WbcError(f"damping is {damping!r}, expected a number from 0 up")
        self.damping, self.rank_tolerance = float(damping), rank_tolerance

    def solve(
        self, levels: Hierarchy | Sequence[LevelLike], *, validate: bool = True, seconds: float = np.inf
    ) -> Answer:
        """Solve the equalities of a hierarchy.

        Args:
            levels: highest priority first; a `Hierarchy` is taken as it is.
            validate: False trusts tuples of arrays.
            seconds: how long it may take.

        Raises:
            WbcError: a level cannot be used; the message names level and row.
        """
        began = perf_counter()
        hierarchy = Hierarchy.of(levels, validate)
        x, ranks, done = cascade(hierarchy, self.rank_tolerance, began + seconds, self.damping)
        return grade(
            hierarchy,
            x,
            iterations=done,
            time=perf_counter() - began,
            ranks=ranks,
            status="iteration-limit" if done < len(hierarchy) else None,
            ignores_inequalities=True,
        )


def cascade(
    hierarchy: Hierarchy, tolerance: float, deadline: float, damping: float = 0.0
) -> tuple[Array, list[int], int]:
    """Solve the equality rows of all levels.

    Args:
        hierarchy: the levels; inequality rows are passed over.
        tolerance: relative tolerance of rank decisions.
        deadline: until when it may take, by `time.perf_counter()`; the first level is solved in any case.
        damping: λ of ETH (2.207).

    Returns:
        x, the rank of each level, and how many levels were solved.
    """
    A, lower, upper = hierarchy.scaled()
    n = A.shape[1]
    norms = hierarchy.scaled_norms()
    if norms is None:
        norms = np.sqrt((A * A).dot(np.ones(n)))
    if not hierarchy.sane():
        hierarchy.check()
    equal = lower == upper
    x, Z = np.zeros(n), np.eye(n, order="F")
    ranks = [0] * len(hierarchy)
    done = len(hierarchy)
    for level in range(len(hierarchy)):
        if level and perf_counter() > deadline:
            done = level
            break
        at: slice | IntArray = hierarchy.rows(level)
        here = equal[at]
        if not here.all():
            at = np.flatnonzero(here) + hierarchy.starts[level]
        rows, b = A[at], lower[at]
        if not len(b) or not Z.shape[1]:
            continue
        factor = eliminate(rows, Z, norms[at], tolerance, Z.shape[1] == n)
        ranks[level] = factor.rank
        if factor.rank:
            rest = b - rows.dot(x)
            step = _damped(rows.dot(factor.Y), rest, damping) if damping else factor.solve(rest)
            x = x + factor.Y.dot(step)
            Z = factor.Z
    return x if np.isfinite(x).all() else np.nan_to_num(x), ranks, done


def _damped(C: Array, rest: Array, damping: float) -> Array:
    """The w of least ``|C w - rest|² + λ² |w|²``, ETH (2.207), from one factorisation of both terms stacked."""
    rank = C.shape[1]
    stacked = np.asfortranarray(np.vstack([C, damping * np.eye(rank)]))
    qr, tau, _, _ = lapack.dgeqrf(stacked)
    rhs = np.concatenate([rest, np.zeros(rank)])[:, None]
    projected = lapack.dormqr("L", "T", qr, tau, rhs, 64)[0]
    return lapack.dtrtrs(qr[:rank], projected[:rank, 0])[0]  # type: ignore[no-any-return]
