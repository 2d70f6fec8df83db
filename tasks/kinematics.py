"""The tasks of a velocity stack, for `wbc.kinematics.DifferentialKinematics`.

Each task with an error has a `gain`, k in v = k e, 1/s: an attribute that may be changed while running.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np

from tasks.balance import OnCenterOfMass
from tasks.frame import OnFrame
from tasks.joints import OnJoints
from tasks.limits import LimitedJoints
from tasks.motion import motion
from wbc.arrays import Array, ArrayLike
from wbc.dynamics import Dynamics
from wbc.errors import number
from wbc.model.names import velocity_names
from wbc.tasking.gains import rate_gain
from wbc.tasking.rows import Rows
from wbc.tasking.target import Moving, Target
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick


class EndEffectorVelocity(OnFrame):
    """Moves a frame to a pose, or along a path.

    J v = w* + k e, with e the position error r* − r (ETH 2.256, 2.257) and the rotation error log(R* Rᵀ) (ETH 2.251,
    2.258): in continuous time the error falls as exp(−k t), and a rotation goes the shortest way.

    Args:
        frame: its name.
        target: see `EndEffectorAcceleration`; of a function's derivatives only the velocity is used.
        gain: k, 1/s: a number, or one for each controlled axis; more than 1 / period overshoots.
        axes: see `EndEffectorAcceleration`.
        axes_in: see `EndEffectorAcceleration`.
        offset: see `EndEffectorAcceleration`.
        relative_to: see `EndEffectorAcceleration`.
        velocity: w* beside a constant target, shape (6,).
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`.
    """

    kinematic = True

    def __init__(
        self,
        frame: str,
        target: ArrayLike | Moving | None = None,
        gain: ArrayLike = 5.0,
        *,
        axes: str | Iterable[str] = "pose",
        axes_in: Literal["world", "frame"] | ArrayLike = "world",
        offset: ArrayLike | None = None,
        relative_to: str | None = None,
        velocity: ArrayLike | None = None,
        name: str | None = None,
        weight: float = 1.0,
        tolerance: ArrayLike | None = None,
    ) -> None:
        name = str(frame) if name is None else name
        super().__init__(frame, target, axes, axes_in, offset, relative_to, velocity, None, name, weight, tolerance)
        self.gain = rate_gain(gain, self.name, len(self.axes))

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row an axis."""
        seen = motion(robot, self.frame, self._offset, self.relative_to, moving=False)
        error, velocity, _ = self._deviation(seen, tick.time)
        wanted = self._turned(seen, velocity) + self.gain * self._turned(seen, error)
        return Rows.equal(wanted, velocity=self._turned(seen, seen.jacobian))


class CenterOfMassVelocity(OnCenterOfMass):
    """Moves the centre of mass to a point, or along a path.

    J v = ċ* + k (c* − c).

    Args:
        target: position in the world, m, shape (3,); or a function of time, see `CenterOfMass`; None: where it is.
        gain: k, 1/s: a number, or one for each controlled axis.
        axes: that are controlled, of "xyz".
        velocity: ċ* beside a constant target, shape (3,).
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`.
    """

    kinematic = True

    def __init__(
        self,
        target: ArrayLike | Moving | None = None,
        gain: ArrayLike = 5.0,
        *,
        axes: str | Iterable[str] = "xyz",
        velocity: ArrayLike | None = None,
        name: str | None = None,
        weight: float = 1.0,
        tolerance: ArrayLike | None = None,
    ) -> None:
        super().__init__(target, axes, velocity, None, name, weight, tolerance)
        self.gain = rate_gain(gain, self.name, len(self.axes))

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row an axis."""
        wanted, velocity, _ = self._target.at(tick.time, robot.com)
        at = self._picked
        b = velocity[at] + self.gain * (wanted - robot.com)[at]
        return Rows.equal(b, velocity=robot.com_jacobian[at])


