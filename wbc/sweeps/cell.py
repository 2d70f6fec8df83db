"""A process of its own for cases: one that hangs can be ended, and one that dies takes nothing with it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from dataclasses import dataclass
from typing import IO, Any

from wbc.errors import WbcError
from wbc.sweeps.case import Case
from wbc.sweeps.perform import DiskFullError, lost
from wbc.sweeps.rows import line
from wbc.sweeps.versions import VersionsDifferError, differences
from wbc.sweeps.worker import READY

START = 120.0
"""What a process may take to start, s: it imports everything."""

ATTEMPTS = 2
"""How often a case is run whose process dies."""

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "BLIS_NUM_THREADS"), "1"
)
"""A worker's linear algebra is on one thread: there are as many workers as cores."""


@dataclass(frozen=True)
class Orders:
    """What goes for all cases of a sweep; plain data, so that it can be sent.

    Attributes:
        limit: that a case may take, s.
        versions: that a worker must have.
        source: the hash of the scene's file.
        logs: whose logs are kept: "failures", "all" or "none".
        folder: of the logs, as an absolute path; None: none are kept.
    """

    limit: float
    versions: dict[str, str]
    source: str
    logs: str = "none"
    folder: str | None = None


class HaltedError(Exception):
    """The sweep was stopped while a case was running."""


class SourceChangedError(WbcError):
    """The file of the scene is not the one that the sweep began with."""


class Cell:
    """Performs cases, one after the other, in a process that is started anew where it hung or died.

    Its process is a fresh Python (`wbc.sweeps.worker`), not a copy of this one: nothing live is handed over, and a
    script needs no guard around its main part.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._words: Any = None
        self._end: weakref.finalize[Any, Any] | None = None
        self._halted = threading.Event()

    def perform(self, case: Case, orders: Orders) -> str:
        """Runs a case, and gives its row as a line of JSON.

        Args:
            case: to run.
            orders: that go for all cases.

        Raises:
            HaltedError: `halt` was called.
            WbcError: the worker can't go on: its disk is full, or it has other versions.
        """
        began = time.perf_counter()
        asked = {"case": case.plain(), "limit": orders.limit, "logs": orders.logs, "folder": orders.folder}
        kept = None if orders.logs == "none" else orders.folder
        for _ in range(ATTEMPTS):
            process = self._running(orders)
            answer, late = self._ask(process, json.dumps({**asked, "source": orders.source}), orders.limit)
            if late:
                why = f"it was ended after its time limit of {orders.limit:g} s"
                return line(lost(case, "hung", why, time.perf_counter() - began, kept))
            if answer:
                return self._looked_at(answer)
            code = process.wait()
            if self._halted.is_set():
                raise HaltedError
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        why = f"its process ended {how}, {ATTEMPTS} times{self._last_words()}"
        return line(lost(case, "died", why, time.perf_counter() - began, kept))

    def halt(self) -> None:
        """Ends the process at once, from any thread; no other is started."""
        self._halted.set()
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """Ends the process, and waits until it is gone; not while a case is running."""
        self._halted.set()
        if self._end is not None:
            self._end()

    def _looked_at(self, answer: str) -> str:
        """The answer, where it is a row."""
        if answer.startswith('{"full"'):
            raise DiskFullError(json.loads(answer)["full"])
        if answer.startswith('{"changed"'):
            raise SourceChangedError(json.loads(answer)["changed"])
        return answer.rstrip("\n")

    def _running(self, orders: Orders) -> subprocess.Popen[str]:
        """The process; a new one where there is none."""
        if self._process is not None and self._process.poll() is None:
            return self._process
        if self._halted.is_set():
            raise HaltedError
        if self._end is not None:
            self._end()  # closes the pipes of the process before
        self._words = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the process
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)  # noqa: PTH109  a string is wanted
        process = subprocess.Popen(
            [sys.executable, "-m", "wbc.sweeps.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            text=True,
            encoding="utf-8",
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C is for the process that was started by a person
        )
        self._process, self._end = process, weakref.finalize(self, _end, process, self._words)
        if self._halted.is_set():  # meanwhile
            process.kill()
        answer, _ = self._ask(process, "", START)
        if not answer:
            process.wait()
            if self._halted.is_set():
                raise HaltedError
            raise WbcError(f"a process for cases did not start{self._last_words()}")
        differ = differences(orders.versions, json.loads(answer)[READY])
        if differ:
            raise VersionsDifferError(
                f"a worker has other versions: {differ}; rows of one sweep need the same everywhere"
            )
        return process

    @staticmethod
    def _ask(process: subprocess.Popen[str], text: str, seconds: float) -> tuple[str, bool]:
        """The answer to a line, empty if the process died, and whether it was ended because it took too long."""
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        watch = threading.Timer(seconds, end)
        watch.start()
        try:
            assert process.stdin is not None and process.stdout is not None
            if text:
                process.stdin.write(text + "\n")
                process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        finally:
            watch.cancel()
        if not answer.endswith("\n"):
            answer = ""
        if late.is_set():
            process.wait()
        return answer, late.is_set() and not answer

    def _last_words(self) -> str:
        """The end of what the process said."""
        self._words.seek(0)
        words = self._words.read().decode(errors="replace").strip()
        return f": {words[-400:]}" if words else ""


def _end(process: subprocess.Popen[str], words: IO[bytes]) -> None:
    """Ends a process whose cell is gone."""
    process.kill()
    process.wait()
    words.close()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):  # a line that was not sent yet is for nobody now
                pipe.close()
