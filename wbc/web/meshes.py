"""The meshes for the eye of a URDF: STL, OBJ, DAE and what else trimesh reads, from the robot's own folders alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from wbc.errors import WbcError
from wbc.model import markup
from wbc.model.bounds import read_bounded
from wbc.model.markup import numbers
from wbc.model.mesh_files import locate
from wbc.model.model import Model
from wbc.model.placement import origin
from wbc.web.picture import Surface

MOST = 40_000
"""Triangles of a mesh that a page shows; one with more is left to its hull."""


def visual_meshes(model: Model, color: tuple[float, float, float, float]) -> Iterator[Surface]:
    """The meshes of the `<visual>` elements of the file of a model; those that can't be read are left out.

    Args:
        model: that was read from a URDF file; of any other there are none.
        color: of what has none.
    """
    source = model.source
    if source is None or Path(source).suffix != ".urdf":
        return
    try:
        import trimesh

        links = markup.parse(read_bounded(source)).all("link")
    except (ImportError, OSError, WbcError):
        return
    for link in links:
        body = link.get("name") or ""
        for element in link.all("visual") if body in model.bodies else ():
            geometry = element.first("geometry")
            named = None if geometry is None else geometry.first("mesh")
            if named is None:
                continue
            try:
                path = locate(named.get("filename") or "", Path(source))
                read_bounded(path)  # it is no larger than a file may be
                found = trimesh.load(path, force="mesh")
                scale = numbers(named, "scale", 3) if named.get("scale") is not None else np.ones(3)
                pose = origin(element)
            except Exception:  # of a stranger's file, read by another's package: its hull is shown
                continue
            if not 0 < len(found.faces) <= MOST:
                continue
            vertices = (np.array(found.vertices, dtype=float) * scale) @ pose[:3, :3].T + pose[:3, 3]
            yield Surface(body, vertices, np.array(found.faces, dtype=np.intp), color)
