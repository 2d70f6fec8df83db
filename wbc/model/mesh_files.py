"""The points of a URDF's collision meshes: STL, OBJ and Collada files, which are opened only where they are asked for.

A mesh is read from the robot's own folders alone: that of its file, and the package that this is in. Others, and those
in ROS_PACKAGE_PATH, are told by the user.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError, show
from wbc.model import markup
from wbc.model.bounds import read_bounded
from wbc.model.collada import read_collada
from wbc.model.markup import Element, numbers
from wbc.model.parts import Mesh
from wbc.model.placement import origin

NEAR = 4
"""Folders above a URDF beside which a package may lie that does not say that it is one, by a package.xml."""


def collision_meshes(path: Path, folders: Iterable[Path] = ()) -> tuple[list[Mesh], list[str]]:
    """The meshes of the `<collision>` elements of a URDF, and the names of the files that could not be read.

    A part at the end of a limb that has no such elements is where its visible meshes are: with bits that meet nothing.

    Args:
        path: of the URDF.
        folders: where else meshes may be.
    """
    found, failures = read_meshes(path, folders)
    return found + _visible(path, folders), [name for name, _ in failures]


def _visible(path: Path, folders: Iterable[Path]) -> list[Mesh]:
    """The visible meshes of parts that carry no joint that moves, and have nothing to collide with.

    A part is what fixed joints hold together.
    """
    robot, found = markup.parse(read_bounded(path)), []
    carrier = {
        _link(joint, "child"): (_link(joint, "parent"), joint.get("type") == "fixed") for joint in robot.all("joint")
    }

    def part(link: str) -> str:
        seen = set[str]()
        while link in carrier and carrier[link][1] and link not in seen:
            seen.add(link)
            link = carrier[link][0]
        return link

    solid = {part(link.get("name") or "") for link in robot.all("link") if link.first("collision") is not None}
    solid |= {part(parent) for parent, fixed in carrier.values() if not fixed}
    for link in robot.all("link"):
        name = link.get("name") or ""
        for element in link.all("visual") if part(name) not in solid else ():
            geometry = element.first("geometry")
            mesh = None if geometry is None else geometry.first("mesh")
            if mesh is None:
                continue
            try:
                points = read_points(locate(mesh.get("filename") or "", path, folders))
                found.append(Mesh(name, _placed(points, mesh, origin(element)), (0, 0)))
            except (OSError, ValueError, WbcError):  # nothing was promised
                continue
    return found


def _link(joint: Element, which: str) -> str:
    """The link of a joint that is its parent, or its child."""
    element = joint.first(which)
    return "" if element is None else element.get("link") or ""


def read_meshes(path: Path, folders: Iterable[Path] = ()) -> tuple[list[Mesh], list[tuple[str, str]]]:
    """The meshes of the `<collision>` elements of a URDF, and the names of those that could not be read, with reasons.

    Args:
        path: of the URDF.
        folders: where else meshes may be.
    """
    found: list[Mesh] = []
    failures: list[tuple[str, str]] = []
    known: dict[str, Array] = {}
    for link in markup.parse(read_bounded(path)).all("link"):
        for element in link.all("collision"):
            geometry = element.first("geometry")
            mesh = None if geometry is None else geometry.first("mesh")
            if mesh is None:
                continue
            name = mesh.get("filename") or ""
            try:
                if name not in known:
                    known[name] = read_points(locate(name, path, folders))
                found.append(Mesh(link.get("name") or "", _placed(known[name], mesh, origin(element))))
            except (OSError, ValueError, WbcError) as error:
                failures.append((name, str(error)))
    return found, failures


def _placed(points: Array, mesh: Element, pose: Array) -> Array:
    """Points of a mesh in the link's frame."""
    if mesh.get("scale") is not None:
        points = points * numbers(mesh, "scale", 3)
    placed: Array = points @ pose[:3, :3].T + pose[:3, 3]
    return placed


def locate(name: str, urdf: Path, folders: Iterable[Path] = ()) -> Path:
    """The file of a mesh: relative to the URDF, or in a package that is found above it or in ROS_PACKAGE_PATH.

    Args:
        name: as the URDF has it.
        urdf: the file that names it.
        folders: where else it may be.

    Raises:
        WbcError: it is not there, or lies outside of the robot's own folders.
    """
    home, told = urdf.resolve().parent, [Path(folder).resolve() for folder in folders]
    packages = [Path(entry).resolve() for entry in filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(":"))]
    packaged = name.startswith("package://")
    path = name.removeprefix("package://").lstrip("/") if packaged else name.removeprefix("file://")  # some have three
    package, _, rest = path.partition("/")
    if packaged and (rest or package in ("", ".", "..")):  # else it is the name of a file only
        bases = [] if package in ("", ".", "..") else _packages(package, home, [*told, *packages])
        if not bases:
            raise WbcError(f"no package {package!r} near {urdf}; say where it is: meshes=[folder]")
        candidates = [(base / rest, base) for base in bases]
        own = [base.resolve() for base in bases]
    else:
        plain = Path(path)
        candidates = [(base / plain, base) for base in (home, *told)]
        own = [home, _package_of(home)]
    for candidate, _ in candidates:
        if candidate.is_file():
            real = candidate.resolve()
            if not any(real.is_relative_to(folder) for folder in (*own, *told, *packages)):
                raise WbcError(
                    f"mesh {show(name)} is outside of the robot's own folder {show(str(own[-1]))}; meshes=[folder] "
                    "allows another one"
                )
            return candidate
    raise WbcError(f"there is no file {show(name)} near {urdf}; say where it is: meshes=[folder]")


def _packages(package: str, home: Path, told: list[Path]) -> list[Path]:
    """The folders that a package may be: one that the URDF is in, one beside it, or one that the user tells of."""
    above = [home, *home.parents]
    found = [folder for folder in (*told, *above) if folder.name == package]
    found += [folder / package for folder in told]
    for number, folder in enumerate(above):
        beside = folder / package
        near = number < NEAR and folder.parent != folder
        if near or (beside / "package.xml").is_file():
            found.append(beside)
    return [folder for folder in found if folder.is_dir()]


def _package_of(folder: Path) -> Path:
    """The package that a folder is in: the nearest one above it with a package.xml; else the folder itself.

    A folder called urdf or robots is one of several of a robot's: its meshes lie beside it.
    """
    for above in (folder, *list(folder.parents)[:3]):
        if (above / "package.xml").is_file():
            return above
    return folder.parent if folder.name in ("urdf", "robots", "robot", "model", "xml") else folder


def read_points(path: Path) -> Array:
    """The corners of a mesh, each once, shape (n, 3).

    Args:
        path: of an STL, OBJ or Collada file.
    """
    data = read_bounded(path)
    match path.suffix.lower():
        case ".stl":
            points = _stl(data)
        case ".obj":
            lines = (line.split()[1:4] for line in data.decode(errors="replace").splitlines() if line.startswith("v "))
            points = np.array([[float(word) for word in words] for words in lines])
        case ".dae":
            points = read_collada(data)
        case ending:
            raise WbcError(f"a mesh of kind {ending!r} is not read; convert {path.name} to .stl, .obj or .dae")
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
