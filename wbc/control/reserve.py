"""The time that is kept, before a deadline, for what can't be stopped: learnt from the ticks before.

A processor that others use too is slower, and so is another machine: a fixed time would be too short there.
"""

from __future__ import annotations

LATE = 0.005
"""Share of the ticks that may take longer, at the most."""

STEP = 0.2
"""By this share of its least value it grows after a tick that took longer, at least."""

CATCHING_UP = 0.5
"""By this share of what was missing it grows after a tick that took longer. A machine that has become slow is slow in
the next ticks too. It grows by its least value at the most: one long tick may be one among many."""

MOST = 4.0
"""It is at most so many times its least value: a deadline that is too short for a tick is not mended by it."""

UNHURRIED = 4e-4, 0.4
"""So much is kept, s, where it is no more than this share of the deadline: what takes longest comes unannounced."""


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
        missing = spent - self.seconds
        growth = min(max((1.0 - LATE) * step, CATCHING_UP * missing), self.least)
        change = growth if missing > 0.0 else -LATE * step
        self.seconds = min(max(self.seconds + change, self.least), MOST * self.least)

    def before(self, deadline: float) -> float:
        """What is kept before a deadline, s: more where there is time for it.

        Args:
            deadline: s.
        """
        most, share = UNHURRIED
        return max(self.seconds, min(most, share * deadline))
