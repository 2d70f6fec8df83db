"""ETH sections 2.2–2.5 as printed, evaluated beside our functions; what the other tests show is marked there."""

import numpy as np
import pytest
from hypothesis import given

from tests.equations import equation
from wbc.geometry import angle_axis, convert, euler, pose, position, quaternion, rotation_vector, so3

from .support import axes, close, derivative, few, long_angles, moderate_vectors, numbers, vectors

pytestmark = pytest.mark.filterwarnings("error")
AXIS, ANGLE = np.array([2.0, -3.0, 6.0]) / 7, 0.8
R = so3.exp(ANGLE * AXIS)


def entry(i, j):
    """c_ij of ETH (2.38)."""
    return R[i - 1, j - 1]


@equation("ETH 2.6", "position by cylindrical coordinates", position.cylindrical_to_cartesian)
@equation("ETH 2.13", "velocity by cylindrical rates", position.cylindrical_rates_to_velocity)
@equation("ETH 2.14", "cylindrical rates by velocity", position.velocity_to_cylindrical_rates)
@equation("ETH 2.15", "map of cylindrical rates", position.cylindrical_rates_to_velocity)
def test_cylindrical_maps():
    rho, theta, z = chi = [1.3, 2.1, -0.4]
    rho_dot, theta_dot, z_dot = rates = [0.3, -0.7, 0.2]
    c, s = np.cos(theta), np.sin(theta)
    close(position.cylindrical_to_cartesian(chi), [rho * c, rho * s, z], 1e-15)
    velocity = [rho_dot * c - rho * theta_dot * s, rho_dot * s + rho * theta_dot * c, z_dot]
    E = position.cylindrical_rates_to_velocity(chi)
    close(E @ rates, velocity, 1e-15)
    close(E, [[c, -rho * s, 0], [s, rho * c, 0], [0, 0, 1]], 1e-15)
    inverse = position.velocity_to_cylindrical_rates(chi)
    close(inverse, [[c, s, 0], [-s / rho, c / rho, 0], [0, 0, 1]], 1e-15)
    close(inverse @ velocity, rates, 1e-15)


@equation("ETH 2.8", "position by spherical coordinates", position.spherical_to_cartesian)
@equation("ETH 2.16", "map of spherical rates", position.spherical_rates_to_velocity)
@equation("ETH 2.17", "spherical rates by velocity", position.velocity_to_spherical_rates)
def test_spherical_maps():
    r, theta, phi = chi = [1.3, 2.1, 0.7]
    ct, st, cp, sp = np.cos(theta), np.sin(theta), np.cos(phi), np.sin(phi)
    close(position.spherical_to_cartesian(chi), [r * ct * sp, r * st * sp, r * cp], 1e-15)
    printed = [[ct * sp, -r * sp * st, r * cp * ct], [sp * st, r * ct * sp, r * cp * st], [cp, 0, -r * sp]]
    close(position.spherical_rates_to_velocity(chi), printed, 1e-15)
    printed = [[ct * sp, sp * st, cp], [-st / (r * sp), ct / (r * sp), 0], [cp * ct / r, cp * st / r, -sp / r]]
    close(position.velocity_to_spherical_rates(chi), printed, 1e-15)


@equation("ETH 2.21", "coordinates by the axes", pose.transform_point)
@equation("ETH 2.22", "rotation matrix from the axes", pose.transform_point)
@equation("ETH 2.24", "passive rotation", quaternion.rotate)
@equation("ETH 2.25", "active rotation", so3.exp)
@given(axes, long_angles, vectors)
@few
def test_a_rotation_matrix_has_the_axes_as_columns(n, angle, u):
    phi = angle * n
    e_x, e_y, e_z = so3.exp(phi).T
    mapped = e_x * u[0] + e_y * u[1] + e_z * u[2]
    close(pose.transform_point(pose.homogeneous(np.column_stack([e_x, e_y, e_z]), np.zeros(3)), u), mapped, 1e-14)
    close(quaternion.rotate(quaternion.from_rotation_vector(phi), u), mapped, 1e-14)
    # active: the vector turns about the axis (Rodrigues), with the same numbers
    turned = u * np.cos(angle) + np.cross(n, u) * np.sin(angle) + n * (n @ u) * (1 - np.cos(angle))
    close(so3.exp(phi) @ u, turned, 1e-13)


