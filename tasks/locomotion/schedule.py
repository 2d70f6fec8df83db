"""Gaits: schedules of which feet are in the air."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from wbc.errors import WbcError, number, show


class Interval(NamedTuple):
    """An interval in which the same feet are in the air.

    Attributes:
        duration: s.
        air: those feet.
    """

    duration: float
    air: tuple[str, ...]


class Schedule:
    """A repeated cycle of intervals.

    Args:
        intervals: of one cycle, the first of them with all feet on the ground.

    Attributes:
        intervals: of one cycle.
        feet: that step in it.
    """

    def __init__(self, intervals: Sequence[Interval]) -> None:
        self.intervals = tuple(
            Interval(number(T, "the duration of an interval, s,", above=True), tuple(air)) for T, air in intervals
        )
        self.feet = tuple(dict.fromkeys(foot for interval in self.intervals for foot in interval.air))
        if not self.feet:
            raise WbcError(f"no foot steps in the schedule {show(intervals)}")
        for foot in self.feet:
            if all(foot in interval.air for interval in self.intervals):
                raise WbcError(f"{foot!r} is never on the ground in the schedule {show(intervals)}")
        self.period = sum(interval.duration for interval in self.intervals)

    @classmethod
    def of_phases(cls, phases: Mapping[str, tuple[float, float]], period: float) -> Schedule:
        """A schedule from the shares of a cycle at which each foot is lifted and put down.

        Args:
            phases: of each foot: lifted at, put down at, shares of the cycle; (0.9, 0.1) is in the air over its end.
            period: of the cycle, s.
        """
        number(period, "the period of a gait, s,", above=True)
        for foot, phase in phases.items():
            if len(phase) != 2 or not all(0.0 <= share <= 1.0 for share in phase) or phase[0] % 1.0 == phase[1] % 1.0:
                raise WbcError(
                    f"{foot!r} is lifted and put down at {show(phase)}; give two different shares of a cycle"
                )
        times = sorted({round(share % 1.0, 9) for phase in phases.values() for share in phase})
        intervals = []
        for start, end in zip(times, [*times[1:], times[0] + 1.0], strict=True):
            middle = (start + end) / 2 % 1.0
            air = tuple(foot for foot, (up, down) in phases.items() if (middle - up) % 1.0 < ((down - up) % 1.0 or 1.0))
            intervals.append(Interval((end - start) * period, air))
        first = next((i for i, interval in enumerate(intervals) if not interval.air), 0)
        return cls(intervals[first:] + intervals[:first])

    @classmethod
    def in_turn(cls, groups: Sequence[Sequence[str]], swing: float, overlap: float) -> Schedule:
        """Groups of feet that swing in turn, with all feet on the ground in between.

        Args:
            groups: of feet.
            swing: s.
            overlap: s.
        """
        found = []
        for group in groups:
            found += [Interval(overlap, ()), Interval(swing, tuple(group))]
        return cls(found)

    def stance(self, foot: str) -> float:
        """The time that a foot is on the ground in a cycle, s."""
        return sum(interval.duration for interval in self.intervals if foot not in interval.air)

    def swing(self, foot: str) -> float:
        """The time that a foot is in the air in a cycle, s."""
        return self.period - self.stance(foot)

    def ahead(self, index: int, remaining: float, horizon: float) -> tuple[Interval, ...]:
        """The intervals from a moment on.

        Args:
            index: of the present interval.
            remaining: of it, s.
            horizon: s.
        """
        found = [Interval(remaining, self.intervals[index % len(self.intervals)].air)]
        since = remaining
        while since < horizon or found[-1].air:
            index += 1
            found.append(self.intervals[index % len(self.intervals)])
            since += found[-1].duration
            if len(found) > 200:
                break
        return tuple(found)
