"""Kindr's dynamics of a floating base: its Jacobian out of that of the legs on a fixed one, and the sum over bodies."""

from __future__ import annotations

import numpy as np
import pytest

import wbc
from tests.equations import equation
from wbc.dynamics import Dynamics
from wbc.dynamics.formulations.projected import com_jacobian, com_jacobian_derivative, projected_newton_euler
from wbc.geometry import so3
from wbc.model import packaged_path


@equation("Kindr 9", "position on a floating base", Dynamics.pose)
@equation("Kindr 10", "velocity on a floating base", Dynamics.jacobian)
@equation("Kindr 11", "orientation on a floating base", Dynamics.pose)
@equation("Kindr 12", "rate of orientation, floating base", Dynamics.jacobian)
@equation("Kindr 13", "angular velocity, floating base", Dynamics.jacobian)
@equation("Kindr 14", "Jacobian of a floating base", Dynamics.jacobian)
@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_jacobian_of_a_floating_base(name: str) -> None:
    robot, held = wbc.load(name, "numpy"), wbc.load(packaged_path(name), "numpy", floating=False)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, u = robot.random(rng), rng.normal(size=robot.nv)
        robot.update(q, u)
        held.update(q[7:], u[6:])
        frame = robot.model.feet[rng.integers(len(robot.model.feet))]
        T_IB, T_BQ = robot.pose("base"), np.linalg.inv(held.pose("base")) @ held.pose(frame)
        C_IB, C_BQ, r_BQ = T_IB[:3, :3], T_BQ[:3, :3], T_BQ[:3, 3]
        assert np.allclose(robot.pose(frame)[:3, 3], T_IB[:3, 3] + C_IB @ r_BQ, atol=1e-12)  # (9)
        assert np.allclose(robot.pose(frame)[:3, :3], C_IB @ C_BQ, atol=1e-12)  # (11)
        J_P, J_R = np.split(held.jacobian(frame), 2)  # the held base is turned as its file has it
        J_P, J_R = held.pose("base")[:3, :3].T @ J_P, held.pose("base")[:3, :3].T @ J_R
        zero = np.zeros((3, 3))
        printed = np.block([[np.eye(3), -C_IB @ so3.skew(r_BQ), C_IB @ J_P], [zero, C_IB, C_IB @ J_R]])
        assert np.allclose(robot.jacobian(frame), printed, atol=1e-12)  # (14)
        linear = u[:3] + C_IB @ np.cross(u[3:6], r_BQ) + C_IB @ J_P @ u[6:]  # (10)
        angular = C_IB @ u[3:6] + C_IB @ J_R @ u[6:]  # (13)
        assert np.allclose(robot.twist(frame), [*linear, *angular], atol=1e-12)
        C_IQ, step = robot.pose(frame)[:3, :3], 1e-6
        turned = []
        for t in (step, -step):
            robot.update(robot.integrate(q, u, t))
            turned.append(robot.pose(frame)[:3, :3])
        of_base, in_base = so3.skew(C_IB @ u[3:6]) @ C_IQ, C_IB @ so3.skew(J_R @ u[6:]) @ C_BQ
        assert np.allclose((turned[0] - turned[1]) / (2 * step), of_base + in_base, atol=1e-8)  # (12)


@equation(
    "Kindr projected Newton-Euler equations",
    "M, g and f by sums over bodies",
    projected_newton_euler,
    Dynamics.generalized_force,
)
@pytest.mark.parametrize("name", ["arm", "quadruped", "humanoid"])
def test_projected_newton_euler_equations(name: str) -> None:
    robot, rng = wbc.load(name, "numpy"), np.random.default_rng(1)
    q, u = robot.random(rng), rng.normal(scale=2.0, size=robot.nv)
    robot.update(q, u)
    M, g, f = np.zeros((robot.nv, robot.nv)), np.zeros(robot.nv), np.zeros(robot.nv)
    for body in robot.model.bodies.values():
        if not body.mass:
            continue
        J_COM, J_R = np.split(com_jacobian(robot, body.name), 2)
        J_COM_dot, J_R_dot = np.split(com_jacobian_derivative(robot, body.name), 2)
        Omega = J_R @ u
        R = robot.pose(body.name)[:3, :3]
        Theta = R @ body.inertia @ R.T
        M += J_COM.T @ (body.mass * J_COM) + J_R.T @ Theta @ J_R
        g += J_COM.T @ (body.mass * J_COM_dot @ u) + J_R.T @ (Theta @ J_R_dot @ u + np.cross(Omega, Theta @ Omega))
        f += J_COM.T @ (body.mass * robot.model.gravity)
    assert np.allclose(M + np.diag(robot.model.armature), robot.mass_matrix, atol=1e-10)
    equations = projected_newton_euler(robot)
    assert np.allclose(equations.mass_matrix, M, atol=1e-10)
    assert np.allclose(equations.coriolis_matrix @ u, g, atol=1e-8)
    assert np.allclose(g - f - robot.passive_force, robot.bias, atol=1e-8)
    # f of an external force at a point and a torque: their power
    frame, force, torque, point = robot.frames[-1], rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)
    arm = robot.pose(frame)[:3, :3] @ point
    V = robot.twist(frame)
    power = force @ (V[:3] + np.cross(V[3:], arm)) + torque @ V[3:]
    assert np.isclose(robot.generalized_force(frame, [*force, *torque], point) @ u, power, atol=1e-10)
