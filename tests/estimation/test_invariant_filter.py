"""The filter by itself: steps against integration, Jacobians against differences, covariance against errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from wbc.estimation import invariant_filter as module
from wbc.estimation.invariant_filter import BA, BG, COMPILED, FIRST, GATE, FilterNoise, InvariantFilter, P, R, V
from wbc.geometry import so3
from wbc.liegroups import extended_pose

GRAVITY = np.array([0.0, 0.0, -9.81])
FEET = 2
SIZE = FIRST + 3 * FEET


def some_filter(rng: np.random.Generator, noise: FilterNoise | None = None) -> InvariantFilter:
    found = InvariantFilter(FEET, noise or FilterNoise(), GRAVITY)
    found.start(so3.exp(rng.normal(size=3)), rng.normal(size=3), rng.normal(size=3))
    found.footholds[:] = rng.normal(size=(FEET, 3))
    found.standing[:] = True
    found.gyro_bias, found.accelerometer_bias = 0.1 * rng.normal(size=3), 0.3 * rng.normal(size=3)
    return found


def error(found: InvariantFilter, true: InvariantFilter) -> np.ndarray:
    """ξ and the errors of the biases, in the order of the covariance."""
    xi = extended_pose.log(found.element() @ extended_pose.inverse(true.element()))
    ordered = np.zeros(SIZE)
    ordered[:9], ordered[FIRST:] = xi[:9], xi[9:]
    ordered[BG], ordered[BA] = found.gyro_bias - true.gyro_bias, found.accelerometer_bias - true.accelerometer_bias
    return ordered


def moved(true: InvariantFilter, off: np.ndarray, rng: np.random.Generator | None = None) -> InvariantFilter:
    """Another filter, this far from a true one."""
    found = InvariantFilter(FEET, true.noise, GRAVITY)
    X = extended_pose.exp(np.concatenate([off[:9], off[FIRST:]])) @ true.element()
    found.start(X[:3, :3], X[:3, 3], X[:3, 4])
    found.footholds[:], found.standing[:] = X[:3, 5:].T, true.standing
    found.gyro_bias, found.accelerometer_bias = true.gyro_bias + off[BG], true.accelerometer_bias + off[BA]
    return found


@pytest.mark.parametrize("seed", range(3))
def test_a_step_is_the_motion_at_a_constant_reading(seed) -> None:
    rng = np.random.default_rng(seed)
    found = some_filter(rng)
    rate, force, dt = 3.0 * rng.normal(size=3), 10.0 * rng.normal(size=3), 5e-3
    turn, v, p = found.rotation.copy(), found.velocity.copy(), found.position.copy()
    fine = 2000
    for _ in range(fine):
        h = dt / fine
        half = turn @ so3.exp(0.5 * h * (rate - found.gyro_bias))
        a = half @ (force - found.accelerometer_bias) + GRAVITY
        p += h * v + 0.5 * h**2 * a
        v += h * a
        turn = turn @ so3.exp(h * (rate - found.gyro_bias))
    found.predict(rate, force, dt)
    assert found.rotation == pytest.approx(turn, abs=1e-11)
    assert found.velocity == pytest.approx(v, abs=1e-8) and found.position == pytest.approx(p, abs=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_the_transition_is_the_derivative_of_the_step(seed) -> None:
    """Central differences of the filter's own step, in all directions: ξ, biases and footholds."""
    rng = np.random.default_rng(seed)
    true = some_filter(rng)
    rate, force, dt = rng.normal(size=3), 10.0 * rng.normal(size=3), 1e-3
    size = 1e-4
    columns = []
    for k in range(SIZE):
        pair = [moved(true, sign * size * np.eye(SIZE)[k]) for sign in (1.0, -1.0)]
        after = moved(true, np.zeros(SIZE))
        for one in (*pair, after):
            one.predict(rate, force, dt)
        columns.append((error(pair[0], after) - error(pair[1], after)) / (2 * size))
    after = moved(true, np.zeros(SIZE))
    start = np.diag(rng.uniform(0.5, 1.5, SIZE))
    after.covariance = start.copy()
    after.noise = FilterNoise(*[0.0] * 11)
    after.predict(rate, force, dt)
    Phi = np.array(columns).T
    assert after.covariance == pytest.approx(Phi @ start @ Phi.T, abs=2e-8)
    # rows of ξ do not depend on the state but through the biases
    expected = np.eye(9)
    expected[V, R], expected[P, R] = so3.skew(GRAVITY) * dt, 0.5 * so3.skew(GRAVITY) * dt**2
    expected[P, V] = dt * np.eye(3)
    assert Phi[:9, :9] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_innovation_is_linear_in_the_error(seed) -> None:
    """R̂ y + p̂ − d̂ is ξ_p − ξ_d, to the second order of the error."""
    rng = np.random.default_rng(seed)
    true = some_filter(rng)
    places = (true.footholds - true.position) @ true.rotation
    for size in (1e-3, 1e-4):
        off = size * rng.normal(size=SIZE)
        found = moved(true, off)
        z = places @ found.rotation.T + found.position - found.footholds
        wanted = off[P] - off[FIRST:].reshape(FEET, 3)
        assert np.abs(z - wanted).max() < 20 * size**2


