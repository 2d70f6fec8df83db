"""Changes the code in small ways, one at a time, and prints the changes that no test notices.

usage: python scripts/mutate.py [--count 60] [--seed 0] [--timeout S] [--seconds S] [--most N] [--notes FILE]
                                [--only FILE] [--ignore TEST ...] [--deselect TEST ...] [FOLDER or FILE ...]

The folders are wbc/control, wbc/solvers and tasks where none is named. The work is done on a copy of the tree. First
all tests of these folders run once: which test runs which line is kept in the notes, and a second run may begin with
them. A change is then tried with the tests that run its statement, the quick ones and those of the nearest files first,
and before them those that noticed changes of the same file. Of a test with many parameters the first ones come first.
A survivor is a hole in the tests, or a change that means the same: read it. The same seed draws the same changes.
`--seconds 30` tries a change with as many tests as take so long; `--only FILE` tries the survivors of such a run, its
output, once more.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from reached import Reach, compile_tests, load, reaching, record, run_tests

ROOT = Path(__file__).parents[1]

FOLDERS = ("wbc/control", "wbc/solvers", "tasks")

TESTS = {
    "wbc/control": (
        *("tests/control", "tests/tasking", "tests/tasks", "tests/simulation/test_log.py"),
        "tests/realtime/test_command.py",
        "tests/test_bad_input.py",
    ),
    "wbc/solvers": ("tests/solvers", "tests/control"),
    "wbc/tasking": ("tests/tasking", "tests/control", "tests/tasks"),
    "wbc/contacts": ("tests/contacts", "tests/control", "tests/tasks"),
    "tasks": ("tests/tasks", "tests/control", "tests/kinematics/test_differential.py", "tests/simulation/test_trot.py"),
}
"""The tests that look at a folder, the nearest first."""

COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}

OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult}

SYMMETRIC = {"min", "max", "np.minimum", "np.maximum", "np.hypot", "np.clip"}
"""Functions to which the order of their first two arguments is nothing."""

SKIPPED = {"__repr__", "__str__", "__init_subclass__", "purpose"}
"""Functions that are about words."""


FEW = 20, 100
"""So many tests are tried first, and next: most changes are noticed by the nearest ones, and few are collected in no
time."""


class Mutant(NamedTuple):
    """One change.

    Attributes:
        path: of the file, from the root.
        line: where it is.
        lines: of the statement that it is in, without what stands below it; all of the file where it runs at import.
        function: the lines of the function around it; all of the file where it runs at import.
        what: the change in words.
        text: the line as it was.
        source: of the whole file with it.
    """

    path: str
    line: int
    lines: range
    function: range
    what: str
    text: str
    source: str


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """All changes of one node: in words, and what stands in its place."""
    match node:
        case ast.Compare(ops=[op]):
            for other in COMPARISONS.get(type(op), ()):
                yield f"{type(op).__name__} to {other.__name__}", _with(node, ops=[other()])
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in OPERATORS:
            other = OPERATORS[type(op)]
            yield f"{type(op).__name__} to {other.__name__}", _with(node, op=other())
        case ast.BoolOp(op=op):
            other = ast.Or if isinstance(op, ast.And) else ast.And
            yield f"{type(op).__name__} to {other.__name__}", _with(node, op=other())
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield f"{type(node.op).__name__} dropped", operand
        case ast.Constant(value=bool(value)):
            yield f"{value} to {not value}", _with(node, value=not value)
        case ast.Constant(value=int(value)):
            yield f"{value} to {value + 1}", _with(node, value=value + 1)
        case ast.Constant(value=float(value)):
            other_value = 2.0 * value if value else 1.0
            yield f"{value} to {other_value}", _with(node, value=other_value)
        case ast.If() | ast.IfExp() if "TYPE_CHECKING" not in ast.unparse(node.test):
            yield "condition negated", _with(node, test=ast.UnaryOp(ast.Not(), node.test))
        case ast.Call(args=[first, second, *rest]) if not any(isinstance(a, ast.Starred) for a in (first, second)):
            if ast.dump(first) != ast.dump(second) and ast.unparse(node.func) not in SYMMETRIC:
                yield "arguments swapped", _with(node, args=[second, first, *rest])
    if isinstance(node, ast.AugAssign | ast.Continue | ast.Break) or _has_effect(node):
        yield "statement dropped", ast.Pass()


def _with(node: ast.AST, **fields: object) -> ast.AST:
    """A copy of a node with other fields."""
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _has_effect(node: ast.AST) -> bool:
    """Whether a statement is a call, or sets something that outlives the function."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    return isinstance(node, ast.Assign) and all(isinstance(t, ast.Attribute | ast.Subscript) for t in node.targets)


