"""What is blamed does block: without it the task is met better, and without the rest it is not."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import contacts, controller

pytestmark = pytest.mark.filterwarnings("ignore:no task bounds the forces")

PUSHED = np.eye(18)[1] * 0.3
"""A quadruped's base that moves to the left at 0.3 m/s."""


def pushed(solver: str = "hierarchical-qp", loose: tuple[str, ...] = (), **options: float):
    """The stack of the README in the README's push; some feet have friction without end."""
    robot = wbc.load("quadruped", "numpy")
    feet = [wbc.PointContact(foot, 50.0 if foot in loose else 0.6) for foot in robot.model.feet]
    limits = tasks.TorqueLimits(**options) + tasks.FrictionCones() + tasks.ContactMotion()
    base, posture = tasks.EndEffectorAcceleration("base", gains=wbc.Gains(3.0)), tasks.JointAcceleration()
    stack = wbc.Stack(tasks.EquationOfMotion() / limits / base / posture / tasks.TorqueMinimization(), contacts=feet)
    ours = controller(robot, stack, solver)
    ours.step(robot.model.nominal, np.zeros(18))
    return ours.step(robot.model.nominal, PUSHED, 1e-3)


def blamed(text: str, task: str) -> str:
    """What holds a task back, as the explanation says."""
    found = re.search(rf"  {task}: missed.*\n     held back by (.*)", text)
    assert found is not None, text
    return found[1]


@pytest.mark.parametrize("solver", ["hierarchical-qp", "sequential-qp", "weighted-qp"])
def test_what_is_blamed_blocks_and_what_is_not_does_not(solver: str) -> None:
    solution = pushed(solver)
    told = blamed(solution.explain(), "base")
    assert told.startswith("friction cones (friction of")
    feet = [foot for foot in ("LF_foot", "RF_foot", "LH_foot", "RH_foot") if foot in told]
    assert feet
    assert pushed(solver, loose=tuple(feet)).levels[2].cost < 0.998 * solution.levels[2].cost
    assert "torque limits" not in told
    assert np.isclose(pushed(solver, scale=10.0).levels[2].cost, solution.levels[2].cost, rtol=1e-6)


def test_each_is_named_once_and_nobody_is_held_back_by_himself() -> None:
    text = pushed().explain()
    assert text.count("friction of") > 0
    for line in text.splitlines():
        if "held back by" in line:
            names = re.findall(r"friction of \w+", line)
            assert len(names) == len(set(names)), line
    assert blamed(text, "posture") == "contact motion, base"


def test_limits_that_do_not_bind_are_not_blamed() -> None:
    """Joint limits beside a task that is missed, with room to spare."""
    robot = wbc.load("quadruped", "numpy")
    fly = tasks.EndEffectorAcceleration("base", acceleration=(0, 0, 1.0, 0, 0, 0), axes="z", name="fly")
    levels = tasks.EquationOfMotion() / tasks.ContactMotion() / tasks.EndEffectorAcceleration("base")
    stack = wbc.Stack(levels / (fly + tasks.JointLimits()), contacts=contacts(robot))
    text = controller(robot, stack, "hierarchical-qp").step(robot.model.nominal, np.zeros(18)).explain()
    assert "joint limits" not in blamed(text, "fly")
    assert blamed(text, "fly").split(", ")[0] == "base"


def test_rows_that_contradict_each_other_and_rows_that_nothing_can_change() -> None:
    robot = wbc.load("arm", "numpy")
    pick = np.array([0, 0])
    torn = tasks.Rows(wbc.Rows.equal([1.0, -1.0], acceleration=pick), name="torn")
    idle = tasks.Rows(wbc.Rows.equal([1.0], acceleration=np.zeros((1, 7))), name="idle")
    vain = tasks.JointAcceleration(acceleration=np.ones(7), gains=wbc.Gains(kp=0.0, kd=0.0), name="vain", weight=0.0)
    stack = wbc.Stack(tasks.EquationOfMotion() / torn / idle / vain / tasks.AccelerationMinimization())
    text = controller(robot, stack, "hierarchical-qp").step(np.zeros(7), np.zeros(7)).explain()
    assert blamed(text, "torn") == "its own rows, which contradict each other"
    assert blamed(text, "vain") == "nothing: its weight is 0"
    assert blamed(text, "idle") == "physics: no force can change it"


def test_rows_are_called_by_joints_and_axes() -> None:
    robot = wbc.load("humanoid", "numpy")
    soles = robot.model.soles
    feet = [wbc.SurfaceContact(foot, 0.6, soles[foot], forces="corners") for foot in robot.model.feet]
    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / tasks.ContactMotion()
        / (tasks.ForceMinimization() + tasks.AccelerationMinimization()),
        contacts=feet,
    )
    robot.update(robot.model.nominal, np.zeros(robot.nv))
    tick = wbc.Tick(robot, feet)
    forces, moves = (stack[name].row_names(robot, tick) for name in ("least force", "least acceleration"))
    assert len(forces) == tick.nf and forces[4] == "y at corner 1 of left_foot"
    assert len(moves) == robot.nv and moves[2] == "z of base" and moves[6] == robot.joint_names[0]


