"""The equations of motion by projected Newton–Euler: a sum over bodies (ETH 3.43–3.45; Liu–Jain 45, 48).

It is the formula of the lecture notes, body by body; the numpy backend computes the same faster, in another way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.dynamics.base import Dynamics
from wbc.geometry import so3
from wbc.model.parts import constant


class EquationsOfMotion(NamedTuple):
    """M v̇ + C v + g of the rigid bodies: without armature and passive joint forces.

    Attributes:
        mass_matrix: M, kg, kg m and kg m², shape (nv, nv).
        coriolis_matrix: C with Ṁ − 2C skew-symmetric, in the units of M by 1/s, shape (nv, nv); C v is ETH's b.
        gravity_force: g, N and N m, shape (nv,).
    """

    mass_matrix: Array
    coriolis_matrix: Array
    gravity_force: Array


def com_jacobian(robot: Dynamics, body: str) -> Array:
    """The mixed Jacobian (J_P, J_R) of a body at its centre of mass (Liu–Jain 58).

    Args:
        robot: in a state.
        body: its name.

    Returns:
        Shape (6, nv): velocity of the centre of mass, then angular velocity, world axes.
    """
    J, r = robot.jacobian(body).copy(), _arm(robot, body)
    J[:3] -= so3.skew(r) @ J[3:]  # v_C = v + ω × r
    return J


def com_jacobian_derivative(robot: Dynamics, body: str) -> Array:
    """The time derivative of `com_jacobian`, shape (6, nv)."""
    J, J_dot, r = robot.jacobian(body), robot.jacobian_derivative(body).copy(), _arm(robot, body)
    r_dot = so3.skew(robot.twist(body)[3:]) @ r  # r turns with the body
    J_dot[:3] -= so3.skew(r) @ J_dot[3:] + so3.skew(r_dot) @ J[3:]
    return J_dot


def momentum_rate(robot: Dynamics, body: str, vdot: ArrayLike) -> Array:
    """(ṗ_S, Ṅ_S) of a body: m a_S, and Θ_S Ψ + Ω × Θ_S Ω about its centre of mass S (ETH 3.39).

    Args:
        robot: in a state.
        body: its name.
        vdot: accelerations of the robot, shape (nv,).

    Returns:
        Shape (6,): N, then N m, world axes.
    """
    part, R = robot.model.bodies[body], robot.pose(body)[:3, :3]
    theta, omega = R @ part.inertia @ R.T, robot.twist(body)[3:]
    a = com_jacobian(robot, body) @ constant(vdot, (robot.nv,), "vdot") + com_jacobian_derivative(robot, body) @ robot.v
    return np.concatenate([part.mass * a[:3], theta @ a[3:] + np.cross(omega, theta @ omega)])


def _arm(robot: Dynamics, body: str) -> Array:
    """From a body's origin to its centre of mass, world axes, shape (3,)."""
    return np.asarray(robot.pose(body)[:3, :3] @ robot.model.bodies[body].com)


def projected_newton_euler(robot: Dynamics) -> EquationsOfMotion:
    """M, C and g in the robot's present state, from each body's Jacobian at its centre of mass.

    M = Σ J_Pᵀ m J_P + J_Rᵀ Θ J_R (ETH 3.43), C = Σ J_Pᵀ m J̇_P + J_Rᵀ (Θ J̇_R + ω̂ Θ J_R), so that C v is ETH (3.44), and
    g = −Σ J_Pᵀ m g₀ (ETH 3.45).

    Args:
        robot: on any backend; its state is used.
    """
    nv = robot.nv
    M, C, g = np.zeros((nv, nv)), np.zeros((nv, nv)), np.zeros(nv)
    for body in robot.model.bodies.values():
        if body.mass == 0 and not body.inertia.any():
            continue
        R, omega = robot.pose(body.name)[:3, :3], robot.twist(body.name)[3:]
        J, J_dot = com_jacobian(robot, body.name), com_jacobian_derivative(robot, body.name)
        J_P, J_R, J_P_dot, J_R_dot = J[:3], J[3:], J_dot[:3], J_dot[3:]
        theta = R @ body.inertia @ R.T
        M += body.mass * J_P.T @ J_P + J_R.T @ theta @ J_R
        C += body.mass * J_P.T @ J_P_dot + J_R.T @ (theta @ J_R_dot + so3.skew(omega) @ theta @ J_R)
        g -= body.mass * J_P.T @ robot.model.gravity
    return EquationsOfMotion(M, C, g)
