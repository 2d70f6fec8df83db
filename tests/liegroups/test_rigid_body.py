"""Equations of motion of single bodies: what the paper prints for each group, and against differences of energies."""

from __future__ import annotations

import numpy as np
import pytest

import wbc
from tests.equations import equation
from wbc import WbcError
from wbc.geometry import inertia, pose, so3, twist
from wbc.liegroups import Group, RigidBody

from .printed import LOPSIDED, NAMES, ad, brick, tilde_ad

each = pytest.mark.parametrize("name", NAMES)
MASS, (IX, IY, IZ) = 2.0, np.diag(brick().inertia)


def free(name, body=LOPSIDED):
    return RigidBody(body, name, gravity=np.zeros(3))


def state(body, seed=0):
    """A pose in the group, velocities, accelerations."""
    T, v, vdot = np.random.default_rng(seed).normal(size=(3, body.group.dimension))
    return body.group.exp(T), v, vdot


def force_of(name, v, vdot):
    """τ of a free brick about its principal axes."""
    return free(name, brick()).inverse_dynamics(np.eye(4), v, vdot)


# --- component by component -------------------------------------------------------------------------------------------


@equation("From 1", "Euler's equations without torques", RigidBody.forward_dynamics)
def test_eulers_equations():
    body = free("SO(3)")
    T, omega, _ = state(body)
    M = body.mass_matrix
    np.testing.assert_allclose(M @ body.forward_dynamics(T, omega), np.cross(M @ omega, omega), atol=1e-13)


@equation("From 2", "Euler's equation about x", RigidBody.inverse_dynamics)
@equation("From 3", "Euler's equation about y", RigidBody.inverse_dynamics)
@equation("From 4", "Euler's equation about z", RigidBody.inverse_dynamics)
def test_eulers_equations_about_principal_axes():
    (p, q, r), (pdot, qdot, rdot) = v, vdot = np.array([0.7, -1.1, 2.0]), np.array([0.2, 0.5, -0.3])
    printed = [IX * pdot - (IY - IZ) * q * r, IY * qdot - (IZ - IX) * r * p, IZ * rdot - (IX - IY) * p * q]
    np.testing.assert_allclose(force_of("SO(3)", v, vdot), printed, atol=1e-14)


@equation("From 5", "Euler's equations in matrices", RigidBody.coriolis_matrix)
@equation("From 70", "Euler's equations from ad~", RigidBody.inverse_dynamics)
@equation("From 71", "Euler's equations as cross product", RigidBody.inverse_dynamics)
def test_eulers_equations_in_matrices():
    body = free("SO(3)")
    T, omega, change = state(body)
    M, tau = body.mass_matrix, body.inverse_dynamics(T, omega, change)
    np.testing.assert_allclose(body.coriolis_matrix(omega, "velocity"), so3.skew(omega) @ M, atol=1e-14)
    np.testing.assert_allclose(tau, M @ change + so3.skew(omega) @ M @ omega, atol=1e-13)
    np.testing.assert_allclose(tau, M @ change - np.cross(M @ omega, omega), atol=1e-13)


@equation("From section 4.2", "Newton-Euler equations of six components", RigidBody.inverse_dynamics)
def test_components_on_se3():
    """The last line is printed with + I_y r q; it is + I_y q p, as (4) has it."""
    (u, v, w, p, q, r), dot = V, change = np.random.default_rng(1).normal(size=(2, 6))
    printed = [
        MASS * dot[0] - MASS * r * v + MASS * q * w,
        MASS * dot[1] + MASS * r * u - MASS * p * w,
        MASS * dot[2] - MASS * q * u + MASS * p * v,
        IX * dot[3] - IY * r * q + IZ * q * r,
        IY * dot[4] + IX * r * p - IZ * p * r,
        IZ * dot[5] - IX * q * p + IY * q * p,
    ]
    np.testing.assert_allclose(force_of("SE(3)", V, change), printed, atol=1e-13)


