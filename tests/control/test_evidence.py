"""What a solution tells of inequalities: which are at their bounds, at which side, and which are beyond."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import controller
from wbc.control import twins
from wbc.kinematics import DifferentialKinematics


def bounded(
    lower: float, upper: float, goal: float, force: float | None = None, solver: str = "hierarchical-qp"
) -> wbc.Solution:
    """An arm whose first joint has bounds on its acceleration, rad/s², below them a goal, and above them a force."""
    joint = np.array([0])
    bound = tasks.Rows(wbc.Rows.between([lower], [upper], acceleration=joint), "bound")
    wanted = tasks.Rows(wbc.Rows.equal([goal], acceleration=joint), "goal")
    levels = [[bound], [wanted], [tasks.AccelerationMinimization()]]
    if force is not None:
        levels.insert(0, [tasks.Rows(wbc.Rows.equal([force], acceleration=joint), "must")])
    stack = wbc.Stack([[tasks.EquationOfMotion()], *levels])
    return controller(wbc.load("arm", "numpy"), stack, solver, actuator_limits=False).step(np.zeros(7), np.zeros(7))


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_a_bound_that_is_met_is_active_at_its_side(scale: float) -> None:
    for goal, side in ((5.0, "upper"), (-5.0, "lower")):
        solution = bounded(-scale, scale, goal * scale)
        (active,) = solution.active
        assert (active.task, active.row, active.side, active.level) == ("bound", "row 0", side, 1)
        assert (
            active.violation == 0.0 and solution.violated == () and str(active) == f"bound: row 0 at its {side} bound"
        )
    assert bounded(-scale, scale, 0.0).active == ()
    assert bounded(-scale, np.inf, 5.0).active == ()


@pytest.mark.parametrize(("sign", "side"), [(1.0, "upper"), (-1.0, "lower")])
def test_near_is_a_ten_millionth_of_the_value(sign: float, side: str) -> None:
    for scale in (1.0, 1e3):
        for distance, active in ((5e-8, True), (3e-7, False)):
            found = bounded(-scale, scale, sign * scale * (1.0 - distance)).active
            assert [it.side for it in found] == ([side] if active else []), (scale, distance)


@pytest.mark.parametrize(("force", "side"), [(3.0, "upper"), (-3.0, "lower")])
def test_a_bound_that_gives_way_is_violated_by_as_much(force: float, side: str) -> None:
    solution = bounded(-1.0, 1.0, 0.0, force)
    (broken,) = solution.violated
    assert (broken.side, broken.violation) == (side, pytest.approx(2.0))
    assert str(broken) == f"bound: row 0 at its {side} bound, beyond it by 2"
    assert solution.status == "relaxed"
    assert f"does not hold: bound, row 0, by 2 at its {side} bound" in solution.explain()


def test_equations_are_never_active() -> None:
    joint = np.array([0, 1])
    both = tasks.Rows(wbc.Rows.between([1.0, -1.0], [1.0, 1.0], acceleration=joint), "both")
    stack = wbc.Stack(tasks.EquationOfMotion() / both / tasks.AccelerationMinimization())
    assert controller(wbc.load("arm", "numpy"), stack, "hierarchical-qp").step(np.zeros(7), np.zeros(7)).active == ()


def test_costs_are_roots_of_weighted_squares() -> None:
    robot = wbc.load("arm", "numpy")
    pair = wbc.Rows.equal([1.0, 3.0], acceleration=np.array([0, 0]), weights=np.array([1.0, 3.0]))
    task = tasks.Rows(pair, "torn", weight=2.0)
    stack = wbc.Stack(tasks.EquationOfMotion() / task / tasks.AccelerationMinimization())
    solution = controller(robot, stack, "hierarchical-qp").step(np.zeros(7), np.zeros(7))
    assert np.allclose(solution.levels[1].residual["torn"], [1.5, -0.5])  # at 2.5, the weighted mean
    assert solution.levels[1].cost == pytest.approx((2.0 * (1.0 * 2.25 + 3.0 * 0.25)) ** 0.5)


def test_a_solution_is_not_written_to() -> None:
    solution = bounded(-1.0, 1.0, 0.5)
    for array in (solution.torque, solution.acceleration, solution.q, solution.v):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0.0


def test_the_controllers_own_robot_tells_of_the_last_tick_and_a_copy_of_the_ticks_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    robot = wbc.load("arm", "numpy")
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.EndEffectorAcceleration("tool") / tasks.JointAcceleration())
    ours, q, copies = wbc.Controller(robot, stack), np.array(robot.model.nominal), []
    first = ours.step(q, np.zeros(7))
    copy = type(robot).copy
    monkeypatch.setattr(type(robot), "copy", lambda self: copies.append(self) or copy(self))
    told = first.explain()
    assert not copies
    second = ours.step(q + 0.3, np.zeros(7))
    again = first._state()
    assert len(copies) == 1 and again is not ours.robot and np.array_equal(again.q, first.q)
    assert second._state() is ours.robot and first.explain() == told
    with ThreadPoolExecutor(1) as pool:  # the thread that steps may move on at any moment
        assert pool.submit(second._state).result() is not ours.robot


def test_solutions_that_are_kept_and_asked_keep_no_robots(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = wbc.load("arm", "numpy")
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.TorqueLimits() / tasks.JointAcceleration())
    ours, q, twins = wbc.Controller(robot, stack), np.array(robot.model.nominal), []
    copy = type(robot).copy

    def counted(self: wbc.Dynamics) -> wbc.Dynamics:
        twin = copy(self)
        twins.append(weakref.ref(twin))
        return twin

    monkeypatch.setattr(type(robot), "copy", counted)
    kept = [ours.step(q, np.full(7, 0.1 * k)) for k in range(10)]
    told = [(solution.explain(), solution.certificate) for solution in kept[:-1]]
    assert len(twins) == len(told) == 9, "all questions about one tick share a robot"
    gc.collect()
    assert sum(twin() is not None for twin in twins) == 1


def test_a_twin_is_kept_for_who_asked_last_and_goes_with_him() -> None:
    class Asker:
        pass

    robot, (one, other) = wbc.load("arm", "numpy"), (Asker(), Asker())
    q, v = np.full(7, 0.1), np.full(7, 0.2)
    first = twins.twin_of(one, robot, q, v)
    assert first is twins.twin_of(one, robot, q, v) and first is not robot
    assert np.array_equal(first.q, q) and np.array_equal(first.v, v)
    second = twins.twin_of(other, robot, 2.0 * q, v)
    assert second is not first and np.array_equal(second.q, 2.0 * q)
    del one
    gc.collect()
    assert twins.twin_of(other, robot, q, v) is second, "somebody else went"
    del other
    gc.collect()
    assert twins._last.twin is None is twins._last.asker


def test_velocities_are_never_late() -> None:
    """Their ticks have no deadline."""
    ours = DifferentialKinematics(
        wbc.load("arm", "numpy"), wbc.Stack([[tasks.JointVelocity(np.zeros(7))]]), period=0.01
    )
    assert ours.step(np.zeros(7)).late is False
