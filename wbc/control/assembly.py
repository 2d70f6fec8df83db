"""From the rows of tasks to the levels that a solver sees, tick by tick: laid out once, written into again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from wbc.arrays import Array
from wbc.control.reduction import Reduction
from wbc.control.stack import Stack
from wbc.dynamics.base import Dynamics
from wbc.solvers.answer import Answer
from wbc.solvers.level import Hierarchy
from wbc.tasking.problem import Block, Rows, Variables
from wbc.tasking.task import Task

FIXED = 1e-9
"""A row of which less than this share is left is fixed by what was eliminated."""

SUSPECT = 1e-5
"""Where no row's norm is below this share of the greatest, none is looked at more closely."""

PATIENCE = 25
"""Ticks after which a guess that was wrong is made again."""

WIDEST = 200.0
"""Half of this, in the units of the rows, is the tolerance of a task that is half switched off."""


@dataclass(eq=False, slots=True)
class Part:
    """The rows of one task in one tick.

    Attributes:
        task: whose they are.
        level: its priority.
        rows: what it gave.
        lower: bounds with its tolerance, shape (rows,).
        upper: shape (rows,).
        equation: whether all rows are equations.
        weight: of the task at this tick.
        eliminated: whether the rows were eliminated, and no solver sees them.
        where: its rows in the solver's levels.
    """

    task: Task
    level: int
    rows: Rows
    lower: Array
    upper: Array
    equation: bool
    weight: float
    eliminated: bool = False
    where: slice = field(default_factory=lambda: slice(0, 0))

    def counts(self) -> tuple[int, int]:
        """How many equations and how many inequalities it has."""
        equations = int((self.lower == self.upper).sum())
        return equations, len(self.lower) - equations


