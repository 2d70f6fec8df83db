"""Quaternions: the algebra of Kindr and of the lecture notes, the conversions, H and H̄, integration."""

import numpy as np
import pytest
from hypothesis import given

from tests.equations import equation
from wbc.errors import WbcError
from wbc.geometry import quaternion as quat
from wbc.geometry import so3

from .support import (
    PI,
    close,
    derivative,
    few,
    long_exp,
    long_rotation_vectors,
    many,
    moderate_vectors,
    numbers,
    rotation_vectors,
    unit,
    vectors,
)

pytestmark = pytest.mark.filterwarnings("error")


@given(long_rotation_vectors)
@many
def test_to_matrix_and_back(phi):
    q = quat.from_rotation_vector(phi)
    close(np.linalg.norm(q), 1, 4e-16)
    close(quat.to_matrix(q), long_exp(phi), 4e-15)
    back = quat.from_matrix(quat.to_matrix(q))
    assert back[0] >= 0
    close(back * (1 if back @ q > 0 else -1), q, 1e-15)


@given(rotation_vectors)
@many
def test_rotation_vector_and_back(phi):
    q = quat.from_rotation_vector(phi)
    tolerance = 4e-16 * max(1.0, np.linalg.norm(phi))
    for same in (q, -q, 3.0 * q):
        back = quat.to_rotation_vector(same)
        if abs(q[0]) < 1e-14:  # ±φ: rounding decides
            back = back * (1.0 if back @ phi > 0 else -1.0)
        close(back, phi, 4 * tolerance)


def test_small_angles_keep_all_their_digits():
    for size in (1e-3, 1e-9, 1e-20, 1e-160, 1e-300):
        phi = size * np.array([1.0, -2.0, 0.3])
        np.testing.assert_allclose(quat.to_rotation_vector(quat.from_rotation_vector(phi)), phi, rtol=1e-15)


def test_close_to_the_half_turn_keeps_what_is_missing_to_it():
    for missing in (1e-3, 1e-9, 1e-15):
        q = np.array([np.sin(missing / 2), 0, np.cos(missing / 2), 0])
        close(quat.to_rotation_vector(q), [0, PI - missing, 0], 5e-16)
        close(quat.to_rotation_vector(-q), [0, PI - missing, 0], 5e-16)


def test_long_way_is_shortened():
    close(quat.to_rotation_vector(quat.from_rotation_vector([0, 0, 2 * PI - 0.5])), [0, 0, -0.5], 1e-15)


@equation("ETH 2.63", "rotation by quaternion products", quat.rotate)
@equation("ETH 2.64", "rotation by quaternion matrices", quat.left_matrix, quat.right_matrix)
@given(long_rotation_vectors, long_rotation_vectors, long_rotation_vectors, vectors)
@few
def test_group(a, b, c, v):
    p, q, r = (quat.from_rotation_vector(x) for x in (a, b, c))
    close(quat.multiply(quat.multiply(p, q), r), quat.multiply(p, quat.multiply(q, r)), 1e-15)
    close(quat.multiply(p, quat.inverse(p)), [1, 0, 0, 0], 1e-15)
    close(quat.to_matrix(quat.multiply(p, q)), so3.exp(a) @ so3.exp(b), 1e-14)
    close(quat.to_matrix(quat.inverse(p)), so3.exp(a).T, 1e-14)
    close(quat.left_matrix(p) @ q, quat.multiply(p, q), 1e-15)
    close(quat.right_matrix(q) @ p, quat.multiply(p, q), 1e-15)
    close(quat.rotate(p, v), so3.exp(a) @ v, 1e-14)
    close(quat.rotate(2.5 * p, v), so3.exp(a) @ v, 1e-14)
    pure = np.array([0, *v])
    close(quat.multiply(quat.multiply(p, pure), quat.inverse(p)), [0, *quat.rotate(p, v)], 1e-14)
    close(quat.left_matrix(p) @ quat.right_matrix(quat.inverse(p)) @ pure, [0, *quat.rotate(p, v)], 1e-14)


def test_multiplication_is_hamiltons():
    i, j, k = np.eye(4)[1:]
    close(quat.multiply(i, j), k, 0)
    close(quat.multiply(quat.multiply(i, j), k), [-1, 0, 0, 0], 0)


@equation("ETH 2.65", "example 2.4.1: the quaternion", quat.from_rotation_vector)
@equation("ETH 2.66", "example 2.4.1: its inverse", quat.inverse)
@equation("ETH 2.67", "example 2.4.1: the vector rotated", quat.rotate)
@equation("ETH 2.68", "example 2.4.1: by matrices", quat.left_matrix, quat.right_matrix)
@equation("ETH 2.69", "example 2.4.1: the numbers", quat.left_matrix, quat.right_matrix)
def test_example_2_4_1():
    """ETH (2.65)–(2.69)."""
    q_a_b = quat.from_rotation_vector([PI / 3, 0, 0])
    close(q_a_b, np.array([np.sqrt(3), 1, 0, 0]) / 2, 1e-15)
    q_b_a = quat.inverse(q_a_b)
    close(q_b_a, np.array([np.sqrt(3), -1, 0, 0]) / 2, 1e-15)
    w = np.sqrt(3)
    left, right = quat.left_matrix(q_b_a), quat.right_matrix(quat.inverse(q_b_a))
    close(left, np.array([[w, 1, 0, 0], [-1, w, 0, 0], [0, 0, w, 1], [0, 0, -1, w]]) / 2, 1e-15)
    close(right, np.array([[w, -1, 0, 0], [1, w, 0, 0], [0, 0, w, 1], [0, 0, -1, w]]) / 2, 1e-15)
    close(left @ right @ [0, 0, 1, 0], [0, 0, 1 / 2, -w / 2], 1e-15)
    close(quat.rotate(q_b_a, [0, 1, 0]), [0, 1 / 2, -w / 2], 1e-15)


