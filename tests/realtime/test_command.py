"""What motors are told."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import tasks
import wbc
from tests.realtime.support import reaching
from wbc.control.command import gains_of, motor_positions
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


def test_where_a_blend_has_no_gains_it_is_where_the_other_one_is() -> None:
    here, there = (
        Command(np.full(2, x), np.full(2, 10.0 * x), np.full(2, x), np.zeros(2), np.zeros(2)) for x in (1.0, 3.0)
    )
    half = here.blended(there, 0.5)
    assert half.position.tolist() == [3.0, 3.0] and half.velocity.tolist() == [30.0, 30.0] and half.torque[0] == 2.0
    firm = Command(np.zeros(2), np.zeros(2), np.zeros(2), np.array([4.0, 0.0]), np.array([0.0, 4.0]))
    mixed = here.blended(firm, 0.25)
    assert mixed.position.tolist() == [0.0, 0.0] == mixed.velocity.tolist() and mixed.kp.tolist() == [1.0, 0.0]
    assert firm.blended(here, 0.25).position.tolist() == [0.0, 1.0]
    assert firm.blended(here, 0.25).velocity.tolist() == [10.0, 0.0]


def test_gains_are_numbers_from_zero_up() -> None:
    assert gains_of(0.0, 2, "kp").tolist() == [0.0, 0.0] and gains_of([0.0, 3.0], 2, "kp").tolist() == [0.0, 3.0]
    for bad in (np.nan, [1.0, np.inf], -1e-9, [1.0, -1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]]):
        with pytest.raises(wbc.WbcError, match="kp = .* must be a number, 0 or more, or 2 of them, one for each motor"):
            gains_of(bad, 2, "kp")


def test_commands_that_hold_brake_or_do_nothing() -> None:
    one, kp, kd = np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([0.5, 0.25])
    hold = Command.hold(one, kp, kd)
    assert hold.effort(one + 1.0, np.array([2.0, 4.0])).tolist() == [-4.0, -5.0]
    assert Command.hold(one, kp, kd, torque=one).effort(one, np.zeros(2)).tolist() == [1.0, 2.0]
    assert Command.damp(kd).effort(one, np.array([2.0, -4.0])).tolist() == [-1.0, 1.0]
    assert not Command.off(3).effort(np.ones(3), np.ones(3)).any() and Command.off(3).finite
    assert not Command.damp(np.array([np.nan])).finite


def test_an_axis_of_a_ball_joint_has_no_position_to_hold(monkeypatch) -> None:
    monkeypatch.setattr("wbc.control.command.actuator_names", lambda model: ["one", "two", "three"])
    model = SimpleNamespace(actuators=[], actuated=np.array([0, 2, 3]), name="mine")
    space = SimpleNamespace(position_of_velocity=np.array([5, -1, 6, 7, -1]))
    assert motor_positions(model, space).tolist() == [5, 6, 7]
    model.actuated = np.array([0, 1, 4])
    with pytest.raises(wbc.WbcError, match="two of 'mine' is an axis of a ball joint: it has no position to hold"):
        motor_positions(model, space)
    model.actuators = [SimpleNamespace(name="tendon")]
    with pytest.raises(wbc.WbcError, match="actuator 'tendon' of 'mine' is not the motor of a joint"):
        motor_positions(model, space)