def sites(node: ast.AST) -> Iterator[tuple[ast.AST, Callable[[ast.AST], None]]]:
    """Each node that may be changed, with what puts another in its place; words and annotations are left out."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        if isinstance(value, list):
            for index, child in enumerate(value):
                if isinstance(child, ast.AST):
                    yield from _site(child, lambda new, index=index, value=value: value.__setitem__(index, new))
        elif isinstance(value, ast.AST):
            yield from _site(value, lambda new, name=name: setattr(node, name, new))


def _site(child: ast.AST, put: Callable[[ast.AST], None]) -> Iterator[tuple[ast.AST, Callable[[ast.AST], None]]]:
    if isinstance(child, ast.JoinedStr | ast.Raise | ast.Import | ast.ImportFrom | ast.Assert):
        return
    if isinstance(child, ast.FunctionDef) and child.name in SKIPPED:
        return
    if isinstance(child, ast.Expr) and ast.unparse(child).startswith("warnings.warn"):
        return
    yield child, put
    yield from sites(child)


def mutants_of(path: str, source: str) -> list[Mutant]:
    """All changes of a file, in the order of its lines."""
    tree, found = ast.parse(source), []
    functions = [_span(node) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    statements = [_head(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    every = range(1, len(source.splitlines()) + 1)
    for node, put in list(sites(tree)):
        for what, other in changes(node):
            if hasattr(node, "lineno"):
                put(ast.copy_location(other, node))
                statement, around = (_smallest(some, node.lineno, every) for some in (statements, functions))
                lines = every if around is every else statement  # an import runs once, whoever needs it
                changed = ast.unparse(ast.fix_missing_locations(tree))
                text = source.splitlines()[node.lineno - 1].strip()
                found.append(Mutant(path, node.lineno, lines, around, what, text, changed))
                put(node)
    return found


def _smallest(spans: list[range], line: int, otherwise: range) -> range:
    """The shortest of the spans that a line is in."""
    return min((span for span in spans if line in span), key=len, default=otherwise)


def _span(node: ast.FunctionDef) -> range:
    """The lines of a function, its decorators included."""
    return range(min([node.lineno, *[one.lineno for one in node.decorator_list]]), (node.end_lineno or node.lineno) + 1)


def _head(node: ast.stmt) -> range:
    """The lines of a statement, without the statements in it."""
    inside = [one.lineno for one in getattr(node, "body", [])]
    return range(node.lineno, max(min(inside), node.lineno + 1) if inside else (node.end_lineno or node.lineno) + 1)


def folder_of(path: str) -> str:
    """The folder of `TESTS` that a file is in."""
    return next(folder for folder in TESTS if path.startswith(f"{folder}/"))


def distances(path: str) -> dict[str, int]:
    """How far the test files of a file are: 0 of its name, 1 that name its module, from 2 on the others."""
    found: dict[str, int] = {}
    module = re.compile(rf"\b{re.escape(path.removesuffix('.py').replace('/', '.'))}\b")
    for far, place in enumerate(TESTS[folder_of(path)], 2):
        for file in sorted((ROOT / place).glob("test_*.py")) if (ROOT / place).is_dir() else [ROOT / place]:
            own, text = file.stem.startswith(f"test_{Path(path).stem}"), file.read_text(encoding="utf-8")
            found[file.relative_to(ROOT).as_posix()] = 0 if own else 1 if module.search(text) else far
    return found


def tests_of(mutant: Mutant, notes: list[Reach], killed: Counter[tuple[str, str]]) -> dict[str, float]:
    """The tests that run a change, in the order in which they are tried, and how long each takes, s.

    Where none runs its statement, those that run its function, and where none does that, those of the nearest files:
    what another process runs is not noted.

    Args:
        mutant: the change.
        notes: which test runs which line.
        killed: how many changes of a file a test has noticed, by file and by test without its parameters.
    """
    far = distances(mutant.path)
    known = [reach for reach in notes if reach.test.split("::")[0] in far]
    near = {reach.test: reach.seconds for reach in known if far[reach.test.split("::")[0]] < 2}
    seconds = reaching(known, mutant.path, mutant.lines) or reaching(known, mutant.path, mutant.function) or near
    if mutant.lines == mutant.function:  # what a class declares is read without a line of it being run
        seconds = near | seconds
    alike: Counter[str] = Counter()
    order: dict[str, float] = {}
    for test in sorted(seconds, key=lambda test: seconds[test]):
        plain = test.split("[")[0]
        alike[plain] += 1
        away = 1.0 if test in near else 3.0
        order[test] = away * alike[plain] * (0.02 + seconds[test]) / (1.0 + killed[mutant.path, plain])
    return {test: seconds[test] for test in sorted(order, key=lambda test: order[test])}


def first_of(tests: dict[str, float], most: int | None, budget: float | None) -> dict[str, float]:
    """As many of the tests as are asked for: a number, or what they take, s."""
    found, spent = {}, 0.0
    for test, seconds in list(tests.items())[:most]:
        spent += seconds
        if budget is not None and spent > budget and found:
            break
        found[test] = seconds
    return found


def came_of(tree: Path, tests: dict[str, float], options: list[str], timeout: float | None) -> tuple[str, str]:
    """What tests say to a change: "passed" (it survives), "failed" or "timeout", and which test failed."""
    names, came, killer = list(tests), "passed", ""
    for some in (names[: FEW[0]], names[FEW[0] : FEW[1]], names[FEW[1] :]):
        # tests that are only slow must not pass for tests that noticed something
        limit = timeout or 60.0 + 10.0 * sum(tests[name] for name in some)
        if some and came == "passed":
            came, killer = run_tests(tree, some, options, limit)
    return came, killer


def noted(notes: Path | None, tree: Path, tests: list[str], options: list[str]) -> list[Reach]:
    """Which test runs which line: out of the notes, or found out, and noted."""
    if notes is not None and notes.exists():
        return load(notes)
    found = record(tree, tests, TESTS, options)
    if notes is not None:
        shutil.copy(tree / "reached.json", notes)
    return found


def try_out(
    mutant: Mutant, tree: Path, tests: dict[str, float], options: list[str], timeout: float | None
) -> tuple[str, str]:
    """Puts a change into the tree, runs tests, and takes it back: see `came_of`."""
    target = tree / mutant.path
    kept = target.read_text(encoding="utf-8")
    for old in target.parent.glob(f"__pycache__/{target.stem}.*"):
        old.unlink()  # bytecode knows its source by size and second
    target.write_text(mutant.source, encoding="utf-8")
    try:
        return came_of(tree, tests, options, timeout)
    finally:
        target.write_text(kept, encoding="utf-8")


def told(mutant: Mutant) -> str:
    """A change in words."""
    return f"{mutant.path}:{mutant.line}: {mutant.what}: {mutant.text}"


def drawn(folders: Sequence[str], count: int, seed: int, only: Path | None) -> list[Mutant]:
    """The changes that are tried: drawn at random, or the survivors of a run."""
    places = [ROOT / folder for folder in folders]
    paths = [path for place in places for path in (sorted(place.rglob("*.py")) if place.is_dir() else [place])]
    files = [path.relative_to(ROOT).as_posix() for path in paths]
    every = [mutant for path in files for mutant in mutants_of(path, (ROOT / path).read_text(encoding="utf-8"))]
    if only is None:
        some = random.Random(seed).sample(every, min(count, len(every)))
    else:
        left = set(re.findall(r"SURVIVED .* s  (\S+?):\d+: (.*) \(\d+ tests\)", only.read_text(encoding="utf-8")))
        some = [mutant for mutant in every if (mutant.path, f"{mutant.what}: {mutant.text}") in left]
    print(f"{len(some)} of {len(every)} changes in {len(files)} files", flush=True)
    return sorted(some, key=lambda mutant: (mutant.path, mutant.line))


def main() -> int:
    """Draws changes, tries them, and prints the survivors; the exit code is 1 where there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", default=FOLDERS, metavar="FOLDER or FILE")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, help="s for each change; else ten times what its tests take, and 60")
    parser.add_argument("--seconds", type=float, help="a change is tried with tests that take so long; else with all")
    parser.add_argument("--most", type=int, help="tests that a change is tried with; else all that run it")
    parser.add_argument("--notes", type=Path, help="where it is kept which test runs what; taken from there if it is")
    parser.add_argument("--only", type=Path, help="the output of a run: its survivors are tried once more")
    parser.add_argument("--ignore", action="append", default=[], help="a test file or folder that is left out")
    parser.add_argument("--deselect", action="append", default=[], help="a single test that is left out")
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"], sys.dont_write_bytecode = "1", True
    options = [f"--ignore={name}" for name in given.ignore] + [f"--deselect={name}" for name in given.deselect]
    mutants, survivors = drawn(given.folders, given.count, given.seed, given.only), []
    killed: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        shutil.copytree(
            ROOT, tree, ignore=shutil.ignore_patterns(".*", "__pycache__", "build", "out"), dirs_exist_ok=True
        )
        tests = sorted({name for mutant in mutants for name in TESTS[folder_of(mutant.path)]})
        notes = noted(given.notes, tree, tests, options)
        there = compile_tests(tree, tests)
        notes = [reach for reach in notes if reach.test in there]
        for number, mutant in enumerate(mutants, 1):
            began = time.perf_counter()
            reached = first_of(tests_of(mutant, notes, killed), given.most, given.seconds)
            came, killer = try_out(mutant, tree, reached, options, given.timeout)
            killed[mutant.path, killer.split("[")[0]] += 1
            words = "SURVIVED" if came == "passed" else came
            line = f"{words:8s} {time.perf_counter() - began:5.1f} s  {told(mutant)} ({len(reached)} tests)"
            print(f"{number:3d} {line} {killer}".rstrip(), flush=True)
            if came == "passed":
                survivors.append(told(mutant))
    print(f"\n{len(survivors)} of {len(mutants)} survived", *survivors, sep="\n")
    return bool(survivors)


if __name__ == "__main__":
    raise SystemExit(main())
