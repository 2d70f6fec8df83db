"""Tolerances of limits, as shares of a robot's own forces and torques, so that a gripper of grams and a machine of
tonnes are judged alike.
"""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array
from wbc.dynamics.base import Dynamics
from wbc.tasking.rows import Block

SHARE = 1e-8
"""A force may be beyond its bound by this share of the robot's weight, a torque by this share of what its actuator
gives, and the equation of motion off by this share of its largest term."""

GRAVITY = 9.81
"""Gravity that converts mass to weight, also for a robot in space, m/s²."""


def force_tolerance(mass: float) -> float:
    """Tolerance of forces, N.

    Args:
        mass: of the robot, kg.
    """
    return SHARE * GRAVITY * max(mass, 1e-9)


def torque_tolerance(robot: Dynamics) -> Array:
    """Tolerance of the torque of each actuator, N m or N, shape (na,)."""
    found: Array = SHARE * robot.limits.effort
    return found


def load_unit(robot: Dynamics, acceleration: Block, torque: Block) -> float:
    """What counts as one of the unit of some rows: 1, but no more than a small robot's weight or torques.

    Args:
        robot: that they are about.
        acceleration: their block of v̇, or of v.
        torque: their block of τ.
    """
    if acceleration is not None:
        return 1.0
    effort = robot.limits.effort
    finite = effort[np.isfinite(effort)] if torque is not None else effort[:0]
    return min(1.0, float(finite.max()) if len(finite) else GRAVITY * max(robot.mass, 1e-9))
