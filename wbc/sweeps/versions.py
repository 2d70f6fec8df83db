"""Versions of all that a row depends on: rows of one sweep are made by one kind of installation."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
from functools import cache
from pathlib import Path

from wbc import compiled
from wbc.errors import WbcError
from wbc.scenes import DEMONSTRATIONS, scene_file

PACKAGES = ("wbc", "numpy", "scipy", "mujoco", "pin")
"""Whose versions are compared."""


@cache
def versions() -> dict[str, str]:
    """Of Python, the packages that are installed, the kernel, and the kind of machine."""
    found = {"python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}"}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "none"
    found["kernel"] = "numpy" if compiled.kernel is None else "compiled"
    return found


def source_of(scene: str) -> str:
    """What a scene is made from: the hash of its file; for the demonstration, its name.

    Args:
        scene: see `wbc.scenes.load_scene`.
    """
    if scene in DEMONSTRATIONS:
        return scene
    path: Path = scene_file(scene)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def differences(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """What differs between two installations, in words; empty if nothing does.

    Args:
        ours: versions by name.
        theirs: the same of the other.
    """
    names = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    return ", ".join(f"{name} {ours.get(name, 'none')} here and {theirs.get(name, 'none')} there" for name in names)


class VersionsDifferError(WbcError):
    """A worker has other versions than the process that started the sweep."""
