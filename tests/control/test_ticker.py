"""The time of a tick: given, or going on by itself; and what is remembered of the tick before."""

from __future__ import annotations

import copy
import gc

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import standing
from wbc import classical, kinematics
from wbc.simulation import loop


class Watch(tasks.TorqueMinimization):
    """A task that keeps what it was told."""

    def __init__(self) -> None:
        super().__init__("watch")
        self.seen: list[wbc.Tick] = []

    def rows(self, robot: wbc.Dynamics, tick: wbc.Tick) -> wbc.Rows:
        self.seen.append(tick)
        return super().rows(robot, tick)

    @property
    def times(self) -> list[float]:
        return [round(tick.time, 9) for tick in self.seen]


def watched(period: float = 1e-3) -> tuple[wbc.Controller, Watch, np.ndarray]:
    robot, watch = wbc.load("arm", "numpy"), Watch()
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration() / watch)
    return wbc.Controller(robot, stack, period=period), watch, np.array(robot.model.nominal)


def test_time_that_is_not_given_goes_on_by_the_period() -> None:
    ours, watch, q = watched(period=2e-3)
    for _ in range(3):
        ours.step(q, np.zeros(7))
    ours.step(q, np.zeros(7), 1.0)
    ours.step(q, np.zeros(7))
    ours.period = 0.1
    ours.step(q, np.zeros(7))
    ours.reset()
    ours.step(q, np.zeros(7))
    assert watch.times == [0.0, 0.002, 0.004, 1.0, 1.002, 1.102, 0.0]


def test_a_fade_ends_and_a_rate_holds_without_a_given_time() -> None:
    ours, _, q = watched(period=1e-2)
    ours.stack.fade("posture", 3.0, duration=0.05)
    for _ in range(7):
        ours.step(q, np.zeros(7))
    assert ours.stack["posture"].weight == 3.0


def test_time_that_stands_still_is_warned_of_once_at_the_hundredth_repetition() -> None:
    ours, _, q = watched()
    for _ in range(100):  # the first tick, and 99 more at its time: filterwarnings makes an error of a warning
        ours.step(q, np.zeros(7), 0.5)
    with pytest.warns(
        wbc.WbcWarning, match=r"100 ticks in a row had the time 0\.5 s.*controller\.step\(q, v\)"
    ) as told:
        ours.step(q, np.zeros(7), 0.5)
    assert told[0].filename == __file__
    for _ in range(120):
        ours.step(q, np.zeros(7), 0.5)


