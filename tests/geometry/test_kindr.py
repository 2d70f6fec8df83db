"""Kindr's tables and appendix I as printed, evaluated beside our functions."""

import numpy as np
import pytest
from hypothesis import given

from tests.equations import equation
from wbc.geometry import angle_axis, convert, euler, pose, quaternion, rotation_vector, so3, twist

from .support import (
    close,
    derivative,
    few,
    long_exp,
    long_rotation_vectors,
    moderate_vectors,
    numbers,
    rotation_vectors,
    vectors,
)

pytestmark = pytest.mark.filterwarnings("error")
AXIS, ANGLE = np.array([2.0, -3.0, 6.0]) / 7, 0.8
Q = np.array([np.cos(ANGLE / 2), *(np.sin(ANGLE / 2) * AXIS)])
C = so3.exp(ANGLE * AXIS)


@equation("Kindr skew and unskew", "cross product as a matrix", so3.skew, so3.unskew)
def test_operators():
    a, b = np.array([1.0, 2, 3]), np.array([-4.0, 5, 6])
    close(so3.skew(a), [[0, -3, 2], [3, 0, -1], [-2, 1, 0]], 0)
    close(so3.skew(a) @ b, [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], 0)
    close(so3.unskew(so3.skew(a)), a, 0)


@equation("Kindr concatenation and inversion", "composition of rotations", so3.compose, so3.inverse)
@equation("Kindr exponential and logarithmic map", "rotation vector to rotation, back", so3.exp, so3.log)
@equation("Kindr box plus", "a rotation turned by a vector", so3.boxplus)
@equation("Kindr box minus", "the vector between rotations", so3.boxminus)
@given(long_rotation_vectors, rotation_vectors, vectors)
@few
def test_group_operators(a, b, r):
    A, B = so3.exp(a), so3.exp(b)
    close(so3.compose(A, B) @ r, A @ (B @ r), 1e-13)
    close(so3.compose(A, B), so3.inverse(so3.compose(so3.inverse(B), so3.inverse(A))), 1e-14)
    close(so3.inverse(A) @ (A @ r), r, 1e-14)
    close(A, long_exp(a), 1e-14)
    close(so3.exp(so3.log(A)), A, 1e-14)
    close(so3.boxplus(A, b), long_exp(b) @ A, 1e-14)
    close(so3.boxplus(A, so3.boxminus(B, A)), B, 1e-14)


@equation("Kindr discrete integration", "constant angular velocity, integrated", so3.integrate, quaternion.integrate)
@equation("Kindr discrete differential", "angular velocity between two rotations", so3.boxminus, quaternion.difference)
@equation("Kindr spherical linear interpolation", "a share of the way", so3.interpolate, quaternion.interpolate)
@given(rotation_vectors, moderate_vectors, numbers(0.1, 0.9))
@few
def test_integration_and_interpolation(phi, omega, dt):
    C_k, q_k = so3.exp(phi), quaternion.from_rotation_vector(phi)
    C_next = so3.exp(omega * dt) @ C_k
    close(so3.integrate(C_k, omega, dt), C_next, 1e-14)
    in_body = C_k.T @ omega
    close(so3.inverse(so3.boxplus(so3.inverse(C_k), -in_body * dt)), C_next, 1e-13)  # Φ_BI ⊞ (−ω_B Δt)
    close(quaternion.to_matrix(quaternion.integrate(q_k, in_body, dt)), C_next, 1e-13)
    close(so3.boxminus(C_next, C_k) / dt, omega, 1e-12)
    close(-so3.boxminus(C_next.T, C_k.T) / dt, in_body, 1e-12)
    close(quaternion.difference(q_k, quaternion.integrate(q_k, in_body, dt)) / dt, in_body, 1e-12)
    close(so3.interpolate(C_k, C_next, 0.3), so3.exp(0.3 * dt * omega) @ C_k, 1e-13)
    between = quaternion.interpolate(q_k, quaternion.from_matrix(C_next), 0.3)
    close(quaternion.to_matrix(between), so3.exp(0.3 * dt * omega) @ C_k, 1e-13)


