"""Runs sweeps: cases go to an executor in chunks; rows come back and are written at once."""

from __future__ import annotations

import itertools
import json
import queue
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wbc.errors import WbcError, number, show, unknown_name
from wbc.sweeps.case import Case, Cases
from wbc.sweeps.cell import Orders
from wbc.sweeps.executors import LocalProcesses, run_chunk, slots
from wbc.sweeps.folder import LOGS, Writing
from wbc.sweeps.perform import lost
from wbc.sweeps.rows import line
from wbc.sweeps.table import Table
from wbc.sweeps.versions import versions

CHUNK = 1.0
"""What a chunk should take, s: long beside a scheduler's work for it, short beside what may be lost with a worker."""

LARGEST = 100
"""Cases of a chunk, at most."""

AHEAD = 2
"""Chunks that wait or run for each that can run at the same time."""

TRIES = 3
"""How often a case is sent whose worker is lost."""

LOG_CHOICES = ("failures", "all", "none")


@dataclass
class Progress:
    """How far a sweep is.

    Attributes:
        total: cases.
        before: that had a row when it began.
        kinds: rows of each kind, with those from before.
        seconds: s since it began.
    """

    total: int
    before: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def done(self) -> int:
        """Cases that have a row."""
        return sum(self.kinds.values())

    @property
    def rate(self) -> float:
        """Cases a second, 1/s."""
        return (self.done - self.before) / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Time that it will still take at this rate, s; None while there is no rate."""
        return (self.total - self.done) / self.rate if self.rate > 0 else None

    @property
    def failures(self) -> dict[str, int]:
        """Rows of each kind of failure."""
        return {kind: count for kind, count in self.kinds.items() if kind != "finished"}


def sweep(
    cases: Cases,
    out: str | Path,
    *,
    jobs: int | None = None,
    executor: Executor | None = None,
    time_limit: float = 600.0,
    logs: str = "failures",
    progress: Callable[[Progress], None] | None = None,
) -> Table:
    """Runs cases in worker processes, and writes the row of each as soon as it ends.

    Cases with a row in the folder are not run again: after Ctrl-C, a kill or a full disk, the same call continues. A
    case that raises, hangs or kills its process also gets a row.

    Args:
        cases: of `wbc.cases`.
        out: folder of the rows and the logs.
        jobs: processes on this machine; None: one a core.
        executor: where cases are run instead: anything with the interface of `concurrent.futures`, such as
            `dask_client.get_executor()`. It is not shut down.
        time_limit: that a case may take, s.
        logs: whose logs are kept: "failures", "all" or "none". Workers on other machines keep them where they see the
            folder.
        progress: called after each row.

    Returns:
        The rows of the folder.
    """
    if not isinstance(cases, Cases):
        raise WbcError(f"wbc.sweep needs the cases of wbc.cases(...), not {show(cases)}")
    if logs not in LOG_CHOICES:
        raise unknown_name("choice of logs", logs, LOG_CHOICES)
    if jobs is not None and executor is not None:
        raise WbcError("give jobs or an executor: an executor has its own workers")
    limit = number(time_limit, "the time limit, s,", high=1e7, above=True)
    with Writing(out, cases) as folder:
        orders = Orders(limit, versions(), folder.source, logs, str((folder.path / LOGS).resolve()))
        # a folder that grows has rows of other cases than these
        total = _total(cases, folder.done) if folder.done else len(cases)
        state = Progress(total, len(folder.done), dict(folder.kinds))
        todo = (case for case in cases if case.hash not in folder.done)
        own = LocalProcesses(jobs) if executor is None else None
        dispatch = _Dispatch(own or executor, todo, orders, chunked=own is None)  # type: ignore[arg-type]  # one of them
        began = time.perf_counter()
        try:
            for row in dispatch.rows():
                folder.add(row)
                kind = json.loads(row)["kind"]
                state.kinds[kind] = state.kinds.get(kind, 0) + 1
                state.seconds = time.perf_counter() - began
                if progress is not None:
                    progress(state)
        except KeyboardInterrupt:
            for row in dispatch.finished():
                folder.add(row)
            raise
        finally:
            dispatch.stop()
            if own is not None:
                own.halt()
    return Table(out)


def _total(cases: Cases, done: set[str]) -> int:
    """Rows that there will be: of these cases, and of others in the folder."""
    return len(done) + sum(case.hash not in done for case in cases)


@dataclass
class _Sent:
    """A chunk that is under way."""

    cases: list[Case]
    tries: int


class _Dispatch:
    """Keeps an executor busy, and no more than that: the cases are made as they are sent."""

    def __init__(self, executor: Executor, cases: Iterator[Case], orders: Orders, *, chunked: bool) -> None:
        self._executor, self._cases, self._orders, self._chunked = executor, cases, orders, chunked
        self._back: queue.SimpleQueue[Future[list[str]]] = queue.SimpleQueue()
        self._sent: dict[Future[list[str]], _Sent] = {}
        self._again: list[_Sent] = []
        self._seconds: float | None = None  # of a case, a running mean
        self._room, self._looked = 0, -1.0

    def rows(self) -> Iterator[str]:
        """The rows, as they come."""
        while True:
            self._fill()
            if not self._sent:
                return
            try:
                future = self._back.get(timeout=1.0)  # a worker that joined meanwhile is seen then
            except queue.Empty:
                continue
            yield from self._rows_of(future)

    def finished(self) -> Iterator[str]:
        """The rows that have come back and were not asked for yet."""
        for future in list(self._sent):
            if future.done() and not future.cancelled() and future.exception() is None:
                del self._sent[future]
                yield from future.result()

    def stop(self) -> None:
        """Takes back what has not begun."""
        for future in self._sent:
            future.cancel()

    def _rows_of(self, future: Future[list[str]]) -> list[str]:
        """The rows of a chunk; none where its worker was lost and it is sent again."""
        sent = self._sent.pop(future)
        try:
            found = future.result()
        except WbcError:
            raise
        except BrokenExecutor as error:
            raise WbcError(
                f"the executor is broken: {error}. All rows up to here are there; with another one the same call goes "
                "on"
            ) from None
        except Exception as error:  # whatever an executor says of a worker that is gone
            if sent.tries < TRIES:
                self._again += [
                    _Sent([case], sent.tries + 1) for case in sent.cases
                ]  # alone, to find the one that kills
                return []
            why = f"its worker was lost {TRIES} times: {type(error).__name__}: {error}"
            return [line(lost(case, "died", why, 0.0)) for case in sent.cases]
        for row in found:
            taken = json.loads(row)["timing"]["wall"]
            self._seconds = taken if self._seconds is None else 0.9 * self._seconds + 0.1 * taken
        return found

    def _fill(self) -> None:
        """Sends as much as the executor needs."""
        now = time.monotonic()
        if now - self._looked > 1.0:
            self._room, self._looked = AHEAD * slots(self._executor), now
        while len(self._sent) < self._room:
            following = (
                self._again.pop() if self._again else _Sent(list(itertools.islice(self._cases, self._size())), 1)
            )
            if not following.cases:
                return
            plain: list[dict[str, Any]] = [case.plain() for case in following.cases]
            future = self._executor.submit(run_chunk, plain, self._orders)
            self._sent[future] = following
            future.add_done_callback(self._back.put)

    def _size(self) -> int:
        """Cases of a chunk."""
        if not self._chunked or self._seconds is None:
            return 1
        return max(1, min(int(CHUNK / max(self._seconds, 1e-6)), LARGEST))
