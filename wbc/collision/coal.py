"""Distances by coal, which comes with the extra `pinocchio`: all shapes as they are, meshes by their hulls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import coal
import numpy as np
from scipy.spatial import ConvexHull

from wbc.arrays import Array, IntArray
from wbc.collision.engine import Engine, Witnesses
from wbc.collision.solid import Solid

TOLERANCE = 1e-9
"""Of the search for nearest points: the normals of round shapes are as good as its root."""

LOST = -1e3
"""What is deeper than this in another shape, in m, is no depth: the search for it failed."""

ROUGHER = (1e-6, 1e-4, 1e-2)
"""Tolerances that are tried then."""


class CoalEngine(Engine):
    """See the module.

    Args:
        solids: that are measured.
    """

    name = "coal"

    def __init__(self, solids: Sequence[Solid]) -> None:
        super().__init__(solids)
        self._shapes = [_shape(solid) for solid in solids]
        self._placed = [coal.Transform3s() for _ in solids]
        self._request, self._result = coal.DistanceRequest(True), coal.DistanceResult()
        self._request.gjk_tolerance = TOLERANCE
        self._request.epa_tolerance = TOLERANCE
        self._pairs: dict[tuple[int, int], Any] = {}
        self._ball, self._ball_placed = coal.Sphere(0.0), coal.Transform3s()
        self._balls: dict[int, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return CoalEngine, (self.solids,)

    def measure(self, poses: Array, first: IntArray, second: IntArray, within: Array | None = None) -> Witnesses:
        """See `Engine`."""
        a, b = first.tolist(), second.tolist()
        placed, pairs, request, result = self._placed, self._pairs, self._request, self._result
        for index in {*a, *b}:
            pose = poses[index]
            placed[index].setTransform(pose[:3, :3], pose[:3, 3])
        found = Witnesses.empty(len(a))
        distance, normal, one, other = found
        limit = [math.inf] * len(a) if within is None else within.tolist()
        for row, pair in enumerate(zip(a, b, strict=True)):
            measure = pairs.get(pair)
            if measure is None:
                measure = pairs[pair] = coal.ComputeDistance(self._shapes[pair[0]], self._shapes[pair[1]])
            result.clear()
            apart = measure(placed[pair[0]], placed[pair[1]], request, result)
            if apart < LOST:
                apart = self._again(measure, placed[pair[0]], placed[pair[1]])
            distance[row] = apart
            if apart < limit[row]:
                normal[row], one[row], other[row] = result.normal, result.getNearestPoint1(), result.getNearestPoint2()
        return found

    def measure_balls(self, poses: Array, centers: Array, radii: Array, solids: IntArray) -> Witnesses:
        """See `Engine`."""
        placed, request, result = self._placed, self._request, self._result
        whose = solids.tolist()
        for index in set(whose):
            pose = poses[index]
            placed[index].setTransform(pose[:3, :3], pose[:3, 3])
        found = Witnesses.empty(len(whose))
        distance, normal, one, other = found
        for row, index in enumerate(whose):
            measure = self._balls.get(index)
            if measure is None:
                measure = self._balls[index] = coal.ComputeDistance(self._ball, self._shapes[index])
            self._ball_placed.setTranslation(centers[row])
            result.clear()
            apart = measure(self._ball_placed, placed[index], request, result)
            if apart < LOST:
                apart = self._again(measure, self._ball_placed, placed[index])
            distance[row] = apart
            normal[row], other[row] = result.normal, result.getNearestPoint2()
        distance -= radii
        one[:] = centers + radii[:, None] * normal
        return found

    def _again(self, measure: Any, one: Any, other: Any) -> float:  # noqa: ANN401  coal is not typed
        """The distance where the search for the depth of an overlap lost its way: with less and less exactness."""
        for tolerance in ROUGHER:
            rough = coal.DistanceRequest(True)
            rough.epa_tolerance = rough.gjk_tolerance = tolerance
            self._result.clear()
            apart = float(measure(one, other, rough, self._result))
            if apart > LOST:
                return apart
        self._result.clear()
        way = other.getTranslation() - one.getTranslation()
        size = float(np.linalg.norm(way))
        self._result.normal = way / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
        return 0.0


def _shape(solid: Solid) -> Any:  # noqa: ANN401  coal is not typed
    """A solid as coal has it, about its own centre."""
    size = solid.size
    match solid.kind:
        case "sphere":
            return coal.Sphere(*size)
        case "capsule":
            return coal.Capsule(*size)
        case "box":
            return coal.Box(*size)
        case "cylinder":
            return coal.Cylinder(*size)
        case "plane":
            return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    assert solid.points is not None
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for point in solid.points:
        points.append(point)
    found = ConvexHull(solid.points)
    for (i, j, k), outward in zip(found.simplices.tolist(), found.equations[:, :3], strict=True):
        p, q, r = solid.points[[i, j, k]]
        triangles.append(coal.Triangle(i, j, k) if np.cross(q - p, r - p) @ outward > 0 else coal.Triangle(i, k, j))
    return coal.Convex(points, triangles)
