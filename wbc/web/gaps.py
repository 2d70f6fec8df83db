"""Distances between bodies that are near each other, as a page shows them."""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np

from wbc.arrays import Array
from wbc.collision import CollisionGeometry
from wbc.collision.solid import Solid
from wbc.control.stack import Stack
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError
from wbc.model.model import WORLD

NEAR = 0.1
"""Pairs are shown that are no farther than this beyond their margin, m."""

MOST = 8
"""Pairs that are shown, at the most; the nearest ones."""


class Gap(NamedTuple):
    """Two shapes that are near each other.

    Attributes:
        names: of both.
        first: the nearest point of the one, world axes, m.
        second: that of the other, world axes, m.
        distance: m; negative where they overlap.
        margin: that is kept between them, m; 0 where nothing keeps one.
    """

    names: tuple[str, str]
    first: tuple[float, float, float]
    second: tuple[float, float, float]
    distance: float
    margin: float


class Obstacle(NamedTuple):
    """A shape that stands around a robot, or moves there, and is not of its file.

    Attributes:
        solid: the shape.
        pose: in the world, shape (4, 4).
    """

    solid: Solid
    pose: Array


class Gaps:
    """Measures what is near, with a copy of the geometry: the original may change on another thread.

    Args:
        geometry: shapes and pairs; it is only read.
        margin: that is kept, m.
    """

    def __init__(self, geometry: CollisionGeometry, margin: float = 0.0) -> None:
        self._geometry, self._margin = geometry, margin
        self._version, self._own = -1, geometry

    @classmethod
    def of(cls, robot: Dynamics, stack: Stack | None = None) -> Gaps | None:
        """The pairs that a task keeps apart, or else those of the robot's own shapes; None without pairs.

        Args:
            robot: that is shown.
            stack: of its controller; None: it is not known.
        """
        for task in stack or ():
            geometry = getattr(task, "geometry", None)
            if isinstance(geometry, CollisionGeometry):
                return cls(geometry, float(getattr(task, "margin", 0.0)))
        try:
            own = CollisionGeometry(robot)
        except WbcError:  # a mesh that is not there, say
            return None
        return cls(own) if own.pairs else None

    def look(self, robot: Dynamics) -> tuple[Gap, ...]:
        """The nearest pairs.

        Args:
            robot: updated.
        """
        try:
            if self._version != self._geometry.version:
                version = self._geometry.version
                self._own, self._version = copy.deepcopy(self._geometry), version
            for name, (pose, twist) in list(self._geometry.moved.items()):
                self._own.move(name, pose, twist)
        except (RuntimeError, KeyError):  # it is being changed just now: the next picture has them
            return ()
        pairs, seen = self._own.pairs, self._own.witnesses(robot)
        order = np.argsort(seen.distance, kind="stable")[:MOST].tolist()
        return tuple(
            Gap(
                (pairs[k][0], pairs[k][1]),
                tuple(seen.first[k].tolist()),
                tuple(seen.second[k].tolist()),
                float(seen.distance[k]),
                self._margin,
            )
            for k in order
            if seen.distance[k] < self._margin + NEAR
        )

    def obstacles(self) -> tuple[Obstacle, ...]:
        """The shapes that were added to the world, as they were at the last look."""
        solids, moved = self._own.solids, self._own.moved
        around = [solids[name] for name in self._own.added if solids[name].body == WORLD]
        return tuple(Obstacle(it, moved[it.name][0] if it.name in moved else it.pose) for it in around)
