"""The way between a run and its page, which is a process of its own: whatever a browser does, the run does not feel it.

The run's thread leaves ticks in a slot and takes commands out of a queue. A second thread of its process makes pictures
and sends them; a third one receives commands. Where the page does not read, the second thread waits, and nobody else.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
import threading
from multiprocessing.connection import Connection, Listener
from time import perf_counter, sleep
from typing import Any

from wbc.copies import Unique
from wbc.errors import WbcError
from wbc.web.live import Live
from wbc.web.taking import Taker, scenery

EVERY = 1.0 / 30
"""From picture to picture, s of the clock."""

IDLE = 0.2
"""Interval between checks for a browser, s."""

PATIENCE, POLLED = 0.02, 2e-4
"""Longest wait of a picture for an idle moment of the run, and interval between checks, s."""

START = 60.0
"""Longest time in which a page may start, s."""

LOOPBACK = "127.0.0.1"

PAGE = "wbc.web"
"""The module that is the process of a page."""


class Link(Unique):
    """A page in a process of its own, on a live run. Close it, or use it in a `with`.

    Args:
        live: that has not begun.
        host: address that the page is bound to.
        port: of the page; the next free one is taken where it is in use.

    Attributes:
        address: of the page, for a browser.
        watchers: how many browsers look on.
        sent: pictures so far.
        fault: why the last picture that could not be made was left out; None where all could.
    """

    held = "a process"

    def __init__(self, live: Live, host: str = LOOPBACK, port: int = 8080) -> None:
        self._live, self._closed = live, threading.Event()
        self.watchers, self.sent = 0, 0
        self._threads: list[threading.Thread] = []
        self.fault: Exception | None = None
        key = secrets.token_bytes(32)
        with Listener(authkey=key) as listener:
            orders = {"address": listener.address, "key": key.hex(), "host": host, "port": port}
            self._process = subprocess.Popen(
                [sys.executable, "-m", PAGE], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=_environment()
            )
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(orders).encode() + b"\n")
            self._process.stdin.close()
            self._connection = _accept(listener, self._process)
        self._taker = Taker(live)
        self._connection.send(scenery(live))
        self.address = self._expect_address()
        self._threads = [
            threading.Thread(target=work, name=f"wbc-web-{work.__name__}", daemon=True)
            for work in (self._send, self._receive)
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Link:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def process(self) -> int:
        """Number of the page's process."""
        return self._process.pid

    @property
    def gone(self) -> bool:
        """Whether the page is no longer there."""
        return self._closed.is_set()

    def close(self) -> None:
        """Ends the page."""
        self._closed.set()
        self._process.terminate()  # it has nothing to save
        try:
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:  # what was on its way has nowhere to go now
            thread.join(2.0)
        with contextlib.suppress(OSError):
            self._connection.close()

    def show(self) -> None:
        """Shows what the live run has taken in place of what was there."""
        self._taker = Taker(self._live)

    def _expect_address(self) -> str:
        if not self._connection.poll(START):
            self.close()
            raise WbcError(f"the page did not answer within {START:g} s")
        try:
            answer = self._connection.recv()
        except (EOFError, OSError):
            answer = WbcError("the page's process ended before it was there")
        if isinstance(answer, WbcError):
            self.close()
            raise answer
        return str(answer)

    def _send(self) -> None:
        """Sends pictures while somebody looks on."""
        seen = 0
        while not self._closed.wait(EVERY if self.watchers else IDLE):
            if not self.watchers:
                continue
            self._wait_for_rest()
            try:
                picture = self._taker.take(anyway=self.watchers != seen)
            except Exception as error:  # of a user's task, say: that picture is left out, and the run goes on
                self.fault = error
                continue
            seen = self.watchers
            if picture is None:
                continue
            try:
                self._connection.send(picture)
                self.sent += 1
            except (OSError, ValueError):  # the page is gone, and the run goes on
                self._closed.set()

    def _wait_for_rest(self) -> None:
        """Waits until the run waits for the clock: Python lets one thread at a time do something. Not for ever."""
        end = perf_counter() + PATIENCE
        while not self._live.slot.resting and perf_counter() < end:
            sleep(POLLED)

    def _receive(self) -> None:
        """Receives commands, and how many look on."""
        while not self._closed.is_set():
            try:
                message: Any = self._connection.recv()
            except (EOFError, OSError):
                self._closed.set()
                return
            if isinstance(message, int):
                self.watchers = message
            else:
                self._live.ask(message)


def _environment() -> dict[str, str]:
    """The process of a page finds the same packages, and does its linear algebra on one thread."""
    own = os.environ.get("PYTHONPATH", "")
    paths = [path for path in sys.path if path] + ([own] if own else [])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}


def _accept(listener: Listener, process: subprocess.Popen[bytes]) -> Connection:
    """The connection of the page; raises where its process ends before it has one."""
    found: list[Connection] = []

    def wait() -> None:
        with contextlib.suppress(OSError, EOFError):
            found.append(listener.accept())

    thread = threading.Thread(target=wait, name="wbc-web-accept", daemon=True)
    thread.start()
    for _ in range(round(START / 0.05)):
        thread.join(0.05)
        if found:
            return found[0]
        if process.poll() is not None:
            break
    process.kill()
    raise WbcError(f"the page could not be started (its process ended with code {process.wait()})")
