"""A task from your own rows, without a class."""

from __future__ import annotations

from collections.abc import Callable

from wbc.dynamics import Dynamics
from wbc.errors import WbcError, show
from wbc.tasking import rows as given
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick


class Rows(Task):
    """A task from your own rows.

    Args:
        make: a `wbc.Rows`, or a function of the robot and the tick that gives one.
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`.
        kinematic: see `Task`; None: whether the rows that were given are on velocities. Required for a function.
    """

    def __init__(
        self,
        make: given.Rows | Callable[[Dynamics, Tick], given.Rows],
        name: str = "rows",
        weight: float = 1.0,
        tolerance: float | None = None,
        kinematic: bool | None = None,
    ) -> None:
        super().__init__(name, weight, tolerance)
        if not callable(make) and not isinstance(make, given.Rows):
            raise WbcError(f"{name}: give a wbc.Rows, or a function of robot and tick, not {show(make)}")
        self._make = make
        on_velocity = isinstance(make, given.Rows) and make.velocity is not None
        self.inequality = isinstance(make, given.Rows) and make.kind == "inequality"
        self.bounds_contacts = self.inequality and isinstance(make, given.Rows) and make.force is not None
        self.kinematic = on_velocity if kinematic is None else kinematic

    def rows(self, robot: Dynamics, tick: Tick) -> given.Rows:
        """See `Task`."""
        rows = self._make(robot, tick) if callable(self._make) else self._make
        if not isinstance(rows, given.Rows):
            raise WbcError(f"{self.name}: its function gave {show(rows)}, not a wbc.Rows")
        return rows
