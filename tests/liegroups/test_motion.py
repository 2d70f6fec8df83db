"""Motion in time: what is kept, how fast errors shrink with the step, and the singularity that is not there."""

from __future__ import annotations

import numpy as np
import pytest

from wbc import WbcError
from wbc.geometry import euler, so3
from wbc.liegroups import METHODS, Group, RigidBody, simulate, step

from .printed import LOPSIDED, NAMES, brick

SPIN = np.array([0.02, 6.0, 0.01])  # about the middle axis of the brick, with a little of the others: it tumbles
ORDERS = {"energy-momentum": 2, "runge-kutta": 4, "midpoint": 2}


def free(name, body=LOPSIDED):
    return RigidBody(body, name, gravity=np.zeros(3))


def start(body, seed=0):
    T, v = np.random.default_rng(seed).normal(size=(2, body.group.dimension))
    return body.group.exp(T), 2 * v


def kept(body, motion, every=10):
    """How far energy and spatial momentum get from where they began, relative to their size on the way."""
    pairs = list(zip(motion.pose[::every], motion.velocity[::every], strict=True))
    energy = np.array([body.energy(T, v) for T, v in pairs])
    momentum = np.array([body.spatial_momentum(T, v) for T, v in pairs])
    return np.ptp(energy) / abs(energy[0]), np.ptp(momentum, axis=0).max() / np.abs(momentum).max()


@pytest.mark.parametrize("name", NAMES)
def test_a_free_body_keeps_energy_and_momentum(name):
    """By 500 steps of 20 ms. The momentum is about the world's origin, from which some go far: its arm is rounded."""
    body = free(name)
    motion = simulate(body, *start(body), 10.0, 0.02)
    energy, momentum = kept(body, motion)
    print(f"{name}: energy within {energy:.1e}, momentum within {momentum:.1e}")
    assert energy < 1e-12
    assert momentum < 1e-12
    R = motion.pose[-1, :3, :3]
    assert np.abs(R.T @ R - np.eye(3)).max() < 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_the_midpoint_method_keeps_the_momentum(name):
    body = free(name)
    motion = simulate(body, *start(body), 2.0, 0.02, method="midpoint")
    assert kept(body, motion)[1] < 1e-12


def test_a_tumbling_body_keeps_energy_and_momentum_for_long():
    """2000 steps of 50 ms, 95 turns, over and over again."""
    body = free("SO(3)", brick())
    motion = simulate(body, np.eye(4), SPIN, 100.0, 0.05)
    energy, momentum = kept(body, motion)
    flips = np.count_nonzero(np.diff(np.sign(motion.velocity[:, 1])))
    print(f"energy within {energy:.1e}, momentum within {momentum:.1e}, {flips} flips")
    assert energy < 1e-12
    assert momentum < 1e-12
    assert flips > 15


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["SO(3)", "SE(3)", "SE(2)"])
def test_errors_shrink_with_the_step(name, method):
    """By 2ⁿ where the step is halved, n the order; under gravity and a force that depends on everything."""
    body = RigidBody(LOPSIDED, name)
    T, v = start(body, 1)

    def force(t, T, v):
        return np.cos(3 * t) - 0.3 * v + T[0, 1]

    def end(dt, method):
        motion = simulate(body, T, v, 0.4, dt, force, method)
        return np.concatenate([motion.pose[-1].ravel(), motion.velocity[-1]])

    exact, order = end(0.002, "runge-kutta"), ORDERS[method]
    coarse, fine = (np.abs(end(dt, method) - exact).max() for dt in (0.02, 0.01))
    print(f"{name}, {method}: {coarse:.1e}, {fine:.1e}")
    assert 0.7 * 2**order < coarse / fine < 1.5 * 2**order
    assert coarse < 0.05


