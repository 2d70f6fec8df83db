"""What every task has: a name, a weight, a tolerance."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import tasks
import wbc

CLASSES = [getattr(tasks, name) for name in tasks.__all__ if issubclass(getattr(tasks, name), wbc.Task)]


class Mine(wbc.Task):
    """Holds what it holds.

    More of it.
    """

    def rows(self, robot: wbc.Dynamics, tick: wbc.Tick) -> wbc.Rows:
        return wbc.Rows.between([-1.0, 2.0], [1.0, 2.0], acceleration=np.array([0, 1]))


def test_a_task_weighs_one_where_nothing_is_said() -> None:
    assert Mine().weight == 1.0
    for kind in CLASSES:
        weight = inspect.signature(kind).parameters.get("weight")
        assert weight is None or weight.default == 1.0, kind


@pytest.mark.parametrize(
    ("kind", "usual"),
    [
        (tasks.EndEffectorVelocity, {"gain": 5.0}),
        (tasks.CenterOfMassVelocity, {"gain": 5.0}),
        (tasks.JointVelocity, {"gain": 1.0}),
        (tasks.ContactVelocity, {"gain": 10.0}),
        (tasks.CentroidalMomentum, {"gain": 5.0}),
        (tasks.FrictionCones, {"sides": 4, "slow": 0.01}),
        (tasks.VelocityLimits, {"margin": 0.0, "speed_scale": 1.0, "share": 0.5, "acceleration": None}),
        (tasks.TorqueLimits, {"scale": 1.0, "rate": None}),
    ],
)
def test_what_a_task_takes_where_nothing_is_said(kind: type, usual: dict) -> None:
    """Users tune by these: a change of one belongs in the changelog."""
    taken = inspect.signature(kind).parameters
    assert {name: taken[name].default for name in usual} == usual


def test_a_weight_is_a_finite_number_that_is_not_negative() -> None:
    task = Mine(weight=2)
    assert type(task.weight) is float
    task.weight = 0
    assert task.weight == 0.0
    for bad in (-1.0, np.inf, np.nan, "1", None, [1.0]):
        with pytest.raises(wbc.WbcError, match=r"Mine: weight = .* must be a number, zero or more"):
            task.weight = bad
        with pytest.raises(wbc.WbcError, match="Mine: weight"):
            Mine(weight=bad)


def test_a_tolerance_is_not_negative_and_is_a_copy() -> None:
    given = np.array([0.1, 0.2])
    task = Mine(tolerance=given)
    given[:] = 9.0
    assert np.array_equal(task.tolerance, [0.1, 0.2]) and task.bounds_only and not Mine().bounds_only
    for bad in (-0.1, [0.1, -0.1], np.nan):
        with pytest.raises(wbc.WbcError, match="Mine: tolerance = .* must be zero or more"):
            Mine(tolerance=bad)
    assert Mine(tolerance=0.0).tolerance == 0.0


def test_it_is_called_as_it_is_told_and_says_what_it_is_for() -> None:
    robot = wbc.load("arm", "numpy")
    robot.update(robot.model.nominal)
    assert (Mine().name, Mine("it").name, Mine().purpose) == ("Mine", "it", "holds what it holds")
    assert Mine("it").row_names(robot, wbc.Tick(robot)) == ["row 0", "row 1"]
    assert Mine().error(robot, wbc.Tick(robot)) is None
    assert repr(Mine("it")) == "<Mine 'it': holds what it holds>"


def test_rows_of_both_sorts_are_bounds() -> None:
    robot = wbc.load("arm", "numpy")
    A, lower, upper = Mine(tolerance=0.5).matrices(robot, wbc.Tick(robot))
    assert np.array_equal(A[:, :2], np.eye(2))
    assert np.array_equal(lower, [-1.5, 1.5]) and np.array_equal(upper, [1.5, 2.5])
