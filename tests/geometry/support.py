"""Values to try, references in extended precision and derivatives by differences, for the tests of the geometry."""

import math

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

PI = math.pi
TINY = [0.0, 5e-324, 1e-300, 1e-160, 1e-100, 1e-30, 1e-16, 1e-12, 1e-8]
HALF_TURN = [PI, math.nextafter(PI, 0.0), PI - 1e-15, PI - 1e-12, PI - 1e-9, PI - 1e-8, PI - 1e-6, PI - 1e-3]

few = settings(deadline=None, max_examples=80)
many = settings(deadline=None, max_examples=250)


def numbers(low, high):
    return st.floats(low, high, allow_nan=False, allow_infinity=False)


def unit(v):
    v = np.asarray(v, dtype=float)
    return v / np.linalg.norm(v)


_corners = [(a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1) if (a, b, c) != (0, 0, 0)]
axes = st.one_of(
    st.sampled_from(_corners), st.tuples(*[numbers(-1, 1)] * 3).filter(lambda v: math.hypot(*v) > 1e-3)
).map(unit)
angles = st.one_of(st.sampled_from(TINY + HALF_TURN + [1e-4, 0.1, 0.4999, 0.5, 0.5001, 1.0, 2.0]), numbers(0, PI))
long_angles = st.one_of(angles, numbers(PI, 2 * PI - 0.1), st.sampled_from([PI + 1e-12, PI + 1e-6, 4.0]))
vectors = st.tuples(*[numbers(-3, 3)] * 3).map(np.array)
sixes = st.tuples(*[numbers(-3, 3)] * 6).map(np.array)
rotation_vectors = st.builds(lambda n, t: t * n, axes, angles)
long_rotation_vectors = st.builds(lambda n, t: t * n, axes, long_angles)
moderate_vectors = st.builds(lambda n, t: t * n, axes, numbers(0, 3))


def long_exp(phi):
    """exp(φ×) by its Taylor series in extended precision."""
    return _long_series(phi, 0)


def long_exp_jacobian(phi):
    """Σ (φ×)ⁿ/(n+1)! in extended precision."""
    return _long_series(phi, 1)


def _long_series(phi, shift):
    x, y, z = np.asarray(phi, dtype=np.longdouble)
    zero = np.longdouble(0)
    S = np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]])
    term = np.eye(3, dtype=np.longdouble)
    total = term.copy()
    for n in range(1, 80):
        term = term @ S / np.longdouble(n + shift)
        total = total + term
    return total


def long_inverse(A):
    """The inverse of a 3×3 matrix by cofactors, in the precision of its entries."""
    rows = [np.cross(A[1], A[2]), np.cross(A[2], A[0]), np.cross(A[0], A[1])]
    return np.array(rows).T / (A[0] @ rows[0])


def derivative(f, t=0.0, h=1e-3):
    """f'(t) by five points; the error is of the order h⁴."""
    return (8 * (f(t + h) - f(t - h)) - (f(t + 2 * h) - f(t - 2 * h))) / (12 * h)


def close(actual, desired, tolerance=1e-9):
    np.testing.assert_allclose(
        np.asarray(actual, dtype=float), np.asarray(desired, dtype=float), rtol=0, atol=tolerance
    )
