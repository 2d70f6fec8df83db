"""Every Jacobian and every bias against central differences along `integrate`."""

from __future__ import annotations

import numpy as np
import pytest

from tests.robots import BACKENDS, PACKAGED, REAL, Robot, load
from wbc.geometry import so3, twist

ROBOTS = [*PACKAGED, REAL[2], REAL[3], REAL[5]]
STEP = 1e-5
CLOSE = 2e-8  # of a central difference of first derivatives with that step, for motions of a few rad/s and m/s


def state(robot, seed):
    rng = np.random.default_rng(seed)
    return robot.random(rng), rng.normal(size=robot.nv), rng


def along(robot, q, v, measure):
    """(measure(t + h) - measure(t - h)) / 2h for the robot moving with the constant velocity v."""
    ends = []
    for sign in (1, -1):
        robot.update(robot.integrate(q, v, sign * STEP), v)
        ends.append(measure())
    robot.update(q, v)
    return (ends[0] - ends[1]) / (2 * STEP)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_velocities_are_rates_of_positions(robot: Robot, backend: str) -> None:
    ours = load(robot, backend)
    for seed in range(3):
        q, v, rng = state(ours, seed)
        frame = ours.frames[rng.integers(len(ours.frames))]
        ours.update(q, v)
        R0 = ours.pose(frame)[:3, :3]
        linear = along(ours, q, v, lambda f=frame: ours.pose(f)[:3, 3])
        angular = along(ours, q, v, lambda f=frame, R0=R0: so3.log(ours.pose(f)[:3, :3] @ R0.T))
        assert np.allclose(ours.twist(frame), np.r_[linear, angular], atol=CLOSE, rtol=CLOSE)
        assert np.allclose(ours.com_velocity, along(ours, q, v, lambda: ours.com), atol=CLOSE, rtol=CLOSE)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_biases_are_rates_of_velocities_at_constant_v(robot: Robot, backend: str) -> None:
    ours = load(robot, backend)
    for seed in range(3):
        q, v, rng = state(ours, seed)
        frame = ours.frames[rng.integers(len(ours.frames))]
        close = {"atol": 10 * CLOSE * (1 + v @ v), "rtol": CLOSE}
        # J̇v is the classical acceleration: for its linear rows the second derivative of the position
        assert np.allclose(along(ours, q, v, lambda f=frame: ours.twist(f)), ours.jacobian_bias(frame), **close)
        assert np.allclose(along(ours, q, v, lambda: ours.com_velocity), ours.com_bias, **close)
        momentum = along(ours, q, v, lambda: ours.momentum)
        assert np.allclose(momentum, ours.momentum_bias, atol=close["atol"] * ours.mass, rtol=CLOSE)
        for representation in ("mixed", "left", "right"):
            J_dot = along(ours, q, v, lambda f=frame, r=representation: ours.jacobian(f, r))
            assert np.allclose(J_dot, ours.jacobian_derivative(frame, representation), **close)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_jacobian_columns_are_unit_velocities(robot: Robot) -> None:
    ours = load(robot, "numpy")
    q, _, rng = state(ours, 7)
    frame = ours.frames[rng.integers(len(ours.frames))]
    ours.update(q)
    J = ours.jacobian(frame)
    for column, unit in enumerate(np.eye(ours.nv)):
        linear = along(ours, q, unit, lambda: ours.pose(frame)[:3, 3])
        assert np.allclose(linear, J[:3, column], atol=CLOSE)


@pytest.mark.parametrize("robot", PACKAGED, ids=lambda robot: robot.name)
def test_representations_are_transforms_of_the_twist(robot: Robot) -> None:
    ours = load(robot, "numpy")
    q, v, rng = state(ours, 3)
    ours.update(q, v)
    frame = ours.frames[rng.integers(len(ours.frames))]
    T, V = ours.pose(frame), ours.twist(frame)
    assert np.allclose(ours.jacobian(frame, "left") @ v, twist.mixed_to_left(T) @ V, atol=1e-12)
    assert np.allclose(ours.jacobian(frame, "right") @ v, twist.mixed_to_right(T) @ V, atol=1e-12)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_gravity_is_the_slope_of_potential_energy(robot: Robot) -> None:
    ours = load(robot, "numpy")
    q, _, _ = state(ours, 5)
    ours.update(q)
    slope = [along(ours, q, unit, lambda: np.array(ours.potential_energy)) for unit in np.eye(ours.nv)]
    ours.update(q)
    assert np.allclose(slope, ours.gravity_force, atol=1e-6 * (1 + np.abs(ours.gravity_force).max()))


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_power_of_bias_is_the_loss_of_kinetic_energy(robot: Robot) -> None:
    """With no torque, the energy of a robot without passive forces is constant: its rate along v̇ = −M⁻¹ h is zero."""
    ours = load(robot, "numpy")
    q, v, _ = state(ours, 6)
    ours.update(q, v)
    vdot = np.linalg.solve(ours.mass_matrix, -(ours.bias + ours.passive_force))

    def energy(sign: int) -> float:
        ours.update(ours.integrate(q, v + vdot * sign * STEP / 2, sign * STEP), v + vdot * sign * STEP)
        return ours.kinetic_energy + ours.potential_energy

    rate = (energy(1) - energy(-1)) / (2 * STEP)
    size = np.abs(v) @ np.abs(ours.bias) + 1
    assert abs(rate) < 1e-5 * size
