"""Tasks in order of priority, as `a + b` and `a / b` put them."""

from __future__ import annotations

from collections.abc import Iterable

from wbc.errors import WbcError, show
from wbc.tasking.task import Task


class Levels:
    """Tasks in levels, highest priority first: what `a + b` and `a / b` make.

    `+` joins at the same priority, `/` puts what follows below. `/` binds tighter, as everywhere in Python, and the
    reading is the natural one: `a + b / c` has a and b above c, `a / b + c` has b and c below a.
    """

    def __init__(self, levels: Iterable[Iterable[Task]]) -> None:
        self.levels = [list(level) for level in levels]

    def __add__(self, other: Task | Levels) -> Levels:
        more = as_levels(other)
        return Levels([*self.levels[:-1], self.levels[-1] + more[0], *more[1:]])

    def __truediv__(self, other: Task | Levels) -> Levels:
        return Levels([*self.levels, *as_levels(other)])

    def __repr__(self) -> str:
        return " / ".join("(" + " + ".join(task.name for task in level) + ")" for level in self.levels)


def as_levels(what: object) -> list[list[Task]]:
    """The tasks of each level.

    Args:
        what: a task, or levels.

    Raises:
        WbcError: it is neither.
    """
    if isinstance(what, Levels):
        return what.levels
    if isinstance(what, Task):
        return [[what]]
    raise WbcError(f"only tasks can be added to tasks, not {show(what)}")
