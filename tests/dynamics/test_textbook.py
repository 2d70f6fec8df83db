"""The worked examples of ETH chapter 2, on the planar arm that the lecture notes draw."""

from __future__ import annotations

import numpy as np

import wbc
from wbc.geometry import so3

rng = np.random.default_rng(0)


def planar_arm(angles) -> wbc.Dynamics:
    robot = wbc.load("planar_arm", "numpy")
    robot.update(angles)
    return robot


def test_forward_kinematics_of_the_planar_arm_2_141() -> None:
    for q1, q2, q3 in rng.uniform(-3, 3, (20, 3)):
        T = planar_arm([q1, q2, q3]).pose("end_effector")
        x = np.sin(q1) + np.sin(q1 + q2) + np.sin(q1 + q2 + q3)
        z = 1 + np.cos(q1) + np.cos(q1 + q2) + np.cos(q1 + q2 + q3)
        assert np.allclose(T[:3, 3], [x, 0, z], atol=1e-12)
        assert np.allclose(T[:3, :3], so3.elementary_y(q1 + q2 + q3), atol=1e-12)


def test_jacobian_of_the_planar_arm_2_186() -> None:
    for q1, q2, q3 in rng.uniform(-3, 3, (20, 3)):
        J = planar_arm([q1, q2, q3]).jacobian("end_effector")
        c1, c12, c123 = np.cos([q1, q1 + q2, q1 + q2 + q3])
        s1, s12, s123 = np.sin([q1, q1 + q2, q1 + q2 + q3])
        expected = np.zeros((6, 3))
        expected[0] = c1 + c12 + c123, c12 + c123, c123
        expected[2] = -s1 - s12 - s123, -s12 - s123, -s123
        expected[4] = 1
        assert np.allclose(J, expected, atol=1e-12)
