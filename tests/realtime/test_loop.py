"""The loop on a robot in this process, with a clock that is stepped: the same on any machine."""

from __future__ import annotations

import gc
import itertools
import mmap
import os
import sys
from dataclasses import replace

import numpy as np
import pytest

import tasks
import wbc
from tests.realtime.support import PERIOD, Recorded, from_then_on, is_damping, is_holding, reaching, standing
from wbc import realtime
from wbc.realtime import Histogram, Imu, State, SteppedClock
from wbc.realtime.clock import Deadlines
from wbc.realtime.phase import Phase
from wbc.realtime.privileges import privileged


def test_the_quadruped_is_taken_over_from_where_it_stands() -> None:
    controller = standing()
    io = Recorded(wbc.MujocoSimulator(controller.robot))
    report = realtime.run(controller, io, 0.6, ramp=0.3, kd=1.0, clock=SteppedClock())
    assert report.good and report.ticks == 600 and report.ended == "finished"
    assert is_holding(io.commands[0]) and is_damping(io.commands[-1])
    torques = np.array([command.effort(io.commands[0].position, 0.0) for command in io.commands[:-1]])
    # at first what holds a posture without a torque, at the end the controller's: no jump on the way
    assert np.abs(np.diff(torques, axis=0)).max() < 0.05 * controller.robot.limits.effort.max()
    assert (io.commands[1].kp > 0).all() and not io.commands[-2].kp.any()
    q, v = io.plant.state
    assert abs(q[2] - controller.robot.model.nominal[2]) < 0.02 and np.abs(v[:3]).max() < 0.05


def test_a_loop_is_the_same_each_time() -> None:
    def once() -> np.ndarray:
        controller = reaching()
        io = Recorded(wbc.Simulator(controller.robot))
        realtime.run(controller, io, 0.05, clock=SteppedClock())
        return np.array([command.torque for command in io.commands])

    assert (once() == once()).all()


def test_targets_until_and_what_is_left_behind() -> None:
    controller = reaching()
    io = Recorded(wbc.Simulator(controller.robot))
    times = []
    report = realtime.run(
        controller,
        io,
        1.0,
        clock=SteppedClock(),
        targets=lambda t, _: times.append(t),
        until=lambda t, _: t > 0.01,
        leave="hold",
    )
    assert report.ended == "stopped" and times == pytest.approx([PERIOD * tick for tick in range(12)])
    assert is_holding(io.commands[-1])
    assert controller.deadline is None and controller.period == PERIOD


def test_an_error_of_a_users_function_leaves_the_robot_braked() -> None:
    controller = reaching()
    io = Recorded(wbc.Simulator(controller.robot))

    def broken(t: float, _: object) -> None:
        if t > 0.005:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        realtime.run(controller, io, 1.0, clock=SteppedClock(), targets=broken)
    assert is_damping(io.commands[-1]) and gc.isenabled()


def test_a_robot_that_says_nothing_is_not_waited_for() -> None:
    controller = reaching()
    io = Recorded(wbc.Simulator(controller.robot), lambda now, state: None)
    with pytest.raises(wbc.WbcError, match=r"no state came from .* in 0.05 s"):
        realtime.run(controller, io, 1.0, patience=0.05)
    io.alter = from_then_on(0.0, position=np.full(7, np.nan))
    with pytest.raises(wbc.WbcError, match=r"no state with finite numbers came \(position\[0\] = nan\)"):
        realtime.run(controller, io, 1.0, patience=0.05)
    assert not io.commands


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"io": 3}, "io = 3 must have paced, read, write and close"),
        ({"estimator": 3}, "estimator = 3 has no estimate"),
        ({"watchdog": 3}, "watchdog = 3 must be a wbc.realtime.Watchdog"),
        ({"duration": -1}, "duration, s, = -1"),
        ({"leave": "fall"}, "leave = 'fall' must be one of 'hold', 'damp', 'stop'"),
        ({"targets": 3}, "targets = 3 must be a function"),
        ({"hold": 3}, "hold = 3 must be a pair of gains"),
        ({"priority": 300}, "priority = 300 must be a number"),
        ({"priority": 3.5}, "priority = 3.5 must be a whole number"),
        ({"cpu": "a"}, "cpu = 'a' must be a number, 0 or more"),
        ({"cpu": -1}, "cpu = -1 must be a number, 0 or more"),
        ({"clock": 3}, "clock = 3 must be a clock"),
        ({"record": "/nowhere/at/all.log"}, "can't write the log '/nowhere/at/all.log'"),
    ],
)
def test_bad_arguments_are_named(options, message) -> None:
    controller = reaching()
    given = {"io": Recorded(wbc.Simulator(controller.robot)), "duration": 1.0, **options}
    with pytest.raises(wbc.WbcError, match=message):
        realtime.run(controller, **given)


