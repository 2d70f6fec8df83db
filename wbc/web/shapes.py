"""The surface of a robot as triangles: its primitive shapes, and the meshes of its files."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from wbc.arrays import Array, IntArray
from wbc.collision.solid import Solid
from wbc.model.model import Model
from wbc.model.parts import Shape
from wbc.web.meshes import visual_meshes
from wbc.web.picture import Surface

MESH_COLOR = (0.72, 0.74, 0.78, 1.0)
"""Colour of shapes without one."""

AROUND = 24
"""Corners of a circle."""


def surfaces(model: Model) -> Iterator[Surface]:
    """All that is seen of a robot: the shapes for the eye; where there are none, those for contact.

    Args:
        model: of the robot. Where it was read from an MJCF file, MuJoCo's own model has its meshes.
    """
    if model.simulated is not None:
        found = list(_of_mujoco(model))
        if found:
            yield from found
            return
    meshes = list(visual_meshes(model, MESH_COLOR))
    yield from meshes
    seen = [shape for shape in model.shapes if not shape.collides]
    carried = {shape.body for shape in seen} | {mesh.body for mesh in meshes}
    for shape in seen if seen or meshes else model.shapes:
        vertices, faces = triangles(shape)
        yield Surface(shape.body, vertices @ shape.pose[:3, :3].T + shape.pose[:3, 3], faces, shape.color)
    for mesh in model.meshes:
        if mesh.body not in carried and (hull := _hull(mesh.points)) is not None:
            yield Surface(mesh.body, *hull, MESH_COLOR)


def solid_triangles(solid: Solid) -> tuple[Array, IntArray] | None:
    """The surface of a collision shape in its own axes; None for a plane.

    Args:
        solid: of any kind.
    """
    if solid.kind == "plane":
        return None
    if solid.kind == "convex":
        assert solid.points is not None
        return _hull(solid.points)
    return triangles(Shape(solid.body, solid.kind, solid.size))


def _hull(points: Array) -> tuple[Array, IntArray] | None:
    """The convex hull of points, its triangles facing outwards; None where they are flat."""
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        return None
    faces = hull.simplices.copy()
    a, b, c = (points[faces[:, k]] for k in range(3))
    inward = (np.cross(b - a, c - a) * hull.equations[:, :3]).sum(axis=1) < 0
    faces[inward] = faces[inward][:, ::-1]
    used, renumbered = np.unique(faces, return_inverse=True)
    return points[used], renumbered.reshape(faces.shape).astype(np.intp)


def _of_mujoco(model: Model) -> Iterator[Surface]:
    """The visible geoms of a `mujoco.MjModel`."""
    m = model.simulated
    kinds = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"}
    for geom in range(m.ngeom):
        kind = kinds.get(int(m.geom_type[geom]))
        body = m.body(int(m.geom_bodyid[geom])).name
        color = m.geom_rgba[geom] if m.geom_matid[geom] < 0 else m.mat_rgba[m.geom_matid[geom]]
        if kind is None or m.geom_group[geom] > 2 or color[3] <= 0 or body not in model.bodies:
            continue
        size = m.geom_size[geom]
        if kind == "mesh":
            mesh = int(m.geom_dataid[geom])
            begin, count = int(m.mesh_vertadr[mesh]), int(m.mesh_vertnum[mesh])
            first, faces = int(m.mesh_faceadr[mesh]), int(m.mesh_facenum[mesh])
            vertices = np.array(m.mesh_vert[begin : begin + count], dtype=float)
            corners = np.array(m.mesh_face[first : first + faces], dtype=np.intp)
        elif kind == "ellipsoid":
            vertices, corners = _ball(1.0, 0.0)
            vertices = vertices * size
        else:
            sizes = {"box": 2 * size, "sphere": size[:1]}.get(kind, [size[0], 2 * size[1]])
            vertices, corners = triangles(Shape(body, kind, tuple(map(float, sizes))))  # type: ignore[arg-type]
        w, x, y, z = m.geom_quat[geom]
        R = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        yield Surface(body, vertices @ R.T + m.geom_pos[geom], corners, tuple(map(float, color)))  # type: ignore[arg-type]


def triangles(shape: Shape) -> tuple[Array, IntArray]:
    """The surface of a primitive shape in its own frame: corners, shape (n, 3), and triangles, shape (m, 3).

    Args:
        shape: a box, sphere, cylinder or capsule.
    """
    match shape.kind:
        case "box":
            corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
            vertices = corners * shape.size
            quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
            return vertices, _split(quads)
        case "sphere":
            return _ball(shape.size[0], 0.0)
        case "capsule":
            return _ball(shape.size[0], shape.size[1] / 2)
        case "cylinder":
            radius, half = shape.size[0], shape.size[1] / 2
            return _turned(np.array([0.0, radius, radius, 0.0]), np.array([-half, -half, half, half]))


def _ball(radius: float, half: float, up: int = 12) -> tuple[Array, IntArray]:
    """A sphere, or a capsule where its halves are apart."""
    latitude = np.linspace(-np.pi / 2, np.pi / 2, up + 2)
    heights = radius * np.sin(latitude) + np.where(latitude < 0, -half, half)
    return _turned(radius * np.cos(latitude), heights)


def _turned(radii: Array, heights: Array) -> tuple[Array, IntArray]:
    """The surface that a line makes as it turns about z, from its lowest point up."""
    angles = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    rings = [
        np.column_stack([r * np.cos(angles), r * np.sin(angles), np.full(AROUND, h)])
        for r, h in zip(radii, heights, strict=True)
    ]
    quads = []
    for level in range(len(radii) - 1):
        low, high = level * AROUND, (level + 1) * AROUND
        quads += [(low + k, low + (k + 1) % AROUND, high + (k + 1) % AROUND, high + k) for k in range(AROUND)]
    return np.vstack(rings), _split(quads)


def _split(quads: list[tuple[int, int, int, int]]) -> IntArray:
    return np.array([part for a, b, c, d in quads for part in ((a, b, c), (a, c, d))], dtype=np.intp)
