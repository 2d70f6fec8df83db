"""What the system can do for a loop that must not be late, and a word where it does not."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import sys
from collections.abc import Iterator

from wbc.errors import WbcError, number
from wbc.threads import single_threaded

_LOCK_NOW_AND_LATER = 3
"""MCL_CURRENT | MCL_FUTURE of mlockall."""

_SET_TIMER_SLACK = 29
"""PR_SET_TIMERSLACK of prctl."""


def check_privileges(priority: int | None, cpu: int | None) -> None:
    """Whether they can be asked for.

    Args:
        priority: of SCHED_FIFO; None: the usual one.
        cpu: number of the processor to stay on; None: any.
    """
    for what, given, least, most in (("priority", priority, 1, 99), ("cpu", cpu, 0, 1e6)):
        if given is not None and not number(given, what, least, most).is_integer():
            raise WbcError(f"{what} = {given!r} must be a whole number, or None")


@contextlib.contextmanager
def privileged(priority: int | None = 80, cpu: int | None = None, lock: bool = True) -> Iterator[list[str]]:
    """Real-time priority, locked memory, no garbage collection and one BLAS thread while it lasts.

    Args:
        priority: of SCHED_FIFO, 1 to 99; None: the usual one.
        cpu: number of the processor to stay on; None: any.
        lock: whether memory is kept out of swap.

    Yields:
        A word on each thing that was done, and on each that the system refused.
    """
    words: list[str] = []
    with contextlib.ExitStack() as undo:
        undo.enter_context(single_threaded())
        words.append("linear algebra on one thread")
        undo.enter_context(_without_garbage())
        words.append("no garbage collection")
        if lock:
            words.append(_lock_memory(undo))
        words.append(_sharpen_timers(undo))
        if cpu is not None:
            words.append(_pin(cpu, undo))
        if priority is not None:
            words.append(_raise_priority(priority, undo))
        yield words


@contextlib.contextmanager
def _without_garbage() -> Iterator[None]:
    """Cycles are collected before, and not during: what is there is not looked at again."""
    enabled = gc.isenabled()
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()


def _raise_priority(priority: int, undo: contextlib.ExitStack) -> str:
    if not hasattr(os, "sched_setscheduler"):
        return f"no real-time priority: {sys.platform} has no SCHED_FIFO for Python"
    policy, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(priority))
    except OSError as error:
        return (
            f"no real-time priority: {error.strerror}; allow it by a line 'USER - rtprio {priority}' in "
            "/etc/security/limits.conf, or by CAP_SYS_NICE"
        )
    undo.callback(os.sched_setscheduler, 0, policy, parameter)
    return f"real-time priority {priority} (SCHED_FIFO)"


def _pin(cpu: int, undo: contextlib.ExitStack) -> str:
    if not hasattr(os, "sched_setaffinity"):
        return f"not on one processor: {sys.platform} can't"
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {cpu})
    except OSError as error:
        return f"not on processor {cpu}: {error.strerror}; there are {sorted(before)}"
    undo.callback(os.sched_setaffinity, 0, before)
    return f"on processor {cpu}"


def _library() -> ctypes.CDLL | None:
    """The C library of this process, where it has what is called here."""
    if not sys.platform.startswith("linux"):
        return None
    return ctypes.CDLL(None, use_errno=True)


def _lock_memory(undo: contextlib.ExitStack) -> str:
    library = _library()
    if library is None:
        return f"memory not locked: {sys.platform} can't"
    if library.mlockall(_LOCK_NOW_AND_LATER):
        why = os.strerror(ctypes.get_errno())
        return (
            f"memory not locked: {why}; allow it by a line 'USER - memlock unlimited' in /etc/security/limits.conf, or "
            "by CAP_IPC_LOCK"
        )
    undo.callback(library.munlockall)
    return "memory locked"


def page_faults() -> int:
    """How often this thread has been given memory by the system; 0 where the system does not count it by threads."""
    if not sys.platform.startswith("linux"):
        return 0
    import resource  # Windows has none

    usage = resource.getrusage(resource.RUSAGE_THREAD)
    return usage.ru_minflt + usage.ru_majflt


def _sharpen_timers(undo: contextlib.ExitStack) -> str:
    """The system may wake up usual threads 50 us late, to save power."""
    library = _library()
    if library is None or library.prctl(_SET_TIMER_SLACK, 1, 0, 0, 0):
        return "timers as they are"
    undo.callback(library.prctl, _SET_TIMER_SLACK, 0, 0, 0, 0)  # 0 is what it was at the start of the process
    return "timers without slack"
