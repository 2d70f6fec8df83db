"""Corners of shapes that lie nearly flat on each other: where the nearest points jump from one to the next.

The distance of two shapes is that of their nearest points; where two faces are nearly parallel, these jump from corner
to corner when the faces turn, and with them what the distance does when the robot moves. The distances of the corners
themselves change smoothly, and so do those of edges that cross; the least of them is the distance of the shapes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wbc.arrays import Array, IntArray, MaskArray
from wbc.collision.closed_forms import PARALLEL, dot, segments
from wbc.collision.engine import Witnesses
from wbc.collision.solid import Solid
from wbc.compiled import kernel

BAND = 0.03
"""Corners that lie this much farther from the other shape than the nearest one, along the normal, are left out, m."""

_SIGNS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
_FACES = np.array([[np.flatnonzero(_SIGNS[:, axis] == side)[[0, 1, 3, 2]] for side in (-1, 1)] for axis in range(3)])
_QUARTERS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])

MOST = 10
"""Numbers that corners of one shape have, at the most: what tells them apart."""

CROSSINGS = 16
"""Numbers that crossings of the edges of two shapes have, at the most."""

SLANT = 0.02
"""Sine of the angle below which edges are parallel, and do not cross."""

INNER = 1e-3
"""Edges cross where their nearest points are farther from their ends than this share of their length."""


class Corners(NamedTuple):
    """Balls at the corners of a shape, in its own axes.

    Attributes:
        points: their centres, m, in the frame of the solid, in the order in which edges join them, shape (n, 3).
        keys: a number of each, below `MOST`, shape (n,).
        near: which of them are in the band, shape (n,).
        radius: of all of them, m.
    """

    points: Array
    keys: IntArray
    near: MaskArray
    radius: float


def corners(solid: Solid, normal: Array) -> Corners | None:
    """The corners of a shape that may be nearest to what lies in a direction.

    Args:
        solid: of any kind.
        normal: to the other shape, unit, in its own axes, shape (3,).

    Returns:
        None for a shape that has none: a sphere, a plane.
    """
    match solid.kind:
        case "box":
            half = np.array(solid.size) / 2
            axis = int(np.abs(normal).argmax())
            keys = _FACES[axis, int(normal[axis] > 0)]
            found = _SIGNS[keys] * half
        case "capsule":
            keys = np.array([0, 1])
            found = np.array([[0.0, 0.0, -solid.size[1] / 2], [0.0, 0.0, solid.size[1] / 2]])
        case "cylinder":
            found, keys = _rim(solid, normal)
        case "convex":
            found, keys = _support(solid, normal)
        case _:
            return None
    height = found @ normal
    return Corners(found, keys, height > height.max() - BAND, solid.size[0] if solid.kind == "capsule" else 0.0)


class Crossings(NamedTuple):
    """Edges of two shapes that pass each other.

    Attributes:
        edges: start and way of an edge of the first and of one of the second shape, m, world axes, shape (n, 2, 2, 3).
        keys: numbers below `CROSSINGS`, shape (n,).
    """

    edges: Array
    keys: IntArray


def crossings(one: Array, other: Array, normal: Array) -> Crossings | None:
    """The edges of two faces that cross, seen along the normal.

    Args:
        one: corners of a face of the first shape, or the two ends of an edge, in order, m, world axes, shape (n, 3).
        other: of the second shape.
        normal: from the first to the second, unit, shape (3,).

    Returns:
        None where none do.
    """
    m, n = (len(points) if len(points) > 2 else len(points) - 1 for points in (one, other))
    if not (m and n):
        return None
    edges = np.empty((m, n, 2, 2, 3))
    for side, (points, count) in enumerate(((one, m), (other, n))):
        ends = np.stack([points, points[[*range(1, len(points)), 0]] - points], axis=1)[:count]
        edges[:, :, side] = ends[:, None] if side == 0 else ends[None]
    both: Array = edges.reshape(m * n, 2, 2, 3)
    p, d, q, e = both[:, 0, 0], both[:, 0, 1], both[:, 1, 0], both[:, 1, 1]
    # where they cross, seen along the normal: p + s d = q + t e but for what is along it
    K = np.array([[0.0, -normal[2], normal[1]], [normal[2], 0.0, -normal[0]], [-normal[1], normal[0], 0.0]])
    turned, across = d @ K.T, e @ K.T
    area, way = dot(across, d), q - p
    usable = area * area > SLANT * SLANT * dot(d, d) * dot(e, e)
    safe = np.where(usable, area, 1.0)
    s, t = dot(across, way) / safe, dot(turned, way) / safe
    inner = usable & (s > INNER) & (s < 1 - INNER) & (t > INNER) & (t < 1 - INNER)
    if not inner.any():
        return None
    gap = (way + t[:, None] * e - s[:, None] * d) @ normal
    chosen = np.flatnonzero(inner & (gap < gap[inner].min() + BAND))
    return Crossings(both[chosen], chosen % CROSSINGS)


def passing(edges: Array, radii: Array, normal: Array) -> Witnesses:
    """The nearest points of edges that pass each other.

    Args:
        edges: starts and ways of both, m, world axes, shape (n, 2, 2, 3).
        radii: of both, m, shape (n, 2).
        normal: to which side the second is, roughly, shape (n, 3).
    """
    if kernel is not None:
        found = Witnesses.empty(len(edges))
        kernel.edges_passing(edges, radii, normal, PARALLEL, *found)
        return found
    first, second = edges[:, 0], edges[:, 1]
    x, y = segments(first[:, 0], first[:, 1], second[:, 0], second[:, 1])
    way = y - x
    size = np.linalg.norm(way, axis=1)
    side = np.where(np.einsum("ni,ni->n", way, normal) < 0.0, -1.0, 1.0)
    clear = size > 1e-9
    n = np.where(clear[:, None], way * (side / np.where(clear, size, 1.0))[:, None], normal)
    return Witnesses(side * size - radii.sum(axis=1), n, x + radii[:, :1] * n, y - radii[:, 1:] * n)


def _rim(solid: Solid, normal: Array) -> tuple[Array, IntArray]:
    """Of a cylinder: four points of the rim of an end, or the two ends of the line that it lies on."""
    radius, length = solid.size
    if abs(normal[2]) > 0.7:
        top = normal[2] > 0
        ring = np.column_stack([radius * _QUARTERS, np.full(4, length / 2 if top else -length / 2)])
        return ring, np.arange(4) + (4 if top else 0)
    side = normal[:2] / np.linalg.norm(normal[:2]) * radius
    return np.array([[*side, -length / 2], [*side, length / 2]]), np.array([8, 9])


def _support(solid: Solid, normal: Array) -> tuple[Array, IntArray]:
    """Of a hull: of the corners within the band, those that are outermost in four directions."""
    assert solid.points is not None
    height = solid.points @ normal
    near = np.flatnonzero(height > height.max() - BAND)
    axis = int(np.abs(normal).argmin())
    x = np.cross(normal, np.eye(3)[axis])
    x /= np.linalg.norm(x)
    flat = solid.points[near] @ np.column_stack([x, np.cross(normal, x)])
    # a slope to the other shape comes first: of a rounded face, its rim is not what is near
    reach = flat @ _QUARTERS.T + height[near, None]
    picked = near[reach.argmax(axis=0)]  # in order round the normal
    chosen = picked[np.sort(np.unique(picked, return_index=True)[1])]
    return solid.points[chosen], chosen % MOST
