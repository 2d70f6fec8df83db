"""The period of a controller, and how much friction can be compensated at it."""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array
from wbc.dynamics.base import Dynamics
from wbc.dynamics.passive import FRICTION_SPEED
from wbc.errors import number

SHARE = 0.1
"""Greatest negative damping of a joint by friction compensation, as a share of M/dt."""


class Periodic:
    """The period of a torque controller, and the friction compensation that depends on it.

    Coulomb friction F tanh(v/e) is compensated by a torque along the velocity: near rest, a negative damping F/e. The
    torque is held for a tick, in which the velocity can change its sign; if F/e is not small against the inertia over
    the period dt, a light joint then flutters. So e ≥ F dt / (SHARE · M), with M = 1 / (M⁻¹)ⱼⱼ in the nominal
    configuration.
    """

    robot: Dynamics

    def _set_up(self, period: float | None, friction: bool) -> None:
        """Sets the period that a controller was made with; None is a millisecond, which `wbc.run` may change."""
        self.chooses_period, self._compensates = period is None, friction
        self._shares: Array | None = None
        self.period = 1e-3 if period is None else period

    @property
    def period(self) -> float:
        """Between ticks, s."""
        return self._period

    @period.setter
    def period(self, period: float) -> None:
        self._period = number(period, "the control period, s,", high=1e3, above=True)
        joints = [joint for joint in self.robot.model.joints.values() if joint.nv]
        rubbing = np.repeat([joint.friction for joint in joints], [joint.nv for joint in joints])
        if not rubbing.any():
            return
        if not self._compensates:
            self.robot.friction_speed = np.inf
            return
        if self._shares is None:
            self._shares = rubbing * mobility(self.robot)
        self.robot.friction_speed = np.maximum(FRICTION_SPEED, self._period * self._shares / SHARE)


def mobility(robot: Dynamics) -> Array:
    """The diagonal of M⁻¹ in the nominal configuration, shape (nv,).

    Args:
        robot: of a controller.
    """
    twin = robot.copy()
    twin.update(robot.model.nominal)
    return np.diagonal(np.linalg.pinv(twin.mass_matrix))
