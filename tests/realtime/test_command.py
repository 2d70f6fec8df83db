"""What motors are told."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from tests.realtime.support import reaching
from wbc.realtime import Command


@pytest.mark.parametrize("name", ["arm", "quadruped"])
def test_a_joint_that_does_as_expected_gets_the_torque_of_the_solution(name) -> None:
    robot = wbc.load(name)
    rng = np.random.default_rng(1)
    controller = wbc.Controller(robot, tasks.stacks.standing(robot) if name == "quadruped" else reaching().stack)
    q, v = robot.model.nominal, 0.1 * rng.normal(size=robot.nv)
    solution = controller.step(q, v, 0.0)
    command = solution.command(kp=50.0, kd=2.0)
    after = robot.integrate(q, v + 0.5e-3 * solution.acceleration, 1e-3)
    first = 7 if robot.model.floating else 0
    there, speed = after[first:], (v + 1e-3 * solution.acceleration)[robot.actuated]
    assert command.effort(there, speed) == pytest.approx(solution.torque, abs=1e-10)
    assert np.abs(command.effort(there + 0.01, speed) - solution.torque + 0.5).max() < 1e-10
    later = solution.command(kp=1.0, ahead=0.02)
    assert later.velocity == pytest.approx(v[robot.actuated] + 0.02 * solution.acceleration[robot.actuated], abs=1e-12)


def test_a_failed_tick_brakes_towards_where_the_joints_are() -> None:
    controller = reaching()
    q = controller.robot.model.nominal
    solution = controller.step(q, np.full(7, 0.1), 0.0)
    solution.status = "failed"
    command = solution.command(kp=10.0, kd=1.0)
    assert (command.position == q).all() and not command.velocity.any()


def test_a_blend_has_a_share_of_both_efforts_in_every_state() -> None:
    rng = np.random.default_rng(2)
    one, two = (Command(*rng.uniform(0.1, 2.0, (5, 4))) for _ in range(2))
    no_gains = Command(rng.normal(size=4), rng.normal(size=4), rng.normal(size=4), np.zeros(4), np.zeros(4))
    for other in (two, no_gains):
        for share in (0.0, 0.3, 1.0):
            q, v = rng.normal(size=(2, 4))
            wanted = (1 - share) * one.effort(q, v) + share * other.effort(q, v)
            assert one.blended(other, share).effort(q, v) == pytest.approx(wanted, abs=1e-12)


def test_what_can_not_be_commanded_is_named() -> None:
    controller = reaching()
    solution = controller.step(controller.robot.model.nominal, np.zeros(7), 0.0)
    with pytest.raises(wbc.WbcError, match=r"kp = \[1.0, 2.0\] must be a number, 0 or more, or 7 of them"):
        solution.command(kp=[1.0, 2.0])
    with pytest.raises(wbc.WbcError, match="kd = -1 must be"):
        solution.command(kd=-1)
    with pytest.raises(wbc.WbcError, match="looks ahead, s, = -1"):
        solution.command(ahead=-1)
