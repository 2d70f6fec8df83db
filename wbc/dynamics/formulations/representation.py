"""The equations of motion in another velocity: the base's twist as left, right or mixed (Traversaro–Saccon section 9).

`M v̇ + h = Sᵀ τ + Jᵀ f` holds in any velocity w with v = B w once M, h and J are made to fit. Ours is Kindr's: the
base's linear velocity in the world, its angular velocity in the base frame.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.dynamics.base import Dynamics, Representation
from wbc.dynamics.formulations.projected import EquationsOfMotion, projected_newton_euler
from wbc.errors import WbcError
from wbc.model.parts import constant


class VelocityChange(NamedTuple):
    """From our velocity v to another velocity w of the same motion, v = B w, in one state of a robot.

    Attributes:
        matrix: B, a Jacobian of velocities, shape (nv, nv).
        derivative: Ḃ along the robot's motion, 1/s by that, shape (nv, nv).
        inverse: B⁻¹, shape (nv, nv); where B is singular its pseudo-inverse.
    """

    matrix: Array
    derivative: Array
    inverse: Array

    def velocity(self, v: ArrayLike) -> Array:
        """The other velocity, w = B⁻¹ v, shape (nv,)."""
        return self.inverse @ self._checked(v, "v")

    def acceleration(self, v: ArrayLike, vdot: ArrayLike) -> Array:
        """ẇ = B⁻¹ (v̇ − Ḃ w), shape (nv,).

        Args:
            v: our velocity, shape (nv,).
            vdot: its derivative, shape (nv,).
        """
        return self.inverse @ (self._checked(vdot, "vdot") - self.derivative @ self.velocity(v))

    def acceleration_back(self, w: ArrayLike, wdot: ArrayLike) -> Array:
        """v̇ = B ẇ + Ḃ w, shape (nv,): what `acceleration` is made from.

        Args:
            w: the other velocity, shape (nv,).
            wdot: its derivative, shape (nv,).
        """
        return self.matrix @ self._checked(wdot, "wdot") + self.derivative @ self._checked(w, "w")

    def force(self, force: ArrayLike) -> Array:
        """Bᵀ Q, shape (nv,): a generalised force Q does the same power on w as on v."""
        return self.matrix.T @ self._checked(force, "force")

    def jacobian(self, jacobian: ArrayLike) -> Array:
        """J B: the Jacobian that gives from w what J gives from v (Traversaro–Saccon 75).

        Args:
            jacobian: J, shape (rows, nv), of `Dynamics.jacobian` in any representation, or of the centre of mass.
        """
        J = numbers(jacobian, "jacobian")
        if J.ndim != 2 or J.shape[1] != len(self.matrix):
            raise WbcError(f"jacobian has shape {J.shape}; expected (rows, {len(self.matrix)})")
        return np.asarray(J @ self.matrix)

    def equations(self, robot: Dynamics) -> EquationsOfMotion:
        """The equations of motion in w: M' ẇ + C' w + g' = Bᵀ (Sᵀ τ + Jᵀ f + passive forces).

        M' = Bᵀ M B, C' = Bᵀ (C B + M Ḃ), g' = Bᵀ g (Kindr, transformation of equations of motion). Ṁ' − 2C' is
        skew-symmetric because Ṁ − 2C is.

        Args:
            robot: in the state that this change was made in.

        Returns:
            M' with the armature of the joints, C' and g'.
        """
        B, (_, C, g) = self.matrix, projected_newton_euler(robot)
        M = robot.mass_matrix
        return EquationsOfMotion(B.T @ M @ B, B.T @ (C @ B + M @ self.derivative), B.T @ g)

    def _checked(self, values: ArrayLike, what: str) -> Array:
        return constant(values, (len(self.matrix),), what)


def base_representation(robot: Dynamics, representation: Representation) -> VelocityChange:
    """The change to w = (twist of the base, joint rates) in the robot's present state (Traversaro–Saccon 76–80).

    Args:
        robot: with a floating base, on any backend.
        representation: of the twist, as in `Dynamics.jacobian`: "left" is Pinocchio's, (Rᵀ ṗ, ω in the base frame);
            "mixed" is (ṗ, ω in the world's axes); "right" is the velocity of the point of the base that passes the
            world's origin, and ω in the world's axes.

    Returns:
        B, Ḃ and B⁻¹.
    """
    if not robot.model.floating:
        raise WbcError(f"{robot.model.name!r} has no floating base: its velocity is joint rates in any representation")
    base = next(joint.child for joint in robot.model.joints.values() if joint.nv)
    inverse, derivative = np.eye(robot.nv), np.zeros((robot.nv, robot.nv))
    inverse[:6, :6] = robot.jacobian(base, representation)[:, :6]
    matrix = np.eye(robot.nv)
    matrix[:6, :6] = np.linalg.inv(inverse[:6, :6])
    rate = robot.jacobian_derivative(base, representation)[:, :6]
    derivative[:6, :6] = -matrix[:6, :6] @ rate @ matrix[:6, :6]
    return VelocityChange(matrix, derivative, inverse)
