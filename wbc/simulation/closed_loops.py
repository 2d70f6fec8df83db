"""The effect of closed loops on velocities: an impulse, or a force, that acts at once and does no work."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from wbc.arrays import Array

RANK = 1e-9
"""Below this share of the greatest singular value is nothing but rounding."""


class ClosedLoops:
    """The loops of a robot in a state.

    With M = L Lᵀ what loops can do is L⁻ᵀ times a combination of the columns of L⁻¹ Jᵀ; these are kept as an
    orthonormal basis U, so that redundant loops do no harm.

    Args:
        J: the Jacobian of the loops, of any rank, shape (rows, nv).
        L: shape (nv, nv).
    """

    def __init__(self, J: Array, L: Array) -> None:
        U, singular, V = np.linalg.svd(lapack.dtrtrs(L, J.T, lower=1)[0], full_matrices=False)
        kept = singular > RANK * singular.max(initial=0.0)
        self._U, self._inverse, self._L = U[:, kept], (V[kept] / singular[kept, None]), L

    def changed(self, free: Array, by: Array) -> Array:
        """A velocity, or acceleration, whose J · changes by so much: by the least impulse, or force, of the loops.

        Args:
            free: shape (nv,).
            by: shape (rows,).
        """
        z = self._U @ (self._inverse @ by)
        return np.asarray(free + lapack.dtrtrs(self._L, z, lower=1, trans=1)[0])

    def beside(self, Y: Array) -> Array:
        """What is left of other impulses, L⁻¹ Jᵀ, shape (nv, n), where the loops answer to them."""
        return np.asarray(Y - self._U @ (self._U.T @ Y))
