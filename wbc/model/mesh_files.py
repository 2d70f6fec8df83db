"""The points of a URDF's collision meshes: STL and OBJ files, which are opened only where feet are looked for."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError
from wbc.model import markup
from wbc.model.bounds import read_bounded
from wbc.model.markup import numbers
from wbc.model.parts import Mesh
from wbc.model.placement import origin


def collision_meshes(path: Path) -> tuple[list[Mesh], list[str]]:
    """The meshes of the `<collision>` elements of a URDF, and the names of the files that could not be read.

    Args:
        path: of the URDF.
    """
    found: list[Mesh] = []
    missing: list[str] = []
    for link in markup.parse(read_bounded(path)).all("link"):
        for element in link.all("collision"):
            geometry = element.first("geometry")
            mesh = None if geometry is None else geometry.first("mesh")
            if mesh is None:
                continue
            name = mesh.get("filename") or ""
            try:
                points = _points(_locate(name, path))
                if mesh.get("scale") is not None:
                    points = points * numbers(mesh, "scale", 3)
                pose = origin(element)
                found.append(Mesh(link.get("name") or "", points @ pose[:3, :3].T + pose[:3, 3]))
            except (OSError, ValueError, WbcError):
                missing.append(name)
    return found, missing


def _locate(name: str, urdf: Path) -> Path:
    """The file of a mesh: relative to the URDF, or in a package that is found above it or in ROS_PACKAGE_PATH."""
    if not name.startswith("package://"):
        return urdf.parent / name.removeprefix("file://")
    package, _, rest = name.removeprefix("package://").partition("/")
    folders = [*urdf.resolve().parents, *map(Path, filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(":")))]
    for folder in folders:
        for base in ([folder] if folder.name == package else []) + [folder / package]:
            if (base / rest).is_file():
                return base / rest
    raise WbcError(f"no package {package!r} near {urdf}")


def _points(path: Path) -> Array:
    """The corners of a mesh, each once, shape (n, 3)."""
    data = read_bounded(path)
    match path.suffix.lower():
        case ".stl":
            points = _stl(data)
        case ".obj":
            lines = (line.split()[1:4] for line in data.decode(errors="replace").splitlines() if line.startswith("v "))
            points = np.array([[float(word) for word in words] for words in lines])
        case ending:
            raise WbcError(f"a mesh of kind {ending!r} is not read")
    if points.ndim != 2 or points.shape[1:] != (3,) or not len(points) or not np.isfinite(points).all():
        raise WbcError(f"{path} has no points")
    return np.unique(points, axis=0)


def _stl(data: bytes) -> Array:
    """The corners of the triangles of an STL file, binary or text."""
    count = int.from_bytes(data[80:84], "little")
    if len(data) == 84 + 50 * count:
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
        return np.frombuffer(data, record, offset=84)["corners"].reshape(-1, 3).astype(float)
    words = data.decode(errors="replace").split()
    at = [k for k, word in enumerate(words) if word == "vertex"]
    return np.array([[float(word) for word in words[k + 1 : k + 4]] for k in at])