@equation("From 86", "planar motion in matrices", RigidBody.inverse_dynamics)
@equation("From 87", "planar motion of three components", RigidBody.inverse_dynamics)
def test_components_on_se2():
    (u, v, r), (udot, vdot, rdot) = V, change = np.random.default_rng(2).normal(size=(2, 3))
    M = np.diag([MASS, MASS, IZ])
    tau = force_of("SE(2)", V, change)
    np.testing.assert_allclose(tau, M @ change - np.array([[0, r, 0], [-r, 0, 0], [v, -u, 0]]) @ M @ V, atol=1e-14)
    printed = [MASS * udot - MASS * r * v, MASS * vdot + MASS * r * u, IZ * rdot]
    np.testing.assert_allclose(tau, printed, atol=1e-14)


@equation("From 96", "Schönflies motion of four components", RigidBody.inverse_dynamics)
def test_components_on_the_schoenflies_group():
    (u, v, _, r), (udot, vdot, wdot, rdot) = V, change = np.random.default_rng(3).normal(size=(2, 4))
    printed = [MASS * udot - MASS * r * v, MASS * vdot + MASS * r * u, MASS * wdot, IZ * rdot]
    np.testing.assert_allclose(force_of("X(z)", V, change), printed, atol=1e-14)


@equation("From section 4.5", "translation of three components", RigidBody.inverse_dynamics)
@pytest.mark.parametrize(("name", "M"), [("R3", [MASS] * 3), ("R2", [MASS] * 2), ("R", [MASS]), ("SO(2)", [IZ])])
def test_components_without_coriolis_forces(name, M):
    V, change = np.random.default_rng(4).normal(size=(2, len(M)))
    np.testing.assert_allclose(force_of(name, V, change), np.array(M) * change, atol=1e-14)


# --- in matrices ------------------------------------------------------------------------------------------------------


@equation("From 60", "kinetic energy and reduced inertia", RigidBody.kinetic_energy)
@equation("From 14", "momentum is the gradient of energy", RigidBody.momentum)
@each
def test_energy_and_momentum(name):
    body = free(name)
    _, v, _ = state(body)
    V = body.group.twist(v)
    assert body.kinetic_energy(v) == pytest.approx(0.5 * V @ body.inertia @ V)
    slope = [(body.kinetic_energy(v + e) - body.kinetic_energy(v - e)) / 2 for e in np.eye(len(v))]
    np.testing.assert_allclose(body.momentum(v), slope, atol=1e-13)


@equation("From 63", "inertia matrix of SO(3)", RigidBody)
def test_inertia_of_so3():
    np.testing.assert_allclose(free("SO(3)", brick()).mass_matrix, np.diag([IX, IY, IZ]), atol=1e-16)


@equation("From 61", "inertia seen from the world", inertia.change_frame)
def test_energy_from_the_spatial_twist():
    body = free("SE(3)")
    T, v, _ = state(body)
    to_body = twist.transform(pose.inverse(T))
    from_world, V = inertia.change_frame(body.inertia, T), twist.left_to_right(T) @ v
    np.testing.assert_allclose(from_world, to_body.T @ body.inertia @ to_body, atol=1e-13)
    assert 0.5 * V @ from_world @ V == pytest.approx(body.kinetic_energy(v))


@equation("From 9", "Kirchhoff's equation of forces", RigidBody.inverse_dynamics)
@equation("From 10", "Kirchhoff's equation of torques", RigidBody.inverse_dynamics)
def test_kirchhoffs_equations():
    body = free("SE(3)")
    T, V, change = state(body)
    linear, angular = body.momentum(V)[:3], body.momentum(V)[3:]
    rate, tau = body.mass_matrix @ change, body.inverse_dynamics(T, V, change)
    np.testing.assert_allclose(tau[:3], rate[:3] + np.cross(V[3:], linear), atol=1e-13)
    expected = rate[3:] + np.cross(V[:3], linear) + np.cross(V[3:], angular)
    np.testing.assert_allclose(tau[3:], expected, atol=1e-13)


def marked(what, function, **numbers):
    """Cases for each group, the printed ones with their mark."""
    names = {"SE3": "SE(3)", "SE2": "SE(2)", "X": "X(z)", "SO3": "SO(3)"}
    marks = {names[key]: equation(f"From {n}", f"{what} {names[key]}", function) for key, n in numbers.items()}
    return pytest.mark.parametrize("name", [pytest.param(name, marks=marks.get(name, ())) for name in NAMES])


