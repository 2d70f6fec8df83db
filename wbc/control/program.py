"""The tasks of a stack laid out for a set of contacts, and their rows tick by tick."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wbc.arrays import Array
from wbc.control.equation_of_motion import EquationOfMotion
from wbc.control.stack import Stack
from wbc.dynamics.base import Dynamics
from wbc.solvers.elastic_qp import HELD
from wbc.tasking.layout import Layout
from wbc.tasking.rows import Block
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick

_new_tuple = tuple.__new__

WIDEST = 200.0
"""A task that is half switched off has half of this as its tolerance, in the units of its rows."""


class Entry:
    """A task in a program.

    Attributes:
        frame: that the task is about; None: it has none.
        task: the task.
        name: what the stack calls it.
        level: its priority in the stack.
        rank: its level among those that a solver sees: without levels of nothing but physics on top.
        slack: a bound that is missed by less counts as held, in the unit of its row: `HELD` on levels that may yield.
    """

    __slots__ = ("frame", "level", "name", "rank", "slack", "task")

    def __init__(self, task: Task, name: str, level: int, rank: int, slack: float = 0.0) -> None:
        self.task, self.name, self.level, self.rank, self.slack = task, name, level, rank, slack
        frame = getattr(task, "frame", None)
        self.frame = frame if isinstance(frame, str) else None


class Part(NamedTuple):
    """The rows of a task in a tick: what the compiled kernel reads, and whose they are.

    Attributes:
        lower: bounds with the task's tolerance, in the rows' units, shape (rows,).
        upper: likewise, in the rows' units, shape (rows,); where it is `lower` itself the rows are equations.
        weights: of each squared residual, shape (rows,); None: all 1.
        weight: of the task.
        acceleration: the columns of v̇; of v, for velocities.
        force: the columns of f.
        torque: the columns of τ.
        entry: whose they are.
    """

    lower: Array
    upper: Array
    weights: Array | None
    weight: float
    acceleration: Block
    force: Block
    torque: Block
    entry: Entry

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks, in the order of a layout's."""
        return self.acceleration, self.force, self.torque

    @property
    def equation(self) -> bool:
        """Whether all rows are equations."""
        return self.lower is self.upper

    def counts(self) -> tuple[int, int]:
        """How many equations and how many inequalities it has."""
        equations = int((self.lower == self.upper).sum())
        return equations, len(self.lower) - equations

    def value(self, x: Array, layout: Layout) -> Array:
        """A x, shape (rows,)."""
        value = np.zeros(len(self.lower))
        for block, where in zip(self.blocks, layout.blocks.values(), strict=False):
            if block is not None:
                value += x[where][block] if block.ndim == 1 else block @ x[where]
        return value

    def matrix(self, layout: Layout) -> Array:
        """A in full, shape (rows, layout.n)."""
        A = np.zeros((len(self.lower), layout.n))
        for block, where in zip(self.blocks, layout.blocks.values(), strict=False):
            if block is None:
                continue
            if block.ndim == 1:
                A[np.arange(len(A)), where.start + block] = 1.0
            else:
                A[:, where] = block
        return A


