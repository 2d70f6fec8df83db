"""Terrain: plane patches on flat ground, the same in both simulators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.errors import WbcError, number, show

SEARCH = (0.0, -0.02, 0.02, -0.04, 0.04, -0.06, 0.06, -0.08, 0.08, -0.1, 0.1, -0.12, 0.12, -0.14, 0.14, -0.16, 0.16)
"""Where an even place is looked for, m forward of the one that was wanted."""

ONWARD = tuple(0.02 * k for k in range(13))
"""The same in one direction only."""

THICK = 0.5
"""How far down a patch goes, m."""


@dataclass(frozen=True)
class Patch:
    """A rectangle over the flat ground, level or inclined along x, with upright sides.

    Attributes:
        x: from, to, m.
        y: from, to, m.
        z: height at both ends of x, m.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    z: tuple[float, float]

    def __post_init__(self) -> None:
        for name, pair in (("x", self.x), ("y", self.y), ("z", self.z)):
            if len(pair) != 2 or not np.isfinite(pair).all() or (name != "z" and not pair[0] < pair[1]):
                raise WbcError(
                    f"{name} of a patch of terrain must be two finite numbers, from and to, not {show(pair)}"
                )


class Terrain:
    """Patches on flat ground at height 0. Where several lie over each other, the highest counts.

    Args:
        patches: of it.
    """

    def __init__(self, patches: Iterable[Patch] = ()) -> None:
        self.patches = tuple(patches)
        for patch in self.patches:
            if not isinstance(patch, Patch):
                raise WbcError(f"a terrain is made of wbc.simulation.Patch objects, not {show(patch)}")
        x, y = (
            np.array([p.x for p in self.patches]).reshape(-1, 2),
            np.array([p.y for p in self.patches]).reshape(-1, 2),
        )
        z = np.array([p.z for p in self.patches]).reshape(-1, 2)
        self._low, self._high = np.column_stack([x[:, 0], y[:, 0]]), np.column_stack([x[:, 1], y[:, 1]])
        self._base = z[:, 0]
        self._slope = (z[:, 1] - z[:, 0]) / np.maximum(x[:, 1] - x[:, 0], 1e-9)

    def __add__(self, other: Terrain) -> Terrain:
        return Terrain((*self.patches, *other.patches))

    def heights(self, points: Array) -> tuple[Array, Array]:
        """Height and slope along x at points.

        Args:
            points: m, shape (n, 2).

        Returns:
            m, shape (n,), and a number, shape (n,).
        """
        if not self.patches:
            return np.zeros(len(points)), np.zeros(len(points))
        on = np.all((points[:, None] >= self._low) & (points[:, None] < self._high), axis=2)
        z = np.where(on, self._base + self._slope * (points[:, None, 0] - self._low[:, 0]), 0.0)
        best = np.argmax(z, axis=1)
        rows = np.arange(len(points))
        return z[rows, best], np.where(on[rows, best] & (z[rows, best] > 0), self._slope[best], 0.0)

    def height(self, point: ArrayLike) -> float:
        """Height at a point, m.

        Args:
            point: m, shape (2,).
        """
        return float(self.heights(np.asarray(point, dtype=float)[None])[0][0])

    def normal(self, point: ArrayLike) -> tuple[float, float, float]:
        """The normal at a point.

        Args:
            point: m, shape (2,).
        """
        slope = float(self.heights(np.asarray(point, dtype=float)[None])[1][0])
        size = float(np.hypot(slope, 1.0))
        return -slope / size, 0.0, 1.0 / size

    def even(self, point: Array, yaw: float, size: Array, onward: int = 0) -> Array:
        """The place nearest to a point, forward or backward, where a sole lies on one plane, m, shape (2,).

        Where there is none it is the least uneven one.

        Args:
            point: m, shape (2,).
            yaw: of the sole, rad.
            size: length and width of the sole, m, shape (2,).
            onward: 1: only forward; -1: only backward; 0: both.
        """
        ahead = np.array([np.cos(yaw), np.sin(yaw)])
        R = np.array([[ahead[0], -ahead[1]], [ahead[1], ahead[0]]])
        grid = np.array([(i, j) for i in (-0.5, -0.25, 0.0, 0.25, 0.5) for j in (-0.5, 0.0, 0.5)]) * size @ R.T
        best, least = point, np.inf
        for way in [onward * way for way in ONWARD] if onward else SEARCH:
            z, slope = self.heights(point + way * ahead + grid)
            plane = z - slope[7] * grid[:, 0]
            rough = float(np.ptp(plane))
            if rough < 1e-6:
                return np.asarray(point + way * ahead)
            if rough < least - 1e-9:
                best, least = point + way * ahead, rough
        return np.asarray(best)


def stairs(
    start: float, rise: float, run: float, count: int, width: float = 4.0, top: float = 1.5, down: bool = True
) -> Terrain:
    """Steps up along x, a level place, and steps down.

    Args:
        start: x of the first step, m.
        rise: height of a step, m.
        run: depth of a step, m.
        count: of steps.
        width: of the stairs along y, m.
        top: length of the level place, m.
        down: whether there are steps down behind it.
    """
    number(rise, "the rise of a step, m,", above=True)
    number(run, "the run of a step, m,", above=True)
    side, found = (-width / 2, width / 2), []
    for k in range(count):
        end = start + (count - 1) * run + top + ((count - 1 - k) * run if down else 0.0)
        found.append(Patch((start + k * run, end), side, ((k + 1) * rise,) * 2))
    return Terrain(found)


def slope(
    start: float, degrees: float, length: float, width: float = 4.0, top: float = 2.0, down: bool = True
) -> Terrain:
    """A ramp up along x, a level place, and a ramp down.

    Args:
        start: x of its foot, m.
        degrees: of the incline.
        length: of each ramp along x, m.
        width: along y, m.
        top: length of the level place, m.
        down: whether there is a ramp down behind it.
    """
    number(degrees, "the incline, degrees,", high=60.0, above=True)
    high, side = float(np.tan(np.radians(degrees))) * length, (-width / 2, width / 2)
    found = [
        Patch((start, start + length), side, (0.0, high)),
        Patch((start + length, start + length + top), side, (high, high)),
    ]
    if down:
        found.append(Patch((start + length + top, start + 2 * length + top), side, (high, 0.0)))
    return Terrain(found)


def bumps(
    start: float, end: float, height: float, size: float = 0.12, count: int = 60, width: float = 1.6, seed: int = 0
) -> Terrain:
    """Flat blocks of random height at random places.

    Args:
        start: x where they begin, m.
        end: x where they end, m.
        height: greatest, m.
        size: greatest edge, m.
        count: how many.
        width: along y, m.
        seed: of the random numbers.
    """
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        x, y = rng.uniform(start, end), rng.uniform(-width / 2, width / 2)
        a, b = rng.uniform(0.5 * size, size, 2) / 2
        found.append(Patch((x - a, x + a), (y - b, y + b), (float(rng.uniform(0.3, 1.0)) * height,) * 2))
    return Terrain(found)
