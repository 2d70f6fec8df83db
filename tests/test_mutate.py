"""The script that changes the code in small ways finds each kind of change, and breaks no file."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections import Counter
from pathlib import Path

PATH = Path(__file__).parents[1] / "scripts" / "mutate.py"
sys.path.insert(0, str(PATH.parent))
spec = importlib.util.spec_from_file_location("mutate", PATH)
assert spec is not None and spec.loader is not None
mutate = sys.modules["mutate"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mutate)
Reach = sys.modules["reached"].Reach  # type: ignore[attr-defined]

sys.path.remove(str(PATH.parent))

SOURCE = '''
"""Words, 1 + 1."""
def f(a: int = 2, b=None) -> "1 < 2":
    """More words."""
    if a < 3 and not b:
        self.a = a + 1.5
        g(a, b)
    elif b is None:
        raise ValueError(f"{a + 1}")
    return -a
'''


def test_each_kind_of_change_is_found_once_and_words_are_left_alone() -> None:
    found = mutate.mutants_of("a.py", SOURCE)
    assert sorted((mutant.line, mutant.what) for mutant in found) == [
        (3, "2 to 3"),
        (5, "3 to 4"),
        (5, "And to Or"),
        (5, "Lt to Gt"),
        (5, "Lt to LtE"),
        (5, "Not dropped"),
        (5, "condition negated"),
        (6, "1.5 to 3.0"),
        (6, "Add to Sub"),
        (6, "statement dropped"),
        (7, "arguments swapped"),
        (7, "statement dropped"),
        (8, "Is to IsNot"),
        (8, "condition negated"),
        (10, "USub dropped"),
    ]
    plain = ast.dump(ast.parse(SOURCE))
    assert len({mutant.source for mutant in found}) > 12, "two may mean the same"
    for mutant in found:
        assert ast.dump(ast.parse(mutant.source)) != plain, mutant.what


def test_every_file_can_be_changed_and_has_tests() -> None:
    for folder in mutate.FOLDERS:
        for path in (mutate.ROOT / folder).rglob("*.py"):
            name = path.relative_to(mutate.ROOT).as_posix()
            assert mutate.distances(name), name
    path = "wbc/control/ramps.py"
    assert mutate.distances(path)["tests/control/test_ramps.py"] == 0
    assert len(mutate.mutants_of(path, (mutate.ROOT / path).read_text(encoding="utf-8"))) > 10


def test_a_change_knows_its_statement_and_its_function() -> None:
    found = {(mutant.line, mutant.what): mutant for mutant in mutate.mutants_of("a.py", SOURCE)}
    assert found[5, "3 to 4"].lines == range(5, 6) and found[5, "3 to 4"].function == range(3, 11)
    assert found[6, "Add to Sub"].text == "self.a = a + 1.5" and mutate.told(found[5, "3 to 4"]).startswith(
        "a.py:5: 3 to"
    )
    assert found[6, "Add to Sub"].lines == range(6, 7) and found[3, "2 to 3"].lines == range(3, 4)
    split = mutate.mutants_of("a.py", "def f():\n    x = f(\n        1,\n        2,\n    )\nX = 1\n")
    assert {(mutant.line, mutant.lines, mutant.function) for mutant in split} == {
        *((line, range(2, 6), range(1, 6)) for line in (2, 3, 4)),
        (6, range(1, 7), range(1, 7)),
    }


def test_tests_that_run_a_change_are_tried_and_the_most_promising_first() -> None:
    """Those of its statement; else of its function; else those of the nearest files."""
    path, near, far = "wbc/control/ramps.py", "tests/control/test_ramps.py", "tests/tasks/test_contacts.py"
    notes = [
        Reach(f"{near}::slow", 9.0, {path: {5}}),
        Reach(f"{far}::quick", 0.1, {path: {5, 6}}),
        *[Reach(f"{near}::many[{k}]", 0.1 + 0.01 * k, {path: {5}}) for k in range(3)],
        Reach(f"{near}::other", 0.1, {path: {20}}),
    ]

    def tried(lines: range, function: range, killed: dict[tuple[str, str], int] | None = None) -> list[str]:
        mutant = mutate.Mutant(path, lines.start, lines, function, "", "", "")
        return [test.split("::")[1] for test in mutate.tests_of(mutant, notes, Counter(killed or {}))]

    assert tried(range(5, 6), range(1, 9)) == ["many[0]", "many[1]", "quick", "many[2]", "slow"]
    assert tried(range(5, 6), range(1, 9), {(path, f"{near}::slow"): 99})[0] == "slow"
    assert tried(range(7, 8), range(6, 9)) == ["quick"]
    assert set(tried(range(1, 9), range(1, 9))) == {"slow", "other", "quick", "many[0]", "many[1]", "many[2]"}
    assert set(tried(range(7, 8), range(7, 9))) == {"slow", "other", "many[0]", "many[1]", "many[2]"}
    assert list(mutate.first_of({"a": 1.0, "b": 2.0, "c": 3.0}, None, 3.5)) == ["a", "b"]
    assert list(mutate.first_of({"a": 9.0, "b": 2.0}, 1, None)) == ["a"] == list(mutate.first_of({"a": 9.0}, None, 1.0))
