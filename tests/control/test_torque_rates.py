"""The bound on the change of torques, and when it is asked for, by a robot of three motors whose numbers are told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from wbc.control import steadiness as module
from wbc.control.solving import Outcome
from wbc.control.steadiness import BRAKES, IN_BETWEEN, Room, Steadiness, SteadySolving, TorqueRates

EFFORT = np.array([10.0, 20.0, 0.0])
LAST = np.array([3.0, -1.0, 0.0])
LAYOUT = object()


def robot(q: float = 0.0, v: tuple[float, ...] = (0.0, 0.0, 0.0)) -> Any:
    """Its second motor drives its joint backwards."""
    limits = SimpleNamespace(effort=EFFORT, least=np.array([-10.0, -5.0, 0.0]))
    return SimpleNamespace(
        q=np.array([q, 0.0]), v=np.array(v), na=3, limits=limits, actuation_matrix=np.diag([1.0, -1.0, 1.0])
    )


def tick(time: float, last: Any = (0.0, 0.0, 0.0), period: float = 0.01) -> Any:
    return SimpleNamespace(
        time=time, period=period, layout=LAYOUT, last_torque=None if last is None else np.array(last)
    )


def test_brakes_may_change_six_times_faster() -> None:
    task = TorqueRates(np.array([1.0, 2.0, 3.0]))
    for v, down, up in (
        ((0.06, 0.06, -0.06), [6.0, 2.0, 3.0], [1.0, 12.0, 18.0]),
        ((-0.06, -0.06, 0.0), [1.0, 12.0, 3.0], [6.0, 2.0, 3.0]),
        ((0.04, -0.04, 0.0), [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
    ):
        found = task.room(robot(v=v), tick(0.0))
        assert found.down.tolist() == down and found.up.tolist() == up


@pytest.mark.skipif(module.kernel is None, reason="the kernel was not built")
def test_the_kernel_agrees_with_numpy(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    effort = np.array([10.0, 5.0, 0.0, np.inf, 20.0])
    least, most = np.where(effort == 20.0, 0.0, -effort), 0.1 * effort
    for case in range(200):
        speed, last = rng.normal(scale=0.1, size=5), np.minimum(rng.normal(scale=5.0, size=5), 3.0 * effort)
        given = speed, None if case % 5 == 0 else last, most, rng.uniform(1.0, BRAKES), least, effort
        told = []
        for kernel in (module.kernel, None):
            with monkeypatch.context() as context:
                context.setattr(module, "kernel", kernel)
                rooms = module._room(*given)
                room = Room(tick(0.0), speed, most, rooms[0], rooms[1], None)  # type: ignore[arg-type]
                change = np.where(np.isfinite(most), -rooms[0] if case % 2 else rooms[1], 0.0)
                told.append((rooms, room.ways(last + (case % 3) * change, last)))
        np.testing.assert_array_equal(told[0][0], told[1][0])
        assert (told[0][1] is None) == (told[1][1] is None) == (case % 3 == 0)
        if told[0][1] is not None:
            np.testing.assert_array_equal(told[0][1], told[1][1])
            assert told[0][1][2] == told[0][1][3] == 0.0, "there is no bound where there is no torque, or any"


def test_torques_stay_near_the_last_ones_and_within_what_there_is() -> None:
    task = TorqueRates(np.array([1.0, 2.0, 3.0]))
    for last, lower, upper in (
        (None, [-1.0, -2.0, 0.0], [1.0, 2.0, 0.0]),
        ([9.5, -4.0, 0.0], [8.5, -5.0, 0.0], [10.0, -2.0, 0.0]),
        ([99.0, -99.0, 9.0], [9.0, -5.0, 0.0], [10.0, -3.0, 0.0]),
    ):
        rows = task.rows(robot(), tick(0.0, last))
        assert rows.lower.tolist() == lower and rows.upper.tolist() == upper and rows.torque.tolist() == [0, 1, 2]


def steady(*times: float, q: float = 0.0) -> Steadiness:
    """With a rise of a tenth of a second: a hundredth lets a motor of 10 N m change by 1."""
    found = Steadiness(robot(), 0.1)
    for time in times:
        found.exceeded(robot(q), tick(time), np.zeros(3))
    return found


@pytest.mark.parametrize(
    ("torque", "exceeded"),
    [
        ([0.99, 0.0, 0.0], False),
        ([-1.01, 0.0, 0.0], True),
        ([0.0, 1.99, 0.0], False),
        ([0.0, 2.01, 0.0], True),
        ([0.9, 1.8, 0.0], False),  # together they are more than one alone may change
        ([0.0, 0.0, 5.0], False),  # what gives nothing has no rate
    ],
)
def test_a_torque_that_changes_faster_than_told_is_found(torque: list[float], exceeded: bool) -> None:
    found = steady(0.0)
    found.pressed = True
    assert found.exceeded(robot(), tick(0.01, LAST), LAST + torque) == exceeded and not found.pressed
    assert found.exceeded(robot(), tick(0.01, LAST), LAST + torque) == exceeded, "the same tick once more"


def test_what_goes_on_from_nothing_is_not_bound() -> None:
    fast = np.array([9.0, 0.0, 0.0])
    assert not steady().exceeded(robot(), tick(0.0), fast)
    assert not steady(0.0).exceeded(robot(), tick(0.01, None), fast) and steady(0.0).exceeded(robot(), tick(0.01), fast)
    for q, bound in ((0.49, True), (0.51, False)):  # 50 rad/s explain half a radian
        assert steady(0.0).exceeded(robot(q), tick(0.01), fast) == bound
    for speed, bound in ((46.0, True), (44.0, False)):  # a wrist that is flung about was taken for one that was placed
        assert steady(0.0).exceeded(robot(0.9, v=(0.0, 0.0, speed)), tick(0.01), fast) == bound
    assert steady(0.0).exceeded(robot(0.9), tick(0.02), fast), "it came later"
    forgotten = steady(0.0)
    forgotten.forget()
    assert not forgotten.exceeded(robot(), tick(0.01), fast)


def test_a_tick_that_comes_late_may_change_more_and_one_that_comes_early_no_less() -> None:
    for later, most in ((0.01, 1.0), (0.03, 3.0), (0.001, 1.0)):
        found = steady(0.0)
        assert not found.exceeded(robot(), tick(later), np.array([0.99 * most, 0.0, 0.0]))
        assert found.exceeded(robot(), tick(later), np.array([1.01 * most, 0.0, 0.0]))
        assert found.task.most.tolist() == pytest.approx([most, 2.0 * most, 0.0])


def test_the_bound_is_tried_at_once_after_a_tick_at_it() -> None:
    found = steady(0.0)
    assert not found.expected(robot(), tick(0.01))
    found.pressed = True
    assert found.expected(robot(), tick(0.02)) and found.task.most.tolist() == pytest.approx([2.0, 4.0, 0.0])
    assert not found.expected(robot(9.0), tick(0.03)) and not found.expected(robot(9.0), tick(0.04, None))
    assert found.expected(robot(9.0), tick(0.05))


def test_who_is_held_back_by_it() -> None:
    found = steady(0.0)
    found.task.most = np.array([1.0, 2.0, 3.0])
    for torque, binds in (
        ([0.5, 0.0, 0.0], False),
        ([1.0, 0.0, 0.0], True),
        ([-1.0, 0.0, 0.0], True),
        ([0.0, -1.9, 2.9], False),
    ):
        assert found.binds(robot(), tick(0.01, LAST), LAST + torque) == binds
    for share, binds in ((0.9e-7, True), (1.1e-7, False)):
        assert found.binds(robot(), tick(0.01, LAST), LAST + np.array([0.0, 2.0 - 2.0 * share, 0.0])) == binds
    assert not found.binds(robot(v=(1.0, 0.0, 0.0)), tick(0.01), np.array([-1.0, 0.0, 0.0])), "it brakes"
    found.task.most = np.array([1.0, 2.0, 0.0])
    assert not found.binds(robot(), tick(0.01), np.zeros(3)), "what gives nothing is not at its bound"


def test_how_long_torques_are_at_the_bound_counts_and_a_share_of_what_is_between() -> None:
    """A tenth of it, where levels may be traded; half of it, where the bound is loosened."""
    found, times = steady(0.0), np.arange(1, 60) * 0.01
    held, swung = (
        np.concatenate([times[:25], np.maximum(times[24] - share * 0.01 * np.arange(1, 35), 0.0)])
        for share in (0.5, IN_BETWEEN)
    )
    pressed = []
    for time in times:
        found.pressed = time < 0.25 + 1e-9
        assert found.bounds(robot(), tick(float(time))) or time < 0.015
        pressed.append(found.pressed_for)
        looser = min(np.exp(max(held[len(pressed) - 1] - 0.15, 0.0) / 0.05), BRAKES)
        np.testing.assert_allclose(found.task.most, found._slope * 0.01 * looser, rtol=1e-9)
        assert looser * found.task.brakes == pytest.approx(BRAKES), "brakes are not loosened"
    np.testing.assert_allclose(pressed, swung, atol=1e-9)


def test_torques_that_are_at_the_bound_the_other_way_shortly_after_swing() -> None:
    up, down = np.array([1.0, 0.0, 0.0]), np.array([-1.0, 0.0, 0.0])
    for second, later, expected in ((down, 0.02, True), (up, 0.02, False), (down, 0.2, False)):
        found = steady(0.0)
        found.bounds(robot(), tick(0.01))
        found.task.most = np.ones(3)
        assert found.binds(robot(), tick(0.01), up)
        assert found.binds(robot(), tick(0.01 + later), second)
        assert not found.swings(0.01 + later), "a tick once more is the same"
        assert found.swings(0.02 + later) == expected
        assert not found.swings(0.2 + later)


def test_a_tick_that_is_solved_with_the_bound_says_so() -> None:
    """And one of which nothing is held back does not."""
    solving = SteadySolving.__new__(SteadySolving)
    solving._task = TorqueRates(np.ones(3))
    asked: list[Any] = []

    class Level:
        def among(self, parts: Any, rows: Any) -> Any:
            return (*parts, rows)

        def solve(self, equation: Any, parts: Any, seconds: float) -> Outcome:
            asked.append((equation, len(parts), seconds))
            return Outcome(np.zeros(1), "optimal")

        def without(self, outcome: Outcome) -> Outcome:
            return outcome._replace(iterations=7)

    solving._level = Level()  # type: ignore[assignment]
    outcome, parts = solving.solve(robot(), tick(0.0), "physics", ("mine",), 0.5)  # type: ignore[arg-type]
    assert outcome.steadied and asked == [("physics", 2, 0.5)] and parts[0] == "mine"  # type: ignore[comparison-overlap]
    assert parts[1].upper.tolist() == [1.0, 1.0, 0.0]
    assert not solving.without(outcome).steadied and solving.without(outcome).iterations == 7
