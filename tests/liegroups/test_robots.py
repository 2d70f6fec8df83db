"""A single body is a robot with one joint: the same numbers from our backends, from Pinocchio and from MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

import wbc
from tests.robots import BACKENDS
from wbc.geometry import quaternion
from wbc.liegroups import RigidBody
from wbc.model import Body, Joint, Model

from .printed import LOPSIDED

AXES = {"x": [1.0, 0.0, 0.0], "y": [0.0, 1.0, 0.0], "z": [0.0, 0.0, 1.0]}
JOINTS = {
    "SE(3)": ["floating"],
    "SO(3)": ["spherical"],
    "SE(2)": ["planar z"],
    "X(z)": ["prismatic x", "prismatic y", "prismatic z", "continuous z"],
    "R3": ["prismatic x", "prismatic y", "prismatic z"],
    "R2": ["prismatic x", "prismatic y"],
    "SO(2)": ["continuous z"],
    "R": ["prismatic x"],
}


def robot_in(name, backend):
    """The lopsided body behind joints that let it move in the group."""
    bodies, joints, parent = [], [], "world"
    for number, words in enumerate(JOINTS[name], 1):
        kind, _, axis = words.partition(" ")
        child = LOPSIDED if number == len(JOINTS[name]) else Body(f"slide {number}")
        joints.append(Joint(f"joint {number}", kind, parent, child.name, axis=np.array(AXES[axis or "x"])))
        bodies.append(child)
        parent = child.name
    return wbc.load(Model(name, bodies, joints), backend)


@pytest.mark.parametrize("name", JOINTS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_body_is_a_robot_with_a_joint(backend, name):
    robot, body = robot_in(name, backend), RigidBody(LOPSIDED, name)
    group, rng = body.group, np.random.default_rng(8)
    for _ in range(3):
        q, v, vdot = robot.random(rng), *rng.normal(scale=2.0, size=(2, robot.nv))
        robot.update(q, v)
        T = robot.pose(LOPSIDED.name)
        B = group.velocity_map(T)  # v of the robot from that of the body
        mine = np.linalg.solve(B, v)
        np.testing.assert_allclose(robot.twist(LOPSIDED.name)[:3], T[:3, :3] @ group.twist(mine)[:3], atol=1e-12)
        # B = (R, 1) in blocks, so d/dt (B v) has the term R (ω × v) in its linear part
        V = group.twist(mine)
        turning = np.append(T[:3, :3] @ np.cross(V[3:], V[:3]), np.zeros(3))
        drift = group.selection.T @ turning
        change = np.linalg.solve(B, vdot - drift)
        np.testing.assert_allclose(B.T @ robot.mass_matrix @ B, body.mass_matrix, atol=1e-11)
        tau = body.inverse_dynamics(T, mine, change)
        np.testing.assert_allclose(B.T @ robot.inverse_dynamics(q, v, vdot), tau, atol=1e-10)
        np.testing.assert_allclose(B.T @ robot.gravity_force, body.gravity_force(T), atol=1e-11)
        np.testing.assert_allclose(B.T @ (robot.bias + robot.mass_matrix @ drift), body.bias(T, mine), atol=1e-10)
        assert robot.kinetic_energy == pytest.approx(body.kinetic_energy(mine), abs=1e-11)
        assert robot.potential_energy == pytest.approx(body.potential_energy(T), abs=1e-11)


@pytest.mark.parametrize(("name", "joint"), [("SE(3)", "JointModelFreeFlyer"), ("SO(3)", "JointModelSpherical")])
def test_pinocchio_by_itself(name, joint):
    """Its free and spherical joints have the velocity of the body, as here: no conversion at all."""
    pin = pytest.importorskip("pinocchio")
    model = pin.Model()
    number = model.addJoint(0, getattr(pin, joint)(), pin.SE3.Identity(), "joint")
    model.appendBodyToJoint(number, pin.Inertia(LOPSIDED.mass, LOPSIDED.com, LOPSIDED.inertia), pin.SE3.Identity())
    data, body, rng = model.createData(), RigidBody(LOPSIDED, name), np.random.default_rng(9)
    for _ in range(3):
        q, (v, vdot) = (
            pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq)),
            rng.normal(size=(2, model.nv)),
        )
        pin.computeAllTerms(model, data, q, v)
        T = data.oMi[number].homogeneous
        np.testing.assert_allclose(data.M, body.mass_matrix, atol=1e-13)
        np.testing.assert_allclose(data.nle, body.bias(T, v), atol=1e-12)
        np.testing.assert_allclose(pin.aba(model, data, q, v, vdot), body.forward_dynamics(T, v, vdot), atol=1e-11)
        C = pin.computeCoriolisMatrix(model, data, q, v)
        np.testing.assert_allclose(C @ v, body.coriolis_matrix(v) @ v, atol=1e-12)


def test_mujoco_by_itself():
    """Its free joint has the linear velocity in the world and the angular one in the body, as robots here."""
    mujoco = pytest.importorskip("mujoco")
    com, (xx, xy, xz), (_, yy, yz), (_, _, zz) = LOPSIDED.com, *LOPSIDED.inertia
    inertia = f'pos="{com[0]} {com[1]} {com[2]}" fullinertia="{xx} {yy} {zz} {xy} {xz} {yz}"'
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><body><freejoint/><inertial mass="2" {inertia}/></body></worldbody></mujoco>'
    )
    data, body, rng = mujoco.MjData(model), RigidBody(LOPSIDED), np.random.default_rng(10)
    for _ in range(3):
        turn = quaternion.normalize(rng.normal(size=4))
        data.qpos[:], data.qvel[:] = [*rng.normal(size=3), *turn], rng.normal(scale=2.0, size=6)
        mujoco.mj_forward(model, data)
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = quaternion.to_matrix(turn), data.qpos[:3]
        B = body.group.velocity_map(T)
        v = np.linalg.solve(B, data.qvel)
        free_fall = B @ body.forward_dynamics(T, v) + np.append(T[:3, :3] @ np.cross(v[3:], v[:3]), np.zeros(3))
        np.testing.assert_allclose(data.qacc, free_fall, atol=1e-8)
        M = np.zeros((6, 6))
        for row, e in zip(M, np.eye(6), strict=True):
            mujoco.mj_mulM(model, data, row, e)
        np.testing.assert_allclose(B.T @ M @ B, body.mass_matrix, atol=1e-9)
