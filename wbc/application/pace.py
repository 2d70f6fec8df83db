"""A run that goes no faster than the clock."""

from __future__ import annotations

from time import perf_counter, sleep

import numpy as np


class Pace:
    """Waits after each tick until the clock is where the simulation is.

    Attributes:
        simulated: time of the last tick, s.
    """

    def __init__(self) -> None:
        self._began = self._clock = np.nan
        self.simulated = 0.0
        self._ticks = self._late = 0

    def wait(self, now: float) -> None:
        """Waits for the clock; a tick that is late goes on at once.

        Args:
            now: simulated time, s.
        """
        clock = perf_counter()
        if np.isnan(self._began):
            self._began = clock - now
        ahead = now - (clock - self._began)
        self.simulated = now
        self._ticks += 1
        self._late += ahead < 0
        if ahead > 0:
            sleep(ahead)
        self._clock = perf_counter()

    @property
    def taken(self) -> float:
        """By the clock since the first tick, s."""
        return self._clock - self._began

    @property
    def late(self) -> float:
        """Share of the ticks that ended after their time."""
        return self._late / max(self._ticks, 1)
