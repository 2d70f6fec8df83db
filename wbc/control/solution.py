"""The result of a tick: torques, accelerations, forces, and the evidence for them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.control.certificate import Certificate, certify
from wbc.control.command import Command, Motors
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.evidence import Active, Evidence, LevelReport, Times
from wbc.control.health import Finding, Health
from wbc.control.solving import Status
from wbc.control.watch import NOTHING
from wbc.errors import number

if TYPE_CHECKING:
    from wbc.dynamics.base import Dynamics

__all__ = ["Active", "Finding", "Health", "LevelReport", "Solution", "Status", "Times"]


class Solution(Evidence):
    """The answer of a tick.

    Torques, accelerations, forces and status are stored; `levels`, `active`, `certificate`, `health` and `explain()`
    are computed on first use. A tick that failed has a fallback torque: gravity compensation and
    damping, within limits. See `Evidence` for its attributes.
    """

    _failure = "failed: the torque is gravity compensation with damping, within the limits"

    _past = NOTHING
    """The controller's memory of earlier ticks; set by the controller."""

    @property
    def acceleration(self) -> Array:
        """Expected v̇ under these torques, m/s² and rad/s², shape (nv,)."""
        return self._x[self._tick.acceleration]

    @property
    def torque(self) -> Array:
        """τ of the actuators, N m or N, shape (na,)."""
        return self._x[self._tick.torque]

    def command(self, kp: ArrayLike = 0.0, kd: ArrayLike = 0.0, ahead: float | None = None) -> Command:
        """The command for joint controllers on the motors: position, velocity, feed-forward torque and gains.

        Position and velocity are extrapolated with constant v̇: q + q̇ t + ½ q̈ t² and q̇ + q̈ t. A joint that moves as
        expected gets exactly the torque of this solution; the gains act on deviations. The command of a failed tick
        brakes towards the present position.

        Args:
            kp: N m/rad or N/m, a number or one for each motor.
            kd: N m s/rad or N s/m, a number or one for each motor.
            ahead: t, s; None: the period of the control.
        """
        t = self._tick.period if ahead is None else number(ahead, "the time that a command looks ahead, s,", high=1.0)
        return Motors(self._robot.model, kp, kd, self._robot._space).command(self, t)

    @cached_property
    def forces(self) -> dict[str, Array]:
        """The force, shape (3,), or wrench at the frame's origin, shape (6,), expected at each contact, N and N m.

        It acts on the robot, in world axes; the force on a wheel acts at its lowest point. Open contacts have zeros.
        """
        found = {}
        twin = self._state() if any(contact.posed for contact in self._tick.contacts) else self._robot
        for contact in self._stack.contacts:
            where = self._tick.force_of(contact.name)
            if where is None:
                found[contact.name] = np.zeros(contact.wrench_size)
            else:
                found[contact.name] = contact.wrench(twin, self._x[self._tick.force][where]).copy()
        return found

    @cached_property
    def loop_forces(self) -> dict[str, Array]:
        """The forces that hold each closed loop of the robot, shape (its equations,), N and N m, by the loop's name.

        They act on its frame `a`, and in the opposite direction on `b`: in world axes, or in the axes of `b` for a
        closure that holds only some positions or rotations. The force of a coupling acts on each joint, times its
        coefficient. For redundant loops they are the solution of least norm.
        """
        f = self._x[self._tick.force]
        return {loop.name: f[self._tick.loop_force_of(loop.name)].copy() for loop in self._robot.model.loops}

    @cached_property
    def normal_forces(self) -> dict[str, float]:
        """The normal force expected at each closed contact, N."""
        f, contacts = self._x[self._tick.force], self._tick.contacts
        twin = self._robot if all(contact.plain for contact in contacts) else self._state()  # other normals turn
        found = {}
        for contact in contacts:
            where = self._tick.force_of(contact.name)
            found[contact.name] = float(contact.normals(twin).dot(f[where]))
        return found

    def force_variables(self, contact: str) -> Array | None:
        """The force variables of a contact, world axes, shape (size,); None while it is open. See `forces` for forces.

        Args:
            contact: its name.
        """
        where = self._tick.force_of(contact)
        return None if where is None else self._x[self._tick.force][where]

    def _physics(self) -> Array:
        """M v̇ + h − Sᵀ τ − Jᵀ f, then J_l v̇ + J̇_l v of closed loops, shape (nv + loops,)."""
        equation, force = self._equation(), self._x[self._tick.force]
        residual = equation.residual(self.acceleration, force, self.torque)
        return np.concatenate([residual, equation.loop_residual(self.acceleration)])

    def _equation(self) -> MotionEquation:
        return MotionEquation.of(self._state(), self._tick)

    def _free(self, robot: Dynamics) -> Array:
        """See `Evidence`; by the equation of motion, forces by weight."""
        return self._equation().freedom()

    @cached_property
    def certificate(self) -> Certificate:
        """The equation of motion, cones and limits, recomputed from the state."""
        given = (getattr(task, "sides", None) for task in self._stack if task.bounds_contacts)
        sides = next((count for count in given if isinstance(count, int)), 4)
        return certify(self._state(), self._tick, self._x, self._equation(), sides)

    @cached_property
    def health(self) -> Health:
        """What a person should worry about even if every inequality holds; true if there is nothing.

        It is iterable: each finding has a `kind`, the `name` of a task, contact or actuator, a `value` with its `unit`,
        and a `text`. `wbc.control.health.Kind` lists the kinds with their thresholds.
        """
        from wbc.control.examination import Examination  # few ticks are examined

        return Examination(
            self,
            self._robot,
            self._tick,
            self._table,
            self._past,
            self._clipped,
            self._names,
            lambda: self._equation().freedom(),
        ).health()

    def _remarks(self) -> str:
        """See `Evidence`."""
        return f"\n{self.health}"

    def __repr__(self) -> str:
        return f"<Solution {self.status}, torque {np.array2string(self.torque, precision=1, threshold=8)}>"
