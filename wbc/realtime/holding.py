"""Gains that hold a posture, where nobody gave any."""

from __future__ import annotations

import math

import numpy as np

from wbc.arrays import Array
from wbc.dynamics.base import Dynamics

FULL = 0.3
"""Error of a joint at which the gains that hold it ask for all of its torque, rad or m, where nobody says otherwise."""

STIFF = 5.0
"""The same where no limit of the torque is known: frequency of the joint by itself, Hz."""

STIFFEST = 30.0
"""The same, at most, Hz: a strong motor that turns next to nothing would go to and fro from one millisecond to the
next."""


def holding_gains(robot: Dynamics) -> tuple[Array, Array]:
    """Gains that hold each joint: all of its torque at `FULL`, or as stiff as `STIFFEST`; critical damping of what it
    moves by itself.

    Args:
        robot: its state is not touched.

    Returns:
        kp, N m/rad or N/m, and kd, N m s/rad or N s/m, shape (na,).
    """
    twin = robot.copy()
    twin.update(robot.model.nominal)
    inertia = np.diagonal(twin.mass_matrix)[robot.actuated]
    effort = robot.limits.effort
    most = inertia * (2 * math.pi * STIFFEST) ** 2
    kp = np.where(np.isfinite(effort), np.minimum(effort / FULL, most), inertia * (2 * math.pi * STIFF) ** 2)
    return kp, 2.0 * np.sqrt(kp * inertia)
