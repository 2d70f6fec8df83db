"""The script that changes the code in small ways finds each kind of change, and breaks no file."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path

PATH = Path(__file__).parents[1] / "scripts" / "mutate.py"
sys.path.insert(0, str(PATH.parent))
spec = importlib.util.spec_from_file_location("mutate", PATH)
assert spec is not None and spec.loader is not None
mutate = sys.modules["mutate"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mutate)
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
