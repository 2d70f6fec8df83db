"""From the rows of tasks to the levels that a solver sees, tick by tick: laid out once, written into again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from wbc.arrays import Array
from wbc.dynamics.base import Dynamics
from wbc.problem import Block, Rows, Variables
from wbc.reduction import Reduction
from wbc.solvers.answer import Answer
from wbc.solvers.level import Hierarchy
from wbc.stack import Stack
from wbc.task import Task

PATIENCE = 25
"""Ticks after which a guess that was wrong is made again."""

ROUNDING = 1e-10
"""Rows that are smaller once the first equations are eliminated are zero."""

WIDEST = 1e3
"""Tolerance, in the units of the rows, at which a task that is being switched off is nearly gone."""


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
        eliminated: whether the rows were eliminated, and no solver sees them.
        where: its rows in the solver's levels.
    """

    task: Task
    level: int
    rows: Rows
    lower: Array
    upper: Array
    equation: bool
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
        reduction: eliminates what comes first.
        variables: the layout of x.

    Attributes:
        speculate: whether the first equations are eliminated, on the guess that the inequalities of their level (and
            above) can all hold with them; a wrong guess is seen and costs a second solve.
    """

    def __init__(
        self, levels: Sequence[Sequence[Task]], stack: Stack, reduction: Reduction, variables: Variables
    ) -> None:
        self._tasks, self._stack, self._reduction, self._variables = levels, stack, reduction, variables
        self.speculate = True
        self._first = -1
        self._ticks_since_guess = 0
        self._laid: dict[tuple[int, ...], tuple[Hierarchy, Array, Array, Array, dict[int, Array]]] = {}

    def parts(self, robot: Dynamics) -> list[Part]:
        """The rows of all tasks, highest priority first; those that are switched off are left out."""
        found = []
        variables, fading = self._variables, self._stack.fading
        for level, tasks in enumerate(self._tasks):
            for task in tasks:
                if task.physics or (fading and self._stack.presence(task.name) == 0.0):
                    continue
                rows = task.rows(robot, variables)
                if not len(rows.lower):
                    continue
                lower, upper = (rows.lower, rows.upper) if task.tolerance is None else task.bounds(rows)
                if fading:
                    presence = self._stack.presence(task.name)
                    if presence < 1.0:
                        band = WIDEST * (1.0 - presence) ** 3 / presence
                        lower, upper = lower - band, upper + band
                found.append(Part(task, level, rows, lower, upper, lower is upper))
        return found

    def reduce(self, parts: list[Part], M: Array, h: Array, Jc: Array, quick: bool) -> tuple[Array, Hierarchy]:
        """X = [x₀ T] and the levels in z.

        Args:
            parts: of this tick.
            M: mass matrix.
            h: bias.
            Jc: contact Jacobian.
            quick: whether to eliminate the equations of the first level that has any, too.
        """
        first = next((part.level for part in parts if part.equation), None) if quick else None
        equations = []
        for part in parts:
            part.eliminated = part.equation and part.level == first
            if part.eliminated:
                equations.append(part.rows)
        self._first = -1 if first is None else first
        X = self._reduction.solve(M, h, Jc, equations)
        return X, self._levels(parts, X)

    def _levels(self, parts: list[Part], X: Array) -> Hierarchy:
        """Writes all rows that are left into the levels."""
        sizes = [0] * len(self._tasks)
        start = 0
        for part in parts:
            if not part.eliminated:
                count = len(part.lower)
                part.where = slice(start, start + count)
                sizes[part.level] += count
                start += count
        free = X.shape[1] - 1
        key = (free, *sizes)
        laid = self._laid.get(key)
        if laid is None:
            hierarchy, product = Hierarchy(sizes, free), np.zeros((start, 1 + free))
            hierarchy.A = product[:, 1:]
            laid = self._laid[key] = hierarchy, product, np.empty(start), np.empty(start), {}
        hierarchy, product, lower, upper, written_before = laid
        variables = self._variables
        weighted = False
        for part in parts:
            if part.eliminated:
                continue
            at, rows = part.where, part.rows
            if written_before.get(at.start) is not part.lower:
                lower[at], upper[at] = part.lower, part.upper
                if not part.lower.flags.writeable:  # bounds that can't change are written once
                    written_before[at.start] = part.lower
                else:
                    written_before.pop(at.start, None)
            weighted = weighted or part.task.weight != 1.0 or rows.weights is not None
            out = product[at]
            written = _write(rows.acceleration, X[variables.acceleration], out, False)
            written = _write(rows.force, X[variables.force], out, written)
            written = _write(rows.torque, X[variables.torque], out, written)
            if not written:
                out[:] = 0.0
        # Rows that lie wholly in what was eliminated are but rounding now; scaled up, a solver would take them for rows.
        gone = np.einsum("ij,ij->i", hierarchy.A, hierarchy.A) < ROUNDING**2
        if gone.any():
            hierarchy.A[gone] = 0.0
        np.subtract(lower, product[:, 0], out=hierarchy.lower)
        np.subtract(upper, product[:, 0], out=hierarchy.upper)
        hierarchy.weights = self._weights(parts, start) if weighted else None
        return hierarchy

    def _weights(self, parts: list[Part], count: int) -> Array:
        weights = np.ones(count)
        for part in parts:
            if not part.eliminated:
                weights[part.where] = part.task.weight
                if part.rows.weights is not None:
                    weights[part.where] *= part.rows.weights
        return weights

    def holds(self, answer: Answer) -> bool:
        """Whether the guess was right: no inequality above or beside what was eliminated is violated."""
        if self._first < 0 or answer.status in ("optimal", "violated"):
            return True
        stop = answer.starts[self._first + 1]
        return not bool((np.abs(answer.residual[:stop]) > answer.allowed[:stop]).any())

    def may_guess_again(self, parts: list[Part], answer: Answer) -> bool:
        """After a solve without the guess: whether the next tick should try it, because all that it is about holds now,
        or because it was not tried for long (equations that contradict each other never hold, guess or not).
        """
        first = next((part.level for part in parts if part.equation), None)
        if first is None:
            return False
        self._ticks_since_guess = (self._ticks_since_guess + 1) % PATIENCE
        stop = answer.starts[first + 1]
        holds = not bool((np.abs(answer.residual[:stop]) > answer.allowed[:stop]).any())
        return holds or self._ticks_since_guess == 0


def _write(block: Block, X: Array, out: Array, add: bool) -> bool:
    """Adds block · X to the rows, or sets them; whether they are set then."""
    if block is None:
        return add
    if block.ndim == 1:
        if add:
            out += X[block]
        else:
            X.take(block, 0, out)
    elif add:
        out += block.dot(X)
    else:
        np.dot(block, X, out=out)
    return True
