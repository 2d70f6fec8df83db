"""What holds of every parameterisation: conversions through the singularities, and the maps of their rates."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.equations import equation
from wbc.errors import WbcError
from wbc.geometry import angle_axis, convert, euler, quaternion, rotation_vector, so3
from wbc.geometry.convert import PARAMETERISATIONS

from .support import (
    PI,
    TINY,
    axes,
    close,
    derivative,
    few,
    long_angles,
    many,
    moderate_vectors,
    numbers,
    rotation_vectors,
    unit,
    vectors,
)

pytestmark = pytest.mark.filterwarnings("error")
PROPER = ("zyz", "zxz")
signed = st.one_of(
    st.sampled_from([s * t for t in TINY for s in (1, -1)] + [PI / 2, -PI / 2, PI, -PI]), numbers(-PI, PI)
)
middle = st.one_of(
    st.sampled_from([0.0, PI / 2, -PI / 2, PI, -PI]).flatmap(
        lambda s: st.sampled_from([-1e-3, -1e-7, -1e-11, -1e-13, -1e-16, 0.0, 5e-16, 1e-15, 1e-12, 1e-9, 1e-4]).map(
            s.__add__
        )
    ),
    numbers(-PI, PI),
)
euler_angles = st.tuples(signed, middle, signed).map(np.array)
sequences = st.sampled_from(euler.SEQUENCES)
frames = pytest.mark.parametrize("frame", ["world", "body"])
sequence_and_frame = [pytest.param(s, f, id=f"{s}-{f}") for s in euler.SEQUENCES for f in ("world", "body")]


@pytest.mark.parametrize("source", PARAMETERISATIONS)
@pytest.mark.parametrize("target", PARAMETERISATIONS)
def test_every_conversion(source, target):
    @given(rotation_vectors)
    @few
    def check(phi):
        R = so3.exp(phi)
        value = convert(R, "matrix", source)
        result = convert(value, source, target)
        close(convert(result, target, "matrix"), R, 1e-14)

    check()


@given(euler_angles, sequences)
@example(np.array([0.1, PI / 2 + 5e-16, 0.2]), "xyz")
@example(np.array([0.1, -PI / 2 - 5e-16, 0.2]), "zyx")
@many
def test_euler_round_trip_through_the_singularities(angles, sequence):
    R = euler.to_matrix(angles, sequence)
    a, b, c = back = euler.from_matrix(R, sequence)
    close(euler.to_matrix(back, sequence), R, 1e-13)
    assert -PI <= a <= PI
    assert -PI <= c <= PI
    assert (0 <= b <= PI) if sequence in PROPER else (-PI / 2 <= b <= PI / 2)


@given(numbers(-3, 3), numbers(-1.5, 1.5), numbers(-3, 3), sequences)
@many
def test_euler_angles_are_recovered(a, b, c, sequence):
    if sequence in PROPER:
        b = b / 2 + PI / 2
    close(euler.from_matrix(euler.to_matrix([a, b, c], sequence), sequence), [a, b, c], 1e-13)


@given(euler_angles)
@few
def test_euler_matrix_is_the_product_in_the_order_of_the_name(angles):
    a, b, c = angles
    x, y, z = so3.elementary_x, so3.elementary_y, so3.elementary_z
    close(euler.to_matrix(angles, "zyx"), z(a) @ y(b) @ x(c), 1e-15)
    close(euler.to_matrix(angles, "xyz"), x(a) @ y(b) @ z(c), 1e-15)
    close(euler.to_matrix(angles, "zyz"), z(a) @ y(b) @ z(c), 1e-15)
    close(euler.to_matrix(angles, "zxz"), z(a) @ x(b) @ z(c), 1e-15)


@pytest.mark.parametrize("sequence", euler.SEQUENCES)
def test_euler_at_the_lock_has_the_first_angle_zero(sequence):
    for b, sign in ((0.0, 1), (PI, -1)) if sequence in PROPER else ((PI / 2, 1), (-PI / 2, -1)):
        lock = euler.from_matrix(euler.to_matrix([0.3, b, 0.4], sequence), sequence)
        turn = 0.4 + sign * 0.3 * (1 if sequence in ("xyz", *PROPER) else -1)
        close(lock, [0, b, turn], 1e-15)


@equation("ETH 2.35", "matrix to ZYZ angles", euler.from_matrix)
@equation("ETH 2.39", "matrix to ZXZ angles", euler.from_matrix)
@equation("ETH 2.42", "matrix to ZYX angles", euler.from_matrix)
@equation("ETH 2.45", "matrix to XYZ angles", euler.from_matrix)
def test_euler_by_the_formulas_of_the_notes():
    """ETH (2.35), (2.39), (2.42), (2.45), away from the singularities."""
    R = so3.exp([0.4, -0.7, 1.1])
    c = lambda i, j: R[i - 1, j - 1]  # noqa: E731
    zyz = [np.arctan2(c(2, 3), c(1, 3)), np.arctan2(np.hypot(c(1, 3), c(2, 3)), c(3, 3)), np.arctan2(c(3, 2), -c(3, 1))]
    zxz = [np.arctan2(c(1, 3), -c(2, 3)), np.arctan2(np.hypot(c(1, 3), c(2, 3)), c(3, 3)), np.arctan2(c(3, 1), c(3, 2))]
    zyx = [np.arctan2(c(2, 1), c(1, 1)), np.arctan2(-c(3, 1), np.hypot(c(3, 2), c(3, 3))), np.arctan2(c(3, 2), c(3, 3))]
    xyz = [
        np.arctan2(-c(2, 3), c(3, 3)),
        np.arctan2(c(1, 3), np.hypot(c(1, 1), c(1, 2))),
        np.arctan2(-c(1, 2), c(1, 1)),
    ]
    for sequence, angles in {"zyz": zyz, "zxz": zxz, "zyx": zyx, "xyz": xyz}.items():
        close(euler.from_matrix(R, sequence), angles, 1e-14)


@equation("ETH 2.86", "map of ZYX rates", euler.rates_to_angular_velocity)
@equation("ETH 2.87", "inverse map of ZYX rates", euler.angular_velocity_to_rates)
@equation("ETH 2.88", "map of XYZ rates", euler.rates_to_angular_velocity)
@equation("ETH 2.89", "inverse map of XYZ rates", euler.angular_velocity_to_rates)
@equation("ETH 2.90", "map of ZYZ rates", euler.rates_to_angular_velocity)
@equation("ETH 2.91", "inverse map of ZYZ rates", euler.angular_velocity_to_rates)
@equation("ETH 2.92", "map of ZXZ rates", euler.rates_to_angular_velocity)
@equation("ETH 2.93", "inverse map of ZXZ rates", euler.angular_velocity_to_rates)
def test_euler_rate_maps_as_printed():
    """ETH (2.86), (2.88), (2.90), (2.92), and Kindr's ZYX map in the body frame."""
    a, b, c = angles = [0.4, 0.7, -1.2]
    sa, ca, sb, cb, sc, cc = np.sin(a), np.cos(a), np.sin(b), np.cos(b), np.sin(c), np.cos(c)
    E = euler.rates_to_angular_velocity
    close(E(angles, "zyx"), [[0, -sa, cb * ca], [0, ca, cb * sa], [1, 0, -sb]], 1e-15)
    close(E(angles, "xyz"), [[1, 0, sb], [0, ca, -cb * sa], [0, sa, ca * cb]], 1e-15)
    close(E(angles, "zyz"), [[0, -sa, ca * sb], [0, ca, sa * sb], [1, 0, cb]], 1e-15)
    close(E(angles, "zxz"), [[0, ca, sa * sb], [0, sa, -ca * sb], [1, 0, cb]], 1e-15)
    close(E(angles, "zyx", "body"), [[-sb, 0, 1], [cb * sc, cc, 0], [cc * cb, -sc, 0]], 1e-15)
    inverse = euler.angular_velocity_to_rates
    close(inverse(angles, "zyx"), [[ca * sb / cb, sb * sa / cb, 1], [-sa, ca, 0], [ca / cb, sa / cb, 0]], 1e-15)
    close(inverse(angles, "xyz"), [[1, sa * sb / cb, -ca * sb / cb], [0, ca, sa], [0, -sa / cb, ca / cb]], 1e-15)
    close(inverse(angles, "zyz"), [[-cb * ca / sb, -cb * sa / sb, 1], [-sa, ca, 0], [ca / sb, sa / sb, 0]], 1e-15)
    close(inverse(angles, "zxz"), [[-cb * sa / sb, cb * ca / sb, 1], [ca, sa, 0], [sa / sb, -ca / sb, 0]], 1e-15)
    close(
        inverse(angles, "zyx", "body"),
        [[0, sc / cb, cc / cb], [0, cc, -sc], [1, sc * sb / cb, cc * sb / cb]],
        1e-15,
    )


