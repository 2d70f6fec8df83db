"""Robots with one joint, and with none: where arrays lose a dimension and sums are empty."""

from __future__ import annotations

import numpy as np
import pytest

import wbc
from tests.robots import BACKENDS
from wbc import WbcError
from wbc.model import Body, Joint, Model

MASS, LENGTH, INERTIA = 2.0, 0.5, 0.03
PENDULUM = Model(
    "pendulum",
    [Body("bob", MASS, np.array([0.0, 0.0, -LENGTH]), INERTIA * np.eye(3))],
    [Joint("hinge", "revolute", "world", "bob", axis=np.array([0.0, 1.0, 0.0]))],
)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_pendulum_is_a_pendulum(backend) -> None:
    robot = wbc.load(PENDULUM, backend)
    angle, rate = 0.3, 2.0
    robot.update([angle], [rate])
    s, c = np.sin(angle), np.cos(angle)
    about_hinge = INERTIA + MASS * LENGTH**2
    assert np.allclose(robot.mass_matrix, [[about_hinge]])
    assert np.allclose(robot.gravity_force, [MASS * 9.81 * LENGTH * s])
    assert np.allclose(robot.com, [-LENGTH * s, 0, -LENGTH * c])
    assert np.allclose(robot.com_velocity, [-LENGTH * c * rate, 0, LENGTH * s * rate])
    assert np.allclose(robot.com_bias, [LENGTH * s * rate**2, 0, LENGTH * c * rate**2])
    assert np.allclose(robot.momentum, [*(MASS * robot.com_velocity), 0, INERTIA * rate, 0])
    assert np.isclose(robot.kinetic_energy, 0.5 * about_hinge * rate**2)
    assert np.allclose(robot.inverse_dynamics([angle], [rate], [1.0]), about_hinge + robot.gravity_force)
    for name, rows in (("com_jacobian", 3), ("momentum_matrix", 6)):
        assert getattr(robot, name).shape == (rows, 1)
    for representation in ("mixed", "left", "right"):
        assert robot.jacobian("bob", representation).shape == (6, 1)
        assert robot.jacobian_derivative("bob", representation).shape == (6, 1)
    assert np.allclose(robot.twist("bob"), [0, 0, 0, 0, rate, 0])


NOTHING = Model(
    "bolted down", [Body("block", MASS, np.zeros(3), np.eye(3))], [Joint("bolt", "fixed", "world", "block")]
)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("backend", BACKENDS)
def test_where_nothing_moves_there_is_no_centre_of_mass(backend) -> None:
    robot = wbc.load(NOTHING, backend)
    robot.update([], [])
    assert robot.mass_matrix.shape == (0, 0)
    for name in ("bias", "gravity_force", "passive_force"):
        assert getattr(robot, name).shape == (0,)
    assert robot.kinetic_energy == robot.potential_energy == 0.0
    assert robot.jacobian("block").shape == robot.jacobian_derivative("block").shape == (6, 0)
    assert np.array_equal(robot.pose("block"), np.eye(4))
    assert robot.inverse_dynamics([], [], []).shape == robot.forward_dynamics([], [], []).shape == (0,)
    for name in ("com", "com_velocity", "com_jacobian", "com_bias", "momentum", "momentum_matrix", "momentum_bias"):
        with pytest.raises(WbcError, match=f"'bolted down' has no {name}: no part with a mass moves"):
            getattr(robot, name)


@pytest.mark.parametrize("backend", ("numpy", "pinocchio"))
def test_a_part_that_moves_without_mass_can_not_be_accelerated(backend) -> None:
    robot = wbc.load(Model("ghost", [Body("bob")], PENDULUM.joints.values()), backend)
    with pytest.raises(WbcError, match="mass matrix of 'ghost' is singular"):
        robot.forward_dynamics([0.1], [0.0], [1.0])
