"""Each rule, by the fault that it is for."""

from __future__ import annotations

import copy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import wbc
from tests.realtime.support import Recorded, from_then_on, is_damping, is_holding, is_off, reaching, standing
from wbc import realtime
from wbc.geometry import quaternion
from wbc.realtime import Report, State, SteppedClock, Watchdog
from wbc.realtime.watchdog import Watch

FAULT = 0.02
"""When it is injected, s of the plant's time: a millisecond after that of the loop, as the robot is held before."""


def ran(io: Recorded, controller: wbc.Controller, watchdog: Watchdog | None = None, **options) -> Report:
    return realtime.run(controller, io, 0.06, ramp=0.0, watchdog=watchdog, clock=SteppedClock(), **options)


def arm(alter=None, **options) -> tuple[Recorded, wbc.Controller]:
    controller = reaching(**options)
    return Recorded(wbc.Simulator(controller.robot), alter), controller


def expect(report: Report, io: Recorded, kind: str, reaction: str, text: str, at: float = FAULT) -> None:
    (fault,) = report.faults
    assert (fault.kind, fault.reaction, report.reaction) == (kind, reaction, reaction)
    assert text in fault.text and fault.time == pytest.approx(at, abs=2.1e-3)
    assert not report.good and str(fault) in report.summary()
    after = io.commands[round(fault.time / 1e-3) + 1 :]
    looks = {"hold": is_holding, "damp": is_damping, "stop": is_off}[reaction]
    assert all(map(looks, after[: -1 if reaction == "hold" else None])) and after
    assert not looks(io.commands[round(fault.time / 1e-3) - 2])
    if reaction == "stop":
        assert report.ended == str(fault) and report.ticks == pytest.approx(fault.time / 1e-3 + 1, abs=1.01)
    else:
        assert report.ended == "finished" and report.ticks == 60


def test_nothing_is_found_where_all_is_well() -> None:
    io, controller = arm()
    assert ran(io, controller).good


@pytest.mark.parametrize("reaction", ["hold", "damp", "stop"])
def test_a_state_that_is_stale(reaction) -> None:
    frozen: list[State] = []

    def freeze(now: float, state: State) -> State:
        frozen.append(state)
        return state if now < FAULT else next(old for old in reversed(frozen) if old.time < FAULT)

    io, controller = arm(freeze)
    report = ran(io, controller, Watchdog(stale=(0.0045, reaction)))
    expect(report, io, "stale", reaction, "no new state for 5.0 ms; 4.5 are allowed", FAULT + 0.005)
    assert report.stale >= 5


def test_a_state_that_is_no_number() -> None:
    io, controller = arm(from_then_on(FAULT, velocity=np.full(7, np.nan)))
    report = ran(io, controller, Watchdog(stale=(0.0045, "damp")))
    expect(report, io, "stale", "damp", "4.5 are allowed; the last one has velocity[0] = nan", FAULT + 0.005)
    assert all(command.finite for command in io.commands)


def test_a_clock_of_the_robot_that_runs_backwards_and_one_that_is_set_back() -> None:
    for back in (lambda state: -state.time, lambda state: state.time - FAULT):
        io, controller = arm(from_then_on(FAULT, time=back))
        report = ran(io, controller, Watchdog(stale=(0.0045, "damp")))
        expect(report, io, "stale", "damp", "s, before the 0.019 s of the one in use", FAULT + 0.005)


def test_a_state_that_was_overtaken_is_not_used() -> None:
    times = []
    io, controller = arm()
    io.alter = lambda now, state: replace(state, time=now - 0.004 * (round(now / 1e-3) % 3 == 2))
    report = ran(io, controller, targets=lambda t, _: times.append(t))
    assert report.ended == "finished" and not report.faults and report.stale == pytest.approx(20, abs=1)
    assert (np.diff(times) > 0).all()


