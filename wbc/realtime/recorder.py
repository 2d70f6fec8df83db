"""A log that never keeps the loop waiting: rows go into shared memory, and another process writes them down.

A thread would not do: it shares Python's lock with the loop. Where the other process can't keep up, rows are dropped
and counted.
"""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError, show
from wbc.realtime import writer

SECONDS = 10.0
"""Of rows that there is room for."""

PATIENCE = 20.0
"""s that the process may take to write what is left."""


class RingLog:
    """Rows of numbers, written to a file by a process of its own.

    Args:
        path: of the file.
        header: bytes that it begins with.
        width: numbers in a row.
        period: s between rows.

    Attributes:
        path: of the file.
        dropped: rows for which there was no room.
    """

    def __init__(self, path: Path, header: bytes, width: int, period: float) -> None:
        if os.name != "posix":
            raise WbcError(f"no log can be recorded on {sys.platform}: give record=None")
        self.path, self.dropped = path, 0
        try:
            path.write_bytes(header)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise WbcError(f"can't write the log {show(str(path))}: {why}") from None
        self._capacity = max(256, round(SECONDS / period))
        size = writer.HEADER + 8 * width * self._capacity
        with tempfile.TemporaryFile() as plain:
            file = os.memfd_create("wbc log") if hasattr(os, "memfd_create") else os.dup(plain.fileno())
            try:
                os.ftruncate(file, size)
                memory = mmap.mmap(file, size)
                # its own words; pages are there before the first row comes
                self._words = np.ndarray((writer.HEADER // 8,), dtype=np.int64, buffer=memory)
                self._rows = np.ndarray((self._capacity, width), buffer=memory, offset=writer.HEADER)
                self._rows[:] = 0.0
                command = [sys.executable, "-I", "-S", str(Path(writer.__file__).resolve())]
                arguments = [str(file), str(path.resolve()), str(8 * width), str(os.getpid())]
                self._process = subprocess.Popen([*command, *arguments], stdin=subprocess.DEVNULL, pass_fds=(file,))
            finally:
                os.close(file)
        self._closed = False

    def add(self, row: Array) -> None:
        """Takes a row, or drops it where there is no room.

        Args:
            row: shape (width,).
        """
        written = int(self._words[writer.WRITTEN])
        if written - int(self._words[writer.TAKEN]) >= self._capacity:
            self.dropped += 1
            return
        self._rows[written % self._capacity] = row
        self._words[writer.WRITTEN] = written + 1  # after the row: what is counted is there

    def close(self, tail: bytes) -> str:
        """Waits until all is written, and ends the file; twice is once.

        Args:
            tail: bytes that it ends with.

        Returns:
            What went wrong; empty if nothing did.
        """
        if self._closed:
            return ""
        self._closed = True
        self._words[writer.CLOSED] = 1
        try:
            code = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        if code:
            return f"the log {show(str(self.path))} breaks off: the process that writes it ended with {code}"
        try:
            with self.path.open("ab") as file:
                file.write(tail)
        except OSError as error:
            return f"the log {show(str(self.path))} has no end: {error.strerror}"
        return ""
