"""Joints beyond the ends of their ranges, where a robot has a stop whose force a controller does not know."""

from __future__ import annotations

import numpy as np

from wbc.dynamics.base import Dynamics
from wbc.model.loops import moved_joints
from wbc.model.model import Model

BEYOND = 5e-3
"""So far beyond its end, rad or m, a joint presses on its stop: one that rests there is nearer."""


class JointEnds:
    """Looks for driven joints, and those that closed loops tie to others, beyond the ends of their ranges.

    Args:
        model: of the robot.
    """

    def __init__(self, model: Model) -> None:
        self._names = [name for name in moved_joints(model) if model.joints[name].limited]
        self._q = np.array([model.q_index[name] for name in self._names], dtype=np.intp)
        self._v = np.array([model.v_index[name] for name in self._names], dtype=np.intp)

    def beyond(self, robot: Dynamics) -> dict[str, float]:
        """How far joints are beyond their ends, rad or m, by name; those alone that are.

        Args:
            robot: in the state of the tick.
        """
        q, limits = robot.q[self._q], robot.limits
        over = np.maximum(q - limits.upper[self._v], limits.lower[self._v] - q)
        return {self._names[index]: float(over[index]) for index in np.flatnonzero(over > BEYOND).tolist()}
