"""Polynomial splines of vectors."""

from __future__ import annotations

import math

import numpy as np

from wbc.arrays import Array


class Pieces:
    """Polynomials of time, one a stretch; outside of all it stays.

    Args:
        knots: where stretches begin and end, s, shape (stretches + 1,).
        coefficients: of the powers of the time from the start of each stretch, lowest first, shape (stretches,
            degree + 1, n).
    """

    def __init__(self, knots: Array, coefficients: Array) -> None:
        self.knots = knots
        powers = np.arange(1, coefficients.shape[1])[:, None]
        first = coefficients[:, 1:] * powers
        self._orders = coefficients, first, first[:, 1:] * powers[:-1]
        self._inner = knots[1:-1].tolist()

    def __call__(self, time: float) -> tuple[int, Array, Array, Array]:
        """The stretch, and value, velocity and acceleration at a time; both rates are zero outside."""
        t = min(max(time, float(self.knots[0])), float(self.knots[-1]))
        at = int(np.searchsorted(self._inner, t, side="right"))
        s = t - float(self.knots[at])
        powers = s ** np.arange(self._orders[0].shape[1])
        found = [order[at].T.dot(powers[: order.shape[1]]) for order in self._orders]
        if t != time:
            found[1:] = [np.zeros_like(found[0]), np.zeros_like(found[0])]
        return at, found[0], found[1], found[2]


def hermite(duration: Array, ends: list[tuple[Array, Array]]) -> Array:
    """Coefficients of the polynomial with given value, velocity (and acceleration) at the start and the end.

    Args:
        duration: of each stretch, s, shape (stretches,).
        ends: of each order from the value up, what it is at the start and at the end, shape (stretches, n) each.

    Returns:
        Shape (stretches, 2 · orders, n), lowest power first.
    """
    orders, T = len(ends), duration[:, None]
    # in s = t / T: the derivatives at 0 give the first coefficients, those at 1 the others
    low = np.stack([start * T**k / math.factorial(k) for k, (start, _) in enumerate(ends)])
    at_end = np.array([[math.perm(power, k) for power in range(2 * orders)] for k in range(orders)], dtype=float)
    rest = np.stack([end * T**k for k, (_, end) in enumerate(ends)]) - np.tensordot(at_end[:, :orders], low, 1)
    high = np.tensordot(np.linalg.inv(at_end[:, orders:]), rest, 1)
    powers = np.arange(2 * orders)[:, None, None]
    coefficients: Array = (np.concatenate([low, high]) / T**powers).transpose(1, 0, 2)
    return coefficients


class VectorSpline:
    """The spline through vectors: velocity and acceleration are continuous, with degree 5 two orders more.

    Args:
        knots: s, shape (count,).
        values: shape (count, n).
        degree: 3 or 5.
        velocities: at the ends, shape (2, n).
        accelerations: at the ends, shape (2, n), of degree 5.
    """

    def __init__(self, knots: Array, values: Array, degree: int, velocities: Array, accelerations: Array) -> None:
        orders = [values, velocities, accelerations][: (degree + 1) // 2]
        if len(knots) > 2:  # what is known at the ends determines what there is at the inner knots
            from scipy.interpolate import make_interp_spline  # heavy to import

            first, last = ([(k, orders[k][side]) for k in range(1, len(orders))] for side in (0, 1))
            spline = make_interp_spline(knots, values, k=degree, bc_type=(first, last))
            orders = [values, *(spline.derivative(k)(knots) for k in range(1, len(orders)))]
        self._pieces = Pieces(knots, hermite(np.diff(knots), [(order[:-1], order[1:]) for order in orders]))

    def __call__(self, time: float) -> tuple[Array, Array, Array]:
        """Value, velocity and acceleration at a time, s."""
        return self._pieces(time)[1:]