def test_a_joint_that_is_too_fast() -> None:
    def spin(state: State) -> np.ndarray:
        return state.velocity + np.eye(7)[3] * 100.0

    io, controller = arm(from_then_on(FAULT, velocity=spin))
    name = controller.robot.joint_names[3]
    expect(ran(io, controller), io, "velocity", "damp", f"{name} moves at 1")


def test_a_joint_beyond_its_limits() -> None:
    io, controller = arm(from_then_on(FAULT, position=lambda state: state.position + np.eye(7)[1] * 4.0))
    name = controller.robot.joint_names[1]
    expect(ran(io, controller), io, "position", "hold", f"{name} is at ")


def test_an_encoder_that_jumps_does_not_tell_where_to_hold() -> None:
    io, controller = arm(from_then_on(FAULT, position=lambda state: state.position + np.eye(7)[1] * 4.0))
    assert ran(io, controller).reaction == "hold"
    q, v = io.plant.true_state
    held = io.commands[-2]
    assert is_holding(held) and np.abs(held.position - q).max() < 0.05 and np.abs(v).max() < 0.5


def test_a_torque_that_is_beyond_the_motor() -> None:
    io, controller = arm(from_then_on(FAULT, torque=np.full(7, 1e3)))
    expect(ran(io, controller), io, "torque", "damp", "gives 1e+03, it has")


def test_a_base_that_leans() -> None:
    def tip(state: State) -> tuple[np.ndarray, np.ndarray]:
        q, v = state.base
        turned = quaternion.multiply(quaternion.from_rotation_vector([0.0, 1.1, 0.0]), q[3:7])
        return np.concatenate([q[:3], turned]), v

    controller = standing()
    io = Recorded(wbc.MujocoSimulator(controller.robot), from_then_on(FAULT, base=tip))
    expect(ran(io, controller), io, "tilt", "damp", "the base leans by 1.10 rad; 1 are allowed")


def test_torques_that_jump() -> None:
    io, controller = arm()
    tool = controller.stack["tool"]
    place = {"at": None}

    def jump(t: float, controller: wbc.Controller) -> None:
        if t >= FAULT and place["at"] is None:
            place["at"] = controller.robot.pose("tool")[:3, 3] + np.array([0.0, 0.0, 3.0])
            tool.target = place["at"]

    rules = Watchdog(torque_rate=(0.2, "damp"), velocity=None)
    expect(ran(io, controller, rules, targets=jump), io, "torque rate", "damp", "in a tick, it has")


def test_what_the_ramp_holds_back_is_no_jump() -> None:
    rules = Watchdog(torque_rate=(0.2, "damp"), velocity=None)
    for ramp, kinds in ((0.0, ["torque rate"]), (1.0, [])):
        io, controller = arm()

        def jump(t: float, controller: wbc.Controller) -> None:
            if t == pytest.approx(FAULT):
                controller.stack["tool"].target = controller.robot.pose("tool")[:3, 3] + np.array([0.0, 0.0, 3.0])

        report = realtime.run(controller, io, 0.03, ramp=ramp, watchdog=rules, targets=jump, clock=SteppedClock())
        assert [fault.kind for fault in report.faults] == kinds


@pytest.mark.parametrize(("last", "kinds"), [(0.9, []), (-0.9, ["torque rate"]), (0.0, [])])
def test_torques_that_let_go_are_no_jump(last: float, kinds: list[str]) -> None:
    robot = wbc.load("arm")
    watch = Watch(Watchdog(torque_rate=(0.5, "damp")), robot.model)
    for share in (last, 0.1):
        solution = SimpleNamespace(torque=share * robot.limits.effort, status="optimal", interrupted=False)
        assert watch.look_at_solution(0.0, solution) == 1.0
    assert [fault.kind for fault in watch.faults] == kinds


