"""Lagrange's equations in coordinates (Liu–Jain sections 2–4), by differences of energies, points and rotations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import wbc
from tests.equations import equation
from tests.robots import PACKAGED, Robot
from wbc.dynamics import Dynamics
from wbc.dynamics.formulations.coordinates import ROTATIONS, Coordinates
from wbc.dynamics.formulations.projected import com_jacobian, com_jacobian_derivative, projected_newton_euler
from wbc.dynamics.formulations.representation import VelocityChange, base_representation
from wbc.geometry import convert, inertia, so3
from wbc.model import Body, Joint, Model

MINIMAL = [name for name in ROTATIONS if name != "quaternion"]
STEP = 1e-5


def bare(model: Model) -> Dynamics:
    """The rigid bodies alone: no rotors, dampers or friction."""
    none = {"armature": 0.0, "damping": 0.0, "friction": 0.0}
    joints = [replace(joint, **none) for joint in model.joints.values()]
    bodies = [body for body in model.bodies.values() if body.name != "world"]
    return wbc.load(Model(model.name, bodies, joints, nominal=model.nominal), "numpy")


def near(found, expected, tolerance: float = 1e-7) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    error = np.abs(found - expected).max(initial=0.0)
    assert error <= tolerance * max(1.0, np.abs(expected).max(initial=0.0)), f"off by {error:.1e}"


def slope(measure, x, direction=None):
    """The derivative of measure at x along a direction; without one, along each coordinate (last axis)."""
    if direction is None:
        return np.stack([slope(measure, x, unit) for unit in np.eye(len(x))], axis=-1)
    return (np.asarray(measure(x + STEP * direction)) - measure(x - STEP * direction)) / (2 * STEP)


# --- points (section 2) ------------------------------------------------------------------------------------------


def with_points(robot: Dynamics) -> tuple[tuple[str, ...], np.ndarray]:
    """Adds points to the links, six each, that have its mass, mass centre and inertia. Their names and masses."""
    names, masses = [], []
    for body in robot.model.bodies.values():
        if not body.mass:
            continue
        second, axes = np.linalg.eigh(0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia)  # ∫ r rᵀ dm
        for number, (moment, axis) in enumerate(zip(second, axes.T, strict=True)):
            for sign in (1, -1):
                names.append(f"{body.name} {sign * (number + 1)}")
                robot.add_frame(names[-1], body.name, body.com + sign * np.sqrt(3 * moment / body.mass) * axis)
                masses.append(body.mass / 6)
    return tuple(names), np.array(masses)


@equation("Liu-Jain 5", "inertial force by momentum", Dynamics.points)
@equation("Liu-Jain 9", "inertial force by energy", Dynamics.kinetic_energy)
@equation("Liu-Jain 11", "inertial force by each point's energy", Dynamics.kinetic_energy)
@equation("Liu-Jain 1", "points by generalised coordinates", Dynamics.points)
@equation("Liu-Jain 2", "virtual displacement of a point", Dynamics.points)
@equation("Liu-Jain 3", "virtual work, generalised force", Dynamics.generalized_force)
@equation("Liu-Jain 4", "d'Alembert's principle", Dynamics.inverse_dynamics)
@equation("Liu-Jain 6", "velocity of a point", Dynamics.points)
@equation("Liu-Jain 7", "velocity's slope with the rates", Dynamics.points)
@equation("Liu-Jain 8", "velocity's slope with the coordinates", Dynamics.jacobian_derivative)
@equation("Liu-Jain 10", "kinetic energy of points", Dynamics.kinetic_energy)
@equation("Liu-Jain 12", "a coordinate's virtual work, by energy", Dynamics.inverse_dynamics)
@equation("Liu-Jain 13", "Lagrange's equation", Dynamics.inverse_dynamics)
@equation("Liu-Jain 14", "equations of motion", Dynamics.inverse_dynamics)
@equation("Liu-Jain 15", "Jacobian of a point", Dynamics.points)
@equation("Liu-Jain 16", "mass matrix of points", Dynamics.mass_matrix)
@equation("Liu-Jain 17", "Coriolis force by M's derivatives", projected_newton_euler)
def test_a_robot_made_of_points() -> None:
    robot = bare(wbc.load("arm", "numpy").model)
    names, masses = with_points(robot)
    rng = np.random.default_rng(0)
    q, v, vdot = robot.random(rng), rng.normal(size=7), rng.normal(size=7)

    def positions(at):
        robot.update(at)
        return robot.points(names)[0]

    def velocities(at, rates):
        robot.update(at, rates)
        return np.concatenate([robot.twist(name)[:3] for name in names])

    def energy(at, rates):  # (10), (16)
        return 0.5 * np.repeat(masses, 3) @ velocities(at, rates) ** 2

    def jacobian_at(at):
        robot.update(at)
        return robot.points(names)[1]

    J = slope(positions, q)  # (2)
    robot.update(q, v)
    _, jacobian, bias = robot.points(names)
    near(jacobian, J)  # (15)
    near(velocities(q, v), J @ v)  # (6)
    near(slope(lambda rates: velocities(q, rates), v), J)  # (7)
    robot.update(q, v)
    J_dot = np.concatenate([robot.jacobian_derivative(name)[:3] for name in names])
    near(slope(lambda at: velocities(at, v), q), J_dot)  # (8)
    near(J_dot @ v, bias)

    robot.update(q, v)
    M, C, g = projected_newton_euler(robot)
    weights = np.repeat(masses, 3)[:, None]
    near(M, J.T @ (weights * J))
    near(robot.mass_matrix, M, 1e-12)
    near(energy(q, v), robot.kinetic_energy, 1e-12)

    forces = rng.normal(size=(len(names), 3))
    robot.update(q, v)
    Q = sum(robot.generalized_force(name, force) for name, force in zip(names, forces, strict=True))
    near(forces.ravel() @ (J @ vdot), Q @ vdot)  # (3), with v̇ for a displacement

    accelerations = J @ vdot + bias
    inertial = J.T @ (weights[:, 0] * accelerations)  # (4)
    near(robot.inverse_dynamics(q, v, vdot) - g, inertial)
    momentum = lambda t: jacobian_at(q + t[0] * v).T @ (weights[:, 0] * velocities(q + t[0] * v, v + t[0] * vdot))  # noqa: E731
    carried = slope(momentum, np.zeros(1), np.ones(1)) - J_dot.T @ (weights[:, 0] * velocities(q, v))
    near(carried, inertial)  # (5)
    along = slope(lambda t: slope(lambda rates: energy(q + t[0] * v, rates), v + t[0] * vdot), np.zeros(1), np.ones(1))
    lagrange = along - slope(lambda at: energy(at, v), q)  # (13)
    near(lagrange, inertial, 1e-5)  # (9), (11)
    robot.update(q, v)
    driven = robot.inverse_dynamics(q, v, vdot) - g  # all forces that are not inertial, by coordinate
    for displaced in rng.normal(size=(3, 7)):
        near(lagrange * displaced, driven * displaced, 1e-5)  # (12)

    def mass_matrix(at):
        robot.update(at)
        return robot.mass_matrix

    by_coordinate = slope(mass_matrix, q)
    coriolis = np.einsum("ijk,k,j->i", by_coordinate, v, v) - 0.5 * np.einsum("ijk,i,j->k", by_coordinate, v, v)
    near(C @ v, coriolis)  # (17)
    near(M @ vdot + coriolis, inertial)  # (14)


# --- a rigid body (sections 3 and 4) -----------------------------------------------------------------------------

MASS, INERTIA = 1.7, np.diag([0.3, 0.5, 0.6]) + 0.05 * (np.ones((3, 3)) - np.eye(3))


def one_body() -> Dynamics:
    model = Model("body", [Body("b", MASS, np.zeros(3), INERTIA)], [Joint("free", "floating", "world", "b")])
    return wbc.load(model, "numpy")


@equation("Liu-Jain 25", "kinetic energy, point by point", Dynamics.kinetic_energy)
@equation("Liu-Jain 18", "linear momentum", Dynamics.momentum)
@equation("Liu-Jain 19", "angular momentum of points", Dynamics.momentum)
@equation("Liu-Jain 20", "cross product as a matrix", so3.skew)
@equation("Liu-Jain 21", "angular momentum", Dynamics.momentum)
@equation("Liu-Jain 22", "Newton's equation", Dynamics.inverse_dynamics)
@equation("Liu-Jain 23", "Euler's equation", Dynamics.inverse_dynamics)
@equation("Liu-Jain 24", "Newton–Euler equations", Dynamics.inverse_dynamics)
@equation("Liu-Jain 26", "kinetic energy of a body", Dynamics.kinetic_energy)
@equation("Liu-Jain 27", "kinetic energy by one inertia matrix", inertia.spatial)
def test_newton_and_euler() -> None:
    robot, rng = one_body(), np.random.default_rng(1)
    names, masses = with_points(robot)
    q, v, vdot = robot.random(rng), rng.normal(size=6), rng.normal(size=6)
    robot.update(q, v)
    R, (linear, spin) = robot.pose("b")[:3, :3], np.split(robot.twist("b"), 2)
    positions, velocities = robot.points(names)[0].reshape(-1, 3), (robot.points(names)[1] @ v).reshape(-1, 3)
    arms, I_c = positions - q[:3], R @ INERTIA @ R.T
    crossed = np.array([so3.skew(arm) for arm in arms])
    x, y, z = arms[0]
    near(crossed[0], [[0, -z, y], [z, 0, -x], [-y, x, 0]], 0)  # (20)
    near(-np.einsum("n,nij,njk->ik", masses, crossed, crossed), I_c, 1e-12)
    near(robot.momentum, np.r_[MASS * linear, I_c @ spin], 1e-12)  # (18), (21)
    near(robot.momentum[3:], np.einsum("n,nij,nj->i", masses, crossed, velocities), 1e-12)  # (19)
    of_points = 0.5 * np.sum(masses[:, None] * (linear + np.cross(spin, arms)) ** 2)  # (25)
    near(robot.kinetic_energy, of_points, 1e-12)
    near(robot.kinetic_energy, 0.5 * MASS * linear @ linear + 0.5 * spin @ I_c @ spin, 1e-12)  # (26)
    V = np.r_[linear, spin]
    near(robot.kinetic_energy, 0.5 * V @ inertia.spatial(MASS, np.zeros(3), I_c) @ V, 1e-12)  # (27)
    # forces at the mass centre in the world's axes; ours takes the torque in the body's
    force = robot.inverse_dynamics(q, v, vdot) - robot.gravity_force
    spin_rate = R @ vdot[3:]  # ω × ω = 0
    near(force[:3], MASS * vdot[:3], 1e-12)  # (22)
    near(R @ force[3:], I_c @ spin_rate + np.cross(spin, I_c @ spin), 1e-12)  # (23)
    M_c = np.block([[MASS * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), I_c]])
    left = M_c @ np.r_[vdot[:3], spin_rate] + np.r_[np.zeros(3), np.cross(spin, I_c @ spin)]  # (24)
    near(np.r_[force[:3], R @ force[3:]], left, 1e-12)


@equation("Liu-Jain 33", "energy's slope with the rates", VelocityChange.equations)
@equation("Liu-Jain 34", "rate of energy's slope with rates", VelocityChange.equations)
@equation("Liu-Jain 35", "energy's slope with the coordinates", VelocityChange.equations)
@equation("Liu-Jain 36", "difference of energy's slopes", VelocityChange.equations)
@equation("Liu-Jain 40", "linear velocity's axes commute", com_jacobian, VelocityChange.jacobian)
@equation("Liu-Jain 41", "angular velocity's axes don't", com_jacobian, VelocityChange.jacobian)
@equation("Liu-Jain 44", "Lagrange's equation, one coordinate", VelocityChange.equations)
@equation("Liu-Jain 47", "Newton–Euler in coordinates", VelocityChange.equations)
@equation("Liu-Jain 28", "linear velocity in coordinates", com_jacobian, VelocityChange.jacobian)
@equation("Liu-Jain 29", "axes of the coordinates", com_jacobian, VelocityChange.jacobian)
@equation("Liu-Jain 30", "angular velocity in coordinates", com_jacobian, VelocityChange.jacobian)
@equation("Liu-Jain 31", "velocity of a body in coordinates", com_jacobian, VelocityChange.jacobian)
@equation("Liu-Jain 32", "kinetic energy in coordinates", VelocityChange.equations)
@equation("Liu-Jain 37", "energy's slope: turning inertia", projected_newton_euler)
@equation("Liu-Jain 38", "energy's slope: its coordinates", projected_newton_euler)
@equation("Liu-Jain 39", "energy's slope: moving axes", projected_newton_euler)
@equation("Liu-Jain 46", "Newton–Euler with the body's Jacobian", com_jacobian, com_jacobian_derivative)
@equation("Liu-Jain 42", "axes don't commute", com_jacobian, VelocityChange.jacobian)
@equation("Liu-Jain 43", "energy's slope: turning axes", projected_newton_euler)
@equation("Liu-Jain 45", "Lagrange's equations of a body", VelocityChange.equations)
@equation("Liu-Jain 48", "mass matrix, Coriolis, generalised force", VelocityChange.equations, VelocityChange.force)
@pytest.mark.parametrize("rotation", MINIMAL)
def test_a_body_in_coordinates(rotation: str) -> None:
    robot, probe, rng = one_body(), one_body(), np.random.default_rng(2)  # the probe is for differences
    coordinates = Coordinates(robot.model, rotation)
    x = coordinates.from_configuration(robot.random(rng))
    rates, second = rng.normal(size=6), rng.normal(size=6)
    B = lambda at: coordinates.rates_to_velocity(at)  # noqa: E731

    def pose(at):
        probe.update(coordinates.to_configuration(at))
        return probe.pose("b")

    def jacobian(at):
        pose(at)
        return com_jacobian(probe, "b") @ B(at)

    def central(at):
        R = pose(at)[:3, :3]
        return R @ INERTIA @ R.T

    def weighted(at):
        return np.block([[MASS * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), central(at)]])

    R, J = pose(x)[:3, :3], jacobian(x)
    near(J[:3], slope(lambda at: pose(at)[:3, 3], x))  # (28)
    by_R = slope(lambda at: pose(at)[:3, :3], x)
    near(J[3:], np.stack([so3.unskew(by_R[..., j] @ R.T) for j in range(6)], axis=-1))  # (29), (30)

    robot.update(coordinates.to_configuration(x), B(x) @ rates)
    change = coordinates.change(x, rates)
    M, C, g = change.equations(robot)
    near(change.jacobian(com_jacobian(robot, "b")) @ rates, robot.twist("b"), 1e-12)  # (31)
    near(0.5 * rates @ J.T @ weighted(x) @ J @ rates, robot.kinetic_energy, 1e-12)  # (32)
    near(M, J.T @ weighted(x) @ J, 1e-12)

    def energy(at, moving):
        probe.update(coordinates.to_configuration(at), B(at) @ moving)
        return probe.kinetic_energy

    W, J_w, spin = weighted(x), J[3:], J[3:] @ rates
    by_J, by_I = slope(jacobian, x), slope(central, x)  # ∂J/∂q_j on the last axis
    gyroscopic = J_w.T @ np.cross(spin, central(x) @ spin)
    near(J_w.T @ (by_I @ rates) @ spin, gyroscopic, 1e-6)  # (37)
    near(0.5 * np.einsum("i,ijk,j->k", spin, by_I, spin), -gyroscopic, 1e-6)  # (38)
    for j, k in ((3, 4), (4, 5), (5, 3), (2, 4)):
        near(by_J[3:, j, k] - by_J[3:, k, j], np.cross(J_w[:, k], J_w[:, j]))  # (42)
    turning = np.einsum("ijk,k->ij", by_J[3:], rates) - np.einsum("ijk,j->ik", by_J[3:], rates)
    near(turning.T @ central(x) @ spin, -gyroscopic, 1e-6)  # (41), (43)
    near(by_J[:3], np.swapaxes(by_J[:3], 1, 2))  # (40)

    # (33)–(36): the energy's slopes, by differences and by the Jacobian's and the inertia's
    J_rate, I_rate = np.einsum("ijk,k->ij", by_J, rates), by_I @ rates
    W_rate = np.block([[np.zeros((3, 6))], [np.zeros((3, 3)), I_rate]])
    near(slope(lambda moving: energy(x, moving), rates), J.T @ W @ J @ rates)  # (33)
    momentum_at = lambda at, moving: jacobian(at).T @ weighted(at) @ jacobian(at) @ moving  # noqa: E731
    carried = slope(lambda t: momentum_at(x + t[0] * rates, rates + t[0] * second), np.zeros(1), np.ones(1))
    four = J.T @ W @ J @ second + J.T @ W @ J_rate @ rates + J.T @ W_rate @ J @ rates + J_rate.T @ W @ J @ rates
    near(four, carried, 1e-6)  # (34)
    V = J @ rates
    by_x = np.einsum("ijk,j,i->k", by_J, rates, W @ V) + 0.5 * np.einsum("i,ijk,j->k", spin, by_I, spin)
    near(by_x, slope(lambda at: energy(at, rates), x), 1e-6)  # (35)
    near(four - by_x, J.T @ W @ (J @ second + J_rate @ rates) + gyroscopic, 1e-6)  # (36), (44), (47)

    for j in range(6):  # (39): J̇ of one axis, and the slope of all by one coordinate
        axis_rate, by_one = J_rate[:, j], by_J[:, :, j] @ rates
        fifth = axis_rate @ W @ V - by_one @ W @ V
        near(fifth, -gyroscopic[j], 1e-6)  # its linear part is nothing, by (40)

    # (45): with J̇ as the robot has it, and with differences of the energy
    J_dot = com_jacobian_derivative(robot, "b") @ change.matrix + com_jacobian(robot, "b") @ change.derivative
    near(J_dot, np.einsum("ijk,k->ij", by_J, rates))
    turned = np.zeros((6, 6))
    turned[3:, 3:] = so3.skew(spin)
    near(C, J.T @ weighted(x) @ J_dot + J.T @ turned @ weighted(x) @ J, 1e-6)
    near(M @ second + C @ rates + g, lagrange(probe, coordinates, x, rates, second), 1e-5)
    # (46): the wrench on the body, from its own Jacobian; what drives it is the generalised force along that
    on_body = W @ (J @ second + J_dot @ rates) + turned @ W @ J @ rates
    near(on_body[3:], central(x) @ (J @ second + J_dot @ rates)[3:] + np.cross(spin, central(x) @ spin), 1e-10)
    near(J.T @ on_body, M @ second + C @ rates, 1e-6)
    wrench = rng.normal(size=6)
    near(change.force(robot.generalized_force("b", wrench)), J[:3].T @ wrench[:3] + J[3:].T @ wrench[3:], 1e-12)


# --- whole robots ------------------------------------------------------------------------------------------------


def lagrange(robot: Dynamics, coordinates: Coordinates, x, rates, second) -> np.ndarray:
    """d/dt ∂T/∂ẋ − ∂T/∂x + ∂V/∂x by differences of the energies alone."""

    def energies(at, moving):
        robot.update(coordinates.to_configuration(at), coordinates.rates_to_velocity(at) @ moving)
        return np.array([robot.kinetic_energy, robot.potential_energy])

    def momentum(at, moving):  # ∂T/∂ẋ: exact for any step, T is quadratic
        pairs = [(energies(at, moving + unit), energies(at, moving - unit)) for unit in np.eye(len(at))]
        return np.array([(ahead[0] - behind[0]) / 2 for ahead, behind in pairs])

    ahead, behind = (momentum(x + t * rates, rates + t * second) for t in (STEP, -STEP))
    kinetic, potential = slope(lambda at: energies(at, rates), x)
    return (ahead - behind) / (2 * STEP) - kinetic + potential


@equation("TS 84", "Euler–Lagrange, which a twist does not obey", VelocityChange.equations)
def test_lagrange_does_not_hold_in_velocities_that_are_no_rates() -> None:
    """d/dt ∂L/∂w − ∂L/∂q = 0 in place of Hamel's equations misses the gyroscopic torque."""
    robot, rng = one_body(), np.random.default_rng(8)
    robot.update(robot.random(rng), rng.normal(scale=3.0, size=6))
    M, C, _ = base_representation(robot, "left").equations(robot)
    w = base_representation(robot, "left").velocity(robot.v)
    naive = np.zeros(6)  # of a constant M: ∂T/∂w = M w, ∂T/∂q = 0, so M ẇ alone
    assert np.abs(C @ w - naive).max() > 1.0
    spin, linear = w[3:], w[:3]
    missing = np.r_[MASS * np.cross(spin, linear), np.cross(spin, INERTIA @ spin)]
    near(C @ w, missing, 1e-12)  # that is what it misses
    near(M, np.block([[MASS * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), INERTIA]]), 1e-12)


