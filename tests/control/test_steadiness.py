"""Torques change no faster than told, where the state goes on from the one before; limits and contacts come first."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import SOLVERS, controller, standing
from wbc.arrays import Array
from wbc.compiled import kernel
from wbc.control.compiled_solving import CompiledSolving
from wbc.control.controller import RESERVE
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.inserted import InsertedLevel
from wbc.control.level_solving import LevelSolving
from wbc.control.program import Part
from wbc.control.solving import Outcome
from wbc.control.steadiness import BRAKES, WIDE_FOR, WIDER, Steadiness, TorqueRates
from wbc.simulation import Noise, Realism, make_plant
from wbc.solvers import HierarchicalQP

LOOK_AT_INEQUALITIES = ("hierarchical-qp", "sequential-qp", "weighted-qp")
RISE = 0.05
AWAY = np.array(wbc.load("arm", "numpy").model.nominal) + 0.5
"""A posture of the arm that is far from its nominal one."""

pytestmark = pytest.mark.filterwarnings("ignore:no task bounds the forces")


def arm(solver: str = "hierarchical-qp", limits: wbc.Task | None = None, **options: object) -> wbc.Controller:
    """An arm that holds its tool, in the pose of a usual stack."""
    robot = wbc.load("arm", "numpy")
    above = tasks.EquationOfMotion() / (tasks.TorqueLimits() if limits is None else limits)
    hold = above / tasks.EndEffectorAcceleration("tool", gains=wbc.Gains(2.0)) / tasks.JointAcceleration()
    return controller(robot, wbc.Stack(hold / tasks.TorqueMinimization()), solver, **options)


def sweep(ours: wbc.Controller) -> list[wbc.Solution]:
    """An arm that is led through the pose in which it is straight, from where on its tool's task is singular."""
    home, near = np.array(ours.robot.model.nominal), np.geomspace(1e-3, 1e-10, 60)
    shares = np.concatenate([np.linspace(0.3, 1e-3, 300), near, [0.0], -near[::-1]])
    return [ours.step(home * share, np.zeros(7), 1e-3 * k) for k, share in enumerate(shares)]


def fastest(ours: wbc.Controller, found: list[wbc.Solution]) -> float:
    """The largest change from tick to tick, as a share of what the bound allows in one."""
    change = np.abs(np.diff([solution.torque for solution in found], axis=0)) / ours.robot.limits.effort
    return float(change.max()) * RISE / ours.period


def jump(ours: wbc.Controller) -> list[wbc.Solution]:
    """A target of the posture that jumps after some ticks in one state."""
    q, v, found = np.array(ours.robot.model.nominal), np.zeros(ours.robot.nv), []
    for k in range(8):
        if k == 4:
            ours.stack["posture"].target = AWAY  # type: ignore[attr-defined]
        found.append(ours.step(q, v, 1e-3 * k))
    return found


def posture(solver: str = "hierarchical-qp", **options: object) -> wbc.Controller:
    robot = wbc.load("arm", "numpy")
    levels = tasks.EquationOfMotion() / tasks.TorqueLimits() / tasks.JointAcceleration(gains=wbc.Gains(3.0))
    return controller(robot, wbc.Stack(levels), solver, **options)


@pytest.mark.parametrize("solver", LOOK_AT_INEQUALITIES)
def test_torques_change_no_faster_than_told_where_they_would_jump(solver: str) -> None:
    free, ours = posture(solver, rise=None), posture(solver)
    assert fastest(free, jump(free)) > 2.0
    found = jump(ours)
    assert fastest(ours, found) == pytest.approx(1.0, abs=1e-6)
    assert all(solution.certificate.holds for solution in found)


def test_an_arm_that_is_led_through_straight_keeps_the_bound_in_every_tick() -> None:
    free, ours = arm(rise=None), arm()
    assert fastest(free, sweep(free)) > 1.1
    assert fastest(ours, sweep(ours)) <= 1.0 + 1e-6


def test_the_rows_at_the_bound_are_named() -> None:
    solution = jump(posture())[4]
    held = {active.row for active in solution.active if active.task == "torque rates"}
    assert held and held <= set(wbc.load("arm", "numpy").joint_names)
    assert "held back by torque rates (" in solution.explain()