def test_a_heavy_top_keeps_its_energy_and_the_momentum_about_the_vertical():
    """With gravity the energy is no longer kept to rounding: it swings, and doesn't drift."""
    body = RigidBody(brick((0.0, 0.0, 0.3)), "SO(3)")
    T = np.eye(4)
    T[:3, :3] = so3.exp([0.5, 0.0, 0.0])
    motion = simulate(body, T, [0.5, 0.0, 25.0], 10.0, 0.01)
    energy = np.array([body.energy(T, v) for T, v in zip(motion.pose, motion.velocity, strict=True)])
    vertical = [body.spatial_momentum(T, v)[2] for T, v in zip(motion.pose, motion.velocity, strict=True)]
    off = np.abs(energy - energy[0])
    print(f"energy {energy[0]:.1f} J: off by {off[:200].max():.1e} J early, {off[-200:].max():.1e} J late")
    assert off.max() < 0.02
    assert off[-200:].max() < 1.5 * off[:200].max()
    assert np.ptp(vertical) < 1e-11


def test_a_thrown_body_flies_a_parabola():
    body = RigidBody(LOPSIDED)
    T, v = start(body, 2)
    com = np.array([*LOPSIDED.com, 1.0])
    speed = (T @ body.group.hat(v) @ com)[:3]
    motion = simulate(body, T, v, 1.0, 0.01)
    t = motion.time[:, None]
    parabola = (T @ com)[:3] + speed * t + 0.5 * t**2 * body.gravity
    np.testing.assert_allclose((motion.pose @ com)[:, :3], parabola, atol=5e-3)
    assert np.abs(np.diff(motion.time) - 0.01).max() < 1e-12


def by_euler_angles(body, angles, v, duration, dt):
    """What a textbook does instead: Runge and Kutta's method for angles z, y, x and the angular velocity."""

    def rates(x):
        back = euler.angular_velocity_to_rates(x[:3], "zyx", frame="body")
        return np.concatenate([back @ x[3:], body.forward_dynamics(np.eye(4), x[3:])])

    x = np.concatenate([angles, v])
    for _ in range(round(duration / dt)):
        a = rates(x)
        b = rates(x + dt / 2 * a)
        c = rates(x + dt / 2 * b)
        x = x + dt / 6 * (a + 2 * b + 2 * c + rates(x + dt * c))
    return euler.to_matrix(x[:3], "zyx")


@pytest.mark.parametrize(("before", "worst"), [(0.5, 0.01), (-0.5, 0.0)])
def test_nothing_happens_where_euler_angles_end(before, worst):
    """A body turns past β = π/2, or away from it: on the group there is no difference, in angles there is."""
    body, v, angles = free("SO(3)", brick()), [1e-3, 1.0, 2e-3], [0.3, np.pi / 2 - before, 0.0]
    T = np.eye(4)
    T[:3, :3] = euler.to_matrix(angles, "zyx")
    motion, exact = (simulate(body, T, v, 1.0, dt, method="runge-kutta") for dt in (0.02, 0.001))
    end = exact.pose[-1, :3, :3]
    reached = np.abs(motion.pose[:, 2, 0]).max()  # sin β
    assert (reached > np.cos(0.02)) == (before > 0)
    assert np.linalg.norm(so3.boxminus(motion.pose[-1, :3, :3], end)) < 1e-9
    off = np.linalg.norm(so3.boxminus(by_euler_angles(body, angles, v, 1.0, 0.02), end))
    print(f"Euler angles end {off:.1e} rad beside")
    assert off > worst if worst else off < 1e-5


@pytest.mark.parametrize("method", METHODS)
def test_forces_may_be_constant_or_none(method):
    body = free("R3", brick())
    for force in ([2.0, 0.0, 0.0], lambda t, T, v: [2.0, 0.0, 0.0]):
        T, v = step(body, np.eye(4), [0, 0, 0], 0.5, force, method=method)
        np.testing.assert_allclose(v, [0.5, 0, 0], atol=1e-14)
        assert T[0, 3] == pytest.approx(0.125)
    for force in (None, lambda t, T, v: None):
        T, v = step(body, np.eye(4), [1, 0, 0], 0.5, force, method=method)
        np.testing.assert_allclose([*v, T[0, 3]], [1, 0, 0, 0.5], atol=1e-15)


