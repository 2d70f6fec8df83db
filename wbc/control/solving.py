"""How a controller solves the rows of a tick for x, and what comes of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal, NamedTuple

from wbc.arrays import Array
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.program import Part
from wbc.tasking.tick import Tick

LEAST = 1e-5
"""A solver is given at least this time, s: it then keeps what must be kept."""

Status = Literal["optimal", "relaxed", "failed"]


class Outcome(NamedTuple):
    """The outcome of a solve.

    Attributes:
        x: the solution, each entry in its unit, shape (n,); whatever was reached, where it failed.
        status: "optimal", "relaxed" or "failed".
        iterations: of the solver.
        interrupted: whether the solver was stopped by its bound on steps or time.
        ignored: whether an inequality is violated because the solver ignores inequalities.
        reason: why it failed.
        pulls: how hard the tasks of each rank pull, as a fraction of its bound; empty if the solver bounds none.
        clipped: whether torques or contact forces were clipped to their limits after the solve.
    """

    x: Array
    status: Status
    iterations: int = 0
    interrupted: bool = False
    ignored: bool = False
    reason: Exception | None = None
    pulls: Sequence[float] = ()
    clipped: bool = False


class UnsoundRowsError(Exception):
    """A number in a task's rows, or in the robot's dynamics, can't be used."""


class Solving(ABC):
    """How a controller solves its ticks, for one layout of x."""

    keeps_physics = False
    """Whether the equation of motion holds to rounding in every answer, if there are no closed loops."""

    @abstractmethod
    def solve(self, equation: MotionEquation, parts: Sequence[Part], tick: Tick, seconds: float) -> Outcome:
        """Solves a tick.

        Args:
            equation: physics.
            parts: the rows of the tasks.
            tick: the moment.
            seconds: that it may take; inf: any.

        Raises:
            UnsoundRowsError: a number can't be used.
        """

    def pulls(self) -> dict[str, Array]:
        """The multipliers of the tasks' rows after the last solve, by task; empty if it keeps none."""
        return {}

    def adopt(self, pulls: dict[str, Array]) -> None:  # noqa: B027  one that keeps none has nothing to adopt
        """Continues with the multipliers of another layout's last solve."""

    def forget(self) -> None:  # noqa: B027  a solver that is handed levels forgets by itself
        """Forgets what it remembers from tick to tick."""
