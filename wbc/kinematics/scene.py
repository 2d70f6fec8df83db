"""A scene for `wbc run` in which a robot moves at commanded velocities, without a simulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wbc.arrays import ArrayLike
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError
from wbc.kinematics.differential import DifferentialKinematics
from wbc.kinematics.velocity_solution import VelocitySolution
from wbc.simulation.log import Log
from wbc.simulation.loop import Push


class KinematicScene:
    """A scene without a simulator for `wbc run`: a `wbc.simulation.Runnable`.

    Args:
        kinematics: what moves the robot.
        duration: that it takes, s.
        q: to start from, shape (nq,); None: the nominal configuration.
        targets: called before each tick with the time and the kinematics.
        phases: phases of the run: their start times, s, and captions.
        figures: returns extra lines for the summary of a log.
    """

    disturbances: tuple[Push, ...] = ()
    """None: nothing can be pushed."""

    def __init__(
        self,
        kinematics: DifferentialKinematics,
        duration: float,
        q: ArrayLike | None = None,
        targets: Callable[[float, DifferentialKinematics], None] | None = None,
        phases: Sequence[tuple[float, str]] = (),
        figures: Callable[[Log], Mapping[str, str]] | None = None,
    ) -> None:
        if not isinstance(kinematics, DifferentialKinematics):
            raise WbcError(f"a kinematic scene needs a DifferentialKinematics, not {kinematics!r}")
        self.kinematics, self.duration, self.targets = kinematics, duration, targets
        self.phases, self.figures = phases, figures
        self._q = kinematics.robot.model.nominal if q is None else q

    @property
    def robot(self) -> Dynamics:
        """What moves."""
        return self.kinematics.robot

    @property
    def period(self) -> float:
        """Between ticks, s."""
        return self.kinematics.period

    def run(
        self,
        duration: float | None = None,
        period: float | None = None,
        record: str | Path | None = None,
        progress: Callable[[float], None] | None = None,
        until: Callable[[float, Any], bool] | None = None,
    ) -> Log:
        """See `wbc.simulation.Runnable`."""
        length = self.duration if duration is None else duration
        moved = self.kinematics
        if period is not None and period != moved.period:
            moved = DifferentialKinematics(moved.robot, moved.stack, moved.solver, period=period)

        def after(t: float, solution: VelocitySolution) -> bool:
            if progress is not None:
                progress(min((t + moved.period) / length, 1.0))
            return until is not None and until(t, solution)

        return moved.run(self._q, length, targets=self.targets, until=after, record=record)
