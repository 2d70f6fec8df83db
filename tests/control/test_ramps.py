"""Ramps: numbers on their way, and the schedule of weights and presences that they carry."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wbc
from wbc.control.ramps import Ramps
from wbc.control.schedule import Schedule


def test_a_ramp_begins_at_the_first_tick_that_sees_it_and_ends_once() -> None:
    ramps: Ramps[str] = Ramps()
    ramps.begin("a", 3.0, 0.2)
    assert ramps and "a" in ramps and ramps.under_way("a").began is None
    found = ramps.advance(1.0)
    assert [(key, ramp.began, ramp.share) for key, ramp in found] == [("a", 1.0, 0.0)]
    for time, share in ((1.05, 0.25), (1.05, 0.25), (1.1, 0.5), (0.5, 0.0)):
        ((_, ramp),) = ramps.advance(time)
        assert ramp.share == pytest.approx(share)
    ((_, ramp),) = ramps.advance(1.2)  # 1.2 - 1.0 is less than 0.2
    assert ramp.share == 1.0 and not ramps and ramps.advance(1.3) == []
    assert ramp.between(1.0, 3.0) == 3.0


def test_a_ramp_may_take_no_time_be_replaced_and_be_forgotten() -> None:
    ramps: Ramps[str] = Ramps()
    ramps.begin("at once", 1.0, 0.0)
    ((_, ramp),) = ramps.advance(5.0)
    assert ramp.share == 1.0 and "at once" not in ramps
    ramps.begin("a", 1.0, 1.0)
    ramps.advance(0.0)
    ramps.advance(0.5)
    ramps.begin("a", 0.0, 2.0)  # it begins anew
    ((_, ramp),) = ramps.advance(0.6)
    assert (ramp.target, ramp.began, ramp.share) == (0.0, 0.6, 0.0)
    ramps.end("a")
    ramps.end("never there")
    assert ramps.under_way("a") is None and not ramps


@pytest.mark.parametrize("begun", [False, True])
def test_an_infinite_time_ends_all_ramps(begun: bool) -> None:
    ramps: Ramps[str] = Ramps()
    ramps.begin("a", 1.0, 9.0)
    ramps.begin("b", 2.0, 99.0)
    if begun:
        ramps.advance(0.0)
    assert [(key, ramp.share) for key, ramp in ramps.advance(math.inf)] == [("a", 1.0), ("b", 1.0)]
    assert not ramps


def test_a_number_between_is_linear_and_exact_at_the_end() -> None:
    ramps: Ramps[int] = Ramps()
    ramps.begin(0, 0.1, 1.0)
    ramps.advance(0.0)
    values = [ramps.advance(time)[0][1].between(0.3, 0.1) for time in (0.0, 0.25, 0.5, 1.0)]
    assert np.allclose(values, [0.3, 0.25, 0.2, 0.1]) and values[-1] == 0.1


# --- the schedule ----------------------------------------------------------------------------------------------------


class Held(wbc.Task):
    """A task that counts how often it was told to forget."""

    forgot = 0

    def rows(self, robot: wbc.Dynamics, tick: wbc.Tick) -> wbc.Rows:
        return wbc.Rows.equal(np.zeros(1), acceleration=np.array([0]))

    def reset(self) -> None:
        self.forgot += 1


def schedule() -> tuple[Schedule, Held, Held]:
    one, other = Held("one", weight=2.0), Held("other")
    return Schedule({"one": one, "other": other}), one, other


def test_a_weight_goes_to_its_target_and_nothing_else_changes() -> None:
    found, one, other = schedule()
    found.change("one", "weight", 4.0, 1.0)
    assert found.moving and not found.partial
    for time, weight in ((10.0, 2.0), (10.5, 3.0), (11.0, 4.0), (12.0, 4.0)):
        found.advance(time)
        assert (one.weight, other.weight) == pytest.approx((weight, 1.0))
    assert not found.moving


def test_a_weight_and_a_presence_of_one_task_are_two_ramps() -> None:
    found, one, _ = schedule()
    found.change("one", "weight", 4.0, 1.0)
    found.change("one", "presence", 0.0, 2.0)
    found.advance(0.0)
    found.advance(1.0)
    assert one.weight == 4.0 and found.presence("one") == 0.5 and found.partial and found.moving
    found.finish()
    assert found.presence("one") == 0.0 and found.presence("other") == 1.0 and not found.moving and found.partial
    found.change("one", "presence", 1.0, 0.0)
    found.advance(3.0)
    assert found.presence("one") == 1.0 and not found.partial


def test_a_fade_that_turns_back_does_so_from_where_it_is() -> None:
    found, _, _ = schedule()
    found.change("one", "presence", 0.0, 1.0)
    found.advance(0.0)
    found.advance(0.25)
    found.change("one", "presence", 1.0, 1.0)
    for time, presence in ((0.25, 0.75), (0.75, 0.875), (1.25, 1.0)):
        found.advance(time)
        assert found.presence("one") == pytest.approx(presence)


def test_asking_again_for_what_is_under_way_or_there_changes_nothing() -> None:
    found, one, _ = schedule()
    found.change("one", "weight", 2.0, 1.0)
    assert not found.moving, "it is there already"
    found.change("one", "weight", 3.0, 1.0)
    found.advance(0.0)
    found.advance(0.5)
    found.change("one", "weight", 3.0, 1.0)
    found.advance(1.0)
    assert one.weight == 3.0
    found.change("one", "weight", 5.0, 1.0)
    found.advance(1.0)
    found.change("one", "weight", 5.0, 4.0)  # another duration is another wish
    found.advance(2.0)
    found.advance(4.0)
    assert one.weight == pytest.approx(4.0)


def test_a_task_forgets_its_place_when_it_comes_back_only() -> None:
    found, one, other = schedule()
    found.change("one", "presence", 0.0, 0.0)
    found.advance(0.0)
    assert one.forgot == 0
    found.change("one", "presence", 1.0, 1.0)
    for time in (1.0, 1.5, 1.7, 2.0, 3.0):
        found.advance(time)
    assert (one.forgot, other.forgot) == (1, 0)


def test_what_is_no_weight_presence_or_duration_is_named() -> None:
    found, _, _ = schedule()
    for what, target, duration, words in (
        ("weight", -1.0, 0.0, "the weight of 'one' = -1.0"),
        ("weight", 2e12, 0.0, "the weight of 'one'"),
        ("presence", "off", 0.0, "the presence of 'one' = 'off'"),
        ("weight", 1.0, -0.1, "the duration for 'one', s, = -0.1"),
        ("weight", 1.0, math.inf, "the duration for 'one', s, = inf"),
    ):
        with pytest.raises(wbc.WbcError, match=words):
            found.change("one", what, target, duration)
    assert not found.moving
