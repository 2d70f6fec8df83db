"""The result of a tick of differential kinematics: velocities, and the evidence for them."""

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
    """The check of a velocity, recomputed from the state.

    Attributes:
        contact_speed: the greatest speed at which a closed contact moves, m/s or rad/s; 0 without contacts.
        speed_margin: distance of the fastest joint from its speed limit, rad/s or m/s; negative is beyond.
        position_margin: distance of the nearest joint from its position limit after one period, rad or m; negative is
            beyond.
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

    Velocity and status are stored; `levels`, `active`, `violated`, `certificate` and `explain()` are computed on first
    use. The velocity of a failed tick is zero. See `Evidence` for its attributes.
    """

    _failure = "failed: the solver returned nothing, so the velocity is zero"

    @property
    def velocity(self) -> Array:
        """The velocity that the robot should have, m/s and rad/s, shape (nv,)."""
        return self._x

    def _physics(self) -> Array:
        """See `Evidence`: there is none."""
        return np.zeros(0)

    def _free(self, robot: Dynamics) -> Array:
        """See `Evidence`: all."""
        return np.eye(robot.nv)

    @cached_property
    def certificate(self) -> MotionCertificate:
        """Whether contacts stay still, and joints within their limits, recomputed from the state."""
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