class Program:
    """The rows of all tasks but physics, for one layout.

    Args:
        stack: the tasks, and how far each is in force.
        layout: of x.
        below: tasks on a level below those of the stack.
        box: keeps torques within what the actuators give, above the stack; None: nothing does.
        yields: whether the solver's levels yield: its first level then holds what can always hold, the bounds on
            torques and contact forces at the top of the stack.
        checked: names of tasks whose rows were looked at, for other contacts say; those of others are looked at once.

    Attributes:
        layout: of x.
        entries: the tasks, and their places.
        levels: how many a solver sees.
        exact: how many of them, from the first on, a solver that trades priorities must not trade.
    """

    def __init__(
        self,
        stack: Stack,
        layout: Layout,
        below: Sequence[Task] = (),
        box: Task | None = None,
        yields: bool = False,
        checked: set[str] | None = None,
    ) -> None:
        self.layout, self._stack = layout, stack
        self._checked = set() if checked is None else checked
        self._frames: tuple[str, ...] = ()  # of the tasks that were in force in the last tick
        levels = [list(level) for level in stack.levels]
        top = 0  # levels of nothing but physics are no solver's
        while top < len(levels) - 1 and all(isinstance(task, EquationOfMotion) for task in levels[top]):
            top += 1
        first = int(box is not None or yields)  # a level above those of the stack
        needs = _leading_needs(levels[top:]) if yields else 0

        def rank(task: Task, level: int) -> int:
            return 0 if task.always_holds and level < needs else first + level

        ranked = [
            (task, stack.name_of(task), level, rank(task, level - top))
            for level, tasks in enumerate(levels)
            for task in tasks
            if not isinstance(task, EquationOfMotion)
        ]
        ranked += [(task, task.name, len(levels), first + len(levels) - top) for task in below]
        self.entries = [Entry(*entry, HELD if yields and entry[-1] else 0.0) for entry in ranked]
        self.entries.sort(key=lambda entry: entry.rank)
        self.levels = first + len(levels) - top + bool(below)
        self.exact = 1 if yields else 1 + first
        self._box = None if box is None else Entry(box, box.name, -1, 0)
        highest = levels[top] if levels else []
        top_loads = all(task.always_holds for task in highest)
        self._box_rank = 0 if yields else first if top_loads else -1

    def parts(self, robot: Dynamics, tick: Tick) -> tuple[Part, ...]:
        """The rows of all tasks in the robot's present state; tasks that are switched off are left out."""
        found, frames = [], []
        if len(self._frames) > 1:
            robot.frames_motion(self._frames)  # together they cost little more than one
        kinematic, schedule = self.layout.kinematic, self._stack.schedule
        partial, box = schedule.partial, self._box
        for entry in self.entries:
            presence = schedule.presence(entry.name) if partial else 1.0
            if presence == 0.0:
                continue
            task = entry.task
            if entry.frame is not None:
                frames.append(entry.frame)
            rows = task.rows(robot, tick)
            if entry.name not in self._checked:
                task.check_rows(rows, tick)
                self._checked.add(entry.name)
            lower = rows.lower
            if not len(lower):
                continue
            upper = lower if rows.kind == "equation" else rows.upper
            if task.tolerance is not None:
                lower, upper = lower - task.tolerance, upper + task.tolerance
            if presence < 1.0:
                band = WIDEST * (1.0 - presence) ** 2 / presence
                lower, upper = lower - band, upper + band
            first = rows.velocity if kinematic else rows.acceleration
            values = lower, upper, rows.weights, task.weight, first, rows.force, rows.torque, entry
            found.append(_new_tuple(Part, values))  # in half the time of Part(...): it happens for each task
            if entry.rank == self._box_rank and task.bounds_torques and presence == 1.0:
                box = None  # this task does the same
        if box is not None:
            rows = box.task.rows(robot, tick)
            found.insert(0, Part(rows.lower, rows.upper, None, 1.0, None, None, rows.torque, box))
        self._frames = tuple(frames)
        return tuple(found)

    def tasks_at(self, rank: int) -> list[Task]:
        """The tasks of a level, by its rank."""
        return [entry.task for entry in self.entries if entry.rank == rank]

    def parts_or_error(self, robot: Dynamics, tick: Tick) -> tuple[Part, ...]:
        """As `parts`; an error that a task raises names the task."""
        try:
            return self.parts(robot, tick)
        except (ValueError, TypeError, AttributeError, IndexError):
            self.check(robot, tick)
            raise

    def check(self, robot: Dynamics, tick: Tick) -> None:
        """Looks at every number of every task's rows, as is done when they are first used.

        Raises:
            WbcError: rows can't be used; the message names the task.
        """
        for entry in self.entries:
            if self._stack.schedule.presence(entry.name) > 0.0:
                entry.task.check_rows(entry.task.rows(robot, tick), tick)

    def undeclared(self, robot: Dynamics, tick: Tick) -> list[str]:
        """Names of tasks that have inequalities in the robot's present state although their class does not declare
        them.
        """
        parts = self.parts_or_error(robot, tick)
        return [part.entry.name for part in parts if not part.entry.task.bounds_only and part.counts()[1]]


def _leading_needs(levels: Sequence[Sequence[Task]]) -> int:
    """How many levels, from the first on, have no tasks but those that bound something or hold contacts."""
    for count, tasks in enumerate(levels):
        if not all(task.bounds_only or task.holds_contacts or isinstance(task, EquationOfMotion) for task in tasks):
            return count
    return len(levels)


def row_counts(stack: Stack, robot: Dynamics, tick: Tick) -> dict[str, tuple[int, int]]:
    """How many equations and how many inequalities each task of a stack has in a tick, by its name in the stack."""
    parts = Program(stack, tick.layout).parts(robot, tick)
    return {part.entry.name: part.counts() for part in parts}
