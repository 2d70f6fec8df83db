"""The protocol of what `wbc run` runs: a controller on a plant, or a robot that moves at commanded velocities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from wbc.dynamics.base import Dynamics
from wbc.simulation.log import Log
from wbc.simulation.loop import Push


@runtime_checkable
class Runnable(Protocol):
    """An object that can be run and returns a log, such as `Scene` and `wbc.kinematics.KinematicScene`.

    What has a plant, torques and other controllers beside it is a `Scene`: whoever needs these asks for one.
    """

    @property
    def robot(self) -> Dynamics:
        """What moves: for names, drawings and videos."""
        ...

    @property
    def period(self) -> float:
        """Between ticks, s."""
        ...

    @property
    def duration(self) -> float:
        """That it takes, s."""
        ...

    @property
    def disturbances(self) -> Iterable[Push]:
        """Pushes, for drawings."""
        ...

    @property
    def phases(self) -> Sequence[tuple[float, str]]:
        """The phases of the run: their start times, s, and captions."""
        ...

    @property
    def figures(self) -> Callable[[Log], Mapping[str, str]] | None:
        """Extra lines for the summary of a log."""
        ...

    def run(
        self,
        duration: float | None = None,
        period: float | None = None,
        record: str | Path | None = None,
        progress: Callable[[float], None] | None = None,
        until: Callable[[float, Any], bool] | None = None,
    ) -> Log:
        """Runs it.

        Args:
            duration: s; None: what it takes.
            period: between ticks, s; None: its own.
            record: file to write the log to.
            progress: called after each tick with the finished share, 0 to 1.
            until: called after each tick with the time and what came of it; true ends the run.
        """
        ...
