"""Which tests reach which line, and runs of pytest that begin with what takes long to import. For `mutate.py`."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import pytest

HEAVY = ("numpy", "scipy.linalg", "scipy.optimize", "hypothesis", "pinocchio", "mujoco", "matplotlib", "PIL.Image")
"""What tests import, and no change concerns."""

CALLS = 200
"""A function that a test has called so often is no longer looked at in that test: the record would take hours."""

Lines = dict[str, set[int]]
"""Lines by the path of their file, from the root."""


class Reach(NamedTuple):
    """A test, how long it takes, s, and the lines that it runs."""

    test: str
    seconds: float
    lines: Lines


class Recorder:
    """A plugin of pytest: the lines of some folders that each test runs, its fixtures included.

    Args:
        tree: the root.
        folders: that are looked at, from the root.
    """

    def __init__(self, tree: Path, folders: Iterable[str]) -> None:
        self._root, self._places = f"{tree.resolve()}/", tuple(f"{tree.resolve()}/{folder}/" for folder in folders)
        self._calls: dict[CodeType, int] = {}
        self._lines: dict[CodeType, set[int]] = {}
        self.found: list[tuple[str, float, dict[str, list[int]]]] = []
        self.failed: set[str] = set()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None]:
        """Records a test."""
        self._calls, self._lines, began = {}, {}, time.perf_counter()
        threading.settrace(self._called)
        sys.settrace(self._called)
        yield
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        lines: Lines = {}
        for code, some in self._lines.items():
            lines.setdefault(code.co_filename.removeprefix(self._root), set()).update(some)
        told = {path: sorted(some) for path, some in sorted(lines.items())}
        self.found.append((item.nodeid, time.perf_counter() - began, told))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remembers what fails without a change: it says nothing."""
        if report.failed:
            self.failed.add(report.nodeid)

    def _called(self, frame: FrameType, event: str, argument: object) -> Tracer | None:
        code = frame.f_code
        calls = self._calls.get(code, 0)
        if calls >= CALLS or not code.co_filename.startswith(self._places):
            return None
        self._calls[code] = calls + 1
        lines = self._lines.setdefault(code, {code.co_firstlineno})

        def ran(frame: FrameType, event: str, argument: object) -> Tracer | None:
            if event == "line":
                lines.add(frame.f_lineno)
            return ran

        return ran


Tracer = Callable[[FrameType, str, object], Any]
"""What Python calls for each line."""


def record(tree: Path, tests: list[str], folders: Iterable[str], options: list[str]) -> list[Reach]:
    """Runs tests where nothing is changed; tests that fail are left out."""
    notes, recorder = tree / "reached.json", Recorder(tree, folders)

    def run() -> int:
        pytest.main(["-q", "-p", "no:cacheprovider", *options, *tests], plugins=[recorder])
        passed = [line for line in recorder.found if line[0] not in recorder.failed]
        notes.write_text(json.dumps(passed), encoding="utf-8")
        return 0

    in_fork(tree, run, None)
    return load(notes)


def load(notes: Path) -> list[Reach]:
    """What was recorded."""
    lines = json.loads(notes.read_text(encoding="utf-8"))
    return [Reach(test, seconds, {path: set(some) for path, some in ran.items()}) for test, seconds, ran in lines]


def reaching(found: Iterable[Reach], path: str, lines: range) -> dict[str, float]:
    """The tests that run one of some lines of a file, and how long each takes."""
    return {reach.test: reach.seconds for reach in found if not reach.lines.get(path, set()).isdisjoint(lines)}


class Killer:
    """A plugin of pytest: writes down the first test that fails."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Looks at what came of a test."""
        if report.failed:
            self._file.write_text(report.nodeid, encoding="utf-8")


def run_tests(tree: Path, tests: list[str], options: list[str], seconds: float | None) -> tuple[str, str]:
    """Runs tests until one fails: "passed", "failed" or "timeout", and the one that failed ("" where none is known)."""
    arguments, said = ["-x", "-q", "-p", "no:cacheprovider", *options, *tests], tree / "failed.txt"
    said.unlink(missing_ok=True)
    code = in_fork(tree, lambda: int(pytest.main(arguments, plugins=[Killer(said)])), seconds)
    came = "timeout" if code is None else "failed" if code else "passed"
    return came, said.read_text(encoding="utf-8") if said.exists() else ""


class Names:
    """A plugin of pytest: writes down the tests that there are."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Looks at what was collected."""
        self._file.write_text("\n".join(item.nodeid for item in session.items), encoding="utf-8")


def compile_tests(tree: Path, tests: list[str]) -> set[str]:
    """Imports tests where nothing is changed, and keeps the bytecode: each change would compile them once more.

    Returns:
        The tests that there are: notes may be older.
    """
    names = tree / "names.txt"

    def work() -> int:
        sys.dont_write_bytecode = False
        arguments = ["--collect-only", "-q", "-p", "no:cacheprovider", *tests]
        return int(pytest.main(arguments, plugins=[Names(names)]))

    in_fork(tree, work, None)
    return set(names.read_text(encoding="utf-8").splitlines())


def in_fork(tree: Path, work: Callable[[], int], seconds: float | None) -> int | None:
    """Does something in a copy of this process, in a tree; its exit code, or None where it took too long."""
    for name in HEAVY:
        try:
            import_module(name)
        except ImportError:
            continue
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.setsid()
        os.chdir(tree)
        sys.path.insert(0, str(tree))
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        code = 1
        try:
            code = work()
        finally:
            os._exit(code)
    end = None if seconds is None else time.monotonic() + seconds
    while True:
        done, status = os.waitpid(child, 0 if end is None else os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if end is not None and time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(0.01)