def test_a_correction_is_that_of_kalman() -> None:
    rng = np.random.default_rng(5)
    true = some_filter(rng)
    off = 1e-4 * rng.normal(size=SIZE)
    found = moved(true, off)
    A = 1e-4 * rng.normal(size=(SIZE, SIZE))
    found.covariance = C = A @ A.T
    places = (true.footholds - true.position) @ true.rotation
    noise = np.tile(1e-10 * np.eye(3), (FEET, 1, 1))
    H = np.zeros((3 * FEET, SIZE))
    for foot in range(FEET):
        H[3 * foot : 3 * foot + 3, P], H[3 * foot : 3 * foot + 3, FIRST + 3 * foot : FIRST + 3 * foot + 3] = (
            np.eye(3),
            -np.eye(3),
        )
    K = C @ H.T @ np.linalg.inv(H @ C @ H.T + 1e-10 * np.eye(3 * FEET))
    assert found.correct(places, noise) == []
    assert error(found, true) == pytest.approx(off - K @ H @ off, abs=3e-8)
    assert found.covariance == pytest.approx((np.eye(SIZE) - K @ H) @ C, rel=1e-6, abs=1e-16)


def test_a_foot_that_comes_down_knows_what_the_base_knows() -> None:
    rng = np.random.default_rng(6)
    found = some_filter(rng)
    found.covariance = np.diag(rng.uniform(0.5, 1.5, SIZE))
    found.lift(1)
    own = slice(FIRST + 3, FIRST + 6)
    assert not found.covariance[own].any() and not found.standing[1]
    place, noise = rng.normal(size=3), np.diag([1.0, 2.0, 3.0])
    found.stand(1, place, noise)
    assert found.footholds[1] == pytest.approx(found.position + found.rotation @ place)
    assert found.covariance[own, P] == pytest.approx(found.covariance[P, P])
    spread = found.rotation @ noise @ found.rotation.T
    assert found.covariance[own, own] == pytest.approx(found.covariance[P, P] + spread)


def test_a_foot_that_slips_is_found_and_the_others_hold() -> None:
    rng = np.random.default_rng(7)
    true = some_filter(rng)
    found = moved(true, np.zeros(SIZE))
    found.covariance = 1e-8 * np.eye(SIZE)
    places = (true.footholds - true.position) @ true.rotation
    places[1, 0] += 0.05
    noise = np.tile(1e-6 * np.eye(3), (FEET, 1, 1))
    assert found.correct(places, noise) == [1]
    assert found.position == pytest.approx(true.position, abs=1e-9)
    assert found.footholds[1] == pytest.approx(true.position + true.rotation @ places[1], abs=1e-9)


def test_how_high_a_foot_stands_is_a_correction_as_any() -> None:
    rng = np.random.default_rng(9)
    true = some_filter(rng)
    off = 1e-4 * rng.normal(size=SIZE)
    found = moved(true, off)
    A = 1e-4 * rng.normal(size=(SIZE, SIZE))
    found.covariance = C = A @ A.T
    size, slope = 1e-4, np.zeros(SIZE)
    for k in range(SIZE):
        ends = [moved(found, sign * size * np.eye(SIZE)[k]).footholds[1, 2] for sign in (1.0, -1.0)]
        slope[k] = (ends[0] - ends[1]) / (2 * size)
    gain = C @ slope / (slope @ C @ slope + 1e-10)
    found.level(1, true.footholds[1, 2], 1e-5)
    assert error(found, true) == pytest.approx(off - gain * (slope @ off), abs=3e-8)
    assert found.covariance == pytest.approx(C - np.outer(gain, slope @ C), rel=1e-4, abs=1e-13)


