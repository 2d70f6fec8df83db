"""Limits of joints in discrete time, and of torques."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tasks
import wbc
from wbc.tasking.layout import Layout
from wbc.tasking.tick import Tick

ROBOT = wbc.load("arm", "numpy")
LIMITS = ROBOT.limits
PERIODS = (1e-3, 5e-3, 2e-2)


def bounds(task, q, v, period=1e-3):
    tick = wbc.Tick(ROBOT, period=period)
    ROBOT.update(q, v)
    A, lower, upper = task.matrices(ROBOT, tick)
    assert np.array_equal(A[:, :7], np.eye(7)) and not A[:, 7:].any()
    return lower, upper


def simulate(task, q, v, period, duration, pull):
    """Joints that take the acceleration that comes nearest to the pull, exactly, period by period."""
    found = []
    for tick in range(int(duration / period)):
        lower, upper = bounds(task, q, v, period)
        assert (lower <= upper).all()
        a = np.clip(pull(tick * period), lower, upper)
        q, v = q + v * period + a * period**2 / 2, v + a * period
        found.append((q, v, a))
    return [np.array(part) for part in zip(*found, strict=True)]


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize("side", (1.0, -1.0))
@pytest.mark.parametrize("hard", (5.0, 100.0, 1e5))
def test_pulled_to_a_limit_a_joint_stops_at_it_and_never_passes(period: float, side: float, hard: float) -> None:
    task = tasks.JointLimits(braking=20.0)
    q, v, a = simulate(task, np.linspace(-1, 1, 7), np.zeros(7), period, 3.0, lambda t: np.full(7, side * hard))
    assert (q <= LIMITS.upper + 1e-9).all() and (q >= LIMITS.lower - 1e-9).all()
    assert (np.abs(v) <= LIMITS.velocity + 1e-9).all()
    assert (a * side >= -20.0 * (1 + 1e-6)).all(), "it brakes no harder than it was told it can"
    end = (LIMITS.upper if side > 0 else LIMITS.lower) - side * 1e-3  # the approach ends 1 mrad within
    assert np.allclose(q[-1], end, atol=5e-4) and np.abs(v[-1]).max() < 0.02  # it gets there, and rests
    if hard > 50:
        assert np.abs(v).max(axis=0) == pytest.approx(LIMITS.velocity, rel=0.05)


@pytest.mark.parametrize("period", PERIODS)
def test_pulled_to_and_fro_at_random_it_never_passes(period: float) -> None:
    rng = np.random.default_rng(int(period * 1e4))
    pulls = rng.normal(size=(1000, 7)) * 10 ** rng.uniform(0, 4, size=(1000, 7))
    task = tasks.JointLimits(margin=0.1, speed_scale=0.5)
    q, v, _ = simulate(task, np.zeros(7), np.zeros(7), period, 4.0, lambda t: pulls[int(t / 0.05)])
    assert (q <= LIMITS.upper - 0.1 + 1e-9).all() and (q >= LIMITS.lower + 0.1 - 1e-9).all()
    assert (np.abs(v) <= 0.5 * LIMITS.velocity + 1e-9).all()


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 10**9), st.sampled_from(PERIODS), st.floats(-3, 4), st.floats(-3, 6))
def test_bounds_are_never_empty_and_never_beyond_the_greatest(
    seed: int, period: float, far: float, fast: float
) -> None:
    rng = np.random.default_rng(seed)
    q, v = rng.normal(size=7) * 10**far, rng.normal(size=7) * 10**fast
    for task in (tasks.JointLimits(), tasks.JointLimits(margin=5.0), tasks.JointLimits(braking=500.0)):
        lower, upper = bounds(task, q, v, period)
        assert np.isfinite(lower).all() and np.isfinite(upper).all()
        assert (lower <= upper).all() and (np.abs(lower) <= 500).all() and (np.abs(upper) <= 500).all()


def test_bounds_at_the_limit_exactly() -> None:
    for q, side in ((LIMITS.upper, 1), (LIMITS.lower, -1)):
        lower, upper = bounds(tasks.JointLimits(), q, np.zeros(7))
        assert np.abs(upper if side > 0 else lower).max() < 1e-9
        assert (lower <= upper).all()
        lower, upper = bounds(tasks.JointLimits(), q, np.full(7, 2.0 * side))
        assert (side * (upper if side > 0 else lower) < 0).all()


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize("speed", (0.0, 1.5, -1.5))
def test_a_start_outside_is_led_back_in_finite_time_and_stays(period: float, speed: float) -> None:
    start = LIMITS.upper + 0.3
    away = lambda t: np.full(7, 50.0)  # noqa: E731  it is pulled further away all the time
    q, v, a = simulate(tasks.JointLimits(), start, np.full(7, speed), period, 2.0, away)
    back = (q <= LIMITS.upper).all(axis=1)
    assert back.any() and back.argmax() * period < 1.2
    assert (q[back.argmax() :] <= LIMITS.upper + 1e-9).all()
    assert np.abs(a).max() <= 500.0 and (np.abs(v) < 4.0).all()
    below, _, _ = simulate(tasks.JointLimits(), LIMITS.lower - 0.3, np.zeros(7), period, 2.0, lambda t: -away(t))
    assert (below[-1] >= LIMITS.lower).all()


@pytest.mark.parametrize("period", PERIODS)
def test_a_joint_that_is_too_fast_brakes_as_hard_as_it_must_and_no_harder(period: float) -> None:
    """At 2 rad/s and 0.05 rad before the limit it takes 40 rad/s² to stop, not 20, and not the greatest."""
    q, _, a = simulate(
        tasks.JointLimits(braking=20.0), LIMITS.upper - 0.05, np.full(7, 2.0), period, 1.0, lambda t: np.full(7, 10.0)
    )
    assert (q <= LIMITS.upper + 1e-9).all()
    assert a.min() == pytest.approx(-40.0, rel=0.05)
    _, speeds, a = simulate(tasks.JointLimits(), np.zeros(7), 2 * LIMITS.velocity, period, 0.5, lambda t: np.zeros(7))
    assert a[0].max() <= -20.0 and (np.abs(speeds[-1]) <= LIMITS.velocity + 1e-9).all()


def test_only_joints_with_limits_have_rows() -> None:
    robot = wbc.load("quadruped", "numpy")
    robot.update(robot.model.nominal)
    task = tasks.JointLimits()
    names = task.row_names(robot, wbc.Tick(robot))
    assert len(names) == 12 and "LF_HAA" in names and "root_joint" not in names


def test_the_controller_keeps_joints_within_limits_in_the_whole_robot() -> None:
    """Ideal plant, 1 ms: a posture beyond the limits is asked for on a lower level."""
    robot = wbc.load("arm", "pinocchio")
    far = tasks.JointAcceleration(LIMITS.upper + 1.0, gains=wbc.Gains(4.0))
    controller = wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / tasks.JointLimits() / far))
    q, v = robot.neutral(), np.zeros(7)
    for tick in range(2500):
        solution = controller.step(q, v, tick * 1e-3)
        a = solution.acceleration
        q, v = robot.integrate(q, v + a * 5e-4, 1e-3), v + a * 1e-3
        assert (q <= LIMITS.upper + 1e-7).all() and (np.abs(v) <= LIMITS.velocity + 1e-7).all()
    assert np.allclose(q, LIMITS.upper - 1e-3, atol=1e-4) and solution.status == "optimal"  # `Stopping.inside`
    assert {active.row for active in solution.active} == set(robot.joint_names)


def test_torque_limits_and_their_rate() -> None:
    tick, task = wbc.Tick(ROBOT, period=2e-3), tasks.TorqueLimits(scale=0.5, rate=1000.0)
    limit = 0.5 * LIMITS.effort
    A, lower, upper = task.matrices(ROBOT, tick)
    assert np.array_equal(A[:, 7:], np.eye(7)) and np.array_equal(upper, limit) and np.array_equal(lower, -limit)
    tick = tick.replace(last_torque=np.zeros(7))
    _, lower, upper = task.matrices(ROBOT, tick)
    assert np.allclose(upper, 2.0) and np.allclose(lower, -2.0)
    for last in (limit - 1, -limit, limit + 1, limit + 50, -limit - 50):
        tick = tick.replace(last_torque=last)
        _, lower, upper = task.matrices(ROBOT, tick)
        assert (lower <= upper).all() and (upper <= last + 2 + 1e-12).all() and (lower >= last - 2 - 1e-12).all()
        within = np.clip(last, -limit, limit)
        assert (np.abs(np.clip(within, lower, upper) - last) <= 2 + 1e-12).all()
        if (np.abs(last) <= limit).all():
            assert (upper <= limit).all() and (lower >= -limit).all()


def test_the_controller_changes_torques_no_faster_than_told() -> None:
    robot = wbc.load("arm", "pinocchio")
    posture = tasks.JointAcceleration(np.zeros(7), gains=wbc.Gains(3.0))
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.TorqueLimits(rate=200.0) / posture)
    controller = wbc.Controller(robot, stack, period=2e-3)
    q, v = robot.neutral(), np.zeros(7)
    last = controller.step(q, v, 0.0).torque
    posture.target = np.full(7, 1.0)
    for tick in range(1, 20):
        torque = controller.step(q, v, tick * 2e-3).torque
        assert np.abs(torque - last).max() <= 0.4 + 1e-6
        again = controller.step(q, v, tick * 2e-3).torque
        assert np.allclose(torque, again, atol=1e-9)
        last = torque


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tasks.TorqueLimits(scale=0.0), "torque limits: scale"),
        (lambda: tasks.TorqueLimits(rate=-1.0), "rate"),
        (lambda: tasks.JointLimits(braking=0.0), "joint limits: .*braking"),
        (lambda: tasks.JointLimits(braking=30.0, greatest=10.0), "greatest"),
        (lambda: tasks.JointLimits(margin=-1.0), "margin"),
    ],
)
def test_mistakes_are_named(make: object, words: str) -> None:
    with pytest.raises(wbc.WbcError, match=words):
        make()


def test_a_joint_comes_up_to_its_limits_without_a_jump() -> None:
    """Pulled as hard as can be, its acceleration changes by a few rad/s² a tick; at once, it would by hundreds."""
    home = np.array(ROBOT.model.nominal)
    for task, jump in ((tasks.JointLimits(), 20.0), (tasks.JointLimits(approach=0.0), None)):
        _, v, a = simulate(task, home, np.zeros(7), 1e-3, 1.0, lambda t: np.full(7, 500.0 * min(t / 0.05, 1.0)))
        worst = np.abs(np.diff(a, axis=0)).max()
        assert np.abs(v).max() > 2.0
        assert worst < jump if jump is not None else worst > 100.0


def test_limits_are_of_joints_that_something_moves() -> None:
    """A door that swings freely, and a finger's link in a loop: the door could be stopped by shaking the arm only."""
    mujoco = pytest.importorskip("mujoco")
    link = '<geom type="capsule" size=".02" fromto="0 0 0 .3 0 0" mass="1"/>'
    text = f"""<mujoco><worldbody>
      <body name="arm"><joint name="arm" axis="0 1 0" range="-1 1" limited="true"/>{link}
        <body name="door" pos=".3 0 0"><joint name="door" axis="0 1 0" range="-1 1" limited="true"/>{link}</body>
        <body name="cam" pos=".1 0 0"><joint name="cam" axis="0 1 0" range="-1 1" limited="true"/>{link}</body></body>
      </worldbody><equality><joint joint1="cam" joint2="arm"/></equality>
      <actuator><motor joint="arm" ctrlrange="-9 9"/></actuator></mujoco>"""
    robot = wbc.load(mujoco.MjModel.from_xml_string(text), "numpy")
    robot.update(robot.model.nominal)
    tick = wbc.Tick(robot)
    assert tasks.JointLimits().row_names(robot, tick) == ["arm", "cam"]
    assert tasks.JointLimits(joints=["door"]).row_names(robot, tick) == ["door"]
    with pytest.raises(wbc.WbcError, match="no joint 'doer'; did you mean 'door'"):
        tasks.JointLimits(joints=["doer"]).check(robot, {})
    with pytest.raises(wbc.WbcError, match="joints must be a list of names, not the text 'door'"):
        tasks.JointLimits(joints="door")


def test_what_is_changed_while_a_controller_runs_counts() -> None:
    """Limits are worked out once for a robot: not for ever, where a share or a margin is changed."""
    robot = wbc.load("arm", "numpy")
    robot.update(np.array(robot.model.nominal), np.zeros(7))
    tick = Tick.of(Layout(robot, ()))
    torque, joint = tasks.TorqueLimits(), tasks.JointLimits()
    before = torque.rows(robot, tick).upper.copy(), joint.rows(robot, tick).upper.copy()
    torque.scale, joint.margin, joint.speed_scale = 0.5, 1.0, 0.1
    np.testing.assert_allclose(torque.rows(robot, tick).upper, 0.5 * before[0])
    fresh = tasks.JointLimits(margin=1.0, speed_scale=0.1).rows(robot, tick).upper
    assert np.array_equal(joint.rows(robot, tick).upper, fresh) and not np.allclose(fresh, before[1])