@equation("ETH 2.33", "ZYZ angles to matrix", euler.to_matrix)
@equation("ETH 2.37", "ZXZ angles to matrix", euler.to_matrix)
@equation("ETH 2.41", "ZYX angles to matrix", euler.to_matrix)
@equation("ETH 2.44", "XYZ angles to matrix", euler.to_matrix)
def test_euler_matrices():
    first, second, third = angles = [0.4, 1.7, -1.2]
    sa, sb, sc = np.sin(angles)
    ca, cb, cc = np.cos(angles)
    zyz = [
        [cb * ca * cc - sa * sc, -cc * sa - cb * ca * sc, ca * sb],
        [ca * sc + cb * cc * sa, ca * cc - cb * sa * sc, sb * sa],
        [-cc * sb, sb * sc, cb],
    ]
    zxz = [
        [ca * cc - cb * sa * sc, -ca * sc - cb * cc * sa, sb * sa],
        [cc * sa + cb * ca * sc, cb * ca * cc - sa * sc, -ca * sb],
        [sb * sc, cc * sb, cb],
    ]
    zyx = [  # z, y, x = first, second, third
        [cb * ca, ca * sc * sb - cc * sa, sa * sc + cc * ca * sb],
        [cb * sa, cc * ca + sc * sb * sa, cc * sb * sa - ca * sc],
        [-sb, cb * sc, cc * cb],
    ]
    xyz = [
        [cb * cc, -cb * sc, sb],
        [ca * sc + cc * sa * sb, ca * cc - sa * sb * sc, -cb * sa],
        [sa * sc - ca * cc * sb, cc * sa + ca * sb * sc, ca * cb],
    ]
    for sequence, printed in {"zyz": zyz, "zxz": zxz, "zyx": zyx, "xyz": xyz}.items():
        close(euler.to_matrix([first, second, third], sequence), printed, 1e-15)


@equation("ETH 2.47", "rotation vector from angle, axis", convert)
@equation("ETH 2.49", "angle of a rotation matrix", angle_axis.from_matrix)
@equation("ETH 2.50", "axis of a rotation matrix", angle_axis.from_matrix)
def test_angle_and_axis():
    angle = np.arccos((entry(1, 1) + entry(2, 2) + entry(3, 3) - 1) / 2)
    vee = np.array([entry(3, 2) - entry(2, 3), entry(1, 3) - entry(3, 1), entry(2, 1) - entry(1, 2)])
    close(angle_axis.from_matrix(R), [angle, *(vee / (2 * np.sin(angle)))], 1e-15)
    close(convert([ANGLE, *AXIS], "angle-axis", "rotation-vector"), ANGLE * AXIS, 1e-15)


@equation("ETH 2.52", "quaternion from angle and axis", quaternion.from_rotation_vector, angle_axis.to_quaternion)
@equation("ETH 2.53", "a quaternion of unit length", quaternion.normalize)
@equation("ETH 2.54", "quaternion to rotation matrix", quaternion.to_matrix)
@equation("ETH 2.56", "inverse quaternion", quaternion.inverse)
def test_quaternions():
    q = np.array([np.cos(ANGLE / 2), *(np.sin(ANGLE / 2) * AXIS)])
    close(quaternion.from_rotation_vector(ANGLE * AXIS), q, 1e-15)
    close(angle_axis.to_quaternion([ANGLE, *AXIS]), q, 1e-15)
    close(np.sum(quaternion.normalize(3 * q) ** 2), 1, 1e-15)
    w, v = q[0], q[1:]
    close(quaternion.to_matrix(q), np.eye(3) + 2 * w * so3.skew(v) + 2 * so3.skew(v) @ so3.skew(v), 1e-15)
    close(quaternion.to_matrix(q), (2 * w**2 - 1) * np.eye(3) + 2 * w * so3.skew(v) + 2 * np.outer(v, v), 1e-15)
    w, x, y, z = q
    printed = [
        [w**2 + x**2 - y**2 - z**2, 2 * x * y - 2 * w * z, 2 * w * y + 2 * x * z],
        [2 * w * z + 2 * x * y, w**2 - x**2 + y**2 - z**2, 2 * y * z - 2 * w * x],
        [2 * x * z - 2 * w * y, 2 * w * x + 2 * y * z, w**2 - x**2 - y**2 + z**2],
    ]
    close(quaternion.to_matrix(q), printed, 1e-15)
    close(quaternion.inverse(q), [w, -x, -y, -z], 0)
    close(quaternion.to_matrix(quaternion.inverse(q)), quaternion.to_matrix(q).T, 1e-15)


def printed_quaternion(C):
    """ETH (2.55)."""
    sign = lambda x: 1.0 if x >= 0 else -1.0  # noqa: E731
    root = lambda x: np.sqrt(max(x, 0.0))  # noqa: E731
    a, b, c = np.diag(C)
    return 0.5 * np.array(
        [
            root(a + b + c + 1),
            sign(C[2, 1] - C[1, 2]) * root(a - b - c + 1),
            sign(C[0, 2] - C[2, 0]) * root(b - c - a + 1),
            sign(C[1, 0] - C[0, 1]) * root(c - a - b + 1),
        ]
    )