@pytest.mark.parametrize("solver", LOOK_AT_INEQUALITIES)
def test_a_joint_that_comes_near_its_end_brakes_in_time(solver: str) -> None:
    """What brakes may change faster than the bound allows elsewhere."""
    ours = arm(solver, tasks.TorqueLimits() + tasks.JointLimits())
    robot = ours.robot
    q, v = np.array(robot.model.nominal), np.zeros(7)
    joint = 5
    q[joint] = robot.limits.upper[joint] - 0.004
    first = ours.step(q, v, 0.0)
    v[joint] = 0.5
    second = ours.step(q, v, 1e-3)
    change = np.abs(second.torque - first.torque) / robot.limits.effort * RISE / ours.period
    assert change.max() > 1.5, "the limit needs more than the bound allows"
    limits = next(level for level in second.levels if "joint limits" in level.residual)
    assert np.abs(limits.residual["joint limits"]).max() < 1e-6
    assert (np.abs(second.torque) <= robot.limits.effort).all() and second.certificate.holds


@pytest.mark.parametrize("solver", LOOK_AT_INEQUALITIES)
def test_a_joint_that_can_not_stop_in_time_is_no_reason_to_jump(solver: str) -> None:
    ours = arm(solver, tasks.TorqueLimits() + tasks.JointLimits())
    robot = ours.robot
    q, v = np.array(robot.model.nominal), np.zeros(7)
    q[5] = robot.limits.upper[5] - 0.004
    first = ours.step(q, v, 0.0)
    v[5] = 10.0
    second = ours.step(q, v, 1e-3)
    assert second.status == "relaxed" and "held back by torque rates" in second.explain()
    change = np.abs(second.torque - first.torque) / robot.limits.effort * RISE / ours.period
    assert (change[np.arange(7) != 5] <= 1.0 + 1e-6).all() and change[5] <= BRAKES + 1e-6


@pytest.mark.parametrize("solver", LOOK_AT_INEQUALITIES)
def test_a_torque_limit_that_is_lowered_holds_at_once(solver: str) -> None:
    limits = tasks.TorqueLimits()
    ours = arm(solver, limits + tasks.JointLimits())
    q, v = np.array(ours.robot.model.nominal), np.zeros(7)
    first = ours.step(q, v, 0.0)
    most = np.abs(first.torque / ours.robot.limits.effort).max()
    limits.scale = 0.5 * most
    second = ours.step(q, v, 1e-3)
    assert np.abs(second.torque / ours.robot.limits.effort).max() <= 0.5 * most + 1e-9
    assert np.abs(second.torque - first.torque).max() > ours.period / RISE * ours.robot.limits.effort.min()


