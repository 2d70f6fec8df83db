"""Accelerations that fulfil several motion tasks, of the same priority or one below the other."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from wbc.arrays import Array
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, show
from wbc.solvers import Solver, make_solver
from wbc.solvers.level import Level
from wbc.tasking.levels import Levels
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick


def motion_rows(task: Task, robot: Dynamics, tick: Tick) -> tuple[Array, Array, Array]:
    """The rows A v̇ = b of a task that is about accelerations only, and the weights of their squared residuals.

    Args:
        task: such as `tasks.EndEffectorAcceleration`: A = J, b = ẇ* − J̇v.
        robot: updated.
        tick: the time, and the closed contacts.
    """
    if not isinstance(task, Task):
        raise WbcError(
            f"a motion must be a task on accelerations, such as tasks.EndEffectorAcceleration, not {show(task)}"
        )
    rows = task.rows(robot, tick)
    task.check_rows(rows, tick)
    if rows.acceleration is None or rows.force is not None or rows.torque is not None:
        raise WbcError(f"task {task.name!r} has rows on forces or torques; a motion has rows on accelerations only")
    if task.tolerance is not None or not np.array_equal(rows.lower, rows.upper):
        raise WbcError(f"task {task.name!r} has inequalities or a tolerance; a classical law handles equations only")
    A = rows.acceleration
    if A.ndim == 1:
        A = np.eye(robot.nv)[A]
    weights = np.full(len(rows), task.weight) if rows.weights is None else task.weight * rows.weights
    return np.asarray(A, dtype=float), rows.lower.copy(), weights


def motion_levels(motions: Task | Levels | Iterable[Iterable[Task]]) -> tuple[tuple[Task, ...], ...]:
    """Tasks by priority, from what `+` and `/` make of them.

    Args:
        motions: a task, `a + b / c`, or a list of lists.
    """
    if isinstance(motions, Task):
        return ((motions,),)
    try:
        return tuple(tuple(level) for level in (motions.levels if isinstance(motions, Levels) else motions))
    except TypeError:
        raise WbcError(f"motions are tasks joined by + and /, or lists of lists, not {show(motions)}") from None


def multi_task_acceleration(
    robot: Dynamics,
    motions: Task | Levels | Iterable[Iterable[Task]],
    tick: Tick | None = None,
    solver: Solver | str = "nullspace",
) -> Array:
    """v̇ that fulfils motion tasks: v̇ = [J₁; …]⁺ (ẇ* − J̇v) of those on one level (ETH 3.82), in the null space of those
    above (ETH 3.83); of least norm.

    Args:
        robot: updated.
        motions: tasks on accelerations: `a + b` is one level, `a / b` has b below a.
        tick: the time and the closed contacts; None: time zero, none. Closed contacts come before all tasks: they
            stay where they are.
        solver: of the least-squares problems.

    Returns:
        Shape (nv,).
    """
    tick = Tick(robot) if tick is None else tick
    levels = []
    if tick.contacts:
        J, bias = tick.contact_motion(robot)
        levels.append(Level(J, -bias, -bias, name="contacts"))
    for tasks in motion_levels(motions):
        found = [motion_rows(task, robot, tick) for task in tasks]
        if found:
            A, b, weights = (np.concatenate(parts) for parts in zip(*found, strict=True))
            levels.append(Level(A, b, b, weights, ", ".join(task.name for task in tasks)))
    if not levels:
        raise WbcError("no motion task was given")
    return (make_solver(solver) if isinstance(solver, str) else solver).solve(levels).x.copy()
