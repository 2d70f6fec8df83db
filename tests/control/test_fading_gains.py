"""Gains that are led from one value to another while a controller runs."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from wbc.tasking.feedback import feedback


def standing() -> tuple[wbc.Dynamics, wbc.Stack]:
    robot = wbc.load("quadruped", "numpy")
    contacts = [wbc.PointContact(foot) for foot in robot.model.feet]
    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / (tasks.TorqueLimits() + tasks.FrictionCones())
        / tasks.ContactMotion()
        / tasks.EndEffectorAcceleration("base", gains=wbc.Gains(2.0))
        / (
            tasks.CentroidalMomentum(gain=5.0, name="spin")
            + tasks.CartesianImpedance("LF_foot", 100.0, 10.0, name="soft")
        ),
        contacts=contacts,
    )
    return robot, stack


def test_gains_go_straight_to_where_they_lead() -> None:
    robot, stack = standing()
    controller = wbc.Controller(robot, stack)
    began, end = stack["base"].gains, wbc.Gains(4.0, 0.7)
    stack.fade_gains("base", end, duration=0.1)
    stack.fade_gains("spin", 1.0, duration=0.1)
    stack.fade_gains("soft", wbc.Gains(kp=[0.0, 1, 2, 3, 4, 5], kd=20.0), duration=0.1)
    q, v = robot.model.nominal, np.zeros(robot.nv)
    torques = []
    for t in (0.0, 0.05, 0.1):
        torques.append(controller.step(q, v, t).torque)
        share = t / 0.1
        gains = stack["base"].gains
        assert gains.kp == pytest.approx(began.kp + share * (end.kp - began.kp))
        assert gains.kd == pytest.approx(began.kd + share * (end.kd - began.kd))
        assert stack["spin"].gain == pytest.approx(5.0 - 4.0 * share)
        wanted = 100.0 * (1 - share) + share * np.arange(6.0)
        np.testing.assert_allclose(np.diag(stack["soft"].stiffness), wanted)
    assert stack["base"].gains is end
    assert not stack.schedule.moving


def test_gains_change_what_is_commanded() -> None:
    robot, stack = standing()
    controller = wbc.Controller(robot, stack)
    q, v = robot.model.nominal, np.zeros(robot.nv)
    v[2] = -0.1
    before = [controller.step(q, v, 1e-3 * tick).acceleration[2] for tick in range(8)][-1]  # multipliers have settled
    stack.fade_gains("base", wbc.Gains(4.0), duration=0.0)
    after = [controller.step(q, v, 1e-3 * tick).acceleration[2] for tick in range(8, 16)]
    assert after[0] == pytest.approx(2.0 * before, rel=1e-2), "a demand that jumps is met to 1 / 300 at first"
    assert after[-1] == pytest.approx(2.0 * before, rel=1e-6)


def test_a_fade_that_is_asked_for_again_goes_on() -> None:
    robot, stack = standing()
    controller = wbc.Controller(robot, stack)
    for tick in range(101):
        stack.fade_gains("base", wbc.Gains(4.0), duration=0.1)
        controller.step(robot.model.nominal, np.zeros(robot.nv), tick * 1e-3)
    assert stack["base"].gains.kp == pytest.approx(wbc.Gains(4.0).kp)


def test_what_is_held_by_hand_stays() -> None:
    _, stack = standing()
    stack.schedule.hold("base", "gains")
    stack.schedule.hold("base", "presence")
    stack.fade_gains("base", wbc.Gains(9.0), duration=0.0)
    stack.switch_off("base")
    assert not stack.schedule.moving
    stack.schedule.change("base", "presence", 0.0, 0.0, by_hand=True)
    stack.schedule.finish()
    assert stack.presence("base") == 0.0


@pytest.mark.parametrize(
    ("task", "gains", "words"),
    [
        ("torque limits", wbc.Gains(1.0), "has no gains"),
        ("base", 3.0, "must be wbc.Gains"),
        ("base", wbc.Gains([1.0, 2.0]), "has 2 values; it needs one, or 6"),
        ("contact motion", wbc.Gains([1.0] * 12), "has 12 values; it needs one$"),
        ("spin", [1.0, 2.0], "has 2 values"),
        ("spin", -1.0, "zero or more"),
        ("soft", wbc.Gains(kp=[1.0, 2.0]), "has 2 values; it needs one, or 6"),
        ("bass", wbc.Gains(1.0), "did you mean 'base'"),
    ],
)
def test_gains_that_do_not_fit_are_named(task: str, gains: object, words: str) -> None:
    _, stack = standing()
    with pytest.raises(wbc.WbcError, match=words):
        stack.fade_gains(task, gains)
    assert not stack.schedule.moving


def test_every_task_with_gains_tells_them() -> None:
    _, stack = standing()
    found = {name: feedback(stack[name]) for name in stack.names}
    assert {name for name, gains in found.items() if gains is not None} == {"contact motion", "base", "spin", "soft"}
