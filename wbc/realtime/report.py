"""The report of a run in real time: ticks, times, faults."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from wbc.realtime.histogram import Histogram
from wbc.realtime.watchdog import Fault, Reaction

FEW = 2e-4
"""Share of the ticks that may ask for memory and nothing is said."""


@dataclass(eq=False)
class Report:
    """A run in real time.

    Attributes:
        period: s.
        ticks: that were made.
        missed: ticks whose command was written after the next deadline.
        skipped: ticks that were left out, since a tick before them took longer than its period.
        stale: ticks for which no new state had come.
        cut: ticks that were cut short at their deadline and sent the last command again.
        paged: ticks in which the loop was given memory by the system, which takes some 2 us a kilobyte. The loop itself
            needs none after its first ticks: a callback that keeps what it sees should keep it in an array made before.
            Counted on Linux.
        wake: how late a tick began, after its deadline: the jitter of the loop.
        latency: from the moment when a state was read to that when its command was written.
        tick: what `controller.step` took.
        faults: what the watchdog found.
        reaction: the final reaction of the watchdog; None: the controller kept control to the end.
        ended: "finished", "stopped", "interrupted", or the fault that ended it.
        system: real-time settings that the system granted or refused.
        log: the file; None: none was asked for.
        dropped: rows missing from the log because the disk was too slow.
        log_trouble: what went wrong with the log; empty if nothing did.
    """

    period: float
    ticks: int = 0
    missed: int = 0
    skipped: int = 0
    stale: int = 0
    cut: int = 0
    paged: int = 0
    wake: Histogram = field(default_factory=lambda: Histogram("begins late by"))
    latency: Histogram = field(default_factory=lambda: Histogram("from state to command"))
    tick: Histogram = field(default_factory=lambda: Histogram("controller.step"))
    faults: list[Fault] = field(default_factory=list)
    reaction: Reaction | None = None
    ended: str = ""
    system: list[str] = field(default_factory=list)
    log: Path | None = None
    dropped: int = 0
    log_trouble: str = ""

    @property
    def good(self) -> bool:
        """Whether it finished, the watchdog found nothing, and no deadline was missed."""
        return self.ended in ("finished", "stopped") and not self.faults and not self.missed and not self.skipped

    def summary(self) -> str:
        """A few lines for a person."""
        lines = [
            f"{self.ticks} ticks of {1e3 * self.period:g} ms, {self.ended}; {self.missed} missed their deadline, "
            f"{self.skipped} were left out, {self.stale} had no new state, {self.cut} were cut short",
            *([f"{self.paged} ticks had to wait for memory"] if self.paged > FEW * self.ticks else []),
            *map(str, (self.wake, self.latency, self.tick)),
            f"system: {'; '.join(self.system) or 'nothing was asked of it'}",
        ]
        lines += [f"watchdog: {fault}" for fault in self.faults]
        if self.log is not None:
            lines.append(f"log: {self.log}" + (f", {self.dropped} rows dropped" if self.dropped else ""))
        return "\n".join([*lines, *([self.log_trouble] if self.log_trouble else [])])
