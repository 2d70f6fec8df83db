"""An extra level with one task, inserted into a stack to solve a tick again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wbc.arrays import Array
from wbc.control.compiled_solving import solving_for
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.program import Entry, Part, Program
from wbc.control.solving import Outcome
from wbc.solvers.base import Solver
from wbc.tasking.rows import Rows
from wbc.tasking.task import Task

_new_tuple = tuple.__new__


class InsertedLevel:
    """An extra level, and the solver of the stack with it.

    Args:
        program: the tasks of the stack.
        equation: physics in any state.
        solver: that is asked.
        task: what stands on the level.
        rank: how many levels of the program stand above it.
        effort: what each actuator gives, shape (na,).
        waits: whether a task of the levels above stands below it all the same, on a level of its own; None: none does.
    """

    def __init__(
        self,
        program: Program,
        equation: MotionEquation,
        solver: Solver,
        task: Task,
        rank: int,
        effort: Array,
        waits: Callable[[Task], bool] | None = None,
    ) -> None:
        self._entry = Entry(task, task.name, -1, rank)
        above = [entry for entry in program.entries if entry.rank < rank]
        self._waiting = {entry for entry in above if waits is not None and waits(entry.task)}
        self._more = 2 if self._waiting else 1
        self._shifted: dict[Entry, Entry] = {}
        self._rows = 0, 0  # where its own are among all, and how many
        under = solver.under(1) if self._waiting else solver
        self._solving = solving_for(program, equation, under, program.levels + self._more, effort)

    def among(self, parts: Sequence[Part], rows: Rows) -> tuple[Part, ...]:
        """The parts of a tick with the level among them.

        Args:
            parts: of the stack's tasks, highest priority first.
            rows: of the level; on torques.
        """
        rank, waiting = self._entry.rank, self._waiting
        own = Part(rows.lower, rows.upper, None, 1.0, None, None, rows.torque, self._entry)
        above = [part for part in parts if part.entry.rank < rank]
        first = [part for part in above if part.entry not in waiting]
        self._rows = sum(len(part.lower) for part in first), len(rows.lower)
        after = [self._at(part, rank + 1) for part in above if part.entry in waiting]
        below = [self._at(part, part.entry.rank + self._more) for part in parts if part.entry.rank >= rank]
        return (*first, own, *after, *below)

    def solve(self, equation: MotionEquation, parts: Sequence[Part], seconds: float) -> Outcome:
        """As `Solving.solve`, for parts that `among` gave."""
        return self._solving.solve(equation, parts, seconds)

    def without(self, outcome: Outcome) -> Outcome:
        """What is said of a solve, in the levels and rows of the stack."""
        rank, (first, count) = self._entry.rank, self._rows
        yielding = [
            (k - (self._more if k > rank else 0), row - (count if row > first else 0), s)
            for k, row, s in outcome.yielding
        ]
        return outcome._replace(yielding=tuple(yielding))

    def forget(self) -> None:
        """Forgets what it remembers from tick to tick."""
        self._solving.forget()

    def _at(self, part: Part, rank: int) -> Part:
        """The same rows on another level."""
        entry = part.entry
        shifted = self._shifted.get(entry)
        if shifted is None:
            shifted = self._shifted[entry] = Entry(entry.task, entry.name, entry.level, rank)
        return _new_tuple(Part, (*part[:-1], shifted))  # in half the time of part._replace(entry=...)
