"""Our own engine: spheres, capsules, boxes and planes in closed form, many pairs at once, with numpy alone.

Cylinders and convex shapes are covered by a capsule or a box.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wbc.arrays import Array, IntArray, MaskArray
from wbc.collision import closed_forms
from wbc.collision.engine import Engine, Witnesses
from wbc.collision.solid import Solid, covering
from wbc.errors import WbcError

_SIGNS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)

_EDGES = [(i, j) for i in range(8) for j in range(i) if np.abs(_SIGNS[i] - _SIGNS[j]).sum() == 2]

APART = 1e-12
"""Cores that are nearer to each other than this touch, m."""


class PrimitiveEngine(Engine):
    """See the module.

    Args:
        solids: that are measured.
    """

    name = "own"

    def __init__(self, solids: Sequence[Solid]) -> None:
        super().__init__(solids)
        self.covers = tuple(covering(solid) for solid in solids)
        count = len(self.covers)
        self._offset = np.array(
            [np.linalg.solve(own.pose, cover.pose) for own, cover in zip(solids, self.covers, strict=True)]
        ).reshape(count, 4, 4)
        self._segment = np.array([cover.kind in ("sphere", "capsule") for cover in self.covers], dtype=bool)
        self._plane = np.array([cover.kind == "plane" for cover in self.covers], dtype=bool)
        self._box = ~(self._segment | self._plane)
        self._radius = np.array(
            [cover.size[0] if cover.kind in ("sphere", "capsule") else 0.0 for cover in self.covers]
        )
        self._length = np.array([cover.size[1] if cover.kind == "capsule" else 0.0 for cover in self.covers])
        self._half = np.array(
            [np.divide(cover.size, 2) if cover.kind == "box" else np.zeros(3) for cover in self.covers]
        )
        self._half = self._half.reshape(count, 3)

    def measure(self, poses: Array, first: IntArray, second: IntArray, within: Array | None = None) -> Witnesses:
        """See `Engine`."""
        T = poses @ self._offset
        found = Witnesses.empty(len(first))
        both_planes = self._plane[first] & self._plane[second]
        if both_planes.any():
            raise WbcError("two planes have no distance")
        # with the kinds in the order segment, box, plane: the others are turned round
        rank = self._box * 1 + self._plane * 2
        swap = rank[first] > rank[second]
        a, b = np.where(swap, second, first), np.where(swap, first, second)
        kinds = rank[a] * 3 + rank[b]
        for kind, measured in ((0, self._segments), (1, self._segment_box), (4, self._boxes), (2, self._on_plane)):
            chosen = kinds == kind
            if chosen.any():
                _put(found, chosen, measured(T, a[chosen], b[chosen]))
        chosen = kinds == 5
        if chosen.any():
            _put(found, chosen, self._on_plane(T, a[chosen], b[chosen]))
        if swap.any():
            found.normal[swap] *= -1.0
            found.first[swap], found.second[swap] = found.second[swap], found.first[swap]
        return found

    def measure_balls(self, poses: Array, centers: Array, radii: Array, solids: IntArray) -> Witnesses:
        """See `Engine`."""
        T = poses @ self._offset
        found, none = Witnesses.empty(len(solids)), np.zeros_like(centers)
        rank = (self._box * 1 + self._plane * 2)[solids]
        chosen = rank == 0
        if chosen.any():
            _put(found, chosen, self._of_segments(centers[chosen], none[chosen], radii[chosen], T, solids[chosen]))
        chosen = rank == 1
        if chosen.any():
            box = self._of_boxes(centers[chosen], none[chosen], radii[chosen], T[solids[chosen]], solids[chosen])
            _put(found, chosen, box)
        chosen = rank == 2
        if chosen.any():
            _put(found, chosen, _over(T[solids[chosen]], centers[chosen][:, None], radii[chosen]))
        return found

    def _ends(self, T: Array, which: IntArray) -> tuple[Array, Array]:
        """Start and direction of segments in the world."""
        along = T[which][:, :3, 2] * self._length[which][:, None]
        return T[which][:, :3, 3] - along / 2, along

    def _segments(self, T: Array, a: IntArray, b: IntArray) -> Witnesses:
        p, d = self._ends(T, a)
        return self._of_segments(p, d, self._radius[a], T, b)

    def _of_segments(self, p: Array, d: Array, radius: Array, T: Array, b: IntArray) -> Witnesses:
        q, e = self._ends(T, b)
        x, y = closed_forms.segments(p, d, q, e)
        way = y - x
        length = np.linalg.norm(way, axis=1)
        normal = way / np.where(length > APART, length, 1.0)[:, None]
        touching = length <= APART
        if touching.any():  # their axes cross: any direction across both leads out
            normal[touching] = _across(d[touching], e[touching])
        return _rounded(length, normal, x, y, radius, self._radius[b])

    def _segment_box(self, T: Array, a: IntArray, b: IntArray) -> Witnesses:
        p, d = self._ends(T, a)
        return self._of_boxes(p, d, self._radius[a], T[b], b)

    def _of_boxes(self, p: Array, d: Array, radius: Array, T: Array, b: IntArray) -> Witnesses:
        """Of segments in the world, and boxes of some size at poses."""
        found = _segments_in_boxes(p, d, T, self._half[b])
        return _rounded(*found, radius, np.zeros(len(b)))

    def _boxes(self, T: Array, a: IntArray, b: IntArray) -> Witnesses:
        count = len(a)
        near = []
        for one, other in ((a, b), (b, a)):
            corners = np.einsum("nij,nkj->nki", T[one][:, :3, :3], _SIGNS * self._half[one][:, None])
            corners += T[one][:, None, :3, 3]
            start = corners[:, [i for i, _ in _EDGES]].reshape(-1, 3)
            along = corners[:, [j for _, j in _EDGES]].reshape(-1, 3) - start
            pose = np.repeat(T[other], 12, axis=0)
            R, p = pose[:, :3, :3], pose[:, :3, 3]
            x, y = closed_forms.segments_and_boxes(
                np.einsum("nji,nj->ni", R, start - p),
                np.einsum("nji,nj->ni", R, along),
                np.repeat(self._half[other], 12, axis=0),
            )
            length = np.linalg.norm(y - x, axis=1).reshape(count, 12)
            best = length.argmin(axis=1)
            rows = np.arange(count)
            pick = rows * 12 + best
            world = [np.einsum("nij,nj->ni", R[pick], z[pick]) + p[pick] for z in (x, y)]
            near.append((length[rows, best], *(world if one is a else world[::-1])))
        better = (near[1][0] < near[0][0])[:, None]
        length = np.minimum(near[0][0], near[1][0])
        x, y = np.where(better, near[1][1], near[0][1]), np.where(better, near[1][2], near[0][2])
        normal = (y - x) / np.where(length > APART, length, 1.0)[:, None]
        found = Witnesses(length, normal, x, y)
        touching = length <= APART
        if touching.any():
            _put(
                found,
                touching,
                _overlap(T[a[touching]], self._half[a[touching]], T[b[touching]], self._half[b[touching]]),
            )
        return found

    def _on_plane(self, T: Array, a: IntArray, b: IntArray) -> Witnesses:
        """Segments or boxes over planes: by their corners."""
        corners = np.einsum("nij,nkj->nki", T[a][:, :3, :3], _SIGNS * self._half[a][:, None])
        along = T[a][:, :3, 2] * self._length[a][:, None] / 2
        corners += _SIGNS[None, :, 2:] * along[:, None] + T[a][:, None, :3, 3]
        return _over(T[b], corners, self._radius[a])


def _segments_in_boxes(p: Array, d: Array, T: Array, half: Array) -> tuple[Array, Array, Array, Array]:
    """Distance, normal and points of segments and boxes in the world."""
    R, origin = T[:, :3, :3], T[:, :3, 3]
    local, along = np.einsum("nji,nj->ni", R, p - origin), np.einsum("nji,nj->ni", R, d)
    x, y = closed_forms.segments_and_boxes(local, along, half)
    distance = np.linalg.norm(y - x, axis=1)
    normal = (y - x) / np.where(distance > APART, distance, 1.0)[:, None]
    inside = distance <= APART
    if inside.any():
        deep = closed_forms.depths(local[inside], along[inside], half[inside])
        distance[inside], normal[inside], x[inside], y[inside] = deep
    turned = [np.einsum("nij,nj->ni", R, z) for z in (normal, x, y)]
    return distance, turned[0], turned[1] + origin, turned[2] + origin


def _rounded(length: Array, normal: Array, x: Array, y: Array, first: Array, second: Array) -> Witnesses:
    """Nearest points of what is so thick, from those of the cores."""
    return Witnesses(length - first - second, normal, x + first[:, None] * normal, y - second[:, None] * normal)


def _over(T: Array, centers: Array, radii: Array) -> Witnesses:
    """Balls, several for each pair, over planes: the lowest of them; the middle of several that are as low."""
    up = T[:, :3, 2]
    height = np.einsum("nki,ni->nk", centers - T[:, None, :3, 3], up)
    lowest = height.min(axis=1)
    level = height <= lowest[:, None] + 1e-12
    center = np.einsum("nk,nki->ni", level / level.sum(axis=1, keepdims=True), centers)
    first = center - radii[:, None] * up
    distance = lowest - radii
    return Witnesses(distance, -up, first, first - distance[:, None] * up)


def _across(d: Array, e: Array) -> Array:
    """Unit vectors at right angles to two directions each."""
    found = np.cross(d, e)
    for row in np.flatnonzero(np.linalg.norm(found, axis=1) < 1e-12):
        one = d[row] if d[row].any() else e[row]
        found[row] = np.cross(one, np.eye(3)[int(np.abs(one).argmin())]) if one.any() else [0.0, 0.0, 1.0]
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))


def _overlap(Ta: Array, ha: Array, Tb: Array, hb: Array) -> Witnesses:
    """Boxes that overlap: the direction in which they have the shortest way out, of their 15 separating axes."""
    found = Witnesses.empty(len(Ta))
    for row, (A, a, B, b) in enumerate(zip(Ta, ha, Tb, hb, strict=True)):
        Ra, Rb, way = A[:3, :3], B[:3, :3], B[:3, 3] - A[:3, 3]
        axes = [*Ra.T, *Rb.T, *np.cross(Ra.T[:, None], Rb.T[None]).reshape(9, 3)]
        depth, best, kind = np.inf, Ra[:, 0], 0
        for number, axis in enumerate(axes):
            size = float(np.linalg.norm(axis))
            if size < 1e-6:
                continue
            u = axis / size * (1.0 if axis @ way >= 0 else -1.0)
            over = float(a @ np.abs(Ra.T @ u) + b @ np.abs(Rb.T @ u) - u @ way)
            if over < depth - 1e-9:  # faces before edges
                depth, best, kind = over, u, number
        x = A[:3, 3] + Ra @ (a * _sign(Ra.T @ best))
        y = B[:3, 3] - Rb @ (b * _sign(Rb.T @ best))
        if kind < 3:  # a face of the first one: what of the second is deepest
            x = y + depth * best
        elif kind < 6:
            y = x - depth * best
        else:
            i, j = divmod(kind - 6, 3)
            d, e = 2 * a[i] * Ra[:, i], 2 * b[j] * Rb[:, j]
            x, y = (z[0] for z in closed_forms.segments((x - d / 2)[None], d[None], (y - e / 2)[None], e[None]))
        found.distance[row], found.normal[row], found.first[row], found.second[row] = -depth, best, x, y
    return found


def _sign(x: Array) -> Array:
    """Which way, with none for what is level."""
    return np.where(np.abs(x) < 1e-9, 0.0, np.sign(x))


def _put(found: Witnesses, where: MaskArray, part: Witnesses) -> None:
    """Writes some pairs' results among those of all."""
    for whole, some in zip(found, part, strict=True):
        whole[where] = some
