"""The torque of last resort: hold the weight, damp the joints, stay within the limits."""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array
from wbc.control.solving import Outcome
from wbc.dynamics.base import Dynamics
from wbc.tasking.tick import Tick

DAMPING = 5.0
"""Joint damping by the joint's entry on the diagonal of the mass matrix, N m s/rad per kg m²: a free joint slows down
with a time constant of a fifth of a second."""


def fallback_torque(robot: Dynamics, Jc: Array) -> Array:
    """Gravity compensation with joint damping, clipped to the torque limits.

    What gravity asks of the base is spread over the closed contacts in the least-squares sense; joints give the rest.

    Args:
        robot: updated.
        Jc: contact Jacobian with generalized force Jcᵀ f, shape (nf, nv).

    Returns:
        Shape (na,).
    """
    unactuated = np.ones(robot.nv, dtype=bool)
    unactuated[robot.actuated] = False
    gravity = robot.gravity_force
    force: Array = np.zeros(len(Jc))
    if len(Jc) and unactuated.any():
        force = np.asarray(np.linalg.lstsq(Jc[:, unactuated].T, gravity[unactuated], rcond=1e-6)[0], dtype=float)
    damping = DAMPING * np.diagonal(robot.mass_matrix)[robot.actuated]
    torque = (gravity - Jc.T @ force)[robot.actuated] - damping * robot.v[robot.actuated]
    limit = robot.limits.effort
    clipped: Array = np.clip(np.nan_to_num(torque), -limit, limit)
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
