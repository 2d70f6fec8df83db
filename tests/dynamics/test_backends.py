"""Every backend says the same of every robot, and the same as Pinocchio and MuJoCo by themselves."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest

import wbc
from tests.dynamics.reference import PinocchioReference
from tests.robots import ALL, BACKENDS, PACKAGED, Robot, load
from wbc.dynamics import Dynamics
from wbc.dynamics.formulations.projected import projected_newton_euler

STATES = 50
AGREEMENT = 1e-9  # relative to the largest entry of the quantity, or to what its terms add up from where they cancel

WHOLE = (
    "mass_matrix",
    "bias",
    "gravity_force",
    "com",
    "com_velocity",
    "com_jacobian",
    "com_bias",
    "momentum",
    "momentum_matrix",
    "momentum_bias",
    "kinetic_energy",
    "potential_energy",
)
OF_FRAME = ("pose", "twist", "jacobian", "jacobian_bias")


def states(robot: Dynamics, count: int = STATES, seed: int = 0):
    """Random states: any base rotation, joints over their whole range, several rad/s."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield robot.random(rng), rng.normal(scale=3.0, size=robot.nv), rng


def assert_same(what: str, found, expected, scale: float = 1.0) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, what
    error = np.abs(found - expected).max(initial=0.0)
    assert error <= AGREEMENT * max(scale, np.abs(expected).max(initial=0.0)), f"{what}: off by {error:.2e}"


def scale_of(name: str, v) -> float:
    """What the terms of a quantity of a frame are of the size of: those of a bias are products of two velocities."""
    return float(v @ v) if name == "jacobian_bias" else 1.0


@pytest.mark.parametrize("robot", ALL, ids=lambda robot: robot.name)
@pytest.mark.parametrize("backend", BACKENDS)
def test_backend_agrees_with_pinocchio_by_itself(robot: Robot, backend: str) -> None:
    ours = load(robot, backend)
    theirs = PinocchioReference(robot, ours)
    frames = [name for name in ours.frames if theirs.model.existFrame(name) and name != "world"]
    for q, v, rng in states(ours):
        ours.update(q, v)
        theirs.update(q, v)
        whole = theirs.whole()
        for name in WHOLE:
            if name == "bias":
                assert_same(name, ours.bias + ours.passive_force, whole["nonlinear"])
            else:
                assert_same(name, getattr(ours, name), whole[name])
        frame = frames[rng.integers(len(frames))]
        for name, expected in theirs.frame(frame).items():
            assert_same(f"{name} of {frame}", getattr(ours, name)(frame), expected, scale_of(name, v))
        vdot = rng.normal(scale=5.0, size=ours.nv)
        passive = ours.passive_force
        assert_same("inverse dynamics", ours.inverse_dynamics(q, v, vdot) + passive, theirs.inverse_dynamics(vdot))
        if ours.model.loops:  # Pinocchio's forward dynamics knows of none
            continue
        tau, wrench = rng.normal(scale=10.0, size=ours.na), rng.normal(scale=20.0, size=6)
        force = passive + ours.jacobian(frame).T @ wrench
        force[ours.actuated] += tau
        expected = theirs.forward_dynamics(force)
        # accelerations amplify rounding by the condition of the mass matrix: compare the forces that they stand for,
        # against the terms that these add up from
        found, M = ours.forward_dynamics(q, v, tau, {frame: wrench}), ours.mass_matrix
        terms = max(np.abs(force).max(), (np.abs(M) @ np.abs(expected)).max())
        assert_same("forward dynamics", M @ (found - expected), np.zeros(ours.nv), scale=float(terms))


@pytest.mark.parametrize("robot", ALL, ids=lambda robot: robot.name)
@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "numpy"])
def test_jacobian_derivatives_and_representations_agree(robot: Robot, backend: str) -> None:
    ours, other = load(robot, "numpy"), load(robot, backend)
    for q, v, rng in states(ours, 10):
        ours.update(q, v)
        other.update(q, v)
        frame = ours.frames[rng.integers(len(ours.frames))]
        for representation in ("mixed", "left", "right"):
            J, J_dot = ours.jacobian(frame, representation), ours.jacobian_derivative(frame, representation)
            assert_same(f"{representation} J", J, other.jacobian(frame, representation))
            assert_same(f"{representation} J_dot", J_dot, other.jacobian_derivative(frame, representation))
        bias = ours.jacobian_derivative(frame) @ v
        assert_same("J_dot v", ours.jacobian_bias(frame), bias, scale_of("jacobian_bias", v))


@pytest.mark.parametrize("robot", PACKAGED, ids=lambda robot: robot.name)
def test_our_robots_are_the_same_when_mujoco_reads_their_files(robot: Robot) -> None:
    spec = mujoco.MjSpec.from_file(str(robot.path))
    spec.compiler.fusestatic = False
    if robot.floating:
        spec.body("base").add_freejoint()
    for joint in load(robot, "numpy").model.joints.values():
        if joint.armature:
            spec.joint(joint.name).armature = joint.armature
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        theirs = wbc.load(spec.compile(), "mujoco")
    ours = load(robot, "numpy")
    for q, v, rng in states(ours, 20):
        ours.update(q, v)
        theirs.update(q, v)
        for name in WHOLE:
            assert_same(name, getattr(ours, name), getattr(theirs, name))
        frame = ours.frames[rng.integers(len(ours.frames))]
        for name in OF_FRAME:
            found, expected = getattr(ours, name)(frame), getattr(theirs, name)(frame)
            assert_same(f"{name} of {frame}", found, expected, scale_of(name, v))


@pytest.mark.parametrize("robot", ALL, ids=lambda robot: robot.name)
def test_recursive_and_projected_newton_euler_agree(robot: Robot) -> None:
    ours = load(robot, "numpy")
    armature = ours.model.armature
    for q, v, rng in states(ours, 5):
        ours.update(q, v)
        M, C, g = projected_newton_euler(ours)
        vdot = rng.normal(scale=5.0, size=ours.nv)
        projected = (M + np.diag(armature)) @ vdot + C @ v + g - ours.passive_force
        recursive = ours.inverse_dynamics(q, v, vdot)
        assert np.abs(projected - recursive).max() <= 1e-10 * max(1.0, np.abs(recursive).max())
        assert_same("M", M + np.diag(armature), ours.mass_matrix)
        assert_same("bias", C @ v + g - ours.passive_force, ours.bias)
        assert_same("gravity", g, ours.gravity_force)


@pytest.mark.parametrize("robot", PACKAGED, ids=lambda robot: robot.name)
def test_mass_matrix_rate_less_twice_coriolis_is_skew(robot: Robot) -> None:
    ours = load(robot, "numpy")
    step = 1e-6
    for q, v, _ in states(ours, 5):
        ours.update(q, v)
        C = projected_newton_euler(ours).coriolis_matrix
        matrices = []
        for sign in (1, -1):
            ours.update(ours.integrate(q, v, sign * step), v)
            matrices.append(ours.mass_matrix)
        N = (matrices[0] - matrices[1]) / (2 * step) - 2 * C
        assert np.abs(N + N.T).max() < 1e-6 * max(1.0, np.abs(C).max())
