"""Noise of sensors is told from what a model errs."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import tasks
import wbc
from wbc.control.innovation import Innovation

TICKS = 150


def followed(innovations: np.ndarray) -> list[float]:
    """The likeness after each."""
    ours, found = Innovation(), []
    for innovation in innovations:
        ours = ours.followed(innovation, 1e-3)
        found.append(ours.likeness)
    return found


@pytest.mark.parametrize("nv", [7, 18, 31])
def test_noise_is_followed_by_its_opposite(nv: int) -> None:
    noise = np.random.default_rng(nv).normal(size=(TICKS, nv))
    found = followed(np.diff(noise, axis=0))
    assert max(found[20:]) < 0.0 and np.mean(found[60:]) == pytest.approx(-0.5, abs=0.1)


@pytest.mark.parametrize("nv", [7, 18, 31])
def test_what_a_model_errs_is_followed_by_more_of_it(nv: int) -> None:
    errors = np.cumsum(np.random.default_rng(nv).normal(size=(TICKS, nv)), axis=0)
    assert min(followed(errors)[30:]) > 0.5


def test_what_is_small_beside_the_command_is_no_noise() -> None:
    """An arm that chatters in a simulator without noise: what is left of its innovations looks like noise."""
    noise, loud, quiet = np.random.default_rng(0).normal(size=(TICKS, 7)), Innovation(), Innovation()
    for innovation in np.diff(noise, axis=0):
        size = float(np.linalg.norm(innovation))
        loud, quiet = loud.followed(innovation, 1e-3, 2.0 * size), quiet.followed(innovation, 1e-3, 40.0 * size)
    assert loud.likeness < -0.3 and quiet.likeness > 0.9


def test_nothing_is_known_of_no_innovation_and_of_zeros() -> None:
    assert followed(np.ones((1, 7))) == [0.0] and followed(np.zeros((5, 7)))[-1] == 0.0


def test_a_controller_knows_what_v_is_beyond_what_it_expected() -> None:
    robot = wbc.load("arm", "numpy")
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.TorqueLimits() / tasks.JointAcceleration())
    ours = wbc.Controller(robot, stack)
    q, v, beyond = np.array(robot.model.nominal), np.full(7, 0.1), np.linspace(-1.0, 1.0, 7)
    assert ours._ticker.innovation() is None
    first = ours.step(q, v, 0.0)
    expected = v + 2e-3 * first.acceleration
    for _ in range(2):  # a tick once more is compared with the same one before
        ours.step(q, expected + beyond, 2e-3)
        assert ours._ticker.innovation() == pytest.approx(beyond)
    assert copy.deepcopy(ours)._ticker.innovation() == pytest.approx(beyond)
    ours.reset()
    assert ours._ticker.innovation() is None
