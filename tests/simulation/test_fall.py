"""A fall is judged from the height in which a robot stands, not from where its base frame happens to be."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from wbc import Body, Joint, Model, Shape
from wbc.simulation import Simulator, run
from wbc.simulation.fall import Fall


def pose(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def cart(base: float) -> wbc.Dynamics:
    """A box with a mast on it; the base frame is `base` above the middle of the box."""
    box = Shape("base", "box", (0.4, 0.4, 0.1), pose(z=-base), collides=True)
    mast = Shape("base", "cylinder", (0.05, 1.0), pose(z=0.55 - base), collides=True)
    body = Body("base", 10.0, [0.0, 0.0, 0.2 - base], np.eye(3))
    return wbc.load(
        Model("cart", [body], [Joint("root", "floating", "world", "base", actuated=False)], shapes=[box, mast])
    )


@pytest.mark.parametrize(("base", "height"), [(0.0, 0.55), (-0.05, 0.55), (0.45, 0.55), (0.95, 1.0)])
def test_a_standing_height_makes_sense_wherever_the_base_frame_is(base: float, height: float) -> None:
    robot = cart(base)
    q = robot.neutral()
    q[2] = base + 0.05
    fall = Fall(robot, q)
    assert fall.height == pytest.approx(height)
    for moved, fallen in ((0.0, False), (-0.59 * height, False), (-0.61 * height, True), (1.0, False)):
        q[2] = base + 0.05 + moved
        assert fall.has_fallen(q) == fallen
    for angle, fallen in ((55.0, False), (65.0, True)):
        q[2:7] = base + 0.05, np.cos(np.radians(angle / 2)), np.sin(np.radians(angle / 2)), 0.0, 0.0
        assert fall.has_fallen(q) == fallen


def test_a_robot_below_the_level_of_zero_stands_there() -> None:
    robot = wbc.load("quadruped")
    q = robot.model.nominal.copy()
    height = Fall(robot, q).height
    assert height == pytest.approx(q[2], rel=0.05)
    q[2] -= 2.0
    fall = Fall(robot, q)
    assert fall.height == pytest.approx(height, rel=0.1) and not fall.has_fallen(q)
    q[2] -= 0.65 * height
    assert fall.has_fallen(q)


@pytest.mark.filterwarnings("ignore:no task bounds the forces", "ignore:'cart' has a floating base")
def test_a_robot_whose_base_begins_at_zero_does_not_fall_at_once() -> None:
    robot = cart(-0.05)
    robot.add_frame("bottom", "base", (0.0, 0.0, 0.0))
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration())
    plant = Simulator(robot, contacts=[("bottom", np.array([[x, y, 0.0] for x in (-0.2, 0.2) for y in (-0.2, 0.2)]))])
    log = run(wbc.Controller(robot, stack), plant, 0.05)
    assert log.ended == "finished" and abs(log.q[-1, 2]) < 1e-3


def test_a_fixed_base_never_falls() -> None:
    robot = wbc.load("arm")
    assert not Fall(robot, robot.neutral()).has_fallen(robot.neutral())