@pytest.mark.parametrize(("deadline", "again"), [(RESERVE + 1.2e-4, True), (RESERVE + 8e-5, False)])
def test_a_tick_is_not_solved_again_where_there_is_no_time_to(deadline, again, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """The clock stands still: the rest of the deadline is what is left."""
    monkeypatch.setattr("wbc.control.controller.perf_counter", lambda: 7.0)
    ours = posture(deadline=deadline)
    found = jump(ours)
    assert fastest(ours, found) == pytest.approx(1.0, abs=1e-6), "the bound holds all the same"
    assert [solution.interrupted for solution in found[4:6]] == [not again] * 2
    assert all(solution.certificate.equation_of_motion < 1e-9 and solution.certificate.holds for solution in found)


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was solved without the bound on torque rates."""
    found: list[object] = []
    solve = CompiledSolving.solve if kernel is not None else LevelSolving.solve

    def counted(self: CompiledSolving, equation: MotionEquation, parts: tuple[Part, ...], seconds: float) -> Outcome:
        if all(part.entry.name != "torque rates" for part in parts):
            found.append(self)
        return solve(self, equation, parts, seconds)  # type: ignore[arg-type]

    monkeypatch.setattr(CompiledSolving if kernel is not None else LevelSolving, "solve", counted)
    return found


def test_a_tick_after_one_at_the_bound_is_solved_with_it_at_once(free: list[object]) -> None:
    """Solved without it first, as the ticks before a bound are, it comes to the same, and says the same of itself."""
    ours, twice = posture(), posture()
    twice._exact = False
    q, v, frees, held = np.array(ours.robot.model.nominal), np.zeros(7), [], []
    for k in range(40):
        if k == 4:
            for one in (ours, twice):
                one.stack["posture"].target = q + 0.05  # type: ignore[attr-defined]
        expected = twice.step(q, v, 1e-3 * k)
        free.clear()
        found = ours.step(q, v, 1e-3 * k)
        frees.append(len(free))
        held.append("torque rates" in expected.explain())
        assert ours._steadiness is not None
        assert k != 4 or ours._steadiness._ways.any(), (
            "which way torques went to their bound is known from the first on"
        )
        np.testing.assert_allclose(found.torque, expected.torque, atol=1e-8)
        assert ("torque rates" in found.explain()) == held[-1]
    assert not any(held[:4]) and held[4] and not any(held[-4:])
    last = max(k for k in range(40) if held[k])
    assert last > 5
    assert frees[:5] == [1] * 5 and frees[5 : last + 2] == [0] * (last - 3) and set(frees[last + 2 :]) == {1}


def test_a_tick_with_other_contacts_than_the_last_is_solved_with_the_bound_at_once(free: list[object]) -> None:
    def standing() -> wbc.Controller:
        robot = wbc.load("quadruped", "numpy")
        return wbc.Controller(robot, tasks.stacks.standing(robot))

    ours, twice = standing(), standing()
    twice._exact = False
    q, v, frees = np.array(ours.robot.model.nominal), np.zeros(ours.robot.nv), []
    for k in range(12):
        if k in (4, 8):
            for one in (ours, twice):
                (one.stack.open_contact if k == 4 else one.stack.close_contact)(("LF_foot", "RH_foot"))
        expected = twice.step(q, v, 1e-3 * k)
        free.clear()
        found = ours.step(q, v, 1e-3 * k)
        frees.append(len(free))
        np.testing.assert_allclose(found.torque, expected.torque, atol=1e-8)
        assert found._past.hurried == expected._past.hurried
    assert frees[:5] == [1, 1, 1, 1, 0] and frees[8] == 0


def test_a_bound_that_holds_nothing_back_leaves_no_trace() -> None:
    """The level that was inserted is the second one, its rows the third to fifth."""
    ours = posture()
    ours.step(ours.robot.model.nominal, np.zeros(7))
    program = next(iter(ours._laid.values()))[0]
    equation = MotionEquation.of(ours.robot, ours._ticker.again(1e-3))
    level = InsertedLevel(program, equation, HierarchicalQP(), TorqueRates(np.ones(7)), 1, ours.robot.limits.effort)
    level._rows = 2, 3
    told = Outcome(np.zeros(3), "optimal", yielding=((0, 1, 0.5), (2, 5, 0.6), (3, 7, 0.7)))
    assert level.without(told).yielding == ((0, 1, 0.5), (1, 2, 0.6), (2, 4, 0.7))


def test_feet_that_touch_down_stay_inside_their_cones() -> None:
    """A speed that comes from one tick to the next, as after an impact."""
    ours, q = standing("quadruped", "numpy")
    for k in range(3):
        ours.step(q, np.zeros(18), 1e-3 * k)
    v = np.zeros(18)
    v[:3] = 0.2, 0.3, -0.3
    solution = ours.step(q, v, 3e-3)
    assert any(part.entry.name == "torque rates" for part in solution._parts)
    assert solution.certificate.holds and solution.certificate.cone_margin > -1e-6


@pytest.mark.parametrize("solver", SOLVERS)
def test_where_nothing_changes_fast_it_is_as_without(solver: str) -> None:
    found = []
    for rise in (None, RISE):
        ours, q = standing("quadruped", "numpy", solver, rise=rise)
        states = [(q, 1e-3 * k * np.ones(18)) for k in range(10)]
        found.append([ours.step(*state, 1e-3 * k).torque for k, state in enumerate(states)])
    assert np.array_equal(*found)


@pytest.mark.parametrize("solver", ("nullspace", "operational-space"))
def test_solvers_that_look_at_no_inequality_are_not_bound(solver: str) -> None:
    found = [[solution.torque for solution in jump(posture(solver, rise=rise))] for rise in (None, RISE)]
    assert np.array_equal(*found)


def test_without_it_torques_are_those_of_a_controller_that_knows_no_last_tick() -> None:
    found = [solution.torque for solution in jump(posture(rise=None))]
    fresh = posture(rise=None)
    fresh.stack["posture"].target = AWAY  # type: ignore[attr-defined]
    alone = fresh.step(np.array(fresh.robot.model.nominal), np.zeros(7)).torque
    assert np.allclose(found[4], alone, rtol=1e-9, atol=1e-9)


def test_the_same_tick_twice_gives_the_same_torque() -> None:
    ours = posture()
    q, v = np.array(ours.robot.model.nominal), np.zeros(7)
    ours.step(q, v, 0.0)
    ours.stack["posture"].target = AWAY  # type: ignore[attr-defined]
    once, again, third = (ours.step(q, v, 1e-3).torque for _ in range(3))
    assert np.allclose(once, again, rtol=1e-9, atol=1e-9) and np.array_equal(again, third)
    assert not np.allclose(ours.step(q, v, 2e-3).torque, once)


def test_a_tick_that_comes_late_may_change_torques_by_more() -> None:
    found = []
    for later in (1e-3, 3e-3, 1.0):
        ours = posture()
        q, v = np.array(ours.robot.model.nominal), np.zeros(7)
        before = ours.step(q, v, 0.0).torque
        ours.stack["posture"].target = AWAY  # type: ignore[attr-defined]
        found.append(np.abs(ours.step(q, v, later).torque - before) / ours.robot.limits.effort)
    assert found[0].max() == pytest.approx(1e-3 / RISE, rel=1e-6)
    assert found[1].max() == pytest.approx(3e-3 / RISE, rel=1e-6)
    assert found[2].max() > 4e-3 / RISE


def test_a_robot_that_is_put_elsewhere_is_not_bound() -> None:
    ours = arm()
    q, v = np.array(ours.robot.model.nominal), np.zeros(7)
    other = q + 0.8
    before = ours.step(q, v, 0.0).torque
    after = ours.step(other, v, 1e-3).torque
    assert (np.abs(after - before) / ours.robot.limits.effort).max() > 1.5e-3 / RISE


def test_a_reset_forgets() -> None:
    ours = posture()
    q, v = np.array(ours.robot.model.nominal), np.zeros(7)
    ours.step(q, v, 0.0)
    ours.reset()
    ours.stack["posture"].target = AWAY  # type: ignore[attr-defined]
    fresh = posture()
    fresh.stack["posture"].target = AWAY  # type: ignore[attr-defined]
    assert np.array_equal(ours.step(q, v, 1e-3).torque, fresh.step(q, v, 1e-3).torque)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda ours: pickle.loads(pickle.dumps(ours))])
@pytest.mark.parametrize("solver", LOOK_AT_INEQUALITIES)
def test_a_copy_goes_on_as_the_original_does(copied, solver: str) -> None:  # type: ignore[no-untyped-def]
    ours = posture(solver)
    jump(ours)
    twin = copied(ours)
    q, v = np.array(ours.robot.model.nominal), np.zeros(7)
    for k in range(8, 12):
        one, two = ours.step(q, v, 1e-3 * k), twin.step(q, v, 1e-3 * k)
        assert any(part.entry.name == "torque rates" for part in one._parts)
        assert np.array_equal(one.torque, two.torque)


@pytest.mark.parametrize("trade", [None, 1.0])
@pytest.mark.parametrize("noisy", [True, False])
def test_a_bound_that_is_met_for_long_is_loosened_where_sensors_are_noisy(noisy: bool, trade: float | None) -> None:
    """Else noise would hold torques there for ever: humanoid and quadruped fell as they walked."""
    ours, rng = posture(trade=trade), np.random.default_rng(0)
    q, v, torques = np.array(ours.robot.model.nominal), np.zeros(7), []
    for k in range(500):
        if k < 400:  # more than can be had in the time
            ours.stack["posture"].target = AWAY if (k // 40) % 2 else 2.0 * q - AWAY  # type: ignore[attr-defined]
        if noisy:  # in such steps that no torque counts as a brake
            v = rng.normal(scale=3.0, size=7)
        torques.append(ours.step(q, v, 1e-3 * k).torque)
        if k % 50 == 0:
            assert np.allclose(ours.step(q, v, 1e-3 * k).torque, torques[-1], rtol=1e-9, atol=1e-9), "a tick once more"
    shares = np.abs(np.diff(torques, axis=0)) / ours.robot.limits.effort * RISE / ours.period
    if noisy:
        assert 1.5 * BRAKES < shares[200:400].max() < WIDER + 1e-6
    else:
        assert shares.max() == pytest.approx(1.0, abs=1e-6)


def test_the_self_motion_of_an_arm_is_not_moved_by_the_noise_of_its_sensors() -> None:
    robot = wbc.load("arm", "numpy")
    ours = wbc.Controller(robot, tasks.stacks.standing(robot), rise=RISE)
    plant = make_plant(robot, "builtin", realism=Realism(noise=Noise(position=5e-4, velocity=2e-2)))
    log = wbc.run(ours, plant, 1.0)
    assert np.abs(log.true_v[300:]).max() < 0.1  # 0.4 where the bound is loosened bit by bit
    change = np.abs(np.diff(log.torque[300:], axis=0)) / robot.limits.effort
    assert change.max() < 0.33  # 1.2
    # a clock that is set back does not keep the bound wide
    bound = Steadiness(robot, RISE)
    bound.widen(5.0)
    assert bound.is_wide(5.01) and not bound.is_wide(5.01 + WIDE_FOR) and not bound.is_wide(1.0)


@pytest.mark.parametrize("rise", [0.0, -1.0, np.nan, np.inf, "fast", [0.1]])
def test_a_rise_that_is_none_is_an_error(rise: object) -> None:
    with pytest.raises(wbc.WbcError, match="the rise of torques, s,"):
        posture(rise=rise)


def test_health_tells_of_it_where_it_lasts() -> None:
    ours = posture()
    q, v, effort = np.array(ours.robot.model.nominal), np.zeros(7), ours.robot.limits.effort
    push, health, torques = AWAY - q, [], list[Array]()
    for k in range(160):
        ours.stack["posture"].target = q + (push if (k // 20) % 2 else -push)  # type: ignore[attr-defined]
        solution = ours.step(q, v, 1e-3 * k)
        health.append(solution.health)
        torques.append(solution.torque)
    told = [k for k, one in enumerate(health) if one.of("torque rate")]
    assert told and told[0] >= 100
    finding = health[told[0]].of("torque rate")[0]
    before, now = torques[told[0] - 1], torques[told[0]]
    fast = np.abs(now - before) >= (1.0 - 1e-6) * effort * ours.period / RISE
    names = [name for name, one in zip(ours.robot.joint_names, fast, strict=True) if one]
    assert finding.name in names and finding.unit == "s" and finding.value >= 0.1
    assert finding.text.startswith(f"{finding.name} has changed its torque at the maximum rate")
    assert not [one for one in health if one.of("relaxed")]


@pytest.mark.parametrize("solver", ["hierarchical-qp", "weighted-qp"])
def test_a_target_out_of_reach_makes_no_swing_that_lasts(solver: str) -> None:
    """With brakes as slow as the rest the arm spun at 50 rad/s, and did not stop."""
    robot, target, period = wbc.load("arm", "numpy"), np.eye(4), 0.01
    target[:3, 3] = 1.5, 0.0, 0.2
    hold = tasks.EndEffectorAcceleration("tool", target, gains=wbc.Gains(2.0))
    levels = tasks.EquationOfMotion() / tasks.TorqueLimits() / hold / tasks.JointAcceleration()
    ours = controller(robot, wbc.Stack(levels / tasks.TorqueMinimization()), solver, period=period)
    q, v, bound = np.array(robot.model.nominal), np.zeros(7), 0
    for _ in range(500):
        solution = ours.step(q, v)
        bound += any(part.entry.name == "torque rates" for part in solution._parts)
        v = 0.99 * v + solution.acceleration * period
        q = ours.robot.integrate(q, v, period)
    assert bound > 5
    assert np.abs(v).max() < 0.05
