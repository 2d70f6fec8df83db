"""What gives way to forces that are felt: admittance for any target, and an impedance that a tank keeps passive."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from tasks.frame import CartesianImpedance
from tasks.motion import motion
from wbc.arrays import Array, ArrayLike, numbers
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, number, show
from wbc.geometry import so3
from wbc.model.parts import constant, is_transform
from wbc.tasking.rows import Rows
from wbc.tasking.target import Moving, Targeted
from wbc.tasking.tick import Tick


class Admittance:
    """A force that is felt moves the target of a task, like a mass on a spring and a damper.

    M ẍ + D ẋ + K x = f, with x the way from the base target; the task's target becomes base ⊕ x, with velocity and
    acceleration. It is no task: call `felt` before each tick with what the sensor reads.

    Args:
        task: whose target is a position, shape (3,), a pose, shape (4, 4), or any vector.
        mass: M: a number, or one for each entry; kg, and kg m² for the rotations of a pose.
        damping: D, N s/m and N m s/rad.
        stiffness: K, N/m and N m/rad; 0: it stays where it was pushed to.
        base: what it moves away from; None: the target that the task has now.
        most: farthest way in each entry, m and rad.
        deadband: forces below are none, N and N m.
    """

    def __init__(
        self,
        task: Targeted,
        mass: ArrayLike = 5.0,
        damping: ArrayLike = 60.0,
        stiffness: ArrayLike = 0.0,
        *,
        base: ArrayLike | None = None,
        most: float = 0.5,
        deadband: float = 0.0,
    ) -> None:
        whose = "admittance"
        if not isinstance(task, Targeted):
            raise WbcError(f"{whose}: give a task with a target, not {show(task)}")
        start: Any = task.target if base is None else base
        if start is None or callable(start):
            raise WbcError(f"{whose}: the task has no constant target; give base=")
        self.task, self._base = task, numbers(start, f"{whose}: base")
        self._pose = self._base.shape == (4, 4)
        if self._pose and not is_transform(self._base):
            raise WbcError(f"{whose}: base is not a homogeneous transform [[R, p], [0, 1]] with a rotation R")
        if not self._pose and self._base.ndim != 1:
            raise WbcError(f"{whose}: base must be a vector or a pose, not of shape {self._base.shape}")
        self.size = 6 if self._pose else len(self._base)
        self._mass, self._damping, self._stiffness = (
            self._each(values, what, positive)
            for values, what, positive in (
                (mass, "mass", True),
                (damping, "damping", False),
                (stiffness, "stiffness", False),
            )
        )
        self.most = number(most, f"{whose}: most", above=True)
        self.deadband = number(deadband, f"{whose}: deadband")
        self._x, self._rate, self._acceleration = np.zeros(self.size), np.zeros(self.size), np.zeros(self.size)
        task.target = self._now

    def _each(self, values: ArrayLike, what: str, positive: bool) -> Array:
        given = numbers(values, f"admittance: {what}")
        if (
            given.shape not in ((), (self.size,))
            or not np.isfinite(given).all()
            or not ((given > 0).all() if positive else (given >= 0).all())
        ):
            least = "more than 0" if positive else "0 or more"
            raise WbcError(f"admittance: {what} must be a number or {self.size} of them, {least}, not {show(values)}")
        return np.broadcast_to(given, (self.size,)).copy()

    @property
    def displacement(self) -> Array:
        """x: the way from the base target, m and rad, shape (size,)."""
        return self._x.copy()

    def felt(self, force: ArrayLike, period: float) -> None:
        """Moves on by a period, under what is felt: the force on the robot, in the axes of the target.

        Args:
            force: N, and N m for the rotations of a pose, shape (size,).
            period: s.
        """
        f = constant(force, (self.size,), "admittance: force")
        f = np.where(np.abs(f) < self.deadband, 0.0, f)
        T = number(period, "admittance: period", high=1.0, above=True)
        # implicit in the rate: stable whatever the period
        rate = (self._mass * self._rate + T * (f - self._stiffness * self._x)) / (
            self._mass + T * self._damping + T * T * self._stiffness
        )
        moved = self._x + T * rate
        inside = np.clip(moved, -self.most, self.most)
        rate = np.where(moved == inside, rate, 0.0)
        self._acceleration = (rate - self._rate) / T
        self._x, self._rate = inside, rate

    def reset(self) -> None:
        """Goes back to the base target, at rest."""
        self._x[:], self._rate[:], self._acceleration[:] = 0.0, 0.0, 0.0

    def _now(self, time: float) -> tuple[Array, Array, Array]:
        """The target with its velocity and acceleration."""
        if not self._pose:
            return self._base + self._x, self._rate.copy(), self._acceleration.copy()
        pose = self._base.copy()
        pose[:3, 3] += self._x[:3]
        pose[:3, :3] = so3.exp(self._x[3:]) @ pose[:3, :3]
        return pose, self._rate.copy(), self._acceleration.copy()


class PassiveImpedance(CartesianImpedance):
    """A Cartesian impedance along a path whose motors never give more energy than its tank has: it can't run wild.

    All work of the motors, but for lifting the robot's weight, is taken out of a tank; what they take up fills it. A
    spring that is stretched may give its energy yet: the tank holds that back. Where no more is left, the path waits:
    its own time slows down, and goes on as far as dampers or somebody's pushes fill the tank. What is left is a passive
    spring and damper: the energy that can be taken out of the robot is the tank's at first, and what is put in.

    The own inertia of the frame is kept (`inertia` can't be shaped without work that no tank counts).

    Args:
        frame: its name.
        stiffness: see `CartesianImpedance`.
        damping: see `CartesianImpedance`.
        path: a function of time that gives a pose or a position, and velocity and acceleration, 6 each.
        energy: in the tank at first, J.
        most: that the tank holds, J.
        axes: see `EndEffectorAcceleration`.
        axes_in: see `EndEffectorAcceleration`.
        offset: see `EndEffectorAcceleration`.
        relative_to: see `EndEffectorAcceleration`.
        name: see `Task`.
        weight: see `Task`.

    Attributes:
        energy: in the tank now, J.
        progress: the path's own time, s: it falls behind where the tank was empty.
        reserve: time over which the tank may be emptied, s: the path slows down before it is empty.
    """

    def __init__(
        self,
        frame: str,
        stiffness: ArrayLike,
        damping: ArrayLike,
        path: Moving,
        energy: float = 1.0,
        most: float = 5.0,
        *,
        axes: Any = "pose",  # noqa: ANN401  as of EndEffectorAcceleration
        axes_in: Literal["world", "frame"] | ArrayLike = "world",
        offset: ArrayLike | None = None,
        relative_to: str | None = None,
        name: str | None = None,
        weight: float = 1.0,
    ) -> None:
        name = f"passive impedance of {frame}" if name is None else name
        if not callable(path):
            raise WbcError(f"{name}: path must be a function of time, not {show(path)}")
        self._path, self._pace, self.progress = path, 1.0, 0.0
        self._last: float | None = None
        self.reserve = 0.1
        super().__init__(
            frame,
            stiffness,
            damping,
            self._delayed,
            axes=axes,
            axes_in=axes_in,
            offset=offset,
            relative_to=relative_to,
            name=name,
            weight=weight,
        )
        self.most = number(most, f"{name}: most", above=True)
        self._first = self.energy = number(energy, f"{name}: energy", high=self.most)

    def reset(self) -> None:
        """See `Task`: the tank is as full as at first, and the path begins."""
        super().reset()
        self.energy, self._pace, self._last, self.progress = self._first, 1.0, None, 0.0

    def _delayed(self, time: float) -> tuple[Array, Array, Array]:
        """The path at its own time, with the velocity at which it is gone along."""
        found = self._path(self.progress)
        if not isinstance(found, tuple) or len(found) != 3:
            raise WbcError(f"{self.name}: the path must give value, velocity and acceleration")
        value, velocity, acceleration = (numbers(part, f"{self.name}: path at t = {self.progress:g}") for part in found)
        return value, self._pace * velocity, self._pace * acceleration

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row an axis. The tank is balanced once a tick."""
        if self._last is None or tick.time != self._last:
            self._balance(robot, tick)
            self._last = tick.time
        return super().rows(robot, tick)

    def _balance(self, robot: Dynamics, tick: Tick) -> None:
        """Takes the motors' work out of the tank, and says at which pace the path goes on."""
        period = 0.0 if self._last is None else max(tick.time - self._last, 0.0)
        self.progress += self._pace * period
        if tick.last_torque is not None:
            work = (robot.actuator_force(tick.last_torque) - robot.gravity_force) @ robot.v
            self.energy = min(self.energy - float(work) * period, self.most)
        seen = motion(robot, self.frame, self._offset, self.relative_to)
        self._pace = 1.0
        error, rate, _ = self._deviation(seen, tick.time)
        e, own = self._turned(seen, error), self._turned(seen, seen.velocity)
        along = self._turned(seen, rate) + own  # the path's velocity
        left = self.energy - 0.5 * float(e @ self.stiffness @ e)
        gains = float(own @ self.damping @ own)
        # the spring is stretched by the path, and the damper drags the robot along with it
        spends = float((self.stiffness @ e + self.damping @ own) @ along)
        if spends > 0.0:
            self._pace = float(np.clip((left / max(self.reserve, tick.period) + gains) / spends, 0.0, 1.0))
