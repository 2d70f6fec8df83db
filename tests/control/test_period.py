"""Coulomb friction is compensated as far as the inertia of a joint and the period allow."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from wbc import Body, Joint, Model, WbcError

HEAVY, LIGHT = 1.0, 1e-3


def spinner(inertia: float, friction: float, backend: str = "numpy") -> wbc.Dynamics:
    """A wheel on a vertical axis, on another one that weighs a thousand times as much."""
    wheel = Body("wheel", 1.0, inertia=inertia * np.eye(3))
    stand = Body("stand", 1.0, inertia=1e3 * inertia * np.eye(3))
    up = [0.0, 0.0, 1.0]
    joints = [
        Joint("turn", "continuous", "world", "stand", axis=up),
        Joint("spin", "continuous", "stand", "wheel", axis=up, friction=friction, armature=0.0),
    ]
    return wbc.load(Model("spinner", [stand, wheel], joints), backend)


def controller(robot: wbc.Dynamics, **options) -> wbc.Controller:
    hold = tasks.JointAcceleration(gains=wbc.Gains(2.0), target=np.zeros(2))
    return wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / hold), **options)


def test_a_light_joint_with_friction_comes_to_rest_and_does_not_flutter() -> None:
    """In a plant whose friction resists as much as it can: unbounded, its compensation throws the joint to and fro."""
    pytest.importorskip("mujoco")
    robot = spinner(LIGHT, friction=1.0)
    for backend in ("numpy", "pinocchio"):
        one = controller(wbc.load(robot.model, backend))
        plant = wbc.MujocoSimulator(robot)
        plant.reset([0.0, 0.05], [0.0, 0.5])
        log = wbc.run(one, plant, 0.5)
        assert log.ended == "finished"
        assert np.abs(log.v[100:]).max() < 0.1 and np.abs(log.q[-1]).max() < 0.03, "it goes to where it is to be"
        assert np.abs(np.diff(log.v[100:], axis=0)).max() < 1e-3
    unbounded = controller(robot)
    unbounded.robot.friction_speed = 0.01
    plant.reset([0.0, 0.05], [0.0, 0.5])
    assert np.abs(wbc.run(unbounded, plant, 0.5, targets=keep_unbounded).v[100:]).max() > 0.1


def keep_unbounded(now: float, one: wbc.Controller) -> None:
    one.robot.friction_speed = 0.01  # a run sets the period, and with it the bound


@pytest.mark.parametrize("period", [1e-3, 5e-3])
def test_the_bound_follows_inertia_and_period(period: float) -> None:
    """F dt / e is at most a tenth of what the joint moves when the others give way."""
    for inertia in (HEAVY, LIGHT):
        robot = spinner(inertia, friction=0.5)
        one = controller(robot, period=period)
        moved = 1.0 / (1.0 / inertia + 1.0 / (1e3 * inertia))
        expected = max(0.01, 0.5 * period / (0.1 * moved))
        assert one.robot.friction_speed == pytest.approx([0.01, expected])
        assert robot.friction_speed == pytest.approx([0.01, 0.01]), "that of the user's robot stays"
    one.period = 1e-4
    assert one.robot.friction_speed[1] == pytest.approx(0.5 * 1e-4 / (0.1 * moved))


@pytest.mark.parametrize("backend", ["numpy", "pinocchio", "mujoco"])
def test_friction_in_h_has_the_speed_that_is_set(backend: str) -> None:
    robot = spinner(LIGHT, friction=0.5, backend=backend)
    q, v = np.zeros(2), np.array([0.3, 0.2])
    for speed, expected in ((0.01, 0.5), ([1.0, 0.4], 0.5 * np.tanh(0.5)), (np.inf, 0.0)):
        robot.update(q, v)
        robot.friction_speed = speed
        for one in (robot, robot.copy()):
            assert one.bias == pytest.approx([0.0, expected], abs=1e-12)
            assert one.passive_force == pytest.approx([0.0, -expected], abs=1e-12)
            assert one.inverse_dynamics(q, v, np.zeros(2)) == pytest.approx([0.0, expected], abs=1e-12)
    for bad in (0.0, -1.0, np.nan, [1.0], "fast"):
        with pytest.raises(WbcError, match="friction_speed"):
            robot.friction_speed = bad


def test_compensation_can_be_switched_off_and_the_evidence_stays_true() -> None:
    for friction in (True, False):
        one = controller(spinner(LIGHT, friction=0.5), friction=friction)
        first = one.step([0.1, 0.2], [1.0, 3.0])
        one.step([0.3, 0.1], [0.0, 1.0])  # the evidence of the first is computed in a copy
        assert first.certificate.equation_of_motion < 1e-12
        share = first.torque[1] - (one.robot.mass_matrix @ first.acceleration)[1]
        assert share == pytest.approx(0.5 * np.tanh(3.0 / one.robot.friction_speed[1]) if friction else 0.0, abs=1e-12)
        assert np.isinf(one.robot.friction_speed).all() == (not friction)