def synthetic_errors(seed: int, ticks: int = 300, dt: float = 5e-3) -> tuple[np.ndarray, np.ndarray]:
    """A body that moves about over two feet, and a filter whose noise is as it is told: last error and covariance."""
    rng = np.random.default_rng(seed)
    noise = FilterNoise(
        gyro=2e-3, accelerometer=2e-2, gyro_walk=1e-3, accelerometer_walk=1e-2, contact=5e-3, kinematics=2e-3
    )
    true = InvariantFilter(FEET, noise, GRAVITY)
    true.start(so3.exp([0.1, -0.2, 0.5]), np.array([0.1, 0.0, 0.0]), np.array([0.0, 0.0, 0.5]))
    true.footholds[:] = [[0.2, 0.1, 0.0], [-0.2, -0.1, 0.0]]
    start = true.covariance.copy()
    found = moved(true, np.sqrt(np.diag(start)) * rng.normal(size=SIZE))
    found.standing[:], found.covariance = False, start.copy()
    white = np.tile(noise.kinematics**2 * np.eye(3), (FEET, 1, 1))

    def seen() -> np.ndarray:
        return (true.footholds - true.position) @ true.rotation + noise.kinematics * rng.normal(size=(FEET, 3))

    places = seen()
    for foot in range(FEET):
        found.stand(foot, places[foot], white[foot])
    for tick in range(ticks):
        t = dt * tick
        rate = np.array([0.8 * np.sin(3 * t), 0.9 * np.cos(2 * t), 0.5 * np.sin(t)])
        force = -true.rotation.T @ GRAVITY + np.array([np.sin(5 * t), np.cos(4 * t), np.sin(7 * t)])
        read = [rate + true.gyro_bias, force + true.accelerometer_bias]
        read[0] = read[0] + noise.gyro / np.sqrt(dt) * rng.normal(size=3)
        read[1] = read[1] + noise.accelerometer / np.sqrt(dt) * rng.normal(size=3)
        held = true.covariance
        true.predict(rate + true.gyro_bias, force + true.accelerometer_bias, dt)
        true.covariance = held
        true.footholds += noise.contact * np.sqrt(dt) * rng.normal(size=(FEET, 3))
        true.gyro_bias = true.gyro_bias + noise.gyro_walk * np.sqrt(dt) * rng.normal(size=3)
        true.accelerometer_bias = true.accelerometer_bias + noise.accelerometer_walk * np.sqrt(dt) * rng.normal(size=3)
        found.predict(*read, dt)
        found.correct(seen(), white)
    return error(found, true), found.covariance


def nees(runs: int) -> np.ndarray:
    """Normalised squared errors of rotation, velocity, position and biases, 15 of them, one for each run."""
    found = []
    for seed in range(runs):
        off, covariance = synthetic_errors(seed)
        found.append(off[:FIRST] @ np.linalg.pinv(covariance[:FIRST, :FIRST], rcond=1e-14) @ off[:FIRST])
    return np.array(found)


def test_errors_are_as_large_as_the_covariance_says() -> None:
    """The mean of 25 runs is within what χ² of 15 numbers gives 99.9 times in 100."""
    found = nees(25)
    low, high = chi2.ppf([5e-4, 1 - 5e-4], 15 * len(found)) / len(found)
    assert low < found.mean() < high


@pytest.mark.soak
def test_errors_are_as_large_as_the_covariance_says_in_a_hundred_runs() -> None:
    found = nees(100)
    low, high = chi2.ppf([5e-3, 1 - 5e-3], 15 * len(found)) / len(found)
    assert low < found.mean() < high
    assert np.mean(found < chi2.ppf(0.95, 15)) > 0.88


