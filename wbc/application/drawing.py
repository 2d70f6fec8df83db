"""Draws robots from their primitive shapes with matplotlib: for a README, a report, a look without a simulator."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError
from wbc.model.model import WORLD
from wbc.model.parts import Shape

if TYPE_CHECKING:
    from wbc.collision import CollisionGeometry, Solid

try:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection
except ImportError as error:
    raise WbcError(f"drawing needs matplotlib: pip install 'wbc[plot]' ({error})") from None

LIGHT = np.array([0.35, -0.5, 0.8]) / np.linalg.norm([0.35, -0.5, 0.8])
"""Direction towards the light, in the world."""


def draw(axes: Any, robot: Dynamics, q: ArrayLike | None = None, ground: bool = True) -> None:  # noqa: ANN401
    """Draws a robot's visible shapes into three-dimensional axes, shaded, to scale.

    Args:
        axes: of matplotlib, made with `projection="3d"`.
        robot: its state is not touched.
        q: the configuration; None: the nominal one.
        ground: whether to draw a patch of the plane z = 0 below it.
    """
    posed = robot.copy()
    posed.update(robot.model.nominal if q is None else q)
    seen = [shape for shape in robot.model.shapes if not shape.collides]
    shapes = seen or robot.model.shapes
    if not shapes:
        raise WbcError(f"{robot.model.name!r} has no primitive shapes to draw (meshes are not read)")
    _draw(axes, [(_facets(shape), posed.pose(shape.body) @ shape.pose, shape.color) for shape in shapes], ground)


def draw_geometry(axes: Any, geometry: CollisionGeometry, robot: Dynamics, ground: bool = False) -> None:  # noqa: ANN401
    """Draws what may collide, the robot's shapes and those of the world but for planes, and a line between the nearest.

    Args:
        axes: of matplotlib, made with `projection="3d"`.
        geometry: shapes and pairs.
        robot: updated.
        ground: whether to draw a patch of the plane z = 0 below it.
    """
    parts = []
    for (name, solid), T in zip(geometry.solids.items(), geometry.poses(robot), strict=True):
        if solid.kind == "plane":
            continue
        facets = _hull(solid) if solid.kind == "convex" else _facets(Shape(solid.body, solid.kind, solid.size))
        near = geometry.nearest(robot)[0] if geometry.pairs else ()
        color = (0.85, 0.55, 0.4) if name in near[:2] else (0.55, 0.65, 0.8)
        parts.append((facets, T, (*(color if solid.body != WORLD else (0.7, 0.7, 0.62)), 0.55)))
    if not parts:
        raise WbcError(f"{robot.model.name!r} has no shapes that may collide")
    _draw(axes, parts, ground)
    if geometry.pairs:
        seen = geometry.witnesses(robot)
        nearest = int(seen.distance.argmin())
        ends = np.array([seen.first[nearest], seen.second[nearest]])
        axes.plot(*ends.T, color="crimson", linewidth=2, marker="o", markersize=3, zorder=20)


Color = tuple[float, float, float, float]


def _draw(axes: Any, parts: list[tuple[list[tuple[Array, Array]], Array, Color]], ground: bool) -> None:  # noqa: ANN401
    """Draws facets of several shapes at their poses, in their colours."""
    polygons: list[Array] = []
    colors: list[Array] = []
    for facets, T, color in parts:
        for corners, normal in facets:
            # triangles have their last corner twice: matplotlib fills up what is missing with whatever is in memory
            corners = np.pad(corners, ((0, 4 - len(corners)), (0, 0)), mode="edge")
            polygons.append(corners @ T[:3, :3].T + T[:3, 3])
            bright = 0.55 + 0.45 * max(0.0, float(T[:3, :3] @ normal @ LIGHT))
            colors.append(np.append(np.array(color[:3]) * bright, color[3]))
    points = np.vstack(polygons)
    if ground:
        _draw_ground(axes, points)
    axes.add_collection3d(
        Poly3DCollection(polygons, facecolors=colors, edgecolors=colors, linewidths=0.2, zsort="average")
    )
    lower, upper = points.min(axis=0), points.max(axis=0)
    lower[2] = min(lower[2], 0.0)
    size, middle = float((upper - lower).max()), (upper + lower) / 2
    axes.set(xlim=(middle[0] - size / 2, middle[0] + size / 2), ylim=(middle[1] - size / 2, middle[1] + size / 2))
    axes.set(zlim=(lower[2], lower[2] + size))
    axes.set_box_aspect((1, 1, 1), zoom=1.35)
    axes.set_axis_off()


def _draw_ground(axes: Any, points: Array) -> None:  # noqa: ANN401
    """A chequered patch under all points; drawn first, so that the robot stands on it."""
    middle, reach = points[:, :2].mean(axis=0), float(np.ptp(points[:, :2], axis=0).max()) * 0.75
    ticks = np.linspace(-reach, reach, 9)
    tiles, shades = [], []
    for i, x in enumerate(ticks[:-1]):
        for j, y in enumerate(ticks[:-1]):
            corners = np.array([[x, y], [ticks[i + 1], y], [ticks[i + 1], ticks[j + 1]], [x, ticks[j + 1]]]) + middle
            tiles.append(np.column_stack([corners, np.full(4, -1e-3)]))
            shades.append((0.93, 0.94, 0.95) if (i + j) % 2 else (0.87, 0.89, 0.91))
    axes.add_collection3d(Poly3DCollection(tiles, facecolors=shades, linewidths=0, zorder=-1))
    axes.computed_zorder = False


def _hull(solid: Solid) -> list[tuple[Array, Array]]:
    """The triangles of a convex shape."""
    from scipy.spatial import ConvexHull

    assert solid.points is not None
    found = ConvexHull(solid.points)
    return [(solid.points[corners], plane[:3]) for corners, plane in zip(found.simplices, found.equations, strict=True)]


def _facets(shape: Shape) -> list[tuple[Array, Array]]:
    """The surface of a shape as flat polygons with their outward normals, in the shape's own frame."""
    match shape.kind:
        case "box":
            return _box(np.array(shape.size) / 2)
        case "sphere":
            return _round(shape.size[0], 0.0)
        case "capsule":
            return _round(shape.size[0], shape.size[1] / 2)
        case "cylinder":
            return _cylinder(shape.size[0], shape.size[1] / 2)


