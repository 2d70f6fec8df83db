"""What a controller remembers of the last second: looks, what yields, what hurries, contacts that carry nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import wbc
from wbc.control.watch import Watch

ARM = wbc.load("arm", "numpy")
ARM.update(ARM.model.nominal)


def moment(time: float, *contacts: Any) -> Any:
    return SimpleNamespace(time=time, contacts=contacts)


def part(name: str, error: Any) -> Any:
    return SimpleNamespace(entry=SimpleNamespace(name=name, task=SimpleNamespace(error=lambda robot, tick: error)))


def test_errors_are_looked_at_four_times_a_second_and_at_once_where_time_goes_back() -> None:
    watch = Watch()
    assert watch.due(0.0) and watch.due(-1.0)
    watch.look(ARM, moment(2.0), [])
    due = [watch.due(time) for time in (1.99, 2.0, 2.1, 2.249, 2.25, 3.0)]
    assert due == [True, False, False, False, True, True]


def test_looks_of_a_second_and_a_half_are_kept_and_none_from_later() -> None:
    watch, error = Watch(), np.ones(2)
    parts = [part("a", error), part("b", None), part("c", 3.0)]
    for time in (0.0, 0.5, 1.0, 1.5, 2.0):
        watch.look(ARM, moment(time), parts)
    assert [look.time for look in watch.past.looks] == [0.5, 1.0, 1.5, 2.0]
    assert list(watch.past.looks[-1].errors) == ["a"] and watch.past.looks[-1].errors["a"] is error
    watch.look(ARM, moment(1.0), parts)
    assert [look.time for look in watch.past.looks] == [0.5, 1.0]


def test_joints_beyond_their_ends_are_seen_in_a_look() -> None:
    robot, watch = ARM.copy(), Watch()
    q = np.array(robot.model.nominal)
    q[1], q[3], q[5] = robot.limits.lower[1] - 0.02, robot.limits.upper[3] + 0.006, robot.limits.upper[5] + 0.004
    robot.update(q, np.zeros(7))
    watch.look(robot, moment(0.0), [])
    assert watch.past.looks[-1].ends == pytest.approx({"joint_2": 0.02, "joint_4": 0.006})


def test_since_when_levels_pull_as_hard_as_they_may() -> None:
    watch = Watch()
    watch.mark(1.0, (0.0, 1.1, 7.0))
    watch.mark(2.0, (0.0, 1.0, 1.01, 3.0))
    assert watch.past.yielding == {2: 1.0, 3: 2.0}, "at the bound it still holds"
    watch.mark(0.5, (0.0, 0.0, 2.0))
    assert watch.past.yielding == {2: 0.5}, "time went back"
    watch.mark(0.6, ())
    assert watch.past.yielding == {}


class Foot:
    """A contact whose normal leans by 0.6, or by what carries it."""

    def __init__(self, name: str, carrier: str | None = None) -> None:
        self.name, self.carrier, self.normal = name, carrier, np.array([0.6, 0.0, 0.8])

    def normals(self, robot: Any) -> np.ndarray:
        return np.concatenate([self.turn(robot) @ self.normal if self.carrier else self.normal] * 2)

    def turn(self, robot: Any) -> np.ndarray:
        return np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])


def felt(
    watch: Watch, time: float, commanded: float | None, measured: Any, carrier: str | None = None, gravity: float = 9.81
) -> dict[str, Any]:
    """What is remembered after a tick of a robot of 10 kg in which a force was commanded along the normal."""
    foot = Foot("foot", carrier)
    robot = SimpleNamespace(mass=10.0, model=SimpleNamespace(gravity=(0.0, 0.0, -gravity)))
    normal = foot.normals(robot)[:3]
    force = None if commanded is None else np.concatenate([0.25 * commanded * normal, 0.75 * commanded * normal])
    last = SimpleNamespace(force_variables=lambda name: force)
    wrench = None if measured is None else {} if measured == () else {"foot": np.r_[measured * normal, 9.0, 9.0, 9.0]}
    watch.feel(robot, moment(time, foot), last, wrench)  # type: ignore[arg-type]
    return dict(watch.past.empty)


@pytest.mark.parametrize("carrier", [None, "table"])
@pytest.mark.parametrize("gravity", [9.81, 1.0, 0.0])
def test_a_contact_carries_nothing_below_a_tenth_of_what_is_commanded(gravity: float, carrier: str | None) -> None:
    """Where that is more than a fiftieth of the weight; in space of the weight on earth."""
    weight = 10.0 * (gravity or 9.81)
    for share, measured, found in (
        (0.5, 0.04, True),
        (0.5, 0.06, False),
        (0.021, 0.0, True),
        (0.019, 0.0, False),
        (0.5, -0.3, True),
    ):
        empty = felt(Watch(), 1.0, share * weight, measured * weight, carrier, gravity)
        assert bool(empty) == found, (share, measured)
        if found:
            assert empty["foot"] == pytest.approx((1.0, share * weight, measured * weight, share))


def test_who_is_not_commanded_or_not_measured_is_not_missed() -> None:
    assert not felt(Watch(), 0.0, None, 0.0) and not felt(Watch(), 0.0, 50.0, ()) and not felt(Watch(), 0.0, 50.0, None)
    watch = Watch()
    watch.feel(
        SimpleNamespace(mass=1.0, model=SimpleNamespace(gravity=(0.0,))),
        moment(0.0, Foot("foot")),
        None,
        {"foot": np.zeros(3)},
    )  # type: ignore[arg-type]
    assert not watch.past.empty


def test_since_when_a_contact_is_empty() -> None:
    watch = Watch()
    assert felt(watch, 1.0, 50.0, 0.0)["foot"].since == 1.0
    later = felt(watch, 1.5, 40.0, 1.0)["foot"]
    assert (later.since, later.commanded, later.measured) == (1.0, pytest.approx(40.0), pytest.approx(1.0))
    assert felt(watch, 0.5, 50.0, 0.0)["foot"].since == 0.5, "time went back"
    assert not felt(watch, 0.6, 50.0, None), "nothing is measured"
    assert felt(watch, 0.7, 50.0, 0.0)["foot"].since == 0.7
    assert not felt(watch, 0.8, 50.0, 50.0) and felt(watch, 0.9, 50.0, 0.0)["foot"].since == 0.9


def test_contacts_that_carry_are_looked_at_each_five_milliseconds_and_empty_ones_each_tick() -> None:
    watch = Watch()
    felt(watch, 1.0, 50.0, 50.0)
    for time, measured, empty in (
        (1.0049, 0.0, False),
        (1.0051, 0.0, True),
        (1.0052, 0.0, True),
        (1.0053, 50.0, False),
        (1.0054, 0.0, False),
        (1.0, 0.0, True),  # time went back
    ):
        assert bool(felt(watch, time, 50.0, measured)) == empty, time
