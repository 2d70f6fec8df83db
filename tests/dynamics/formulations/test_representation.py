"""Equations of motion with the base's twist as left, right and mixed, against Pinocchio and against their own laws."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import wbc
from tests.dynamics.reference import PinocchioReference
from tests.equations import equation
from tests.robots import PACKAGED, REAL, Robot, load
from wbc.dynamics import Dynamics
from wbc.dynamics.formulations.representation import VelocityChange, base_representation
from wbc.geometry import pose, twist, wrench
from wbc.model import Body, Joint, Model

FLOATING = [robot for robot in [*PACKAGED, *REAL[4:6]] if robot.floating]
KINDS = {"left": pin.LOCAL, "mixed": pin.LOCAL_WORLD_ALIGNED, "right": pin.WORLD}
STEP = 1e-5

robots = pytest.mark.parametrize("robot", FLOATING, ids=lambda robot: robot.name)
representations = pytest.mark.parametrize("representation", KINDS)


def moving(robot: Robot | Dynamics, seed: int = 0):
    """A robot in a random state, turned and moving; its state, and a source of more randomness."""
    ours = robot if isinstance(robot, Dynamics) else load(robot, "numpy")
    rng = np.random.default_rng(seed)
    q, v = ours.random(rng), rng.normal(scale=2.0, size=ours.nv)
    ours.update(q, v)
    return ours, q, v, rng


def tip(ours: Dynamics) -> str:
    """A frame far from the base."""
    return [body.name for body in ours.model.bodies.values() if not body.virtual][-1]


def assert_close(found, expected, tolerance: float = 1e-10) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    error = np.abs(found - expected).max(initial=0.0)
    assert error <= tolerance * max(1.0, np.abs(expected).max(initial=0.0)), f"off by {error:.1e}"


def along(ours: Dynamics, q, v, vdot, measure):
    """d/dt measure() where the robot moves with v and v̇."""
    ends = []
    for t in (STEP, -STEP):
        ours.update(ours.integrate(q, v + vdot * t / 2, t), v + vdot * t)
        ends.append(measure())
    ours.update(q, v)
    return (ends[0] - ends[1]) / (2 * STEP)


@equation("TS 80", "equations of motion, moving base", VelocityChange.equations, base_representation)
@robots
def test_left_is_pinocchio(robot: Robot) -> None:
    for seed in range(5):
        ours, q, v, rng = moving(robot, seed)
        theirs = PinocchioReference(robot, ours)
        theirs.update(q, v)
        left, sort = base_representation(ours, "left"), theirs.sort
        sort[:6, :6] = np.eye(6)
        w = left.velocity(v)
        assert_close(sort @ w, theirs.v)
        M, C, g = left.equations(ours)
        assert_close(M, sort.T @ np.array(theirs.data.M) @ sort)
        assert_close(C @ w + g, sort.T @ np.array(theirs.data.nle))
        assert_close(g, sort.T @ pin.computeGeneralizedGravity(theirs.model, theirs.model.createData(), theirs.q))
        frame = tip(ours)
        number = theirs.model.getFrameId(frame, pin.FrameType.BODY)
        for kind, reference in KINDS.items():
            J = pin.computeFrameJacobian(theirs.model, theirs.data, theirs.q, number, reference) @ sort
            assert_close(left.jacobian(ours.jacobian(frame, kind)), J)
        vdot = rng.normal(size=ours.nv)
        wdot = left.acceleration(v, vdot)
        force = pin.rnea(theirs.model, theirs.model.createData(), theirs.q, theirs.v, sort @ wdot)
        assert_close(M @ wdot + C @ w + g, sort.T @ force)


@robots
@representations
def test_the_velocity_is_the_twist_of_the_base(robot: Robot, representation: str) -> None:
    ours, q, v, rng = moving(robot)
    change = base_representation(ours, representation)
    theirs = PinocchioReference(robot, ours)
    theirs.update(q, v)
    base = pin.getVelocity(theirs.model, theirs.data, 1, KINDS[representation]).vector
    assert_close(change.velocity(v), np.r_[base, v[6:]])
    # its derivative is that of the twist while the robot moves, by differences and by Pinocchio
    vdot = rng.normal(size=ours.nv)
    rate = along(ours, q, v, vdot, lambda: base_representation(ours, representation).velocity(ours.v))
    assert_close(change.acceleration(v, vdot), rate, 1e-8)
    assert_close(change.acceleration_back(change.velocity(v), change.acceleration(v, vdot)), vdot)
    B_rate = along(ours, q, v, vdot, lambda: base_representation(ours, representation).matrix)
    assert_close(change.derivative, B_rate, 1e-8)


@pytest.mark.parametrize("backend", ["pinocchio", "mujoco"])
@representations
def test_every_backend_says_the_same(backend: str, representation: str) -> None:
    for robot in FLOATING[:2]:
        ours, q, v, _ = moving(robot)
        other = load(robot, backend)
        other.update(q, v)
        found, expected = base_representation(other, representation), base_representation(ours, representation)
        for matrix, same in zip(found, expected, strict=True):
            assert_close(matrix, same)
        for part, same in zip(found.equations(other), expected.equations(ours), strict=True):
            assert_close(part, same, 1e-9)


@equation("TS 83", "equations of motion, unforced", VelocityChange.equations)
@robots
@representations
def test_energy_power_and_forces(robot: Robot, representation: str) -> None:
    ours, q, v, rng = moving(robot, 1)
    change = base_representation(ours, representation)
    M, C, g = change.equations(ours)
    w = change.velocity(v)
    assert_close(w @ M @ w / 2, ours.kinetic_energy)
    assert np.linalg.eigvalsh(M).min() > 0
    frame, wrench_there = tip(ours), rng.normal(scale=10.0, size=6)
    force = ours.jacobian(frame).T @ wrench_there + ours.passive_force
    force[6:] += rng.normal(scale=5.0, size=ours.nv - 6)
    assert_close(change.force(force) @ w, force @ v)
    vdot = np.linalg.solve(ours.mass_matrix, force - ours.bias - ours.passive_force)
    assert_close(M @ change.acceleration(v, vdot) + C @ w + g, change.force(force))
    assert_close(change.jacobian(ours.jacobian(frame)) @ w, ours.twist(frame))
    # left alone, in free fall and without joint friction, it keeps its energy (83)
    falling = np.linalg.solve(M, -C @ w - g)
    vdot = change.acceleration_back(w, falling)
    energy = lambda: np.array(ours.kinetic_energy + ours.potential_energy)  # noqa: E731
    assert abs(along(ours, q, v, vdot, energy)) < 1e-5 * (1 + np.abs(v) @ np.abs(ours.bias))


@robots
@representations
def test_mass_matrix_rate_less_twice_coriolis_is_skew(robot: Robot, representation: str) -> None:
    ours, q, v, _ = moving(robot, 2)
    C = base_representation(ours, representation).equations(ours).coriolis_matrix
    M_dot = along(
        ours,
        q,
        v,
        np.zeros(ours.nv),
        lambda: base_representation(ours, representation).equations(ours).mass_matrix,
    )
    N = M_dot - 2 * C
    assert np.abs(N + N.T).max() < 1e-6 * max(1.0, np.abs(C).max())
    assert np.abs(C).max() > 0.1


@robots
def test_base_rows_are_the_momentum_about_the_origin_of_the_twist(robot: Robot) -> None:
    """M w of the right twist: the momentum about the world's origin; of the mixed one: about the base."""
    ours, q, v, rng = moving(robot, 3)
    linear, angular = ours.momentum[:3], ours.momentum[3:]
    for representation, about in (("right", np.zeros(3)), ("mixed", ours.pose(ours.model.root)[:3, 3])):
        change = base_representation(ours, representation)
        M, C, _ = change.equations(ours)
        w = change.velocity(v)
        momentum = np.r_[linear, angular + np.cross(ours.com - about, linear)]
        assert_close((M @ w)[:6], momentum)
        vdot = rng.normal(size=ours.nv)
        wdot = change.acceleration(v, vdot)
        rate = along(ours, q, v, vdot, lambda r=representation: _momentum(ours, r))
        if representation == "mixed":  # the point moves: p × ṗ of the whole robot is in the equation's place
            rate[3:] += np.cross(v[:3], linear)
        assert_close((M @ wdot + C @ w)[:6], rate, 1e-7)


