"""The times of many ticks in five numbers, and how they are taken."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import wbc
from wbc.application import bench

Measured = dict[str, dict[str, "Ticks"]]
"""One repetition: ticks by table and row."""

REPOSITORY = Path(__file__).parents[1]


class Ticks(NamedTuple):
    """How long ticks took.

    Attributes:
        median: s.
        high: 99 % of the ticks took no longer, s.
        highest: 99.9 % took no longer, s.
        over_half: share that took more than 0.5 ms.
        over_one: share that took more than 1 ms.
    """

    median: float
    high: float = float("nan")
    highest: float = float("nan")
    over_half: float = float("nan")
    over_one: float = float("nan")

    @classmethod
    def of(cls, times: Iterable[float]) -> Ticks:
        """Of ticks.

        Args:
            times: s.
        """
        taken = np.array(list(times))
        shares = [float((taken > bound).mean()) for bound in (5e-4, 1e-3)]
        return cls(*(float(value) for value in np.percentile(taken, (50, 99, 99.9))), *shares)

    def __str__(self) -> str:
        return f"{1e6 * self.median:8.1f} µs  {1e6 * self.high:8.1f} µs at 99 %"


def timed(step: Callable[[int], object], ticks: int, warm_up: int = 50) -> list[float]:
    """Times of calls, s; see `Stopwatch` of `wbc.application.bench`.

    Args:
        step: is given the number of the tick.
        ticks: that are counted.
        warm_up: ticks before them.
    """
    times, watch = [], bench.Stopwatch()
    with wbc.single_threaded(), warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        for tick in range(warm_up + ticks):
            watch.start()
            step(tick)
            times.append(watch.stop())
    return times[warm_up:]


def tell(measured: Measured) -> None:
    """Prints a repetition as it is.

    Args:
        measured: its tables.
    """
    for table, rows in measured.items():
        for row, ticks in rows.items():
            print(f"{table:12} {row:34} {ticks}")
