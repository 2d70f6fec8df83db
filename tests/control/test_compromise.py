"""Levels are traded where strict ones would make torques go to and fro, and no longer than that."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import tasks
import wbc
from benchmarks.strain import PERIOD, Legs, Way
from benchmarks.walking import NOISE, made
from wbc.application.round import Loop
from wbc.control.compromise import BACK, CALM, LONGEST, LOOKS, PATIENCE, RATIOS, REST, Compromise
from wbc.control.innovation import Innovation
from wbc.simulation import Realism
from wbc.tasking.layout import Layout

RISE = 0.05


def layout() -> Layout:
    return Layout(wbc.load("arm", "numpy"), ())


def compromise(likeness: float = 0.9) -> Compromise:
    """One that knows how much alike innovations are."""
    ours = Compromise()
    ours._state = ours._state._replace(innovation=Innovation(likeness))
    return ours


def test_levels_are_traded_where_torques_were_at_the_bound_for_long() -> None:
    ours = compromise()
    ours.at(0.0, layout())
    assert not ours.begins(0.9 * PATIENCE) and ours.share == 0.0
    assert ours.begins(1.1 * PATIENCE) and ours.share == 1.0


@pytest.mark.parametrize("likeness", [-0.4, 0.0, 0.4])
def test_levels_stay_strict_where_sensors_may_be_noisy(likeness: float) -> None:
    ours = compromise(likeness)
    ours.at(0.0, layout())
    assert not ours.begins(1.0) and ours.share == 0.0


def test_a_compromise_ends_where_sensors_are_noisy() -> None:
    ours, where = compromise(), layout()
    ours.at(0.0, where)
    ours.begins(1.0)
    ours._state = ours._state._replace(innovation=Innovation(-0.4))
    assert smooth(ours, where, 0.0, REST + CALM + BACK + 0.01, jumps=True)[-1] == 0.0


def smooth(ours: Compromise, where: Layout, start: float, seconds: float, jumps: bool = False) -> list[float]:
    """The shares while the strict answer is looked at, millisecond by millisecond."""
    found = []
    for k in range(round(seconds / 1e-3)):
        ours.at(start + 1e-3 * (k + 1), where)
        if ours.share and ours.looks:
            ours.look(np.full(2, float(k % 2) if jumps else 0.01 * k), np.full(2, 0.5), 1e-3)
        found.append(ours.share)
    return found


def test_strict_levels_take_over_once_they_are_smooth_and_not_before() -> None:
    ours, where = compromise(), layout()
    ours.at(0.0, where)
    ours.begins(1.0)
    assert set(smooth(ours, where, 0.0, 2.0, jumps=True)) == {1.0}
    shares = smooth(ours, where, 2.0, LOOKS + CALM + BACK + 0.01)
    assert shares[0] == 1.0 and shares[-1] == 0.0 and any(0.4 < share < 0.6 for share in shares)
    assert np.abs(np.diff(shares)).max() < 1.01e-3 / BACK


def test_what_does_not_last_is_tried_less_often() -> None:
    ours, where, time, rests = compromise(), layout(), 0.0, []
    for _ in range(7):
        ours.at(time, where)
        assert ours.begins(1.0)
        rests.append(ours._state.rest)
        shares = smooth(ours, where, time, LONGEST + CALM + BACK + 0.01)
        time += 1e-3 * (1 + shares.index(0.0))
    assert rests[:3] == [REST, 2.0 * REST, 4.0 * REST] and rests[-1] == LONGEST


def test_a_smooth_robot_is_strict_again_in_less_than_half_a_second_and_where_that_did_not_last_in_two_and_a_third() -> (
    None
):
    ours, where, time, took = compromise(), layout(), 0.0, []
    for _ in range(7):
        ours.at(time, where)
        assert ours.begins(0.016 if time else 0.021)
        shares = smooth(ours, where, time, 3.0)
        took.append(1e-3 * (1 + shares.index(0.0)))
        time += took[-1] + 0.5
    assert 0.39 < took[0] < 0.41 and 2.28 < took[-1] < 2.31
    ours.at(time + 0.6, where)  # it lasted for 1.1 s
    assert not ours.begins(0.019) and ours.begins(0.021) and ours._state.rest == pytest.approx(0.1)


def test_a_strict_answer_that_is_not_smooth_is_looked_at_less_often() -> None:
    """Each look lets some of it through: a Panda and an arm over its own axis chattered by it."""
    ours, where = compromise(), layout()
    ours.at(0.0, where)
    ours.begins(1.0)
    looks = []
    for k in range(3000):
        ours.at(1e-3 * (k + 1), where)
        if ours.looks:
            looks.append(k)
            ours.look(np.full(2, float(k % 2)), np.full(2, 0.5), 1e-3)
    assert len(looks) == 14  # two ticks each time
    gaps = np.diff(looks[::2])
    np.testing.assert_allclose(gaps[:3], [202, 401, 501], atol=2)
    assert gaps.max() <= 1e3 * LOOKS + 2


def test_levels_weigh_less_where_traded_ones_too_have_torques_at_the_bound() -> None:
    robot = wbc.load("quadruped", "numpy")
    ours, where = compromise(), Layout(robot, tasks.stacks.feet(robot))
    ours.at(0.0, where)
    ours.begins(1.0)
    steps = []
    for _ in range(60):
        ours.note(True, 1e-3)
        steps.append(ours.step)
    held = round(PATIENCE / 1e-3)
    assert steps == [0] * (held - 1) + [1] * held + [2] * (60 - 2 * held + 1) and len(RATIOS) == 3
    ours.end()
    ours.at(0.5, where)
    assert ours.begins(1.0) and ours.step == 2, "where it was traded shortly before"
    ours.end()
    ours.at(3.0, where)
    assert ours.begins(1.0) and ours.step == 0


def test_a_torque_at_the_bound_now_and_then_is_no_reason_to_weigh_less() -> None:
    ours = compromise()
    ours.at(0.0, layout())
    ours._state = ours._state._replace(share=1.0)
    for k in range(300):
        ours.note(k % 3 == 0, 1e-3)
    assert ours.step == 0


def test_without_contacts_levels_weigh_least_from_the_beginning() -> None:
    ours = compromise()
    ours.at(0.0, layout())
    assert ours.begins(1.0) and ours.step == len(RATIOS) - 1


def test_forgetting_is_as_new() -> None:
    ours, where = compromise(), layout()
    ours.at(0.0, where)
    ours.begins(1.0)
    ours.forget()
    assert ours.share == 0.0 and ours._state == Compromise()._state
    ours.at(0.0, where)
    assert not ours.begins(1.0), "how much alike innovations are is not known either"


def test_a_tick_once_more_and_other_contacts() -> None:
    ours, where = compromise(), layout()
    ours.at(0.0, where)
    ours.begins(1.0)
    for _ in range(3):
        ours.at(0.5, where)
        assert ours.look(np.zeros(2), np.ones(2), 1e-3) == 1.0
        assert ours._state.calm == 0.0
    ours.at(0.6, layout())
    assert ours.share == 0.0


def run(
    way: Way, robot: wbc.Dynamics, seconds: float, trade: float | None = 0.0
) -> tuple[np.ndarray, list[wbc.Solution], wbc.Controller]:
    """Torques by their range, and some of the solutions in which levels are traded."""
    controller, plant = (
        wbc.Controller(robot, way.stack, period=PERIOD, trade=trade),
        wbc.MujocoSimulator(robot, timestep=PERIOD),
    )
    torques, traded = [], []
    for k in range(round(seconds / PERIOD)):
        q, v = plant.state
        if way.before is not None:
            way.before(k * PERIOD, controller)
        solution = controller.step(q, v, k * PERIOD)
        torques.append(solution.torque / robot.limits.effort)
        if solution._traded and len(traded) < 5:
            traded.append(solution)
        plant.apply(solution.torque)
        plant.step()
    assert not robot.model.floating or q[2] > 0.5 * robot.model.nominal[2]
    return np.array(torques), traded, controller


def test_a_quadruped_that_balances_on_two_feet_does_not_fling_its_leg_about() -> None:
    """It fell: the base was held, before all else, by the leg that was in the air."""
    pytest.importorskip("mujoco")
    robot = wbc.load("quadruped", "pinocchio")
    torques, traded, _ = run(Legs(robot)._stepping(), robot, 2.2)
    assert traded, "the scene is hard"
    for solution in traded:
        assert solution.certificate.holds and solution.health.of("traded") and "levels are traded" in solution.explain()
        assert solution.certificate.equation_of_motion < 1e-9
    jumps = np.abs(np.diff(torques, axis=0)).max(axis=1)
    assert jumps.max() <= 12.0 * PERIOD / RISE + 1e-6
    assert (jumps > 0.01).mean() < 0.15


def test_a_humanoid_whose_weight_is_on_its_toes_for_a_moment_goes_on_round_its_loop() -> None:
    """At the edge of its soles feet press sideways for the little that is left there, and levels are traded: what is
    below the centre of mass must not pull it far away. It was 18 mm off.
    """
    pytest.importorskip("mujoco")
    robot = wbc.load("humanoid", "pinocchio")
    posed, radius = robot.copy(), 0.03
    posed.update(robot.model.nominal)
    loop, stack = Loop(posed.com.copy(), radius, np.array([1.0, 0.0, 0.0])), tasks.stacks.standing(robot)
    balance: Any = stack["center of mass"]
    balance.target, off = loop.target, []

    def look(t: float, controller: wbc.Controller) -> None:
        if t:
            posed.update(controller.robot.q)  # of the tick before
            off.append(float(np.linalg.norm(loop.target(t - PERIOD)[0] - posed.com)))

    _, traded, _ = run(Way(stack, robot.model.root, before=look), robot, 3.0, 1.0)
    assert traded, "the scene is hard"
    assert max(off) < 0.4 * radius


@pytest.mark.parametrize("trade", [1.0, None])
def test_levels_stay_strict_after_a_change_of_contacts(trade: float | None) -> None:
    """The same scene, in which levels are traded from 1.47 s on. A robot that walks is not helped by it."""
    pytest.importorskip("mujoco")
    robot = wbc.load("quadruped", "pinocchio")
    _, traded, ours = run(Legs(robot)._stepping(), robot, 1.52, trade)
    assert not traded and ours._steadiness is not None and ours._steadiness.pressed_for > PATIENCE


def test_how_long_contacts_are_the_same() -> None:
    robot = wbc.load("quadruped", "numpy")
    stack = Legs(robot).stack(np.zeros(3))
    ours, q = wbc.Controller(robot, stack), np.array(robot.model.nominal)
    ours.step(q, np.zeros(robot.nv), 0.0)
    assert ours._ticker.unchanged_for == np.inf
    for k in range(1, 6):
        if k == 2:
            stack.open_contact(robot.model.feet[0], 0.0)
        for _ in range(2):
            ours.step(q, np.zeros(robot.nv), 0.1 * k)
    assert ours._ticker.unchanged_for == pytest.approx(0.3)
    ours.reset()
    assert ours._ticker.unchanged_for == np.inf


@pytest.mark.parametrize("trade", [True, -1.0, np.nan, "never"])
def test_what_trade_may_be(trade: object) -> None:
    robot = wbc.load("arm", "numpy")
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration())
    with pytest.raises(wbc.WbcError, match="trade, .* must be a number, 0 or more"):
        wbc.Controller(robot, stack, trade=trade)  # type: ignore[arg-type]


def test_a_copy_goes_on_while_levels_are_traded() -> None:
    pytest.importorskip("mujoco")
    robot = wbc.load("quadruped", "pinocchio")
    _, _, ours = run(Legs(robot)._stepping(), robot, 1.49)
    ours._steady._compromise._state = ours._steady._compromise._state._replace(share=1.0, since=1.4)
    twin, q = copy.deepcopy(ours), ours.robot.q
    for k in range(3):
        one, two = (it.step(q, np.zeros(robot.nv), 1.49 + 1e-3 * k) for it in (ours, twin))
        assert np.array_equal(one.torque, two.torque)


def test_a_noisy_walk_trades_no_levels() -> None:
    """Velocities that err change torques to and fro, too; robots fell as they walked on levels that were traded."""
    pytest.importorskip("mujoco")
    walk, ours, plant = made("humanoid", (0.3, 0.0, 0.0), realism=Realism(noise=NOISE))
    pressed = 0
    for k in range(400):
        walk(k * PERIOD, ours)
        solution = ours.step(*plant.state, k * PERIOD)
        pressed += bool(ours._steadiness and ours._steadiness.pressed)
        assert not solution._traded
        plant.apply(solution.torque)
        plant.step()
    assert pressed > 100, "torques go to and fro"


def test_an_ordinary_trot_trades_no_levels() -> None:
    pytest.importorskip("mujoco")
    robot = wbc.load("quadruped", "pinocchio")
    trot = tasks.Trot(robot)
    first, *others = trot.swings
    above = tasks.EquationOfMotion() / (tasks.TorqueLimits() + tasks.FrictionCones()) / tasks.ContactMotion()
    levels = above / (first + others[0] + others[1] + others[2]) / trot.base
    levels = levels / tasks.JointAcceleration(gains=wbc.Gains(1.5)) / tasks.TorqueMinimization()
    stack = wbc.Stack(levels, tasks.stacks.feet(robot))
    way = Way(stack, robot.model.root, before=lambda t, controller: trot.update(t, controller))
    assert not run(way, robot, 1.2)[1]
