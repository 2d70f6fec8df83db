"""Homogeneous transforms: the group, points, exp and log, the printed example."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from wbc.geometry import pose, so3, twist

from .support import PI, close, derivative, few, long_rotation_vectors, many, numbers, rotation_vectors, sixes, vectors

pytestmark = pytest.mark.filterwarnings("error")
poses = st.builds(lambda phi, p: pose.homogeneous(so3.exp(phi), p), long_rotation_vectors, vectors)


def test_example_2_6_1():
    """ETH (2.113), (2.114)."""
    T = pose.homogeneous(so3.elementary_x(PI / 2), [0, 3, 1])
    close(T, [[1, 0, 0, 0], [0, 0, -1, 3], [0, 1, 0, 1], [0, 0, 0, 1]], 1e-15)
    close(pose.transform_point(T, [0, 1, 1]), [0, 2, 2], 1e-15)


@given(poses, poses, poses, vectors)
@few
def test_group(A, B, C, p):
    close(pose.compose(A, B, C), A @ (B @ C), 1e-13)
    close(pose.compose(A, pose.inverse(A)), pose.compose(), 1e-14)
    close(pose.inverse(A), np.linalg.inv(A), 1e-13)
    close(pose.homogeneous(pose.rotation(A), pose.translation(A)), A, 0)
    close([*pose.transform_point(A, p), 1], A @ [*p, 1], 1e-14)
    close(pose.transform_point(pose.inverse(A), pose.transform_point(A, p)), p, 1e-13)


@given(rotation_vectors, vectors)
@many
def test_exp_and_log(phi, v):
    xi = np.array([*v, *phi])
    T = pose.exp6(xi)
    close(T, expm(twist.hat(xi)), 1e-13)
    close(pose.exp6(pose.log6(T)), T, 1e-13)
    if np.linalg.norm(phi) < PI - 1e-9:
        close(pose.log6(T), xi, 1e-13)


@given(poses, sixes, numbers(-0.5, 0.5))
@few
def test_integration(T, V, dt):
    """The twist stays what it is on the way, in the body's frame and, by (28), in the world's."""
    at = lambda t: pose.integrate(T, V, t)  # noqa: E731
    rate = derivative(lambda t: at(dt + t))
    close(twist.vee(pose.inverse(at(dt)) @ rate), V)
    close(at(dt), pose.exp6(twist.left_to_right(T) @ V * dt) @ T, 1e-13)
    close(pose.integrate(at(dt), V, -dt), T, 1e-13)


@given(poses, poses, numbers(0, 1))
@few
def test_interpolation(A, B, t):
    close(pose.interpolate(A, B, 0.0), A, 1e-14)
    close(pose.interpolate(A, B, 1.0), B, 1e-12)
    if np.linalg.norm(so3.boxminus(B[:3, :3], A[:3, :3])) > PI - 1e-6:  # two ways, and rounding decides
        return
    close(pose.rotation(pose.interpolate(A, B, t)), so3.interpolate(A[:3, :3], B[:3, :3], t), 1e-12)
