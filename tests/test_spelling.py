"""One spelling in all prose: British, with -ise; names in code are as in numpy and MuJoCo (`color`, `normalize`)."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
AMERICAN = re.compile(
    r"\b(?:(?!size|prize|seize|resize|capsize|[sS]aniti)[A-Za-z][a-z]+(?:iz|yz)(?:e|ed|es|er|ers|ing|ation|ations)"
    r"|[cC]olor(?:s|ed)?|[gG]ray|(?:[kK]ilo|[cC]enti|[mM]illi|[mM]icro)?(?:m|M)eters?|[cC]enter(?:s|ed)?|[nN]eighbor\w*"
    r"|[bB]ehavior\w*|[fF]avor\w*|(?:model|label|travel|cancel|signal)(?:ed|ing)|[lL]icense|[aA]rtifacts?|judgment"
    r"|[dD]efense|fulfill|[tT]oward|learned|spelled)\b"
)
CODE = re.compile(
    r"`[^`]*`|\"[a-z_ ]+\"|https?://\S+|\]\([^)]*\)|^ *\w+: |^center of mass$|<[^>]*>|\{[^}]*\}|\bcenter right\b"
    r"|color rgba|-f\S+",
    re.MULTILINE,
)
"""What is not prose: code, names in quotes or before a colon, addresses, tags."""


def spoken(path: Path) -> Iterator[tuple[int, str]]:
    """Prose of a file, with line numbers: a page without its code; docstrings, comments and texts with a space."""
    if path.suffix != ".py":
        page = re.sub(r"^```.*?^```", lambda m: "\n" * m[0].count("\n"), path.read_text("utf-8"), flags=re.M | re.S)
        yield from enumerate(page.splitlines(), 1)
        return
    with tokenize.open(path) as file:
        source = file.read()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value
    for number, line in enumerate(source.splitlines(), 1):
        if (comment := re.search(r"(?:^|  )# (.*)", line)) is not None:
            yield number, comment[1]


PLACES = (
    "*.md",
    "docs/**/*.md",
    *(f"{package}/**/*.py" for package in ("wbc", "tasks", "examples", "scripts", "benchmarks")),
)
FILES = [path for place in PLACES for path in sorted(ROOT.glob(place))]
WORDS = ["a gray box", "generalized forces", "3 millimeters", "two meters", "it is modeled", "Neighbors"]


@pytest.mark.parametrize("text", WORDS)
def test_american_words_are_found(text: str) -> None:
    assert AMERICAN.search(text)


@pytest.mark.parametrize("text", ["the size of a parameter", "an accelerometer", "a grey box", "generalised", "seized"])
def test_british_words_are_not_found(text: str) -> None:
    assert not AMERICAN.search(text)


def test_prose_is_british() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {word[0]}"
        for path in FILES
        for number, text in spoken(path)
        for word in AMERICAN.finditer(CODE.sub(" ", text))
    ]
    assert found == []