def test_a_floating_base_needs_somebody_who_knows_where_it_is() -> None:
    controller = standing()
    io = realtime.PlantIO(wbc.MujocoSimulator(controller.robot), base=False)
    with pytest.raises(wbc.WbcError, match="give an estimator"):
        realtime.run(controller, io, 1.0, clock=SteppedClock())
    with pytest.raises(wbc.WbcError, match="tells 12 positions .* 'arm' has 7, 7 and 7"):
        realtime.run(reaching(), io, 1.0, clock=SteppedClock())


def test_states_that_are_no_states_of_the_robot_are_named_and_leave_it_braked() -> None:
    controller = standing()

    def expect(message: str, estimator: object = None, **changes: object) -> None:
        io = Recorded(wbc.MujocoSimulator(controller.robot), from_then_on(0.01, **changes))
        with pytest.raises(wbc.WbcError, match=message):
            realtime.run(controller, io, 0.1, clock=SteppedClock(), estimator=estimator)
        assert is_damping(io.commands[-1])

    expect("11 torques of motors; 'quadruped' has 12, 12 and 12", torque=lambda state: state.torque[:-1])
    expect("rate of an Imu has the shape", imu=lambda state: replace(state.imu, rate=state.imu.rate[:2]))
    expect(r"base\[0\] of a State has the shape \(6,\); it must be \(7,\)", base=lambda state: (np.ones(6), np.ones(6)))
    expect("base of a State = 3 must be a pair", base=3)
    expect("imu of a State = 3 must be a wbc.realtime.Imu", imu=3)
    expect("time of a State = 'now' must be a number", time="now")
    expect("position of a State = 'up' is not an array of numbers", position="up")
    expect(r"velocity of a State has the shape \(1, 12\)", velocity=lambda state: state.velocity[None])
    expect("contacts of a State = 3 must be forces", contacts=3)
    expect(r"contacts\['LF_foot'\] of a State = True must be a number, N", contacts={"LF_foot": True})

    class Wrong:
        def estimate(self, state: State) -> tuple[np.ndarray, np.ndarray]:
            return np.full(19, np.nan if state.time > 0.01 else 0.1), np.zeros(18)

    expect(r"the estimator says q = .*they must be 19 and 18 finite numbers", Wrong())

    io = Recorded(wbc.MujocoSimulator(controller.robot), lambda now, state: (1, 2, 3))
    with pytest.raises(wbc.WbcError, match=r"read\(\) gave \(1, 2, 3\): it must be a wbc.realtime.State, or None"):
        realtime.run(controller, io, 0.1, clock=SteppedClock())


def test_readings_may_be_lists() -> None:
    state = State(0, [0, 1], (0.5, 1.5), np.ones(2, dtype=np.float32), Imu([0, 0, 1], [0, 0, 9.81]), {"foot": 3})
    assert state.finite and not state.trouble
    for row in (state.position, state.velocity, state.torque, state.imu.rate, state.imu.force):
        assert row.dtype == float


@pytest.mark.parametrize(
    ("changes", "trouble"),
    [
        ({"time": np.inf}, "time = inf"),
        ({"velocity": [0.0, np.nan]}, r"velocity[1] = nan"),
        ({"imu": Imu(np.zeros(3), [0.0, -np.inf, 0.0])}, "imu.force[1] = -inf"),
        ({"base": (np.full(7, np.nan), np.zeros(6))}, "base[0][0] = nan"),
        ({"contacts": {"left": np.inf, "right": np.nan}}, "contacts['right'] = nan"),
    ],
)
def test_what_is_no_number_in_a_state_is_named(changes, trouble) -> None:
    state = replace(State(0.0, np.zeros(2), np.zeros(2), np.full(2, np.nan), contacts={"left": np.inf}), **changes)
    assert not state.finite and state.trouble == trouble


@pytest.mark.parametrize("force", [40.0, np.inf])
def test_a_controller_is_told_what_contact_sensors_feel(force) -> None:
    controller = standing()
    io = Recorded(wbc.MujocoSimulator(controller.robot), from_then_on(0.0, contacts={"LF_foot": force, "nose": 3.0}))
    told = []
    realtime.run(controller, io, 0.01, clock=SteppedClock(), until=lambda t, _: told.append(controller.measured))
    weight = 9.81 * controller.robot.mass
    assert len(told) == 10 and all(list(felt) == ["LF_foot"] for felt in told)
    np.testing.assert_allclose(told[0]["LF_foot"], [0.0, 0.0, min(force, weight)])