def torn(*levels: dict[str, tuple[int, float]], solver: str = "hierarchical-qp") -> str:
    """An arm's explanation; of each level by name a joint and the acceleration that it should have, rad/s²."""
    robot = wbc.load("arm", "numpy")
    given = [
        [
            tasks.Rows(wbc.Rows.equal([goal], acceleration=np.array([joint])), name)
            for name, (joint, goal) in level.items()
        ]
        for level in levels
    ]
    stack = wbc.Stack([[tasks.EquationOfMotion()], *given, [tasks.AccelerationMinimization()]])
    return controller(robot, stack, solver).step(np.zeros(7), np.zeros(7)).explain()


def test_tasks_of_one_level_that_pull_against_each_other_are_named_to_each_other_alone() -> None:
    text = torn({"one": (0, 1.0), "other": (0, 3.0), "met": (1, 1.0)}, {"below": (0, 9.0)})
    assert blamed(text, "one") == "other" and blamed(text, "other") == "one"
    assert blamed(text, "below") == "one, other"
    assert "met: met" in text


def test_a_task_beside_is_not_blamed_for_what_is_held_from_above() -> None:
    text = torn({"above": (0, 0.0)}, {"one": (0, 1.0), "beside": (0, 2.0)})
    assert blamed(text, "one") == blamed(text, "beside") == "above"


def test_limits_of_the_same_level_or_below_are_not_above() -> None:
    """Only what stands above holds: bounds on the level of a task, or below it, give way to it."""
    robot = wbc.load("arm", "numpy")
    bound = tasks.Rows(wbc.Rows.between([-1.0], [0.5], acceleration=np.array([0])), "bound")
    goal = tasks.Rows(wbc.Rows.equal([2.0], acceleration=np.array([0])), "goal")
    for levels, words in (([[bound], [goal]], "bound (row 0)"), ([[bound, goal]], "bound")):
        stack = wbc.Stack([[tasks.EquationOfMotion()], *levels, [tasks.AccelerationMinimization()]])
        text = controller(robot, stack, "hierarchical-qp").step(np.zeros(7), np.zeros(7)).explain()
        assert blamed(text, "goal") == words


def test_what_is_blamed_does_not_depend_on_units() -> None:
    """Neither on the size of the rows above, nor on how far a task is missed."""
    robot = wbc.load("arm", "numpy")
    joint = np.eye(1, 7)

    def told(*levels: list[wbc.Task]) -> str:
        stack = wbc.Stack([[tasks.EquationOfMotion()], *levels, [tasks.AccelerationMinimization()]])
        return controller(robot, stack, "hierarchical-qp").step(np.zeros(7), np.zeros(7)).explain()

    for scale in (1e-12, 1e-6, 1e6):
        above = tasks.Rows(wbc.Rows.equal([0.0, 0.0], acceleration=scale * joint[[0, 0]]), "above")
        one, beside = (tasks.Rows(wbc.Rows.equal([goal], acceleration=joint), str(goal)) for goal in (1.0, 2.0))
        text = told([above], [one, beside])
        assert blamed(text, "1.0") == blamed(text, "2.0") == "above", scale
    bound = tasks.Rows(wbc.Rows.between([-5.0], [5.0], acceleration=joint), "bound")
    for beyond in (1e-3, 1e3):
        for side in (1.0, -1.0):
            goal = tasks.Rows(wbc.Rows.equal([side * (5.0 + beyond)], acceleration=joint), "goal")
            assert blamed(told([bound], [goal]), "goal") == "bound (row 0)", (beyond, side)


@pytest.mark.parametrize("solver", ["nullspace", "operational-space"])
def test_cones_that_a_solver_ignores_are_held_back_by_nothing(solver: str) -> None:
    solution = pushed(solver)
    text = solution.explain()
    assert solution.status == "relaxed" and not solution._clipped
    assert text.startswith("relaxed: this solver ignores inequalities, and at least one does not hold\n")
    assert blamed(text, "friction cones") == "nothing: this solver ignores inequalities"
    rows = {it.row for it in solution.violated if it.row.startswith("friction of")}
    assert len(rows) < len([it for it in solution.violated if it.row in rows]), "a foot beyond two facets of its cone"
    for row in rows:
        worst = max(it.violation for it in solution.violated if it.row == row)
        assert text.count(f"does not hold: friction cones, {row}, ") == 1
        assert f"{row}, by {worst:.3g} N at its upper bound" in text


def test_four_rows_are_named_and_more_are_counted() -> None:
    robot = wbc.load("arm", "numpy")
    still = tasks.Rows(wbc.Rows.equal(np.zeros(7), acceleration=np.arange(7)), "still")
    for count, rest in ((4, ""), (5, " and 1 more")):
        goals = np.arange(9.0, 9.0 - count, -1.0)
        goal = tasks.Rows(wbc.Rows.equal(goals, acceleration=np.arange(count)), "goal")
        text = controller(robot, wbc.Stack(tasks.EquationOfMotion() / still / goal), "hierarchical-qp").step(
            np.zeros(7), np.zeros(7)
        )
        assert f"goal: missed: row 0 by -9, row 1 by -8, row 2 by -7, row 3 by -6{rest}\n" in text.explain()
