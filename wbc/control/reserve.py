"""The time that is kept, before a deadline, for what can't be stopped: learnt from the ticks before.

A processor that others use too is slower, and so is another machine: a fixed time would be too short there.
"""

from __future__ import annotations

LATE = 0.005
"""Share of the ticks that may take longer."""

STEP = 0.2
"""By this share of its least value it changes in a tick, at the most: a tick in which another program had the processor
is one tick among many."""

MOST = 4.0
"""It is at most so many times its least value: a deadline that is too short for a tick is not mended by it."""


class Reserve:
    """How long something takes, but for few ticks.

    Args:
        least: of the time, s.

    Attributes:
        least: as given, s.
        seconds: that are to be kept, s.
    """

    def __init__(self, least: float) -> None:
        self.least = self.seconds = least

    def note(self, spent: float) -> None:
        """Notes a tick.

        Args:
            spent: how long it took, s.
        """
        step = STEP * self.least
        change = (1.0 - LATE) * step if spent > self.seconds else -LATE * step  # so often that both balance
        self.seconds = min(max(self.seconds + change, self.least), MOST * self.least)