@pytest.mark.parametrize("method", ["energy-momentum"])
def test_a_step_can_be_taken_back(method):
    body = RigidBody(LOPSIDED)
    T, v = start(body, 3)
    back = step(body, *step(body, T, v, 0.02, method=method), -0.02, method=method)
    np.testing.assert_allclose(back[0], T, atol=1e-12)
    np.testing.assert_allclose(back[1], v, atol=1e-12)


def test_a_body_may_start_anywhere():
    """A plane of motion that is not the world's: T₀ e^φ^ with any T₀."""
    body = RigidBody(brick(), "SE(2)", gravity=np.zeros(3))
    T = Group.named("SE(3)").exp([1, 2, 3, 0.5, -0.4, 0.2])
    motion = simulate(body, T, [1.0, 0.5, 3.0], 1.0, 0.01)
    inside = np.linalg.inv(T) @ motion.pose
    np.testing.assert_allclose(inside[:, 2], np.tile([0.0, 0.0, 1.0, 0.0], (101, 1)), atol=1e-13)


# --- errors -----------------------------------------------------------------------------------------------------------


def test_wrong_arguments_are_named():
    body = free("SO(3)", brick())
    with pytest.raises(WbcError, match="no method 'rk4' .*'energy-momentum', 'runge-kutta', 'midpoint'"):
        step(body, np.eye(4), [0, 0, 1], 0.1, method="rk4")
    with pytest.raises(WbcError, match=r"dt = 0.0 must be a number, more than 0"):
        simulate(body, np.eye(4), [0, 0, 1], 1.0, 0.0)
    with pytest.raises(WbcError, match=r"duration = -1.0 must be a number, 0 or more"):
        simulate(body, np.eye(4), [0, 0, 1], -1.0, 0.1)
    for dt in (np.nan, np.inf, "soon"):
        with pytest.raises(WbcError, match=r"dt = .* must be a number"):
            step(body, np.eye(4), [0, 0, 1], dt)
    with pytest.raises(WbcError, match=r"duration = inf must be a number"):
        simulate(body, np.eye(4), [0, 0, 1], np.inf, 0.1)
    with pytest.raises(WbcError, match=r"v on SO\(3\) must be finite numbers of shape \(3,\)"):
        step(body, np.eye(4), [0, 0, 1, 0, 0, 0], 0.1)
    for method in METHODS:
        with pytest.raises(WbcError, match=r"force on SO\(3\) must be finite numbers of shape \(3,\)"):
            step(body, np.eye(4), [0, 0, 1], 0.1, 5.0, method=method)


@pytest.mark.parametrize("dt", [3.0, 1e3])
def test_a_step_that_is_too_long_is_named(dt):
    with pytest.raises(WbcError, match=rf"a step of dt = {dt} s was not solved at v = .*; a smaller dt will do"):
        step(free("SE(3)"), np.eye(4), [1, 2, 3, 40.0, -50.0, 60.0], dt)


def test_a_method_that_runs_away_is_named():
    def drive(t, T, v):  # negative damping
        return 1e3 * v

    with pytest.raises(WbcError, match=r"method 'runge-kutta' runs away at t = .* s: v = .*; try a smaller dt"):
        simulate(free("SO(2)", brick()), np.eye(4), [1.0], 10.0, 0.1, drive, "runge-kutta")


def test_arguments_stay_as_they_are():
    body, T, v = free("SO(3)", brick()), np.eye(4), SPIN.copy()
    moved, faster = step(body, T, v, 0.1)
    np.testing.assert_array_equal(T, np.eye(4))
    np.testing.assert_array_equal(v, SPIN)
    moved[0, 0] = faster[0] = 5.0  # what is handed out is the caller's
