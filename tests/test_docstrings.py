"""Each array that a public class has tells its shape where it is described."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ARRAY = re.compile(r"\b(?:Array|IntArray|BoolArray|SideArray)\b")
SHAPE = re.compile(r"shape|^See `|as given", re.IGNORECASE)


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
