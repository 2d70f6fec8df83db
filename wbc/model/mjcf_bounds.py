"""Limits on the size of the result of an MJCF file: a short file can ask for more memory than a machine has."""

from __future__ import annotations

import math
from pathlib import Path

from wbc.errors import WbcError
from wbc.model import markup
from wbc.model.bounds import MOST_ELEMENTS, read_bounded
from wbc.model.markup import Element

DEEPEST_INCLUDE = 20
"""How many files may include each other in a row."""

LARGEST_SIZE = 1_000_000
"""The greatest number in <size>: of contacts, constraints, keyframes."""

LARGEST_GRID = 20_000_000
"""Points of a height field, and of a texture."""

LARGEST_ARENA = 4e9
"""Bytes of memory that a file may ask for."""

UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}


def check_mjcf(path: Path) -> None:
    """Raises a `WbcError` where an MJCF file, with those that it includes, is larger than that of any robot.

    A file that is not XML is left to MuJoCo, which reports the error.

    Args:
        path: of the file.
    """
    count = _count(path, path, 0)
    if count > MOST_ELEMENTS:
        raise WbcError(f"{path}: it expands to {count:.3g} elements; the limit is {MOST_ELEMENTS:,}")


def _count(path: Path, main: Path, depth: int) -> float:
    """The elements that a file comes to."""
    if depth > DEEPEST_INCLUDE:
        raise WbcError(f"{main}: more than {DEEPEST_INCLUDE} files include each other in a row")
    try:
        root = markup.parse(read_bounded(path))
    except WbcError as error:
        if "elements" in str(error) or "larger than" in str(error):
            raise WbcError(f"{path}: {error}") from None
        return 0.0
    total, waiting = 0.0, [(child, 1.0) for child in root.children]
    while waiting:  # not by recursion: a chain of bodies is as deep as it is long
        element, times = waiting.pop()
        own, repeats = 1.0, 1.0
        match element.tag:
            case "include":
                file = path.parent / (element.get("file") or "")
                own = _count(file, main, depth + 1) if file.is_file() else 1.0
            case "size":
                _check_size(element, path)
            case "hfield" | "texture":
                names = ("nrow", "ncol") if element.tag == "hfield" else ("width", "height")
                _check(element, path, math.prod(_number(element, name, 1.0) for name in names), LARGEST_GRID)
            case "replicate":
                repeats = max(_number(element, "count", 1.0), 0.0)
            case "composite" | "flexcomp":
                own = math.prod(_numbers(element, "count"))
        total += times * own
        waiting += [(child, times * repeats) for child in element.children]
    return total


def _check_size(element: Element, path: Path) -> None:
    for name, text in element.attributes.items():
        if name == "memory":
            unit = text.strip()[-1:].upper()
            unit = unit if unit in UNITS else ""
            try:
                _check(element, path, float(text.strip()[: -1 if unit else None]) * UNITS[unit], LARGEST_ARENA)
            except ValueError:
                continue
        else:
            allowed = LARGEST_ARENA / 8 if name == "nstack" else LARGEST_SIZE
            _check(element, path, _number(element, name, 0.0), allowed)


def _check(element: Element, path: Path, value: float, most: float) -> None:
    if value > most:
        raise WbcError(f"{path}: {element} asks for {value:.3g}; the limit is {most:.3g}")


def _numbers(element: Element, name: str) -> list[float]:
    """The numbers in an attribute, without what is none: MuJoCo says so."""
    found = []
    for word in (element.get(name) or "").split()[:10]:
        try:
            found.append(float(word))
        except ValueError:
            continue
    return found


def _number(element: Element, name: str, default: float) -> float:
    return next(iter(_numbers(element, name)), default)
