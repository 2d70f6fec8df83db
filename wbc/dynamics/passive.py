"""The forces that joints exert by themselves: dampers, Coulomb friction, springs. The same for every backend."""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array
from wbc.model.model import Model

FRICTION_SPEED = 1e-2
"""Speed, rad/s or m/s, over which Coulomb friction turns from one direction to the other (as tanh): a sign function
would make the bias jump at rest. Who compensates it may need a wider one."""


class PassiveForces:
    """Passive joint forces of a model, laid out by velocity.

    Args:
        model: whose joints give damping, friction, stiffness and rest.

    Attributes:
        idle: whether there are none.
        friction: Coulomb friction, N m or N, shape (nv,).
        speed: over which it turns from one direction to the other, rad/s or m/s, shape (nv,); inf: there is none. May
            be changed.
    """

    def __init__(self, model: Model) -> None:
        moving = [joint for joint in model.joints.values() if joint.nv]
        sizes = [joint.nv for joint in moving]
        self._slowing = np.repeat([-joint.damping for joint in moving], sizes).astype(float)
        self.friction = np.repeat([joint.friction for joint in moving], sizes).astype(float)
        self.speed = np.full(len(self.friction), FRICTION_SPEED)
        sprung = [joint for joint in moving if joint.stiffness and joint.nv == 1]
        self._q = np.array([model.q_index[joint.name] for joint in sprung], dtype=np.intp)
        self._v = np.array([model.v_index[joint.name] for joint in sprung], dtype=np.intp)
        self._stiffness = np.array([joint.stiffness for joint in sprung])
        self._rest = np.array([joint.rest for joint in sprung])
        self._rubs = bool(self.friction.any())
        self._none = np.zeros(len(self._slowing))
        self.idle = not (self._rubs or self._slowing.any() or len(self._q))

    def force(self, q: Array, v: Array) -> Array:
        """The generalised force of dampers, friction and springs on the robot, shape (nv,)."""
        if self.idle:
            return self._none
        force: Array = self._slowing * v
        if self._rubs:
            force -= self.rubbing(v)
        if len(self._q):
            force[self._v] -= self._stiffness * (q[self._q] - self._rest)
        return force

    def rubbing(self, v: Array) -> Array:
        """Coulomb friction as it resists velocities, shape (nv,)."""
        found: Array = self.friction * np.tanh(v / self.speed)
        return found

    def for_kernel(self) -> tuple[object, ...] | None:
        """The arguments of the kernel: damping, friction, speeds, springs; None if there are none."""
        if self.idle:
            return None
        springs = zip(self._q.tolist(), self._v.tolist(), self._stiffness.tolist(), self._rest.tolist(), strict=True)
        return -self._slowing, self.friction, self.speed, tuple(springs)

    def energy(self, q: Array) -> float:
        """The energy stored in the springs, J."""
        stretch = q[self._q] - self._rest
        return 0.5 * float(self._stiffness @ stretch**2)
