"""The step all exact solvers share: what one level fixes of the directions that the levels above left free.

With Z an orthonormal basis of what is free and ``B = A Z``, a rank-revealing orthogonal factorisation ``B = C V₁ᵀ`` (C
of full column rank, [V₁ V₂] orthogonal) gives ``Y = Z V₁``, what the level fixes, and ``Z V₂``, what it leaves. This is
ETH (3.107) with ``(A N)⁺ = Y C⁺`` and ETH (3.105) with ``N = Z Zᵀ``, without ever forming a projector.

Decisions of rank are made on rows of unit norm, so that a row in millimetres counts as much as one in metres; least
squares are in the units of the rows as they stand. LAPACK is called directly: at a dozen unknowns numpy's wrappers take
longer than the arithmetic.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from wbc.arrays import Array, IntArray

_geqrf, _geqp3, _ormqr, _trtrs = lapack.dgeqrf, lapack.dgeqp3, lapack.dormqr, lapack.dtrtrs

RANK_TOLERANCE = 1e-9
"""A row whose free part is below this fraction of its norm counts as fixed by the rows before it."""

_CLEAR = 1e-3
"""A rank is clear where no diagonal entry of an unpivoted factorisation is below this fraction of the largest row."""

_EVEN = 1e3
"""Rows whose norms differ by less are factorised as they are."""

_NOTHING = 1e-290
"""A row of a smaller norm fixes nothing: it can't be brought to unit norm."""


class Factor:
    """The factorisation of one level's rows in the directions that were free before it.

    Attributes:
        rank: how many directions the rows fix.
        Y: orthonormal basis of these, shape (n, rank).
        Z: orthonormal basis of what is left free, shape (n, free).
        exact: the rows are independent: any right-hand side is met exactly.
    """

    __slots__ = ("Y", "Z", "_columns", "_order", "_qr", "_scale", "_tau", "exact", "rank")

    rank: int
    Y: Array
    Z: Array
    exact: bool
    _qr: Array
    _tau: Array
    _order: IntArray | None
    _columns: IntArray | None
    _scale: Array | None

    def solve(self, rhs: Array) -> Array:
        """The w of least ``|C w - rhs|``, shape (rank,)."""
        return self.split(rhs)[0]

    def split(self, rhs: Array) -> tuple[Array, Array]:
        """Splits a right-hand side into the part that can be met and the rest.

        Args:
            rhs: shape (m,).

        Returns:
            The w of least ``|C w - rhs|``, shape (rank,), and what is left over in an orthonormal basis of what C can't
            reach, shape (m - rank,). Its entry i stands for row `rows_left[i]` as far as its rounding goes.
        """
        if self._order is not None:
            rhs = rhs.take(self._order)
        if self.exact:
            if self._scale is not None:
                rhs = rhs * self._scale
            return _trtrs(self._qr, rhs, 0, 1)[0], rhs[:0]
        if not self.rank:
            return rhs[:0], rhs
        turned = _ormqr("L", "T", self._qr, self._tau, rhs[:, None], 64)[0][:, 0]
        projected, left = turned[: self.rank], turned[self.rank :]
        if self._columns is None:
            return _trtrs(self._qr, projected)[0], left
        found = np.empty(self.rank)
        found[self._columns] = _trtrs(self._qr, projected)[0]
        return found, left

    @property
    def rows_left(self) -> IntArray:
        """The rows behind the rank in the order of the factorisation, shape (m - rank,)."""
        order = np.arange(len(self._qr)) if self._order is None else self._order
        return order[self.rank :]

    def residual(self, left: Array) -> Array:
        """``rhs - C w``, row by row, out of what `split` has left over; shape (m,).

        It is not the difference of large numbers: where rows differ much in size the large ones miss by much less than
        that difference is good for.
        """
        found = np.concatenate([np.zeros(self.rank), left])
        if self.rank:
            found = _ormqr("L", "N", self._qr, self._tau, found[:, None], 64)[0][:, 0]
        if self._order is None:
            return found
        rows = np.empty(len(found))
        rows[self._order] = found
        return rows

    def multipliers(self, pull: Array) -> Array:
        """The λ of least norm with ``λ C = pull``, row by row: pull C⁺, shape (q, m) for a pull of shape (q, rank)."""
        if self.exact:
            solved = _trtrs(self._qr, pull.T)[0]
            if self._scale is not None:
                solved *= self._scale[:, None]
        else:
            if self._columns is not None:
                pull = pull.take(self._columns, 1)
            solved = np.zeros((self._qr.shape[0], len(pull)), order="F")
            solved[: self.rank] = _trtrs(self._qr, pull.T, 0, 1)[0]
            solved = _ormqr("L", "N", self._qr, self._tau, solved, 64 * len(pull), 1)[0]
        if self._order is None:
            return solved.T  # type: ignore[no-any-return]
        found = np.empty(solved.shape[::-1])
        found[:, self._order] = solved.T
        return found