class JointVelocity(OnJoints):
    """Moves joints to a posture and holds it.

    q̇ = q̇* + k (q* − q), for all actuated joints or those named.

    Args:
        target: positions, rad or m, by joint; or a function of time, see `JointAcceleration`; None: the posture at the
            first tick.
        joints: names; None: all actuated joints with one coordinate.
        gain: k, 1/s: a number, or one a joint; 0: only the velocity is wanted.
        velocity: q̇* beside a constant target.
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`.
    """

    kinematic = True

    def __init__(
        self,
        target: ArrayLike | Moving | None = None,
        joints: Iterable[str] | None = None,
        gain: ArrayLike = 1.0,
        *,
        velocity: ArrayLike | None = None,
        name: str | None = None,
        weight: float = 1.0,
        tolerance: ArrayLike | None = None,
    ) -> None:
        super().__init__(joints, "posture" if name is None else name, weight, tolerance)
        self.gain = rate_gain(gain, self.name)
        self._target = Target(target, None, velocity=velocity, whose=self.name)

    def _check_gains(self, count: int) -> None:
        rate_gain(self.gain, self.name, count)

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row a joint."""
        self._find(robot)
        q = robot.q[self._q]
        wanted, rate, _ = self._target.at(tick.time, q)
        return Rows.equal(rate + self.gain * (wanted - q), velocity=self._v)


class ContactVelocity(Task):
    """Holds closed contacts still.

    J v = k e (ETH 2.273), with e from where each contact is to where it closed.

    Args:
        gain: k, 1/s: corrects the drift that finite steps or higher tasks cause.
        name: see `Task`.
        weight: see `Task`.
    """

    kinematic = True
    holds_contacts = True

    def __init__(self, gain: ArrayLike = 10.0, name: str | None = None, weight: float = 1.0) -> None:
        super().__init__("contact velocity" if name is None else name, weight)
        self.gain = rate_gain(gain, self.name, 1)

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; three rows a point, six a sole, up to three a wheel, in the order of the contacts."""
        J, _ = tick.contact_motion(robot)
        return Rows.equal(self.gain * tick.contact_error(robot), velocity=J)

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"{axis} of {contact.name}" for contact in tick.contacts for axis in contact.axes]


class VelocityMinimization(Task):
    """Picks the smallest velocities among those that higher levels leave free: min |v|².

    On the level of another task, with a small weight λ², it makes that task's inverse the damped one (ETH 2.208).

    Args:
        name: see `Task`.
        weight: see `Task`.
    """

    kinematic = True

    def __init__(self, name: str | None = None, weight: float = 1.0) -> None:
        super().__init__("least velocity" if name is None else name, weight)

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row a velocity."""
        return Rows.equal(np.zeros(robot.nv), velocity=np.arange(robot.nv))

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return velocity_names(robot.model)


class VelocityLimits(LimitedJoints):
    """Keeps joints within their ranges and speeds.

    With d the distance to a limit and T the period, q̇ ≤ share · d / T: a step uses no more than that share of the
    distance.
    A joint beyond its limit is brought back, no faster than its speed limit. With an acceleration a, the velocity
    changes by
    no more than a T from the robot's, and a joint can always stop before its limit: q̇ T + q̇² / 2a ≤ d.

    Args:
        margin: kept from the position limits, rad or m.
        speed_scale: share of the speed limits that may be used.
        share: of the way to a limit that a step may use up, from 0 to 1.
        acceleration: greatest, rad/s² or m/s²; it needs the v of `step(q, v)`. None: any.
        name: see `Task`.
        weight: see `Task`.
    """

    kinematic = True

    def __init__(
        self,
        margin: float = 0.0,
        speed_scale: float = 1.0,
        share: float = 0.5,
        acceleration: float | None = None,
        name: str | None = None,
        weight: float = 1.0,
    ) -> None:
        super().__init__(margin, speed_scale, "velocity limits" if name is None else name, weight)
        self.share = number(share, f"{self.name}: share", high=1.0, above=True)
        self.acceleration = (
            None if acceleration is None else number(acceleration, f"{self.name}: acceleration", high=1e12, above=True)
        )

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row a joint."""
        self._find(robot)
        q, T = robot.q[self._q], tick.period
        way = self._limit.copy()
        way[0] -= q
        way[1] += q
        bound = np.minimum((self.share / T) * way, self._speed)
        if self.acceleration is not None:
            bound = self._slowed(bound, way, robot.v[self._v], T)
        bound = np.maximum(bound, -self._speed)
        return Rows.between(np.minimum(-bound[1], bound[0]), bound[0], velocity=self._v)

    def _slowed(self, bound: Array, way: Array, v: Array, period: float) -> Array:
        """The bounds with a greatest acceleration."""
        a = float(self.acceleration or 0.0)
        stop = -a * period + np.sqrt((a * period) ** 2 + 2.0 * a * np.maximum(way, 0.0))
        bound = np.where(way > 0.0, np.minimum(bound, stop), bound)
        toward = np.stack([v, -v])
        clipped: Array = np.maximum(np.minimum(bound, toward + a * period), toward - a * period)
        return clipped
