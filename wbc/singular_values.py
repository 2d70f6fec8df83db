"""Singular values where LAPACK's fast way to them ends without: it does, if seldom, for harmless matrices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wbc.arrays import Array


class Singular(NamedTuple):
    """A = U diag(sizes) V.

    Attributes:
        U: columns, unit vectors, ratios from -1 to 1, shape (m, k).
        sizes: the singular values, the largest first, in the unit of A, shape (k,).
        V: lines, unit vectors, ratios from -1 to 1, shape (k, n).
    """

    U: Array
    sizes: Array
    V: Array


def svd(A: Array, full_matrices: bool = False) -> Singular:
    """The singular values and vectors of a matrix of finite numbers.

    Args:
        A: shape (m, n).
        full_matrices: whether U and V are square.
    """
    try:
        return Singular(*np.linalg.svd(A, full_matrices=full_matrices))
    except np.linalg.LinAlgError:
        import scipy.linalg  # slow to import, and this is rare

        return Singular(*scipy.linalg.svd(A, full_matrices, check_finite=False, lapack_driver="gesvd"))


def least_squares(A: Array, b: Array, rcond: float | None = None) -> Array:
    """The shortest x with the least |A x − b|.

    Args:
        A: shape (m, n).
        b: shape (m,), or (m, k).
        rcond: smaller singular values are none, as a share of the largest; None: those that are rounding.
    """
    try:
        return np.asarray(np.linalg.lstsq(A, b, rcond=rcond)[0])
    except np.linalg.LinAlgError:
        least = np.finfo(float).eps * max(A.shape) if rcond is None else rcond
        U, sizes, V = svd(A)
        kept = sizes > least * sizes.max(initial=0.0)
        return np.asarray((V[kept].T / sizes[kept]) @ (U[:, kept].T @ b))