def _momentum(ours: Dynamics, representation: str) -> np.ndarray:
    change = base_representation(ours, representation)
    return (change.matrix.T @ ours.mass_matrix @ ours.v)[:6]


@equation("TS 70", "pose of a frame", Dynamics.pose)
@equation("TS 71", "a pose's change with the configuration", Dynamics.jacobian)
@equation("TS 72", "left displacement of a frame", pose.log6)
@equation("TS 73", "left displacement of the base", pose.exp6)
@equation("TS 74", "doubly left-trivialised Jacobian", VelocityChange.jacobian)
@robots
def test_doubly_left_jacobian_is_the_derivative_of_the_pose(robot: Robot) -> None:
    ours, q, _, _ = moving(robot, 4)
    frame, base = tip(ours), ours.model.root
    J = base_representation(ours, "left").jacobian(ours.jacobian(frame, "left"))
    H_E, H_B = ours.pose(frame), ours.pose(base)
    for column, unit in enumerate(np.eye(ours.nv)):
        ends = []
        for sign in (1, -1):
            moved = ours.integrate(q, np.r_[np.zeros(6), unit[6:]], sign * STEP)
            H = H_B @ pose.exp6(sign * STEP * unit[:6])
            moved[:3], moved[3:7] = H[:3, 3], wbc.geometry.quaternion.from_matrix(H[:3, :3])
            ours.update(moved)
            ends.append(pose.log6(pose.inverse(H_E) @ ours.pose(frame)))
        assert_close(J[:, column], (ends[0] - ends[1]) / (2 * STEP), 1e-8)


