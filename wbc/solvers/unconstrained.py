"""The tick that holds no inequality: the equations of all levels, and a look at whether every inequality holds.

In a control loop most ticks are of this kind. It is the first inner step of the search (`active_set`) without the
bookkeeping, and with its last level solved by one call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from wbc.arrays import Array
from wbc.solvers.active_set import FEASIBILITY, Layout
from wbc.solvers.elimination import eliminate

_EVEN = 1e3
"""Rows whose norms differ by less may be judged together in the last level's decision of rank."""


class Unconstrained(NamedTuple):
    """A solution of the equations that keeps every inequality.

    Attributes:
        x: shape (n,).
        value: A x, shape (M,).
        size: |row| (1 + |x|), shape (M,).
        ranks: of each level.
    """

    x: Array
    value: Array
    size: Array
    ranks: list[int]


def solve_equations(
    A: Array, lower: Array, upper: Array, norms: Array, layout: Layout, tolerance: float
) -> Unconstrained | None:
    """Solves the equations; None where an inequality is in the way, or where the general search knows better.

    Args:
        A: rows of all levels, shape (M, n).
        lower: shape (M,).
        upper: shape (M,).
        norms: norm of each row, shape (M,).
        layout: which rows are equations.
        tolerance: relative tolerance of rank decisions.
    """
    n = A.shape[1]
    if not norms.dot(norms) < np.inf:
        return None
    x, Z = None, layout.identity
    ranks = [0] * (len(layout.starts) - 1)
    last = layout.blocks[-1][0] if layout.blocks else -1
    for level, at in layout.blocks:
        free = Z.shape[1]
        if not free:
            break
        rows, sizes = A[at], norms[at]
        rest = lower[at] if x is None else lower[at] - rows.dot(x)
        if level == last:
            top = float(sizes[sizes.argmax()])
            if not float(sizes[sizes.argmin()]) * _EVEN > top:
                return None
            if free == n:
                solved = _least_norm(rows, rest, tolerance * top, float(sizes.dot(sizes)) ** 0.5)
            else:
                B = rows.dot(Z)
                solved = _least_norm(B, rest, tolerance * top, float(np.vdot(B, B)) ** 0.5)
            if solved is None:
                return None
            w, ranks[level] = solved
            x = w if x is None else x + Z.dot(w)
        else:
            factor = eliminate(rows, Z, sizes, tolerance, free == n)
            ranks[level] = factor.rank
            if factor.rank:
                step = factor.Y.dot(factor.solve(rest))
                x = step if x is None else x + step
                Z = factor.Z
    if x is None:
        x = np.zeros(n)
    length = float(x.dot(x)) ** 0.5
    if not length < np.inf:
        return None
    value = A.dot(x)
    size = norms * (1.0 + length)
    at = layout.inequalities
    here = value[at]
    beyond = np.maximum(here - upper[at], lower[at] - here)
    beyond -= FEASIBILITY * size[at]
    if beyond.size and not beyond[beyond.argmax()] <= 0.0:
        return None
    return Unconstrained(x, value, size, ranks)


def _least_norm(B: Array, rest: Array, tolerance: float, norm: float) -> tuple[Array, int] | None:
    """The w of least norm among those of least |B w − rest|, and the rank of B, of norm `norm`, by a tolerance."""
    m, free = B.shape
    if not norm > tolerance:
        return np.zeros(free), 0
    rhs = np.zeros(max(m, free))
    rhs[:m] = rest
    _, w, _, rank, info = lapack.dgelsy(B, rhs, np.zeros(free, dtype=np.int32), tolerance / norm, 64 * (m + free))
    return (w[:free], int(rank)) if info == 0 else None
