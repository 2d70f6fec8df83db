"""The limits of what is commanded: the actuators' box above all tasks, and a clip after the solve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wbc.arrays import Array
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.kept_forces import forces_within
from wbc.control.program import Part
from wbc.control.solving import Outcome
from wbc.control.tolerance import SHARE
from wbc.dynamics.base import Dynamics
from wbc.model.names import actuator_names
from wbc.tasking.rows import Rows
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick


class ActuatorLimits(Task):
    """Keeps torques within the actuators' limits: a row an actuator."""

    inequality = True
    bounds_torques = True
    always_holds = True

    def __init__(self) -> None:
        super().__init__("actuators")
        self._known: tuple[object, Rows] | None = None

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`."""
        if self._known is None or self._known[0] is not robot.limits:
            limits = robot.limits
            self._known = limits, Rows.between(limits.least, limits.effort, torque=np.arange(robot.na))
        return self._known[1]

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return actuator_names(robot.model)


class Clip:
    """Brings an answer within the actuators' limits. The robot then moves as physics tells, not as its tasks want.

    A solver that knows inequalities needs it for rounding, and where it was stopped by the deadline; one that ignores
    them wherever it asks for too much.

    Args:
        robot: whose actuators they are.
    """

    def __init__(self, robot: Dynamics) -> None:
        limits = robot.limits
        self._least, self._most = limits.least, limits.effort
        self._even = bool((limits.least == -limits.effort).all())
        self._inverse = 1.0 / np.maximum(limits.effort, 1e-300)
        self._rounding = SHARE * np.maximum(np.minimum(limits.effort, 1e300), 1e-12)

    def __call__(
        self, robot: Dynamics, tick: Tick, equation: MotionEquation, outcome: Outcome, parts: Sequence[Part]
    ) -> Outcome:
        """The outcome, within limits; contact forces are brought into their cones if the solver was stopped.

        Args:
            robot: in the state of the tick.
            tick: the moment.
            equation: physics.
            outcome: of the solver.
            parts: the rows of the tasks.
        """
        torque, found = outcome.x[tick.torque], outcome.x[tick.force]
        beyond = self._beyond(torque)
        force = forces_within(robot, tick, parts, found) if outcome.interrupted else found
        if not beyond and force is found:
            return outcome
        x = equation.moved(force, np.clip(torque, self._least, self._most))
        return outcome._replace(x=x, status="relaxed", clipped=beyond)

    def _beyond(self, torque: Array) -> bool:
        """Whether a torque exceeds its limit by more than rounding; an excess within rounding is clipped in place."""
        share = torque * self._inverse
        if self._even and share.dot(share) < 0.99:  # all together are less than one actuator's limit
            return False
        if ((torque > self._most + self._rounding) | (torque < self._least - self._rounding)).any():
            return True
        np.clip(torque, self._least, self._most, out=torque)
        return False
