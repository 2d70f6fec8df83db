"""Changes the code in small ways, one at a time, and prints the changes that no test notices.

usage: python scripts/mutate.py [--count 60] [--seed 0] [--timeout S] [--ignore TEST ...] [--deselect TEST ...]
                                [FOLDER or FILE ...]

The folders are wbc/control, wbc/solvers and tasks where none is named. The work is done on a copy of the tree. The
tests that name the changed module run first, then the others, quick files before slow ones. A survivor is a hole in the
tests, or a change that means the same: read it. The same seed draws the same changes.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

FOLDERS = ("wbc/control", "wbc/solvers", "tasks")

TESTS = {
    "wbc/control": ("tests/control", "tests/tasking", "tests/tasks", "tests/simulation/test_log.py"),
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

SYMMETRIC = {"min", "max", "np.minimum", "np.maximum", "np.hypot"}
"""Functions to which the order of their arguments is nothing."""

SKIPPED = {"__repr__", "__str__", "__init_subclass__", "purpose"}
"""Functions that are about words."""


class Mutant(NamedTuple):
    """One change.

    Attributes:
        path: of the file, from the root.
        line: where it is.
        what: the change in words.
        source: of the whole file with it.
    """

    path: str
    line: int
    what: str
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
    for node, put in list(sites(tree)):
        for what, other in changes(node):
            if hasattr(node, "lineno"):
                put(ast.copy_location(other, node))
                found.append(Mutant(path, node.lineno, what, ast.unparse(ast.fix_missing_locations(tree))))
                put(node)
    return found


def folder_of(path: str) -> str:
    """The folder of `TESTS` that a file is in."""
    return next(folder for folder in TESTS if path.startswith(f"{folder}/"))


def tests_for(path: str, seconds: Mapping[str, float] | None = None) -> list[str]:
    """The test files for a file: of its name, those that name its module, the nearest; quick before slow.

    Args:
        path: of the file, from the root.
        seconds: that a test file takes, by its path; none where that is not known.
    """
    found: dict[str, int] = {}  # how far it is
    module = re.compile(rf"\b{re.escape(path.removesuffix('.py').replace('/', '.'))}\b")
    for far, place in enumerate(TESTS[folder_of(path)], 2):
        for file in sorted((ROOT / place).glob("test_*.py")) if (ROOT / place).is_dir() else [ROOT / place]:
            own, text = file.stem.startswith(f"test_{Path(path).stem}"), file.read_text(encoding="utf-8")
            found[file.relative_to(ROOT).as_posix()] = 0 if own else 1 if module.search(text) else far
    return sorted(found, key=lambda name: (found[name], (seconds or {}).get(name, 0.0)))


def outcome(tree: Path, tests: list[str], options: list[str], timeout: float | None) -> str:
    """Runs tests: "passed", "failed" or "timeout", after so many seconds; None: they may take any time."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *options, *tests]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.Popen(
        command, cwd=tree, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        return "failed" if run.wait(timeout) else "passed"
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        return "timeout"


def seconds_of(tree: Path, tests: list[str], options: list[str]) -> dict[str, float]:
    """How long each test file takes where nothing is changed, s; all tests must pass."""
    report, seconds = tree / "times.xml", defaultdict[str, float](float)
    if outcome(tree, tests, [*options, f"--junitxml={report}"], None) != "passed":
        raise SystemExit(f"the tests fail without a change: {' '.join(tests)}")
    for case in ET.parse(report).iter("testcase"):
        seconds[case.get("classname", "").replace(".", "/") + ".py"] += float(case.get("time", 0.0))
    return seconds


def main() -> int:
    """Draws changes, tries them, and prints the survivors; the exit code is 1 where there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", default=FOLDERS, metavar="FOLDER or FILE")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, help="s for each change; else three times what its tests take, and 30")
    parser.add_argument("--ignore", action="append", default=[], help="a test file or folder that is left out")
    parser.add_argument("--deselect", action="append", default=[], help="a single test that is left out")
    given = parser.parse_args()
    options = [f"--ignore={name}" for name in given.ignore] + [f"--deselect={name}" for name in given.deselect]

    def wanted(tests: list[str]) -> list[str]:  # pytest does not ignore what it is given by name
        return [name for name in tests if not name.startswith(tuple(given.ignore))]

    places = [ROOT / folder for folder in given.folders]
    paths = [path for place in places for path in (sorted(place.rglob("*.py")) if place.is_dir() else [place])]
    files = [path.relative_to(ROOT).as_posix() for path in paths]
    every = [mutant for path in files for mutant in mutants_of(path, (ROOT / path).read_text(encoding="utf-8"))]
    drawn = random.Random(given.seed).sample(every, min(given.count, len(every)))
    print(f"{len(drawn)} of {len(every)} changes in {len(files)} files", flush=True)
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        shutil.copytree(
            ROOT, tree, ignore=shutil.ignore_patterns(".*", "__pycache__", "build", "out"), dirs_exist_ok=True
        )
        tests = wanted(sorted({name for mutant in drawn for name in TESTS[folder_of(mutant.path)]}))
        seconds = seconds_of(tree, tests, options)
        for number, mutant in enumerate(sorted(drawn, key=lambda mutant: (mutant.path, mutant.line)), 1):
            target, began = tree / mutant.path, time.perf_counter()
            kept = target.read_text(encoding="utf-8")
            target.write_text(mutant.source, encoding="utf-8")
            nearest = wanted(tests_for(mutant.path, seconds))
            # tests that are only slow must not pass for tests that noticed something
            limit = given.timeout or 30.0 + 3.0 * sum(seconds[name] for name in nearest)
            came = outcome(tree, nearest, options, limit)
            target.write_text(kept, encoding="utf-8")
            line = kept.splitlines()[mutant.line - 1].strip()
            words = "SURVIVED" if came == "passed" else came
            told = f"{mutant.path}:{mutant.line}: {mutant.what}: {line}"
            print(f"{number:3d} {words:8s} {time.perf_counter() - began:5.1f} s  {told}", flush=True)
            if came == "passed":
                survivors.append(told)
    print(f"\n{len(survivors)} of {len(drawn)} survived", *survivors, sep="\n")
    return bool(survivors)


if __name__ == "__main__":
    raise SystemExit(main())