def test_a_light_joint_with_a_strong_motor_is_held_still(tmp_path) -> None:
    file = tmp_path / "light.urdf"
    file.write_text(
        """<robot name="light"><link name="world"/><link name="arm"><inertial><origin xyz="0 0 0.2"/><mass value="4"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <link name="flange"><inertial><mass value="0.3"/>
        <inertia ixx=".001" iyy=".001" izz=".001" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="swing" type="revolute"><parent link="world"/><child link="arm"/><axis xyz="0 1 0"/>
        <limit lower="-3" upper="3" effort="300" velocity="3"/></joint>
        <joint name="turn" type="revolute"><parent link="arm"/><child link="flange"/><origin xyz="0 0 0.5"/>
        <axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="300" velocity="3"/></joint></robot>"""
    )
    robot = wbc.load(str(file), "numpy")
    plant = wbc.Simulator(robot)
    plant.reset(robot.model.nominal, [0.0, 0.1])
    controller = wbc.Controller(robot, tasks.stacks.standing(robot))
    report = realtime.run(controller, realtime.PlantIO(plant), 0.1, ramp=10.0, clock=SteppedClock(), leave="hold")
    q, v = plant.true_state
    assert report.good and abs(v[1]) < 0.01 and abs(q[1]) < 0.01


def test_deadlines_are_absolute_and_those_that_are_over_are_left_out() -> None:
    clock = SteppedClock(5.0)
    deadlines = Deadlines(clock, 1e-3)
    assert deadlines.wait() == 0 and clock.time == pytest.approx(5.001)
    clock.time += 0.0004  # a tick of 0.4 ms moves no deadline
    deadlines.wait()
    assert clock.time == pytest.approx(5.002) and deadlines.skipped == 0
    clock.time += 0.0026  # of those at 5.003 and 5.004 the first can't be had any more, and the other one hardly
    assert deadlines.wait() == 0
    assert clock.time == pytest.approx(5.005) and deadlines.skipped == 2
    clock.time += 0.0024  # of those at 5.006 and 5.007 the other one can: it begins at once, and moves no deadline
    assert deadlines.wait() == pytest.approx(0.0004)
    assert clock.time == pytest.approx(5.0074) and deadlines.due == pytest.approx(5.007) and deadlines.skipped == 3
    deadlines.wait()
    assert clock.time == pytest.approx(5.008) and deadlines.skipped == 3


class Sending:
    """A robot that stands still, and whose states come when they are read: by turns a little sooner and later."""

    paced = False

    def __init__(self, clock: SteppedClock, state: State) -> None:
        self.clock, self.state, self.number = clock, state, 0
        self.earlier: list[State] = []

    def read(self) -> State:
        last, self.number = self.number, round(self.clock.time / PERIOD)
        self.number -= self.clock.time < PERIOD * self.number + (1e-5 if self.number % 2 else -1e-5)
        self.earlier = [replace(self.state, time=PERIOD * number) for number in range(last + 1, self.number)]
        return replace(self.state, time=PERIOD * self.number)

    def write(self, command: realtime.Command) -> None:
        pass

    close = write


def test_states_are_not_read_just_when_they_come() -> None:
    controller, clock = reaching(), SteppedClock()
    state = realtime.PlantIO(wbc.Simulator(controller.robot)).read()
    report = realtime.run(controller, Sending(clock, state), 0.5, clock=clock)
    assert report.good and 40 <= report.stale <= 55, "of the first hundred ticks every other one finds no state"


def test_a_loop_that_is_faster_than_its_robot_or_has_an_uneven_line_goes_on_as_it_is() -> None:
    phase = Phase(PERIOD)
    assert not any(phase.look(k % 2 == 0, False) for k in range(1000))
    shifts = [phase.look(k % 2 == 0, k % 2 == 0) for k in range(1000)]
    assert [k for k, by in enumerate(shifts) if by] == [99, 199, 299] and sum(shifts) == pytest.approx(0.75 * PERIOD)


def test_the_clock_of_the_system_waits_as_long_as_it_is_told() -> None:
    clock = realtime.MonotonicClock()
    began = clock.now()
    for tick in range(1, 6):
        clock.wait_until(began + 2e-3 * tick)
        assert clock.now() >= began + 2e-3 * tick


