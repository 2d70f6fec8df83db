"""The tasks of a stack laid out for a tick: which rows there are, on which level, with which bounds."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import contacts
from wbc.control.metric import LeastTorqueByInverseMass
from wbc.control.program import Entry, Part, Program
from wbc.tasking.layout import Layout

pytestmark = pytest.mark.filterwarnings("ignore:no task bounds the forces")


class Given(wbc.Task):
    """A task with the rows that it is given."""

    def __init__(self, name: str, rows: object, **options: object) -> None:
        super().__init__(name, **options)
        self.given, self.asked = rows, 0

    def rows(self, robot: wbc.Dynamics, tick: wbc.Tick) -> wbc.Rows:
        self.asked += 1
        return self.given


def pick(goal: float, joint: int = 0) -> wbc.Rows:
    return wbc.Rows.equal([goal], acceleration=np.array([joint]))


def program(levels: object, below: tuple[wbc.Task, ...] = ()) -> tuple[Program, wbc.Stack, wbc.Dynamics, wbc.Tick]:
    robot = wbc.load("arm", "numpy")
    robot.update(robot.model.nominal)
    stack, tick = wbc.Stack(levels), wbc.Tick(robot)
    return Program(stack, tick.layout, below), stack, robot, tick


def test_physics_is_on_no_level_of_a_solver() -> None:
    physics, a, b = tasks.EquationOfMotion(), Given("a", pick(1.0)), Given("b", pick(2.0))
    for levels, ranks, count in (
        ([[physics], [a], [b]], {"a": (1, 0), "b": (2, 1)}, 2),
        ([[physics], [a]], {"a": (1, 0)}, 1),
        ([[physics, a], [b]], {"a": (0, 0), "b": (1, 1)}, 2),
        ([[a], [physics], [b]], {"a": (0, 0), "b": (2, 2)}, 3),
        ([[physics]], {}, 1),
    ):
        found, _, robot, tick = program(levels)
        parts = found.parts(robot, tick)
        assert {part.entry.name: (part.entry.level, part.entry.rank) for part in parts} == ranks
        assert found.levels == count
    found, _, robot, tick = program([[physics], [a]], (LeastTorqueByInverseMass(),))
    parts = found.parts(robot, tick)
    assert found.levels == 2 and (parts[-1].entry.level, parts[-1].entry.rank) == (2, 1)


def test_a_part_is_what_the_task_gave() -> None:
    both = wbc.Rows.between(
        [-1.0, 2.0], [1.0, 2.0], acceleration=np.arange(14.0).reshape(2, 7), torque=np.array([3, 4])
    )
    found, _, robot, tick = program(tasks.EquationOfMotion() / Given("a", both, weight=3.0) / Given("b", pick(1.0, 5)))
    first, second = found.parts(robot, tick)
    assert not first.equation and second.equation and second.upper is second.lower
    assert (first.counts(), second.counts(), first.weight) == ((1, 1), (1, 0), 3.0)
    x = np.random.default_rng(0).normal(size=tick.n)
    A = both.matrix(tick)
    assert np.array_equal(first.matrix(tick.layout), A) and np.allclose(first.value(x, tick.layout), A @ x)
    assert np.allclose(A @ x, both.acceleration @ x[:7] + x[[10, 11]])
    assert second.value(x, tick.layout) == x[5]
    assert found.undeclared(robot, tick) == ["a"]


def test_rows_on_velocities_are_all_of_a_kinematic_layout() -> None:
    robot = wbc.load("arm", "numpy")
    layout = Layout(robot, kinematic=True)
    x = np.arange(7.0)
    for block in (np.array([2, 3]), np.eye(7)[[2, 3]]):
        part = Part(np.zeros(2), np.ones(2), None, 1.0, block, None, None, Entry(Given("a", None), "a", 0, 0))
        assert part.value(x, layout).tolist() == [2.0, 3.0]
        assert np.array_equal(part.matrix(layout), np.eye(7)[[2, 3]])


def test_tolerance_and_presence_widen_the_bounds() -> None:
    near = Given("near", pick(5.0), tolerance=0.5)
    found, stack, robot, tick = program(tasks.EquationOfMotion() / near)
    (part,) = found.parts(robot, tick)
    assert (part.lower, part.upper) == ([4.5], [5.5]) and not part.equation
    stack.switch_off("near", 1.0)
    stack.schedule.advance(0.0)
    stack.schedule.advance(0.5)
    (part,) = found.parts(robot, tick)
    assert np.allclose([part.lower, part.upper], [[4.5 - 100.0], [5.5 + 100.0]])  # as `WIDEST` says
    asked = near.asked
    stack.schedule.advance(1.0)
    assert found.parts(robot, tick) == () and near.asked == asked, "a task that is off is not asked"


def test_rows_are_looked_at_when_they_are_first_used() -> None:
    """And again when something goes wrong: a check of all numbers in each tick would take longer than the tick."""
    mine = Given("mine", pick(np.nan))
    found, _, robot, tick = program(tasks.EquationOfMotion() / mine)
    with pytest.raises(wbc.WbcError, match="mine: nan <= A x"):
        found.parts(robot, tick)
    mine.given = pick(0.0)
    found.parts(robot, tick)
    mine.given = pick(np.nan)
    found.parts(robot, tick)
    with pytest.raises(wbc.WbcError, match="mine: nan <= A x"):
        found.check(robot, tick)
    mine.given = 3
    with pytest.raises(wbc.WbcError, match=r"mine: rows\(\) must give a wbc.Rows, not 3"):
        found.parts_or_error(robot, tick)


def test_an_error_of_the_tasks_own_is_not_hidden() -> None:
    class Faulty(Given):
        def rows(self, robot: wbc.Dynamics, tick: wbc.Tick) -> wbc.Rows:
            raise ValueError("of my own")

    found, _, robot, tick = program(tasks.EquationOfMotion() / Faulty("faulty", None))
    with pytest.raises(ValueError, match="of my own"):
        found.parts_or_error(robot, tick)


def test_a_task_without_rows_is_left_out() -> None:
    robot = wbc.load("quadruped", "numpy")
    robot.update(robot.model.nominal)
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.ContactMotion() / tasks.JointAcceleration(), contacts(robot))
    for feet, names in ((stack.contacts, ["contact motion", "posture"]), ((), ["posture"])):
        tick = wbc.Tick(robot, feet)
        parts = Program(stack, tick.layout).parts(robot, tick)
        assert [part.entry.name for part in parts] == names
