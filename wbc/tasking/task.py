"""The base class of tasks: rows in x = (v̇, f, τ), or in x = v, computed for each state of the robot."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from wbc.arrays import Array, ArrayLike, IntArray, numbers
from wbc.copies import Independent
from wbc.errors import WbcError, show, word
from wbc.tasking.gains import Gains
from wbc.tasking.rows import Rows
from wbc.tasking.tick import Tick

if TYPE_CHECKING:
    from wbc.contacts import Contact
    from wbc.dynamics.base import Dynamics
    from wbc.tasking.levels import Levels


class Task(Independent, ABC):
    """One objective of the robot. A subclass implements `rows`, and may name them.

    Tasks are put into a stack with `a + b` (the same priority) and `a / b` (b below a).

    Args:
        name: its name in the stack, the solution and the explanation; None: made from the class and its purpose.
        weight: of the task against others of the same priority; multiplies the squared residuals.
        tolerance: distance of A x from b that is allowed, for each row or for all; turns equations into inequalities.

    Attributes:
        name: unique in a stack.
        weight: may be changed while the controller runs; `Stack.fade` changes it smoothly.
        tolerance: None, a number, or one a row.
    """

    inequality = False
    """Whether all its rows are inequalities. In a tick `Rows.kind` decides."""

    holds_contacts = False
    """Whether this is the task that holds the closed contacts still."""

    bounds_torques = False
    """Whether it keeps torques within what the actuators give."""

    always_holds = False
    """Whether it bounds torques or contact forces and can hold in every state, together with others of its kind: it is
    then exact, above levels that yield."""

    bounds_joints = False
    """Whether it keeps joints within their ranges and speeds."""

    bounds_contacts = False
    """Whether it bounds the forces of the closed contacts."""

    gains_of_forces = False
    """Whether its `gains` turn errors into forces: the resulting motion depends on the mass."""

    bounds_approach = False
    """Whether the `speed` of its `gains` bounds the demand of its error."""

    approach_groups: IntArray | None = None
    """A number for each row, shape (rows,): the norm of rows of one number is bounded; None: each row by itself."""

    kinematic = False
    """Whether its rows are in x = v, for `wbc.kinematics`; all tasks of a stack are, or none."""

    _made_of: tuple[tuple[Any, ...], dict[str, Any]] = (), {}
    """Its arguments, if they are plain data; `...` stands for others. Files of stacks are written from it."""

    def __new__(cls, *given: Any, **named: Any) -> Self:  # noqa: ANN401  of the class's own `__init__`
        """Notes what it is made of."""
        made = super().__new__(cls)
        made._made_of = tuple(map(_kept, given)), {name: _kept(value) for name, value in named.items()}
        return made

    def __init__(self, name: str | None = None, weight: float = 1.0, tolerance: ArrayLike | None = None) -> None:
        self.name = type(self).__name__ if name is None else word(name, f"the name of a {type(self).__name__}")
        self.weight = weight
        self.tolerance = None if tolerance is None else numbers(tolerance, f"{self.name}: tolerance")
        if self.tolerance is not None and not (self.tolerance >= 0).all():
            raise WbcError(f"{self.name}: tolerance = {show(tolerance)} must be zero or more")

    @property
    def bounds_only(self) -> bool:
        """Whether it asks for a range and not for a value."""
        return self.inequality or self.tolerance is not None

    @property
    def weight(self) -> float:
        """Of the task against others of the same priority; multiplies the squared residuals."""
        return self._weight

    @weight.setter
    def weight(self, value: float) -> None:
        real = isinstance(value, int | float | np.floating) and not isinstance(value, bool)
        if not (real and 0 <= value <= sys.float_info.max):
            raise WbcError(f"{self.name}: weight = {show(value)} must be a number, zero or more")
        self._weight = float(value)

    @property
    def posture_damping(self) -> float | None:
        """Damping of a posture, 1/s; None: it is none. A posture takes what other tasks leave of the joints' motion."""
        return None

    @abstractmethod
    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """The rows of the task in the robot's present state; their number is the same in every state.

        Args:
            robot: updated.
            tick: the layout of x, the closed contacts, the time.
        """

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """The name of each row: an axis, a joint, a contact. For explanations; need not be fast."""
        return [f"row {row}" for row in range(len(self.rows(robot, tick)))]

    def error(self, robot: Dynamics, tick: Tick) -> Array | None:
        """The distance from the target, desired − measured, in the axes of its rows.

        Logs record it, and `Solution.health` reports errors that persist.

        Args:
            robot: updated.
            tick: the time.

        Returns:
            As many numbers in every state; None where the task has no target of that kind.
        """
        return None

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """Raises a `WbcError` if the task is for a frame, a joint or a contact that is not there.

        Args:
            robot: any state.
            contacts: the stack's contacts by name, closed or open.
        """

    def remarks(self, robot: Dynamics, tick: Tick) -> list[str]:
        """Further remarks about the present state, one per line, for explanations; need not be fast.

        Args:
            robot: updated.
            tick: the time.
        """
        return []

    def reset(self) -> None:
        """Forgets what it remembers of earlier ticks, such as the place to hold."""

    def matrices(self, robot: Dynamics, tick: Tick) -> tuple[Array, Array] | tuple[Array, Array, Array]:
        """The rows in full: (A, b) for a task of equations, (A, lower, upper) for one with inequalities.

        Args:
            robot: updated.
            tick: the layout of x.
        """
        rows = self.rows(robot, tick)
        self.check_rows(rows, tick)
        A, (lower, upper) = rows.matrix(tick), self.bounds(rows)
        if rows.kind == "equation" and self.tolerance is None:
            return A, lower.copy()
        return A, lower.copy(), upper.copy()

    def check_rows(self, rows: object, tick: Tick) -> None:
        """Raises a `WbcError` if the result of `rows` can't be used; the controller checks once for each layout of
        x.
        """
        if not isinstance(rows, Rows):
            raise WbcError(f"{self.name}: rows() must give a wbc.Rows, not {show(rows)}")
        rows.check(tick, self.name)
        if self.tolerance is not None and self.tolerance.shape not in ((), (len(rows),)):
            raise WbcError(f"{self.name}: tolerance has {self.tolerance.size} values; it needs one, or {len(rows)}")

    def bounds(self, rows: Rows) -> tuple[Array, Array]:
        """The bounds of its rows, with its tolerance."""
        if self.tolerance is None:
            return rows.lower, rows.upper
        return rows.lower - self.tolerance, rows.upper + self.tolerance

    def __add__(self, other: Task | Levels) -> Levels:
        from wbc.tasking.levels import Levels

        return Levels([[self]]) + other

    def __truediv__(self, other: Task | Levels) -> Levels:
        from wbc.tasking.levels import Levels

        return Levels([[self]]) / other

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: {self.purpose}>"

    @property
    def purpose(self) -> str:
        """The purpose of the task in a few words."""
        doc = (type(self).__doc__ or "").strip().splitlines()
        return doc[0][:1].lower() + doc[0][1:].rstrip(".") if doc else type(self).__name__


def _kept(value: object) -> Any:  # noqa: ANN401  plain data
    """A copy of plain data: numbers, words, arrays, gains, lists and tables of them; `...` of all else."""
    if value is None or isinstance(value, bool | int | float | str | np.generic | Gains):
        return value
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list | tuple):
        return [_kept(part) for part in value]
    if isinstance(value, dict):
        return {name: _kept(part) for name, part in value.items()}
    return ...