def test_time_that_moves_on_now_and_then_is_not_warned_of() -> None:
    ours, _, q = watched()
    for tick in range(180):
        ours.step(q, np.zeros(7), 1.0 * (tick // 90))


def test_the_same_time_twice_gives_the_same() -> None:
    """The last torque is that of the last tick at another time, however often a tick is asked for."""
    ours, watch, q = watched()
    first = ours.step(q, np.zeros(7), 0.0)
    second = ours.step(q + 0.01, np.zeros(7), 1e-3)
    again = ours.step(q + 0.01, np.zeros(7), 1e-3)
    assert watch.seen[0].last_torque is None
    assert watch.seen[1].last_torque is first.torque or np.array_equal(watch.seen[1].last_torque, first.torque)
    assert np.array_equal(watch.seen[2].last_torque, first.torque)
    assert np.allclose(again.torque, second.torque, atol=1e-12)
    ours.step(q, np.zeros(7), 2e-3)
    assert np.array_equal(watch.seen[3].last_torque, again.torque)
    ours.reset()
    ours.step(q, np.zeros(7), 0.0)
    assert watch.seen[4].last_torque is None


def test_a_layout_is_made_once_for_the_same_contacts() -> None:
    ours, q = standing("quadruped", "numpy")
    watch = Watch()
    stack = wbc.Stack([*map(list, ours.stack.levels), [watch]], ours.stack.contacts)
    ours = wbc.Controller(ours.robot, stack)
    for tick, change in enumerate((None, stack.open_contact, None, stack.close_contact)):
        if change is not None:
            change("LF_foot")
        ours.step(q, np.zeros(18), 1e-3 * tick)
    layouts = [tick.layout for tick in watch.seen]
    assert layouts[0] is layouts[3] and layouts[1] is layouts[2] and layouts[0] is not layouts[1]
    assert len(watch.seen[1].contacts) == 3


def test_what_the_contacts_bear_and_where_they_are_held_is_told() -> None:
    ours, q = standing("quadruped", "numpy")
    watch = Watch()
    stack = wbc.Stack([*map(list, ours.stack.levels), [watch]], ours.stack.contacts)
    ours = wbc.Controller(ours.robot, stack)
    first = ours.step(q, np.zeros(18), 0.0)
    stack.open_contact("LF_foot", duration=0.1)
    ours.step(q, np.zeros(18), 1.0)
    ours.step(q, np.zeros(18), 1.05)
    borne = first.normal_forces["LF_foot"]
    assert watch.seen[1].ceilings == pytest.approx([borne, np.inf, np.inf, np.inf])
    assert watch.seen[2].ceilings == pytest.approx([borne / 2, np.inf, np.inf, np.inf])
    ours.robot.update(q)
    assert np.allclose(watch.seen[0].anchors[1], ours.robot.pose("RF_foot"))


def test_asking_for_errors_moves_nothing_on() -> None:
    ours, watch, q = watched()
    ours.step(q, np.zeros(7), 0.0)
    ours.stack.fade("posture", 3.0, duration=1.0)
    ours.step(q, np.zeros(7), 1.0)
    for _ in range(3):
        ours.errors()
        str(ours)
    assert ours.stack["posture"].weight == 1.0
    ours.step(q, np.zeros(7))
    assert watch.times[-1] == 1.001


@pytest.mark.parametrize("kind", ["of tasks", "classical", "kinematic"])
def test_time_that_runs_backwards_is_an_error(kind: str) -> None:
    robot = wbc.load("arm")
    if kind == "classical":
        ours = classical.JointPD(robot)
    elif kind == "kinematic":
        ours = kinematics.DifferentialKinematics(robot, wbc.Stack(tasks.JointVelocity()))
    else:
        ours = watched()[0]
    q, v = np.array(robot.model.nominal), np.zeros(7)
    ours.step(q, v, 0.2)
    ours.step(q, v, 0.2 - 1e-12)  # rounding
    with pytest.raises(wbc.WbcError, match=r"t = 0\.1 s is before the last tick, at 0\.2 s.*reset\(\)"):
        ours.step(q, v, 0.1)
    ours.step(q, v, 0.2)  # where it was
    ours.reset()
    ours.step(q, v, 0.1)


def test_two_controllers_do_not_share_a_stack_during_ramps() -> None:
    one, q = standing("quadruped")
    other = wbc.Controller(one.robot, one.stack)
    v, foot = np.zeros(18), one.robot.model.feet[0]
    for ours in (one, other):  # nothing changes: they may
        ours.step(q, v, 0.0)
    for change in (
        lambda: one.stack.open_contact(foot, 0.01),
        lambda: one.stack.close_contact(foot, 0.01),
        lambda: one.stack.fade("posture", 3.0, 0.01),
        lambda: one.stack.switch_off("posture", 0.01),
    ):
        began = one._ticker.time
        change()
        one.step(q, v, began + 0.001)
        with pytest.raises(wbc.WbcError, match=r"two controllers share a stack .*copy\.deepcopy\(stack\)"):
            other.step(q, v, began + 0.001)
        one.step(q, v, began + 0.1)
        other.step(q, v, began + 0.1)  # the ramp is over


def test_a_ramp_goes_on_where_its_controller_is_gone_and_in_a_copy() -> None:
    one, q = standing("quadruped")
    stack, robot, v = one.stack, one.robot, np.zeros(18)
    stack.open_contact(robot.model.feet[0], 0.01)
    one.step(q, v, 0.001)
    wbc.Controller(robot, copy.deepcopy(stack)).step(q, v, 0.002)
    del one
    gc.collect()
    wbc.Controller(robot, stack).step(q, v, 0.002)


def test_a_run_has_a_clock_of_its_own_and_ramps_go_on() -> None:
    one, q = standing("quadruped")
    foot = one.robot.model.feet[0]
    one.stack.open_contact(foot, 0.01)
    for time in (5.0, 5.001, 5.002):
        one.step(q, np.zeros(18), time)
    before = one.stack.support.activation(foot)
    one.expect_new_clock()
    one.step(q, np.zeros(18), 0.0)  # a period later
    assert one.stack.support.activation(foot) == pytest.approx(before - 0.1)
    one.step(q, np.zeros(18), 0.01)
    assert one.stack.support.activation(foot) == 0.0
    with pytest.raises(wbc.WbcError, match="before the last tick"):
        one.step(q, np.zeros(18), 0.0)


def test_runs_follow_each_other_without_a_reset() -> None:
    one, _ = standing("quadruped")
    for _ in range(2):
        assert wbc.run(one, wbc.Simulator(one.robot), 0.01).ended == "finished"
    assert one.deadline is None


def test_a_run_bounds_its_ticks_by_the_period(monkeypatch) -> None:
    monkeypatch.setattr(loop, "WHOLE", 1.0)
    one, _ = standing("quadruped")
    seen: list[float | None] = []
    for bound in (None, np.inf, 0.5):
        one.deadline = bound
        plant = wbc.Simulator(one.robot)
        wbc.run(one, plant, 0.004, period=2e-3, until=lambda t, solution: seen.append(one.deadline) or False)
        assert one.deadline == bound
    assert seen == [2e-3, 2e-3, np.inf, np.inf, 0.5, 0.5]
