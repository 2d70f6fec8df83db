"""The packaged humanoid walks and the packaged quadruped trots in simulation; long walks are for `make soak`."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wbc
from tasks.locomotion import Footstep, Gait, Walk
from tests.simulation.test_trot import heading_speeds
from wbc.simulation import make_plant


def walked(
    robot: str, command: tuple[float, float, float], duration: float, simulator: str = "mujoco", gait: str = "trot"
) -> tuple[wbc.Log, Walk | Gait]:
    """A log of a robot that goes as it is told."""
    model = wbc.load(robot)
    walk = Walk(model, command) if robot == "humanoid" else Gait(model, gait, command)
    controller = wbc.Controller(model, walk.stack())
    log = wbc.run(controller, make_plant(model, simulator), duration, targets=walk, deadline=math.inf)
    return log, walk


def check(log: wbc.Log) -> None:
    """It stands, and no tick broke a bound."""
    assert log.ended == "finished"
    assert log.cone_margin.min() > -1e-6 and log.torque_margin.min() > -1e-6


def test_a_humanoid_walks_forward() -> None:
    log, _ = walked("humanoid", (0.4, 0.0, 0.0), 3.2)
    check(log)
    assert heading_speeds(log, 2.0)[0] == pytest.approx(0.4, rel=0.25)
    assert abs(log.q[-1, 1]) < 0.06 and log.q[-1, 2] > 0.85
    alone = (log.measured[:, :, 2] < 1.0).sum(axis=0) * 1e-3  # s that each foot was in the air
    assert (alone > 0.6).all()


def test_a_humanoid_makes_the_steps_of_a_list_and_stops() -> None:
    robot = wbc.load("humanoid")
    walk = Walk(robot)
    robot.update(robot.model.nominal)
    left, right = (robot.pose(foot)[:3, 3] for foot in robot.model.feet)
    ahead = np.array([0.2, 0.0, 0.0])
    walk.footsteps = [
        Footstep("left_foot", left + ahead),
        Footstep("right_foot", right + ahead + [0.0, -0.03, 0.0]),
    ]
    controller = wbc.Controller(robot, walk.stack())
    log = wbc.run(controller, make_plant(robot, "builtin"), 3.0, targets=walk, deadline=math.inf)
    check(log)
    robot.update(log.q[-1], log.v[-1])
    for foot, goal in zip(robot.model.feet, (left + ahead, right + ahead + [0.0, -0.03, 0.0]), strict=True):
        np.testing.assert_allclose(robot.pose(foot)[:3, 3], goal, atol=0.01)
    assert np.abs(log.v[-1]).max() < 0.1 and not walk.feet_in_air


def test_a_quadruped_trots_to_the_side_and_turns() -> None:
    log, _ = walked("quadruped", (0.0, 0.2, 0.5), 2.5)
    check(log)
    np.testing.assert_allclose(heading_speeds(log, 1.0), [0.0, 0.2, 0.5], atol=0.1)
