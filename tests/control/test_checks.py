"""What a controller is given is looked at once, and what is wrong is named."""

from __future__ import annotations

import decimal
import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import tasks
import wbc
from wbc.control.checks import check_actuators, check_tasks, finite_time, usable_solver, warn_of_ignored_inequalities
from wbc.solvers import HierarchicalQP, NullSpace, Solver


def test_a_time_is_a_finite_number() -> None:
    for given, time in ((3, 3.0), (0.25, 0.25), (np.float32(0.5), 0.5), (np.int64(-2), -2.0), (True, 1.0)):
        found = finite_time(given)
        assert type(found) is float and found == time
    for bad in (math.nan, math.inf, -math.inf, np.float64("nan"), "1", None, [1.0], np.zeros(1), 1j, 10**400):
        with pytest.raises(wbc.WbcError, match="must be a finite time in s"):
            finite_time(bad)
    with pytest.raises(wbc.WbcError, match="must be a finite time in s"):
        finite_time(decimal.Decimal(1))


def test_a_solver_is_a_name_or_an_object() -> None:
    mine = HierarchicalQP()
    assert usable_solver(mine) is mine and type(usable_solver("nullspace")) is NullSpace
    with pytest.raises(wbc.WbcError, match="no solver 'nulspace'; did you mean 'nullspace'"):
        usable_solver("nulspace")
    with pytest.raises(
        wbc.WbcError, match=r"neither a solver's name nor a wbc.solvers.Solver; make one: NullSpace\(\)"
    ):
        usable_solver(NullSpace)
    for bad in (None, 3, object, lambda levels: levels):
        with pytest.raises(wbc.WbcError, match="neither a solver's name nor a wbc.solvers.Solver$"):
            usable_solver(bad)


def test_a_misspelt_property_of_a_solver_is_an_error() -> None:
    with pytest.raises(TypeError, match="ignore_inequalities"):
        type("Mine", (Solver,), {}, ignore_inequalities=True)


def test_frames_that_are_not_there_are_named_with_their_contact() -> None:
    robot = wbc.load("quadruped", "numpy")
    limits = tasks.FrictionCones() + tasks.ContactMotion()
    for contact, words in (
        (wbc.PointContact("LF_fot", name="toe"), "contact 'toe': no frame 'LF_fot'; did you mean 'LF_foot'"),
        (wbc.PointContact("LF_foot", on="bas"), "contact 'LF_foot': no frame 'bas'; did you mean 'base'"),
    ):
        with pytest.raises(wbc.WbcError, match=words):
            check_tasks(robot, wbc.Stack(tasks.EquationOfMotion() / limits, contact))


def test_only_a_floating_robot_is_said_to_fly() -> None:
    nothing = wbc.Stack(tasks.EquationOfMotion() / tasks.ContactMotion())
    with pytest.warns(
        wbc.WbcWarning, match="'quadruped' has a floating base, and the stack has no contacts for 'contact motion'"
    ):
        check_tasks(wbc.load("quadruped", "numpy"), nothing)
    falls = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration())
    with pytest.warns(wbc.WbcWarning, match="the stack has no contacts: it only falls; pass them: wbc.Stack"):
        check_tasks(wbc.load("quadruped", "numpy"), falls)
    hung = tasks.EquationOfMotion({"base": [0.0, 0.0, 300.0]})
    model = wbc.load("quadruped", "numpy").model
    nowhere = wbc.load(model.replace(gravity=(0.0, 0.0, 0.0)), "numpy")
    roped = wbc.load(model.replace(loops=[wbc.LoopClosure("base", "world")]), "numpy")
    driven = wbc.load(model.replace(actuators=[wbc.Actuator("jet", 400.0, frame="base", wrench=(0, 0, 1, 0, 0, 0))]))
    for robot, stack in (
        (wbc.load("arm", "numpy"), nothing),
        (wbc.load("quadruped", "numpy"), wbc.Stack(hung / tasks.JointAcceleration())),
        (wbc.load("quadruped", "numpy"), wbc.Stack(tasks.JointVelocity())),
        (nowhere, falls),
        (roped, falls),
        (driven, falls),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_tasks(robot, stack)


def test_ignored_inequalities_are_told_of_where_there_are_any() -> None:
    with pytest.warns(
        wbc.WbcWarning, match="NullSpace ignores inequalities, so those of these tasks have no effect: a, b;"
    ) as told:
        warn_of_ignored_inequalities(NullSpace(), ["a", "b"], stacklevel=2)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_ignored_inequalities(NullSpace(), [])
        warn_of_ignored_inequalities(HierarchicalQP(), ["a"])
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.TorqueLimits())
    with pytest.warns(wbc.WbcWarning, match="ignores inequalities") as told:
        wbc.Controller(wbc.load("arm", "numpy"), stack, "nullspace")
    assert told[0].filename == __file__


def actuated(*rows: list[float]) -> SimpleNamespace:
    """All that is asked of a robot with such an actuation matrix."""
    model = SimpleNamespace(actuators=rows, name="mine")
    found = SimpleNamespace(model=model, na=len(rows), actuation_matrix=np.array(rows))
    return SimpleNamespace(**vars(found), copy=lambda: actuated(*rows), update=lambda q: None, random=lambda rng: None)


def test_actuators_of_any_strength_count_and_those_that_do_what_others_do_do_not() -> None:
    check_actuators(actuated([1e-9, 0.0], [0.0, 1.0]))  # type: ignore[arg-type]
    check_actuators(actuated([1.0, 1.0], [1.0, 1.001]))  # type: ignore[arg-type]
    for rows in (([1e-9, 0.0], [2e-9, 0.0]), ([0.0, 0.0], [0.0, 1.0])):
        with warnings.catch_warnings(), pytest.raises(wbc.WbcError, match="'mine' has 2 actuators, of which 1 are"):
            warnings.simplefilter("error")
            check_actuators(actuated(*rows))  # type: ignore[arg-type]
