"""Formulas written once, component by component, that serve one value and a batch of them.

One vector is taken apart into Python floats, a batch into arrays, and the same operators work on both. Floats because
a control loop rotates one thing at a time: on floats `log` takes 3 µs, on arrays of length one 45.
Here is what operators do not cover: taking apart, putting together, choosing, and the functions of an angle that are
0/0 at zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from wbc.arrays import Array

Number: TypeAlias = Any
"""A float, or an array of them with the shape of the batch."""

# Bernoulli: (1 - (t/2) cot(t/2)) / t² = Σ |B_2n| t^(2n-2) / (2n)!, n = 1..7, lowest first.
_COTANGENT = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000, 1 / 74724249600)
# (t - sin t) / t³ = Σ (-1)^n t^2n / (2n+3)!, n = 0..6, lowest first.
_SINE = tuple((-1) ** n / math.factorial(2 * n + 3) for n in range(7))
# (sin t/t - 2 (1 - cos t)/t²) / t² = Σ (-1)^n 2n t^(2n-2) / (2n+2)!, n = 1..7, and the same with (2n+3)! is
# ((1 - cos t)/t² - 3 (t - sin t)/t³) / t²: the derivatives of the two quotients over t.
_VERSINE_SLOPE = tuple((-1) ** n * 2 * n / math.factorial(2 * n + 2) for n in range(1, 8))
_SINE_SLOPE = tuple((-1) ** n * 2 * n / math.factorial(2 * n + 3) for n in range(1, 8))
# Below this angle the series are used. There the first term left out is below 3e-16 of the sum in both, and the closed
# forms have lost 24 ulp to cancellation; further down they would lose more, further up the series would.
_SWITCH = 0.5


def components(x: Array) -> Sequence[Number]:
    """The components along the last axis: floats for one vector, arrays for a batch."""
    return x.tolist() if x.ndim == 1 else [x[..., i] for i in range(x.shape[-1])]


def entries(A: Array) -> Sequence[Sequence[Number]]:
    """The entries of a matrix row by row: floats for one matrix, arrays for a batch."""
    if A.ndim == 2:
        return A.tolist()  # type: ignore[no-any-return]
    return [[A[..., i, j] for j in range(A.shape[-1])] for i in range(A.shape[-2])]


def join(values: Sequence[Number], like: Number = None) -> Array:
    """The inverse of `components`; `like` is a value that is not a constant, the first one unless told."""
    if isinstance(values[0] if like is None else like, float):
        return np.array(values)
    return np.stack(np.broadcast_arrays(*values), axis=-1)


def join_matrix(rows: Sequence[Sequence[Number]], like: Number = None) -> Array:
    """The inverse of `entries`; `like` as in `join`."""
    if isinstance(rows[0][0] if like is None else like, float):
        return np.array(rows)
    columns = len(rows[0])
    flat = np.stack(np.broadcast_arrays(*(value for row in rows for value in row)), axis=-1)
    return flat.reshape(*flat.shape[:-1], len(rows), columns)


def where(condition: Number, yes: Number, no: Number) -> Number:
    """`yes` where the condition holds, else `no`; both are evaluated, so both must be harmless."""
    if isinstance(condition, bool):
        return yes if condition else no
    return np.where(condition, yes, no)


def sin(t: Number) -> Number:
    """The sine; NaN where t is not finite."""
    if isinstance(t, float):
        return math.sin(t) if math.isfinite(t) else math.nan
    return np.sin(t)


def cos(t: Number) -> Number:
    """The cosine; NaN where t is not finite."""
    if isinstance(t, float):
        return math.cos(t) if math.isfinite(t) else math.nan
    return np.cos(t)


def atan2(y: Number, x: Number) -> Number:
    """The angle of (x, y) in [-π, π]; whatever the signs of zeros, 0 at the origin and π on the negative x axis."""
    # Adding zero turns -0.0 into 0.0, else atan2(0, -0.0) would be π and atan2(-0.0, -1) would be -π.
    if isinstance(y, float) and isinstance(x, float):
        return math.atan2(y + 0.0, x + 0.0)
    return np.arctan2(y + 0.0, x + 0.0)


def hypot(x: Number, y: Number, z: Number = 0.0) -> Number:
    """√(x² + y² + z²), without underflow: right down to the smallest numbers."""
    if isinstance(x, float) and isinstance(y, float) and isinstance(z, float):
        return math.hypot(x, y, z)
    return np.hypot(np.hypot(x, y), z)


def sinc(t: Number) -> Number:
    """sin(t)/t, 1 at zero. The quotient is accurate for every t but 0, so there is no series."""
    if isinstance(t, float):
        return sin(t) / t if t else 1.0
    safe = np.where(t == 0.0, 1.0, t)
    return np.where(t == 0.0, 1.0, np.sin(safe) / safe)


def versine_quotient(t: Number) -> Number:
    """(1 - cos t)/t², 1/2 at zero, as sin²(t/2) / (2 (t/2)²): no cancellation anywhere."""
    s = sinc(0.5 * t)
    return 0.5 * s * s


def sine_remainder_quotient(t: Number) -> Number:
    """(t - sin t)/t³, 1/6 at zero."""
    if isinstance(t, float):
        return _series(t, _SINE) if abs(t) < _SWITCH else (1.0 - sinc(t)) / (t * t)
    safe = np.maximum(np.abs(t), _SWITCH)
    return np.where(np.abs(t) < _SWITCH, _series(np.minimum(np.abs(t), _SWITCH), _SINE), (1 - sinc(safe)) / safe**2)


def versine_slope(t: Number) -> Number:
    """The derivative of (1 - cos t)/t², over t: (sin t/t - 2 (1 - cos t)/t²)/t², -1/12 at zero."""
    if isinstance(t, float):
        return _series(t, _VERSINE_SLOPE) if abs(t) < _SWITCH else (sinc(t) - 2.0 * versine_quotient(t)) / (t * t)
    safe = np.maximum(np.abs(t), _SWITCH)
    closed = (sinc(safe) - 2.0 * versine_quotient(safe)) / safe**2
    return np.where(np.abs(t) < _SWITCH, _series(np.minimum(np.abs(t), _SWITCH), _VERSINE_SLOPE), closed)


def sine_remainder_slope(t: Number) -> Number:
    """The derivative of (t - sin t)/t³, over t: ((1 - cos t)/t² - 3 (t - sin t)/t³)/t², -1/60 at zero."""
    if isinstance(t, float):
        if abs(t) < _SWITCH:
            return _series(t, _SINE_SLOPE)
        return (versine_quotient(t) - 3.0 * sine_remainder_quotient(t)) / (t * t)
    safe = np.maximum(np.abs(t), _SWITCH)
    closed = (versine_quotient(safe) - 3.0 * sine_remainder_quotient(safe)) / safe**2
    return np.where(np.abs(t) < _SWITCH, _series(np.minimum(np.abs(t), _SWITCH), _SINE_SLOPE), closed)


def cotangent_remainder_quotient(t: Number) -> Number:
    """(1 - (t/2) cot(t/2))/t², 1/12 at zero; it grows without bound towards the full turns 2π, 4π, ..."""
    if isinstance(t, float):
        return _series(t, _COTANGENT) if abs(t) < _SWITCH else (1.0 - cos(0.5 * t) / sinc(0.5 * t)) / (t * t)
    safe = np.maximum(np.abs(t), _SWITCH)
    closed = (1.0 - np.cos(0.5 * safe) / sinc(0.5 * safe)) / safe**2
    return np.where(np.abs(t) < _SWITCH, _series(np.minimum(np.abs(t), _SWITCH), _COTANGENT), closed)


def _series(t: Number, coefficients: tuple[float, ...]) -> Number:
    """Σ c_n t^2n by Horner's rule."""
    square = t * t
    total: Number = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = total * square + coefficient
    return total
