"""Who holds a task back, by rows whose numbers are told: the unknowns are what physics leaves free."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tasks
from wbc.control.evidence import Active
from wbc.control.explanation import Blame, Result, _listed, _strongest, explain, told_once, unit_of_load

E = np.eye(3)


def result(
    name: str, level: int, A: Any, residual: Any, *, lower: Any = 0.0, upper: Any = None, **options: Any
) -> Result:
    """A task's rows, equations where they have no upper bound; its values are those bounds and the residual."""
    A, miss = np.atleast_2d(np.array(A, dtype=float)), np.atleast_1d(np.array(residual, dtype=float))
    low = np.broadcast_to(np.array(lower, dtype=float), miss.shape).copy()
    high = low if upper is None else np.broadcast_to(np.array(upper, dtype=float), miss.shape).copy()
    weights = options.pop("weights", None)
    part = SimpleNamespace(
        entry=SimpleNamespace(name=name, level=level, slack=0.0),
        lower=low,
        upper=high,
        equation=upper is None,
        weight=options.pop("weight", 1.0),
        weights=None if weights is None else np.array(weights, dtype=float),
        matrix=lambda layout: A,
    )
    value = options.pop("value", low + miss)
    return Result(part, np.atleast_1d(np.array(value, dtype=float)), miss, [f"row {k}" for k in range(len(miss))])  # type: ignore[arg-type]


def blame(mine: Result, *others: Result, free: Any = E, ignores: bool = False) -> str:
    return Blame(np.array(free), None, [*others, mine], ignores).of(mine)  # type: ignore[arg-type]


def test_what_is_met_and_what_is_missed_by_how_much() -> None:
    assert str(result("a", 0, E, [1e-6, 0.9e-5, 0.0])) == "met"
    assert str(result("a", 0, E, [0.0, 0.0, 0.0], lower=-1.0, upper=1.0)) == "holds"
    assert str(result("a", 0, E, [0.1, -2.0, 0.09])) == "missed: row 1 by -2"
    assert str(result("a", 0, E, [0.11, -2.0, 0.0])) == "missed: row 1 by -2, row 0 by +0.11"
    assert str(result("a", 0, E, [1.1e-5, 0.9e-5, 0.0])) == "missed: row 0 by +1.1e-05"
    assert result("a", 0, np.zeros((0, 3)), []).met
    assert _listed(list("abcd")) == "a, b, c, d" and _listed(list("abcdef")) == "a, b, c, d and 2 more"


def test_rows_of_one_name_are_told_once_by_the_worst() -> None:
    """As the facets of a cone; with their unit where it is known."""
    rows = result("cones", 0, np.zeros((4, 3)), [0.5, -2.0, 3.0, 1.0])._replace(names=["a", "b", "a", "c"])
    assert str(rows) == "missed: a by +3, b by -2, c by +1"
    assert str(rows._replace(units=["N", "N m", "N", ""])) == "missed: a by +3 N, b by -2 N m, c by +1"
    broken = [
        Active("cones", row, side, 1, by)
        for row, side, by in (("a", "upper", 1.0), ("a", "upper", 3.0), ("a", "upper", 2.0))
    ]
    broken += [Active("cones", "a", "lower", 1, 2.0), Active("cones", "b", "upper", 1, 4.0)]
    assert told_once(broken, lambda task, row: "N" if row == "a" else "") == [
        "cones, a, by 3 N at its upper bound",
        "cones, a, by 2 N at its lower bound",
        "cones, b, by 4 at its upper bound",
    ]


def test_units_are_those_of_forces_and_of_the_motors_of_joints() -> None:
    joints: Any = {"slide": SimpleNamespace(kind="prismatic"), "hinge": SimpleNamespace(kind="revolute")}
    cones, limits = tasks.FrictionCones(), tasks.TorqueLimits()
    assert [unit_of_load(limits, row, joints) for row in ("slide", "hinge", "else")] == ["N", "N m", "N m"]
    assert (
        unit_of_load(cones, "friction of foot", joints) == "N"
        and unit_of_load(tasks.JointLimits(), "hinge", joints) == ""
    )


def test_a_solver_that_ignores_a_bound_or_was_stopped_trades_nothing() -> None:
    bound = result("bound", 1, E[0], 2.0, lower=-1.0, upper=1.0, value=3.0)
    beside = result("beside", 1, E[0], -5.0)
    for others in ((), (beside,), (result("above", 0, E[0], 0.0),)):
        assert blame(bound, *others, ignores=True) == "nothing: this solver ignores inequalities"
    assert blame(result("equation", 1, E[0], 2.0), beside, ignores=True) == "beside"
    half = result("half", 1, E[:2], [2.0, 1.0], lower=[0.0, -1.0], upper=[0.0, 1.0])
    assert blame(half, beside, ignores=True) == "beside"  # one of its rows is an equation
    stopped = Blame(E, None, [bound], False, True)  # type: ignore[arg-type]
    assert stopped.of(bound) == "nothing: the solver was stopped before it was met"
    assert blame(bound) == "lower levels, which this solver trades against it"


