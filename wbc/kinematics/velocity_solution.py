"""What a tick of differential kinematics came to: velocities, and the evidence for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from wbc.arrays import Array
from wbc.control.evidence import Evidence
from wbc.model.names import velocity_names
from wbc.model.space import ConfigurationSpace
from wbc.tasking.tick import Tick

if TYPE_CHECKING:
    from wbc.dynamics.base import Dynamics


class VelocityVariables(Tick):
    """A tick of `DifferentialKinematics`: x is v. Its arguments and attributes are those of `Tick`."""

    _kinematic = True


@dataclass(frozen=True)
class MotionCertificate:
    """What was checked of a velocity, from the state anew.

    Attributes:
        contact_speed: the greatest speed at which a closed contact moves, m/s or rad/s; 0 without contacts.
        speed_margin: how far from its speed limit the fastest joint is, rad/s or m/s; negative is beyond.
        position_margin: how far from its position limit the nearest joint is after one period; negative is beyond.
        worst_joint: the joint with the least of these two margins; empty where none has a limit.
    """

    contact_speed: float
    speed_margin: float
    position_margin: float
    worst_joint: str

    @property
    def holds(self) -> bool:
        """Whether contacts stay, but for what leads them back (1e-3 m/s), and limits hold (to 1e-9)."""
        return self.contact_speed < 1e-3 and min(self.speed_margin, self.position_margin) > -1e-9


class VelocitySolution(Evidence):
    """The answer of a tick of `DifferentialKinematics`.

    Velocity and status are there at once; `levels`, `active`, `violated`, `certificate` and `explain()` are computed
    when they are asked for. A tick that failed has no velocity but zero. See `Evidence` for its attributes.
    """

    _failure = "failed: the solver returned nothing, so the velocity is zero"

    @property
    def velocity(self) -> Array:
        """The velocity that the robot should have, shape (nv,)."""
        return self._x

    def _physics(self) -> Array:
        """See `Evidence`: there is none."""
        return np.zeros(0)

    def _free(self, robot: Dynamics) -> Array:
        """See `Evidence`: all."""
        return np.eye(robot.nv)

    @cached_property
    def certificate(self) -> MotionCertificate:
        """Whether contacts stay where they are, and joints within their limits, checked from the state anew."""
        twin, v = self._state(), self._x
        speeds = self._tick.contact_motion(twin)[0] @ v
        limits, period = twin.limits, self._tick.period
        at = ConfigurationSpace(twin.model).position_of_velocity
        after = np.where(at >= 0, twin.integrate(self.q, v, period)[at], 0.0)
        speed = limits.velocity - np.abs(v)
        position = np.minimum(limits.upper - after, after - limits.lower)
        worst = np.minimum(speed, position)
        joint = int(worst.argmin())
        return MotionCertificate(
            float(np.abs(speeds).max(initial=0.0)),
            float(speed.min()),
            float(position.min()),
            velocity_names(twin.model)[joint] if worst[joint] < np.inf else "",
        )

    def __repr__(self) -> str:
        return f"<VelocitySolution {self.status}, velocity {np.array2string(self.velocity, precision=2, threshold=8)}>"