@equation("Kindr quaternion multiplication", "product by both quaternion matrices", quaternion.multiply)
@equation("Kindr quaternion inverse", "conjugate and inverse", quaternion.inverse)
def test_quaternion_algebra():
    q, p = np.array([1.0, 2, 3, 4]), np.array([5.0, -6, 7, 8])
    product = [q[0] * p[0] - q[1:] @ p[1:], *(q[0] * p[1:] + p[0] * q[1:] + np.cross(q[1:], p[1:]))]
    close(quaternion.multiply(q, p), product, 1e-13)
    Q_q = [[1, -2, -3, -4], [2, 1, -4, 3], [3, 4, 1, -2], [4, -3, 2, 1]]
    Q_bar_p = [[5, 6, -7, -8], [-6, 5, 8, -7], [7, -8, 5, -6], [8, 7, 6, 5]]
    close(quaternion.left_matrix(q), Q_q, 0)
    close(quaternion.right_matrix(p), Q_bar_p, 0)
    close(np.array(Q_q) @ p, product, 1e-13)
    close(np.array(Q_bar_p) @ q, product, 1e-13)
    close(quaternion.inverse(q), [1, -2, -3, -4], 0)
    close(quaternion.multiply(Q, quaternion.inverse(Q)), [1, 0, 0, 0], 1e-15)


@equation(
    "Kindr quaternion and angle-axis",
    "quaternion from angle-axis and back",
    angle_axis.to_quaternion,
    angle_axis.from_quaternion,
)
@equation("Kindr quaternion to rotation matrix", "rotation matrix and its inverse", quaternion.to_matrix)
def test_quaternion_conversions():
    close(angle_axis.to_quaternion([ANGLE, *AXIS]), Q, 1e-15)
    close(angle_axis.from_quaternion(Q), [2 * np.arccos(Q[0]), *(Q[1:] / np.linalg.norm(Q[1:]))], 1e-15)
    close(angle_axis.from_quaternion([1, 0, 0, 0]), [0, 1, 0, 0], 0)
    w, S = Q[0], so3.skew(Q[1:])
    close(quaternion.to_matrix(Q), np.eye(3) + 2 * w * S + 2 * S @ S, 1e-15)
    close(quaternion.to_matrix(Q), (2 * w**2 - 1) * np.eye(3) + 2 * w * S + 2 * np.outer(Q[1:], Q[1:]), 1e-15)
    close(quaternion.to_matrix(Q).T, np.eye(3) - 2 * w * S + 2 * S @ S, 1e-15)
    w, x, y, z = Q
    printed = [
        [w**2 + x**2 - y**2 - z**2, 2 * w * z + 2 * x * y, 2 * x * z - 2 * w * y],
        [2 * x * y - 2 * w * z, w**2 - x**2 + y**2 - z**2, 2 * w * x + 2 * y * z],
        [2 * w * y + 2 * x * z, 2 * y * z - 2 * w * x, w**2 - x**2 - y**2 + z**2],
    ]
    close(quaternion.to_matrix(quaternion.inverse(Q)), printed, 1e-15)


@equation("Kindr figures 1 and 2", "50°, 25°, 30° in two sequences", euler.to_matrix, convert)
def test_the_euler_angles_of_the_figures():
    """The frames that the figures draw: three turns of the axes, one after the other."""
    first, second, third = angles = np.radians([50.0, 25.0, 30.0])
    for sequence, order in (("zyx", (2, 1, 0)), ("xyz", (0, 1, 2))):
        frame = np.eye(3)  # its columns are the axes
        for axis, angle in zip(order, angles, strict=True):
            frame = long_exp(angle * frame[:, axis]).astype(float) @ frame  # about the frame's own axis
        close(euler.to_matrix([first, second, third], sequence), frame, 1e-15)
        close(convert(frame, "matrix", f"euler-{sequence}"), angles, 1e-15)


