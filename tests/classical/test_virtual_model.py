"""Virtual model control: the equations of ETH 3.11, and a quadruped that stands on virtual springs."""

from __future__ import annotations

import numpy as np
import pytest

import wbc
from tests.classical.test_task_space import state
from tests.control.scenes import contacts
from tests.equations import equation
from wbc.classical import ConstantForce, VirtualModelControl, VirtualSpring, distribute
from wbc.geometry import so3

STIFFNESS, DAMPING = [4e3, 4e3, 6e3, 400, 400, 400], [500, 500, 700, 60, 60, 60]


def split(robot: wbc.Dynamics, frame: str):
    """r_bp, and J_bp of ETH (3.116): the joints' share of the Jacobian of a frame's position; world axes."""
    return robot.pose(frame)[:3, 3] - robot.pose("base")[:3, 3], robot.jacobian(frame)[:3, 6:]


@pytest.mark.parametrize("backend", ["numpy", "pinocchio", "mujoco"])
@equation("ETH 3.116", "virtual displacement of a point", wbc.Dynamics.jacobian)
def test_virtual_displacements_as_printed(backend: str) -> None:
    robot, rng = state("quadruped", 2, backend)
    q, dq = robot.q, 1e-6 * rng.normal(size=18)
    r, J = split(robot, "RF_foot")
    dr, dphi = dq[:3], robot.pose("base")[:3, :3] @ dq[3:6]  # our rotation of the base is in its axes
    printed = np.hstack([np.eye(3), -so3.skew(r), J]) @ np.concatenate([dr, dphi, dq[6:]])
    before = robot.pose("RF_foot")[:3, 3].copy()
    robot.update(robot.integrate(q, dq))
    assert np.allclose(robot.pose("RF_foot")[:3, 3] - before, printed, atol=1e-11)


@pytest.mark.parametrize("seed", range(3))
@equation("ETH 3.117", "balance of forces", VirtualModelControl)
@equation("ETH 3.118", "balance of moments", VirtualModelControl)
@equation("ETH 3.119", "torques of forces at points", VirtualModelControl)
@equation("ETH 3.120", "contact forces by pseudo-inverse", distribute)
@equation("ETH 3.121", "torques of virtual model control", VirtualModelControl.law)
def test_virtual_model_control_as_printed(seed: int) -> None:
    robot, rng = state("quadruped", seed)
    feet = contacts(robot)
    F_v, F_w = rng.normal(scale=30.0, size=3), rng.normal(scale=10.0, size=3)
    law = VirtualModelControl(
        robot, [ConstantForce("base", [*F_v, 0, 0, 0]), ConstantForce("LH_shank", [*F_w, 0, 0, 0])], feet
    )
    tick = wbc.Tick(robot, feet)
    tau = law.law(robot, tick)
    f = distribute(robot, tick, law.demand(robot, tick))
    F_c = -f.reshape(-1, 3)  # on the ground, as printed
    # gravity at every body's centre of mass
    F_g, r_g, J_g = [], [], []
    for body in robot.model.bodies.values():
        if body.mass:
            robot_J, T = robot.jacobian(body.name), robot.pose(body.name)
            arm = T[:3, :3] @ body.com
            F_g.append(body.mass * robot.model.gravity)
            r_g.append(T[:3, 3] + arm - robot.pose("base")[:3, 3])
            J_g.append((robot_J[:3] - so3.skew(arm) @ robot_J[3:])[:, 6:])
    r_v, J_v = zip(*(split(robot, frame) for frame in ("base", "LH_shank")), strict=True)
    r_c, J_c = zip(*(split(robot, foot.frame) for foot in feet), strict=True)
    virtual = [F_v, F_w]
    force = sum(F_g) - sum(virtual)
    moment = sum(map(np.cross, r_g, F_g)) - sum(map(np.cross, r_v, virtual))
    G = np.vstack([np.hstack([np.eye(3)] * 4), np.hstack([so3.skew(r) for r in r_c])])
    printed = np.linalg.pinv(G) @ np.concatenate([force, moment])
    assert np.allclose(F_c.ravel(), printed, atol=1e-8)  # (3.120)
    assert np.allclose(sum(F_g) - sum(virtual) - F_c.sum(axis=0), 0.0, atol=1e-8)  # (3.117)
    assert np.allclose(moment - sum(map(np.cross, r_c, F_c)), 0.0, atol=1e-8)  # (3.118)
    weight = sum(J.T @ F for J, F in zip(J_g, F_g, strict=True))
    asked = sum(J.T @ F for J, F in zip(J_v, virtual, strict=True))
    carried = sum(J.T @ F for J, F in zip(J_c, F_c, strict=True))
    assert np.allclose(tau, -weight + asked + carried, atol=1e-8)  # (3.121)
    assert np.allclose(tau + weight - asked - carried, 0.0, atol=1e-8)  # (3.119)


