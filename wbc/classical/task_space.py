"""Rows of a Jacobian seen through the robot's inertia: end-effector dynamics and the support's null space.

Λ of an end effector (ETH 3.87) and of a support (ETH 3.68) are one thing, and so is the null space N of both (ETH
3.63). With M = L Lᵀ and the singular values s of L⁻¹ Jᵀ = U s Wᵀ,

    Λ = (J M⁻¹ Jᵀ)⁺ = W s⁻² Wᵀ,    N = I − M⁻¹ Jᵀ Λ J = L⁻ᵀ (I − U Uᵀ) Lᵀ,

and singular values below `RANK_TOLERANCE` of the greatest count as zero. So rows may be redundant (four feet, two soles
with four points each) and arms singular: Λ is then the inertia in the directions that can move, and the others are left
out. The decision is about directions as the inertia sees them: a direction is left out where the robot seems 10¹⁴
times heavier than in the lightest one.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from wbc.arrays import Array, ArrayLike, numbers
from wbc.contacts import Contact, as_contacts
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError
from wbc.model.parts import constant
from wbc.tasking.tick import Tick

RANK_TOLERANCE = 1e-7
"""Singular values of L⁻¹ Jᵀ below this share of the greatest are zero."""


class TaskSpace:
    """The dynamics of a robot as felt at the rows of J: Λ ẇ + μ + p = F (ETH 3.86).

    It describes the robot's state at the time it is made, and does not change when the robot moves on.

    Args:
        robot: updated.
        J: shape (rows, nv).
        bias: J̇v of these rows, shape (rows,).

    Attributes:
        jacobian: J.
        bias: J̇v.
        velocity: v of the robot, shape (nv,).
        rank: how many directions of the rows can move independently.
        inertia: Λ = (J M⁻¹ Jᵀ)⁺ (ETH 3.68, 3.87), shape (rows, rows).
    """

    def __init__(self, robot: Dynamics, J: ArrayLike, bias: ArrayLike) -> None:
        self.jacobian, self.bias = numbers(J, "J"), numbers(bias, "J̇v")
        rows = len(self.jacobian) if self.jacobian.ndim == 2 else -1
        if self.jacobian.shape != (rows, robot.nv) or self.bias.shape != (rows,):
            raise WbcError(
                f"J must have the shape (rows, {robot.nv}) and J̇v (rows,), not {self.jacobian.shape} and "
                f"{self.bias.shape}"
            )
        if not (np.isfinite(self.jacobian).all() and np.isfinite(self.bias).all()):
            raise WbcError("J and J̇v must be finite")
        self._M, self._h, self._g = robot.mass_matrix, robot.bias, robot.gravity_force
        self.velocity, self._actuated = robot.v, robot.actuated
        self._L, failed = lapack.dpotrf(self._M, lower=1)
        if failed:
            raise WbcError(f"the mass matrix of {robot.model.name!r} is singular: some part that moves has no mass")
        U, s, Wt = np.linalg.svd(self._solve(self.jacobian.T), full_matrices=False)
        self.rank = int((s > RANK_TOLERANCE * s.max(initial=0.0)).sum())
        self._U, W = U[:, : self.rank], Wt[: self.rank].T
        self.inertia: Array = (W / s[: self.rank] ** 2) @ W.T
        self._inverse: Array = (W / s[: self.rank]) @ self._U.T  # Λ J M⁻¹ = W s⁻¹ Uᵀ L⁻¹
        for array in (self.jacobian, self.bias, self.inertia):
            array.flags.writeable = False

    @classmethod
    def of_frame(cls, robot: Dynamics, frame: str) -> TaskSpace:
        """That of a frame: six rows, linear first, world axes.

        Args:
            robot: updated.
            frame: its name.
        """
        return cls(robot, robot.jacobian(frame), robot.jacobian_bias(frame))

    @classmethod
    def of_contacts(cls, robot: Dynamics, contacts: Tick | list[Contact] | tuple[Contact, ...]) -> TaskSpace:
        """That of a support: a row for each force variable of the contacts.

        Args:
            robot: updated.
            contacts: that are closed; or the variables of a tick, which have them.
        """
        tick = contacts if isinstance(contacts, Tick) else Tick(robot, as_contacts(contacts))
        J = tick.contact_jacobian(robot)
        bias = tick.contact_motion(robot)[1]
        if len(bias) != len(J):  # forces at corners: what these points do
            start, parts = 0, []
            for contact in tick.contacts:
                parts.append(contact.spread(robot, bias[start : start + contact.rows, None])[:, 0])
                start += contact.rows
            bias = np.concatenate(parts)
        return cls(robot, J, bias)

    def _solve(self, right: Array, transposed: bool = False) -> Array:
        """L⁻¹ right, or L⁻ᵀ right."""
        if not right.size:
            return right.copy()
        found: Array = lapack.dtrtrs(self._L, right, lower=1, trans=int(transposed))[0]
        return found

    # --- end-effector dynamics ---------------------------------------------------------------------------------------

    def project(self, force: ArrayLike) -> Array:
        """Λ J M⁻¹ force: the part of a generalised force that acts at the rows, as a force there, shape (rows,).

        Λ J M⁻¹ is the transpose of the dynamically consistent inverse of J, "J⁻ᵀ" of ETH (3.93)–(3.96).

        Args:
            force: generalised, shape (nv,).
        """
        return np.asarray(self._inverse @ self._solve(constant(force, (len(self._L),), "a generalised force")))

    @property
    def coriolis(self) -> Array:
        """μ = Λ J M⁻¹ b − Λ J̇v (ETH 3.88), shape (rows,); b is h less gravity: passive joint forces are in it."""
        return self.project(self._h - self._g) - self.inertia @ self.bias

    @property
    def gravity(self) -> Array:
        """The weight p = Λ J M⁻¹ g (ETH 3.89), shape (rows,)."""
        return self.project(self._g)

    def force(self, acceleration: ArrayLike) -> Array:
        """F = Λ ẇ + μ + p (ETH 3.86): what moves the rows with an acceleration ẇ, shape (rows,).

        Args:
            acceleration: ẇ, shape (rows,).
        """
        wanted = constant(acceleration, self.bias.shape, "the acceleration of the rows")
        return self.inertia @ (wanted - self.bias) + self.project(self._h)

    # --- support -----------------------------------------------------------------------------------------------------

    @cached_property
    def null_space(self) -> Array:
        """N = I − M⁻¹ Jᵀ Λ J (ETH 3.63), shape (nv, nv): motions N v do not move the rows, and M N = Nᵀ M."""
        across = self._solve(np.eye(len(self._L)) - self._U @ self._U.T, transposed=True)
        N: Array = across @ self._L.T
        N.flags.writeable = False
        return N

    def split(self, force: ArrayLike) -> Array:
        """Nᵀ force: the part of a generalised force that does not act at the rows, shape (nv,).

        Args:
            force: generalised, shape (nv,).
        """
        w = self._solve(constant(force, (len(self._L),), "a generalised force"))
        return np.asarray(self._L @ (w - self._U @ (self._U.T @ w)))

    def contact_force(self, torque: ArrayLike) -> Array:
        """The force that holds the rows still, f = −Λ (J M⁻¹ (Sᵀ τ − h) + J̇v), on the robot; ETH (3.62) has F_c = −f.

        Of redundant rows the force of least norm; where no force can hold them, what comes closest.

        Args:
            torque: τ of the actuators, shape (na,).
        """
        return -(self.project(self._generalized(torque) - self._h) + self.inertia @ self.bias)

    def acceleration(self, torque: ArrayLike) -> Array:
        """v̇ with the rows held still: M v̇ = Nᵀ (Sᵀ τ − h) − Jᵀ Λ J̇v (ETH 3.64), shape (nv,).

        Args:
            torque: τ of the actuators, shape (na,).
        """
        force = self.split(self._generalized(torque) - self._h) - self.jacobian.T @ (self.inertia @ self.bias)
        return self._solve(self._solve(force), transposed=True)

    def inverse_dynamics(self, acceleration: ArrayLike, free_torque: ArrayLike | None = None) -> Array:
        """τ = (Nᵀ Sᵀ)⁺ Nᵀ (M v̇ + h) + 𝒩(Nᵀ Sᵀ) τ₀ (ETH 3.100, 3.101): least torque, or the nearest to τ₀.

        Where v̇ is none that the support and the actuators allow, the motion that comes closest (ETH 3.65).

        Args:
            acceleration: v̇, shape (nv,).
            free_torque: τ₀, shape (na,): its part that changes forces between contacts, and no motion, is added.

        Returns:
            Shape (na,).
        """
        A = self.null_space.T[:, self._actuated]
        inverse = np.linalg.pinv(A, rcond=1e-9)
        wanted = self.split(self._M @ constant(acceleration, (len(self._L),), "acceleration") + self._h)
        torque: Array = inverse @ wanted
        if free_torque is not None:
            given = constant(free_torque, (len(self._actuated),), "free_torque")
            torque = torque + given - inverse @ (A @ given)
        return torque

    def _generalized(self, torque: ArrayLike) -> Array:
        """Sᵀ τ, shape (nv,)."""
        force = np.zeros(len(self._L))
        force[self._actuated] = constant(torque, (len(self._actuated),), "torque")
        return force

    def __repr__(self) -> str:
        return f"<TaskSpace: {len(self.jacobian)} rows of rank {self.rank}>"
