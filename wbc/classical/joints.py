"""Control of joints: springs and dampers, gravity compensation, computed torque (ETH 3.8)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

import numpy as np

from wbc.arrays import Array, ArrayLike, IntArray
from wbc.classical.controller import ClassicalController
from wbc.contacts import Contact
from wbc.control.stack import Stack
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError
from wbc.tasking.gains import Gains
from wbc.tasking.target import Moving, Target, Targeted
from wbc.tasking.tick import Tick


class _JointLaw(Targeted, ClassicalController):
    """A law on the positions of all actuated joints.

    Args:
        robot: of `wbc.load`.
        target: q*, rad or m, shape (na,); or a function of time that gives it, or it with velocity and acceleration;
            None: the posture at the first tick. May be set at any time.
        gains: see the class.
        contacts: see `ClassicalController`.
        judged_by: see `ClassicalController`.
        period: see `ClassicalController`.
    """

    _usual: Gains

    def __init__(
        self,
        robot: Dynamics,
        target: ArrayLike | Moving | None = None,
        gains: Gains | None = None,
        *,
        contacts: Contact | Iterable[Contact] = (),
        judged_by: Stack | None = None,
        period: float | None = None,
    ) -> None:
        super().__init__(robot, contacts, judged_by=judged_by, period=period)
        name, na = type(self).__name__, self.robot.na
        odd = [joint.name for joint in self.robot.model.joints.values() if joint.actuated and joint.nv > 1]
        if odd:
            raise WbcError(f"{name}: joints {odd} have several coordinates; this law is for joints with one")
        model = self.robot.model
        self._q: IntArray = np.array(
            [model.q_index[joint.name] for joint in model.joints.values() if joint.actuated and joint.nv], dtype=np.intp
        )
        self.gains = Gains.of(gains, self._usual, name)
        self.gains.check(na, name)
        self._target = Target(target, ((na,),), na, whose=name)

    def reset(self) -> None:
        """See `wbc.Controller`; without a target, it holds the posture that it finds next."""
        super().reset()
        self._target.release()

    def law(self, robot: Dynamics, tick: Tick) -> Array:
        """See `ClassicalController`."""
        q, rate = robot.q[self._q], robot.v[robot.actuated]
        wanted, velocity, acceleration = self._target.at(tick.time, q)
        feedback = self.gains.kp * (wanted - q) + self.gains.kd * (velocity - rate)
        return self._torque(robot, feedback, acceleration)

    @abstractmethod
    def _torque(self, robot: Dynamics, feedback: Array, acceleration: Array) -> Array:
        """The law, from kp (q* − q) + kd (q̇* − q̇) and q̈*."""


class JointPD(_JointLaw):
    """Joints as springs and dampers: τ = kp (q* − q) + kd (q̇* − q̇) + ĝ(q) (ETH 3.73, 3.75).

    Without gravity compensation they sag: in equilibrium g(q) = kp (q* − q) (ETH 3.74). Of a floating base gravity is
    compensated as if the base was held: joints only carry what hangs on them.

    Args:
        robot: of `wbc.load`.
        target: q*, rad or m, shape (na,); or a function of time that gives it, or it with velocity and acceleration;
            None: the posture at the first tick. May be set at any time.
        gains: in N m/rad and N m s/rad, a number or one a joint: `Gains(kp=…, kd=…)`. `Gains(3.0)` is 3 Hz for an
            inertia of 1 kg m² alone, kp = 355 N m/rad, whatever the joint carries.
        gravity: whether gravity is compensated.
        contacts: see `ClassicalController`.
        judged_by: see `ClassicalController`.
        period: see `ClassicalController`.
    """

    _usual = Gains(kp=50.0, kd=5.0)

    def __init__(
        self,
        robot: Dynamics,
        target: ArrayLike | Moving | None = None,
        gains: Gains | None = None,
        *,
        gravity: bool = True,
        contacts: Contact | Iterable[Contact] = (),
        judged_by: Stack | None = None,
        period: float | None = None,
    ) -> None:
        super().__init__(robot, target, gains, contacts=contacts, judged_by=judged_by, period=period)
        self.gravity = gravity

    def _torque(self, robot: Dynamics, feedback: Array, acceleration: Array) -> Array:
        """See `_JointLaw`."""
        return feedback + robot.gravity_force[robot.actuated] if self.gravity else feedback


class ComputedTorque(_JointLaw):
    """Inverse dynamics of the joints: τ = M̂ q̈ + b̂ + ĝ (ETH 3.76), q̈ = q̈* + kp (q* − q) + kd (q̇* − q̇) (ETH 3.78).

    Every joint then moves as a mass of one on a spring and a damper (ETH 3.77). Passive joint forces are compensated
    too. For robots whose joints all have actuators, and no floating base: others need `InverseDynamics`.

    Args:
        robot: of `wbc.load`.
        target: q*, rad or m, shape (na,); or a function of time that gives it, or it with velocity and acceleration;
            None: the posture at the first tick. May be set at any time.
        gains: in 1/s² and 1/s, a number or one a joint.
        contacts: see `ClassicalController`.
        judged_by: see `ClassicalController`.
        period: see `ClassicalController`.
    """

    _usual = Gains(2.0)

    def __init__(
        self,
        robot: Dynamics,
        target: ArrayLike | Moving | None = None,
        gains: Gains | None = None,
        *,
        contacts: Contact | Iterable[Contact] = (),
        judged_by: Stack | None = None,
        period: float | None = None,
    ) -> None:
        super().__init__(robot, target, gains, contacts=contacts, judged_by=judged_by, period=period)
        self._need_all_actuators()

    def _torque(self, robot: Dynamics, feedback: Array, acceleration: Array) -> Array:
        """See `_JointLaw`."""
        wanted = np.zeros(robot.nv)
        wanted[robot.actuated] = acceleration + feedback
        return (robot.mass_matrix @ wanted + robot.bias)[robot.actuated]
