"""The rows of ETH 3.10.4 in x = (u̇, F_c, τ), as printed; our force is on the robot, F_c on the environment."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import contacts, moving_state
from tests.equations import equation

NONE = wbc.Gains(kp=0.0, kd=0.0)


def somewhere(name: str, seed: int):
    robot, rng = wbc.load(name, "numpy"), np.random.default_rng(seed)
    q, v = (
        moving_state(robot, rng, 0.3, 1.0) if robot.model.floating else (robot.random(rng), rng.normal(size=robot.nv))
    )
    robot.update(q, v)
    return robot, rng


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
@equation("ETH 3.109", "the unknowns of a tick", wbc.Tick)
@equation("ETH 3.110", "equation of motion as rows", tasks.EquationOfMotion)
@equation("ETH 3.111", "a motion as rows", tasks.EndEffectorAcceleration)
@equation("ETH 3.112", "a force as rows", tasks.ContactForce)
@equation("ETH 3.113", "least torque as rows", tasks.TorqueMinimization)
def test_tasks_of_floating_bases_as_printed(name: str) -> None:
    robot, rng = somewhere(name, 1)
    feet = contacts(robot)
    tick = wbc.Tick(robot, feet)
    nv, na, nf = robot.nv, robot.na, tick.nf
    J = tick.contact_jacobian(robot)
    S = np.eye(nv)[robot.actuated]
    udot, f, tau = rng.normal(size=nv), rng.normal(size=nf), rng.normal(size=na)
    x = np.zeros(tick.n)
    x[tick.acceleration], x[tick.force], x[tick.torque] = udot, f, tau
    assert np.array_equal(x, np.concatenate([udot, f, tau]))  # (3.109), with f = −F_c
    g = robot.gravity_force
    b = robot.bias - g
    A, right = tasks.EquationOfMotion().matrices(robot, tick)
    printed = np.hstack([robot.mass_matrix, J.T, -S.T])
    assert np.allclose(A @ x, printed @ np.concatenate([udot, -f, tau]))  # (3.110)
    assert np.allclose(right, -b - g)
    wanted = rng.normal(size=6)
    frame = robot.model.feet[0]
    motion = tasks.EndEffectorAcceleration(frame, robot.pose(frame), NONE, acceleration=wanted)
    A, right = motion.matrices(robot, tick)
    assert np.allclose(A, np.hstack([robot.jacobian(frame), np.zeros((6, nf + na))]))  # (3.111)
    rate = (robot.jacobian_derivative(frame)) @ robot.v  # J̇ u; J u is printed
    assert np.allclose(right, wanted - rate, atol=1e-9)
    A, right = tasks.ContactForce(feet[0].name, [1.0, 2.0, 30.0]).matrices(robot, tick)
    pick = np.zeros((3, nf))
    pick[:, :3] = np.eye(3)
    assert np.allclose(A, np.hstack([np.zeros((3, nv)), pick, np.zeros((3, na))]))  # (3.112)
    assert np.array_equal(right, [1.0, 2.0, 30.0])
    A, right = tasks.TorqueMinimization().matrices(robot, tick)
    assert np.array_equal(A, np.hstack([np.zeros((na, nv + nf)), np.eye(na)]))  # (3.113)
    assert not right.any()


@equation("ETH 3.114", "equation of motion of an arm as rows", tasks.EquationOfMotion)
@equation("ETH 3.115", "joint accelerations as rows", tasks.JointAcceleration)
def test_tasks_of_example_3_10_1_as_printed() -> None:
    robot, rng = somewhere("arm", 2)
    tick, none = wbc.Tick(robot), np.zeros((7, 0))
    A, right = tasks.EquationOfMotion().matrices(robot, tick)
    assert np.allclose(A, np.hstack([robot.mass_matrix, none, -np.eye(7)]))
    assert np.allclose(right, -(robot.bias - robot.gravity_force) - robot.gravity_force)
    wanted = rng.normal(size=7)
    A, right = tasks.JointAcceleration(robot.q, gains=NONE, acceleration=wanted).matrices(robot, tick)
    assert np.allclose(A, np.hstack([np.eye(7), none, np.zeros((7, 7))]))
    assert np.allclose(right, wanted)