def test_base_force_and_moment_are_as_asked() -> None:
    """Whatever the distribution, the contacts give the base gravity and the virtual wrench, where they can."""
    robot = wbc.load("quadruped", "numpy")
    robot.update(robot.model.nominal)
    feet = contacts(robot)
    wrench = np.array([20.0, -15.0, 40.0, 3.0, 5.0, -4.0])
    for distribution in ("least-squares", "hierarchical-qp", "sequential-qp"):
        law = VirtualModelControl(robot, ConstantForce("base", wrench), feet, distribution=distribution)
        tick = wbc.Tick(robot, feet)
        f = distribute(robot, tick, law.demand(robot, tick), None if distribution == "least-squares" else law.solver)
        arms = [robot.pose(foot.frame)[:3, 3] - robot.pose("base")[:3, 3] for foot in feet]
        forces = f.reshape(-1, 3)
        weight = robot.mass * np.array([0, 0, 9.81])
        lever = np.cross(robot.com - robot.pose("base")[:3, 3], weight)
        assert np.allclose(forces.sum(axis=0), wrench[:3] + weight, atol=1e-5)
        assert np.allclose(sum(map(np.cross, arms, forces)), wrench[3:] + lever, atol=1e-5)


def test_the_distribution_keeps_to_the_cones_and_then_gives_what_it_can() -> None:
    robot = wbc.load("quadruped", "numpy")
    robot.update(robot.model.nominal)
    feet = contacts(robot, friction=0.4)
    pull = ConstantForce("base", [200.0, 0, 0, 0, 0, 0])  # two thirds of the weight, sideways
    least = VirtualModelControl(robot, pull, feet)
    bounded = VirtualModelControl(robot, pull, feet, distribution="hierarchical-qp")
    tick = wbc.Tick(robot, feet)
    demand = least.demand(robot, tick)
    outside = distribute(robot, tick, demand).reshape(-1, 3)
    inside = distribute(robot, tick, demand, bounded.solver).reshape(-1, 3)
    assert (np.linalg.norm(outside[:, :2], axis=1) > 0.4 * outside[:, 2]).any()
    assert (np.linalg.norm(inside[:, :2], axis=1) <= 0.4 * inside[:, 2] + 1e-6).all()
    assert 50.0 < inside[:, 0].sum() < 200.0 < outside[:, 0].sum() + 1e-6
    assert (inside[:, 2] > 40.0).all()
    limited = [wbc.PointContact(foot.frame, 0.4, maximum=30.0) for foot in feet[:1]] + feet[1:]
    within = distribute(robot, wbc.Tick(robot, limited), demand, "hierarchical-qp")
    assert within.reshape(-1, 3)[0, 2] <= 30.0 + 1e-6


