"""Motion of a rigid body in time: pose and velocity go from step to step inside the group, and nothing is singular.

Each method moves the pose by T e^ξ^, so it stays a pose; they differ in ξ and in what they keep:

- "energy-momentum": ξ = dt (v₀ + v₁)/2 and p₁ = Ad_(e^ξ^)ᵀ p₀, solved for v₁. The second keeps the momentum seen from
  the world, both keep the energy: ½ (v₁ + v₀) · (p₁ - p₀) = (Ad_(e^ξ^) ξ - ξ) · p₀ / dt = 0, as a motion does not
  change its own screw. So a free body keeps both, to rounding, at any step that can be solved. Second order,
  symmetric in time. On SO(3) it is the method of Simo and Wong (1991); here the same line serves every group.
- "runge-kutta": fourth order, after Munthe-Kaas: Runge and Kutta's method for the coordinates φ of T₀ e^φ^.
- "midpoint": p₁ as in the first, with ξ = dt (v₀ + dt/2 v̇₀). Second order, nothing to solve; it keeps the momentum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.errors import WbcError, number, show, unknown_name
from wbc.liegroups.rigid_body import RigidBody
from wbc.model.parts import constant_transform

Force: TypeAlias = "Callable[[float, Array, Array], ArrayLike] | ArrayLike | None"
"""τ (m,) on the velocities, constant or as a function of time (s), pose and velocity; None: none but gravity."""

_Forces: TypeAlias = Callable[[float, Array, Array], Array]
_ITERATIONS = 50
_LONGEST = 1e9  # s: no simulation is longer
_FAR = 1e6  # m or rad in one step: a method that has run away


class Motion(NamedTuple):
    """The result of `simulate`.

    Attributes:
        time: s, shape (n + 1,).
        pose: T_world_body, m, shape (n + 1, 4, 4).
        velocity: v, shape (n + 1, m).
    """

    time: Array
    pose: Array
    velocity: Array


def step(
    body: RigidBody,
    T: ArrayLike,
    v: ArrayLike,
    dt: float,
    force: Force = None,
    t: float = 0.0,
    method: str = "energy-momentum",
) -> tuple[Array, Array]:
    """Pose and velocity after dt.

    Args:
        body: that moves.
        T: T_world_body (4, 4).
        v: velocities (m,).
        dt: s; may be negative.
        force: τ, see `Force`.
        t: the time now, s, for `force`.
        method: one of `METHODS`.

    Returns:
        T_world_body (4, 4) and v (m,).
    """
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    span = number(dt, "dt", -_LONGEST, _LONGEST)
    forces: _Forces = force if callable(force) else lambda t, T, v: force  # type: ignore[assignment,return-value]
    moved, faster = METHODS[method](body, constant_transform(T, "T"), body.group.vector(v, "v"), span, forces, t)
    if not np.abs(span * faster).max() < _FAR:
        raise WbcError(f"method {show(method)} runs away at t = {t:g} s: v = {show(faster.tolist())}; try a smaller dt")
    return moved, faster


def simulate(
    body: RigidBody,
    T: ArrayLike,
    v: ArrayLike,
    duration: float,
    dt: float,
    force: Force = None,
    method: str = "energy-momentum",
) -> Motion:
    """The motion over a duration, in steps of dt; the last ends at the duration or up to half a step beside it.

    Args:
        body: that moves.
        T: T_world_body at the start (4, 4).
        v: velocities at the start (m,).
        duration: s.
        dt: s.
        force: τ, see `Force`.
        method: one of `METHODS`.
    """
    steps = round(number(duration, "duration", high=_LONGEST) / number(dt, "dt", high=_LONGEST, above=True))
    poses, velocities = np.empty((steps + 1, 4, 4)), np.empty((steps + 1, body.group.dimension))
    poses[0], velocities[0] = constant_transform(T, "T"), body.group.vector(v, "v")
    for k in range(steps):
        poses[k + 1], velocities[k + 1] = step(body, poses[k], velocities[k], dt, force, k * dt, method)
    return Motion(np.linspace(0.0, steps * dt, steps + 1), poses, velocities)


def _midpoint(body: RigidBody, T: Array, v: Array, dt: float, force: _Forces, t: float) -> tuple[Array, Array]:
    """Half a step of Euler for the ξ of the whole one, and the momentum carried along it."""
    start = _force(body, t, T, v, force)
    rate = body.inverse_mass_matrix @ (start - body.coriolis_matrix(v) @ v)
    way = body.group.exp(dt * (v + dt / 2 * rate))
    there = T @ way
    carried = body.group.transform(way).T @ (body.momentum(v) + dt / 2 * start)
    end = _force(body, t + dt, there, v + dt * rate, force)
    return there, body.inverse_mass_matrix @ (carried + dt / 2 * end)


def _runge_kutta(body: RigidBody, T: Array, v: Array, dt: float, force: _Forces, t: float) -> tuple[Array, Array]:
    """The classical four stages for (φ, v), with φ̇ = S(φ)⁻¹ v = v + ad_φ v/2 + ad_φ² v/12 + O(φ⁴) (From 28, 29)."""
    group, phi, after = body.group, np.zeros(len(v)), v
    rates: list[tuple[Array, Array]] = []
    for share in (0.0, 0.5, 0.5, 1.0):
        if rates:
            phi, after = share * dt * rates[-1][0], v + share * dt * rates[-1][1]
        there, ad = T @ group.exp(phi), group.cross(phi)
        turned = ad @ after
        rate = body.forward_dynamics(there, after, force(t + share * dt, there, after))
        rates.append((after + turned / 2 + ad @ turned / 12, rate))
    phi, change = (dt / 6 * (a + 2 * b + 2 * c + d) for a, b, c, d in zip(*rates, strict=True))
    return T @ group.exp(phi), v + change


def _energy_momentum(body: RigidBody, T: Array, v: Array, dt: float, force: _Forces, t: float) -> tuple[Array, Array]:
    """Newton's method for v₁; the carried momentum p₁ changes by -ad~_(p₁) S(ξ) dξ, with S cut after three terms.

    Forces act by half at each end, each in the frame that the body has there.
    """
    group, M = body.group, body.mass_matrix
    before = M @ v + dt / 2 * _force(body, t, T, v, force)
    after = v
    for _ in range(_ITERATIONS):
        xi = dt / 2 * (v + after)
        way, ad = group.exp(xi), group.cross(xi)
        carried = group.transform(way).T @ before
        residual = M @ after - carried - dt / 2 * _force(body, t + dt, T @ way, after, force)
        S = np.eye(len(v)) - ad / 2 + ad @ ad / 6
        change = np.linalg.solve(M + dt / 2 * group.momentum_cross(carried) @ S, residual)
        after = after - change
        if not np.abs(dt * after).max() < _FAR:
            break
        if np.abs(change).max() <= 1e-13 * max(1.0, np.abs(after).max()):
            return T @ group.exp(dt / 2 * (v + after)), after
    raise WbcError(f"a step of dt = {show(dt)} s was not solved at v = {show(v.tolist())}; a smaller dt will do")


def _force(body: RigidBody, t: float, T: Array, v: Array, force: _Forces) -> Array:
    """The force on the momentum: external force and gravity."""
    tau = force(t, T, v)
    return -body.gravity_force(T) if tau is None else body.group.vector(tau, "force") - body.gravity_force(T)


METHODS = {"energy-momentum": _energy_momentum, "runge-kutta": _runge_kutta, "midpoint": _midpoint}
"""The methods by name."""
