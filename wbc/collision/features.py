"""The corners and crossing edges of pairs that are near, all in one: measured, and measured again a moment later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wbc.arrays import Array, IntArray
from wbc.collision.corners import BAND, CROSSINGS, INNER, MOST, SLANT, Corners, corners, crossings, passing
from wbc.collision.engine import Engine, Witnesses
from wbc.collision.solid import Solid
from wbc.compiled import kernel

PER_PAIR = 1 + 2 * MOST + CROSSINGS
"""Numbers that what is measured of one pair may have: 0 for its nearest points, then corners, then crossings."""


class Features(NamedTuple):
    """Balls at corners, then edges that cross.

    Attributes:
        first: what each is a part of, an index of the solids, shape (n,).
        second: what each is measured against, shape (n,).
        keys: pair · `PER_PAIR` + a number, shape (n,).
        centers: of the balls, m, world axes, shape (balls, 3).
        radii: of the balls, m, shape (balls,).
        edges: start and way of both edges of a crossing, m, world axes, shape (crossings, 2, 2, 3).
        thick: their radii, m, shape (crossings, 2).
        normals: from the first to the second edge, roughly, world axes, shape (crossings, 3).
    """

    first: IntArray
    second: IntArray
    keys: IntArray
    centers: Array
    radii: Array
    edges: Array
    thick: Array
    normals: Array

    def measure(self, engine: Engine, poses: Array) -> Witnesses:
        """Nearest points of corners and what they are measured against, and of the edges."""
        balls = len(self.radii)
        found = engine.measure_balls(poses, self.centers, self.radii, self.second[:balls])
        if not len(self.edges):
            return found
        return found.and_also(passing(self.edges, self.thick, self.normals))

    def carried(self, poses: Array, later: Array, turn: Array) -> Features:
        """The same when the solids have moved.

        Args:
            poses: where they were, shape (solids, 4, 4).
            later: where they are.
            turn: how they turned, shape (solids, 3, 3).
        """
        balls, one, other = len(self.radii), self.first, self.second
        if kernel is not None:
            centers, edges = self.centers.copy(), self.edges.copy()
            kernel.features_carried(centers, edges, one, other, poses, later, turn)
            return self._replace(centers=centers, edges=edges)
        mine = one[:balls]
        centers = (turn[mine] @ (self.centers - poses[mine, :3, 3])[:, :, None])[:, :, 0] + later[mine, :3, 3]
        if not len(self.edges):
            return self._replace(centers=centers)
        edges = np.empty_like(self.edges)
        for side, whose in enumerate((one[balls:], other[balls:])):
            was = self.edges[:, side].copy()
            was[:, 0] -= poses[whose, :3, 3]
            edges[:, side] = was @ turn[whose].transpose(0, 2, 1)
            edges[:, side, 0] += later[whose, :3, 3]
        return self._replace(centers=centers, edges=edges)


_CORNERED = {"box": 1, "capsule": 2, "cylinder": 3, "convex": 4}
"""Kinds of solids with corners, as the kernel knows them."""

_LIMITS = np.array([BAND, SLANT, INNER])


def shape_of(solid: Solid) -> tuple[int, tuple[float, ...], Array | None]:
    """A solid as the kernel has it: its kind, three numbers, the points of a hull."""
    points = None if solid.points is None else np.ascontiguousarray(solid.points, dtype=float)
    return _CORNERED.get(solid.kind, 0), (*solid.size, 0.0, 0.0, 0.0)[:3], points


def features(
    solids: Sequence[Solid],
    shapes: tuple[object, ...],
    poses: Array,
    pairs: tuple[IntArray, IntArray, IntArray],
    normals: Array,
) -> Features | None:
    """Corners and crossings of pairs.

    Args:
        solids: all of them.
        shapes: `shape_of` each.
        poses: of them in the world, shape (solids, 4, 4).
        pairs: numbers of the pairs, and the indices of their solids, shape (pairs,) each.
        normals: of the pairs, shape (pairs, 3).

    Returns:
        None where there are none.
    """
    if kernel is not None:
        return _by_kernel(shapes, poses, pairs, normals)
    balls: list[tuple[int, int, int, Array, Corners]] = []
    edges = []
    for number, one, other, normal in zip(*(part.tolist() for part in pairs), normals, strict=True):
        faces: list[tuple[Array, float]] = []
        for mine, its, side in ((one, other, 1.0), (other, one, -1.0)):
            R = poses[mine, :3, :3]
            found = corners(solids[mine], side * (normal @ R))
            if found is None:
                continue
            points = found.points @ R.T + poses[mine, :3, 3]
            if found.near.sum() > 1:
                faces.append((points, found.radius))
            balls.append((number * PER_PAIR + 1 + (0 if side > 0 else MOST), mine, its, points, found))
        if len(faces) == 2:
            crossing = crossings(faces[0][0], faces[1][0], normal)
            if crossing is not None:
                edges.append((number, one, other, crossing, (faces[0][1], faces[1][1]), normal))
    if not balls:
        return None
    first: list[int] = []
    second: list[int] = []
    keys: list[int] = []
    radii: list[float] = []
    for start, mine, its, _, found in balls:
        which = found.keys[found.near].tolist()
        first += [mine] * len(which)
        second += [its] * len(which)
        radii += [found.radius] * len(which)
        keys += [start + key for key in which]
    for number, one, other, crossing, *_ in edges:
        which = crossing.keys.tolist()
        first += [one] * len(which)
        second += [other] * len(which)
        keys += [number * PER_PAIR + 1 + 2 * MOST + key for key in which]
    centers = np.concatenate([points[found.near] for *_, points, found in balls])
    if edges:
        ends = np.concatenate([crossing.edges for *_, crossing, _, _ in edges])
        thick = np.concatenate([[both] * len(crossing.keys) for *_, crossing, both, _ in edges])
        across = np.concatenate([[normal] * len(crossing.keys) for *_, crossing, _, normal in edges])
    else:
        ends, thick, across = np.zeros((0, 2, 2, 3)), np.zeros((0, 2)), np.zeros((0, 3))
    a, b, c = (np.array(values, dtype=np.intp) for values in (first, second, keys))
    return Features(a, b, c, centers, np.array(radii), ends, thick, across)


def _by_kernel(
    shapes: tuple[object, ...], poses: Array, pairs: tuple[IntArray, IntArray, IntArray], normals: Array
) -> Features | None:
    """See `features`."""
    assert kernel is not None
    number, one, other = pairs
    most, more = 8 * len(number), 16 * len(number)  # of corners and crossings
    balls, crossed = np.empty(4 * most, dtype=np.int64), np.empty(4 * more, dtype=np.int64)
    centers, radii = np.empty((most, 3)), np.empty(most)
    ends, thick, across = np.empty((more, 2, 2, 3)), np.empty((more, 2)), np.empty((more, 3))
    both = np.column_stack([one, other]).ravel()
    outputs = balls, centers, radii, crossed, ends, thick, across
    b, c = kernel.pairs_features(shapes, poses, both, normals, _LIMITS, *outputs)
    if not b:
        return None
    first, second, key, of = np.concatenate([balls[: 4 * b], crossed[: 4 * c]]).reshape(-1, 4).T.copy()
    keys = number[of] * PER_PAIR + key
    return Features(first, second, keys, centers[:b], radii[:b], ends[:c], thick[:c], across[:c])