def test_a_virtual_spring_is_a_spring_and_a_damper() -> None:
    robot, rng = state("quadruped", 4)
    T = robot.pose("base")
    target = np.eye(4)
    target[:3, :3], target[:3, 3] = so3.exp(rng.normal(size=3)) @ T[:3, :3], T[:3, 3] + rng.normal(size=3)
    spring = VirtualSpring("base", STIFFNESS, DAMPING, lambda t: (target, np.full(6, t), np.zeros(6)))
    wrench = spring.wrench(robot, 2.0)
    rate = 2.0 - robot.twist("base")
    assert np.allclose(wrench[:3], np.array(STIFFNESS)[:3] * (target - T)[:3, 3] + DAMPING[:3] * rate[:3])
    turn = so3.log(target[:3, :3] @ T[:3, :3].T)
    assert np.allclose(wrench[3:], np.array(STIFFNESS)[3:] * turn + np.array(DAMPING)[3:] * rate[3:])
    held = VirtualSpring("base", 100.0, 0.0)
    assert np.allclose(held.wrench(robot, 0.0), 0.0)  # it holds where it finds it
    robot.update(robot.model.nominal)
    assert np.abs(held.wrench(robot, 0.0)).max() > 1.0
    held.reset()
    assert np.allclose(held.wrench(robot, 0.0), 0.0)


@pytest.mark.parametrize("simulator", ["builtin", "mujoco"])
@pytest.mark.parametrize("distribution", ["least-squares", "hierarchical-qp"])
def test_the_quadruped_stands_on_virtual_springs_and_returns_after_a_push(simulator: str, distribution: str) -> None:
    robot = wbc.load("quadruped", "numpy")
    law = VirtualModelControl(
        robot, VirtualSpring("base", STIFFNESS, DAMPING), contacts(robot), distribution=distribution, period=2e-3
    )
    plant = wbc.Simulator(robot, timestep=2e-3) if simulator == "builtin" else wbc.MujocoSimulator(robot)
    log = wbc.run(law, plant, 1.4, disturbances=[wbc.Push("base", (0.0, 60.0, 0.0), 0.2, 0.2)])
    assert log.ended == "finished"
    moved = np.linalg.norm(log.q[:, :3] - log.q[0, :3], axis=1)
    assert 3e-3 < moved.max() < 0.05
    assert moved[-1] < 2e-3
    assert np.abs(log.v[-1]).max() < 0.02
    assert log.measured[-1, :, 2].sum() == pytest.approx(9.81 * robot.mass, rel=0.02)


def test_the_humanoid_stands_on_its_soles() -> None:
    robot = wbc.load("humanoid", "numpy")
    robot.update(robot.model.nominal)
    law = VirtualModelControl(robot, VirtualSpring("base", 5e3, 500.0), contacts(robot), distribution="hierarchical-qp")
    solution = law.step(robot.model.nominal, np.zeros(robot.nv))
    total = sum(force[:3] for force in solution.forces.values())
    assert np.allclose(total, [0, 0, 9.81 * robot.mass], atol=1.0)
    assert np.abs(solution.acceleration).max() < 1e-6  # everything is in balance
    assert solution.status == "optimal"


def test_of_a_fixed_base_the_joints_carry_all() -> None:
    robot, rng = state("arm", 0)
    F = rng.normal(scale=10.0, size=6)
    law = VirtualModelControl(robot, ConstantForce("tool", F))
    tau = law.step(robot.q, np.zeros(7)).torque
    assert np.allclose(tau, robot.gravity_force + robot.jacobian("tool").T @ F)


def test_bad_demands_are_named() -> None:
    robot, _ = state("quadruped", 0)
    with pytest.raises(wbc.WbcError, match="demand must be 18 finite numbers"):
        distribute(robot, wbc.Tick(robot, contacts(robot)), [1.0])


def test_a_robot_that_nothing_carries_is_told_so() -> None:
    robot = wbc.load("quadruped", "numpy")
    spring = wbc.classical.VirtualSpring("base", 500.0, 50.0)
    with pytest.warns(wbc.WbcWarning, match="'quadruped' has a floating base and no contacts: pass contacts="):
        wbc.classical.VirtualModelControl(robot, spring)
