"""Rows that a user makes, without a class."""

from __future__ import annotations

from collections.abc import Callable

from wbc.dynamics import Dynamics
from wbc.errors import WbcError, show
from wbc.tasking import problem
from wbc.tasking.problem import Variables
from wbc.tasking.task import Task


class Rows(Task):
    """Rows made by the user.

    Args:
        make: a `wbc.Rows`, or a function of the robot and the variables that gives one.
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`.
        kinematic: see `Task`; None: whether the rows that were given are on velocities. A function must be told of.
    """

    def __init__(
        self,
        make: problem.Rows | Callable[[Dynamics, Variables], problem.Rows],
        name: str = "rows",
        weight: float = 1.0,
        tolerance: float | None = None,
        kinematic: bool | None = None,
    ) -> None:
        super().__init__(name, weight, tolerance)
        if not callable(make) and not isinstance(make, problem.Rows):
            raise WbcError(f"{name}: give a wbc.Rows, or a function of robot and variables, not {show(make)}")
        self._make = make
        on_velocity = isinstance(make, problem.Rows) and make.velocity is not None
        self.kinematic = on_velocity if kinematic is None else kinematic

    def rows(self, robot: Dynamics, variables: Variables) -> problem.Rows:
        """See `Task`."""
        rows = self._make(robot, variables) if callable(self._make) else self._make
        if not isinstance(rows, problem.Rows):
            raise WbcError(f"{self.name}: its function gave {show(rows)}, not a wbc.Rows")
        return rows
