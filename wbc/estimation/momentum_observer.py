"""Estimates external forces from motion and torques: the observer of the generalised momentum (De Luca)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, number, show
from wbc.geometry import so3
from wbc.model.parts import constant

DAMPED = 1e-4
"""Where the Jacobians of feet are nearly singular, forces are the least ones: damping as a share of the Jacobians'."""


class MomentumObserver:
    """Estimates the generalised force τ_ext that is not in the model, without measured accelerations.

    With the momentum p = M v the residual r of the observer is K (p − ∫ (Sᵀ τ + Ṁ v − h + r) dt): a first-order lag of
    τ_ext. Over a tick p⁺ − p − ΔM v̄ is M̄ Δv, so that in discrete time

        r⁺ = r + (1 − e^(−K dt)) (M̄ (v⁺ − v)/dt + h̄ − Sᵀ τ − r).

    Args:
        robot: of `wbc.load`; the observer works on a copy.
        bandwidth: of the lag, Hz: K = 2π of it.

    Attributes:
        robot: its own copy, in the state of the last update.
        residual: τ_ext, shape (nv,): of contacts, and of all else that pushes.
    """

    def __init__(self, robot: Dynamics, bandwidth: float = 30.0) -> None:
        if not isinstance(robot, Dynamics):
            raise WbcError(f"an observer needs a robot of wbc.load, not {show(robot)}")
        self._rate = 2.0 * math.pi * number(bandwidth, "the bandwidth, Hz,", above=True)
        self.robot = robot.copy()
        self.reset()

    def reset(self) -> None:
        """Forgets the past."""
        self.residual = np.zeros(self.robot.nv)
        self._last: tuple[Array, Array, Array] | None = None

    def update(self, q: ArrayLike, v: ArrayLike, torque: ArrayLike, dt: float) -> Array:
        """Takes the next state.

        Args:
            q: shape (nq,).
            v: shape (nv,).
            torque: of the actuators since the last state, shape (na,).
            dt: since the last state, s.

        Returns:
            The residual, shape (nv,).
        """
        robot = self.robot
        robot.update(q, v)
        M, h, now = robot.mass_matrix, robot.bias, robot.v
        last, self._last = self._last, (M, h, now)
        if last is None or not dt > 0.0:
            return self.residual
        tau = robot.actuator_force(constant(torque, (robot.na,), "torque"))
        felt = 0.5 * (M + last[0]) @ (now - last[2]) / dt + 0.5 * (h + last[1]) - tau
        self.residual = self.residual - math.expm1(-self._rate * dt) * (felt - self.residual)
        return self.residual

    def contact_forces(self, feet: Sequence[str], radius: ArrayLike = 0.0) -> Array:
        """Forces at feet, out of the residual of the joints alone: the base's own is not needed.

        Args:
            feet: frames, on limbs that nothing else touches.
            radius: of feet that are balls about these frames, m, a number or one for each: they touch below.

        Returns:
            On the robot, N, world axes, shape (feet, 3).
        """
        J = self._touching(feet, radius)[:, self.robot.actuated]
        return _least(J.T, self.residual[self.robot.actuated]).reshape(-1, 3)

    def _touching(self, feet: Sequence[str], radius: ArrayLike) -> Array:
        """Jacobian of the points where feet touch, shape (3 feet, nv)."""
        J = self.robot.frames_motion(tuple(feet)).jacobian.reshape(len(feet), 6, self.robot.nv)
        arms = np.zeros((len(feet), 3))
        arms[:, 2] = -numbers(radius, "radius")
        return np.asarray((J[:, :3] - so3.skew(arms) @ J[:, 3:]).reshape(3 * len(feet), self.robot.nv))

    def external_wrench(self, frame: str, feet: Sequence[str] = (), radius: ArrayLike = 0.0) -> Array:
        """The external wrench on a frame, in addition to contacts at the feet.

        Args:
            frame: that is pushed.
            feet: frames that touch the ground.
            radius: see `contact_forces`.

        Returns:
            Force at the frame's origin and torque on the robot, N and N m, world axes, shape (6,).
        """
        J = np.concatenate([self.robot.jacobian(frame), self._touching(feet, radius)])
        return _least(J.T, self.residual)[:6]


def _least(A: Array, b: Array) -> Array:
    """X of least squares; damped, where A is nearly singular."""
    gram = A.T @ A
    gram.flat[:: len(gram) + 1] += (DAMPED**2) * max(float(np.trace(gram)) / len(gram), 1e-12)
    return np.asarray(np.linalg.solve(gram, A.T @ b))
