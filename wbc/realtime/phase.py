"""Where in its period a robot's states come, and that a loop does not read at just that moment."""

from __future__ import annotations

WINDOW = 100
"""Ticks that are looked at together."""

OFTEN = 10
"""So many of them without a new state, and as many with several, are no accident."""

SHIFT = 0.25
"""By this share of a period the loop then goes on later."""

TIMES = 3
"""After so many shifts it is the line that is uneven: there is no better moment."""


class Phase:
    """Moves a loop away from the moment at which states come.

    Robot and loop have the same period, and clocks of their own. Where a state comes just when it is read, chance says
    whether it is in time: many ticks find none, and the next ones two.

    Args:
        period: of the loop, s.
    """

    def __init__(self, period: float) -> None:
        self._by, self._left = SHIFT * period, TIMES
        self._ticks = self._none = self._several = 0

    def look(self, new: bool, several: bool) -> float:
        """Looks at what a tick found; by how much all that follow are to be later, s.

        Args:
            new: whether there was a new state.
            several: whether there was more than one.
        """
        self._ticks += 1
        self._none += not new
        self._several += several
        if self._ticks < WINDOW:
            return 0.0
        beats = self._left > 0 and min(self._none, self._several) >= OFTEN
        self._ticks = self._none = self._several = 0
        self._left -= beats
        return self._by if beats else 0.0
