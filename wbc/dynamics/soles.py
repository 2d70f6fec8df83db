"""Finds the part of a rigid body that touches the ground: a point, a line, or a flat sole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from wbc.arrays import Array

FLAT = 0.06
"""Points within this share of a part's size of its lowest plane lie on it: rounded edges belong to a sole."""

LOW, BEARS = 1e-3, 0.5
"""Points that are no higher than this, m, are what bears the robot, where they span at least this share of the area of
the sole that has its rounded edges: a robot can't lean on those without tipping."""

TILTED = np.cos(np.radians(35.0))
"""Cosine of the greatest angle between a sole and the ground in the posture in which it is looked for."""

NEARLY_LEVEL = np.cos(np.radians(15.0))
"""Cosine of the greatest such angle of a line: a shank that leans is not what the robot stands on along its length."""

NARROW = 0.2
"""A touching area narrower than this share of its length is a line: two points hold it."""


@dataclass(frozen=True, eq=False)
class Patch:
    """Where a part touches the ground.

    Attributes:
        points: one, the two ends of a line, or the corners of a sole counter-clockwise from above; in the part's frame,
            m, shape (n, 3).
        normal: up, away from the ground, in the part's frame, shape (3,).
    """

    points: Array
    normal: Array


def touching(centres: Array, radii: Array, down: Array, small: float) -> Patch:
    """Finds where a convex part made of balls touches flat ground.

    The ground is the plane on which the part would come to rest: of the planes through its lowest point and within 35°
    of level, the one with the largest area on it; within 15°, where it would rest on a line.

    Args:
        centres: of the balls, in the part's frame, m, shape (n, 3).
        radii: m, shape (n,).
        down: the direction of the ground in the part's frame, unit, shape (3,).
        small: a touching area shorter than this is a point, m.
    """
    best, largest = None, -1.0
    size = float(np.ptp(centres, axis=0).max()) + 2 * float(radii.max())
    for direction in _directions(centres, radii, down):
        points = _lowest(centres, radii, direction, max(LOW, min(FLAT * size, 0.006)))
        area = _area(points, direction)
        if direction @ down < NEARLY_LEVEL and _narrow(points, direction):
            continue
        if area > 1.02 * largest + 1e-9:
            best, largest = (points, direction), area
    assert best is not None
    points, direction = best
    bearing = _lowest(centres, radii, direction, LOW)
    if _area(bearing, direction) > BEARS * largest and not _narrow(bearing, direction):
        points = bearing
    return _patch(points, -direction, small)


def _lowest(centres: Array, radii: Array, direction: Array, within: float) -> Array:
    """The points of balls that are within a height of the lowest along a direction, laid on the plane there."""
    heights = -(centres @ direction) - radii  # over any plane at right angles to the direction
    low = heights < heights.min() + within
    points = centres[low] + radii[low, None] * direction
    found: Array = points + np.outer(heights[low] - heights.min(), direction)
    return found


def _directions(centres: Array, radii: Array, down: Array) -> list[Array]:
    """Down, and the outward normals of the part's hull that are near it."""
    found = [down]
    shell = np.vstack([centres + radii[:, None] * down, centres]) if radii.any() else centres
    if len(shell) >= 4:
        try:
            normals = ConvexHull(shell).equations[:, :3]
        except QhullError:  # all in a plane
            normals = np.zeros((0, 3))
        near = normals[normals @ down > TILTED]
        found += list(near[np.unique(near.round(4), axis=0, return_index=True)[1]])[:400]
    return found


def _axes(normal: Array) -> tuple[Array, Array]:
    """Two directions in a plane; the first is the part's x axis, or its y axis, laid into the plane."""
    first = np.eye(3)[0 if abs(normal[0]) < 0.8 else 2]
    first = first - normal * (normal @ first)
    first = first / np.linalg.norm(first)
    return first, np.cross(normal, first)


def _flat(points: Array, normal: Array) -> Array:
    return points @ np.column_stack(_axes(normal))


def _area(points: Array, normal: Array) -> float:
    """Of the hull of points on a plane, m²."""
    if len(points) < 3:
        return 0.0
    try:
        return float(ConvexHull(_flat(points, normal)).volume)
    except QhullError:
        return 0.0


def _narrow(points: Array, normal: Array) -> bool:
    """Whether points on a plane are a line rather than an area."""
    flat = _flat(points, normal)
    if len(flat) < 3:
        return True
    extent = np.ptp(flat @ np.linalg.svd(flat - flat.mean(axis=0), full_matrices=False)[2].T, axis=0)
    return bool(extent[1] < NARROW * extent[0])


def _patch(points: Array, normal: Array, small: float) -> Patch:
    """The corners of the points on a plane, or the ends of their line, or their middle."""
    flat = _flat(points, normal)
    middle = flat.mean(axis=0)
    ways = np.linalg.svd(flat - middle, full_matrices=False)[2] if len(flat) > 1 else np.eye(2)[:1]
    along = flat @ ways.T
    length = float(np.ptp(along[:, 0]))
    if length < small:
        return Patch(points.mean(axis=0)[None], normal)
    if along.shape[1] < 2 or np.ptp(along[:, 1]) < NARROW * length:
        ends = [int(along[:, 0].argmin()), int(along[:, 0].argmax())]
        return Patch(points[ends], normal)
    return Patch(_few(points[ConvexHull(flat).vertices], normal), normal)


def _few(corners: Array, normal: Array, most: int = 8) -> Array:
    """At most eight corners of a polygon: those whose loss takes the least area go first."""
    corners = corners.copy()
    while len(corners) > 4:
        flat = _flat(corners, normal)
        before, after = np.roll(flat, 1, axis=0) - flat, np.roll(flat, -1, axis=0) - flat
        lost = abs(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]) / 2
        if len(corners) <= most and lost.min() > 0.01 * _area(corners, normal):
            break
        corners = np.delete(corners, int(lost.argmin()), axis=0)
    return corners
