"""Geometry of what is drawn: cones of friction, the polygon of support, where a sole is pressed."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from wbc.arrays import Array, IntArray
from wbc.model.parts import plane_axes
from wbc.web.picture import Touch

AROUND = 24
"""Corners of a cone."""

SLOPE = 2.0
"""Cones are drawn no wider than for this friction."""


def cone_triangles(friction: float, normal: Array, height: float) -> tuple[Array, IntArray]:
    """A cone of friction with its tip at the origin: corners, shape (n, 3), and triangles, shape (m, 3).

    Args:
        friction: coefficient.
        normal: unit vector, shape (3,).
        height: of the cone, m.
    """
    first, second = plane_axes(normal)
    angles = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    radius = height * min(friction, SLOPE)
    rim = height * normal + radius * (np.outer(np.cos(angles), first) + np.outer(np.sin(angles), second))
    faces = np.array([(0, 1 + k, 1 + (k + 1) % AROUND) for k in range(AROUND)], dtype=np.intp)
    return np.vstack([np.zeros(3), rim]), faces


def support_polygon(points: Array) -> Array | None:
    """The convex hull of points seen from above, shape (n, 2); the two ends where they are on a line.

    Args:
        points: m, shape (k, 2 or 3).
    """
    flat = np.unique(np.round(points[:, :2], 6), axis=0)
    if len(flat) < 2:
        return None
    try:
        hull = ConvexHull(flat)
    except QhullError:
        way = flat - flat.mean(axis=0)
        along = way @ np.linalg.svd(way, full_matrices=False)[2][0]
        return np.asarray(flat[[int(along.argmin()), int(along.argmax())]])
    return np.asarray(flat[hull.vertices])


def pressure_point(pose: Array, force: Array, touch: Touch) -> Array:
    """The point at which a contact's force is drawn: its frame; for a wrench on a sole, the centre of pressure.

    Args:
        pose: of the contact's frame, shape (4, 4).
        force: N, shape (3,), or a wrench at the frame's origin, shape (6,), world axes.
        touch: the contact.
    """
    origin = pose[:3, 3]
    if len(force) < 6 or touch.on is not None:
        return np.asarray(origin)
    normal = np.array(touch.normal)
    push = float(normal @ force[:3])
    if push < 1e-6 * float(np.linalg.norm(force[:3])) or push <= 0.0:
        return np.asarray(origin)
    return np.asarray(origin + np.cross(normal, force[3:]) / push)
