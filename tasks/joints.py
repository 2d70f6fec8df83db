"""Tasks on joints: hold a posture, behave like springs, minimise torques or accelerations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping

import numpy as np

from wbc.arrays import Array, ArrayLike, IntArray
from wbc.contacts import Contact
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, unknown_name, words
from wbc.model.names import actuator_names, velocity_names
from wbc.tasking.gains import Gains
from wbc.tasking.law import law
from wbc.tasking.rows import Rows
from wbc.tasking.target import Aimed, Moving, Target
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick


class OnJoints(Aimed):
    """A task on joints with one coordinate: all that a motor drives, or the named ones."""

    def __init__(self, joints: Iterable[str] | None, name: str, weight: float, tolerance: ArrayLike | None) -> None:
        super().__init__(name, weight, tolerance)
        self.joints = None if joints is None else words(joints, f"{name}: joints")
        self._found_for: object = None

    def _find(self, robot: Dynamics) -> None:
        """The indices of the joints in v and q."""
        if self._found_for is robot.model:
            return
        model = robot.model
        chosen = [joint for joint in model.joints.values() if model.drives(joint.name)] if self.joints is None else []
        for wanted in self.joints or ():
            if wanted not in model.joints:
                raise WbcError(f"{self.name}: {unknown_name('joint', wanted, model.joints)}")
            chosen.append(model.joints[wanted])
        odd = [joint.name for joint in chosen if joint.nv > 1 or (self.joints is not None and joint.nv == 0)]
        if odd:
            raise WbcError(f"{self.name}: joints {odd} have several coordinates; choose joints with one")
        chosen = [joint for joint in chosen if joint.nv == 1]
        self._names = [joint.name for joint in chosen]
        self._v: IntArray = np.array([model.v_index[name] for name in self._names], dtype=np.intp)
        self._q: IntArray = np.array([model.q_index[name] for name in self._names], dtype=np.intp)
        self._check_gains(len(chosen))
        self._found_for = model
        self._target.fit(((len(chosen),),), len(chosen))

    @abstractmethod
    def _check_gains(self, count: int) -> None:
        """Raises a `WbcError` if there are gains for another number of joints."""

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        self._find(robot)

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        self._find(robot)
        return list(self._names)

    def error(self, robot: Dynamics, tick: Tick) -> Array:
        """See `Task`; rad or m."""
        self._find(robot)
        q = robot.q[self._q]
        return self._target.at(tick.time, q)[0] - q

    @property
    def purpose(self) -> str:
        """See `Task`."""
        return f"{'all joints' if self.joints is None else ', '.join(self.joints)} {self._aim}"


class JointAcceleration(OnJoints):
    """Moves joints to a posture and holds it.

    q̈ = q̈* + kd (q̇* − q̇) + kp (q* − q) (ETH 3.76), for all actuated joints or those named.

    Args:
        target: positions, rad or m, by joint; or a function of time that gives positions, or positions, velocities and
            accelerations; None: the posture at the first tick.
        joints: names; None: all actuated joints with one coordinate.
        gains: in 1/s² and 1/s; None: 2 Hz, critically damped. Their speed bounds each joint by itself, rad/s or m/s.
        velocity: feed-forward q̇*, beside a constant target.
        acceleration: feed-forward q̈*.
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`.
    """

    bounds_approach = True

    def __init__(
        self,
        target: ArrayLike | Moving | None = None,
        joints: Iterable[str] | None = None,
        gains: Gains | None = None,
        *,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        name: str | None = None,
        weight: float = 1.0,
        tolerance: ArrayLike | None = None,
    ) -> None:
        name = "posture" if name is None else name
        super().__init__(joints, name, weight, tolerance)
        self.gains = Gains.of(gains, Gains(2.0), name, bounds_approach=self.bounds_approach)
        self._target = Target(target, None, velocity=velocity, acceleration=acceleration, whose=self.name)

    def _check_gains(self, count: int) -> None:
        self.gains.check(count, self.name)

    @property
    def posture_damping(self) -> float:
        """See `Task`; the mean of its joints'."""
        kd = self.gains.kd
        return kd if isinstance(kd, float) else float(kd.mean())

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row a joint."""
        self._find(robot)
        q, v = robot.q[self._q], robot.v[self._v]
        wanted, rate, acceleration = self._target.at(tick.time, q)
        kd, kp, speed = self.gains.kd, self.gains.kp, self.gains.speed
        b = law(v=v, kd=kd, kp=kp, place=q, wanted=wanted, rate=rate, acceleration=acceleration, speed=speed)
        return Rows.equal(b, acceleration=self._v)


class JointImpedance(JointAcceleration):
    """Makes joints behave like springs and dampers around a posture, with gravity compensated.

    τ = kp (q* − q) + kd (q̇* − q̇) + g(q) (ETH 3.73–3.75): rows on τ. The feed-forward `acceleration` is not used.

    Args:
        target: as for `JointAcceleration`.
        joints: names of actuated joints.
        gains: in N m/rad and N m s/rad: `Gains(kp=…, kd=…)`.
        gravity: whether to add the gravity force of the joints.
        velocity: q̇*.
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`.
    """

    gains_of_forces = True
    bounds_approach = False

    def __init__(
        self,
        target: ArrayLike | Moving | None = None,
        joints: Iterable[str] | None = None,
        gains: Gains | None = None,
        *,
        gravity: bool = True,
        velocity: ArrayLike | None = None,
        name: str | None = None,
        weight: float = 1.0,
        tolerance: ArrayLike | None = None,
    ) -> None:
        super().__init__(
            target,
            joints,
            Gains(kp=50.0, kd=5.0) if gains is None else gains,
            velocity=velocity,
            name="joint impedance" if name is None else name,
            weight=weight,
            tolerance=tolerance,
        )
        self.gravity = gravity

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row a joint."""
        self._find(robot)
        q, v = robot.q[self._q], robot.v[self._v]
        wanted, rate, _ = self._target.at(tick.time, q)
        b = self.gains.kd * (rate - v) + self.gains.kp * (wanted - q)
        if self.gravity:
            b = b + robot.gravity_force[self._v]
        return Rows.equal(b, torque=np.searchsorted(robot.actuated, self._v))

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        super().check(robot, contacts)
        idle = [name for name in self._names if not robot.model.joints[name].actuated]
        if idle:
            raise WbcError(f"{self.name}: joints {idle} have no motor that could act as a spring")


class TorqueMinimization(Task):
    """Picks the smallest torques among those that higher levels leave free: min |τ|² (ETH 3.113)."""

    def __init__(self, name: str | None = None, weight: float = 1.0) -> None:
        super().__init__("least torque" if name is None else name, weight)
        self._rows = Rows.equal(np.zeros(0))

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row an actuator."""
        if len(self._rows.lower) != robot.na or self._rows.torque is None:
            self._rows = Rows.equal(np.zeros(robot.na), torque=np.arange(robot.na))
        return self._rows

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return actuator_names(robot.model)


class AccelerationMinimization(Task):
    """Picks the smallest accelerations among those that higher levels leave free: min |v̇ + kd v|².

    Args:
        damping: kd, 1/s.
        name: see `Task`.
        weight: see `Task`.
    """

    def __init__(self, damping: float = 0.0, name: str | None = None, weight: float = 1.0) -> None:
        super().__init__("least acceleration" if name is None else name, weight)
        if not 0 <= damping < np.inf:
            raise WbcError(f"{self.name}: damping = {damping} must be finite, zero or more")
        self.damping = float(damping)

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row a velocity."""
        return Rows.equal(-self.damping * robot.v, acceleration=np.arange(robot.nv))

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return velocity_names(robot.model)
