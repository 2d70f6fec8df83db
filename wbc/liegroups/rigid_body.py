"""A single rigid body that moves in a group: M v̇ + C(v) v + g(T) = τ, the same equations in every pose (From 104)."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.errors import WbcError, show, unknown_name
from wbc.geometry import inertia, pose
from wbc.liegroups.group import Group
from wbc.model.model import STANDARD_GRAVITY
from wbc.model.parts import Body, constant, constant_transform

Form = Literal["momentum", "velocity"]
"""The two ways to write the Coriolis matrix: ad~ of the momentum, or -adᵀ of the velocity times M."""


class RigidBody:
    """A rigid body in a group of motions.

    Velocities v (m,) are those of the body's frame that the group leaves, m/s and rad/s; forces τ (m,) do work on them,
    N and N m: they too are of the body's frame. Poses are T_world_body (4, 4).

    Attributes:
        body: mass, centre of mass and inertia.
        group: where it moves.
        gravity: m/s², in the world (3,), read-only.
        inertia: I_b (6, 6), in the body's frame, read-only.
        mass_matrix: M = Hᵀ I_b H (m, m), constant (From 60, 63), read-only.
        inverse_mass_matrix: M⁻¹ (m, m), read-only.

    Args:
        body: its centre of mass may be anywhere.
        group: a `Group`, or the name of one in `GROUPS`.
        gravity: m/s² in the world (3,).
    """

    def __init__(self, body: Body, group: Group | str = "SE(3)", gravity: ArrayLike = STANDARD_GRAVITY) -> None:
        if not isinstance(body, Body):
            raise WbcError(f"body = {show(body)} must be a wbc.Body, with a mass and an inertia")
        self.body, self.group = body, group if isinstance(group, Group) else Group.named(group)
        self.gravity = constant(gravity, (3,), "gravity")
        H, m = self.group.selection, self.group.dimension
        self.inertia = constant(inertia.spatial(body.mass, body.com, body.inertia), (6, 6), "inertia")
        self.mass_matrix = constant(H.T @ self.inertia @ H, (m, m), "mass matrix")
        smallest = float(np.linalg.eigvalsh(self.mass_matrix)[0])
        if smallest <= 1e-14 * np.abs(self.mass_matrix).max():
            raise WbcError(
                f"body {show(body.name)} can't move in {self.group.name}: its mass matrix "
                f"{show(self.mass_matrix.tolist())} is not positive definite (smallest eigenvalue {smallest:.3g})"
            )
        self.inverse_mass_matrix = constant(np.linalg.inv(self.mass_matrix), (m, m), "inverse mass matrix")

    def momentum(self, v: ArrayLike) -> Array:
        """M v (m,), the derivative of the kinetic energy (From 14), kg m/s and kg m²/s."""
        return np.asarray(self.mass_matrix @ self.group.vector(v, "v"))

    def spatial_momentum(self, T: ArrayLike, v: ArrayLike) -> Array:
        """Ad_T⁻ᵀ M v (m,), the momentum seen from the world: constant where no force acts.

        Args:
            T: T_world_body (4, 4), in the group.
            v: velocities (m,).
        """
        return np.asarray(self.group.transform(pose.inverse(constant_transform(T, "T"))).T @ self.momentum(v))

    def kinetic_energy(self, v: ArrayLike) -> float:
        """½ v · M v (From 60), J."""
        return 0.5 * float(self.momentum(v) @ self.group.vector(v, "v"))

    def potential_energy(self, T: ArrayLike) -> float:
        """The potential energy of gravity, J; zero with the centre of mass at the world's origin."""
        return -self.body.mass * float(self.gravity @ pose.transform_point(constant_transform(T, "T"), self.body.com))

    def energy(self, T: ArrayLike, v: ArrayLike) -> float:
        """Kinetic and potential energy, J."""
        return self.kinetic_energy(v) + self.potential_energy(T)

    def coriolis_matrix(self, v: ArrayLike, form: Form = "momentum") -> Array:
        """C(v) (m, m): ad~_(Mv) (From 74, 108) or -ad_vᵀ M (From 11, 107). Different matrices, the same C(v) v.

        Args:
            v: velocities (m,).
            form: "momentum", which is skew: it does no work, to the last digit; or "velocity".
        """
        if form == "momentum":
            return self.group.momentum_cross(self.momentum(v))
        if form == "velocity":
            return -self.group.cross(v).T @ self.mass_matrix
        raise unknown_name("form of the Coriolis matrix", form, get_args(Form))

    def gravity_force(self, T: ArrayLike) -> Array:
        """g(T) (m,), the gradient of the potential energy along the group: the force that holds the body, N and N m."""
        pull = np.append(constant_transform(T, "T")[:3, :3].T @ self.gravity, np.zeros(3))
        return np.asarray(-self.group.selection.T @ (self.inertia @ pull))

    def bias(self, T: ArrayLike, v: ArrayLike) -> Array:
        """C(v) v + g(T) (m,), as `Dynamics.bias`."""
        return np.asarray(self.coriolis_matrix(v) @ self.group.vector(v, "v")) + self.gravity_force(T)

    def inverse_dynamics(self, T: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Array:
        """τ = M v̇ + C(v) v + g(T) (m,) (From 48, 104).

        Args:
            T: T_world_body (4, 4).
            v: velocities (m,).
            vdot: their derivatives (m,), of the numbers.
        """
        return self.mass_matrix @ self.group.vector(vdot, "vdot") + self.bias(T, v)

    def forward_dynamics(self, T: ArrayLike, v: ArrayLike, force: ArrayLike | None = None) -> Array:
        """v̇ = M⁻¹ (τ - C(v) v - g(T)) (m,).

        Args:
            T: T_world_body (4, 4).
            v: velocities (m,).
            force: τ (m,); None: none.
        """
        tau = self.group.vector(np.zeros(self.group.dimension) if force is None else force, "force")
        return np.asarray(self.inverse_mass_matrix @ (tau - self.bias(T, v)))

    def __repr__(self) -> str:
        return f"RigidBody({self.body.name!r}, {self.group.name!r})"