@given(long_rotation_vectors, vectors)
@few
def test_rate_matrices(phi, omega):
    """Kindr's H and H̄, by their definition (H q̇ ~ q̇ ⊗ q⁻¹, H̄ q̇ ~ q⁻¹ ⊗ q̇) and by their properties."""
    q = quat.from_rotation_vector(phi)
    H, H_body = quat.rate_matrix(q), quat.rate_matrix(q, "body")
    for M in (H, H_body):
        close(M @ M.T, np.eye(3), 1e-14)
        close(M @ q, 0, 1e-15)
    close(H @ H_body.T, so3.exp(phi), 1e-14)
    rate = quat.angular_velocity_to_rates(q) @ omega
    close(2 * quat.multiply(rate, quat.inverse(q)), [0, *omega], 1e-14)
    rate = quat.angular_velocity_to_rates(q, frame="body") @ omega
    close(2 * quat.multiply(quat.inverse(q), rate), [0, *omega], 1e-14)


@equation("ETH 2.96", "H of a quaternion", quat.rate_matrix)
@equation("ETH 2.97", "H, entry by entry", quat.rate_matrix)
@equation("ETH 2.98", "map of quaternion rates", quat.rates_to_angular_velocity)
@equation("ETH 2.99", "inverse map of quaternion rates", quat.angular_velocity_to_rates)
def test_rate_matrix_as_printed():
    """ETH (2.97) and Kindr's H̄ with q = (10, 1, 2, 3), scaled: the entries can be told apart."""
    q = [10, 1, 2, 3]
    close(quat.rate_matrix(q), [[-1, 10, -3, 2], [-2, 3, 10, -1], [-3, -2, 1, 10]], 0)
    close(quat.rate_matrix(q), np.column_stack([[-1, -2, -3], so3.skew([1, 2, 3]) + 10 * np.eye(3)]), 0)  # (2.96)
    close(quat.rate_matrix(q, "body"), [[-1, 10, 3, -2], [-2, -3, 10, 1], [-3, 2, -1, 10]], 0)
    w, x, y, z = unit = np.array(q) / np.linalg.norm(q)
    H = np.array([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]])
    close(quat.rates_to_angular_velocity(unit), 2 * H, 1e-15)  # (2.98)
    close(quat.angular_velocity_to_rates(unit), H.T / 2, 1e-15)  # (2.99)


@given(long_rotation_vectors, moderate_vectors, numbers(-0.9, 0.9))
@few
def test_integration(phi, omega, dt):
    q = quat.from_rotation_vector(phi)
    for frame in ("world", "body"):
        after = quat.integrate(q, omega, dt, frame)
        close(np.linalg.norm(after), 1, 4e-16)
        close(quat.difference(q, after, frame), omega * dt, 1e-14)
        rates = derivative(lambda t, frame=frame: quat.integrate(q, omega, t, frame))
        close(quat.angular_velocity_to_rates(q, frame) @ omega, rates)
    world = quat.to_matrix(quat.integrate(q, omega, dt, "world"))
    close(world, so3.integrate(so3.exp(phi), omega, dt), 1e-14)
    close(quat.integrate(q, omega, dt), quat.integrate(q, so3.exp(phi) @ omega, dt, "world"), 1e-14)


def test_integration_stays_on_the_sphere():
    q = 1.001 * unit([1, 2, 3, 4])
    for _ in range(1000):
        q = quat.integrate(q, [1.0, -2.0, 0.5], 1e-3)
    close(np.linalg.norm(q), 1, 1e-15)
    close(quat.difference(unit([1, 2, 3, 4]), q), [1.0, -2.0, 0.5], 1e-12)


@given(long_rotation_vectors, long_rotation_vectors, numbers(0, 1))
@few
def test_interpolation_is_that_of_matrices(a, b, t):
    p, q = quat.from_rotation_vector(a), quat.from_rotation_vector(b)
    if abs(p @ q) > 1e-9:  # at the half turn there are two ways
        close(quat.to_matrix(quat.interpolate(p, q, t)), so3.interpolate(so3.exp(a), so3.exp(b), t), 1e-14)
        close(quat.interpolate(p, q, 1.0), q * np.sign(p @ q), 1e-14)
    close(quat.interpolate(p, q, 0.0), p, 1e-15)


def test_zero_is_refused():
    for f in (quat.to_matrix, quat.normalize, quat.to_rotation_vector):
        with pytest.raises(WbcError, match="zero quaternion"):
            f(np.zeros(4))
        with pytest.raises(WbcError, match="zero quaternion"):
            f([[1, 0, 0, 0], [0, 0, 0, 0]])


def test_normalize():
    close(quat.normalize([0, -3, 0, 4]), [0, -0.6, 0, 0.8], 2e-16)
    close(np.linalg.norm(quat.normalize(np.arange(12.0).reshape(3, 4)), axis=-1), 1, 1e-15)
