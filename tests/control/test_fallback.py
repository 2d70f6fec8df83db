"""The torque of last resort, against the equation of motion."""

from __future__ import annotations

import numpy as np
import pytest

import wbc
from tests.control.scenes import contacts
from wbc.control.fallback import command, fallback_torque
from wbc.control.solving import Outcome


def standing(name: str, v: float = 0.0) -> tuple[wbc.Dynamics, wbc.Tick, np.ndarray]:
    """A robot at rest, or with all its velocities alike, its contacts, and their Jacobian."""
    robot = wbc.load(name, "numpy")
    robot.update(robot.model.nominal, np.full(robot.nv, v))
    tick = wbc.Tick(robot, contacts(robot) if robot.model.floating else [])
    return robot, tick, tick.contact_jacobian(robot)


@pytest.mark.parametrize("name", ["arm", "quadruped", "humanoid"])
def test_it_holds_the_weight(name: str) -> None:
    """With forces at the contacts that carry what the motors can't."""
    robot, _, J = standing(name)
    torque, rest = fallback_torque(robot, J), np.array(robot.gravity_force)
    rest[robot.actuated] -= torque
    force = np.linalg.lstsq(J.T, rest, rcond=None)[0] if len(J) else np.zeros(0)
    np.testing.assert_allclose(J.T @ force, rest, atol=1e-6)


@pytest.mark.parametrize("name", ["arm", "quadruped"])
def test_joints_are_braked_by_five_times_their_inertia(name: str) -> None:
    (still, _, J), (moving, _, _) = standing(name), standing(name, 0.02)
    brakes = fallback_torque(moving, J) - fallback_torque(still, J)
    inertia = np.diagonal(moving.mass_matrix)[moving.actuated]
    np.testing.assert_allclose(brakes, -5.0 * inertia * 0.02, atol=1e-9)


def test_it_is_within_the_limits_and_a_number_whatever_the_state() -> None:
    robot, _, J = standing("quadruped", 1e4)
    torque = fallback_torque(robot, J)
    assert (np.abs(torque) <= robot.limits.effort).all() and (np.abs(torque) == robot.limits.effort).any()


def test_what_failed_keeps_what_was_reached_where_that_is_a_number() -> None:
    robot, tick, J = standing("quadruped")
    x = np.arange(1.0, tick.n + 1.0)
    fine = Outcome(x.copy(), "relaxed")
    assert command(robot, tick, fine) is fine.x
    failed = command(robot, tick, Outcome(x.copy(), "failed"))
    np.testing.assert_array_equal(failed[tick.torque], fallback_torque(robot, J))
    np.testing.assert_array_equal(failed[: robot.nv + tick.nf], x[: robot.nv + tick.nf])
    for wrong in (np.nan, np.inf):
        x[3] = wrong
        given = Outcome(x.copy(), "failed")
        lost = command(robot, tick, given)
        assert not lost[: robot.nv + tick.nf].any() and np.array_equal(lost[tick.torque], failed[tick.torque])
        np.testing.assert_array_equal(given.x, x)
