"""Inverses of Jacobians that are not square, and what they leave free (ETH 2.194–2.212).

For one task, where the formulas themselves are wanted. Tasks of several priorities, with limits, are what
`DifferentialKinematics` solves, without forming an inverse.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from wbc.arrays import Array, ArrayLike, numbers
from wbc.errors import WbcError, number, show

RANK_TOLERANCE = 1e-9
"""A singular value below this share of the greatest counts as none."""


def pseudo_inverse(A: ArrayLike, tolerance: float = RANK_TOLERANCE) -> Array:
    """The Moore–Penrose inverse A⁺ (ETH 2.196–2.199), of any rank, by singular values.

    For full column rank it is (AᵀA)⁻¹Aᵀ (ETH 2.200), for full row rank Aᵀ(AAᵀ)⁻¹ (ETH 2.205). x = A⁺ b has the least
    |A x − b| (ETH 2.201–2.204), and of all such x the least |x|.

    Args:
        A: shape (m, n).
        tolerance: a singular value below this share of the greatest counts as none.

    Returns:
        Shape (n, m).
    """
    U, s, Vt = _singular_values(A, tolerance)
    inverse: Array = (Vt.T / s) @ U.T
    return inverse


def damped_pseudo_inverse(A: ArrayLike, damping: float) -> Array:
    """Aᵀ(AAᵀ + λ²1)⁻¹ (ETH 2.207): x = A⁺ b has the least |A x − b|² + λ²|x|², and is never longer than |b| / 2λ.

    Args:
        A: shape (m, n).
        damping: λ, in the units of A; more than 0.

    Returns:
        Shape (n, m).
    """
    A, square = _matrix(A), number(damping, "damping", high=1e150, above=True) ** 2
    m, n = A.shape
    if m <= n:
        solved = scipy.linalg.solve(A @ A.T + square * np.eye(m), A, assume_a="pos")
        return np.ascontiguousarray(solved.T)
    return np.asarray(scipy.linalg.solve(A.T @ A + square * np.eye(n), A.T, assume_a="pos"))


def weighted_pseudo_inverse(A: ArrayLike, weights: ArrayLike) -> Array:
    """(AᵀWA)⁻¹AᵀW (ETH 2.215): x = A⁺ b has the least |W^½ (A x − b)|, whatever the rank.

    Where A has not full column rank, the inverse in the formula does not exist: (W^½ A)⁺ W^½ then gives the x of least
    norm among those.

    Args:
        A: shape (m, n).
        weights: the diagonal of W, shape (m,), zero or more.

    Returns:
        Shape (n, m).
    """
    A, w = _matrix(A), numbers(weights, "weights")
    if w.shape != (len(A),) or not ((w >= 0) & (w < np.inf)).all():
        raise WbcError(f"weights must be {len(A)} finite numbers, zero or more, not {show(weights)}")
    root = np.sqrt(w)
    inverse: Array = pseudo_inverse(root[:, None] * A) * root
    return inverse


def null_space_projector(A: ArrayLike, tolerance: float = RANK_TOLERANCE) -> Array:
    """N = 1 − A⁺A (ETH 2.206, 2.212): A N = 0, so that A (A⁺ b + N x₀) = b whatever x₀ is (ETH 2.210, 2.211).

    Args:
        A: shape (m, n).
        tolerance: see `pseudo_inverse`.

    Returns:
        Shape (n, n), symmetric; its rank is n less that of A.
    """
    _, _, Vt = _singular_values(A, tolerance)
    projector: Array = np.eye(Vt.shape[1]) - Vt.T @ Vt
    return projector


def _matrix(A: ArrayLike) -> Array:
    matrix = numbers(A, "A")
    if matrix.ndim != 2 or not np.isfinite(matrix).all():
        raise WbcError(f"A must be a matrix of finite numbers, not {show(A)}")
    return matrix


def _singular_values(A: ArrayLike, tolerance: float) -> tuple[Array, Array, Array]:
    """U, s and Vᵀ of A = U diag(s) Vᵀ, without the singular values that count as none."""
    U, s, Vt = np.linalg.svd(_matrix(A), full_matrices=False)
    kept = s > number(tolerance, "tolerance", high=1.0) * s.max(initial=0.0)
    return U[:, kept], s[kept], Vt[kept]