@marked("Coriolis matrix of", RigidBody.coriolis_matrix, SE3=74, SE2=82, X=93, SO3=68)
def test_coriolis_matrix(name):
    body = free(name)
    _, v, _ = state(body)
    C = body.coriolis_matrix(v)
    np.testing.assert_allclose(C, tilde_ad(name, body.mass_matrix @ v), atol=1e-13)
    np.testing.assert_allclose(C, -C.T, atol=1e-13)  # no work


@equation("From 73", "ad~ of SE(3)", Group.momentum_cross)
def test_momentum_cross_of_se3():
    p = np.arange(1.0, 7.0)
    np.testing.assert_array_equal(Group.named("SE(3)").momentum_cross(p), tilde_ad("SE(3)", p))


@equation("From 83", "ad~ of SE(2)", Group.momentum_cross)
def test_momentum_cross_of_se2():
    np.testing.assert_array_equal(Group.named("SE(2)").momentum_cross([1, 2, 3]), [[0, 0, -2], [0, 0, 1], [2, -1, 0]])


@equation("From 108", "equations of motion with ad~", RigidBody.inverse_dynamics)
@marked("with ad~, motion in", RigidBody.inverse_dynamics, SE3=75, SE2=84, X=94, SO3=69)
def test_equations_of_motion(name):
    body = free(name)
    T, v, vdot = state(body)
    printed = body.mass_matrix @ vdot + tilde_ad(name, body.mass_matrix @ v) @ v
    np.testing.assert_allclose(body.inverse_dynamics(T, v, vdot), printed, atol=1e-13)


@equation("From 107", "equations of motion with adᵀ", RigidBody.coriolis_matrix)
@marked("with adᵀ, motion in", RigidBody.inverse_dynamics, SE3=76, SE2=85, X=95)
def test_equations_of_motion_with_the_other_matrix(name):
    body = free(name)
    T, v, vdot = state(body)
    printed = body.mass_matrix @ vdot - ad(name, v).T @ body.mass_matrix @ v
    np.testing.assert_allclose(body.inverse_dynamics(T, v, vdot), printed, atol=1e-13)
    C = body.coriolis_matrix(v, "velocity")
    np.testing.assert_allclose(C, -ad(name, v).T @ body.mass_matrix, atol=1e-13)
    np.testing.assert_allclose(C @ v, body.coriolis_matrix(v) @ v, atol=1e-13)


@equation("From 48", "equations of motion and their solution", RigidBody.forward_dynamics, RigidBody.inverse_dynamics)
@each
def test_forward_dynamics_is_the_inverse_of_inverse_dynamics(name):
    body = RigidBody(LOPSIDED, name)
    T, v, vdot = state(body)
    tau = body.inverse_dynamics(T, v, vdot)
    np.testing.assert_allclose(body.forward_dynamics(T, v, tau), vdot, atol=1e-12)
    np.testing.assert_allclose(body.forward_dynamics(T, v, body.bias(T, v)), 0.0, atol=1e-12)
    np.testing.assert_array_equal(body.forward_dynamics(T, v), body.forward_dynamics(T, v, np.zeros(len(v))))


# --- from first principles --------------------------------------------------------------------------------------------


@equation("From 7", "rate of momentum is the force", RigidBody.inverse_dynamics)
@equation("From 11", "Newton-Euler equations with adᵀ", RigidBody.inverse_dynamics)
@each
def test_the_force_is_the_rate_of_the_spatial_momentum(name):
    """Seen from the world: along some motion, d/dt (Ad_T⁻ᵀ p), differentiated numerically, is Ad_T⁻ᵀ τ."""
    body = free(name)
    group, (a, b) = body.group, np.random.default_rng(6).normal(size=(2, body.group.dimension))

    def motion(t):
        return group.exp(np.sin(t) * a) @ group.exp(t**2 * b)

    def velocity(t, h=1e-3):
        ways = [group.log(pose.inverse(motion(t - k * h)) @ motion(t + k * h)) / (2 * k * h) for k in (1, 2)]
        return (4 * ways[0] - ways[1]) / 3

    def slope(f, t, h=1e-2):
        return (8 * (f(t + h) - f(t - h)) - (f(t + 2 * h) - f(t - 2 * h))) / (12 * h)

    t = 0.4
    tau = body.inverse_dynamics(motion(t), velocity(t), slope(velocity, t))
    seen = group.transform(pose.inverse(motion(t))).T @ tau
    rate = slope(lambda t: body.spatial_momentum(motion(t), velocity(t)), t)
    np.testing.assert_allclose(rate, seen, atol=2e-6 * max(1.0, np.abs(seen).max()))


