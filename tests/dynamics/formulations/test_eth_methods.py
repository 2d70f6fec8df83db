"""The equations of motion of ETH 3.1–3.7 by each of its three methods, from energies and bodies alone.

Lagrange's method is the independent one: it knows no more than the poses, masses and velocities of the bodies, and
differentiates energies numerically.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import wbc
from tasks.motion import motion
from tests.equations import equation
from tests.robots import PACKAGED, Robot, load
from wbc.dynamics import Dynamics
from wbc.dynamics.formulations.projected import com_jacobian, momentum_rate, projected_newton_euler
from wbc.geometry import inertia, so3
from wbc.model import Body, Joint, Model

ROBOTS = pytest.mark.parametrize("robot", PACKAGED, ids=lambda robot: robot.name)
BACKENDS = pytest.mark.parametrize("backend", ["numpy", "pinocchio"])


def moving(robot: Robot, backend: str = "pinocchio", seed: int = 0):
    """A robot somewhere, in motion."""
    dynamics, rng = load(robot, backend), np.random.default_rng(seed)
    q, v = dynamics.random(rng), rng.normal(size=dynamics.nv)
    dynamics.update(q, v)
    return dynamics, q, v, rng


def bodies(robot: Dynamics):
    """The bodies that have a mass: each with its rotation, and where its centre of mass is."""
    for body in robot.model.bodies.values():
        if body.mass:
            T = robot.pose(body.name)
            yield body, T[:3, :3], T[:3, 3] + T[:3, :3] @ body.com


def derivative(function, h: float = 1e-3):
    """df/dt at t = 0 by differences of fourth order."""
    f = [np.asarray(function(t)) for t in (-2 * h, -h, h, 2 * h)]
    return (f[0] - f[3] + 8 * (f[2] - f[1])) / (12 * h)


def near(found, expected, tolerance: float = 1e-9) -> None:
    scale = max(1.0, float(np.abs(expected).max()))
    assert np.allclose(np.asarray(found) / scale, np.asarray(expected) / scale, atol=tolerance)


# --- Lagrange (3.4) ---------------------------------------------------------------------------------------------------


def kinetic(robot: Dynamics, q: np.ndarray, v: np.ndarray) -> float:
    """ETH (3.28), and what rotors (armature) have: T = Σ ½ m ṙ² + ½ Ωᵀ Θ Ω + ½ Σ I q̇²."""
    robot.update(q, v)
    total = 0.5 * float(v**2 @ robot.model.armature)
    for body, R, center in bodies(robot):
        w = robot.twist(body.name)
        speed, spin = w[:3] + np.cross(w[3:], center - robot.pose(body.name)[:3, 3]), R.T @ w[3:]
        total += 0.5 * body.mass * speed @ speed + 0.5 * spin @ body.inertia @ spin
    return float(total)


def potential(robot: Dynamics, q: np.ndarray) -> float:
    """ETH (3.32), (3.33): U = −Σ rᵀ F_g with F_g = m g e_g."""
    robot.update(q)
    return -sum(float(center @ (body.mass * robot.model.gravity)) for body, _, center in bodies(robot))


def momenta(robot: Dynamics, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """∂T/∂v: T is quadratic in v, so differences are exact."""
    return np.array([kinetic(robot, q, v + e) - kinetic(robot, q, v - e) for e in np.eye(robot.nv)]) / 2.0


def lagrange(robot: Dynamics, q: np.ndarray, v: np.ndarray, vdot: np.ndarray) -> np.ndarray:
    """d/dt ∂L/∂v − ∂L/∂q (ETH 3.27), along a path that begins with v and v̇.

    The velocity of a base's rotation is no rate of coordinates: there ∂L/∂q is the slope along turns about the base's
    own axes, and ω × ∂T/∂ω is added (Boltzmann and Hamel).
    """

    def slope(e: np.ndarray) -> float:
        return float(
            derivative(
                lambda t: kinetic(robot, robot.integrate(q, e * t), v) - potential(robot, robot.integrate(q, e * t))
            )
        )

    force = derivative(lambda t: momenta(robot, robot.integrate(q, v * t), v + vdot * t))
    force -= [slope(e) for e in np.eye(robot.nv)]
    if robot.model.floating:
        force[3:6] += np.cross(v[3:6], momenta(robot, q, v)[3:6])
    return force


@ROBOTS
@equation("ETH 3.26", "Lagrange's function", Dynamics.kinetic_energy, Dynamics.potential_energy)
@equation("ETH 3.27", "Lagrange's equation", Dynamics.inverse_dynamics, Dynamics.bias)
@equation("ETH 3.31", "mass matrix from kinetic energy", Dynamics.mass_matrix)
def test_lagranges_method_gives_mass_matrix_bias_and_gravity(robot: Robot) -> None:
    dynamics, q, v, rng = moving(robot)
    M, h = dynamics.mass_matrix, dynamics.bias + dynamics.passive_force
    g = dynamics.gravity_force
    units = np.eye(dynamics.nv)
    alone = [kinetic(dynamics, q, e) for e in units]
    found = np.zeros_like(M)
    for i, j in zip(*np.tril_indices(dynamics.nv), strict=True):
        found[i, j] = found[j, i] = kinetic(dynamics, q, units[i] + units[j]) - alone[i] - alone[j]
    near(found, M)  # (3.31): T = ½ vᵀ M v
    rest = np.zeros(dynamics.nv)
    near(lagrange(dynamics, q, rest, rest), g)
    near(lagrange(dynamics, q, v, rest), h)
    vdot = rng.normal(size=dynamics.nv)
    found = lagrange(dynamics, q, v, vdot)
    near(found, M @ vdot + h)
    dynamics.update(q, v)
    near(found, dynamics.inverse_dynamics(q, v, vdot) + dynamics.passive_force)  # (3.27)
    assert dynamics.kinetic_energy == pytest.approx(kinetic(dynamics, q, v), rel=1e-10)
    higher = dynamics.integrate(q, 0.1 * rng.normal(size=dynamics.nv))
    risen = potential(dynamics, higher) - potential(dynamics, q)
    dynamics.update(q)
    before = dynamics.potential_energy
    dynamics.update(higher)
    assert dynamics.potential_energy - before == pytest.approx(risen, rel=1e-8, abs=1e-10)  # (3.26)


@ROBOTS
@equation("ETH 3.28", "kinetic energy of the bodies", Dynamics.kinetic_energy)
@equation("ETH 3.29", "velocity of a centre of mass", Dynamics.jacobian)
@equation("ETH 3.30", "angular velocity of a body", Dynamics.jacobian)
@equation("ETH 3.32", "weight of a body", Dynamics.gravity_force)
@equation("ETH 3.33", "potential energy of gravity", Dynamics.potential_energy)
def test_energies_of_bodies_whose_velocities_are_rates_of_poses(robot: Robot) -> None:
    dynamics, q, v, _ = moving(robot)
    assert dynamics.kinetic_energy == pytest.approx(kinetic(dynamics, q, v), rel=1e-10)
    rest = dynamics.model.nominal  # bodies that never move have an energy too: differences do without them
    fallen = potential(dynamics, q) - potential(dynamics, rest)
    dynamics.update(rest)
    before = dynamics.potential_energy
    dynamics.update(q, v)
    assert dynamics.potential_energy - before == pytest.approx(fallen, rel=1e-9, abs=1e-9)
    energy = 0.5 * float(v**2 @ dynamics.model.armature)
    weights = np.zeros(dynamics.nv)
    for body, R, _ in bodies(dynamics):

        def place(t: float, body=body) -> tuple[np.ndarray, np.ndarray]:
            dynamics.update(dynamics.integrate(q, v * t))
            T = dynamics.pose(body.name)
            return T[:3, :3], T[:3, 3] + T[:3, :3] @ body.com

        speed = derivative(lambda t, place=place: place(t)[1])
        spin = so3.unskew(R.T @ derivative(lambda t, place=place: place(t)[0]))
        dynamics.update(q, v)
        J = dynamics.jacobian(body.name)
        near(speed, (J[:3] - so3.skew(R @ body.com) @ J[3:]) @ v, 1e-8)  # (3.29)
        near(R @ spin, J[3:] @ v, 1e-8)  # (3.30)
        weights += (J[:3] - so3.skew(R @ body.com) @ J[3:]).T @ (body.mass * dynamics.model.gravity)
        energy += 0.5 * body.mass * speed @ speed + 0.5 * spin @ body.inertia @ spin
    assert dynamics.kinetic_energy == pytest.approx(energy, rel=1e-8)
    near(dynamics.gravity_force, -weights)  # (3.32): at each centre of mass


# --- one body (3.2, 3.3) ----------------------------------------------------------------------------------------------


def free_body(rng: np.random.Generator) -> Dynamics:
    """A body that floats, its frame at its centre of mass."""
    R = so3.exp(rng.normal(size=3))
    body = Body("body", 2.5, np.zeros(3), R @ np.diag([0.02, 0.05, 0.04]) @ R.T)
    return wbc.load(Model("stone", [body], [Joint("free", "floating", "world", "body", actuated=False)]), "numpy")


@equation("ETH 3.2", "Newton's law", Dynamics.forward_dynamics)
@equation("ETH 3.18", "Newton and Euler for one body", Dynamics.forward_dynamics)
@equation("ETH 3.19", "linear momentum", Dynamics.momentum)
@equation("ETH 3.20", "angular momentum", Dynamics.momentum)
@equation("ETH 3.21", "rate of linear momentum", Dynamics.momentum_matrix, Dynamics.momentum_bias)
@equation("ETH 3.22", "rate of angular momentum", Dynamics.momentum_matrix, Dynamics.momentum_bias)
def test_newton_and_euler_for_one_body() -> None:
    rng = np.random.default_rng(0)
    robot = free_body(rng)
    q, v = robot.random(rng), rng.normal(scale=3.0, size=6)
    F, T = rng.normal(scale=5.0, size=(2, 3))
    robot.update(q, v)
    R, body = robot.pose("body")[:3, :3], robot.model.bodies["body"]
    theta, omega = R @ body.inertia @ R.T, R @ v[3:]  # in the world's axes
    weight = body.mass * robot.model.gravity
    vdot = robot.forward_dynamics(q, v, [], {"body": [*F, *T]})
    a, psi = vdot[:3], R @ vdot[3:]  # our v̇ has the angular acceleration in the body's axes
    near(body.mass * a, F + weight)  # (3.2), (3.18)
    near(theta @ psi + np.cross(omega, theta @ omega), T)  # (3.18)
    near(robot.momentum, np.concatenate([body.mass * v[:3], theta @ omega]))  # (3.19), (3.20)
    rate = robot.momentum_matrix @ vdot + robot.momentum_bias
    near(rate[:3], body.mass * a)  # (3.21)
    near(rate[3:], theta @ psi + np.cross(omega, theta @ omega))  # (3.22)


@pytest.mark.parametrize("robot", [robot for robot in PACKAGED if robot.floating], ids=lambda robot: robot.name)
@equation("ETH 3.24", "linear momentum and external forces", Dynamics.momentum_matrix, Dynamics.momentum_bias)
@equation("ETH 3.25", "angular momentum and external torques", Dynamics.momentum_matrix, Dynamics.momentum_bias)
def test_momentum_changes_by_external_forces_only(robot: Robot) -> None:
    dynamics, q, v, rng = moving(robot)
    model = dynamics.model
    foot, tau = [*model.feet, *model.wheels][0], rng.normal(scale=10.0, size=dynamics.na)
    F, T = rng.normal(scale=20.0, size=(2, 3))
    vdot = dynamics.forward_dynamics(q, v, tau, {foot: [*F, *T]})
    rate = dynamics.momentum_matrix @ vdot + dynamics.momentum_bias
    near(rate[:3], F + dynamics.mass * dynamics.model.gravity)
    near(rate[3:], np.cross(dynamics.pose(foot)[:3, 3] - dynamics.com, F) + T)


@equation("ETH 3.15", "mass of a body", inertia.spatial)
@equation("ETH 3.16", "centre of mass", inertia.spatial)
@equation("ETH 3.17", "inertia about the centre of mass", inertia.spatial)
def test_mass_centre_and_inertia_are_sums_over_particles() -> None:
    rng = np.random.default_rng(3)
    particles, masses = rng.normal(size=(50, 3)), rng.uniform(0.1, 1.0, 50)
    m, S = masses.sum(), masses @ particles / masses.sum()
    rho = particles - S
    theta = sum(dm * so3.skew(r) @ so3.skew(r).T for dm, r in zip(masses, rho, strict=True))  # (3.17)
    near(masses @ rho, np.zeros(3))  # (3.16)
    whole = inertia.spatial(masses, particles, np.zeros((50, 3, 3))).sum(axis=0)
    near(whole, inertia.spatial(m, S, theta))
    found_mass, found_S, found_theta = inertia.decompose(whole)
    near(found_mass, m)  # (3.15)
    near(found_S, S)
    near(found_theta, theta)


@equation("ETH 3.3", "Newton's law of a particle of a body", Dynamics.forward_dynamics)
@equation("ETH 3.13", "virtual work of a body's particles", Dynamics.forward_dynamics)
@equation("ETH 3.14", "virtual work of a body, integrated", inertia.spatial)
@equation("ETH 3.23", "virtual work by momenta", Dynamics.momentum_matrix, Dynamics.momentum_bias)
def test_virtual_work_of_a_bodys_particles() -> None:
    """A body of particles: what accelerates each is the force from outside and those that hold the body together."""
    rng = np.random.default_rng(7)
    masses, rho = rng.uniform(0.1, 1.0, 12), rng.normal(size=(12, 3))
    rho -= masses @ rho / masses.sum()
    theta = inertia.decompose(inertia.spatial(masses, rho, np.zeros((12, 3, 3))).sum(axis=0))[2]
    stone = Model("stone", [Body("body", masses.sum(), np.zeros(3), theta)], [Joint("f", "floating", "world", "body")])
    robot = wbc.load(stone, "numpy")
    q, v = robot.random(rng), rng.normal(size=6)
    robot.update(q, v)
    R = robot.pose("body")[:3, :3]
    rho, omega = rho @ R.T, R @ v[3:]
    outside = rng.normal(size=(12, 3))  # on each particle, weight aside
    F, T = outside.sum(axis=0), np.cross(rho, outside).sum(axis=0)
    vdot = robot.forward_dynamics(q, v, np.zeros(6), {"body": [*F, *T]})
    a, psi = vdot[:3], R @ vdot[3:]

    def along(t: float) -> np.ndarray:  # velocities of the particles
        now = so3.exp(omega * t + 0.5 * psi * t**2)
        return v[:3] + a * t + np.cross(omega + psi * t, rho @ now.T)

    acceleration = derivative(along)
    external = outside + masses[:, None] * stone.gravity
    inner = masses[:, None] * acceleration - external  # (3.3): r̈ dm = dF, of all forces; these hold it together
    assert np.abs(inner).max() > 0.1
    near(inner.sum(axis=0), np.zeros(3), 1e-8)
    near(np.cross(rho, inner).sum(axis=0), np.zeros(3), 1e-8)
    for delta_r, delta_phi in rng.normal(size=(5, 2, 3)):
        displaced = delta_r + np.cross(delta_phi, rho)
        near((displaced * inner).sum(), 0.0, 1e-8)  # (3.13)
        maps = [np.hstack([np.eye(3), -so3.skew(r)]) for r in rho]
        whole = sum(m * G.T @ G for m, G in zip(masses, maps, strict=True))
        near(whole, inertia.spatial(masses.sum(), np.zeros(3), R @ theta @ R.T))  # (3.14)'s integral
        spin = so3.skew(omega) @ so3.skew(omega)
        turned = sum(m * G.T @ spin @ r for m, G, r in zip(masses, maps, rho, strict=True))
        forces = sum(G.T @ f for G, f in zip(maps, external, strict=True))
        near(np.r_[delta_r, delta_phi] @ (whole @ np.r_[a, psi] + turned - forces), 0.0, 1e-8)  # (3.14)
        rate = robot.momentum_matrix @ vdot + robot.momentum_bias
        near(np.r_[delta_r, delta_phi] @ (rate - forces), 0.0, 1e-8)  # (3.23)


@ROBOTS
@equation("ETH 3.39", "momentum rates of a body", momentum_rate)
@equation("ETH 3.40", "virtual work of all bodies", momentum_rate)
def test_momenta_of_each_body_change_as_printed(robot: Robot) -> None:
    dynamics, q, v, rng = moving(robot, seed=4)
    tau = rng.normal(scale=5.0, size=dynamics.na)
    vdot = dynamics.forward_dynamics(q, v, tau)
    names = [body.name for body, _, _ in bodies(dynamics)]

    def momenta(t: float) -> np.ndarray:
        at, moves = dynamics.integrate(q, v * t + 0.5 * vdot * t**2), v + vdot * t
        dynamics.update(at, moves)
        found = []
        for body, R, _ in bodies(dynamics):
            V = com_jacobian(dynamics, body.name) @ moves
            found.append(np.concatenate([body.mass * V[:3], R @ body.inertia @ R.T @ V[3:]]))
        return np.array(found)

    by_time = derivative(momenta)
    dynamics.update(q, v)
    rates = np.array([momentum_rate(dynamics, name, vdot) for name in names])
    near(rates, by_time, 1e-6)  # (3.39), body by body
    # (3.40): joints do work on displacements that they allow by their motors, springs and rotors alone
    model, displaced = dynamics.model, rng.normal(size=dynamics.nv)
    work = 0.0
    for name, rate in zip(names, rates, strict=True):
        weight = np.concatenate([model.bodies[name].mass * model.gravity, np.zeros(3)])
        work += (com_jacobian(dynamics, name) @ displaced) @ (rate - weight)
    applied = dynamics.passive_force - model.armature * vdot
    applied[model.actuated] += tau
    near(work, displaced @ applied, 1e-8)


@equation("ETH example 3.3.1", "cart and pendulum", Dynamics.inverse_dynamics)
def test_a_cart_with_a_pendulum() -> None:
    """Newton and Euler by hand; the pendulum hangs at θ = 0 and swings towards positive x."""
    mc, mp, length, theta_p = 3.0, 1.2, 0.7, 0.05
    cart = Body("cart", mc, np.zeros(3), np.eye(3))
    rod = Body("rod", mp, np.array([0.0, 0.0, -length]), np.diag([0.05, theta_p, 0.03]))
    track = Joint("track", "prismatic", "world", "cart", axis=np.array([1.0, 0, 0]))
    pivot = Joint("pivot", "revolute", "cart", "rod", axis=np.array([0.0, -1.0, 0]), actuated=False)
    robot = wbc.load(Model("cart and pendulum", [cart, rod], [track, pivot]), "numpy")
    rng = np.random.default_rng(5)
    for _ in range(5):
        q, v, a = rng.uniform(-3, 3, (3, 2))
        angle, rate, (along, turn) = q[1], v[1], a
        c, s = np.cos(angle), np.sin(angle)
        # the pendulum's centre is at x + l sin θ, −l cos θ; what accelerates and holds it comes from the pivot
        push = mp * np.array([along + length * (turn * c - rate**2 * s), length * (turn * s + rate**2 * c) + 9.81])
        force = mc * along + push[0]
        torque = theta_p * turn + length * (c * push[0] + s * push[1])  # about its centre of mass
        near(robot.inverse_dynamics(q, v, a), [force, torque])


# --- displacements (3.2) ----------------------------------------------------------------------------------------------


@ROBOTS
@BACKENDS
@equation("ETH 3.4", "virtual displacement of a point", Dynamics.jacobian)
@equation("ETH 3.5", "position of a point of a body", motion)
@equation("ETH 3.6", "velocity of a point of a body", motion)
@equation("ETH 3.7", "acceleration of a point of a body", motion)
@equation("ETH 3.8", "virtual displacement of a body's point", motion)
@equation("ETH 3.9", "velocity of a body", Dynamics.twist, Dynamics.jacobian)
@equation("ETH 3.10", "acceleration of a body", Dynamics.jacobian_bias, Dynamics.jacobian_derivative)
@equation("ETH 3.11", "virtual displacement of a body", Dynamics.jacobian)
@equation("ETH 3.81", "acceleration of an end effector", Dynamics.jacobian_bias)
def test_points_of_moving_bodies(robot: Robot, backend: str) -> None:
    dynamics, q, v, rng = moving(robot, backend, 1)
    frame, vdot = dynamics.frames[-1], rng.normal(size=dynamics.nv)
    offset = np.eye(4)
    offset[:3, 3] = rng.normal(size=3)
    T, V, J = dynamics.pose(frame), dynamics.twist(frame), dynamics.jacobian(frame)
    A = J @ vdot + dynamics.jacobian_bias(frame)
    near(dynamics.jacobian_derivative(frame) @ v, dynamics.jacobian_bias(frame))
    near(J @ v, V)  # (3.9)
    rho = T[:3, :3] @ offset[:3, 3]
    seen = motion(dynamics, frame, offset)
    near(seen.position, T[:3, 3] + rho)  # (3.5)
    to_point = np.hstack([np.eye(3), -so3.skew(rho)])
    near(seen.velocity[:3], to_point @ V)  # (3.6)
    turning = so3.skew(V[3:])
    near(seen.jacobian[:3] @ vdot + seen.bias[:3], to_point @ A + turning @ turning @ rho)  # (3.7)

    def at(t: float) -> tuple[np.ndarray, np.ndarray]:
        dynamics.update(dynamics.integrate(q, v * t), v + vdot * t)
        return dynamics.twist(frame), motion(dynamics, frame, offset).velocity

    near(derivative(lambda t: at(t)[0]), A, 1e-8)  # (3.10), (3.81)
    near(derivative(lambda t: at(t)[1])[:3], to_point @ A + turning @ turning @ rho, 1e-8)

    dq = 1e-6 * vdot  # (3.4), (3.8), (3.11): displacements are as velocities, without time
    dynamics.update(dynamics.integrate(q, dq))
    moved = dynamics.pose(frame)
    body = np.concatenate([moved[:3, 3] - T[:3, 3], so3.log(moved[:3, :3] @ T[:3, :3].T)])
    assert np.allclose(body, J @ dq, atol=1e-10)
    assert np.allclose(moved[:3, :3] @ offset[:3, 3] + moved[:3, 3] - seen.position, to_point @ J @ dq, atol=1e-10)


# --- projected Newton–Euler (3.5) ---------------------------------------------------------------------------------


@ROBOTS
@equation("ETH 3.41", "bodies projected to coordinates", Dynamics.inverse_dynamics)
@equation("ETH 3.42", "bodies projected, by accelerations", Dynamics.inverse_dynamics)
@equation("ETH 3.43", "mass matrix, projected", projected_newton_euler, Dynamics.mass_matrix)
@equation("ETH 3.44", "Coriolis force, projected", projected_newton_euler, Dynamics.bias)
@equation("ETH 3.45", "gravity, projected", projected_newton_euler, Dynamics.gravity_force)
@equation("ETH 3.46", "mass matrix in convenient axes", Dynamics.mass_matrix)
@equation("ETH 3.47", "Coriolis force in convenient axes", Dynamics.bias)
@equation("ETH 3.48", "gravity in convenient axes", Dynamics.gravity_force)
def test_projected_newton_euler_as_printed(robot: Robot) -> None:
    dynamics, q, v, rng = moving(robot, seed=2)
    nv, vdot = dynamics.nv, rng.normal(size=dynamics.nv)
    M, b, g = np.zeros((nv, nv)), np.zeros(nv), np.zeros(nv)
    M_b, b_b = np.zeros((nv, nv)), np.zeros(nv)
    total = np.zeros(nv)
    for body, R, _ in bodies(dynamics):
        J, J_dot, omega = (
            dynamics.jacobian(body.name),
            dynamics.jacobian_derivative(body.name),
            dynamics.twist(body.name)[3:],
        )
        r = R @ body.com
        J_S = J[:3] - so3.skew(r) @ J[3:]
        J_S_dot = J_dot[:3] - so3.skew(r) @ J_dot[3:] - so3.skew(np.cross(omega, r)) @ J[3:]
        J_R, J_R_dot, theta, m = J[3:], J_dot[3:], R @ body.inertia @ R.T, body.mass
        gyroscopic = np.cross(omega, theta @ omega)
        M += m * J_S.T @ J_S + J_R.T @ theta @ J_R
        b += m * J_S.T @ J_S_dot @ v + J_R.T @ (theta @ J_R_dot @ v + gyroscopic)
        weight = m * dynamics.model.gravity
        g -= J_S.T @ weight
        # (3.39): both momenta; (3.41): what is left of them along the joints
        p_dot = m * (J_S @ vdot + J_S_dot @ v)
        N_dot = theta @ (J_R @ vdot + J_R_dot @ v) + gyroscopic
        total += J_S.T @ (p_dot - weight) + J_R.T @ N_dot
        # (3.46), (3.47): rotations in the body's axes
        B, w = R.T @ J_R, R.T @ omega
        B_dot = R.T @ J_R_dot - so3.skew(w) @ B
        M_b += m * J_S.T @ J_S + B.T @ body.inertia @ B
        b_b += m * J_S.T @ J_S_dot @ v + B.T @ (body.inertia @ B_dot @ v + np.cross(w, body.inertia @ w))
    found = projected_newton_euler(dynamics)
    for one in (M, M_b):
        near(found.mass_matrix, one)
        near(dynamics.mass_matrix, one + np.diag(dynamics.model.armature))
    for one in (b, b_b):
        near(found.coriolis_matrix @ v, one)
        near(dynamics.bias + dynamics.passive_force - dynamics.gravity_force, one)
    near(found.gravity_force, g)
    near(dynamics.gravity_force, g)
    needed = dynamics.inverse_dynamics(q, v, vdot) + dynamics.passive_force
    near(total, needed - dynamics.model.armature * vdot)  # (3.41), (3.42)


# --- forces and actuators (3.5.3, 3.7) --------------------------------------------------------------------------------


@ROBOTS
@BACKENDS
@equation("ETH 3.1", "equations of motion, fixed base", Dynamics.forward_dynamics, Dynamics.inverse_dynamics)
@equation("ETH 3.38", "equations of motion, projected", Dynamics.forward_dynamics)
@equation("ETH 3.49", "external forces", Dynamics.generalized_force)
@equation("ETH 3.50", "external torques", Dynamics.generalized_force)
@equation("ETH 3.51", "forces and torques together", Dynamics.generalized_force)
@equation("ETH 3.53", "all generalised forces", Dynamics.forward_dynamics)
@equation("ETH 3.55", "equations of motion, floating base", Dynamics.forward_dynamics)
@equation("ETH 3.56", "selection of the actuated joints", Dynamics.actuated)
@equation("ETH 3.57", "with the force on the environment", Dynamics.forward_dynamics)
def test_equations_of_motion_with_external_forces(robot: Robot, backend: str) -> None:
    dynamics, q, v, rng = moving(robot, backend, 3)
    tau, frame, point = rng.normal(scale=10.0, size=dynamics.na), dynamics.frames[-1], rng.normal(size=3)
    F, T = rng.normal(scale=10.0, size=(2, 3))
    S = np.zeros((dynamics.na, dynamics.nv))
    S[np.arange(dynamics.na), dynamics.actuated] = 1.0
    if dynamics.model.floating:
        assert np.array_equal(S, np.hstack([np.zeros((dynamics.na, 6)), np.eye(dynamics.na)]))
    assert np.array_equal(S @ v, v[dynamics.actuated])  # (3.56)
    J, arm = dynamics.jacobian(frame), dynamics.pose(frame)[:3, :3] @ point
    J_P, J_R = J[:3] - so3.skew(arm) @ J[3:], J[3:]
    near(dynamics.generalized_force(frame, F, point), J_P.T @ F)  # (3.49)
    near(dynamics.generalized_force(frame, [0, 0, 0, *T]), J_R.T @ T)  # (3.50)
    near(dynamics.generalized_force(frame, [*F, *T], point), J_P.T @ F + J_R.T @ T)  # (3.51)
    vdot = dynamics.forward_dynamics(q, v, tau, {frame: [*F, *T]})
    M, h = dynamics.mass_matrix, dynamics.bias
    near(M @ vdot + h, S.T @ tau + J[:3].T @ F + J_R.T @ T, 1e-8)  # (3.1), (3.38), (3.53), (3.55)
    near(dynamics.inverse_dynamics(q, v, vdot), M @ vdot + h, 1e-8)
    F_c = -np.concatenate([F, T])  # on the environment
    near(M @ vdot + h + J.T @ F_c, S.T @ tau, 1e-8)  # (3.57)


@pytest.mark.parametrize("name", ["arm", "quadruped"])
@equation("ETH 3.52", "an actuator between two bodies", Dynamics.actuated, Dynamics.generalized_force)
def test_an_actuator_pushes_two_bodies_against_each_other(name: str) -> None:
    robot = wbc.load(name, "numpy")
    rng = np.random.default_rng(4)
    robot.update(robot.random(rng))
    for number, joint in enumerate(joint for joint in robot.model.joints.values() if joint.actuated):
        axis = robot.pose(joint.child)[:3, :3] @ joint.axis
        both = robot.generalized_force(joint.child, [0, 0, 0, *axis])
        if joint.parent != "world":
            both = both - robot.generalized_force(joint.parent, [0, 0, 0, *axis])
        expected = np.zeros(robot.nv)
        expected[robot.actuated[number]] = 1.0
        near(both, expected)


def test_lagrange_would_notice_a_wrong_mass() -> None:
    """The check itself: the energies of an arm whose last body is heavier by a millionth are seen to be others."""
    robot = wbc.load("arm", "pinocchio")
    parts = [body for body in robot.model.bodies.values() if body.name != "world"]
    last = max(number for number, body in enumerate(parts) if body.mass)
    parts[last] = replace(parts[last], mass=parts[last].mass * (1 + 1e-6))
    other = wbc.load(Model("arm", parts, robot.model.joints.values()), "pinocchio")
    q, rest = np.full(7, 0.4), np.zeros(7)
    robot.update(q)
    assert np.abs(lagrange(robot, q, rest, rest) - robot.gravity_force).max() < 1e-9
    assert np.abs(lagrange(other, q, rest, rest) - robot.gravity_force).max() > 1e-7
