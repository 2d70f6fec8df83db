"""The relative pose of two frames, such as two hands, and the momentum about any axis."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np

from tasks.frame import EndEffectorAcceleration
from wbc.arrays import Array, ArrayLike
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, show
from wbc.geometry import so3
from wbc.model.parts import constant, direction
from wbc.tasking.gains import Gains, rate_gain
from wbc.tasking.rows import Rows
from wbc.tasking.target import Aimed, Moving, Target
from wbc.tasking.tick import Tick


class RelativePose(EndEffectorAcceleration):
    """Moves one hand to a pose relative to the other: two hands hold one object.

    It is `EndEffectorAcceleration` with `relative_to`, for two frames of the robot.

    Args:
        frame: of one hand.
        other: of the other hand, in whose axes the target is.
        target: a pose (4, 4), a position (3,) or a rotation (3, 3), as its axes are; or a function of time; None: as
            the hands are at the first tick.
        gains: see `EndEffectorAcceleration`.
        axes: see `EndEffectorAcceleration`.
        offset: see `EndEffectorAcceleration`.
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`.
    """

    def __init__(
        self,
        frame: str,
        other: str,
        target: ArrayLike | Moving | None = None,
        gains: Gains | None = None,
        *,
        axes: str | Iterable[str] = "pose",
        axes_in: Literal["world", "frame"] | ArrayLike = "world",
        offset: ArrayLike | None = None,
        name: str | None = None,
        weight: float = 1.0,
        tolerance: ArrayLike | None = None,
    ) -> None:
        name = f"{frame} against {other}" if name is None else name
        if frame == other:
            raise WbcError(f"{name}: give two frames, not {show(frame)} twice")
        super().__init__(
            frame,
            target,
            gains,
            axes=axes,
            axes_in=axes_in,
            offset=offset,
            relative_to=other,
            name=name,
            weight=weight,
            tolerance=tolerance,
        )


class AxialMomentum(Aimed):
    """Brings the angular momentum about an axis to a value: a = axis · (L + (c − p) × m ċ), one row.

    With L the momentum about the centre of mass. a' = axis · (L' + (c − p) × m c̈), since the axis stands still.

    Args:
        axis: direction in the world, shape (3,).
        point: on the axis, m, shape (3,); None: the centre of mass.
        target: N m s; or a function of time.
        gain: k, 1/s.
        rate: feed-forward of its rate, N m.
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`.
    """

    def __init__(
        self,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        point: ArrayLike | None = None,
        target: ArrayLike | Moving = 0.0,
        gain: float = 5.0,
        *,
        rate: float | None = None,
        name: str = "momentum about an axis",
        weight: float = 1.0,
        tolerance: ArrayLike | None = None,
    ) -> None:
        super().__init__(name, weight, tolerance)
        self.axis: Array = direction(axis, f"{name}: axis")
        self.point = None if point is None else constant(point, (3,), f"{name}: point")
        self.gain = rate_gain(gain, name, 1)
        start = target if callable(target) else np.atleast_1d(np.asarray(target))
        self._target = Target(start, ((1,), ()), 1, None if rate is None else [rate], None, name)

    def _about(self, robot: Dynamics) -> Array:
        """What takes momenta about the centre of mass, linear and angular, to the one about the axis, shape (6,)."""
        if self.point is None:
            return np.concatenate([np.zeros(3), self.axis])
        return np.concatenate([self.axis @ so3.skew(robot.com - self.point), self.axis])

    def value(self, robot: Dynamics) -> float:
        """The momentum about the axis, N m s.

        Args:
            robot: updated.
        """
        return float(self._about(robot) @ robot.momentum)

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; one row."""
        about = self._about(robot)
        wanted, rate, _ = self._target.at(tick.time, np.zeros(1))
        b = rate + self.gain * (wanted - about @ robot.momentum) - about @ robot.momentum_bias
        return Rows.equal(np.atleast_1d(b), acceleration=(about @ robot.momentum_matrix)[None])

    def error(self, robot: Dynamics, tick: Tick) -> Array:
        """See `Task`; N m s."""
        return np.atleast_1d(self._target.at(tick.time, np.zeros(1))[0] - self.value(robot))

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"momentum about {np.round(self.axis, 3).tolist()}"]
