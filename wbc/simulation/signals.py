"""SIGTERM and SIGHUP during a run: the log is closed with the reason, and the process ends."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

ENDING = ("SIGTERM", "SIGHUP")
"""What asks a process to end, besides Ctrl-C; Windows has no SIGHUP."""

SIGNALLED = 128
"""Exit codes of processes that a signal ended are this plus its number, as shells have it."""


class TerminatedError(SystemExit):
    """A signal asked the process to end. It does, unless somebody catches this.

    Attributes:
        signal: its name, such as "SIGTERM".
    """

    def __init__(self, number: int) -> None:
        super().__init__(SIGNALLED + number)
        self.signal = signal.Signals(number).name


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Within it, SIGTERM and SIGHUP raise `TerminatedError`, so that whoever holds a file can close it.

    Signals that somebody handles or ignores are left alone, and so are those of a process in which this is not the
    main thread.
    """
    numbers = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    ours = threading.current_thread() is threading.main_thread()
    free = [number for number in numbers if ours and signal.getsignal(number) is signal.SIG_DFL]
    for number in free:
        signal.signal(number, _raise)
    try:
        yield
    finally:
        for number in free:
            signal.signal(number, signal.SIG_DFL)


def _raise(number: int, frame: FrameType | None) -> None:
    raise TerminatedError(number)
