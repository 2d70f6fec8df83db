"""Which tests reach which function, and runs of pytest that begin with what takes long to import. For `mutate.py`."""

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
from typing import NamedTuple

import pytest

HEAVY = ("numpy", "scipy.linalg", "scipy.optimize", "hypothesis", "pinocchio", "mujoco", "matplotlib", "PIL.Image")
"""What tests import, and no change concerns."""

Function = tuple[str, int]
"""The path of a file, from the root, and the line in which a function begins; line 0: what runs at import."""


class Reach(NamedTuple):
    """A test, how long it takes, s, and what it calls."""

    test: str
    seconds: float
    functions: frozenset[Function]


class Recorder:
    """A plugin of pytest: the functions of some folders that each test calls, its fixtures included.

    Args:
        tree: the root.
        folders: that are looked at, from the root.
    """

    def __init__(self, tree: Path, folders: Iterable[str]) -> None:
        self._root, self._places = f"{tree.resolve()}/", tuple(f"{tree.resolve()}/{folder}/" for folder in folders)
        self._calls: set[CodeType] = set()
        self.found: list[tuple[str, float, list[Function]]] = []
        self.failed: set[str] = set()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None]:
        """Records a test."""
        self._calls, began = set(), time.perf_counter()
        threading.setprofile(self._called)
        sys.setprofile(self._called)
        yield
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
        ours = [code for code in self._calls if code.co_filename.startswith(self._places)]
        functions = {(code.co_filename.removeprefix(self._root), code.co_firstlineno) for code in ours}
        self.found.append((item.nodeid, time.perf_counter() - began, sorted(functions)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remembers what fails without a change: it says nothing."""
        if report.failed:
            self.failed.add(report.nodeid)

    def _called(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            self._calls.add(frame.f_code)


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
    return [Reach(test, seconds, frozenset((path, line) for path, line in called)) for test, seconds, called in lines]


def reaching(found: Iterable[Reach], function: Function) -> dict[str, float]:
    """The tests that call a function, and how long each takes; of line 0, that call any function of the file."""
    path, line = function
    return {
        reach.test: reach.seconds
        for reach in found
        if (function in reach.functions if line else any(path == called for called, _ in reach.functions))
    }


def run_tests(tree: Path, tests: list[str], options: list[str], seconds: float | None) -> str:
    """Runs tests until one fails: "passed", "failed" or "timeout"."""
    arguments = ["-x", "-q", "-p", "no:cacheprovider", *options, *tests]
    code = in_fork(tree, lambda: int(pytest.main(arguments)), seconds)
    return "timeout" if code is None else "failed" if code else "passed"


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