def eliminate(rows: Array, Z: Array, norms: Array, tolerance: float = RANK_TOLERANCE, first: bool = False) -> Factor:
    """Factorise the rows of one level in the directions that are still free.

    Args:
        rows: A, shape (m, n), m > 0.
        Z: orthonormal basis of what is free, shape (n, f), f > 0.
        norms: norm of each row of A, shape (m,).
        tolerance: relative tolerance of the rank decision.
        first: Z is the identity.
    """
    m, f = rows.shape[0], Z.shape[1]
    B = rows if first else rows.dot(Z)
    top, bottom = norms[norms.argmax()], norms[norms.argmin()]
    factor = Factor()
    even = bottom * _EVEN >= top > 0.0
    if even:
        # The common case, rows of full rank by a wide margin, needs no pivoting: a third of the time saved.
        wide = m < f
        qr, tau, _, _ = _geqrf(B.T if wide else B)
        diagonal = np.abs(qr.diagonal())
        if diagonal[diagonal.argmin()] > _CLEAR * top:
            factor.exact, factor._qr, factor._tau = wide, qr, tau
            factor._order = factor._columns = factor._scale = None
            if wide:
                turned = _ormqr("R", "N", qr, tau, Z, Z.shape[0])[0]
                factor.rank, factor.Y, factor.Z = m, turned[:, :m], turned[:, m:]
            else:
                factor.rank, factor.Y, factor.Z = f, Z, Z[:, f:]
            return factor
    return _eliminate_pivoted(factor, B, Z, norms, tolerance)


def _eliminate_pivoted(factor: Factor, B: Array, Z: Array, norms: Array, tolerance: float) -> Factor:
    """The general case: any rank, rows of any size."""
    m = len(B)
    scale = np.zeros(m)
    np.divide(1.0, norms, out=scale, where=norms > _NOTHING)
    qr, order, tau, _, _ = _geqp3((B * scale[:, None]).T)
    order -= 1
    rank = int((np.abs(qr.diagonal()) > tolerance).sum())
    factor.rank, factor.exact = rank, 0 < rank == m
    factor._order, factor._columns, factor._scale = order, None, None
    if rank == 0:
        factor.Y, factor.Z, factor._qr = Z[:, :0], Z, B
        factor._order = None
        return factor
    turned = _ormqr("R", "N", qr[:, : min(qr.shape)], tau, Z, Z.shape[0])[0]
    factor.Y, factor.Z = turned[:, :rank], turned[:, rank:]
    if factor.exact:
        factor._qr, factor._tau = qr, tau
        factor._scale = scale.take(order)
        return factor
    # Large rows first: Householder QR of rows of very different size is then accurate row by row.
    size = norms.take(order)
    descending = np.argsort(-size, kind="stable")
    C, factor._order = (np.triu(qr[:rank]).T * size[:, None])[descending], order[descending]
    factor._qr, columns, factor._tau, _, _ = _geqp3(C)
    columns -= 1
    factor._columns = columns
    return factor
