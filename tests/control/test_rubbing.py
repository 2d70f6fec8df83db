"""Friction is compensated where a joint is to go, before it moves."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import tasks
import wbc
from tests.closed_loops import mjcf
from wbc.control.rubbing import FORGOTTEN, Rubbing

FRICTION, OFF = 1.0, 0.08


def sticky(friction: float = FRICTION, motors: str = '<motor joint="j"/>') -> wbc.Dynamics:
    geom = '<geom size=".05" pos=".3 0 0" mass="1" contype="0" conaffinity="0"/>'
    body = f'<body><joint name="j" axis="0 0 1" armature=".01" frictionloss="{friction}"/>{geom}</body>'
    return wbc.load(mujoco.MjModel.from_xml_string(mjcf(body, f"<actuator>{motors}</actuator>")), "numpy")


def run(hertz: float, friction: bool = True, seconds: float = 1.5) -> wbc.Log:
    """A joint at rest that is to go to zero."""
    robot = sticky()
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration([0.0], gains=wbc.Gains(hertz)))
    controller = wbc.Controller(robot, stack, period=1e-3, friction=friction)
    plant = wbc.MujocoSimulator(robot)
    plant.reset([OFF], [0.0])
    return wbc.run(controller, plant, seconds, deadline=np.inf)


def test_a_joint_does_not_stick_far_from_where_it_is_to_be() -> None:
    assert run(1.5, friction=False).true_q[-1, 0] > 0.06, "its task is not strong enough for its friction"
    assert abs(run(1.5).true_q[-1, 0]) < 0.015


@pytest.mark.parametrize("hertz", [1.5, 5.0, 20.0])
def test_no_gain_makes_it_flutter(hertz: float) -> None:
    log = run(hertz)
    settled = log.time > 1.0
    assert np.abs(log.true_v[settled]).max() < 0.02
    assert np.abs(np.diff(log.torque[settled], axis=0)).max() < 0.05 * FRICTION


def test_no_more_than_the_friction_is_compensated() -> None:
    robot = sticky()
    rubbing = Rubbing(robot)
    robot.update([0.0], [0.0])
    assert not rubbing.idle and rubbing.force(robot) == [0.0]
    for _ in range(100):
        rubbing.advance(np.array([1e5]), 1e-3)
    assert -FRICTION < rubbing.force(robot)[0] < -0.95 * FRICTION
    robot.update([0.0], [5.0])
    assert rubbing.force(robot) == pytest.approx([0.0], abs=1e-6), "the bias has the friction of what moves"
    rubbing.advance(np.array([np.nan]), 1e-3)
    assert np.isfinite(rubbing.force(robot)).all()
    rubbing.advance(np.array([1.0]), 2 * FORGOTTEN)
    robot.update([0.0], [0.0])
    assert rubbing.force(robot) == [0.0], "after a pause nothing is known"


def test_what_no_motor_drives_is_left_alone() -> None:
    assert Rubbing(sticky(0.0)).idle
    robot = sticky()
    assert Rubbing(wbc.load(robot.model.simulated, "numpy", passive=["j"])).idle


def test_a_tick_that_is_asked_for_twice_is_the_same() -> None:
    robot = sticky()
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration([0.0]))
    controller = wbc.Controller(robot, stack)
    for tick in range(5):
        first = controller.step([OFF], [0.0], 1e-3 * tick).torque
        assert controller.step([OFF], [0.0], 1e-3 * tick).torque == first
    controller.reset()
    assert abs(controller.step([OFF], [0.0]).torque[0]) < abs(first[0])
