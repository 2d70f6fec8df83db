"""Lengths that make velocities in rad/s and in m/s comparable, for robots of any size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wbc.arrays import Array
from wbc.model.parts import Joint

if TYPE_CHECKING:
    from wbc.dynamics.base import Dynamics

SPAN = 2.9
"""A robot is so many times as long as its radius of gyration: a humanoid is 1.2 m then, a quadruped 0.9 m."""

_TURNS: dict[str, tuple[bool, ...]] = {
    "floating": (False, False, False, True, True, True),
    "planar": (False, False, True),
    "spherical": (True, True, True),
    "prismatic": (False,),
}
"""Which velocities of a joint turn; where a kind is not here, all do."""


def lengths_of(robot: Dynamics) -> Array:
    """A length by velocity, read-only, shape (nv,): 1 for what moves; for what turns the robot's own, m.

    The robot's own is of its nominal configuration, about its centre of mass. A robot with a fixed base has 1
    everywhere: all of its joints are alike.

    Args:
        robot: whose state is overwritten.
    """
    model, lengths = robot.model, np.ones(robot.nv)
    if model.floating and robot.mass > 0.0:
        robot.update(np.array(model.nominal), np.zeros(robot.nv))
        inertia = robot.momentum_matrix[3:, 3:6]  # of all as one body
        radius = np.sqrt(max(float(np.trace(inertia)), 0.0) / (2.0 * robot.mass))
        turns = [turn for joint in model.joints.values() for turn in _turns(joint)]
        if radius > 0.0:
            lengths[turns] = SPAN * radius
    lengths.flags.writeable = False
    return lengths


def _turns(joint: Joint) -> tuple[bool, ...]:
    return _TURNS.get(joint.kind, (True,) * joint.nv)
