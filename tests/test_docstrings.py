"""What a public class has tells its shape, its unit and its frame where it is described."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ARRAY = re.compile(r"\b(?:Array|IntArray|BoolArray|SideArray)\b")
NUMBER = re.compile(r"\b(?:float|Array|ArrayLike)\b")
SHAPE = re.compile(r"shape|^See `|as given", re.IGNORECASE)
ELSEWHERE = re.compile(r"see `|as given|`\w+` of|as in `", re.IGNORECASE)
"""Says where the rest is told."""
UNIT = re.compile(r"(?<![\w'])(?:m|s|kg|N|rad|Hz|W|J)[²³]?(?![\w'])|\bSI\b|\(4, 4\)")
PURE = re.compile(
    r"\b(?:shares?|fractions?|ratio|relative to|weights?|factor|directions?|unit|units|rotation|friction|coefficients?"
    r"|orthonormal|jacobians?|J|inverse|quaternion|selection|scores?|axis|axle|normals?|simulated seconds in one|q"
    r"|steps|parameter)\b|\[0, 1\]|0 to 1",
    re.IGNORECASE,
)
"""Words of what has no unit, or has that of its rows, or of the quantity that it is a derivative of."""
SPACE = re.compile(r"\((?:[\w +]+, )*(?:3|4, 4|6)\)")
"""Shapes of vectors, twists and poses."""
FRAME = re.compile(
    r"\b(?:world|body|axes|frames?|base|ground|axis|centre of mass|joints?|tangents?|sole|heading)\b"
    r"|→|T_\w+_\w+|R_\w+_\w+",
    re.IGNORECASE,
)
NUMERICS = ("solvers",)
"""Packages of pure numbers."""


def described(node: ast.ClassDef) -> Iterator[tuple[str, str, str]]:
    """Name, annotation and description of each public attribute and property of a class."""
    section = re.search(r"Attributes:\n((?:    .*\n?|\n)*)", ast.get_docstring(node) or "")
    words: dict[str, str] = {}
    names: list[str] = []
    for line in section[1].splitlines() if section else ():
        if (entry := re.match(r"    (\w[\w, ]*): (.*)", line)) is not None:
            names = [name.strip() for name in entry[1].split(",")]
            words |= dict.fromkeys(names, entry[2])
        else:
            words |= {name: f"{words[name]} {line.strip()}" for name in names}
    for part, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            name, kind, text = part.target.id, ast.unparse(part.annotation), words.get(part.target.id, "")
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                text = str(after.value.value)
        elif isinstance(part, ast.FunctionDef) and any("property" in ast.unparse(d) for d in part.decorator_list):
            name, kind, text = part.name, ast.unparse(part.returns or ast.Constant(None)), ast.get_docstring(part) or ""
        else:
            continue
        if not name.startswith("_"):
            yield name, kind, text


@pytest.mark.parametrize("package", ["wbc", "tasks"])
def test_arrays_of_public_classes_tell_their_shape(package: str) -> None:
    found, silent = 0, []
    for path in sorted((ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                for name, kind, text in described(node):
                    if ARRAY.search(kind):
                        found += 1
                        silent += [] if SHAPE.search(text) else [f"{path.name}: {node.name}.{name}: {text}"]
    assert found > 25 and silent == []


def told(package: str) -> Iterator[tuple[str, str, str]]:
    """Place, annotation and description of each number or array of a public class that has a meaning in space."""
    for path in sorted((ROOT / package).rglob("*.py")):
        if path.parts[-2] in NUMERICS or path.parts[-3] in NUMERICS:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                for name, kind, text in described(node):
                    if NUMBER.search(kind) and not ELSEWHERE.search(text):
                        yield f"{path.relative_to(ROOT)}: {node.name}.{name}", kind, " ".join(text.split())


@pytest.mark.parametrize("package", ["wbc", "tasks"])
def test_numbers_of_public_classes_tell_their_unit(package: str) -> None:
    found = list(told(package))
    lines = [f"{place}: {text}" for place, _, text in found]
    silent = [line for line in lines if not (UNIT.search(line.partition(": ")[2]) or PURE.search(line))]
    assert len(found) > 25 and silent == []


@pytest.mark.parametrize("package", ["wbc", "tasks"])
def test_vectors_of_public_classes_tell_their_frame(package: str) -> None:
    found = [(place, text) for place, kind, text in told(package) if ARRAY.search(kind) and SPACE.search(text)]
    assert len(found) > 1 and [f"{place}: {text}" for place, text in found if not FRAME.search(text)] == []


@pytest.mark.parametrize("text", ["of the foot, shape (3,)", "how far it is", "the robot's least value"])
def test_what_has_no_unit_is_found(text: str) -> None:
    assert not UNIT.search(text) and not PURE.search(text)
