"""The general formula, evaluated: in From's coordinates at zero and elsewhere, in Euler angles, against Lagrange."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.equations import equation
from wbc import WbcError
from wbc.geometry import euler, so3
from wbc.liegroups import Group, RigidBody
from wbc.liegroups.boltzmann_hamel import coriolis_matrix, gamma, gamma_parts, transform_rate, velocity_slope

from .printed import LOPSIDED, NAMES, ad, tilde_ad

each = pytest.mark.parametrize("name", NAMES)
ANGLES = np.array([0.4, -0.9, 2.0])  # z, y, x


def body_of(name):
    return RigidBody(LOPSIDED, name, gravity=(1.0, -2.0, -9.0))


def transform_and_derivative(group, phi):
    return group.velocity_transform(phi), group.velocity_transform_derivative(phi)


def of_euler_angles(x, h=1e-4):
    """S of v = S(x) ẋ for the angular velocity in the body and angles z, y, x; and its derivative."""

    def transform(x):
        return euler.rates_to_angular_velocity(x, "zyx", frame="body")

    slopes = [
        (8 * (transform(x + h * e) - transform(x - h * e)) - (transform(x + 2 * h * e) - transform(x - 2 * h * e)))
        / (12 * h)
        for e in np.eye(3)
    ]
    return transform(x), np.stack(slopes, axis=-1)


@equation("From 57", "Coriolis matrix from S at zero", coriolis_matrix)
@each
def test_coriolis_matrix_at_zero(name):
    """The sums of (57) one by one, with S = 1 - ad/2 differentiated by hand."""
    group, m = Group.named(name), Group.named(name).dimension
    p = np.random.default_rng(0).normal(size=m)
    dS = -0.5 * np.stack([ad(name, e) for e in np.eye(m)], axis=-1)
    summed = np.zeros((m, m))
    for i, j, k in itertools.product(range(m), repeat=3):
        summed[i, j] += (dS[k, i, j] - dS[k, j, i]) * p[k]
    found = coriolis_matrix(*transform_and_derivative(group, np.zeros(m)), p)
    np.testing.assert_allclose(found, summed, atol=1e-13)
    np.testing.assert_allclose(found, tilde_ad(name, p), atol=1e-13)


@equation("From 54", "Coriolis matrix from S anywhere", coriolis_matrix)
@each
def test_coriolis_matrix_elsewhere(name):
    """It does not depend on where it is evaluated: φ = 0 is taken because it is easy, not because it must be."""
    group, rng = Group.named(name), np.random.default_rng(1)
    phi, p = rng.normal(size=(2, group.dimension))
    S, dS = transform_and_derivative(group, phi)
    inverse, m = np.linalg.inv(S), group.dimension
    summed = np.zeros((m, m))
    for i, j, a, b, s in itertools.product(range(m), repeat=5):
        summed[i, j] += inverse[a, i] * (dS[s, a, b] - dS[s, b, a]) * inverse[b, j] * p[s]
    found = coriolis_matrix(S, dS, p)
    np.testing.assert_allclose(found, summed, atol=1e-12)
    np.testing.assert_allclose(found, group.momentum_cross(p), atol=1e-11)


@equation("From 40", "inverse of S, transposed, entry by entry", gamma_parts)
@equation("From 42", "first part of γ", gamma_parts)
@equation("From 45", "second part of γ", gamma_parts)
@equation("From 46", "Hamel's coefficients", gamma)
def test_gamma_sum_by_sum():
    S, dS = of_euler_angles(ANGLES)
    inverse, parts = np.linalg.inv(S), np.zeros((2, 3, 3, 3))
    for i, j, k, a, b in itertools.product(range(3), repeat=5):
        parts[0, k, i, j] += inverse[a, i] * dS[j, a, b] * inverse[b, k]
        parts[1, k, i, j] -= inverse[a, i] * dS[j, b, a] * inverse[b, k]
    for found, summed in zip(gamma_parts(S, dS), parts, strict=True):  # (42), (45), each by itself
        np.testing.assert_allclose(found, summed, atol=1e-13)
    np.testing.assert_allclose(gamma(S, dS), parts.sum(axis=0), atol=1e-13)


@equation("From 41", "rate of the velocity transform", transform_rate)
@equation("From 43", "velocity's slope with the coordinates", velocity_slope)
@equation("From 44", "its transpose, entry by entry", velocity_slope)
def test_rates_and_slopes_of_the_velocity_transform(h=1e-6):
    dS = of_euler_angles(ANGLES)[1]
    rates = np.array([0.3, -1.2, 0.8])

    def S(x):
        return euler.rates_to_angular_velocity(x, "zyx", frame="body")

    rate = transform_rate(dS, rates)
    np.testing.assert_allclose(rate, (S(ANGLES + h * rates) - S(ANGLES - h * rates)) / (2 * h), atol=1e-8)
    slope = velocity_slope(dS, rates)
    columns = [(S(ANGLES + h * e) @ rates - S(ANGLES - h * e) @ rates) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(slope, np.stack(columns, axis=-1), atol=1e-8)  # (43)
    for i, j in itertools.product(range(3), repeat=2):
        assert np.isclose(rate.T[i, j], sum(dS[j, i, m] * rates[m] for m in range(3)))  # (41)
        assert np.isclose(slope.T[i, j], sum(dS[j, m, i] * rates[m] for m in range(3)))  # (44)
    # and what they are for: the two parts of γ, with the velocities
    first, second = gamma_parts(S(ANGLES), dS)
    inverse, v = np.linalg.inv(S(ANGLES)), S(ANGLES) @ rates
    np.testing.assert_allclose(np.tensordot(v, first, 1), inverse.T @ rate.T, atol=1e-12)
    np.testing.assert_allclose(np.tensordot(v, second, 1), -inverse.T @ slope.T, atol=1e-12)


@equation("From 30", "rate of the Lagrangian's slope, in local coordinates", transform_rate, RigidBody.momentum)
@equation("From 31", "Lagrangian's slope, in local coordinates", velocity_slope, RigidBody.momentum)
@each
def test_derivatives_of_the_lagrangian_in_local_coordinates(name, h=1e-6):
    """L̄(φ, φ̇) = ½ v · M v − U with v = S(φ) φ̇, along a motion φ(t)."""
    body = body_of(name)
    group, rng = body.group, np.random.default_rng(5)
    T0 = group.exp(rng.normal(size=group.dimension))
    phi, rate, second = 0.5 * rng.normal(size=(3, group.dimension))

    def momentum(t):  # ∂L̄/∂φ̇ = Sᵀ M v
        at, moving = phi + t * rate + 0.5 * t**2 * second, rate + t * second
        S = group.velocity_transform(at)
        return S.T @ body.momentum(S @ moving), body.momentum(S @ moving)

    def lagrangian(at):
        v = group.velocity_transform(at) @ rate
        return body.kinetic_energy(v) - body.potential_energy(T0 @ group.exp(at))

    S, dS = transform_and_derivative(group, phi)
    p = momentum(0.0)[1]
    p_rate = (momentum(h)[1] - momentum(-h)[1]) / (2 * h)
    found = (momentum(h)[0] - momentum(-h)[0]) / (2 * h)
    np.testing.assert_allclose(transform_rate(dS, rate).T @ p + S.T @ p_rate, found, atol=1e-6)  # (30)

    slopes = np.array([(lagrangian(phi + h * e) - lagrangian(phi - h * e)) / (2 * h) for e in np.eye(group.dimension)])
    weight = S.T @ body.gravity_force(T0 @ group.exp(phi))  # −∂L/∂φ: only the potential knows the place
    np.testing.assert_allclose(velocity_slope(dS, rate).T @ p - weight, slopes, atol=1e-6)  # (31)


@equation("From 27", "Coriolis force from γ", gamma)
@equation("From 39", "γ as a sum of two matrices", gamma)
def test_gamma_as_matrices():
    """Σ γ_k v_k = S⁻ᵀ (Ṡᵀ - ∂ᵀ(S ẋ)/∂x), and it is -ad_vᵀ, that of the group."""
    S, dS = of_euler_angles(ANGLES)
    rates = np.array([0.3, -1.2, 0.8])
    v = S @ rates
    S_dot, slope = dS @ rates, np.einsum("ijk,j->ik", dS, rates)
    found = np.tensordot(v, gamma(S, dS), 1)
    np.testing.assert_allclose(found, np.linalg.solve(S.T, S_dot.T - slope.T), atol=1e-12)
    np.testing.assert_allclose(found, so3.skew(v), atol=1e-10)


@equation("From 47", "Hamel's coefficients in local coordinates", gamma)
@each
def test_gamma_is_the_structure_of_the_group(name):
    group = Group.named(name)
    phi = np.random.default_rng(2).normal(size=group.dimension)
    expected = -group.structure.transpose(0, 2, 1)
    np.testing.assert_allclose(gamma(*transform_and_derivative(group, phi)), expected, atol=1e-11)


@equation("From 52", "Coriolis matrix, first form", RigidBody.coriolis_matrix)
@equation("From 53", "Coriolis matrix, summed the other way", coriolis_matrix)
@each
def test_both_forms_come_from_gamma(name):
    """(52) is (Σ γ_k v_k) M; (53) swaps what is summed: another matrix, the same force."""
    body = body_of(name)
    phi, v = np.random.default_rng(3).normal(size=(2, body.group.dimension))
    S, dS = transform_and_derivative(body.group, phi)
    first = np.tensordot(v, gamma(S, dS), 1) @ body.mass_matrix
    np.testing.assert_allclose(body.coriolis_matrix(v, "velocity"), first, atol=1e-11)
    second = coriolis_matrix(S, dS, body.momentum(v))
    np.testing.assert_allclose(body.coriolis_matrix(v, "momentum"), second, atol=1e-11)
    np.testing.assert_allclose(first @ v, second @ v, atol=1e-11)


def parts(name):
    """The two parts of (57): Σ ∂S_ki/∂φ_j p_k and Σ ∂S_kj/∂φ_i p_k; and p."""
    group = Group.named(name)
    p = np.random.default_rng(4).normal(size=group.dimension)
    first = np.einsum("kij,k->ij", group.velocity_transform_derivative(np.zeros(group.dimension)), p)
    return first, first.T, p


S_R = Group.velocity_transform_derivative


@equation("From 66", "first part of C, on SO(3)", S_R)
@equation("From 67", "second part of C, on SO(3)", S_R)
def test_parts_on_so3():
    first, second, (a, b, c) = parts("SO(3)")
    np.testing.assert_allclose(first, -0.5 * np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]]), atol=1e-14)
    np.testing.assert_allclose(second, -0.5 * np.array([[0, c, -b], [-c, 0, a], [b, -a, 0]]), atol=1e-14)


@equation("From 80", "first part of C, on SE(2)", S_R)
@equation("From 81", "second part of C, on SE(2)", S_R)
def test_parts_on_se2():
    first, second, (a, b, _) = parts("SE(2)")
    np.testing.assert_allclose(first, -0.5 * np.array([[0, 0, b], [0, 0, -a], [-b, a, 0]]), atol=1e-14)
    np.testing.assert_allclose(second, -0.5 * np.array([[0, 0, -b], [0, 0, a], [b, -a, 0]]), atol=1e-14)


@equation("From 91", "first part of C, on X(z)", S_R)
@equation("From 92", "second part of C, on X(z)", S_R)
def test_parts_on_the_schoenflies_group():
    first, second, (a, b, _, _) = parts("X(z)")
    printed = np.array([[0, 0, 0, b], [0, 0, 0, -a], [0, 0, 0, 0], [-b, a, 0, 0]])
    np.testing.assert_allclose(first, -0.5 * printed, atol=1e-14)
    np.testing.assert_allclose(second, 0.5 * printed, atol=1e-14)


@equation("From 101", "C is twice its first part", coriolis_matrix, S_R)
@each
def test_the_parts_differ_by_their_sign(name):
    first, second, p = parts(name)
    np.testing.assert_allclose(first - second, 2 * first, atol=1e-14)
    group = Group.named(name)
    found = coriolis_matrix(*transform_and_derivative(group, np.zeros(group.dimension)), p)
    np.testing.assert_allclose(found, 2 * first, atol=1e-13)


@each
def test_the_formula_of_earlier_papers_is_wrong(name):
    """(33), (35)-(37): C = -ad_(Mv)ᵀ moves the index, and a free body would not move as Newton and Euler say."""
    body = body_of(name)
    group, v = body.group, np.random.default_rng(5).normal(size=body.group.dimension)
    dS = group.velocity_transform_derivative(0 * v)
    curl = dS.transpose(1, 0, 2) - dS.transpose(2, 0, 1)  # [i, j, k]: ∂S_ji/∂φ_k - ∂S_jk/∂φ_i
    wrong = curl @ body.momentum(v)
    np.testing.assert_allclose(wrong, -group.cross(body.momentum(v)).T, atol=1e-13)
    if np.abs(group.structure).max():
        assert np.abs(wrong @ v - body.coriolis_matrix(v) @ v).max() > 0.1


# --- against Lagrange -------------------------------------------------------------------------------------------------


RATES, ACCELERATIONS = np.array([0.5, -0.7, 1.1]), np.array([-0.4, 0.9, 0.2])


def pose_of(x):
    T = np.eye(4)
    T[:3, :3] = euler.to_matrix(x, "zyx")
    return T


def lagrangian(body, x, rate):
    v = euler.rates_to_angular_velocity(x, "zyx", frame="body") @ rate
    return body.kinetic_energy(v) - body.potential_energy(pose_of(x))


def slope(f, h=1e-3):
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


def by_rates(body, x, rate):
    """∂L̄/∂ẋ."""
    return np.array([slope(lambda d, e=e: lagrangian(body, x, rate + d * e)) for e in np.eye(3)])


def by_rates_in_time(body):
    """d/dt ∂L̄/∂ẋ."""
    return slope(lambda t: by_rates(body, ANGLES + t * RATES + t**2 / 2 * ACCELERATIONS, RATES + t * ACCELERATIONS))


def by_angles(f):
    """∂f/∂x, one row an angle."""
    return np.array([slope(lambda d, e=e: f(ANGLES + d * e)) for e in np.eye(3)])


@equation("From 12", "velocity from the rates of coordinates", euler.rates_to_angular_velocity)
def test_velocity_from_the_rates_of_euler_angles():
    turn = slope(lambda t: euler.to_matrix(ANGLES + t * RATES, "zyx"))
    v = so3.unskew(euler.to_matrix(ANGLES, "zyx").T @ turn)
    np.testing.assert_allclose(of_euler_angles(ANGLES)[0] @ RATES, v, atol=1e-10)


@equation("From 15", "rate of the momentum in the body", RigidBody.momentum)
@equation("From 19", "Lagrangian by the rates", RigidBody.momentum)
@equation("From 20", "rate of Lagrangian by the rates", RigidBody.momentum)
@equation("From 21", "Lagrangian by the coordinates", RigidBody.momentum)
def test_derivatives_of_the_lagrangian():
    body = body_of("SO(3)")
    S, dS = of_euler_angles(ANGLES)
    S_dot, turned = dS @ RATES, np.einsum("ijk,j->ik", dS, RATES)
    v, vdot = S @ RATES, S @ ACCELERATIONS + S_dot @ RATES
    p, pdot = body.momentum(v), body.mass_matrix @ vdot
    np.testing.assert_allclose(slope(lambda t: body.momentum(v + t * vdot)), pdot, atol=1e-10)  # (15)
    np.testing.assert_allclose(by_rates(body, ANGLES, RATES), S.T @ p, atol=1e-9)
    np.testing.assert_allclose(by_rates_in_time(body), S_dot.T @ p + S.T @ pdot, atol=1e-8)
    pull = -by_angles(lambda x: body.potential_energy(pose_of(x)))
    np.testing.assert_allclose(by_angles(lambda x: lagrangian(body, x, RATES)), pull + turned.T @ p, atol=1e-9)


@equation("From 17", "Lagrangian in coordinates", RigidBody.kinetic_energy)
@equation("From 18", "Lagrange's equations", RigidBody.inverse_dynamics)
@equation("From 23", "Lagrange's equations by momentum and potential", RigidBody.inverse_dynamics)
@equation("From 24", "force on coordinates from that on velocities", RigidBody.inverse_dynamics)
@equation("From 26", "Boltzmann-Hamel equations", coriolis_matrix)
def test_lagrange_in_euler_angles_is_the_same():
    """d/dt ∂L̄/∂ẋ - ∂L̄/∂x of a heavy top, differentiated numerically in Euler angles, is Sᵀ τ of ours in the body."""
    body = body_of("SO(3)")
    lagrange = by_rates_in_time(body) - by_angles(lambda x: lagrangian(body, x, RATES))
    S, dS = of_euler_angles(ANGLES)
    v, vdot = S @ RATES, S @ ACCELERATIONS + dS @ RATES @ RATES
    on_angles = S.T @ body.inverse_dynamics(pose_of(ANGLES), v, vdot)
    np.testing.assert_allclose(on_angles, lagrange, atol=1e-8)
    hamel = coriolis_matrix(S, dS, body.momentum(v)) @ v
    pull = -by_angles(lambda x: body.potential_energy(pose_of(x)))
    p, S_dot, turned = body.momentum(v), dS @ RATES, np.einsum("ijk,j->ik", dS, RATES)
    written_out = S.T @ body.mass_matrix @ vdot + S_dot.T @ p - pull - turned.T @ p  # (23)
    np.testing.assert_allclose(on_angles, written_out, atol=1e-8)
    found = body.mass_matrix @ vdot + hamel - np.linalg.solve(S.T, pull)
    np.testing.assert_allclose(found, np.linalg.solve(S.T, lagrange), atol=1e-8)


# --- errors -----------------------------------------------------------------------------------------------------------


def test_singular_coordinates_are_named():
    S, dS = of_euler_angles(np.array([0.3, np.pi / 2, 0.1]))
    with pytest.raises(WbcError, match="S = .* is singular: so are these coordinates, here"):
        gamma(S, dS)


def test_wrong_shapes_are_named():
    S, dS = of_euler_angles(ANGLES)
    with pytest.raises(WbcError, match=r"dS must be finite numbers of shape \(3, 3, 3\)"):
        gamma(S, dS[0])
    with pytest.raises(WbcError, match=r"S must be finite numbers of shape \(3, 3\)"):
        gamma(S[0], dS)
    with pytest.raises(WbcError, match=r"S must be finite"):
        gamma(1.0, dS)
    with pytest.raises(WbcError, match=r"momentum must be finite numbers of shape \(3,\)"):
        coriolis_matrix(S, dS, [1.0])
