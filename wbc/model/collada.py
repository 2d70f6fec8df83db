"""The points of a Collada file (.dae), as robots' meshes are read: in metres, in the axes of the file.

A file says which of its axes is up. Robots' meshes are in the axes of their link, whatever the file says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from wbc.arrays import Array, IntArray
from wbc.errors import WbcError, show
from wbc.geometry import so3
from wbc.model.markup import LARGEST, Element, parse

TEXTS = ("float_array", "matrix", "translate", "rotate", "scale", "p")
"""Elements whose text is numbers that count here."""

FACES = ("triangles", "polylist", "polygons", "tristrips", "trifans")
"""Elements that make faces out of points: a point of no face is none of the mesh."""

DEEPEST = 50
"""Nodes in nodes; more of them are in each other."""

MOST_PLACED = 10_000
"""Meshes that a scene may place."""


def read_collada(data: bytes) -> Array:
    """The points of all meshes that the scene of a file places, in m, shape (n, 3).

    Args:
        data: of the file.
    """
    root = parse(data, TEXTS)
    if root.tag != "COLLADA":
        raise WbcError(f"its first element is {root}, not <COLLADA>")
    unit = _path(root, "asset", "unit")
    metres = 1.0 if unit is None else _numbers(unit.get("meter") or "1", unit, 1)[0]
    with np.errstate(over="ignore", invalid="ignore"):  # of a damaged file: whoever reads it looks at the numbers
        placed = list(_Scene(root).placed())
        return metres * np.concatenate(placed) if placed else np.zeros((0, 3))


class _Scene:
    """What a file has, by its names.

    Args:
        root: of the file.
    """

    def __init__(self, root: Element) -> None:
        self._root, self._placed = root, 0
        self._named = dict(_named(root))

    def placed(self) -> Iterator[Array]:
        """The points of each mesh where it is placed; all meshes where the file has no scene."""
        instance = _path(self._root, "scene", "instance_visual_scene")
        if instance is not None:
            yield from self._of_node(self._called(instance, "url"), np.eye(4), 0)
            return
        for library in self._root.all("library_geometries"):
            for geometry in library.all("geometry"):
                yield self._points(geometry)

    def _called(self, element: Element, attribute: str) -> Element:
        """The element that an attribute names."""
        name = (element.get(attribute) or "").removeprefix("#")
        if name not in self._named:
            raise WbcError(f"{element} names {show(name)}, which the file has not")
        return self._named[name]

    def _of_node(self, node: Element, above: Array, depth: int) -> Iterator[Array]:
        """The meshes of a node or a scene, and of the nodes in it.

        Args:
            node: of the scene.
            above: the transform of what it is in, shape (4, 4).
            depth: how many it is in.
        """
        if depth > DEEPEST:
            raise WbcError(f"{node} is more than {DEEPEST} nodes deep, or in itself")
        pose = above @ _transform(node)
        for child in node.children:
            if child.tag == "node":
                yield from self._of_node(child, pose, depth + 1)
            elif child.tag == "instance_node":
                yield from self._of_node(self._called(child, "url"), pose, depth + 1)
            elif child.tag in ("instance_geometry", "instance_controller"):
                self._placed += 1
                if self._placed > MOST_PLACED:
                    raise WbcError(f"it places more than {MOST_PLACED:,} meshes")
                named = self._called(child, "url")
                skin = named.first("skin")
                points = self._points(named if skin is None else self._called(skin, "source"))
                yield points @ pose[:3, :3].T + pose[:3, 3]

    def _points(self, geometry: Element) -> Array:
        """The points of a mesh, shape (n, 3)."""
        mesh, vertices = geometry.first("mesh"), _path(geometry, "mesh", "vertices")
        if mesh is None or vertices is None:  # a spline, say
            return np.zeros((0, 3))
        position = _input(vertices, "POSITION")
        if position is None:
            raise WbcError(f"{geometry} has vertices without a position")
        points = _source(self._called(position, "source"))
        used = np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *_corners(mesh)]))
        if len(used) and not 0 <= used[0] <= used[-1] < len(points):
            raise WbcError(f"{geometry} has faces of points up to {used[-1]}; it has {len(points)} points")
        return np.asarray(points[used])


def _corners(mesh: Element) -> Iterator[IntArray]:
    """The numbers of the points that a mesh has faces of."""
    for faces in mesh.children:
        vertex = _input(faces, "VERTEX") if faces.tag in FACES else None
        if vertex is None:
            continue
        offset, *others = (int(_numbers(one.get("offset") or "0", one, 1)[0]) for one in (vertex, *faces.all("input")))
        step = 1 + max(others)
        holed = [polygon.first("p") for polygon in faces.all("ph")]
        for numbers in (*faces.all("p"), *(found for found in holed if found is not None)):
            yield _numbers(numbers.text, numbers).astype(np.intp)[offset::step]


def _input(element: Element, semantic: str) -> Element | None:
    """What an element takes in of a kind."""
    return next((entry for entry in element.all("input") if entry.get("semantic") == semantic), None)


def _source(source: Element) -> Array:
    """The points that a source has, shape (n, 3)."""
    array, accessor = source.first("float_array"), _path(source, "technique_common", "accessor")
    if array is None:
        raise WbcError(f"{source} has no <float_array>")
    values = _numbers(array.text, array)
    told = [None if accessor is None else accessor.get(name) for name in ("stride", "offset")]
    stride, offset = (int(_numbers(text or least, source, 1)[0]) for text, least in zip(told, ("3", "0"), strict=True))
    if stride < 3 or offset < 0:
        raise WbcError(f"{source} has steps of {stride} from {offset} on; a point has three numbers")
    count = (len(values) - offset) // stride
    return values[offset : offset + count * stride].reshape(count, stride)[:, :3]


def _transform(node: Element) -> Array:
    """Of a node: its steps from the first to the last, shape (4, 4)."""
    pose = np.eye(4)
    for child in node.children:
        step = np.eye(4)
        match child.tag:
            case "matrix":
                step = _numbers(child.text, child, 16).reshape(4, 4)
            case "translate":
                step[:3, 3] = _numbers(child.text, child, 3)
            case "scale":
                step[:3, :3] = np.diag(_numbers(child.text, child, 3))
            case "rotate":
                *axis, angle = _numbers(child.text, child, 4)
                length = math.sqrt(sum(x * x for x in axis))
                if length > 0.0:
                    step[:3, :3] = so3.exp(np.array(axis) / length * math.radians(angle))
            case "lookat" | "skew":
                raise WbcError(f"{child}: a mesh that is placed by <{child.tag}> is not read")
            case _:
                continue
        pose = pose @ step
    return pose


def _numbers(text: str, element: Element, count: int | None = None) -> Array:
    """The numbers in a text; `count` of them, where that is told."""
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        raise WbcError(f"{element} has something else than numbers in it") from None
    if (count is not None and len(values) != count) or not (np.abs(values) <= LARGEST).all():
        wanted = "finite numbers" if count is None else f"{count} finite numbers"
        raise WbcError(f"{element} has {len(values)} values; it needs {wanted}")
    return values


def _named(element: Element) -> Iterator[tuple[str, Element]]:
    """All elements with an id, in an element and below."""
    waiting = [element]
    while waiting:
        one = waiting.pop()
        name = one.get("id")
        if name is not None:
            yield name, one
        waiting += one.children


def _path(element: Element, *tags: str) -> Element | None:
    """The first element along such tags."""
    found: Element | None = element
    for tag in tags:
        found = None if found is None else found.first(tag)
    return found