@equation("ETH 2.82", "angular velocity from rates", euler.rates_to_angular_velocity)
@pytest.mark.parametrize(("sequence", "frame"), sequence_and_frame)
def test_euler_rates(sequence, frame):
    @given(euler_angles, vectors)
    @few
    def check(angles, rates):
        R = euler.to_matrix(angles, sequence)
        S = derivative(lambda t: euler.to_matrix(angles + t * rates, sequence))
        omega = so3.unskew(S @ R.T if frame == "world" else R.T @ S)
        E = euler.rates_to_angular_velocity(angles, sequence, frame)
        inverse = euler.angular_velocity_to_rates(angles, sequence, frame)
        close(E @ rates, omega)
        E_dot = derivative(lambda t: euler.rates_to_angular_velocity(angles + t * rates, sequence, frame))
        close(euler.rates_to_angular_velocity_derivative(angles, rates, sequence, frame), E_dot)
        size = abs(np.linalg.det(E))
        if size > 1e-6:
            close(E @ inverse, np.eye(3), 1e-15 / size + 1e-14)
        elif size < 5e-13:
            close(inverse, np.linalg.pinv(E, rcond=1e-9), 1e-11)
        assert np.all(np.isfinite(inverse))

    check()


@frames
def test_rotation_vector_rates(frame):
    @given(moderate_vectors, vectors)
    @few
    def check(phi, rates):
        R = so3.exp(phi)
        S = derivative(lambda t: so3.exp(phi + t * rates))
        omega = so3.unskew(S @ R.T if frame == "world" else R.T @ S)
        E = rotation_vector.rates_to_angular_velocity(phi, frame)
        close(E @ rates, omega)
        close(E @ rotation_vector.angular_velocity_to_rates(phi, frame), np.eye(3), 1e-13)
        E_dot = derivative(lambda t: rotation_vector.rates_to_angular_velocity(phi + t * rates, frame))
        close(rotation_vector.rates_to_angular_velocity_derivative(phi, rates, frame), E_dot)

    check()


