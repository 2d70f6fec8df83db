"""Where cases are run: processes on this machine, or any executor of the interface of `concurrent.futures`."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from wbc.copies import Unique
from wbc.errors import WbcError, show
from wbc.sweeps.case import Case
from wbc.sweeps.cell import Cell, Orders

_own = threading.local()
"""The cell of each thread of a worker."""


def run_chunk(chunk: Sequence[dict[str, Any]], orders: Orders) -> list[str]:
    """Runs cases one after the other, and gives their rows as lines. This is what is sent to an executor.

    Args:
        chunk: cases as plain data.
        orders: that go for all cases.
    """
    if not hasattr(_own, "cell"):
        _own.cell = Cell()
    return [_own.cell.perform(Case.of(case), orders) for case in chunk]


class LocalProcesses(Unique, ThreadPoolExecutor):
    """Processes on this machine: a thread for each, which watches over it.

    Args:
        jobs: how many; None: one for each core that this process may use.
    """

    held = "processes"

    def __init__(self, jobs: int | None = None) -> None:
        if jobs is not None and (not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1):
            raise WbcError(f"jobs = {show(jobs)} must be a whole number, 1 or more")
        self.jobs = jobs or cores()
        self._cells: list[Cell] = []
        super().__init__(self.jobs, "wbc-sweep", self._open)

    def _open(self) -> None:
        _own.cell = Cell()
        self._cells.append(_own.cell)

    def halt(self) -> None:
        """Ends all processes at once; cases under way are not finished."""
        for cell in self._cells:
            cell.halt()
        self.shutdown(wait=True, cancel_futures=True)
        for cell in self._cells:
            cell.close()


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def slots(executor: Executor) -> int:
    """How many chunks an executor runs at the same time, now: workers of a cluster come and go.

    Args:
        executor: any; of others than ours, Dask's and the standard library's, a guess.
    """
    client = getattr(executor, "_client", None)
    if client is not None and hasattr(client, "nthreads"):
        return max(int(sum(client.nthreads().values())), 1)
    return int(getattr(executor, "_max_workers", 0) or cores())


def dask_executor(address: str, wait: float = 10.0) -> Executor:
    """The workers of a Dask cluster.

    Args:
        address: of its scheduler, such as tcp://host:8786.
        wait: for the scheduler, s.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise WbcError(f"a cluster needs Dask: pip install 'wbc[cluster]' ({error})") from None
    try:
        client = Client(address, timeout=wait)
    except (OSError, ValueError) as error:
        raise WbcError(f"no Dask scheduler at {show(address)}: {error}") from None
    return client.get_executor(pure=False)  # type: ignore[no-any-return]  # Dask has no types
