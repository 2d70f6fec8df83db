"""Tasks for the whole robot: its centre of mass and its momentum."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tasks.axes import AXES, picked
from wbc.arrays import Array, ArrayLike
from wbc.dynamics import Dynamics
from wbc.tasking.gains import Gains, rate_gain
from wbc.tasking.law import law
from wbc.tasking.rows import Rows
from wbc.tasking.target import Aimed, Moving, Target
from wbc.tasking.tick import Tick


class OnCenterOfMass(Aimed):
    """A task on the centre of mass: a position in the world, any of its axes."""

    def __init__(
        self,
        target: ArrayLike | Moving | None,
        axes: str | Iterable[str],
        velocity: ArrayLike | None,
        acceleration: ArrayLike | None,
        name: str | None,
        weight: float,
        tolerance: ArrayLike | None,
    ) -> None:
        super().__init__("center of mass" if name is None else name, weight, tolerance)
        self.axes = picked(axes, self.name, AXES[:3])
        self._picked = ["xyz".index(axis) for axis in self.axes]
        self._target = Target(target, ((3,),), 3, velocity, acceleration, self.name)

    @property
    def purpose(self) -> str:
        """See `Task`."""
        return f"{', '.join(self.axes)} of the centre of mass {self._aim}"

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"{axis} of the centre of mass" for axis in self.axes]

    def error(self, robot: Dynamics, tick: Tick) -> Array:
        """See `Task`; m."""
        return (self._target.at(tick.time, robot.com)[0] - robot.com)[self._picked]


class CenterOfMass(OnCenterOfMass):
    """Moves the centre of mass to a point, or along a path.

    J v̇ = a* − J̇v with a* = acceleration + kd (velocity − ċ) + kp (target − c).

    Args:
        target: position in the world, m, shape (3,); or a function of time that gives it, or it with velocity and
            acceleration; None: where it is at the first tick.
        gains: in 1/s² and 1/s; None: 2 Hz, critically damped. Their speed bounds the norm of the rows, m/s.
        axes: that are controlled, of "xyz".
        velocity: feed-forward beside a constant target, shape (3,).
        acceleration: feed-forward, shape (3,).
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`.
    """

    bounds_approach = True

    def __init__(
        self,
        target: ArrayLike | Moving | None = None,
        gains: Gains | None = None,
        *,
        axes: str | Iterable[str] = "xyz",
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        name: str | None = None,
        weight: float = 1.0,
        tolerance: ArrayLike | None = None,
    ) -> None:
        super().__init__(target, axes, velocity, acceleration, name, weight, tolerance)
        self.gains = Gains.of(gains, Gains(2.0), self.name, bounds_approach=self.bounds_approach)
        self.gains.check(len(self.axes), self.name)
        self.approach_groups = np.zeros(len(self.axes), dtype=np.intp)

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row an axis."""
        com = robot.com
        wanted, velocity, acceleration = self._target.at(tick.time, com)
        J, at = robot.com_jacobian, self._picked
        bias = robot.com_bias
        if len(at) < 3:
            J, bias, com, wanted, velocity, acceleration = (
                part[at] for part in (J, bias, com, wanted, velocity, acceleration)
            )
        kd, kp = self.gains.kd, self.gains.kp
        b = law(
            v=robot.v,
            J=J,
            bias=bias,
            kd=kd,
            kp=kp,
            place=com,
            wanted=wanted,
            rate=velocity,
            acceleration=acceleration,
            speed=self.gains.speed,
            groups=self.approach_groups,
        )
        return Rows.equal(b, acceleration=J)


class CentroidalMomentum(Aimed):
    """Brings the momentum about the centre of mass to a value: zero by default, so that the robot does not spin.

    A v̇ = rate + k (target − A v) − Ȧv.

    Args:
        target: linear (N s), then angular momentum (N m s), world axes, shape (6,); or a function of time.
        gain: k, 1/s: a number, or one for each controlled axis.
        axes: "linear", "angular", or names out of x, y, z, rx, ry, rz.
        rate: feed-forward of the momentum's rate, N and N m, shape (6,).
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`.
    """

    def __init__(
        self,
        target: ArrayLike | Moving = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        gain: ArrayLike = 5.0,
        *,
        axes: str | Iterable[str] = "angular",
        rate: ArrayLike | None = None,
        name: str | None = None,
        weight: float = 1.0,
        tolerance: ArrayLike | None = None,
    ) -> None:
        super().__init__("momentum" if name is None else name, weight, tolerance)
        words = {"linear": AXES[:3], "angular": AXES[3:]}
        self.axes = picked(axes, self.name, words=words)
        self._picked = [AXES.index(axis) for axis in self.axes]
        self.gain = rate_gain(gain, self.name, len(self.axes))
        self._target = Target(target, ((6,),), 6, rate, None, self.name)

    @property
    def purpose(self) -> str:
        """See `Task`."""
        return f"momentum {', '.join(self.axes)} {self._aim}"

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row an axis."""
        wanted, rate, _ = self._target.at(tick.time, np.zeros(6))
        A, at = robot.momentum_matrix[self._picked], self._picked
        b = (rate - robot.momentum_bias)[at] + self.gain * (wanted[at] - A.dot(robot.v))
        return Rows.equal(b, acceleration=A)

    def error(self, robot: Dynamics, tick: Tick) -> Array:
        """See `Task`; N s and N m s."""
        return (self._target.at(tick.time, np.zeros(6))[0] - robot.momentum)[self._picked]

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"momentum {axis}" for axis in self.axes]