def test_names_by_all_the_strength_that_they_have() -> None:
    found = [(1.0, "a"), (3.0, "b"), (2.5, "a"), (0.5, "c"), (0.2, "c")]
    assert _strongest(found, 0.6) == ["a", "b", "c"] and _strongest(found, 0.7) == ["a", "b"]


def test_who_has_no_weight_contradicts_itself_or_can_not_be_changed() -> None:
    assert blame(result("a", 1, E[:1], 1.0, weight=0.0)) == "nothing: its weight is 0"
    assert blame(result("a", 1, E[:2], [1.0, 1.0], weights=[0.0, 0.0])) == "nothing: its weight is 0"
    twice = result("a", 1, [E[0], E[0]], [1.0, -1.0])
    assert blame(twice) == "its own rows, which contradict each other"
    assert blame(result("a", 1, [E[0], E[0]], [1.0, -1.0], weights=[1.0, 2.0])).startswith("lower levels")
    assert blame(result("a", 1, E[:1], 1.0), free=np.zeros((3, 2))) == "physics: no force can change it"
    for much, contradicts in ((0.9e-6, True), (1.1e-6, False)):
        found = blame(result("a", 1, [E[0], E[0], much * E[1]], [1.0, -1.0, 2.0]))
        assert found.startswith("its own rows") == contradicts


def test_equations_above_hold_with_any_sign_and_the_strongest_is_named_first() -> None:
    mine = result("mine", 2, E, [3.0, -1.0, 0.02])
    x, y, z = (result(name, 0, E[k], 0.0) for k, name in enumerate("xyz"))
    assert blame(mine, y, x, z) == "x, y"  # z holds less than a hundredth
    assert blame(mine, result("x", 2, E[0], 0.0), result("y", 3, E[1], 0.0)).startswith("lower levels")
    assert blame(mine, y, result("x", 0, E[0], 0.0, lower=0.0, upper=9.0, value=5.0), z) == "y"


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_limit_holds_where_the_pull_goes_beyond_its_bound(side: float) -> None:
    """At it, but for a millionth of its value; and it holds nothing that goes away from it."""
    for off, pull, holds in (
        (0.0, 1.0, True),
        (1.5e-6, 1.0, True),
        (2.5e-6, 1.0, False),
        (-0.5, 1.0, True),
        (0.0, -1.0, False),
    ):
        bounds = {"lower": -1.0, "upper": 9.0} if side < 0 else {"lower": -9.0, "upper": 1.0}
        limit = result("limit", 0, E[0], 0.0, value=side * (1.0 - off), **bounds)
        mine = result("mine", 1, E[0], -side * pull)
        assert blame(mine, limit) == ("limit (row 0)" if holds else "lower levels, which this solver trades against it")
        assert blame(mine, limit, ignores=True).startswith("lower levels")


def test_limits_are_named_before_tasks_with_their_rows() -> None:
    limits = result("limits", 0, E, [0.0] * 3, lower=-1.0, upper=1.0, value=[1.0, -1.0, 0.0])
    mine = result("mine", 2, E, [-1.0, 4.0, 2.0])
    task = result("task", 1, E[2], 0.0)
    assert blame(mine, task, limits) == "limits (row 1, row 0), task"
    level = result("even", 0, [E[0], E[1]], [0.0, 0.0], lower=[0.0, -1.0], upper=[0.0, 1.0], value=[0.0, -1.0])
    assert blame(mine, level) == "even (row 1), even"
    behind = result("behind", 0, E[0] + E[2], 0.0, lower=-9.0, upper=1.0, value=1.0)
    found = blame(result("mine", 2, E[0], -1.0), behind, task)  # what the task leaves of the limit
    assert found == "behind (row 0), task"


def test_what_nobody_above_holds_is_for_those_beside() -> None:
    mine = result("mine", 1, E[0], 1.0)
    rival, friend = result("rival", 1, E[0], -3.0), result("met", 1, E[0], 0.0)
    weak, lower = result("weak", 1, E[1], 0.009), result("lower", 2, E[0], -3.0)
    assert blame(mine, rival, friend, weak, lower) == "rival"
    held = result("held", 0, E[0], 0.0)
    assert blame(mine, rival, held) == "held"
    partly = result("held", 0, [1.0, 0.0201, 0.0], 0.0)  # a fiftieth of the pull is left
    assert blame(mine, rival, partly) == "held, rival"


def test_a_tick_is_told_level_by_level() -> None:
    mine, met = result("mine", 1, E[0], 0.5), result("met", 0, E[0], 0.0)
    blamed = Blame(E, None, [met, mine], False)  # type: ignore[arg-type]
    told = explain("head", [["physics"], []], [met, mine], ["limit, row 0, by 3"], blamed)
    assert told.splitlines() == [
        "head",
        "0  physics: holds",
        "0  met: met",
        "1  mine: missed: row 0 by +0.5",
        "     held back by met",
        "does not hold: limit, row 0, by 3",
    ]


def test_equations_that_nothing_can_change_hold_nothing() -> None:
    nothing = result("nothing", 0, np.zeros(3), 0.0)
    limit = result("limit", 0, E[0], 0.0, lower=-1.0, upper=1.0, value=1.0)
    assert blame(result("mine", 1, E[0], -1.0), nothing, limit) == "limit (row 0)"