@equation("Liu-Jain 59", "Lagrange's equations of a robot", VelocityChange.equations)
@equation(
    "Kindr transformation of equations of motion", "equations of motion in other velocities", VelocityChange.equations
)
@pytest.mark.parametrize("robot", PACKAGED, ids=lambda robot: robot.name)
def test_energies_give_the_equations_of_motion(robot: Robot) -> None:
    ours = wbc.load(robot.name, "numpy")
    rng = np.random.default_rng(3)
    for rotation in MINIMAL[:2]:
        coordinates = Coordinates(ours.model, rotation)
        x = coordinates.from_configuration(ours.random(rng))
        rates, second = rng.normal(size=(2, ours.nv))
        expected = lagrange(ours, coordinates, x, rates, second)
        ours.update(coordinates.to_configuration(x), coordinates.rates_to_velocity(x) @ rates)
        change = coordinates.change(x, rates)
        M, C, g = change.equations(ours)
        near(M @ second + C @ rates + g, expected, 1e-5)
        # and so do the equations in our own velocity: the force is the same one, seen by other rates
        v = ours.v
        vdot = change.acceleration_back(rates, second)
        force = ours.inverse_dynamics(ours.q, v, vdot) + ours.passive_force
        near(M @ second + C @ rates + g, change.force(force), 1e-9)
        # Kindr's h stands on the right-hand side, M u̇ = h + ..., hence the minus that is printed
        h_bar = -(ours.bias + ours.passive_force)
        h = change.matrix.T @ h_bar - change.matrix.T @ ours.mass_matrix @ change.derivative @ rates
        near(-(C @ rates + g), h, 1e-9)


