"""How far legs reach."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from tasks.limbs import way
from wbc.arrays import Array
from wbc.dynamics import Dynamics

STRAIGHT = 0.98
"""Share of a leg's length that is used: a straight leg can't be led any more."""


def horizontal_reach(posed: Dynamics, foot: str, sole: Array, lower: float) -> float:
    """How far from under its hip a foot reaches on the ground, m.

    Args:
        posed: in its nominal configuration.
        foot: frame.
        sole: where the foot is, m, shape (3,).
        lower: by how much the hip is lower when it walks, m.
    """
    model = posed.model
    others = {name for other in model.feet if other != foot for name in way(posed, other)}
    own = [name for name in way(posed, foot) if name not in others]
    places = [sole, *(posed.pose(model.joints[name].child)[:3, 3] for name in own)]
    length = sum(float(np.linalg.norm(a - b)) for a, b in pairwise(places))
    hip = float(places[-1][2] - sole[2]) - lower
    return math.sqrt(max((STRAIGHT * length) ** 2 - hip**2, (0.2 * length) ** 2))
