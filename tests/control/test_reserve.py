"""The time that is kept before a deadline is as long as what can't be stopped."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from wbc.control.reserve import LATE, MOST, STEP, Reserve
from wbc.solvers import HierarchicalQP

LEAST = 2e-4


def test_few_ticks_take_longer_than_is_kept() -> None:
    ours, spent = Reserve(LEAST), np.random.default_rng(0).uniform(2.0 * LEAST, 3.0 * LEAST, 4000)
    longer = []
    for seconds in spent:
        longer.append(seconds > ours.seconds)
        ours.note(seconds)
    assert np.mean(longer[50:]) < 1.1 * LATE


def test_a_tick_that_another_program_interrupted_is_one_of_many() -> None:
    ours = Reserve(LEAST)
    ours.note(1.0)
    assert LEAST < ours.seconds <= 2.0 * LEAST
    for _ in range(round(1.0 / (STEP * LATE))):
        ours.note(0.5 * LEAST)
    assert ours.seconds == LEAST
    for _ in range(1000):
        ours.note(1.0)
    assert ours.seconds == MOST * LEAST


class Coarse(HierarchicalQP):
    """It looks at the time seldom: it needs a while more than it has."""

    def solve(self, levels, *, validate: bool = True, seconds: float = np.inf):  # type: ignore[no-untyped-def]
        answer = super().solve(levels, validate=validate)
        Clock.now += seconds + 6e-4
        return answer

    def compiled_plan(self, levels: int, exact: int, posture: int) -> None:
        return None


class Clock:
    """A clock that goes on where something takes time."""

    now = 0.0


def test_a_slow_machine_keeps_its_deadline_after_some_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    for clock in ("controller.perf_counter", "controller.thread_time", "level_solving.perf_counter"):
        monkeypatch.setattr(f"wbc.control.{clock}", lambda: Clock.now)
    robot = wbc.load("arm", "numpy")
    levels = tasks.EquationOfMotion() / tasks.JointAcceleration(robot.model.nominal, gains=wbc.Gains(3.0))
    ours = wbc.Controller(robot, wbc.Stack(levels), Coarse(), deadline=2e-3)
    late = [ours.step(robot.model.nominal, np.zeros(7), 1e-3 * k).late for k in range(40)]
    assert late[0] and sum(late[20:]) <= 1