@equation("Kindr generalised coordinates", "q̇ = F u and back", Coordinates.velocity_to_rates)
@pytest.mark.parametrize("rotation", ROTATIONS)
def test_coordinates_and_their_rates(rotation: str) -> None:
    robot, rng = wbc.load("quadruped", "numpy"), np.random.default_rng(4)
    coordinates = Coordinates(robot.model, rotation)
    for _ in range(10):
        q, v = robot.random(rng), rng.normal(size=robot.nv)
        x = coordinates.from_configuration(q)
        assert x.shape == (coordinates.size,)
        back = coordinates.to_configuration(x)
        near(robot.difference(q, back), np.zeros(robot.nv), 1e-13)
        F, F_bar = coordinates.velocity_to_rates(x), coordinates.rates_to_velocity(x)
        near(F_bar @ F, np.eye(robot.nv), 1e-9)
        if rotation == "quaternion":
            near(x, q, 0)
            w, a, b, c = q[3:7]
            H_bar = np.array([[-a, w, c, -b], [-b, -c, w, a], [-c, b, -a, w]])
            near(F[3:7, 3:6], H_bar.T / 2, 1e-15)
            near(F_bar[3:6, 3:7], 2 * H_bar, 1e-15)
            near(np.delete(np.delete(F, range(3, 7), 0), range(3, 6), 1), np.eye(15), 0)
        rates = F @ v
        ends = [coordinates.from_configuration(robot.integrate(q, v, t)) for t in (1e-6, -1e-6)]
        if np.abs(ends[0] - ends[1]).max() < 1e-3 and np.linalg.cond(F) < 100:
            near((ends[0] - ends[1]) / 2e-6, rates, 1e-6)
        near(F_bar @ rates, v, 1e-9)


