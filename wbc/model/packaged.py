"""The robots that come with the package."""

from __future__ import annotations

from pathlib import Path

from wbc.errors import unknown_name

_FOLDER = Path(__file__).parent / "robots"


def packaged_robots() -> tuple[str, ...]:
    """Their names: what `wbc.load` takes beside a path."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.urdf")))


def packaged_path(name: str) -> Path:
    """The URDF file of a packaged robot.

    Args:
        name: one of `packaged_robots()`.
    """
    if name not in packaged_robots():
        raise unknown_name("packaged robot", name, packaged_robots())
    return _FOLDER / f"{name}.urdf"
