"""The file of a log, written during the run. A full disk ends the file, not the run."""

from __future__ import annotations

import contextlib
import errno
import os
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

from wbc.errors import WbcError, WbcWarning, show

OFTEN = 0.1
"""Time between two writes, s: a killed process loses no more than this of its log."""

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)
"""What the system says where a file could be written, and the disk does not take it."""


class LogFile:
    """A file that tolerates errors of the disk: after the first one it writes nothing more, and warns once.

    Args:
        path: of the file.

    Attributes:
        trouble: why it does not have everything that was written; empty if it has.
    """

    def __init__(self, path: Path) -> None:
        self.trouble = ""
        self._path = path
        self._file: BinaryIO | None = None
        self._flushed = -OFTEN
        try:
            self._file = path.open("wb")
        except (OSError, ValueError) as error:  # a ValueError, where the name has a zero byte
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                self._give_up(error)
                return
            why = error.strerror if isinstance(error, OSError) else error
            raise WbcError(f"can't write the log {show(str(path))}: {why}") from None

    def write(self, data: bytes, time: float = -OFTEN) -> None:
        """Takes bytes.

        Args:
            data: what comes next.
            time: of the run, s: every `OFTEN` what was taken is handed to the system.
        """
        if self._file is None:
            return
        try:
            self._file.write(data)
            if time - self._flushed >= OFTEN:
                self._file.flush()
                self._flushed = time
        except OSError as error:
            self._give_up(error)

    def close(self, whole: Callable[[], Iterable[bytes]]) -> None:
        """Ends the file. One that was removed during the run is written anew.

        Args:
            whole: gives all that was written, part by part.
        """
        if self._file is None:
            return
        try:
            self._file.flush()
            there = _is_there(self._path, self._file)
            self._file.close()
            if not there:
                with self._path.open("xb") as anew:  # what somebody else has put there stays
                    anew.writelines(whole())
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        """Leaves the file as it is, and warns."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
        self._file = None
        self.trouble = f"the log {show(str(self._path))} can't be written: {error.strerror}"
        warnings.warn(f"{self.trouble}; the run continues and the log is kept in memory", WbcWarning, stacklevel=2)


def _is_there(path: Path, file: BinaryIO) -> bool:
    """Whether a path still leads to an open file."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
