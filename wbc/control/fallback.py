"""The torque of last resort: it carries the weight and damps the joints, within the limits."""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array
from wbc.control.solving import Outcome
from wbc.dynamics.base import Dynamics
from wbc.singular_values import least_squares
from wbc.tasking.tick import Tick

DAMPING = 5.0
"""Joint damping by the joint's entry on the diagonal of the mass matrix, N m s/rad per kg m²: a free joint slows down
with a time constant of a fifth of a second."""


def fallback_torque(robot: Dynamics, Jc: Array) -> Array:
    """Gravity compensation with joint damping, clipped to the torque limits.

    The force that carries the base is spread over the closed contacts by least squares; the joints give the rest.

    Args:
        robot: updated.
        Jc: contact Jacobian with generalised force Jcᵀ f, shape (nf, nv).

    Returns:
        Shape (na,).
    """
    unactuated = np.ones(robot.nv, dtype=bool)
    unactuated[robot.actuated] = False
    if robot.model.actuators:
        return _shared(robot, Jc)
    gravity = robot.gravity_force
    force: Array = np.zeros(len(Jc))
    if len(Jc) and unactuated.any():
        force = least_squares(Jc[:, unactuated].T, gravity[unactuated], 1e-6)
    damping = DAMPING * np.diagonal(robot.mass_matrix)[robot.actuated]
    torque = (gravity - Jc.T @ force)[robot.actuated] - damping * robot.v[robot.actuated]
    return _within(robot, torque)


def _shared(robot: Dynamics, Jc: Array) -> Array:
    """The same where actuators are not motors of joints: in the least-squares sense, contacts first."""
    damping = DAMPING * np.diagonal(robot.mass_matrix) * robot.v
    wanted = np.nan_to_num(robot.gravity_force - damping)
    both = np.vstack([robot.actuation_matrix, Jc]).T
    shares: Array = least_squares(both, wanted, 1e-6)
    return _within(robot, shares[: robot.na])


def _within(robot: Dynamics, torque: Array) -> Array:
    """Torques that the actuators can give."""
    clipped: Array = np.clip(np.nan_to_num(torque), robot.limits.least, robot.limits.effort)
    return clipped


def command(robot: Dynamics, tick: Tick, outcome: Outcome) -> Array:
    """X of a solution: what was solved for, or the fallback torque where that failed.

    Args:
        robot: updated.
        tick: the closed contacts.
        outcome: of the tick.
    """
    if outcome.status != "failed":
        return outcome.x
    x = outcome.x.copy() if np.isfinite(outcome.x).all() else np.zeros(tick.n)
    x[tick.torque] = fallback_torque(robot, tick.contact_jacobian(robot))
    return x
