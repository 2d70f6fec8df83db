"""The controllers of ETH chapter 3 come out of the general solver."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import contacts, controller, moving_state
from tests.equations import equation
from wbc.classical import InverseDynamics, TaskSpace

pytestmark = pytest.mark.filterwarnings("ignore:no task bounds the forces")
"""Stacks of equations alone are what many of these tests are about."""

EXACT = {"rtol": 1e-8, "atol": 1e-8}


def arm_state(seed: int = 0):
    robot, rng = wbc.load("arm", "numpy"), np.random.default_rng(seed)
    q = robot.random(rng)
    robot.update(q, rng.normal(size=robot.nv))
    return robot, rng


def end_effector_dynamics(robot: wbc.Dynamics, frame: str):
    """Λ, and μ + p, of ETH (3.87)–(3.89)."""
    J, M = robot.jacobian(frame), robot.mass_matrix
    mobility = J @ np.linalg.solve(M, J.T)
    Lambda = np.linalg.inv(mobility)
    return J, Lambda, Lambda @ (J @ np.linalg.solve(M, robot.bias) - robot.jacobian_bias(frame))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("solver", ["hierarchical-qp", "nullspace", "sequential-qp"])
@equation("ETH example 3.10.1", "inverse dynamics as a hierarchy", wbc.Controller)
def test_example_3_10_1_is_computed_torque(solver: str, seed: int) -> None:
    robot, rng = arm_state(seed)
    wanted = rng.normal(scale=5.0, size=7)
    posture = tasks.JointAcceleration(robot.q, acceleration=wanted, gains=wbc.Gains(kp=0, kd=0))
    stack = wbc.Stack(tasks.EquationOfMotion() / posture)
    solution = controller(robot, stack, solver, actuator_limits=False).step(robot.q, robot.v)
    assert np.allclose(solution.torque, robot.mass_matrix @ wanted + robot.bias, **EXACT)
    assert np.allclose(solution.acceleration, wanted, **EXACT)


@pytest.mark.parametrize("seed", range(5))
def test_task_space_control_3_90_is_the_general_solver_with_least_torque_by_inverse_mass(seed: int) -> None:
    robot, rng = arm_state(seed)
    wanted = rng.normal(scale=3.0, size=6)
    task = tasks.EndEffectorAcceleration("tool", robot.pose("tool"), wbc.Gains(kp=0, kd=0), acceleration=wanted)
    solution = controller(
        robot, wbc.Stack(tasks.EquationOfMotion() / task), "operational-space", actuator_limits=False
    ).step(robot.q, robot.v)
    J, Lambda, rest = end_effector_dynamics(robot, "tool")
    assert np.allclose(solution.torque, J.T @ (Lambda @ wanted + rest), **EXACT)


@pytest.mark.parametrize("seed", range(5))
def test_hybrid_control_3_97_is_a_stack_of_motion_and_force(seed: int) -> None:
    """Motion in some directions, force in the others: τ = Jᵀ (Λ S_M ẇ + S_F F + μ + p), F pushes on the environment."""
    robot, rng = arm_state(seed)
    pushing = rng.permutation(6)[:2]
    S_F = np.zeros((6, 6))
    S_F[pushing, pushing] = 1.0
    S_M = np.eye(6) - S_F
    motion, force = rng.normal(scale=2.0, size=6), rng.normal(scale=20.0, size=6)
    touch = wbc.SurfaceContact("tool", 10.0, corners=[(0.1, 0.1), (-0.1, 0.1), (0, -0.1)])
    move = tasks.EndEffectorAcceleration(
        "tool", robot.pose("tool"), wbc.Gains(kp=0, kd=0), acceleration=S_M @ motion, name="motion"
    )
    push = tasks.ContactForce("tool", -(S_F @ force))
    with pytest.warns(wbc.WbcWarning, match="no task holds the contacts still"):
        stack = wbc.Stack(tasks.EquationOfMotion() / (move + push), contacts=[touch])
    solution = controller(robot, stack, "operational-space", actuator_limits=False).step(robot.q, robot.v)
    J, Lambda, rest = end_effector_dynamics(robot, "tool")
    expected = J.T @ (Lambda @ S_M @ motion + S_F @ force + rest)
    assert np.allclose(solution.torque, expected, **EXACT)
    assert np.allclose(solution.forces["tool"], -(S_F @ force), **EXACT)


@pytest.mark.parametrize("seed", range(3))
def test_operational_space_priorities_are_dynamically_consistent(seed: int) -> None:
    """The second task lives in the first one's null space (ETH 3.82–3.83)."""
    robot, rng = arm_state(seed)
    first, second = rng.normal(size=3), rng.normal(size=7)
    none = wbc.Gains(kp=0, kd=0)
    T = robot.pose("tool")
    reach = tasks.EndEffectorAcceleration("tool", T, none, axes="position", acceleration=np.r_[first, 0, 0, 0])
    posture = tasks.JointAcceleration(robot.q, gains=none, acceleration=second)
    stack = wbc.Stack(tasks.EquationOfMotion() / reach / posture)
    solution = controller(robot, stack, "operational-space", actuator_limits=False).step(robot.q, robot.v)
    J, bias = robot.jacobian("tool")[:3], robot.jacobian_bias("tool")[:3]
    assert np.allclose(J @ solution.acceleration + bias, first, **EXACT)
    # what is left of the posture is met as well as it can be: its residual has no part that the null space could take
    Z = np.linalg.svd(J)[2][3:].T
    assert np.allclose(Z.T @ (solution.acceleration - second), 0.0, atol=1e-8)


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
@pytest.mark.parametrize("seed", range(4))
@equation("ETH 3.100", "inverse dynamics with contacts", TaskSpace.inverse_dynamics, InverseDynamics)
@equation("ETH 3.101", "torques that change forces only", TaskSpace.inverse_dynamics, InverseDynamics)
def test_inverse_dynamics_with_contacts_3_100_and_its_null_space_3_101(name: str, seed: int) -> None:
    robot, rng = wbc.load(name, "numpy"), np.random.default_rng(seed)
    q, v = moving_state(robot, rng, spread=0.2, speed=0.5)
    robot.update(q, v)
    feet = contacts(robot)
    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / tasks.ContactMotion(wbc.Gains(kp=0, kd=0))
        / tasks.AccelerationMinimization()
        / tasks.TorqueMinimization(),
        contacts=feet,
    )
    solution = controller(robot, stack, "nullspace", actuator_limits=False).step(q, v)
    tick = wbc.Tick(robot, feet)
    Jc = tick.contact_jacobian(robot)
    M, h, vdot = robot.mass_matrix, robot.bias, solution.acceleration
    N = np.eye(robot.nv) - np.linalg.solve(M, Jc.T) @ np.linalg.solve(Jc @ np.linalg.solve(M, Jc.T), Jc)  # ETH (3.63)
    S = np.eye(robot.nv)[robot.actuated]
    expected = np.linalg.pinv(N.T @ S.T, rcond=1e-9) @ N.T @ (M @ vdot + h)
    scale = np.abs(expected).max()
    assert np.allclose(solution.torque / scale, expected / scale, atol=1e-8)
    support = TaskSpace.of_contacts(robot, feet)
    assert np.allclose(support.inverse_dynamics(vdot) / scale, expected / scale, atol=1e-8)
    law = InverseDynamics(robot, tasks.AccelerationMinimization(), feet).step(q, v)
    assert np.allclose(law.torque / scale, expected / scale, atol=1e-7)
    # (3.101): any torque of the null space keeps the motion and changes the contact forces only
    free = np.eye(robot.na) - np.linalg.pinv(N.T @ S.T, rcond=1e-9) @ (N.T @ S.T)
    given = rng.normal(scale=10.0, size=robot.na)
    other = solution.torque + free @ given
    assert np.allclose(support.inverse_dynamics(vdot, given) / scale, other / scale, atol=1e-7)
    law = InverseDynamics(robot, tasks.AccelerationMinimization(), feet, free_torque=given).step(q, v)
    assert np.allclose(law.torque / scale, other / scale, atol=1e-7)
    assert np.allclose(N.T @ (S.T @ other - M @ vdot - h), 0.0, atol=1e-7 * scale)