def test_what_can_not_be_observed_stays_unknown() -> None:
    """Heading and position get no more certain, however long it moves about over its feet; tilt and velocity do."""
    rng = np.random.default_rng(8)
    quiet = FilterNoise(*[0.0] * 6, kinematics=1e-3, tilt=0.05, velocity=0.5, gyro_bias=0.0, accelerometer_bias=0.0)
    true = InvariantFilter(FEET, quiet, GRAVITY)
    true.start(np.eye(3), np.zeros(3), np.array([0.0, 0.0, 0.5]))
    true.footholds[:], true.standing[:] = [[0.2, 0.1, 0.0], [-0.2, -0.1, 0.0]], True
    off = np.zeros(SIZE)
    off[R], off[V] = [0.02, -0.03, 0.1], [0.1, -0.2, 0.3]
    found = moved(true, off)
    found.covariance[2, 2] = 0.01
    found.covariance[P, P] = 0.04 * np.eye(3)
    white = np.tile(1e-6 * np.eye(3), (FEET, 1, 1))
    for foot in range(FEET):
        found.stand(foot, (true.footholds[foot] - true.position) @ true.rotation, white[foot])
    for tick in range(200):
        rate = np.array([np.sin(0.05 * tick), np.cos(0.04 * tick), 0.5])
        force = -true.rotation.T @ GRAVITY + rng.normal(size=3)
        for one in (true, found):
            one.predict(rate, force, 5e-3)
        found.correct((true.footholds - true.position) @ true.rotation, white)
    deviation = np.sqrt(np.diag(found.covariance))
    assert deviation[2] == pytest.approx(0.1, rel=1e-6) and deviation[P] == pytest.approx(0.2, rel=0.05)
    assert deviation[:2].max() < 5e-3 and deviation[V].max() < 0.05
    assert np.abs(error(found, true)[:2]).max() < 5e-3 and np.abs(error(found, true)[2]) == pytest.approx(0.1, abs=0.01)


@pytest.mark.skipif(module.kernel is None, reason="the kernel was not built")
def test_the_kernel_agrees_with_numpy(monkeypatch) -> None:
    """Through lost readings, fast turns, feet that lift, come down and slip."""
    rng = np.random.default_rng(11)
    found, reference = (InvariantFilter(4, FilterNoise(), GRAVITY) for _ in range(2))
    places, noise = rng.normal(size=(4, 3)), np.tile(1e-5 * np.eye(3), (4, 1, 1))
    slips = 0
    for tick in range(400):
        rate, force, dt = 0.3 * rng.normal(size=3), rng.normal(size=3) - GRAVITY, 1e-3 if tick % 50 else 0.08
        if tick % 37 == 0:
            rate *= 30.0
        shift = None if tick % 3 else 1e-4 * rng.normal(size=(4, 3))
        here = places + 1e-3 * rng.normal(size=(4, 3))
        here[tick % 4] += 0.3 * (tick % 60 == 59)
        changed = int(rng.integers(4)) if tick % 20 == 0 else None
        told = []
        for one, kernel in ((found, module.kernel), (reference, None)):
            with monkeypatch.context() as context:
                context.setattr(module, "kernel", kernel)
                if changed is not None and one.standing[changed]:
                    one.lift(changed)
                elif changed is not None:
                    one.stand(changed, places[changed], noise[changed])
                    one.level(changed, 0.02, 5e-3)
                one.predict(rate, force, dt, shift)
                told.append(one.correct(here, noise))
        assert told[0] == told[1]
        slips += len(told[0])
        np.testing.assert_allclose(found.element(), reference.element(), rtol=0, atol=1e-10)
        np.testing.assert_allclose(found.covariance, reference.covariance, rtol=0, atol=1e-10)
        np.testing.assert_allclose(found.gyro_bias, reference.gyro_bias, rtol=0, atol=1e-10)
        np.testing.assert_allclose(found.accelerometer_bias, reference.accelerometer_bias, rtol=0, atol=1e-10)
    assert slips > 3


@pytest.mark.skipif(module.kernel is None, reason="the kernel was not built")
def test_more_feet_than_the_kernel_takes_are_numpys() -> None:
    feet = COMPILED + 1
    found = InvariantFilter(feet, FilterNoise(), GRAVITY)
    places = np.random.default_rng(0).normal(size=(feet, 3))
    noise = np.tile(1e-5 * np.eye(3), (feet, 1, 1))
    for foot in range(feet):
        found.stand(foot, places[foot], noise[foot])
    found.predict(np.zeros(3), -GRAVITY, 1e-3)
    assert found.correct(places, noise) == []
    with pytest.raises(ValueError, match="16 feet"):
        module.kernel.filter_correct(*found._state(), places, noise, GATE)
