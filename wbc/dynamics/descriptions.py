"""Robots by their names in the package `robot_descriptions`, which downloads their files when they are first wanted."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from wbc.errors import WbcError, show

PACKAGE = "robot_descriptions"


def description_names() -> tuple[str, ...]:
    """The names that the package knows; none where it is not installed."""
    if not _installed():
        return ()
    package: Any = importlib.import_module(PACKAGE)
    return tuple(package.DESCRIPTIONS)


def _installed() -> bool:
    return importlib.util.find_spec(PACKAGE) is not None


def looks_like_description(name: str) -> bool:
    """Whether a name is one of the package's, or made as they are."""
    return name.endswith("_description") and name.isidentifier()


def description_path(name: str) -> Path:
    """The URDF or MJCF file of a robot; it is downloaded where it was not yet.

    Args:
        name: one of `description_names()`.
    """
    try:
        with redirect_stdout(sys.stderr):  # it tells of its download
            module = importlib.import_module(f"{PACKAGE}.{name}")
        for path in ("MJCF_PATH", "URDF_PATH"):
            if hasattr(module, path):
                return Path(getattr(module, path))
        if hasattr(module, "XACRO_PATH"):
            xacro: Any = importlib.import_module(f"{PACKAGE}._xacro")
            return Path(xacro.get_urdf_path(module))
    except Exception as error:  # of git, of the network, of xacro: whatever its download meets
        raise WbcError(
            f"the files of {name!r} can't be fetched: {type(error).__name__}: {_line(error)}; the package clones them "
            "once, with git, into the folder ROBOT_DESCRIPTIONS_CACHE (~/.cache/robot_descriptions): call again with a "
            "network, copy that folder from where there is one, or give the path of a URDF or MJCF file"
        ) from None
    raise WbcError(f"{PACKAGE} has neither a URDF nor an MJCF file of {show(name)}")


def _line(error: Exception) -> str:
    """The last line of an error that says something."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1].removeprefix("stderr: ") if lines else "no reason given"
