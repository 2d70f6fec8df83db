"""A bad line: packets that come late, out of turn, or not at all."""

from __future__ import annotations

import heapq

import numpy as np

from wbc.errors import WbcError, number

LONGEST = 10.0
"""Of a delay, s."""

MOST = 4096
"""Packets on the way; more are lost."""


class Line:
    """A line for packets. The same seed does the same to them.

    Args:
        delay: of every packet, s.
        jitter: mean of an exponential delay that is added, s; packets stay in their turn.
        loss: share of the packets that are lost, 0 to 1.
        reorder: share of the packets that come `behind` later, after others that were sent after them.
        behind: s.
        seed: of all that.

    Attributes:
        sent, lost, overtaken: how many packets there were.
    """

    def __init__(
        self,
        delay: float = 0.0,
        jitter: float = 0.0,
        loss: float = 0.0,
        reorder: float = 0.0,
        behind: float = 3e-3,
        seed: int = 0,
    ) -> None:
        self._delay = number(delay, "delay, s,", high=LONGEST)
        self._jitter = number(jitter, "jitter, s,", high=LONGEST)
        self._loss = number(loss, "loss, a share,", high=1.0)
        self._reorder = number(reorder, "reorder, a share,", high=1.0)
        self._behind = number(behind, "behind, s,", high=LONGEST)
        if not isinstance(seed, int | np.integer) or seed < 0:
            raise WbcError(f"seed = {seed!r} must be a whole number, 0 or more")
        self._random = np.random.default_rng(seed)
        self._waiting: list[tuple[float, int, bytes]] = []
        self._last = 0.0
        self.sent = self.lost = self.overtaken = 0

    def send(self, packet: bytes, now: float) -> None:
        """Puts a packet on the line.

        Args:
            packet: its bytes.
            now: s.
        """
        self.sent += 1
        if (self._loss and self._random.random() < self._loss) or len(self._waiting) >= MOST:
            self.lost += 1
            return
        due = now + self._delay
        if self._jitter:
            due = max(due + float(self._random.exponential(self._jitter)), self._last)
            self._last = due
        if self._reorder and self._random.random() < self._reorder:
            self.overtaken += 1
            due += self._behind
        heapq.heappush(self._waiting, (due, self.sent, packet))

    def arrived(self, now: float) -> list[bytes]:
        """The packets that have come by now, in the order of their coming.

        Args:
            now: s.
        """
        found = []
        while self._waiting and self._waiting[0][0] <= now + 1e-9:
            found.append(heapq.heappop(self._waiting)[2])
        return found
