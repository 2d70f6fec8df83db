"""Tracking of a plan of the centre of mass: feedback by the zero-moment point, within the standing feet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from wbc.arrays import Array


class Tracker(Protocol):
    """Computes an acceleration of the centre of mass from a plan and a state."""

    def acceleration(
        self, com: Array, com_velocity: Array, divergent: Array, zmp: Array, support: Array, omega: float
    ) -> Array:
        """Horizontal acceleration that the centre of mass is to have, m/s², world, shape (2,).

        Args:
            com: world, m, shape (3,).
            com_velocity: world, m/s, shape (3,).
            divergent: component of motion that is planned, m, shape (2,).
            zmp: zero-moment point that is planned, m, shape (2,).
            support: corners of what the feet stand on, counter-clockwise, m, shape (n, 2).
            omega: 1/s.
        """
        ...


class ZeroMomentTracker:
    """An error of the divergent component moves the zero-moment point beyond it, as far as the feet allow.

    p = p_plan + (1 + k / ω) (ξ − ξ_plan), brought to the nearest point of the support; c̈ = ω² (c − p).

    Args:
        gain: k, 1/s: rate with which an error goes, where the support allows it.

    Attributes:
        zmp: that was last asked for, m, shape (2,).
    """

    def __init__(self, gain: float = 3.5) -> None:
        self.gain, self.zmp = gain, np.zeros(2)

    def acceleration(
        self, com: Array, com_velocity: Array, divergent: Array, zmp: Array, support: Array, omega: float
    ) -> Array:
        """See `Tracker`."""
        error = com[:2] + com_velocity[:2] / omega - divergent
        self.zmp = nearest(support, zmp + (1 + self.gain / omega) * error)
        return np.asarray(omega**2 * (com[:2] - self.zmp))


def hull(points: Array) -> Array:
    """The corners of the convex hull of points in the plane, counter-clockwise, shape (n, 2).

    Args:
        points: shape (m, 2).
    """
    given = sorted({(round(float(x), 9), round(float(y), 9)) for x, y in points})
    if len(given) < 3:
        return np.array(given)

    def half(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        found: list[tuple[float, float]] = []
        for p in points:
            while len(found) > 1 and _side(found[-2], found[-1], p) <= 1e-12:
                found.pop()
            found.append(p)
        return found[:-1]

    return np.array(half(given) + half(given[::-1]))


def _side(a: tuple[float, float], b: tuple[float, float], p: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])


def nearest(polygon: Array, point: Array) -> Array:
    """The point of a convex polygon, a line or a point that is nearest to a point, shape (2,).

    Args:
        polygon: corners, counter-clockwise, shape (n, 2).
        point: shape (2,).
    """
    x, y = float(point[0]), float(point[1])
    corners = polygon.tolist()
    if len(corners) == 1:
        return np.array(corners[0])
    inside, best, least = len(corners) > 2, (x, y), np.inf
    for i, (ax, ay) in enumerate(corners):
        bx, by = corners[(i + 1) % len(corners)]
        ex, ey = bx - ax, by - ay
        if ex * (y - ay) - ey * (x - ax) < 0:
            inside = False
        s = min(max(((x - ax) * ex + (y - ay) * ey) / max(ex * ex + ey * ey, 1e-12), 0.0), 1.0)
        cx, cy = ax + s * ex, ay + s * ey
        far = (x - cx) ** 2 + (y - cy) ** 2
        if far < least:
            best, least = (cx, cy), far
    return np.array([x, y]) if inside else np.array(best)
