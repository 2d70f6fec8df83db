"""Centre of mass and momentum: what is demanded against what a robot in motion is measured to do."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from tests.tasks.motions import CLOSE, STEP, Moving, residual

ROBOTS = ("quadruped", "humanoid", "arm")


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("axes", ("xyz", "zx", ("y",)))
def test_center_of_mass(name: str, axes: object) -> None:
    moving = Moving(name, 11)
    robot, picked = moving.robot, ["xyz".index(axis) for axis in axes]
    target, velocity, acceleration = moving.rng.normal(size=(3, 3))
    start = robot.com.copy()
    rate, second = moving.rates(lambda: robot.com - start)
    gains = wbc.Gains(kp=np.linspace(20, 40, len(picked)), kd=3.0)
    asked = acceleration[picked] + 3.0 * (velocity - rate)[picked] + gains.kp * (target - start)[picked]
    constant = tasks.CenterOfMass(target, gains, axes=axes, velocity=velocity, acceleration=acceleration)
    path = tasks.CenterOfMass(lambda t: (target, velocity, acceleration), gains, axes=axes)
    for task in (constant, path):
        assert np.allclose(residual(task, moving), second[picked] - asked, **CLOSE)
    assert "centre of mass to its target" in repr(constant) and "follows a path" in repr(path)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("axes", ("linear", "angular", ("rz", "x"), ("x", "y", "z", "rx", "ry", "rz")))
def test_momentum(name: str, axes: object) -> None:
    moving = Moving(name, 12)
    robot = moving.robot
    every = ("x", "y", "z", "rx", "ry", "rz")
    picked = [every.index(axis) for axis in {"linear": every[:3], "angular": every[3:]}.get(str(axes), axes)]
    target, rate = moving.rng.normal(size=(2, 6))
    now, ends = robot.momentum.copy(), []
    for step in (STEP, STEP / 2):
        moving.at(step)
        ahead = robot.momentum.copy()
        moving.at(-step)
        ends.append((ahead - robot.momentum) / (2 * step))
    moving.at(0.0)
    derivative = (4 * ends[1] - ends[0]) / 3
    task = tasks.CentroidalMomentum(target, 4.0, axes=axes, rate=rate)
    expected = (derivative - rate - 4.0 * (target - now))[picked]
    assert np.allclose(residual(task, moving), expected, atol=2e-5 * robot.mass, rtol=1e-6)
    task.target = lambda t: (np.zeros(6), rate, np.zeros(6))
    expected = (derivative - rate + 4.0 * now)[picked]
    assert np.allclose(residual(task, moving), expected, atol=2e-5 * robot.mass, rtol=1e-6)


def test_the_momentum_by_finite_differences_of_every_body_is_what_the_task_controls() -> None:
    """Linear momentum is mass times the rate of the centre of mass: another road to the same rows."""
    moving = Moving("humanoid", 13)
    start = moving.robot.com.copy()
    rate, second = moving.rates(lambda: moving.robot.com - start)
    task = tasks.CentroidalMomentum(gain=2.0, axes="linear")
    expected = moving.robot.mass * (second + 2.0 * rate)
    assert np.allclose(residual(task, moving), expected, atol=1e-3, rtol=1e-5)


def test_held_and_copied() -> None:
    moving = Moving("quadruped", 14)
    target = np.array([0.1, 0.2, 0.3])
    task, held = tasks.CenterOfMass(target), tasks.CenterOfMass()
    before, still = residual(task, moving), residual(held, moving)
    target[:] = 9.0
    assert np.array_equal(residual(task, moving), before)
    place = moving.robot.com.copy()
    moving.q[:3] += 1.0
    moving.at(0.0)
    assert np.allclose(residual(held, moving) - still, held.gains.kp * (moving.robot.com - place))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tasks.CenterOfMass(axes="xw"), "no axis 'w'"),
        (lambda: tasks.CenterOfMass(np.ones(2)), r"target .*\(3,\)"),
        (lambda: tasks.CenterOfMass(gains=wbc.Gains(kp=[1, 2])), "kp has 2"),
        (lambda: tasks.CentroidalMomentum(gain=-1), "gain"),
        (lambda: tasks.CentroidalMomentum(gain=[1, 2]), "gain"),
        (lambda: tasks.CentroidalMomentum(axes="angluar"), "axis"),
        (lambda: tasks.CentroidalMomentum(np.ones(3)), r"target .*\(6,\)"),
    ],
)
def test_mistakes_are_named(make: object, words: str) -> None:
    with pytest.raises(wbc.WbcError, match=words):
        make()
