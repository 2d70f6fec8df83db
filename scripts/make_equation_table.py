"""Makes `docs/equations.md`: every equation of the seeds, our function that computes it, and its test.

    python scripts/make_equation_table.py           # writes it
    python scripts/make_equation_table.py --check   # fails where it is not what the markers say

What is computed stands in the markers of the tests (`tests/equations.py`); what computes nothing (definitions, steps
of a derivation) stands with the reason in `docs/equations_without_function.toml`. An equation that is in both, twice in
one, or in neither is an error.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.equations import SEEDS  # noqa: E402

TABLE = ROOT / "docs" / "equations.md"
NOTHING = ROOT / "docs" / "equations_without_function.toml"
NUMBERS = {
    "Kindr": [str(n) for n in range(1, 19)],
    "ETH": [f"2.{n}" for n in range(1, 277)] + [f"3.{n}" for n in range(1, 122)],
    "Liu-Jain": [str(n) for n in range(1, 86)],
    "TS": [str(n) for n in range(1, 95)],
    "From": [str(n) for n in range(1, 113)],
}
"""The numbers that each seed gives its equations."""

INTRODUCTION = """# Every equation, and what runs it

Of each numbered equation of the five documents that `wbc` is made from: the function that computes it, and the test
that shows it. Made by `python scripts/make_equation_table.py` from the markers in the tests; they check that it is so.
What the documents print wrongly stands in the [errata](errata.md).
"""


class Row(NamedTuple):
    """One marked equation."""

    number: str
    what: str
    functions: tuple[str, ...]
    test: str


class Collector:
    """A plugin of pytest that takes the markers of the collected tests."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """One row a marker, however many cases of a parametrised test bear it."""
        rows = {
            Row(*mark.args, item.nodeid.partition("[")[0]): None
            for item in items
            for mark in item.iter_markers("equation")
        }
        self.rows = list(rows)


def collect(tests: Path = ROOT / "tests") -> list[Row]:
    """All marked equations; leaves with a word if a test can't be collected."""
    collector, said = Collector(), io.StringIO()
    options = ["--collect-only", "-qq", "-p", "no:cacheprovider", "-m", "", "--rootdir", str(ROOT), str(tests)]
    with contextlib.redirect_stdout(said):
        code = pytest.main(options, plugins=[collector])
    if code != pytest.ExitCode.OK:
        sys.exit(f"{said.getvalue()}\ntests can't be collected: is a marked function gone?")
    return collector.rows


def split(number: str) -> tuple[str, str]:
    """The seed and the place in it."""
    seed, _, place = number.partition(" ")
    return seed, place


def order(number: str) -> tuple[int, float, str]:
    """Sorts numbered equations by number, and after them the others by name."""
    place = split(number)[1]
    parts = re.fullmatch(r"(?:(\d+)\.)?(\d+)([a-z]?)", place)
    return (int(parts[1] or 0), int(parts[2]), parts[3]) if parts else (99, 0, place)


def without_function() -> dict[str, str]:
    """Why an equation computes nothing, by number; keys of the file are numbers or ranges of them, "2.1-2.4"."""
    found: dict[str, str] = {}
    for seed, reasons in tomllib.loads(NOTHING.read_text(encoding="utf-8")).items():
        for key, why in reasons.items():
            first, _, last = key.partition("-")
            numbers = NUMBERS[seed]
            for place in numbers[numbers.index(first) : numbers.index(last or first) + 1]:
                if f"{seed} {place}" in found:
                    sys.exit(f"{NOTHING.name} has {seed} {place} twice")
                found[f"{seed} {place}"] = why
    return found


def problems(rows: list[Row], nothing: dict[str, str]) -> list[str]:
    """Equations that stand twice, in both lists, in none, or that no seed has."""
    found: list[str] = []
    tests: dict[str, str] = {}
    for row in rows:
        if row.number in tests:
            found.append(f"{row.number} is marked twice: {tests[row.number]} and {row.test}")
        if row.number in nothing:
            found.append(f"{row.number} is marked in {row.test} and stands in {NOTHING.name} too")
        seed, place = split(row.number)
        if place[0].isdigit() and place.rstrip("abcdefgh") not in NUMBERS[seed]:
            found.append(f"{row.number}, marked in {row.test}: {seed} has no such equation")
        tests[row.number] = row.test
    known = {number.rstrip("abcdefgh") for number in tests} | nothing.keys()
    for seed, places in NUMBERS.items():
        left = [place for place in places if f"{seed} {place}" not in known]
        if left:
            found.append(f"{seed}: neither marked nor explained: {', '.join(left)}")
    return found


def link(name: str) -> str:
    """A function as a link to its file."""
    module_name, path = name, ""
    while not path:
        module_name = module_name.rpartition(".")[0]
        try:
            path = inspect.getfile(import_module(module_name))
        except ModuleNotFoundError:
            continue
    return f"[`{name}`](../{Path(path).relative_to(ROOT).as_posix()})"


def write(rows: list[Row], nothing: dict[str, str]) -> str:
    """The page."""
    parts = [INTRODUCTION]
    for seed, title in SEEDS.items():
        mine = sorted((row for row in rows if split(row.number)[0] == seed), key=lambda row: order(row.number))
        silent = sum(split(number)[0] == seed for number in nothing)
        count = f"{len(mine)} equations, examples and tables run" + (
            f"; {silent} compute nothing.\n" if silent else ".\n"
        )
        parts += [f"\n## {seed}: {title}\n", count]
        parts += ["| equation | what | function | test |", "| --- | --- | --- | --- |"]
        for row in mine:
            file, test = row.test.split("::", 1)
            functions = ", ".join(link(name) for name in row.functions)
            parts.append(f"| {split(row.number)[1]} | {row.what} | {functions} | [`{test}`](../{file}) |")
        reasons: dict[str, list[str]] = {}
        for number, why in nothing.items():
            if split(number)[0] == seed:
                reasons.setdefault(why, []).append(split(number)[1])
        if reasons:
            parts += ["\nWithout a function:\n"]
            parts += [f"- {why}: {', '.join(numbers)}" for why, numbers in reasons.items()]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Writes the page or checks it."""
    rows, nothing = collect(), without_function()
    wrong = problems(rows, nothing)
    if wrong:
        sys.exit("\n".join(wrong))
    text = write(rows, nothing)
    if "--check" not in sys.argv:
        TABLE.write_text(text, encoding="utf-8")
        print(f"{len(rows)} equations in {TABLE.relative_to(ROOT)}")
    elif not TABLE.is_file() or TABLE.read_text(encoding="utf-8") != text:
        sys.exit(f"docs/{TABLE.name} is out of date: python scripts/make_equation_table.py")


if __name__ == "__main__":
    main()