def _box(half: Array, pieces: int = 4) -> list[tuple[Array, Array]]:
    """Each face in pieces, because matplotlib sorts polygons by their middles."""
    facets = []
    ticks = np.linspace(-1, 1, pieces + 1)
    for axis in range(3):
        first, second = (axis + 1) % 3, (axis + 2) % 3
        for sign in (-1.0, 1.0):
            for a0, a1 in pairwise(ticks):
                for b0, b1 in pairwise(ticks):
                    corners = np.zeros((4, 3))
                    corners[:, axis], corners[:, first], corners[:, second] = sign, [a0, a1, a1, a0], [b0, b0, b1, b1]
                    facets.append((corners * half, sign * np.eye(3)[axis]))
    return facets


def _cylinder(radius: float, half: float, around: int = 20, along: int = 4) -> list[tuple[Array, Array]]:
    angles = np.linspace(0, 2 * np.pi, around + 1)
    rim = np.column_stack([np.cos(angles), np.sin(angles)]) * radius
    levels = np.linspace(-half, half, along + 1)
    facets = []
    for k in range(around):
        normal = np.append((rim[k] + rim[k + 1]) / (2 * radius), 0.0)
        for low, high in pairwise(levels):
            facets.append((_quad(rim[k], rim[k + 1], low, high), normal))
        for sign in (-1.0, 1.0):
            wedge = np.array([[0, 0, sign * half], [*rim[k], sign * half], [*rim[k + 1], sign * half]])
            facets.append((wedge, np.array([0, 0, sign])))
    return facets


def _round(radius: float, half: float, around: int = 16, up: int = 10) -> list[tuple[Array, Array]]:
    """A sphere, or a capsule when its halves are moved apart."""
    longitude, latitude = np.linspace(0, 2 * np.pi, around + 1), np.linspace(-np.pi / 2, np.pi / 2, up + 1)

    def point(i: int, j: int) -> Array:
        level = np.sin(latitude[i]) * radius
        ring = np.cos(latitude[i]) * radius
        shift = half if i > up / 2 else -half if i < up / 2 else 0.0
        return np.array([ring * np.cos(longitude[j]), ring * np.sin(longitude[j]), level + shift])

    facets = []
    for i in range(up):
        for j in range(around):
            corners = np.array([point(i, j), point(i, j + 1), point(i + 1, j + 1), point(i + 1, j)])
            middle = (longitude[j] + longitude[j + 1]) / 2, (latitude[i] + latitude[i + 1]) / 2
            flat = np.cos(middle[1])
            facets.append((corners, np.array([flat * np.cos(middle[0]), flat * np.sin(middle[0]), np.sin(middle[1])])))
    return facets


def _quad(first: Array, second: Array, low: float, high: float) -> Array:
    return np.array([[*first, low], [*second, low], [*second, high], [*first, high]])