@equation("From 13", "Lagrangian of kinetic and potential energy", RigidBody.potential_energy, RigidBody.kinetic_energy)
@equation("From 16", "force of a potential", RigidBody.gravity_force)
@each
def test_gravity_is_the_slope_of_the_potential(name):
    """S(φ)⁻ᵀ ∂U/∂φ, at zero and elsewhere."""
    body = RigidBody(LOPSIDED, name, gravity=(1.0, -2.0, -9.0))
    group = body.group
    T, _, phi = state(body)
    com = (T @ [*LOPSIDED.com, 1.0])[:3]
    assert body.potential_energy(T) == pytest.approx(-2.0 * com @ [1.0, -2.0, -9.0])
    V = group.twist(phi)
    assert body.kinetic_energy(phi) == pytest.approx(0.5 * V @ body.inertia @ V)
    assert body.energy(T, phi) == pytest.approx(body.kinetic_energy(phi) + body.potential_energy(T))
    for there in (0 * phi, phi):
        h = 1e-5
        rises = [
            body.potential_energy(T @ group.exp(there + h * e)) - body.potential_energy(T @ group.exp(there - h * e))
            for e in np.eye(group.dimension)
        ]
        force = np.linalg.solve(group.velocity_transform(there).T, np.array(rises) / (2 * h))
        np.testing.assert_allclose(body.gravity_force(T @ group.exp(there)), force, atol=1e-8)


# --- errors -----------------------------------------------------------------------------------------------------------


def test_a_group_of_ones_own():
    screw = Group("screw", [[0.0], [0.0], [0.2], [0.0], [0.0], [1.0]])
    body = RigidBody(brick(), screw)
    np.testing.assert_allclose(body.mass_matrix, [[MASS * 0.2**2 + IZ]])
    np.testing.assert_allclose(body.gravity_force(np.eye(4)), [MASS * 9.81 * 0.2])
    assert repr(body) == "RigidBody('brick', 'screw')"


@pytest.mark.parametrize(("mass", "moments", "name"), [(0.0, 1.0, "SE(3)"), (0.0, 1.0, "R"), (1.0, 0.0, "SO(3)")])
def test_a_mass_matrix_that_is_not_positive(mass, moments, name):
    ghost = wbc.Body("ghost", mass, np.zeros(3), moments * np.eye(3))
    with pytest.raises(WbcError, match=rf"body 'ghost' can't move in {name[:2]}.*is not positive definite"):
        RigidBody(ghost, name)


def test_wrong_arguments_are_named():
    body = RigidBody(brick(), "SE(2)")
    with pytest.raises(WbcError, match=r"no group 'SE3'; did you mean 'SE\(3\)'"):
        RigidBody(brick(), "SE3")
    with pytest.raises(WbcError, match=r"no group \[3, 4, 5\]"):
        RigidBody(brick(), [3, 4, 5])
    with pytest.raises(WbcError, match=r"body = 2.0 must be a wbc.Body"):
        RigidBody(2.0)
    with pytest.raises(WbcError, match="no form of the Coriolis matrix 'skew' .*'momentum', 'velocity'"):
        body.coriolis_matrix([1, 2, 3], "skew")
    with pytest.raises(WbcError, match=r"T is not a homogeneous transform"):
        body.bias(2 * np.eye(4), [1, 2, 3])
    with pytest.raises(WbcError, match=r"vdot on SE\(2\) must be finite numbers of shape \(3,\)"):
        body.inverse_dynamics(np.eye(4), [1, 2, 3], [1, 2])
    with pytest.raises(WbcError, match=r"force on SE\(2\) must be finite numbers of shape \(3,\)"):
        body.forward_dynamics(np.eye(4), [1, 2, 3], [1, 2, np.nan])
    with pytest.raises(WbcError, match=r"gravity must be finite numbers of shape \(3,\)"):
        RigidBody(brick(), "R", gravity=9.81)


def test_what_describes_a_body_cannot_be_changed():
    body = RigidBody(brick())
    for array in (body.inertia, body.mass_matrix, body.inverse_mass_matrix, body.gravity):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
