"""Paths: rates by differences, knots, ends, smoothness; and as targets of tasks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.spatial.transform import RotationSpline as Reference

import tasks
import wbc
from wbc.geometry import pose, so3
from wbc.kinematics import DifferentialKinematics, MinimumJerk, Spline, minimum_jerk
from wbc.kinematics.rotation_spline import angular_acceleration

STEP = 1e-5


def rotations(rng, count, size=1.5):
    return [so3.exp(size * rng.normal(size=3)) for _ in range(count)]


def poses(rng, count, size=1.0):
    return [pose.homogeneous(R, rng.normal(size=3)) for R in rotations(rng, count, size)]


def knots(rng, count):
    return np.cumsum(rng.uniform(0.3, 1.5, count))


def assert_rates(path, times) -> None:
    """Velocity and acceleration are the derivatives of value and velocity."""
    for t in times:
        before, now, after = path(t - STEP), path(t), path(t + STEP)
        if now[0].ndim == 1:
            velocity = (after[0] - before[0]) / (2 * STEP)
        else:
            angular = Rotation.from_matrix(after[0][:3, :3] @ before[0][:3, :3].T).as_rotvec() / (2 * STEP)
            at = now[0].shape == (4, 4)
            linear = (after[0][:3, 3] - before[0][:3, 3]) / (2 * STEP) if at else np.zeros(3)
            velocity = np.r_[linear, angular]
        acceleration = (after[1] - before[1]) / (2 * STEP)
        assert np.allclose(now[1], velocity, atol=1e-6, rtol=1e-6)
        assert np.allclose(now[2], acceleration, atol=1e-5, rtol=1e-5)


VALUES = {"vectors": lambda rng, n: rng.normal(size=(n, 5)), "rotations": rotations, "poses": poses}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("degree", [3, 5])
@pytest.mark.parametrize("count", [2, 3, 6])
def test_splines_go_through_their_values_smoothly(kind, degree, count) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        times, values = knots(rng, count), VALUES[kind](rng, count)
        n = {"vectors": 5, "rotations": 3, "poses": 6}[kind]
        v, a = rng.normal(size=(2, n)), rng.normal(size=(2, n))
        path = Spline(times, values, degree, (v[0], v[1]), (a[0], a[1]) if degree == 5 else None)
        for t, value in zip(times, values, strict=True):
            assert np.allclose(path(t)[0], value, atol=1e-9)
        assert_rates(path, rng.uniform(times[0] + 1e-3, times[-1] - 1e-3, 8))
        for t in times[1:-1]:  # also in between what it is made of
            for before, after in zip(path(t - 1e-9), path(t + 1e-9), strict=True):
                assert np.allclose(before, after, atol=1e-5)
        for side, t in enumerate((times[0], times[-1])):
            assert np.allclose(path(t)[1][-n:], v[side], atol=1e-9)
            if degree == 5:
                assert np.allclose(path(t)[2][-n:], a[side], atol=1e-8)
        still = path(times[-1] + 1.0)
        assert np.allclose(still[0], values[-1], atol=1e-9)
        assert not still[1].any()
        assert not still[2].any()


def test_a_cubic_spline_of_rotations_is_that_of_scipy() -> None:
    """Scipy's ends have no angular acceleration; the same velocities at the ends give the same spline."""
    rng = np.random.default_rng(1)
    times, values = knots(rng, 5), rotations(rng, 5, 0.8)
    reference = Reference(times, Rotation.from_matrix(values))
    ends = values[0] @ reference(times[0], 1), values[-1] @ reference(times[-1], 1)  # scipy's are in body axes
    path = Spline(times, values, 3, ends)
    for t in np.linspace(times[0], times[-1], 30):
        assert np.allclose(path(t)[0], reference(t).as_matrix(), atol=1e-6)


@pytest.mark.parametrize("size", [0.0, 1e-6, 9e-3, 1.1e-2, 1.0, 3.1, 5.5])
def test_angular_acceleration(size) -> None:
    for seed in range(5):
        phi, rate, bend = np.random.default_rng(seed).normal(size=(3, 3))
        phi *= size / np.linalg.norm(phi)

        def omega(t, phi=phi, rate=rate, bend=bend):
            return so3.exp_jacobian(phi + rate * t + bend * t * t / 2) @ (rate + bend * t)

        expected = (omega(STEP) - omega(-STEP)) / (2 * STEP)
        assert np.allclose(angular_acceleration(phi, rate, bend), expected, atol=1e-8, rtol=0)


@pytest.mark.parametrize("kind", VALUES)
def test_minimum_jerk_begins_and_ends_at_rest(kind) -> None:
    rng = np.random.default_rng(2)
    first, last = VALUES[kind](rng, 2)
    path = MinimumJerk(first, last, 1.5, begin=0.2)
    for t, value in ((0.0, first), (0.2, first), (1.7, last), (9.0, last)):
        assert np.allclose(path(t)[0], value)
        assert not np.abs(path(t)[1]).max() > 1e-12
        assert not np.abs(path(t)[2]).max() > 1e-12
    assert_rates(path, rng.uniform(0.3, 1.6, 8))
    same = Spline([0.2, 1.7], [first, last], 5)  # the quintic with both ends at rest
    assert np.allclose(path(0.7)[0], same(0.7)[0], atol=1e-12)


