"""How a controller solves the rows of a tick for x, and what comes of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal, NamedTuple

from wbc.arrays import Array
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.program import Part

LEAST = 1e-5
"""A solver is given as much time as this at least, s: it then keeps what must be kept."""

Status = Literal["optimal", "relaxed", "failed"]


class Outcome(NamedTuple):
    """The outcome of a solve.

    Attributes:
        x: the solution, each entry in its unit, shape (n,); whatever was reached, where it failed.
        status: "optimal", "relaxed" or "failed".
        iterations: of the solver.
        interrupted: whether the solver was stopped by its bound on steps or time.
        ignored: whether an inequality is violated because the solver looks at none.
        reason: why it failed.
        yielding: the directions that levels are about to lose, and ask less of: level, row of all tasks' rows that has
            most of it, and how much of its size is left.
        guarded: whether it was solved again within what the actuators give.
        steadied: whether it was solved again with a bound on the change of torques.
        traded: whether levels were traded by weights for a while: see `wbc.control.compromise`.
    """

    x: Array
    status: Status
    iterations: int = 0
    interrupted: bool = False
    ignored: bool = False
    reason: Exception | None = None
    yielding: Sequence[tuple[int, int, float]] = ()
    guarded: bool = False
    steadied: bool = False
    traded: bool = False


class UnsoundRowsError(Exception):
    """A number in a task's rows, or in the robot's dynamics, can't be used."""


class Solving(ABC):
    """How a controller solves its ticks, for one layout of x."""

    keeps_physics = False
    """Whether the equation of motion holds to rounding in whatever it gives, where there are no closed loops."""

    @abstractmethod
    def solve(self, equation: MotionEquation, parts: Sequence[Part], seconds: float) -> Outcome:
        """Solves a tick.

        Args:
            equation: physics.
            parts: the rows of the tasks.
            seconds: that it may take; inf: any.

        Raises:
            UnsoundRowsError: a number can't be used.
        """

    def forget(self) -> None:  # noqa: B027  a solver that is handed levels forgets by itself
        """Forgets what it remembers from tick to tick."""