@equation("Kindr homogeneous transformation", "a pose and its inverse", pose.homogeneous, pose.inverse)
def test_homogeneous_transformation():
    r, p = np.array([0.3, -1.0, 2.0]), np.array([1.0, 2, 3])
    T = pose.homogeneous(C, r)
    close(T, np.block([[C, r[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]]), 0)
    close(pose.inverse(T), np.block([[C.T, -C.T @ r[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]]), 1e-15)
    close([*pose.transform_point(T, p), 1], T @ [*p, 1], 1e-15)


@equation("Kindr linear velocity", "velocities of points in moving frames", twist.transform)
@given(vectors, moderate_vectors, vectors, moderate_vectors, vectors, vectors)
@few
def test_linear_velocity(r, phi, r_rate, phi_rate, arm, arm_rate):
    C = lambda t: so3.exp(phi + t * phi_rate)  # noqa: E731
    of_P = lambda t: r + t * r_rate + C(t) @ (arm + t * arm_rate)  # noqa: E731  P moves in B, whose origin is A
    omega = rotation_vector.rates_to_angular_velocity(phi, "body") @ phi_rate
    of_A = C(0).T @ r_rate
    close(C(0).T @ derivative(of_P), of_A + arm_rate + np.cross(omega, arm), 1e-8)
    # Q is fixed in the body: its velocity is that of the body's twist, moved to Q
    to_Q = pose.homogeneous(np.eye(3), -arm)
    close((twist.transform(to_Q) @ [*of_A, *omega])[:3], of_A + np.cross(omega, arm), 1e-13)


@equation("Kindr angular velocity", "frames, inverse and composition", rotation_vector.rates_to_angular_velocity)
@equation("Kindr rotation matrix rates", "angular velocity by rotation matrix rates", so3.skew)
@given(moderate_vectors, vectors, moderate_vectors, vectors)
@few
def test_angular_velocity(a, a_rate, b, b_rate):
    C_IB, C_BD = (lambda t: so3.exp(a + t * a_rate)), (lambda t: so3.exp(b + t * b_rate))
    in_I, in_B = (rotation_vector.rates_to_angular_velocity(a, frame) @ a_rate for frame in ("world", "body"))
    rate = derivative(C_IB)
    close(so3.skew(in_I), rate @ C_IB(0).T)
    close(so3.skew(in_B), C_IB(0).T @ rate)
    close(rate, so3.skew(in_I) @ C_IB(0))
    close(rate, C_IB(0) @ so3.skew(in_B))
    close(in_I, C_IB(0) @ in_B, 1e-13)
    close(so3.skew(in_I), C_IB(0) @ so3.skew(in_B) @ C_IB(0).T, 1e-13)
    close(so3.unskew(C_IB(0) @ derivative(lambda t: C_IB(t).T)), -in_I)  # ω_BI = −ω_IB, in I
    whole = so3.unskew((C_IB(0) @ C_BD(0)).T @ derivative(lambda t: C_IB(t) @ C_BD(t)))
    of_D = rotation_vector.rates_to_angular_velocity(b, "body") @ b_rate
    close(whole, C_BD(0).T @ in_B + of_D, 1e-8)


@equation("Kindr derivatives", "derivatives of rotations, by box minus", so3.exp_jacobian, so3.exp_jacobian_inverse)
@given(moderate_vectors, moderate_vectors, vectors, vectors)
@few
def test_derivatives_of_rotations(a, b, direction, r):
    """d/dε f(Φ ⊞ εd) ⊟ f(Φ) for each line of the table."""
    A, B = so3.exp(a), so3.exp(b)
    turned = lambda R, e: so3.boxplus(R, e * direction)  # noqa: E731
    product = derivative(lambda e: so3.boxminus(A @ turned(B, e), A @ B))  # ∂(Φ₁⊗Φ₂)/∂Φ₂ = C(Φ₁)
    close(product, A @ direction)
    close(derivative(lambda e: so3.boxminus(turned(A, e) @ B, A @ B)), direction)
    close(derivative(lambda e: turned(A, e) @ r), -so3.skew(A @ r) @ direction, 1e-8)
    close(derivative(lambda e: so3.boxminus(turned(A, e).T, A.T)), -A.T @ direction)
    close(derivative(lambda e: so3.boxminus(so3.exp(a + e * direction), A)), so3.exp_jacobian(a) @ direction)
    if np.linalg.norm(a) < 2.9:  # the other end is on this side of the half turn too
        close(derivative(lambda e: so3.log(turned(A, e)), h=1e-4), so3.exp_jacobian_inverse(a) @ direction, 1e-8)
    in_body = A.T @ direction
    close(derivative(lambda e: so3.boxminus(turned(A, e).T, A.T)), -in_body)  # Φ̇_BI = −ω_B


@equation("Kindr jacobian of the exponential map", "Γ, for large and small vectors", so3.exp_jacobian)
def test_jacobian_of_the_exponential_map():
    v, S = ANGLE * AXIS, so3.skew(ANGLE * AXIS)
    printed = np.eye(3) + (1 - np.cos(ANGLE)) * S / ANGLE**2 + (ANGLE - np.sin(ANGLE)) * S @ S / ANGLE**3
    close(so3.exp_jacobian(v), printed, 1e-15)
    close(so3.exp_jacobian(1e-9 * v), np.eye(3) + 0.5e-9 * S, 1e-17)


@equation("Kindr quaternion rates", "H, H̄ and angular velocity", quaternion.rates_to_angular_velocity)
@equation("Kindr angle-axis rates", "angular velocity by angle and axis", angle_axis.rates_to_angular_velocity)
@equation(
    "Kindr rotation vector rates", "angular velocity by rotation vector", rotation_vector.rates_to_angular_velocity
)
def test_rates_and_angular_velocity():
    w, x, y, z = Q
    for frame, sign in (("world", 1), ("body", -1)):
        H = np.array([[-x, w, -sign * z, sign * y], [-y, sign * z, w, -sign * x], [-z, -sign * y, sign * x, w]])
        close(quaternion.rates_to_angular_velocity(Q, frame), 2 * H, 1e-15)
        close(quaternion.angular_velocity_to_rates(Q, frame), H.T / 2, 1e-15)
        S, s, c = so3.skew(AXIS), np.sin(ANGLE), np.cos(ANGLE)
        E = np.column_stack([AXIS, s * np.eye(3) + sign * (1 - c) * S])
        close(angle_axis.rates_to_angular_velocity([ANGLE, *AXIS], frame), E, 1e-15)
        inverse = np.vstack([AXIS, -0.5 * s / (1 - c) * S @ S - sign * 0.5 * S])
        close(angle_axis.angular_velocity_to_rates([ANGLE, *AXIS], frame), inverse, 1e-15)
        phi, S = ANGLE * AXIS, ANGLE * S
        E = np.eye(3) + sign * S * (1 - c) / ANGLE**2 + S @ S * (ANGLE - s) / ANGLE**3
        close(rotation_vector.rates_to_angular_velocity(phi, frame), E, 1e-15)
        inverse = np.eye(3) - sign * S / 2 + S @ S / ANGLE**2 * (1 - ANGLE / 2 * s / (1 - c))
        close(rotation_vector.angular_velocity_to_rates(phi, frame), inverse, 1e-14)


@equation("Kindr euler angle rates", "ZYX, both frames, both ways", euler.rates_to_angular_velocity)
@equation("Kindr 1", "angular velocity from ZYX rates", euler.rates_to_angular_velocity)
@equation("Kindr 2", "axis of the first turn", euler.rates_to_angular_velocity)
@equation("Kindr 3", "axis of the second turn", euler.rates_to_angular_velocity)
@equation("Kindr 4", "axis of the third turn", euler.rates_to_angular_velocity)
@equation("Kindr 5", "map of ZYX rates", euler.rates_to_angular_velocity)
@equation("Kindr 6", "inverse map of ZYX rates", euler.angular_velocity_to_rates)
@equation("Kindr 7", "angular velocity in the body", euler.rates_to_angular_velocity)
@equation("Kindr 8", "ZYX rates from the body's", euler.angular_velocity_to_rates)
def test_euler_angle_rates():
    """Appendix I; (4) and (5) with −sin(y) and cos(y), where −sin(z) and cos(z) are printed."""
    z, y, x = angles = np.array([0.4, 0.7, -1.2])
    rates = np.array([0.3, -0.5, 0.9])
    sz, cz, sy, cy, sx, cx = np.sin(z), np.cos(z), np.sin(y), np.cos(y), np.sin(x), np.cos(x)
    E = euler.rates_to_angular_velocity(angles, "zyx")
    turn = derivative(lambda t: euler.to_matrix(angles + t * rates, "zyx"))
    R = euler.to_matrix(angles, "zyx")
    close(E @ rates, so3.unskew(turn @ R.T))
    close(E[:, 0], [0, 0, 1], 0)
    C_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    C_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    close(E[:, 1], C_z @ [0, 1, 0], 1e-15)
    close(E[:, 2], C_z @ C_y @ [1, 0, 0], 1e-15)
    close(E, [[0, -sz, cy * cz], [0, cz, cy * sz], [1, 0, -sy]], 1e-15)
    close(np.linalg.det(E), -cy, 1e-15)
    inverse = np.array([[cz * sy / cy, sy * sz / cy, 1], [-sz, cz, 0], [cz / cy, sz / cy, 0]])
    close(euler.angular_velocity_to_rates(angles, "zyx"), inverse, 1e-15)
    in_body = euler.rates_to_angular_velocity(angles, "zyx", "body")
    close(in_body, R.T @ E, 1e-15)
    close(in_body, [[-sy, 0, 1], [cy * sx, cx, 0], [cx * cy, -sx, 0]], 1e-15)
    back = euler.angular_velocity_to_rates(angles, "zyx", "body")
    close(back, inverse @ R, 1e-15)
    close(back, [[0, sx / cy, cx / cy], [0, cx, -sx], [1, sx * sy / cy, cx * sy / cy]], 1e-15)