@equation("ETH 2.55", "rotation matrix to quaternion", quaternion.from_matrix)
def test_quaternion_of_a_matrix():
    close(quaternion.from_matrix(R), printed_quaternion(R), 1e-15)
    # at a half turn, where C = Cᵀ, the printed signs are all +: another rotation. Ours is right.
    n = np.array([0.6, -0.8, 0.0])
    half_turn = 2 * np.outer(n, n) - np.eye(3)
    assert np.abs(quaternion.to_matrix(printed_quaternion(half_turn)) - half_turn).max() > 1
    close(quaternion.to_matrix(quaternion.from_matrix(half_turn)), half_turn, 1e-15)


@equation("ETH 2.57", "quaternion product", quaternion.multiply)
@equation("ETH 2.58", "left matrix of a quaternion", quaternion.left_matrix)
@equation("ETH 2.59", "left matrix, entry by entry", quaternion.left_matrix)
@equation("ETH 2.60", "right matrix of a quaternion", quaternion.right_matrix)
@equation("ETH 2.61", "right matrix, entry by entry", quaternion.right_matrix)
def test_quaternion_products():
    q, p = np.array([1.0, 2, 3, 4]), np.array([5.0, -6, 7, 8])
    w, v, u, r = q[0], q[1:], p[0], p[1:]
    close(quaternion.multiply(q, p), [w * u - v @ r, *(w * r + u * v + so3.skew(v) @ r)], 1e-13)
    column, one = v[:, None], w * np.eye(3)
    close(quaternion.left_matrix(q), np.block([[w, -v[None]], [column, one + so3.skew(v)]]), 0)
    close(quaternion.right_matrix(q), np.block([[w, -v[None]], [column, one - so3.skew(v)]]), 0)
    w, x, y, z = q
    close(quaternion.left_matrix(q), [[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]], 0)
    close(quaternion.right_matrix(q), [[w, -x, -y, -z], [x, w, z, -y], [y, -z, w, x], [z, y, -x, w]], 0)


@equation("ETH 2.70", "angular velocity as a limit", so3.boxminus)
@equation("ETH 2.71", "the opposite angular velocity", so3.exp_jacobian)
@equation("ETH 2.72", "angular velocity of a matrix", so3.exp_jacobian)
@equation("ETH 2.73", "matrix of the cross product", so3.skew)
@equation("ETH 2.74", "angular velocity in the body", rotation_vector.rates_to_angular_velocity)
@equation("ETH 2.75", "angular velocity's matrix in the body", so3.skew)
@given(moderate_vectors, vectors)
@few
def test_angular_velocity(phi, rate):
    C = lambda t: so3.exp(phi + t * rate)  # noqa: E731
    omega = so3.exp_jacobian(phi) @ rate
    close(derivative(lambda t: so3.boxminus(C(t), C(0))), omega)  # (2.70)
    close(so3.skew(omega), derivative(C) @ C(0).T)  # (2.72)
    x, y, z = omega
    close(so3.skew(omega), [[0, -z, y], [z, 0, -x], [-y, x, 0]], 0)
    back = so3.unskew(derivative(lambda t: C(t).T) @ C(0))  # of a with respect to b, in b's axes
    in_body = rotation_vector.rates_to_angular_velocity(phi, "body") @ rate
    close(back, -in_body)  # (2.71)
    close(in_body, C(0).T @ omega, 1e-13)  # (2.74)
    close(so3.skew(in_body), C(0).T @ so3.skew(omega) @ C(0), 1e-13)  # (2.75)


@equation("ETH 2.76", "angular velocities add up", so3.compose)
@given(moderate_vectors, vectors, moderate_vectors, vectors)
@few
def test_angular_velocities_of_consecutive_frames(a, a_rate, b, b_rate):
    C_a_b, C_b_c = (lambda t: so3.exp(a + t * a_rate)), (lambda t: so3.exp(b + t * b_rate))
    whole = so3.unskew(derivative(lambda t: so3.compose(C_a_b(t), C_b_c(t))) @ so3.compose(C_a_b(0), C_b_c(0)).T)
    close(whole, so3.exp_jacobian(a) @ a_rate + C_a_b(0) @ so3.exp_jacobian(b) @ b_rate, 1e-8)