def test_ticks_that_are_late() -> None:
    io, controller = arm()
    clock = SteppedClock()

    def dawdle(t: float, _: object) -> None:
        if t >= FAULT:
            clock.time += 1.7e-3

    report = realtime.run(
        controller, io, 0.06, ramp=0.0, clock=clock, targets=dawdle, watchdog=Watchdog(late=(3, "hold"))
    )
    (fault,) = report.faults
    assert fault.kind == "late" and "4 ticks in a row were late; 3 are allowed" in fault.text
    # the reaction asks nobody: from then on ticks are in time
    assert report.missed == 4 and report.skipped == 4 and is_holding(io.commands[-2])


def test_ticks_that_fail() -> None:
    io, controller = arm()
    step, reason = controller.step, ValueError("a matrix of bananas")

    class Failing:
        robot, stack, period, errors, reset = (
            controller.robot,
            controller.stack,
            controller.period,
            controller.errors,
            controller.reset,
        )

        def step(self, q, v, t=None, *, measured=None) -> wbc.Solution:
            solution = step(q, v, t, measured=measured)
            if t >= FAULT:
                solution.status, solution.reason = "failed", reason
            return solution

    report = ran(io, Failing(), Watchdog(failed=(3, "stop")))
    expect(report, io, "failed", "stop", "4 ticks in a row failed, the last one with ValueError", FAULT + 0.003)


def test_a_harder_reaction_takes_over_and_a_milder_does_not() -> None:
    def later(now: float, state: State) -> State:
        if now >= FAULT:
            state = replace(state, position=state.position + np.eye(7)[1] * 4.0)
        return replace(state, velocity=state.velocity + 100.0) if now >= 2 * FAULT else state

    io, controller = arm(later)
    report = ran(io, controller, Watchdog(position=(0.1, "damp"), velocity=(1.0, "hold")))
    assert [fault.kind for fault in report.faults] == ["position", "velocity"] and report.reaction == "damp"
    io, controller = arm(later)
    report = ran(io, controller, Watchdog(position=(0.1, "hold"), velocity=(1.0, "stop")))
    assert report.reaction == "stop" and is_off(io.commands[-1])
    assert is_holding(io.commands[round(1.5 * FAULT / 1e-3)])


def test_rules_that_can_not_be_are_named() -> None:
    with pytest.raises(wbc.WbcError, match="tilt = 3 must be None or a pair of a limit and one of 'hold'"):
        Watchdog(tilt=3)
    with pytest.raises(wbc.WbcError, match="tilt = "):
        Watchdog(tilt=(1.0, "pray"))
    with pytest.raises(wbc.WbcError, match="the limit of late = -1"):
        Watchdog(late=(-1, "hold"))
    everything_off = Watchdog(*[None] * 8)
    io, controller = arm(from_then_on(FAULT, velocity=lambda state: state.velocity + 100.0))
    assert not ran(io, controller, everything_off).faults


def test_a_tick_that_was_cut_short_and_would_jump_is_not_commanded() -> None:
    io, controller = arm()
    step = controller.step

    class Cut:
        robot, stack, period, errors, reset = (
            controller.robot,
            controller.stack,
            controller.period,
            controller.errors,
            controller.reset,
        )

        def step(self, q, v, t=None, *, measured=None) -> wbc.Solution:
            solution = step(q, v, t, measured=measured)
            if FAULT <= t < FAULT + 0.0025:  # the controller itself goes on from what it found
                solution = copy.copy(solution)
                solution._x = solution._x + 1e3
                solution.interrupted = True
            return solution

    report = ran(io, Cut())
    assert report.cut == 3 and not report.faults and report.ended == "finished"
    first = round(FAULT / 1e-3)
    assert all(command is io.commands[first - 1] for command in io.commands[first : first + 3])
    torques = np.array([command.torque for command in io.commands[:-1]])
    most = controller.robot.limits.effort
    assert (np.abs(np.diff(torques, axis=0)) < 0.501 * most).all() and (np.abs(torques) < 1.01 * most).all()
    io, controller = arm()
    step = controller.step
    report = ran(io, Cut(), Watchdog(failed=(2, "hold")))
    assert [fault.kind for fault in report.faults] == ["failed"] and "its deadline" in report.faults[0].text
