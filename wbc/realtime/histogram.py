"""Histograms of times, in preallocated memory, so that a tick adds to one number."""

from __future__ import annotations

import math

import numpy as np

from wbc.arrays import Array

FINE = 1e-6
"""Width of a bin, s."""

BINS = 20_000
"""Of that width: 20 ms. What took longer is in the last one; the longest is kept by itself."""


class Histogram:
    """Times in bins of a microsecond.

    Attributes:
        name: of what is counted.
        count: how many.
        largest: s.
    """

    def __init__(self, name: str) -> None:
        self.name, self.count, self.largest = name, 0, 0.0
        self._total = 0.0
        self._bins = np.zeros(BINS, dtype=np.int64)

    def add(self, time: float) -> None:
        """Counts one.

        Args:
            time: s; less than nothing counts as nothing.
        """
        self._bins[min(max(int(time / FINE), 0), BINS - 1)] += 1
        self.count += 1
        self._total += time
        if time > self.largest:
            self.largest = time

    @property
    def mean(self) -> float:
        """s; not a number where there is none."""
        return self._total / self.count if self.count else math.nan

    def percentile(self, share: float) -> float:
        """The time, s, that no more than this share (0 to 100) took longer than: the upper end of its bin.

        Args:
            share: %.
        """
        if not self.count:
            return math.nan
        place = int(np.searchsorted(np.cumsum(self._bins), share / 100.0 * self.count))
        return min((place + 1) * FINE, self.largest) if place < BINS - 1 else self.largest

    def over(self, time: float) -> int:
        """How many took longer than this, to a microsecond.

        Args:
            time: s.
        """
        return int(self._bins[min(math.ceil(time / FINE - 1e-9), BINS - 1) :].sum())

    @property
    def counts(self) -> tuple[Array, Array]:
        """The lower ends of the bins that are not empty, s, and the count in each, shape (bins,) both."""
        used = np.flatnonzero(self._bins)
        return np.asarray(used * FINE, dtype=float), np.asarray(self._bins[used], dtype=float)

    def __str__(self) -> str:
        if not self.count:
            return f"{self.name}: none"
        times = [self.percentile(share) for share in (50.0, 99.0, 99.9)] + [self.largest]
        median, most, nearly, longest = (f"{1e6 * time:.0f}" for time in times)
        return f"{self.name}: {median} us in the median, {most} at 99 %, {nearly} at 99.9 %, {longest} at the most"
