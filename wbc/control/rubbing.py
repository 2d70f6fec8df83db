"""Compensation of Coulomb friction for joints that are about to move.

Compensation by the measured velocity alone leaves a joint at rest stuck until the error of a task is large enough to
overcome friction. Here the demanded acceleration tells in which direction the joint should move.
"""

from __future__ import annotations

import math

import numpy as np

from wbc.arrays import Array
from wbc.control.period import mobility
from wbc.dynamics.base import Dynamics

GAIN = 10.0
"""Factor by which the accelerating torque of a joint at rest is raised, until all friction is compensated."""

SMOOTHING = 0.02
"""Time constant, s, over which accelerations that were asked for are taken: above 8 Hz they change nothing, so that no
gain of a task becomes too high for the control period."""

MOST = 2.0
"""Accelerations count up to so many times the one at which friction is compensated in full, or nearly."""

FORGOTTEN = 0.1
"""After a pause this long, s, the demanded accelerations are forgotten."""


class Rubbing:
    """What of the friction of a robot's motors is compensated by where they are to go.

    With friction F, the velocity v, its width e (see `Periodic`) and the smoothed acceleration a that was asked for it
    is F tanh(v/e + a/α), α = F / (GAIN · M): bounded by F, and of the robot's bias where no acceleration is asked for.

    Args:
        robot: of a controller.
    """

    def __init__(self, robot: Dynamics) -> None:
        model = robot.model
        self._friction, at = np.zeros(model.nv), [model.v_index[name] for name in model.joint_names]
        for name, index in zip(model.joint_names, at, strict=True):
            if model.drives(name):
                self._friction[index : index + model.joints[name].nv] = model.joints[name].friction
        self.idle = not self._friction.any()
        if not self.idle:
            self._full = self._friction * mobility(robot) / GAIN
            self._full[self._friction == 0.0] = math.inf
        self.forget()

    def forget(self) -> None:
        """Forgets what was asked for."""
        self._asked = np.zeros(len(self._friction))

    def advance(self, asked: Array, elapsed: float) -> None:
        """Goes on to another moment.

        Args:
            asked: v̇ that the last tick asked for, shape (nv,).
            elapsed: since then, s.
        """
        if elapsed > FORGOTTEN:
            self.forget()
            return
        wanted = np.clip(np.nan_to_num(asked), -MOST * self._full, MOST * self._full)
        self._asked = self._asked + (1.0 - math.exp(-elapsed / SMOOTHING)) * (wanted - self._asked)

    def force(self, robot: Dynamics) -> Array:
        """What the robot's bias lacks of the friction, as a force on the robot, shape (nv,).

        Args:
            robot: in its present state.
        """
        speed = robot.friction_speed
        moving = robot.v / speed
        lacking = self._friction * (np.tanh(moving) - np.tanh(moving + self._asked / self._full))
        return np.where(np.isfinite(speed), lacking, 0.0)  # without a speed friction is left alone