def test_what_the_system_does_is_undone() -> None:
    before = os.sched_getscheduler(0), gc.isenabled(), os.sched_getaffinity(0)
    with privileged(10, min(before[2])) as words:
        assert not gc.isenabled()
        assert len(words) == 6
        granted = os.sched_getscheduler(0) & os.SCHED_FIFO
        assert any(word.startswith("real-time priority 10" if granted else "no real-time priority") for word in words)
    assert before == (os.sched_getscheduler(0), gc.isenabled(), os.sched_getaffinity(0))


def test_what_the_system_refuses_is_said(monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    monkeypatch.setattr("wbc.realtime.privileges._library", lambda: None)
    with privileged(10, 0) as words:
        pass
    said = "; ".join(words)
    assert "no real-time priority: Operation not permitted; allow it by" in said
    assert "not on processor 0: Operation not permitted" in said and "memory not locked" in said


def test_a_histogram_tells_shares_and_the_longest() -> None:
    histogram = Histogram("waits")
    assert str(histogram) == "waits: none"
    for time in [100e-6] * 98 + [500e-6, 0.3]:
        histogram.add(time)
    assert histogram.percentile(50) == pytest.approx(101e-6) and histogram.percentile(98.5) == pytest.approx(501e-6)
    assert histogram.percentile(100) == histogram.largest == 0.3
    assert histogram.over(200e-6) == 2 and histogram.over(1e-3) == 1 and histogram.count == 100
    assert histogram.mean == pytest.approx((98 * 100e-6 + 500e-6 + 0.3) / 100)
    places, counts = histogram.counts
    assert counts.tolist() == [98, 1, 1] and places[:2] == pytest.approx([100e-6, 500e-6])


def test_a_tick_without_a_new_state_sends_the_last_command_again_and_targets_wait() -> None:
    controller = reaching()
    kept: list[realtime.State] = []

    def freeze(now: float, state: realtime.State) -> realtime.State:
        kept.append(state)
        return state if not 0.0095 < now < 0.0135 else next(old for old in reversed(kept) if old.time < 0.0095)

    io = Recorded(wbc.Simulator(controller.robot), freeze)
    times: list[float] = []
    report = realtime.run(
        controller, io, 0.03, ramp=0.0, clock=SteppedClock(), targets=lambda t, _: times.append(round(1e3 * t))
    )
    assert report.stale == 4 and not report.faults and report.ticks == 30
    assert times == [*range(10), *range(14, 30)]
    same = [a is b for a, b in itertools.pairwise(io.commands[:-1])]
    assert [tick for tick, repeated in enumerate(same, 1) if repeated] == [10, 11, 12, 13]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux counts it by threads")
def test_memory_that_a_callback_asks_for_is_told() -> None:
    def told(pages: int) -> realtime.Report:
        controller = reaching()
        io = Recorded(wbc.Simulator(controller.robot))

        def until(t: float, _: object) -> bool:
            if pages:  # from the system itself: an allocator may have some left
                mmap.mmap(-1, pages * mmap.PAGESIZE).write(bytes(pages * mmap.PAGESIZE))
            return False

        return realtime.run(controller, io, 0.03, clock=SteppedClock(), until=until)

    much = told(64)
    assert much.paged >= 29 and f"{much.paged} ticks had to wait for memory" in much.summary()
    assert told(0).paged < 15


def test_a_rehearsal_calls_targets_and_sends_nothing() -> None:
    controller = reaching()
    io = Recorded(wbc.Simulator(controller.robot))
    times: list[float] = []

    def note(t: float, _: object) -> None:
        times.append(round(1e3 * t))
        if len(times) <= 5:
            assert not io.commands

    realtime.run(controller, io, 0.003, clock=SteppedClock(), targets=note, rehearsal=0.005)
    assert times == [0, 1, 2, 3, 4, 0, 1, 2]


def test_an_estimator_sees_states_that_come_in_bunches() -> None:
    controller = reaching()

    class Bunches(Recorded):
        earlier: tuple[realtime.State, ...] = ()

        def read(self) -> realtime.State:
            state = super().read()
            self.earlier = (replace(state, time=state.time - 4e-4), replace(state, time=state.time - 2e-4))
            return state

    class Sees:
        def __init__(self) -> None:
            self.times: list[float] = []

        def estimate(self, state: realtime.State) -> tuple[np.ndarray, np.ndarray]:
            self.times.append(state.time)
            return state.position, state.velocity

    sees = Sees()
    realtime.run(controller, Bunches(wbc.Simulator(controller.robot)), 0.01, estimator=sees, clock=SteppedClock())
    assert len(sees.times) >= 30 and (np.diff(sees.times) > 0).all()
