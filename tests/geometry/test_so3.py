"""exp, log, ⊞, ⊟ and the Jacobian of exp, against the group's laws and against series in extended precision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.equations import equation
from wbc.geometry import _elementwise as ew
from wbc.geometry import so3

from .support import (
    HALF_TURN,
    PI,
    TINY,
    axes,
    close,
    derivative,
    few,
    long_exp,
    long_exp_jacobian,
    long_inverse,
    long_rotation_vectors,
    many,
    moderate_vectors,
    numbers,
    rotation_vectors,
    vectors,
)

pytestmark = pytest.mark.filterwarnings("error")
I3 = np.eye(3)


@given(vectors, vectors)
@few
def test_skew_is_the_cross_product(a, b):
    close(so3.skew(a) @ b, np.cross(a, b), 1e-14)
    close(so3.unskew(so3.skew(a)), a, 0)


@equation("TS 2", "skew matrices", so3.unskew)
def test_unskew_reads_the_antisymmetric_part():
    A = np.arange(9.0).reshape(3, 3)
    close(so3.skew(so3.unskew(A)), (A - A.T) / 2, 0)


@given(long_rotation_vectors)
@many
def test_exp_and_its_jacobian_against_the_series(phi):
    close(so3.exp(phi), long_exp(phi), 2e-15)
    gamma = long_exp_jacobian(phi)
    close(so3.exp_jacobian(phi), gamma, 2e-15)
    close(so3.exp_jacobian_inverse(phi), long_inverse(gamma), 1e-12)


@pytest.mark.parametrize(
    "angle", [*TINY, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.3, 0.49999, 0.5, 0.50001, 1.0, 3.0, *HALF_TURN]
)
def test_jacobian_to_the_last_digits_through_zero(angle):
    """Relative to the coefficients, not only to the matrix: φ has entries of one size."""
    n = np.array([2.0, -3.0, 6.0]) / 7.0
    phi = angle * n
    gamma = long_exp_jacobian(phi)
    close(so3.exp_jacobian(phi), gamma, 1e-15)
    close(so3.exp_jacobian_inverse(phi), long_inverse(gamma), 4e-15)
    if angle > 1e-3:
        a, b = so3.exp_jacobian(phi) - I3, (gamma - I3).astype(float)
        close((a + a.T) / angle**2, (b + b.T) / angle**2, 1e-11)


@pytest.mark.parametrize(
    "angle", [0.0, 5e-324, 1e-160, 1e-9, 1e-5, 1e-3, 0.03, 0.2, 0.4999, 0.5, 0.5001, 1.0, 3.0, 6.0]
)
def test_coefficients_of_the_jacobians_keep_their_digits(angle):
    """Each by itself, where the matrix above hides an error of theirs behind the factor θ²."""
    t = np.longdouble(angle)
    term, sine = np.longdouble(1) / 6, np.longdouble(0)
    term_c, cosine = np.longdouble(1) / 2, np.longdouble(0)
    for n in range(40):
        sine, cosine = sine + term, cosine + term_c
        term, term_c = -term * t * t / ((2 * n + 4) * (2 * n + 5)), -term_c * t * t / ((2 * n + 3) * (2 * n + 4))
    # With s = (t - sin t)/t³ and c = (1 - cos t)/t² the last one is (s - d)/2c; d = (1 - 2c)/t² has its own series.
    term_d, d = np.longdouble(1) / 12, np.longdouble(0)
    slope_c, slope_s, power = np.longdouble(0), np.longdouble(0), np.longdouble(-2) / 24  # (-1)^n t^(2n-2) / (2n+2)!
    for n in range(40):
        d, term_d = d + term_d, -term_d * t * t / ((2 * n + 5) * (2 * n + 6))
    for n in range(1, 40):
        slope_c, slope_s = slope_c + n * power, slope_s + n * power / (2 * n + 3)
        power = -power * t * t / ((2 * n + 3) * (2 * n + 4))
    expected = [(ew.sine_remainder_quotient, sine), (ew.cotangent_remainder_quotient, (sine - d) / (2 * cosine))]
    for f, value in [(ew.versine_slope, slope_c), (ew.sine_remainder_slope, slope_s)]:
        for result in (f(angle), f(np.array([angle]))[0]):
            close(result / value, 1, 1e-12)
    for f, value in [(ew.versine_quotient, cosine), *expected]:
        for result in (f(angle), f(np.array([angle]))[0]):
            close(result / value, 1, 1e-14)


@given(vectors, moderate_vectors)
@few
def test_jacobian_is_the_derivative_of_exp(rate, phi):
    omega_hat = derivative(lambda t: so3.exp(phi + t * rate)) @ so3.exp(phi).T
    close(so3.skew(so3.exp_jacobian(phi) @ rate), omega_hat)


@given(axes, st.integers(1, 3))
@few
def test_jacobian_inverse_at_the_full_turns_is_the_pseudo_inverse(n, turns):
    phi = 2 * PI * turns * n
    inverse = so3.exp_jacobian_inverse(phi)
    close(inverse, np.outer(n, n), 1e-12)
    close(inverse, np.linalg.pinv(so3.exp_jacobian(phi), rcond=1e-9), 1e-9)


@given(rotation_vectors)
@many
def test_log_undoes_exp_through_the_identity_and_the_half_turn(phi):
    back = so3.log(so3.exp(phi))
    if np.linalg.norm(phi) > PI - 1e-14:  # ±φ: rounding decides
        back = back * (1.0 if back @ phi > 0 else -1.0)
    close(back, phi, 2e-15)


@given(rotation_vectors)
@few
def test_log_of_a_rounded_rotation(phi):
    """The matrix is right to its last digit here: what is tested is log alone."""
    back = so3.log(long_exp(phi).astype(float))
    close(so3.exp(back), long_exp(phi), 1e-14)
    assert np.linalg.norm(back) <= PI * (1 + 1e-15)
    if np.linalg.norm(phi) < PI - 1e-14:
        close(back, phi, 1e-12)


@pytest.mark.parametrize("n", [(1, 0, 0), (0, -1, 0), (1, -1, 0), (-1, 2, 2), (2, -1, 2), (-3, 2, -6)])
def test_log_at_the_half_turn_has_its_largest_component_positive(n):
    n = np.array(n) / np.linalg.norm(n)
    phi = so3.log(2 * np.outer(n, n) - I3)
    close(phi, PI * n * np.sign(n[np.argmax(np.abs(n))]), 1e-14)


def test_log_keeps_small_angles():
    phi = np.array([3e-9, -1e-13, 2e-20])
    np.testing.assert_allclose(so3.log(so3.exp(phi)), phi, rtol=4e-16)


@equation("ETH 2.31", "composition of rotations", so3.compose)
@given(long_rotation_vectors, long_rotation_vectors, long_rotation_vectors)
@few
def test_group(a, b, c):
    A, B, C = so3.exp(a), so3.exp(b), so3.exp(c)
    assert so3.is_rotation(A @ B, 1e-14)
    close(so3.compose(A, B, C), A @ (B @ C), 1e-14)
    close(so3.compose(A, so3.inverse(A)), so3.compose(), 1e-14)
    close(so3.exp(-a), so3.inverse(A), 1e-15)
    close(A @ so3.exp(b) @ A.T, so3.exp(A @ b), 1e-13)


@given(long_rotation_vectors, moderate_vectors, vectors, numbers(-0.5, 0.5))
@few
def test_boxplus_and_boxminus(a, step, omega, dt):
    R = so3.exp(a)
    close(so3.boxminus(so3.boxplus(R, step), R), step, 1e-14)
    close(so3.boxplus(R, so3.boxminus(so3.exp(step), R)), so3.exp(step), 1e-14)
    close(so3.boxplus(R, step), so3.exp(step) @ R, 0)
    close(so3.integrate(R, omega, dt), so3.boxplus(R, omega * dt), 0)
    close(so3.integrate(so3.integrate(R, omega, dt), omega, dt), so3.integrate(R, omega, 2 * dt), 1e-14)


@given(long_rotation_vectors, rotation_vectors, numbers(0, 1))
@few
def test_interpolation_goes_the_short_way_at_a_constant_speed(a, b, t):
    R0, R1 = so3.exp(a), so3.exp(b)
    way = np.linalg.norm(so3.boxminus(R1, R0))
    close(so3.interpolate(R0, R1, 0.0), R0, 1e-14)
    close(so3.interpolate(R0, R1, 1.0), R1, 1e-14)
    middle = so3.interpolate(R0, R1, t)
    close(np.linalg.norm(so3.boxminus(middle, R0)), t * way, 1e-14)
    close(np.linalg.norm(so3.boxminus(R1, middle)), (1 - t) * way, 1e-14)
    assert way <= PI + 1e-15


@equation("ETH 2.26", "elementary rotation about x", so3.elementary_x)
@equation("ETH 2.27", "elementary rotation about y", so3.elementary_y)
@equation("ETH 2.28", "elementary rotation about z", so3.elementary_z)
@given(numbers(-7, 7))
@few
def test_elementary_rotations(angle):
    for axis, f in enumerate((so3.elementary_x, so3.elementary_y, so3.elementary_z)):
        close(f(angle), so3.exp(angle * I3[axis]), 1e-15)
    # ETH (2.26)–(2.28): each turns the next axis towards the one after it.
    close(so3.elementary_x(angle)[:, 1], [0, np.cos(angle), np.sin(angle)], 1e-16)
    close(so3.elementary_y(angle)[:, 2], [np.sin(angle), 0, np.cos(angle)], 1e-16)
    close(so3.elementary_z(angle)[:, 0], [np.cos(angle), np.sin(angle), 0], 1e-16)


@equation("TS 1", "rotation matrices", so3.is_rotation)
@equation("ETH 2.23", "rotation matrices are orthogonal", so3.is_rotation)
def test_is_rotation():
    assert so3.is_rotation(np.stack([I3, so3.exp([1.0, 2.0, 3.0])]))
    R = so3.exp([0.4, -0.7, 1.1])
    assert np.allclose(R.T @ R, I3, atol=1e-15)
    assert so3.is_rotation(R)
    assert not so3.is_rotation(R @ np.diag([2.0, 0.5, 1.0]))  # volume is kept, lengths are not
    assert not so3.is_rotation(R @ (I3 + 1e-6 * np.eye(3, k=1)))  # nor right angles
    assert not so3.is_rotation(-I3)
    assert not so3.is_rotation(np.stack([I3, I3 + 1e-6]))
    assert so3.is_rotation(I3 + 1e-6, tolerance=1e-5)
    assert not so3.is_rotation(np.full((3, 3), np.nan))
