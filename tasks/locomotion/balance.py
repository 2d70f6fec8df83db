"""The task that leads the centre of mass of a robot that walks."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from wbc.arrays import Array
from wbc.dynamics import Dynamics
from wbc.tasking.rows import Rows
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick

LEVEL = 5.0
"""Scale of the row of the height while the robot is pushed and not all can be had: a robot that jumps can't step."""


class Led(Protocol):
    """Decides how the centre of mass moves."""

    @property
    def pushed(self) -> float:
        """How far something pushes, or has just pushed, the robot, 0 to 1."""
        ...

    def acceleration(self, robot: Dynamics, time: float) -> Array:
        """Of the centre of mass, m/s², world, shape (3,)."""
        ...

    def off(self, robot: Dynamics, time: float) -> Array:
        """How far it is from its plan, m, shape (3,)."""
        ...


class Balance(Task):
    """Moves the centre of mass as a walk's tracker decides, at the height that it decides.

    Args:
        led: the object that decides.
        weight: see `Task`.
    """

    def __init__(self, led: Led, weight: float = 1.0) -> None:
        super().__init__("balance", weight)
        self._led = led

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; three rows."""
        wanted = self._led.acceleration(robot, tick.time)
        scale = np.array([1.0, 1.0, 1.0 + (LEVEL - 1.0) * self._led.pushed])
        return Rows.equal(scale * (wanted - robot.com_bias), acceleration=scale[:, None] * robot.com_jacobian)

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"{axis} of the centre of mass" for axis in "xyz"]

    def error(self, robot: Dynamics, tick: Tick) -> Array:
        """See `Task`: of the divergent component of motion in x and y, and of the height; m."""
        return np.asarray(self._led.off(robot, tick.time))
