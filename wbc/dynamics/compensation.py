"""Weight that something outside the robot carries: counterweights, or what MuJoCo calls `gravcomp`.

A body whose share c of its weight is compensated feels −c m g at its centre of mass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wbc.arrays import Array
from wbc.model.model import Model
from wbc.model.tree import Tree

if TYPE_CHECKING:
    from wbc.dynamics.backend import Backend, FrameSet


class Compensation:
    """The forces that carry a robot's bodies in part.

    Args:
        nodes: of the tree, that the bodies belong to.
        poses: of the bodies' centres of mass in their nodes, shape (4, 4) each.
        forces: on them, world axes, N, shape (3 n,).
    """

    def __init__(self, nodes: list[int], poses: list[Array], forces: Array) -> None:
        self._nodes, self._poses, self._forces = nodes, poses, forces
        self._frames: FrameSet | None = None

    @classmethod
    def of(cls, model: Model, tree: Tree) -> Compensation | None:
        """The compensation of a robot; None if no moving body is compensated.

        Args:
            model: the robot.
            tree: the model's.
        """
        nodes, poses, forces = [], [], []
        for body in model.bodies.values():
            node, place = tree.places[body.name]
            if body.compensation and body.mass and node:
                pose = np.eye(4)
                pose[:3, 3] = place[:3, :3] @ body.com + place[:3, 3]
                nodes.append(node)
                poses.append(pose)
                forces.append(-body.compensation * body.mass * model.gravity)
        return cls(nodes, poses, np.concatenate(forces)) if nodes else None

    def _points(self, robot: Backend) -> tuple[Array, Array, Array]:
        """Positions of the centres of mass, and their Jacobians."""
        if self._frames is None:
            self._frames = robot._frame_set(self._nodes, self._poses)
        chosen = self._frames
        return robot._points(chosen.places) if chosen.reader is None else chosen.points()

    def force(self, robot: Backend) -> Array:
        """The generalised force in the robot's present state, shape (nv,)."""
        found: Array = self._forces @ self._points(robot)[1]
        return found

    def energy(self, robot: Backend) -> float:
        """Potential energy of the compensating forces in the present state, J; zero at the world's origin."""
        return -float(self._forces @ self._points(robot)[0])