def test_minimum_jerk_has_least_jerk() -> None:
    s = np.linspace(0.0, 1.0, 20001)

    def jerk(curve):
        third = np.diff(curve, 3) / (s[1] - s[0]) ** 3
        return np.mean(third**2)

    best = np.array([minimum_jerk(x)[0] for x in s[::20]])
    s = s[::20]
    bump = (s * (1 - s)) ** 3  # keeps the ends at rest
    assert jerk(best) == pytest.approx(720, rel=1e-2)
    assert all(jerk(best + size * bump) > jerk(best) for size in (-1.0, 1.0))


def test_a_rotation_turns_about_one_axis() -> None:
    rng = np.random.default_rng(3)
    first, last = rotations(rng, 2)
    path, axis = MinimumJerk(first, last, 1.0), so3.boxminus(last, first)
    for t in (0.2, 0.5, 0.8):
        assert np.allclose(np.cross(path(t)[1][3:], axis), 0)
        assert not path(t)[1][:3].any()


def test_paths_are_targets_of_tasks() -> None:
    robot = wbc.load("arm")
    robot.update(robot.model.nominal)
    start = robot.pose("tool").copy()
    goal = pose.homogeneous(so3.exp([0.3, -0.4, 0.5]) @ start[:3, :3], start[:3, 3] + [0.1, 0.15, -0.1])
    middle = pose.homogeneous(start[:3, :3], start[:3, 3] + [0.0, 0.1, 0.05])
    for target, axes in (
        (MinimumJerk(start, goal, 1.0), "pose"),
        (Spline([0, 0.4, 1.0], [start, middle, goal]), "pose"),
        (MinimumJerk(start[:3, 3], goal[:3, 3], 1.0), "position"),
        (MinimumJerk(start[:3, :3], goal[:3, :3], 1.0), "orientation"),
    ):
        task = tasks.EndEffectorVelocity("tool", target, axes=axes)
        log = DifferentialKinematics(robot, wbc.Stack(task), period=5e-3).run(robot.model.nominal, 1.2)
        off = []
        for t, q in zip(log.time, log.q, strict=True):
            robot.update(q)
            wanted, now = target(t)[0], robot.pose("tool")
            now = now if axes == "pose" else now[:3, 3] if axes == "position" else now[:3, :3]
            off.append(np.abs(wanted - now).max())
        assert max(off) < 5e-3  # a lag would be some 70 mm
        stack = wbc.Stack(tasks.EquationOfMotion() / tasks.EndEffectorAcceleration("tool", target, axes=axes))
        q, v = np.array(robot.model.nominal), np.zeros(7)
        controller = wbc.Controller(robot, stack)
        for tick in range(500):
            v = v + 2e-3 * controller.step(q, v, 2e-3 * tick).acceleration
            q = robot.integrate(q, v, 2e-3)
        robot.update(q)
        wanted, now = target(1.0)[0], robot.pose("tool")
        now = now if axes == "pose" else now[:3, 3] if axes == "position" else now[:3, :3]
        assert np.allclose(wanted, now, atol=2e-3)
    posture = MinimumJerk(robot.model.nominal, robot.model.nominal + 0.3, 1.0)
    log = DifferentialKinematics(robot, wbc.Stack(tasks.JointVelocity(posture)), period=1e-2).run(log.q[0], 1.01)
    assert np.allclose(log.q[-1], robot.model.nominal + 0.3, atol=1e-2)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: MinimumJerk([0, 0], [1, 1, 1], 1.0), "of one kind"),
        (lambda: MinimumJerk([0], [np.nan], 1.0), "finite"),
        (lambda: MinimumJerk([0], [1], 0.0), "duration, s, = 0.0 must be a number, 1e-09 or more"),
        (lambda: MinimumJerk([0], [1], 1e-320), "duration, s, = 1e-320"),
        (lambda: MinimumJerk([0], [1], np.inf), r"duration, s, = inf .* 1e\+09 at the most"),
        (lambda: MinimumJerk([0], [1], 1.0, -np.inf), "begin, s, = -inf"),
        (lambda: MinimumJerk([0], [1], 1.0)(np.nan), "time = nan must be a number of seconds"),
        (lambda: Spline([0, 1], [[0], [1]])("soon"), "time = 'soon'"),
        (lambda: Spline([0, 1], [[0], [1]])([0.5]), "time = .* must be a number of seconds"),
        (lambda: Spline([0, 1e-300], [[0], [1]]), "increasing"),
        (lambda: Spline([0, np.inf], [[0], [1]]), "times must be finite"),
        (lambda: MinimumJerk(np.eye(3), 2 * np.eye(3), 1.0), "rotation matrix"),
        (lambda: Spline([0, 1, 1], [[0], [1], [2]]), "increasing"),
        (lambda: Spline([0], [[0]]), "2 increasing"),
        (lambda: Spline([0, 1], [[0], [1]], 4), "3 or 5"),
        (lambda: Spline([0, 1], [[0], [1]], 3, None, ([0], [0])), "take degree 5"),
        (lambda: Spline([0, 1], [[0], [1]], 3, ([0, 0], [0, 0])), "velocities must be two of 1"),
        (lambda: Spline([], []), "values must be a list of vectors"),
        (lambda: Spline([0, 1], None), "values must be a list of vectors"),
        (lambda: Spline([0, 1], [[0.0], [1.0]])(np.nan), "time = nan must be a number"),
        (lambda: MinimumJerk([0.0], [1.0], 1.0)("now"), "time = 'now' is not an array of numbers"),
    ],
)
def test_bad_input_is_named(make, match) -> None:
    with pytest.raises(wbc.WbcError, match=match):
        make()