@equation("ETH 2.77", "example 2.5.1: the turning frame", so3.elementary_x)
@equation("ETH 2.78", "example 2.5.1: its angular velocity", so3.unskew)
@equation("ETH 2.79", "example 2.5.1: matrix and rate", so3.elementary_x)
@equation("ETH 2.80", "example 2.5.1: their product", so3.skew)
@equation("ETH 2.81", "example 2.5.1: un-skewed", so3.unskew)
@given(numbers(-7, 7), numbers(-3, 3))
@few
def test_example_2_5_1(alpha, rate):
    c, s = np.cos(alpha), np.sin(alpha)
    C = so3.elementary_x(alpha)
    close(C, [[1, 0, 0], [0, c, -s], [0, s, c]], 1e-15)
    C_dot = derivative(lambda t: so3.elementary_x(alpha + t * rate))
    close(C_dot, [[0, 0, 0], [0, -rate * s, -rate * c], [0, rate * c, -rate * s]])
    close(C_dot @ C.T, so3.skew([rate, 0, 0]))
    close(so3.skew([rate, 0, 0]), [[0, 0, 0], [0, 0, -rate], [0, rate, 0]], 0)
    close(so3.unskew(C_dot @ C.T), [rate, 0, 0])


@equation("ETH 2.83", "axis of the first turn", euler.rates_to_angular_velocity)
@equation("ETH 2.84", "axis of the second turn", euler.rates_to_angular_velocity)
@equation("ETH 2.85", "axis of the third turn", euler.rates_to_angular_velocity)
def test_the_columns_of_the_euler_map_are_axes():
    z, y, _ = angles = [0.4, 0.7, -1.2]
    E = euler.rates_to_angular_velocity(angles, "zyx")
    close(E[:, 0], [0, 0, 1], 0)
    close(E[:, 1], so3.elementary_z(z) @ [0, 1, 0], 1e-15)
    close(E[:, 1], [-np.sin(z), np.cos(z), 0], 1e-15)
    close(E[:, 2], so3.elementary_z(z) @ so3.elementary_y(y) @ [1, 0, 0], 1e-15)
    close(E[:, 2], [np.cos(y) * np.cos(z), np.cos(y) * np.sin(z), -np.sin(y)], 1e-15)


@equation("ETH 2.100", "angular velocity by angle, axis", angle_axis.rates_to_angular_velocity)
@equation("ETH 2.101", "angle, axis rates by velocity", angle_axis.angular_velocity_to_rates)
@equation("ETH 2.102", "map of angle and axis", angle_axis.rates_to_angular_velocity)
@equation("ETH 2.103", "inverse map of angle, axis", angle_axis.angular_velocity_to_rates)
def test_angle_axis_maps():
    s, c, S = np.sin(ANGLE), np.cos(ANGLE), so3.skew(AXIS)
    rate, swing = 0.7, np.cross(AXIS, [0.3, -0.2, 0.5])
    omega = AXIS * rate + swing * s + S @ swing * (1 - c)
    E = angle_axis.rates_to_angular_velocity([ANGLE, *AXIS])
    inverse = angle_axis.angular_velocity_to_rates([ANGLE, *AXIS])
    close(E, np.column_stack([AXIS, s * np.eye(3) + (1 - c) * S]), 1e-15)
    close(E @ [rate, *swing], omega, 1e-15)
    close(inverse, np.vstack([AXIS, -0.5 * s / (1 - c) * S @ S - 0.5 * S]), 1e-15)
    close(inverse @ omega, [rate, *swing], 1e-15)


@equation("ETH 2.104", "angular velocity by rotation vector", rotation_vector.rates_to_angular_velocity)
@equation("ETH 2.105", "rotation vector rates by velocity", rotation_vector.angular_velocity_to_rates)
@equation("ETH 2.106", "map of the rotation vector", rotation_vector.rates_to_angular_velocity)
@equation("ETH 2.107", "inverse map, rotation vector", rotation_vector.angular_velocity_to_rates)
def test_rotation_vector_maps():
    phi, size, S = ANGLE * AXIS, ANGLE, so3.skew(ANGLE * AXIS)
    E = rotation_vector.rates_to_angular_velocity(phi)
    inverse = rotation_vector.angular_velocity_to_rates(phi)
    c, s = np.cos(size), np.sin(size)
    close(E, np.eye(3) + S * (1 - c) / size**2 + S @ S * (size - s) / size**3, 1e-15)
    close(inverse, np.eye(3) - S / 2 + S @ S / size**2 * (1 - size / 2 * s / (1 - c)), 1e-14)
    rates = np.array([0.3, -0.2, 0.5])
    omega = derivative(lambda t: so3.boxminus(so3.exp(phi + t * rates), so3.exp(phi)))
    close(E @ rates, omega)
    close(inverse @ omega, rates)