def test_coordinates_refuse_what_they_cannot_do() -> None:
    model = wbc.load("quadruped").model
    with pytest.raises(wbc.WbcError, match="no parameterisation 'euler-zyw'; did you mean 'euler-zy"):
        Coordinates(model, "euler-zyw")
    x = Coordinates(model, "quaternion").from_configuration(model.nominal)
    with pytest.raises(wbc.WbcError, match="four rates for three directions"):
        Coordinates(model, "quaternion").change(x, np.zeros(19))
    with pytest.raises(wbc.WbcError, match=r"x has shape \(3,\); 'quadruped' needs \(18,\)"):
        Coordinates(model).to_configuration(np.zeros(3))


@equation("Liu-Jain 53", "rotation by an exponential map", so3.exp)
@equation("Liu-Jain 54", "Jacobian of the exponential map", so3.exp_jacobian)
@equation("Liu-Jain 55", "the rotation for small angles", so3.exp)
@equation("Liu-Jain 56", "exponential map's Jacobian, small angles", so3.exp_jacobian)
def test_a_joint_by_an_exponential_map() -> None:
    robot = wbc.load(Model("ball", [Body("b", 1.0)], [Joint("j", "spherical", "world", "b")]), "numpy")
    coordinates = Coordinates(robot.model)
    for size in (2.5, 1.0, 1e-3):
        x = size * np.array([2.0, -3.0, 6.0]) / 7
        S, one = so3.skew(x), np.eye(3)
        sine, cosine = np.sin(size), np.cos(size)
        R = one + sine / size * S + (1 - cosine) / size**2 * S @ S
        robot.update(coordinates.to_configuration(x))
        near(robot.pose("b")[:3, :3], R, 1e-14)  # (53)
        first = R @ (one - (1 - cosine) / size**2 * S + (size - sine) / size**3 * S @ S)
        second = one + (1 - cosine) / size**2 * S + (size - sine) / size**3 * S @ S
        near(first, second, 1e-12)
        near(robot.jacobian("b")[3:] @ coordinates.rates_to_velocity(x), second, 1e-12)  # (54)
        near(so3.exp_jacobian(x), second, 1e-12)
    assert np.abs(so3.exp(x) - (one + S + S @ S / 2)).max() < size**3  # (55)
    assert np.abs(so3.exp_jacobian(x) - (one + S / 2 + S @ S / 6)).max() < size**3  # (56)


def test_the_rotation_of_coordinates_is_convert() -> None:
    model = Model("ball", [Body("b", 1.0)], [Joint("j", "spherical", "world", "b")])
    q = np.array([0.5, -0.1, 0.7, 0.5]) / np.linalg.norm([0.5, -0.1, 0.7, 0.5])
    for rotation in ROTATIONS:
        near(Coordinates(model, rotation).from_configuration(q), convert(q, "quaternion", rotation), 0)
