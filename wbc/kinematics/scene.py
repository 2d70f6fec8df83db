"""A robot that is where its velocities led it, as something that `wbc run` runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from wbc.arrays import ArrayLike
from wbc.errors import WbcError
from wbc.kinematics.differential import DifferentialKinematics
from wbc.kinematics.velocity_solution import VelocitySolution
from wbc.simulation.log import Log
from wbc.simulation.scene import Scene


class KinematicScene(Scene):
    """What a file's `scene()` gives for `wbc run`, where nothing is simulated.

    Args:
        kinematics: what moves the robot.
        duration: that it takes, s.
        q: to start from, shape (nq,); None: the nominal configuration.
        targets: called before each tick with the time and the kinematics.
    """

    def __init__(
        self,
        kinematics: DifferentialKinematics,
        duration: float,
        q: ArrayLike | None = None,
        targets: Callable[[float, DifferentialKinematics], None] | None = None,
    ) -> None:
        if not isinstance(kinematics, DifferentialKinematics):
            raise WbcError(f"a kinematic scene needs a DifferentialKinematics, not {kinematics!r}")
        self.kinematics, self.duration, self._targets = kinematics, duration, targets
        self.controller = kinematics  # type: ignore[assignment]  # whoever shows a run asks it for its period
        self.targets, self.disturbances, self.beside, self.phases, self.figures = None, (), {}, (), None
        self._q = kinematics.robot.model.nominal if q is None else q

    def run(
        self,
        duration: float | None = None,
        period: float | None = None,
        record: str | Path | None = None,
        progress: Callable[[float], None] | None = None,
        until: Callable[[float, Any], bool] | None = None,
    ) -> Log:
        """See `Scene`."""
        length = self.duration if duration is None else duration
        moved = self.kinematics
        if period is not None and period != moved.period:
            moved = DifferentialKinematics(moved.robot, moved.stack, moved.solver, period=period)

        def after(t: float, solution: VelocitySolution) -> bool:
            if progress is not None:
                progress(min((t + moved.period) / length, 1.0))
            return until is not None and until(t, solution)

        return moved.run(self._q, length, targets=self._targets, until=after, record=record)
