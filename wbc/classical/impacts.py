"""The impact of a robot on something hard: the velocity afterwards, the impulse, the lost energy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wbc.arrays import Array
from wbc.classical.task_space import TaskSpace


class Impact(NamedTuple):
    """An instant in which rows J come to rest: inelastic, and held in all their directions (ETH 3.66–3.72).

    For contacts that may slide or bounce off, `wbc.simulation` solves the problem with cones of friction: where nothing
    slides or parts, its answer is this one.

    Attributes:
        velocity: u⁺ = N u⁻ (ETH 3.70), shape (nv,).
        impulse: on the robot, −Λ J u⁻ (ETH 3.67 has that on the ground), N s, shape (rows,).
        energy_loss: ½ ṙ⁻ᵀ Λ ṙ⁻ = ½ Δuᵀ M Δu, J; never negative. ETH (3.71), (3.72) have the change, its negative.
    """

    velocity: Array
    impulse: Array
    energy_loss: float


def impact(support: TaskSpace) -> Impact:
    """The impact that brings the rows of a support to rest.

    Args:
        support: the rows, of a robot in the state before it; see `TaskSpace.of_contacts`.
    """
    speed = support.jacobian @ support.velocity
    impulse = -support.inertia @ speed
    return Impact(support.null_space @ support.velocity, impulse, 0.5 * float(np.maximum(-speed @ impulse, 0.0)))
