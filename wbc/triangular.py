"""Triangular systems with several right-hand sides, on one thread.

OpenBLAS solves them (dtrtrs, dtrsm) on all processors from eight columns on. For a robot that gains nothing, and where
another program has a processor the tick waits for it, for milliseconds. It inverts a triangle of less than a hundred
rows, and multiplies by it, on the thread that asks.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from wbc.arrays import Array


def triangular_inverse(triangle: Array, lower: bool = False) -> Array:
    """The inverse of a triangular matrix that is not singular.

    Args:
        triangle: shape (n, n); what is in the other half does not count.
        lower: whether its lower half is meant.

    Returns:
        shape (n, n), zero in the other half.
    """
    inverse = lapack.dtrtri(triangle, lower=lower)[0]
    return np.tril(inverse) if lower else np.triu(inverse)
