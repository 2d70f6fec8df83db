"""When a trot lifts which feet, without a simulation."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc


@pytest.mark.parametrize("settle", [0.3, 0.0])
def test_pairs_of_feet_swing_in_turn_after_the_robot_has_settled(settle: float) -> None:
    robot = wbc.load("quadruped", "numpy")
    trot = tasks.Trot(robot, swing=0.2, overlap=0.05, settle=settle)
    limits = tasks.FrictionCones() + tasks.ContactMotion()
    feet = [wbc.PointContact(foot) for foot in robot.model.feet]
    swings = sum(trot.swings[1:], start=trot.swings[0])
    stack = wbc.Stack(tasks.EquationOfMotion() / limits / swings / trot.base / tasks.JointAcceleration(), feet)
    controller = wbc.Controller(robot, stack)
    controller.robot.update(robot.model.nominal)
    pairs = ("LF_foot", "RH_foot"), ("RF_foot", "LH_foot")
    for begin in (0.0, 7.0):  # a run that begins later, after a reset
        trot.reset()
        for tick in range(120):
            elapsed = 1e-2 * tick + 2e-3
            trot.update(begin + elapsed - 2e-3 if tick == 0 else begin + elapsed, controller)
            since = elapsed - settle
            step, into = int(np.floor(since / 0.25)), since % 0.25
            swinging = tick > 0 and since >= 0.0 and into >= 0.05
            assert set(trot.contacts_in_air) == set(pairs[step % 2] if swinging else ()), elapsed