@equation("TS 75", "Jacobian between any frames", VelocityChange.jacobian)
@equation("TS 76", "transform of twist and joints", base_representation)
@robots
@representations
def test_jacobians_by_transforms(robot: Robot, representation: str) -> None:
    ours, _, _, _ = moving(robot, 5)
    frame, base = tip(ours), ours.model.root
    H_E, H_B = ours.pose(frame), ours.pose(base)
    doubly_left = base_representation(ours, "left").jacobian(ours.jacobian(frame, "left"))
    to = {"left": np.eye(6), "mixed": twist.left_to_mixed(H_E), "right": twist.left_to_right(H_E)}
    Y = np.eye(ours.nv)
    Y[:6, :6] = {"left": np.eye(6), "mixed": twist.mixed_to_left(H_B), "right": twist.right_to_left(H_B)}[
        representation
    ]
    to_mixed = {"left": twist.left_to_mixed(H_B), "mixed": np.eye(6), "right": twist.right_to_left(H_B)}[representation]
    if representation == "right":
        to_mixed = twist.left_to_mixed(H_B) @ to_mixed
    to_ours = np.eye(ours.nv)  # our angular velocity is in the base's axes
    to_ours[:6, :6] = to_mixed
    to_ours[3:6] = H_B[:3, :3].T @ to_ours[3:6]
    assert_close(base_representation(ours, representation).matrix, to_ours)
    for D, X in to.items():
        found = base_representation(ours, representation).jacobian(ours.jacobian(frame, D))
        assert_close(found, X @ doubly_left @ Y)


@equation("TS 77", "the base follows its twist", base_representation, Dynamics.integrate)
@equation("TS 78", "joints follow their rates", Dynamics.integrate)
@equation("TS 79", "the configuration follows its velocity", Dynamics.integrate)
@robots
@representations
def test_kinematics_of_the_configuration(robot: Robot, representation: str) -> None:
    ours, q, v, _ = moving(robot, 6)
    change = base_representation(ours, representation)
    w = change.velocity(v)
    H = ours.pose(ours.model.root)
    X = {"left": np.eye(6), "mixed": twist.mixed_to_left(H), "right": twist.right_to_left(H)}[representation]
    ends = []
    for t in (STEP, -STEP):
        moved = ours.integrate(q, change.matrix @ w, t)
        ours.update(moved)
        ends.append((ours.pose(ours.model.root), moved[7:]))
    rates = [(a - b) / (2 * STEP) for a, b in zip(*ends, strict=True)]
    assert_close(rates[0], H @ twist.hat(X @ w[:6]), 1e-8)
    assert_close(rates[1], w[6:], 1e-8)


@equation("TS 81", "contact Jacobian", Dynamics.generalized_force)
@equation("TS 82", "power of a contact wrench", wrench.power, Dynamics.generalized_force)
@robots
def test_contact_wrenches(robot: Robot) -> None:
    """At a contact frame that wanders over its link: the link's Jacobian, seen from where the contact is."""
    ours, _, v, rng = moving(robot, 7)
    link, mixed = tip(ours), base_representation(ours, "mixed")
    w = mixed.velocity(v)
    T_L_C = pose.exp6(rng.normal(scale=0.3, size=6))
    f_C = rng.normal(scale=10.0, size=6)  # in the contact frame
    J_left = mixed.jacobian(ours.jacobian(link, "left"))  # of the link, in its own frame
    power = wrench.power(wrench.transform(T_L_C) @ f_C, J_left @ w)
    J_C = twist.transform(pose.inverse(T_L_C)) @ J_left
    assert_close(wrench.power(f_C, J_C @ w), power)
    R = ours.pose(link)[:3, :3] @ T_L_C[:3, :3]
    in_world = np.r_[R @ f_C[:3], R @ f_C[3:]]
    ours_too = ours.generalized_force(link, in_world, T_L_C[:3, 3])
    assert_close(mixed.force(ours_too), J_C.T @ f_C)
    assert_close(mixed.force(ours_too) @ w, power)


def test_the_base_is_what_floats() -> None:
    """Not a part of the ground that the model has before it."""
    bodies = [Body("ground", 5.0), Body("b", 2.0, np.array([0.1, 0, 0]), np.eye(3))]
    joints = [Joint("bolt", "fixed", "world", "ground"), Joint("free", "floating", "world", "b")]
    robot, _, v, _ = moving(wbc.load(Model("two", bodies, joints), "numpy"))
    near = twist.mixed_to_left(robot.pose("b")) @ robot.twist("b")
    assert_close(base_representation(robot, "left").velocity(v), near)


def test_a_fixed_base_has_one_representation() -> None:
    robot = wbc.load("arm")
    robot.update(robot.model.nominal)
    with pytest.raises(wbc.WbcError, match="'arm' has no floating base"):
        base_representation(robot, "left")
    quadruped, *_ = moving(FLOATING[0])
    change = base_representation(quadruped, "left")
    with pytest.raises(wbc.WbcError, match=r"v must be finite numbers of shape \(18,\)"):
        change.velocity(np.zeros(17))
    with pytest.raises(wbc.WbcError, match=r"jacobian has shape \(6, 17\); expected \(rows, 18\)"):
        change.jacobian(np.zeros((6, 17)))
    with pytest.raises(wbc.WbcError, match="no representation 'lefft'; did you mean 'left'"):
        base_representation(quadruped, "lefft")
