"""Hands the newest tick of a control loop to its viewers; the loop never waits."""

from __future__ import annotations

from typing import NamedTuple

from wbc.arrays import Array
from wbc.control.evidence import Evidence


class Look(NamedTuple):
    """A tick, as it is left for those who look.

    Attributes:
        time: s.
        solution: of the tick.
        measured: contact forces by frame, N, world axes, shape (3,) each.
    """

    time: float
    solution: Evidence
    measured: dict[str, Array]


class Slot:
    """One place: what is put there replaces what was there. Putting takes no lock and waits for nobody.

    Attributes:
        put_so_far: how often something was put.
        resting: whether the one who puts waits for the clock, or is paused: the time to look at what is there.
    """

    def __init__(self) -> None:
        self._latest: Look | None = None
        self._slowest = 0.0
        self.put_so_far = 0
        self.resting = False

    def put(self, look: Look) -> None:
        """Leaves a tick, for one thread.

        Args:
            look: it may be read by others, and is not changed any more.
        """
        self._latest = look
        self._slowest = max(self._slowest, look.solution.time.total)
        self.put_so_far += 1

    def clear(self) -> None:
        """Takes away what is there."""
        self._latest, self._slowest = None, 0.0

    def take(self) -> tuple[Look | None, float]:
        """The newest tick, and the longest time of a tick since the last call, s; the tick stays where it is."""
        slowest, self._slowest = self._slowest, 0.0
        return self._latest, slowest
