"""Shapes that a user adds to a geometry, by their kinds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.collision.solid import SolidKind
from wbc.errors import WbcError, show
from wbc.model.mesh_files import read_points
from wbc.model.model import WORLD
from wbc.model.parts import constant, constant_transform, direction


class Adding(ABC):
    """What shapes are added to."""

    @abstractmethod
    def _add(
        self,
        name: str,
        kind: SolidKind,
        size: tuple[float, ...],
        pose: ArrayLike | None,
        body: str,
        points: ArrayLike | None = None,
    ) -> None:
        """Adds a shape, and its pairs."""

    def add_sphere(self, name: str, radius: float, pose: ArrayLike | None = None, body: str = WORLD) -> None:
        """Adds a sphere.

        Args:
            name: of the shape.
            radius: m.
            pose: in the body's frame, shape (4, 4), or its centre, shape (3,), m; None: at the body's origin.
            body: frame of the robot that carries it, or "world".
        """
        self._add(name, "sphere", (radius,), pose, body)

    def add_capsule(
        self, name: str, radius: float, length: float, pose: ArrayLike | None = None, body: str = WORLD
    ) -> None:
        """Adds a capsule: a cylinder along its z axis with half a ball on each end. See `add_sphere`.

        Args:
            name: of the shape.
            radius: m.
            length: between the centres of the balls, m.
            pose: as for `add_sphere`.
            body: as for `add_sphere`.
        """
        self._add(name, "capsule", (radius, length), pose, body)

    def add_cylinder(
        self, name: str, radius: float, length: float, pose: ArrayLike | None = None, body: str = WORLD
    ) -> None:
        """Adds a cylinder along its z axis. See `add_sphere`.

        Args:
            name: of the shape.
            radius: m.
            length: m.
            pose: as for `add_sphere`.
            body: as for `add_sphere`.
        """
        self._add(name, "cylinder", (radius, length), pose, body)

    def add_box(self, name: str, size: ArrayLike, pose: ArrayLike | None = None, body: str = WORLD) -> None:
        """Adds a box. See `add_sphere`.

        Args:
            name: of the shape.
            size: its three edge lengths, m.
            pose: as for `add_sphere`.
            body: as for `add_sphere`.
        """
        self._add(name, "box", tuple(numbers(size, f"shape {show(name)}: its size").ravel().tolist()), pose, body)

    def add_plane(
        self, name: str, point: ArrayLike = (0.0, 0.0, 0.0), normal: ArrayLike = (0.0, 0.0, 1.0), body: str = WORLD
    ) -> None:
        """Adds a plane: all on its far side is solid. See `add_sphere`.

        Args:
            name: of the shape.
            point: on it, in the body's frame, m, shape (3,).
            normal: to the free side, shape (3,).
            body: as for `add_sphere`.
        """
        whose = f"shape {show(name)}"
        z = direction(normal, f"{whose}: its normal")
        x = np.cross(np.eye(3)[int(np.abs(z).argmin())], z)
        x /= np.linalg.norm(x)
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = (
            np.column_stack([x, np.cross(z, x), z]),
            constant(point, (3,), f"{whose}: its point"),
        )
        self._add(name, "plane", (), pose, body)

    def add_mesh(
        self,
        name: str,
        points: ArrayLike | str | Path,
        pose: ArrayLike | None = None,
        body: str = WORLD,
        scale: float = 1.0,
    ) -> None:
        """Adds the convex hull of points, or of a mesh file. See `add_sphere`.

        Args:
            name: of the shape.
            points: corners, m, shape (n, 3); or the path of an STL or OBJ file.
            pose: as for `add_sphere`.
            body: as for `add_sphere`.
            scale: of a file's numbers, m.
        """
        if isinstance(points, str | Path):
            try:
                corners: ArrayLike = read_points(Path(points)) * scale
            except (WbcError, ValueError) as error:
                raise WbcError(f"shape {show(name)}: {error}") from None
        else:
            corners = numbers(points, f"shape {show(name)}: its points") * scale
        self._add(name, "convex", (), pose, body, corners)


def placed(pose: ArrayLike | None, whose: str) -> Array:
    """A pose, or a mere position, as a pose.

    Args:
        pose: shape (4, 4) or (3,); None: none.
        whose: for messages.
    """
    if pose is None:
        return np.eye(4)
    given = numbers(pose, f"{whose}: its pose")
    if given.shape == (3,):
        place = np.eye(4)
        place[:3, 3] = constant(given, (3,), f"{whose}: its pose")
        return place
    return constant_transform(given, f"{whose}: its pose")
