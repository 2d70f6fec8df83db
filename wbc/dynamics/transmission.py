"""From actuators to joints: G, with the generalised force τ = Gᵀ u of what the actuators give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wbc.arrays import Array
from wbc.model.actuators import Actuator
from wbc.model.model import Model
from wbc.model.tree import Tree

if TYPE_CHECKING:
    from wbc.dynamics.base import Dynamics


class Transmission:
    """The actuators of a model, laid out: motors of joints in the order of v, then the others.

    Args:
        model: whose they are.
        tree: the model's.

    Attributes:
        plain: whether each actuator is the motor of a joint.
        constant: whether G is the same in all configurations.
    """

    def __init__(self, model: Model, tree: Tree) -> None:
        self._own = len(model.actuated)
        self.plain = not model.actuators
        fixed = np.zeros((model.na, model.nv))
        fixed[np.arange(self._own), model.actuated] = 1.0
        self._thrusters: list[tuple[int, Actuator, Array]] = []
        for row, actuator in enumerate(model.actuators, start=self._own):
            for joint, rate in actuator.acts.items():
                start = model.v_index[joint]
                fixed[row, start : start + model.joints[joint].nv] = rate
            if actuator.frame:
                self._thrusters.append((row, actuator, _apart(tree, actuator, model.nv)))
        fixed.setflags(write=False)
        self._fixed, self.constant = fixed, not self._thrusters

    def matrix(self, robot: Dynamics) -> Array:
        """G in the robot's present state, shape (na, nv)."""
        if self.constant:
            return self._fixed
        G = self._fixed.copy()
        for row, actuator, apart in self._thrusters:
            J = robot.jacobian(actuator.frame)
            if actuator.against:
                J = (J - robot.jacobian(actuator.against)) * apart
            R = robot.pose(actuator.against or actuator.frame)[:3, :3]
            G[row] += (actuator.unit.reshape(2, 3) @ R.T).ravel() @ J
        return G

    def force(self, robot: Dynamics, u: Array) -> Array:
        """Gᵀ u, shape (nv,)."""
        if self.plain:
            total = np.zeros(robot.nv)
            total[robot.model.actuated] = u
            return total
        return np.asarray(u @ robot.actuation_matrix)


def _apart(tree: Tree, actuator: Actuator, nv: int) -> Array:
    """1 for velocities that move one of the two frames alone: what moves both feels neither force nor reaction."""
    moves = np.zeros((2, nv), dtype=bool)
    for which, frame in enumerate((actuator.frame, actuator.against)):
        node = tree.place(frame)[0] if frame else 0
        while node > 0:
            start = tree.nodes[node].v_index
            moves[which, start : start + tree.nodes[node].nv] = True
            node = tree.nodes[node].parent
    return np.where(moves[0] ^ moves[1], 1.0, 0.0)
