"""Feet as the sensor sees them: the kernel against numpy, and numpy against the robot."""

from __future__ import annotations

import numpy as np
import pytest

import wbc
from wbc.estimation import feet as module
from wbc.estimation.feet import Feet
from wbc.estimation.invariant_filter import FilterNoise
from wbc.geometry import so3

NOISE = FilterNoise(encoder=0.01, kinematics=0.002)


def some(seed: int) -> tuple[wbc.Dynamics, tuple[str, ...], np.ndarray, np.ndarray]:
    """A robot whose base is at rest at the origin, its feet, and the pose of a sensor."""
    rng = np.random.default_rng(seed)
    robot = wbc.load("quadruped", "numpy")
    q, v = robot.model.nominal.copy(), np.zeros(robot.nv)
    q[:7], q[7:], v[6:] = (0, 0, 0, 1, 0, 0, 0), q[7:] + 0.3 * rng.normal(size=12), rng.normal(size=12)
    robot.update(q, v)
    return robot, tuple(robot.model.feet), so3.exp(rng.normal(size=3)), 0.1 * rng.normal(size=3)


@pytest.mark.skipif(module.kernel is None, reason="the kernel was not built")
@pytest.mark.parametrize("seed", range(3))
def test_the_kernel_agrees_with_numpy(seed, monkeypatch) -> None:
    robot, feet, turn, arm = some(seed)
    for some_feet in (feet, feet[:1]):
        motion = robot.frames_motion(some_feet)
        found = Feet.seen(motion, turn, arm, NOISE)
        with monkeypatch.context() as context:
            context.setattr(module, "kernel", None)
            expected = Feet.seen(motion, turn, arm, NOISE)
        for one, other in zip(found, expected, strict=True):
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-14)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_ball_rolls_by_its_radius_times_the_angle(compiled, monkeypatch) -> None:
    if not compiled:
        monkeypatch.setattr(module, "kernel", None)
    elif module.kernel is None:
        pytest.skip("the kernel was not built")
    rng = np.random.default_rng(3)
    turn, rate, radii = so3.exp(rng.normal(size=3)), rng.normal(size=3), np.array([0.02, 0.0, 0.1])
    feet = Feet(np.zeros((3, 3)), np.zeros((3, 3, 3)), rng.normal(size=(3, 3)))
    found = feet.rolled(rate, turn, radii, 1e-3)
    for own, radius, way in zip(feet.rolling, radii, found, strict=True):
        np.testing.assert_allclose(way, 1e-3 * np.cross(turn @ (own + rate), [0.0, 0.0, radius]), atol=1e-15)


def test_feet_are_seen_from_where_the_sensor_is() -> None:
    robot, feet, turn, arm = some(7)
    seen = Feet.seen(robot.frames_motion(feet), turn, arm, NOISE)
    for foot, place, noise, rolling in zip(feet, *seen, strict=True):
        np.testing.assert_allclose(turn @ place + arm, robot.pose(foot)[:3, 3], atol=1e-12)
        np.testing.assert_allclose(turn @ rolling, robot.twist(foot)[3:], atol=1e-12)
        J = robot.jacobian(foot)[:3, 6:]
        spread = NOISE.encoder**2 * J @ J.T + NOISE.kinematics**2 * np.eye(3)
        np.testing.assert_allclose(turn @ noise @ turn.T, spread, atol=1e-12)