@frames
def test_angle_axis_rates(frame):
    @given(axes, long_angles, vectors, numbers(-3, 3))
    @few
    def check(n, angle, swing, rate):
        value, tangent = np.array([angle, *n]), swing - n * (n @ swing)
        R = angle_axis.to_matrix(value)
        S = derivative(lambda t: angle_axis.to_matrix([angle + t * rate, *unit(n + t * tangent)]), h=2e-4)
        omega = so3.unskew(S @ R.T if frame == "world" else R.T @ S)
        E = angle_axis.rates_to_angular_velocity(value, frame)
        inverse = angle_axis.angular_velocity_to_rates(value, frame)
        close(E @ [rate, *tangent], omega, 1e-8 if np.linalg.norm(tangent) > 1 else 1e-9)
        close(n @ inverse[1:], 0, 4e-16 * max(1.0, np.abs(inverse).max()))
        if abs(np.sin(angle / 2)) > 1e-6:
            close(E @ inverse, np.eye(3), 1e-9)
            close(inverse @ omega, [rate, *tangent], 1e-7 / abs(np.sin(angle / 2)))
        elif abs(angle) < 1e-12:
            close(inverse, [n, [0] * 3, [0] * 3, [0] * 3], 0)

    check()


@equation("ETH 2.94", "angular velocity by quaternion rates", quaternion.rates_to_angular_velocity)
@equation("ETH 2.95", "quaternion rates by angular velocity", quaternion.angular_velocity_to_rates)
@frames
def test_quaternion_rates(frame):
    @given(axes, long_angles, st.tuples(*[numbers(-2, 2)] * 4).map(np.array))
    @few
    def check(n, angle, swing):
        q = quaternion.from_rotation_vector(angle * n)
        rates = swing - q * (q @ swing)
        R = quaternion.to_matrix(q)
        S = derivative(lambda t: quaternion.to_matrix(q + t * rates), h=2e-4)
        omega = so3.unskew(S @ R.T if frame == "world" else R.T @ S)
        close(quaternion.rates_to_angular_velocity(q, frame) @ rates, omega)
        close(quaternion.angular_velocity_to_rates(q, frame) @ omega, rates)

    check()


