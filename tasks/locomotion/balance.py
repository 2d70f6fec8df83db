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

    @property
    def lever(self) -> float:
        """λ of `Balance`: 1 / (m h), 1 / (kg m)."""
        ...

    def acceleration(self, robot: Dynamics, time: float) -> Array:
        """Of the centre of mass, m/s², world, shape (3,)."""
        ...

    def off(self, robot: Dynamics, time: float) -> Array:
        """How far it is from its plan, m, shape (3,)."""
        ...


class Balance(Task):
    """Moves the centre of mass as a walk's tracker decides, at the height that it decides.

    Its horizontal rows are c̈ + λ (L̇_y, −L̇_x) = what is decided, with the angular momentum L about the centre of mass
    and λ = 1 / (m h): the zero-moment point is where that was decided for, and legs that swing take the body along. If
    c̈ alone were asked for, the zero-moment point would have to make up for the legs. Soles are too short for that, and
    two points can't.

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
        A, bias = robot.com_jacobian.copy(), robot.com_bias.copy()
        lever = np.array([[1.0], [-1.0]]) * self._led.lever
        A[:2] += lever * robot.momentum_matrix[[4, 3]]
        bias[:2] += lever[:, 0] * robot.momentum_bias[[4, 3]]
        return Rows.equal(scale * (wanted - bias), acceleration=scale[:, None] * A)

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"{axis} of the centre of mass" for axis in "xyz"]

    def error(self, robot: Dynamics, tick: Tick) -> Array:
        """See `Task`: of the divergent component of motion in x and y, and of the height; m."""
        return np.asarray(self._led.off(robot, tick.time))
