"""The velocity of a base over the ground, for robots on wheels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tasks.axes import picked
from wbc.arrays import Array, ArrayLike, cross, numbers
from wbc.contacts import Contact
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, show, unknown_name
from wbc.model.parts import direction
from wbc.tasking.gains import rate_gain
from wbc.tasking.rows import Rows
from wbc.tasking.target import Aimed, Moving, Target
from wbc.tasking.tick import Tick

PLANAR = ("x", "y", "rz")
"""Forward, to the left, and about the normal of the ground."""

UPRIGHT = 1e-3
"""The smallest length of the frame's x axis along the ground that may be divided by: a base standing on end has no
heading."""


class BaseVelocity(Aimed):
    """Drives a base at a given velocity: forward, to the left, and turning, in the axes of its own heading.

    With f the frame's x axis along the ground, l to the left of it and n the normal, its velocities are u = (f · ċ,
    l · ċ, n · ω), and their rates u̇ = J v̇ + J̇v, where J̇v includes the turning of f and l. The task is

        J v̇ = −J̇v + u̇* + k (u* − u),   each entry of u̇* + k (u* − u) no greater than `greatest`.

    It does not hold a position: a base on wheels could not return to one sideways.

    Args:
        frame: of the base.
        target: u*, m/s, m/s and rad/s, shape (3,): forward, left, turning to the left; or a function of time that gives
            it, or it, its rate u̇* and the rate of that, which is not used; None: the velocity at the first tick.
            Entries that are not in `axes` are ignored. Without its rate, a changing velocity is followed late by u̇*/k.
        gain: k, 1/s: a number, or one for each controlled axis.
        axes: that are controlled, of "x", "y", "rz". A base with two driven wheels can't follow "y".
        greatest: greatest acceleration, m/s² and rad/s²: a number, or one for each controlled axis. It also bounds the
            response to disturbances.
        normal: of the ground, world axes.
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`.
    """

    def __init__(
        self,
        frame: str = "base",
        target: ArrayLike | Moving | None = (0.0, 0.0, 0.0),
        gain: ArrayLike = 10.0,
        *,
        axes: str | Iterable[str] = PLANAR,
        greatest: ArrayLike = np.inf,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        name: str | None = None,
        weight: float = 1.0,
        tolerance: ArrayLike | None = None,
    ) -> None:
        super().__init__("base velocity" if name is None else name, weight, tolerance)
        self.frame = frame
        self.axes = picked(axes, self.name, PLANAR)
        self._picked = [PLANAR.index(axis) for axis in self.axes]
        self.gain = rate_gain(gain, self.name, len(self.axes))
        self.greatest = numbers(greatest, f"{self.name}: greatest")
        if self.greatest.shape not in ((), (len(self.axes),)) or not (self.greatest > 0).all():
            raise WbcError(f"{self.name}: greatest = {show(greatest)} must be positive, a number or one an axis")
        self.normal: Array = direction(normal, f"{self.name}: normal")
        self._target = Target(target, ((3,),), 3, whose=self.name)

    @property
    def purpose(self) -> str:
        """See `Task`."""
        return f"{', '.join(self.axes)} of the velocity of {self.frame} {self._aim}"

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        if self.frame not in robot.frames:
            raise WbcError(f"{self.name}: {unknown_name('frame', self.frame, robot.frames)}")

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"{axis} of the velocity of {self.frame}" for axis in self.axes]

    def velocity(self, robot: Dynamics) -> Array:
        """Forward, left and turning to the left, m/s, m/s and rad/s, shape (3,)."""
        return self._heading(robot)[0] @ robot.twist(self.frame)

    def jacobian(self, robot: Dynamics) -> Array:
        """J with `velocity` = J v, all three rows, shape (3, nv)."""
        return self._heading(robot)[0] @ robot.jacobian(self.frame)

    def error(self, robot: Dynamics, tick: Tick) -> Array:
        """See `Task`; m/s and rad/s."""
        u = self.velocity(robot)
        return (self._target.at(tick.time, u)[0] - u)[self._picked]

    def _heading(self, robot: Dynamics) -> tuple[Array, Array]:
        """W with u = W twist, and its rate, each of shape (3, 6)."""
        n, omega = self.normal, robot.twist(self.frame)[3:]
        axis = robot.pose(self.frame)[:3, 0]
        along, turning = axis - float(n @ axis) * n, cross(omega, axis)
        length = max(float(np.linalg.norm(along)), UPRIGHT)
        f = along / length
        rate = (turning - float(n @ turning) * n - float(f @ turning) * f) / length
        W, W_rate = np.zeros((3, 6)), np.zeros((3, 6))
        W[0, :3], W[1, :3], W[2, 3:] = f, cross(n, f), n
        W_rate[0, :3], W_rate[1, :3] = rate, cross(n, rate)
        return W, W_rate

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row an axis."""
        (W, W_rate), twist = self._heading(robot), robot.twist(self.frame)
        W, u = W[self._picked], W @ twist
        bias = W @ robot.jacobian_bias(self.frame) + W_rate[self._picked] @ twist
        wanted, rate, _ = self._target.at(tick.time, u)
        b = rate[self._picked] + self.gain * (wanted - u)[self._picked]
        return Rows.equal(np.clip(b, -self.greatest, self.greatest) - bias, acceleration=W @ robot.jacobian(self.frame))