class Assembly:
    """Builds the levels of each tick for one layout of variables.

    Args:
        levels: the tasks of each priority.
        stack: which of them are being switched.
        reduction: eliminates what comes first; None: nothing is, for velocities.
        variables: the layout of x.
        strict: whether the solver keeps strict priorities; one that does not has only the equations of its level 0
            eliminated, for the others are traded.

    Attributes:
        depth: of how many levels that have equations these are eliminated before a solver sees the rest, on the guess
            that the inequalities of these levels (and above) can all hold with them; a wrong guess is seen and costs
            a second solve.
        greatest: depth that is tried; 2 helps where the second such level's equations are independent of the first's.
        top: the first level that has more than physics: the solver's level 0.
    """

    def __init__(
        self,
        levels: Sequence[Sequence[Task]],
        stack: Stack,
        reduction: Reduction | None,
        variables: Variables,
        strict: bool = True,
    ) -> None:
        self._tasks, self._stack, self._reduction, self._variables = levels, stack, reduction, variables
        self.top = 0  # levels of nothing but physics are no solver's
        while self.top < len(levels) - 1 and all(task.physics for task in levels[self.top]):
            self.top += 1
        self._ones = np.ones(variables.n)
        self._blocks = tuple(variables.blocks.values())
        self.depth = self.greatest = 2 if strict else 1
        self._strict = strict
        self._deepest, self._patience, self._misses = -1, PATIENCE, 0
        self._checked: set[Task] = set()
        self._laid: dict[tuple[int, ...], tuple[Hierarchy, Array, Array, Array, dict[int, Part]]] = {}

    def parts(self, robot: Dynamics) -> list[Part]:
        """The rows of all tasks, highest priority first; those that are switched off are left out."""
        found = []
        variables, fading = self._variables, self._stack.fading
        for level, tasks in enumerate(self._tasks):
            for task in tasks:
                if task.physics or (fading and self._stack.presence(task.name) == 0.0):
                    continue
                rows = task.rows(robot, variables)
                if task not in self._checked:
                    task.check_rows(rows, variables)
                    self._checked.add(task)
                elif rows.lower is not rows.upper and not _fixed(rows) and (rows.lower > rows.upper).any():
                    task.check_rows(rows, variables)
                if not len(rows.lower):
                    continue
                lower, upper = (rows.lower, rows.upper) if task.tolerance is None else task.bounds(rows)
                if fading:
                    presence = self._stack.presence(task.name)
                    if presence < 1.0:
                        band = WIDEST * (1.0 - presence) ** 2 / presence
                        lower, upper = lower - band, upper + band
                found.append(Part(task, level, rows, lower, upper, lower is upper, task.weight))
        return found

    def check(self, robot: Dynamics) -> None:
        """Looks at every number of every task's rows, as is done when they are first used.

        Raises:
            WbcError: rows can't be used; the message names the task.
        """
        for task in self._stack:
            if not task.physics and self._stack.presence(task.name) > 0.0:
                task.check_rows(task.rows(robot, self._variables), self._variables)

    def reduce(self, parts: list[Part], M: Array, h: Array, Jc: Array, depth: int) -> tuple[Array, Hierarchy] | None:
        """X = [x₀ T] and the levels in z.

        Args:
            parts: of this tick.
            M: mass matrix.
            h: bias.
            Jc: contact Jacobian.
            depth: of how many levels that have equations these are eliminated too.

        Returns:
            None where the equations of several levels depend on each other: their order would be lost.
        """
        assert self._reduction is not None
        equations = []
        self._deepest, seen = -1, 0
        for part in parts:
            part.eliminated = False
            if part.equation and depth and (self._strict or part.level == self.top):
                if part.level != self._deepest:
                    if seen == depth:
                        continue
                    if not _of_one_weight(parts, part.level):  # elimination knows no weights: this is for the solver
                        depth = seen
                        continue
                    seen += 1
                    self._deepest = part.level
                part.eliminated = True
                equations.append(part.rows)
        X = self._reduction.solve(M, h, Jc, equations, seen > 1)
        if X is None:
            return None
        levels = self.levels(parts, X)
        return X, levels

    def levels(self, parts: list[Part], X: Array) -> Hierarchy:
        """Writes all rows that are left into the levels, in z of x = X [1; z]."""
        sizes, counts = [0] * (len(self._tasks) - self.top), []
        start, free = 0, X.shape[1] - 1
        for part in parts:
            if not part.eliminated:
                count = len(part.lower)
                part.where = slice(start, start + count)
                sizes[part.level - self.top] += count
                counts.append(count)
                start += count
        key = (free, *sizes, *counts)
        laid = self._laid.get(key)
        if laid is None:
            hierarchy, product = Hierarchy(sizes, free), np.zeros((start, 1 + free))
            hierarchy.A = product[:, 1:]
            given, shifted = np.empty((2, start)), np.empty((2, start))  # bounds of the rows in x, and in z
            hierarchy.lower, hierarchy.upper = shifted
            laid = self._laid[key] = hierarchy, product, given, shifted, {}
        hierarchy, product, given, shifted, written_before = laid
        blocks_of = self._variables.blocks_of
        blocks = [X[where] for where in self._blocks]
        weighted = False
        for part in parts:
            if part.eliminated:
                continue
            at, rows = part.where, part.rows
            if part.equation:
                given[:, at] = part.lower
                written_before.pop(at.start, None)
            else:
                before = written_before.get(at.start)
                if before is None or before.lower is not part.lower or before.upper is not part.upper:
                    given[0, at], given[1, at] = part.lower, part.upper
                    if _fixed(part):  # bounds that can't change are written once
                        written_before[at.start] = part
                    else:
                        written_before.pop(at.start, None)
            if rows.weights is not None or part.weight != 1.0:
                weighted = True
            _write(blocks_of(rows), blocks, product[at])
        self._clear_rounding(parts, hierarchy)
        np.subtract(given, product[:, 0], out=shifted)
        hierarchy.weights = self._weights(parts, start) if weighted else None
        return hierarchy

    def _clear_rounding(self, parts: list[Part], hierarchy: Hierarchy) -> None:
        """Rows that what was eliminated has fixed are zero, not rounding: a solver judges rank by the rows it sees."""
        A = hierarchy.A
        squares = (A * A).dot(self._ones[: A.shape[1]])
        # where all are tiny, all may be rounding
        if (
            self._reduction is not None
            and squares.size
            and squares[squares.argmin()] < SUSPECT**2 * max(squares[squares.argmax()], 1.0)
        ):
            for part in parts:
                if not part.eliminated:
                    here = squares[part.where]
                    fixed = here < FIXED**2 * self._reduction.size(part.rows)
                    A[part.where][fixed] = 0.0
                    here[fixed] = 0.0
        hierarchy.norms = np.sqrt(squares, out=squares)

    def _weights(self, parts: list[Part], count: int) -> Array:
        weights = np.ones(count)
        for part in parts:
            if not part.eliminated:
                weights[part.where] = part.weight
                if part.rows.weights is not None:
                    weights[part.where] *= part.rows.weights
        return weights

    def holds(self, answer: Answer) -> bool:
        """Whether the guess was right: no inequality above or beside what was eliminated is violated."""
        if self._deepest < 0 or answer.status in ("optimal", "violated"):
            return True
        if answer.status == "failed":
            return False
        return answer.holds(self._deepest - self.top)

    def learn(self, parts: list[Part], depth: int, answer: Answer) -> None:
        """Chooses the depth of the next tick's elimination: less after two wrong guesses in a row, one level more after
        a while, or when all that the deeper guess is about holds now.

        Args:
            parts: of this tick.
            depth: that was right.
            answer: to it.
        """
        if depth < self.depth:
            self._misses += 1
            if self._misses > 1:
                self.depth, self._patience = depth, PATIENCE
            return
        self._misses = 0
        if self.depth < self.greatest:
            self._patience -= 1
            if self._patience <= 0 or self._would_hold(parts, depth + 1, answer):
                self.depth, self._patience = self.depth + 1, PATIENCE

    def _would_hold(self, parts: list[Part], depth: int, answer: Answer) -> bool:
        """Whether the equations of so many levels, and all inequalities down to them, hold in an answer."""
        levels = sorted({part.level for part in parts if part.equation})
        return len(levels) >= depth and answer.status == "optimal" and answer.holds(levels[depth - 1] - self.top)


def _fixed(bounds: Part | Rows) -> bool:
    """Whether the bounds can't change in place: read-only, and no views of what is not."""
    lower, upper = bounds.lower, bounds.upper
    return not (lower.flags.writeable or upper.flags.writeable) and lower.base is None and upper.base is None


def _of_one_weight(parts: list[Part], level: int) -> bool:
    """Whether all equations of a level have the same weight, and it is not zero."""
    weight = None
    for part in parts:
        if part.level == level:
            if part.rows.weights is not None:
                return False
            if part.equation:
                if part.weight != weight and weight is not None:
                    return False
                weight = part.weight
    return bool(weight)


def _write(rows: tuple[Block, ...], blocks: list[Array], out: Array) -> None:
    """The rows' blocks times those of X, into `out`."""
    written = False
    for block, X in zip(rows, blocks, strict=True):
        if block is None:
            continue
        if written:
            out += X[block] if block.ndim == 1 else block.dot(X)
        elif block.ndim == 1:
            X.take(block, 0, out)  # type: ignore[arg-type]  # its dtype is an index
        else:
            np.dot(block, X, out=out)
        written = True
    if not written:
        out[:] = 0.0
