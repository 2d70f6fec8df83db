"""Tasks on joints and on torques."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from tests.tasks.motions import CLOSE, Moving, residual

SOME = {
    "quadruped": ("RF_KFE", "LH_HAA"),
    "humanoid": ("left_knee", "right_hip_yaw", "left_hip_roll"),
    "arm": ("joint_7", "joint_2"),
}


def where(robot, names):
    """Indices of joints in v and q, from the model."""
    model = robot.model
    return [model.v_index[name] for name in names], [model.q_index[name] for name in names]


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("subset", (False, True))
def test_joint_acceleration(name: str, subset: bool) -> None:
    moving = Moving(name, 21)
    robot = moving.robot
    names = SOME[name] if subset else [joint.name for joint in robot.model.joints.values() if joint.actuated]
    _, at_q = where(robot, names)
    target, velocity, acceleration = moving.rng.normal(size=(3, len(names)))
    start = robot.q[at_q].copy()
    rate, second = moving.rates(lambda: robot.q[at_q] - start)
    gains = wbc.Gains(kp=np.linspace(10, 50, len(names)), kd=6.0)
    asked = acceleration + 6.0 * (velocity - rate) + gains.kp * (target - start)
    joints = names if subset else None
    constant = tasks.JointAcceleration(target, joints, gains, velocity=velocity, acceleration=acceleration)
    path = tasks.JointAcceleration(lambda t: (target, velocity, acceleration), joints, gains)
    for task in (constant, path):
        assert np.allclose(residual(task, moving), second - asked, **CLOSE)
        assert task.row_names(robot, wbc.Tick(robot)) == list(names)
    assert (names[0] if subset else "all joints") in repr(constant)
    target[:] = velocity[:] = acceleration[:] = 0.0
    assert np.allclose(residual(constant, moving), second - asked, **CLOSE)


def test_feed_forward_is_copied_when_the_task_is_made() -> None:
    moving = Moving("arm", 22)
    velocity = np.ones(7)
    task, other = (tasks.JointAcceleration(np.zeros(7), velocity=velocity) for _ in range(2))
    before = residual(task, moving)
    velocity[:] = 5.0  # `other` has not seen a robot yet
    assert np.array_equal(residual(other, moving), before)


@pytest.mark.parametrize("name", SOME)
def test_joint_impedance(name: str) -> None:
    """ETH (3.73)-(3.75): τ = kp (q* - q) + kd (q̇* - q̇) + g."""
    moving = Moving(name, 23)
    robot, names = moving.robot, SOME[name]
    at_v, at_q = where(robot, names)
    target, velocity = moving.rng.normal(size=(2, len(names)))
    for gravity in (True, False):
        task = tasks.JointImpedance(target, names, wbc.Gains(kp=40.0, kd=3.0), velocity=velocity, gravity=gravity)
        tick = wbc.Tick(robot)
        A, b = task.matrices(robot, tick)
        robot.update(moving.q, np.zeros(robot.nv))
        still = robot.inverse_dynamics(moving.q, np.zeros(robot.nv), np.zeros(robot.nv))[at_v]
        moving.at(0.0)
        expected = 40.0 * (target - moving.q[at_q]) + 3.0 * (velocity - moving.v[at_v]) + (still if gravity else 0.0)
        tau = moving.rng.normal(size=robot.na)
        x = np.r_[np.zeros(robot.nv), tau]
        order = list(robot.actuated)
        assert np.allclose(A @ x - b, tau[[order.index(v) for v in at_v]] - expected, atol=1e-9)


def test_a_posture_is_held_from_the_first_tick_on() -> None:
    moving = Moving("quadruped", 24)
    task = tasks.JointAcceleration()
    first = residual(task, moving)
    place = moving.robot.q.copy()
    moving.q[7:] += 0.25
    moving.at(0.0)
    assert np.allclose(residual(task, moving) - first, 0.25 * task.gains.kp)
    task.reset()
    assert np.allclose(residual(task, moving), first)
    task.target = place[7:]
    assert np.allclose(residual(task, moving) - first, 0.25 * task.gains.kp)


def test_three_joints_may_have_a_target_of_three_numbers() -> None:
    """A tuple of three numbers is a posture; of three arrays it is a posture, its velocity and its acceleration."""
    robot = wbc.load("planar_arm", "numpy")
    robot.update(robot.neutral())
    task = tasks.JointAcceleration(lambda t: (0.1, 0.2, 0.3), gains=wbc.Gains(kp=1.0))
    assert np.allclose(task.matrices(robot, wbc.Tick(robot))[1], [0.1, 0.2, 0.3])
    task.target = lambda t: ((0.1, 0.2, 0.3), (0, 0, 0), (1, 1, 1))
    assert np.allclose(task.matrices(robot, wbc.Tick(robot))[1], [1.1, 1.2, 1.3])
    task.target = lambda t: (np.zeros(3), np.zeros(3))
    with pytest.raises(wbc.WbcError, match="value, velocity and acceleration"):
        task.matrices(robot, wbc.Tick(robot))
    task.target = lambda t: np.full(3, np.nan)
    with pytest.raises(wbc.WbcError, match="posture: target at t = 0 must be finite"):
        task.matrices(robot, wbc.Tick(robot))


def test_minimizations() -> None:
    moving = Moving("quadruped", 25)
    robot = moving.robot
    contacts = (wbc.PointContact("LF_foot"), wbc.PointContact("RH_foot"))
    tick = wbc.Tick(robot, contacts)
    x = moving.rng.normal(size=tick.n)
    for task, expected in (
        (tasks.TorqueMinimization(), x[-12:]),
        (tasks.ForceMinimization(), x[18:24]),
        (tasks.AccelerationMinimization(), x[:18]),
        (tasks.AccelerationMinimization(damping=2.0), x[:18] + 2.0 * robot.v),
    ):
        A, b = task.matrices(robot, tick)
        assert np.allclose(A @ x - b, expected)
        assert len(task.row_names(robot, tick)) == len(b)
        assert "least" in repr(task)


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (lambda: tasks.JointAcceleration(joints=["LF_HAAA"]), "posture: no joint .* did you mean 'LF_HAA'"),
        (lambda: tasks.JointAcceleration(joints="LF_HAA"), "list of names"),
        (lambda: tasks.JointAcceleration(joints=["root_joint"]), "several coordinates"),
        (lambda: tasks.JointAcceleration(np.ones(3)), r"target .*\(12,\)"),
        (lambda: tasks.JointAcceleration(gains=wbc.Gains(kp=np.ones(3))), "kp has 3"),
        (lambda: tasks.JointAcceleration(velocity=np.ones(3)), r"velocity .*\(12,\)"),
        (lambda: tasks.AccelerationMinimization(damping=-1.0), "damping"),
    ],
)
def test_mistakes_are_named_when_the_controller_is_made(task: object, words: str) -> None:
    with pytest.raises(wbc.WbcError, match=words):
        wbc.Controller(wbc.load("quadruped", "numpy"), wbc.Stack(tasks.EquationOfMotion() / task()))