@given(axes, long_angles)
@many
def test_angle_axis_and_back(n, angle):
    back = angle_axis.from_quaternion(angle_axis.to_quaternion([angle, *n]))
    close(np.linalg.norm(back[1:]), 1, 4e-16)
    assert 0 <= back[0] <= PI
    if angle > PI:
        back = np.array([2 * PI - back[0], *-back[1:]])
    close(back[0], angle, 2e-15)
    if angle == 0.0:
        close(back, [0, 1, 0, 0], 0)
    elif angle > 1e-289:
        close(back[1:], n, 1e-14 if angle < 2 * PI else 1e-12)


@equation("ETH 2.48", "angle and axis to matrix", angle_axis.to_matrix)
def test_angle_axis_as_printed():
    """ETH (2.48)."""
    n, angle = np.array([2.0, -3.0, 6.0]) / 7, 0.8
    expected = np.outer(n, n) * (1 - np.cos(angle)) + np.cos(angle) * np.eye(3) + np.sin(angle) * so3.skew(n)
    close(angle_axis.to_matrix([angle, *n]), expected, 1e-15)
    close(angle_axis.from_matrix(expected), [angle, *n], 1e-15)
    close(angle_axis.from_matrix(np.eye(3)), [0, 1, 0, 0], 0)


def test_small_components_do_not_pass_through_a_matrix():
    phi = np.array([3e-3, -1e-3, 2e-25])
    for name in ("quaternion", "angle-axis"):
        np.testing.assert_allclose(
            convert(convert(phi, "rotation-vector", name), name, "rotation-vector"), phi, rtol=1e-14
        )


def test_names_and_axes_are_checked():
    with pytest.raises(WbcError, match=r"no parameterisation 'euler_zyx'; did you mean 'euler-zyx'\?"):
        convert(np.zeros(3), "euler_zyx", "matrix")
    with pytest.raises(WbcError, match="no parameterisation 'Quat'"):
        convert(np.zeros(3), "euler-zyx", "Quat")
    with pytest.raises(WbcError, match="no Euler sequence 'zyw'"):
        euler.to_matrix(np.zeros(3), "zyw")
    with pytest.raises(WbcError, match=r"no frame 'World'; did you mean 'world'\?"):
        quaternion.rate_matrix([1, 0, 0, 0], "World")
    for value in ([1, 1, 1, 0], [[1, 0, 0, 1], [1, 0, 0, 0]]):
        with pytest.raises(WbcError, match="unit length"):
            angle_axis.to_matrix(value)
