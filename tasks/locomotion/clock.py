"""The clock of a schedule: which interval it is, and how much of it remains."""

from __future__ import annotations

from collections.abc import Callable

from tasks.locomotion.schedule import Interval, Schedule


class Clock:
    """Goes through the intervals of a schedule, over and over.

    Args:
        schedule: of the feet.

    Attributes:
        index: of the present interval; -1: the robot stands.
        remaining: of it, s; a plan may change it.
        late: how long it has been waiting for feet to land, s.
    """

    def __init__(self, schedule: Schedule) -> None:
        self._intervals, self._schedule = schedule.intervals, schedule
        self.index, self.remaining, self.late = -1, 0.0, 0.0

    @property
    def stands(self) -> bool:
        """Whether no interval has begun."""
        return self.index < 0

    @property
    def now(self) -> Interval:
        """The present interval."""
        return self._intervals[self.index]

    @property
    def later(self) -> Interval:
        """The interval after it."""
        return self._after(self.index)

    def _after(self, index: int) -> Interval:
        return self._intervals[(index + 1) % len(self._intervals)]

    def start(self, begin: float, wanted: str | None, may: Callable[[tuple[str, ...]], bool]) -> None:
        """Begins with an interval with all feet on the ground, where there is one.

        Args:
            begin: until the first foot is lifted, s.
            wanted: foot that is to be lifted first; None: any.
            may: whether it may begin by lifting some feet.
        """
        standing = [k for k, interval in enumerate(self._intervals) if not interval.air]
        for k in standing:
            lifted = self._after(k).air
            if wanted in lifted if wanted else may(lifted):
                break
        else:
            k = standing[0] if standing else len(self._intervals) - 1
        self.index, self.remaining, self.late = k, begin, 0.0

    def advance(self) -> None:
        """The next interval begins. It is shorter if this one was longer, by up to a half."""
        later = self.later
        self.index = (self.index + 1) % len(self._intervals)
        self.remaining = max(later.duration - self.late, later.duration / 2) + min(self.remaining, 0.0)
        self.late = 0.0

    def stop(self) -> None:
        """The robot stands."""
        self.index = -1

    def until(self, foot: str) -> float:
        """Time until a swinging foot is to land, s.

        Args:
            foot: that swings.
        """
        index, found = self.index, max(self.remaining, 0.0)
        while foot in self._after(index).air and index < self.index + len(self._intervals):
            index += 1
            found += self._intervals[index % len(self._intervals)].duration
        return found

    def ahead(self, horizon: float) -> tuple[Interval, ...]:
        """The coming intervals, beginning with the rest of the present one.

        Args:
            horizon: s.
        """
        return self._schedule.ahead(self.index, max(self.remaining, 0.0), horizon)
