"""Gains that can't be stable at their period are warned of, and no others."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

import tasks
import wbc
from wbc.control.discrete import _unstable
from wbc.kinematics import DifferentialKinematics


def grows(kp: float, kd: float, period: float) -> bool:
    """Whether an error that is led back so grows from tick to tick."""
    hold, ask = np.array([[1.0, period], [0.0, 1.0]]), np.array([period**2 / 2, period])
    return bool(np.abs(np.linalg.eigvals(hold - np.outer(ask, [kp, kd]))).max() >= 1.0)


def test_a_warning_comes_just_where_the_eigenvalues_leave_the_circle():
    rng = np.random.default_rng(0)
    told = []
    for _ in range(2000):
        period, damping, stiffness = 10.0 ** rng.uniform(-4, -1), 10.0 ** rng.uniform(-1, 1), 10.0 ** rng.uniform(-2, 1)
        kd, kp = damping / period, stiffness / period**2
        reason = _unstable(wbc.Gains(kp=kp, kd=kd), None, period)
        assert bool(reason) == grows(kp, kd, period), (kp * period**2, kd * period, reason)
        told.append(bool(reason))
    assert 0.2 < np.mean(told) < 0.9


def test_a_controller_names_the_task_and_what_would_do():
    robot = wbc.load("planar_arm")
    posture = tasks.JointAcceleration(gains=wbc.Gains(170.0))
    controller = wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / posture), period=1e-3)
    with pytest.warns(wbc.WbcWarning, match=r"posture.* at a period of 0.001 s: kd = 2136 1/s .* below 159 Hz"):
        controller.step(robot.model.nominal, np.zeros(3))
    controller.step(robot.model.nominal, np.zeros(3))  # once


def test_damping_that_is_too_little_is_told():
    robot = wbc.load("planar_arm")
    posture = tasks.JointAcceleration(gains=wbc.Gains(kp=1e4, kd=[30.0, 1.0, 30.0]))
    controller = wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / posture), period=1e-3)
    with pytest.warns(wbc.WbcWarning, match=r"kp = 1e\+04 1/s² .* kp · period / 2 = 5 1/s"):
        controller.step(robot.model.nominal, np.zeros(3))


def test_impedances_are_no_accelerations():
    robot = wbc.load("planar_arm")
    posture = tasks.JointImpedance(gains=wbc.Gains(kp=1e4, kd=2e3))
    controller = wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / posture), period=1e-3)
    controller.step(robot.model.nominal, np.zeros(3))


def test_a_velocity_gain_of_an_arm():
    robot = wbc.load("planar_arm")
    stack = wbc.Stack([[tasks.JointVelocity(np.zeros(3), gain=399.0)]])
    kinematics = DifferentialKinematics(robot, stack, period=5.2e-3)
    with pytest.warns(wbc.WbcWarning, match=r"a gain of 399 1/s must be below 2 / period = 384.6"):
        kinematics.step(robot.model.nominal)


@pytest.mark.parametrize(("share", "hardly"), [(1.74, False), (1.76, True), (1.995, True)])
def test_a_velocity_gain_that_loses_poses_is_warned_of(share, hardly):
    robot, period = wbc.load("arm"), 5e-3
    q = np.array(robot.model.nominal)
    robot.update(q)
    target = robot.pose("tool")[:3, 3] + [0.1, 0.05, -0.1]
    task = tasks.EndEffectorVelocity("tool", target, axes="position", gain=share / period)
    kinematics = DifferentialKinematics(robot, wbc.Stack([[task]]), period=period)
    told = rf"'tool' has a gain that is hardly stable .* overshoots by {share - 1:.0%} .* below 1 / period = 200"
    with pytest.warns(wbc.WbcWarning, match=told) if hardly else nullcontext():
        solution = kinematics.step(q, t=0.0)
    for tick in range(1, 300):
        q = robot.integrate(q, solution.velocity, period)
        solution = kinematics.step(q, t=period * tick)
    lost = np.linalg.norm(kinematics.errors()["tool"]) > 0.1
    assert lost == (share > 1.99), "what it is warned of"


def test_of_several_axes_the_stiffest_that_lacks_damping_is_told():
    reason = _unstable(wbc.Gains(kp=[0.9, 0.2, 0.3], kd=[1.0, 1e-4, 1e-4]), None, 0.01)
    assert reason == "kp = 0.3 1/s² has too little damping: kd must be above kp · period / 2 = 0.0015 1/s"
