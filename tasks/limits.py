"""The limits of joints: torques, and positions and velocities as bounds on accelerations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from wbc.contacts import Contact
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, number, unknown_name, words
from wbc.model import Model
from wbc.model.loops import moved_joints
from wbc.model.names import actuator_names
from wbc.tasking.rows import Rows
from wbc.tasking.stopping import Stopping
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick

FAR = 1e9
"""Stands for a missing limit, rad or m."""

INSIDE = 1e-3
"""How far inside its limit a joint that was beyond it is brought, rad or m, so that it gets there in finite time."""


class TorqueLimits(Task):
    """Keeps torques within the actuators' limits, and optionally their rate.

    Args:
        scale: share of the limits that may be used.
        rate: greatest change, N m/s or N/s; None: any.
        name: see `Task`.
        weight: see `Task`.
    """

    inequality = True
    bounds_torques = True
    always_holds = True

    def __init__(
        self, scale: float = 1.0, rate: float | None = None, name: str | None = None, weight: float = 1.0
    ) -> None:
        super().__init__("torque limits" if name is None else name, weight)
        self.scale = number(scale, f"{self.name}: scale", above=True)
        self.rate = None if rate is None else number(rate, f"{self.name}: rate", above=True)
        self._constant: tuple[object, float, Rows] | None = None

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row an actuator."""
        if self._constant is None or self._constant[0] is not robot.limits or self._constant[1] != self.scale:
            scale = min(self.scale, 1.0)
            limit, lower = scale * robot.limits.effort, scale * robot.limits.least
            lower.flags.writeable = limit.flags.writeable = False
            self._constant = robot.limits, self.scale, Rows(lower, limit, torque=np.arange(robot.na))
        rows = self._constant[2]
        last = tick.last_torque
        if self.rate is None or last is None:
            return rows
        step = self.rate * tick.period
        # within the limits first: from a last torque beyond them, back at the rate
        lower = np.minimum(np.maximum(rows.lower, last - step), last + step)
        upper = np.maximum(np.minimum(rows.upper, last + step), last - step)
        return Rows(np.minimum(lower, upper), np.maximum(lower, upper), torque=rows.torque)

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return actuator_names(robot.model)


class LimitedJoints(Task):
    """A task on the joints that have limits of position or speed.

    Args:
        margin: kept from the position limits, rad or m.
        speed_scale: share of the speed limits that may be used.
        name: see `Task`.
        weight: see `Task`.
    """

    inequality = True
    bounds_joints = True
    _none = "has a limit"

    def __init__(self, margin: float, speed_scale: float, name: str, weight: float) -> None:
        super().__init__(name, weight)
        self.margin = number(margin, f"{self.name}: margin", high=1e6)
        self.speed_scale = number(speed_scale, f"{self.name}: speed_scale", above=True)
        self._found_for: object = None
        self._found_with: tuple[float, float] | None = None

    def _find(self, robot: Dynamics) -> None:
        """The joints that have limits, and their indices in v and q."""
        given = self.margin, self.speed_scale
        if self._found_for is robot.model and self._found_with == given:
            return
        model, limits = robot.model, robot.limits
        chosen = (model.joints[name] for name in self._choose(model))
        joints = [joint for joint in chosen if joint.limited]
        self._names = [joint.name for joint in joints]
        self._v = np.array([model.v_index[name] for name in self._names], dtype=np.intp)
        self._q = np.array([model.q_index[name] for name in self._names], dtype=np.intp)
        lower, upper = limits.lower[self._v] + self.margin, limits.upper[self._v] - self.margin
        narrow = lower > upper  # a margin that leaves nothing leaves the middle
        lower[narrow] = upper[narrow] = (lower[narrow] + upper[narrow]) / 2
        # upper limits, then lower ones with their sign changed, so that both sides are computed at once
        self._limit = np.clip(np.stack([upper, -lower]), -FAR, FAR)
        self._speed = limits.velocity[self._v] * self.speed_scale
        self._found_for, self._found_with = model, given

    def _choose(self, model: Model) -> Iterable[str]:
        """The names of joints that are looked at."""
        return model.joints

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        self._find(robot)
        return list(self._names)

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        self._find(robot)
        if not self._names:
            raise WbcError(f"{self.name}: no joint of {robot.model.name!r} {self._none}")


class JointLimits(LimitedJoints):
    """Keeps joints within their ranges and speeds.

    The bounds on a joint's acceleration are such that it can still stop before its limit at the braking acceleration,
    in discrete time: with d the distance to the limit and T the period, the greatest a with
    (v + a T)² ≤ 2 a_brake (d − v T − a T²/2). They are never empty. A joint that can't stop in time brakes harder, as
    hard as it must; one beyond its limit is brought back with a critically damped motion, and one that is too fast is
    slowed. A joint approaches its greatest speed, and the speed from which it can still stop, exponentially, so that
    torques do not jump when a limit becomes active; the last stretch of a_brake · approach² before the limit, 0.05 rad,
    it goes as an exponential does, and reaches the limit to a millirad within 0.2 s.

    Args:
        braking: acceleration a_brake with which every joint can stop, rad/s² or m/s².
        greatest: greatest acceleration that is ever demanded, to either side, rad/s² or m/s².
        margin: kept from the position limits, rad or m.
        speed_scale: share of the speed limits that may be used.
        return_hz: frequency of the motion that brings a joint back, Hz.
        approach: time constant with which a joint approaches its greatest speed, and its limit, s; 0: within a period.
        name: see `Task`.
        weight: see `Task`.
        joints: names of joints; None: all with limits that an actuator acts on, or a closed loop ties to others. What
            neither moves, as a door or a finger that swings freely, could be stopped by shaking its carrier only.
    """

    _none = "that is driven, or tied by a loop, has a limit"

    def __init__(
        self,
        braking: float = 20.0,
        greatest: float = 500.0,
        margin: float = 0.0,
        speed_scale: float = 1.0,
        return_hz: float = 2.0,
        approach: float = 0.05,
        name: str | None = None,
        weight: float = 1.0,
        joints: Iterable[str] | None = None,
    ) -> None:
        super().__init__(margin, speed_scale, "joint limits" if name is None else name, weight)
        self.joints = None if joints is None else words(joints, f"{self.name}: joints")
        self.braking = number(braking, f"{self.name}: braking", above=True)
        self.greatest = number(greatest, f"{self.name}: greatest", low=self.braking)
        self.approach = number(approach, f"{self.name}: approach", low=0.0)
        omega = 2 * np.pi * number(return_hz, f"{self.name}: return_hz", high=1e3, above=True)
        self._stopping = Stopping(self.braking, self.greatest, self.approach, omega, INSIDE)

    def _choose(self, model: Model) -> Iterable[str]:
        if self.joints is None:
            return moved_joints(model)
        for name in self.joints:
            if name not in model.joints:
                raise WbcError(f"{self.name}: {unknown_name('joint', name, model.joints)}")
        return self.joints

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row a joint."""
        self._find(robot)
        q, v = robot.q[self._q], robot.v[self._v]
        way, toward = self._limit.copy(), np.stack([v, -v])
        way[0] -= q
        way[1] += q
        upper, lower = self._stopping.most(way, toward, self._speed, tick.period)
        np.negative(lower, out=lower)
        clash = lower > upper
        if clash.any():  # a joint beyond one limit is brought back whatever the other limit says
            beyond = way[0] < 0
            lower = np.where(clash & beyond, upper, lower)
            upper = np.where(clash & ~beyond, lower, upper)
        return Rows(lower, upper, acceleration=self._v)
