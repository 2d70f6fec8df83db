"""Absolute deadlines: each is a period after the last one, however long a tick took."""

from __future__ import annotations

import time
from typing import Protocol, runtime_checkable

from wbc.errors import number

SPIN = 1.5e-4
"""The last part of a wait, s, in which the clock is looked at all the time: sleep alone wakes up late."""


AT_ONCE = 0.5
"""A tick that is late by less than this share of its period is not left out: most take less than the rest of it."""


@runtime_checkable
class Clock(Protocol):
    """The clock of a loop."""

    def now(self) -> float:
        """s, since whenever; it never runs backwards."""
        ...

    def wait_until(self, moment: float) -> None:
        """Returns at a moment, or at once where it is over."""
        ...


class MonotonicClock:
    """The clock of the system that nobody sets.

    Args:
        spin: the last part of a wait in which the processor is kept busy, s; 0: it only sleeps.
    """

    now = staticmethod(time.perf_counter)

    def __init__(self, spin: float = SPIN) -> None:
        self._spin = number(spin, "the time that a clock spins, s,", high=1.0)

    def wait_until(self, moment: float) -> None:
        """See `Clock`."""
        left = moment - time.perf_counter()
        if left > self._spin:
            time.sleep(left - self._spin)
        while time.perf_counter() < moment:
            pass


class SteppedClock:
    """A clock that advances only when a loop waits for it: loops run as fast as they can, and repeatably.

    Args:
        start: s.

    Attributes:
        time: s; it may be set forward, as if something had taken so long.
    """

    def __init__(self, start: float = 0.0) -> None:
        self.time = start

    def now(self) -> float:
        """See `Clock`."""
        return self.time

    def wait_until(self, moment: float) -> None:
        """See `Clock`."""
        self.time = max(self.time, moment)


class Deadlines:
    """The deadlines of ticks: start + n · period. Ticks whose time has passed are skipped and counted; one that is late
    by less than `AT_ONCE` of a period begins at once.

    Args:
        clock: that tells the time.
        period: s.

    Attributes:
        due: when the tick that is under way was due, s.
        skipped: ticks that were left out, because a tick before them took too long.
    """

    def __init__(self, clock: Clock, period: float) -> None:
        self._clock, self._period = clock, period
        self._start, self._count = clock.now(), 0
        self.due, self.skipped = self._start, 0

    def wait(self) -> float:
        """Waits for the next deadline; by how much it was missed on waking, s."""
        self._count += 1
        late = self._clock.now() - (self._start + self._count * self._period)
        if late > 0.0:
            whole, rest = divmod(late, self._period)
            missed = int(whole) + (rest >= AT_ONCE * self._period)
            self._count += missed
            self.skipped += missed
        self.due = self._start + self._count * self._period
        self._clock.wait_until(self.due)
        return self._clock.now() - self.due

    def shift(self, by: float) -> None:
        """Makes all that are to come later.

        Args:
            by: s.
        """
        self._start += by

    def follow(self) -> None:
        """The tick under way is due now: whoever paces the loop says so."""
        self.due = self._clock.now()
