"""A trot: the timing and places of steps, and the motion of the base.

A gait is not a task: it has no rows. It is here because it makes and steers tasks, and composing tasks is done above
`wbc`. Its own tasks are `Trot.base` and `Trot.steps`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.polynomial import Polynomial

from tasks.frame import EndEffectorAcceleration
from tasks.spin import WheelSpin
from wbc.arrays import Array, ArrayLike, finite, numbers
from wbc.contacts import RollingContact
from wbc.control.protocol import TorqueController
from wbc.control.stack import Stack
from wbc.copies import Independent
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, show
from wbc.tasking.gains import Gains
from wbc.tasking.levels import Levels

TICK = 1e-9
"""Events within this many seconds are due, because times of ticks are sums of periods."""


def _with_derivatives(path: Polynomial) -> list[Array]:
    """The coefficients of a polynomial and its first two derivatives, of the powers 0 to 6."""
    return [np.pad(one.coef, (0, 7 - len(one.coef))) for one in (path, path.deriv(), path.deriv(2))]


AWAY = Polynomial([0.0, 0.0, 0.0, 10.0, -15.0, 6.0])
"""From 0 to 1 with no speed and no acceleration at either end."""

BUMP = 64.0 * Polynomial([0.0, 0.0, 0.0, 1.0]) * Polynomial([1.0, -1.0]) ** 3
"""From 0 up to 1 and back with no speed and no acceleration at either end."""

DOWN = Polynomial([0.0, 0.0, 0.0, 1.0, -1.0])
"""From 0 to 0 with no speed at the start and speed −1 at the end."""

PATHS = np.array([*_with_derivatives(AWAY), *_with_derivatives(BUMP), *_with_derivatives(DOWN)])
"""All of them, each with its first two derivatives: one product gives their values."""


class Trot(Independent):
    """Makes a quadruped trot at a commanded velocity: diagonal pairs of feet step in turn.

    A step is a short time on all four feet, during which one pair is loaded and the other unloaded, and then a swing of
    the unloaded pair. A foot is put where its hip will be in the middle of the stance that follows (Raibert): with p, v
    and
    ψ the position, velocity and yaw of the base, t₊ the time to the middle of that stance and r the foot's place under
    the base,

        foothold = p + v t₊ + R_z(ψ + ω t₊) r + k (v − v_command).

    A wheel rolls on under the base during its stance, and leaves it to the side only. It is put down where its hip will
    be at the touchdown, and before that by half of how far it will be left to the side; it swings as fast as it rolls,
    and turns as if it rolled. While it is on the ground it is kept under its hip, forward and backward: else wheels
    would be thrown about for what their inertia does to the base. These tasks are `steps`; put them above the base.

    The base keeps its height and stays level, and follows the integrated command. Put `base` and `steps` into a stack,
    the feet being point contacts named as their frames, and call `update` before each tick.

    Args:
        robot: with four feet, or four wheels in their place (see `wbc.Wheel`); its nominal configuration says where
            they stand under the base.
        command: see the attribute.
        swing: time of a foot in the air, s.
        overlap: time on all four feet between two swings, s.
        lift: height of a swing over the ground, m.
        feedback: k, s.
        touchdown: speed with which a foot meets the ground, m/s.
        settle: time to stand before the first step, s.
        greatest: acceleration with which a new command is taken up, m/s² and rad/s².
        leash: greatest distance of the base's target from the base, m.
        base: name of the frame that is steered; None: the robot's root.
        base_gains: of the base; soft in x and y, where two feet can't move it freely: a base that is held hard along
            the line through two feet is thrown across it.
        swing_gains: of the feet.

    Attributes:
        command: velocity forward and to the left, m/s, and yaw rate, rad/s, in the axes of the robot's heading; may be
            set at any time.
        base: the task that steers the base.
        swings: the tasks that move the feet, named "swing of ..."; each is off while its foot is on the ground.
        stances: the tasks that keep wheels under their hips, named "stance of ..."; each is off while its wheel is in
            the air; none for feet.
        steps: swings, stances and the spin of wheels, for one level of a stack.
    """

    def __init__(
        self,
        robot: Dynamics,
        command: ArrayLike = (0.0, 0.0, 0.0),
        *,
        swing: float = 0.2,
        overlap: float = 0.05,
        lift: float = 0.06,
        feedback: float = 0.05,
        touchdown: float = 0.1,
        settle: float = 0.3,
        greatest: float = 1.0,
        leash: float = 0.1,
        base: str | None = None,
        base_gains: Gains | None = None,
        swing_gains: Gains | None = None,
    ) -> None:
        if not isinstance(robot, Dynamics):
            raise WbcError(f"a trot needs a robot of wbc.load, not {show(robot)}")
        feet = robot.model.feet or tuple(robot.model.wheels)
        if len(feet) != 4:
            raise WbcError(f"a trot needs four feet; {robot.model.name!r} has {len(feet)}")
        self._rolls = not robot.model.feet
        if not (swing > 0 and overlap > 0 and lift > 0 and settle >= 0 and greatest > 0 and leash > 0):
            raise WbcError("a trot's swing, overlap, lift, greatest and leash must be positive, settle zero or more")
        self.swing, self.overlap, self.lift, self.feedback = swing, overlap, lift, feedback
        self.touchdown, self.settle, self.greatest, self.leash = touchdown, settle, greatest, leash
        self._frame = base = robot.model.root if base is None else base
        posed = robot.copy()
        posed.update(robot.model.nominal, np.zeros(robot.nv))
        self._hips = {foot: posed.pose(foot)[:2, 3] - posed.pose(base)[:2, 3] for foot in feet}
        even = tuple(foot for foot, place in self._hips.items() if place[0] * place[1] > 0)
        self._pairs = even, tuple(foot for foot in feet if foot not in even)
        self._command: Array = np.zeros(3)
        self.command = command
        self.base = EndEffectorAcceleration(base, None, base_gains or Gains([0.9, 0.9, 2.0, 2.0, 2.0, 1.0]))
        self.swings = tuple(
            EndEffectorAcceleration(
                foot,
                partial(self._swing_target, foot),
                swing_gains or Gains(8.0),
                axes="position",
                name=f"swing of {foot}",
            )
            for foot in feet
        )
        self.stances = tuple(
            EndEffectorAcceleration(
                wheel, self._under_hip(posed, wheel), Gains(3.0), axes="x", relative_to=base, name=f"stance of {wheel}"
            )
            for wheel in (feet if self._rolls else ())
        )
        spin = [WheelSpin([RollingContact(wheel) for wheel in feet])] if self._rolls else []
        self.steps = Levels([[*self.swings, *self.stances, *spin]])
        self.reset()

    def _under_hip(self, posed: Dynamics, wheel: str) -> Array:
        """Where a wheel is against the base in the nominal configuration, m, in the axes of the base, shape (3,)."""
        base = posed.pose(self._frame)
        return np.asarray(base[:3, :3].T @ (posed.pose(wheel)[:3, 3] - base[:3, 3]))

    def _lower(self, stack: Stack, feet: Iterable[str]) -> None:
        """Hands feet from their swings to their stances."""
        for foot in feet:
            stack.switch_off(f"swing of {foot}")
            if self._rolls:
                stack.switch_on(f"stance of {foot}")

    def _raise(self, stack: Stack, feet: Iterable[str]) -> None:
        """Hands feet from their stances to their swings."""
        for foot in feet:
            stack.switch_on(f"swing of {foot}")
            if self._rolls:
                stack.switch_off(f"stance of {foot}")

    def reset(self) -> None:
        """Forgets the past: the next `update` finds the robot standing on its four feet."""
        self._began, self._time = math.nan, math.nan
        self._step, self._airborne = -1, False
        # plain numbers: what is computed with them in each tick takes a quarter of the time that small arrays take
        self._pose = [0.0] * 4  # position and yaw that the base should have
        self._rate = 0.0, 0.0, 0.0  # velocity (world axes) and yaw rate that it should have
        self._heading_rate = [0.0] * 3  # the same, in the axes of the heading: the command, taken up smoothly
        self._from = {foot: np.zeros(3) for foot in self._hips}
        self._to = {foot: np.zeros(3) for foot in self._hips}
        self._along = {foot: np.zeros(3) for foot in self._hips}  # the velocity of a wheel that rolls, world axes
        self._lifted = 0.0
        self._share, self._paths = math.nan, [0.0] * len(PATHS)  # of the swing, and `PATHS` there

    @property
    def command(self) -> Array:
        """Velocity forward and to the left, m/s, and yaw rate, rad/s, shape (3,)."""
        return self._command

    @command.setter
    def command(self, command: ArrayLike) -> None:
        given = numbers(command, "command")
        if given.shape != (3,) or not finite(given):
            raise WbcError(f"command must be three finite numbers: forward, left, yaw rate; not {show(command)}")
        given.setflags(write=False)
        self._command = given

    @property
    def contacts_in_air(self) -> tuple[str, ...]:
        """The feet that swing now."""
        return self._pairs[self._step % 2] if self._airborne else ()

    def update(self, t: float, controller: TorqueController) -> None:
        """Sets contacts, swings and targets for the tick at a time; the state is the one of the controller's last tick.

        Args:
            t: s.
            controller: its stack holds `base`, `steps` and the feet's contacts.
        """
        robot, stack = controller.robot, controller.stack
        if math.isnan(self._time) or t < self._time:  # the start of a run: the base holds what the first tick measures
            self.reset()
            self._began, self._time = t, t
            stack.close_contact(self._hips)
            self._lower(stack, self._hips)
            self.base.target = None
            return
        pose = robot.pose(self._frame)
        if self.base.target is None:
            self._pose = [*pose[:3, 3].tolist(), math.atan2(pose[1, 0], pose[0, 0])]
            self.base.target = self._base_target
        self._follow(float(pose[0, 3]), float(pose[1, 3]), t - self._time)
        self._time = t
        elapsed = t - self._began - self.settle + TICK
        length = self.swing + self.overlap
        step = math.floor(elapsed / length) if elapsed >= 0 else -1
        airborne = step >= 0 and elapsed - step * length >= self.overlap
        if step != self._step:
            stack.close_contact(self.contacts_in_air, self.overlap)
            self._lower(stack, self.contacts_in_air)
            stack.open_contact(self._pairs[step % 2], self.overlap)
        self._step = step
        if airborne and not self._airborne:
            self._lifted = t
            for foot in self._pairs[step % 2]:
                self._from[foot] = robot.pose(foot)[:3, 3].copy()
                self._along[foot] = self._rolling(foot)
            self._raise(stack, self._pairs[step % 2])
        self._airborne = airborne
        self._put_down(robot, t)

    def _follow(self, x: float, y: float, dt: float) -> None:
        """Carries the base's target on: the command, taken up smoothly and integrated, not far ahead of the base."""
        most = self.greatest * dt
        wanted = self.command.tolist() if self._step >= 0 else (0.0, 0.0, 0.0)
        forward, left, turning = self._heading_rate = [
            now + min(max(then - now, -most), most) for now, then in zip(self._heading_rate, wanted, strict=True)
        ]
        pose = self._pose
        c, s = math.cos(pose[3]), math.sin(pose[3])
        self._rate = c * forward - s * left, s * forward + c * left, turning
        pose[0] += self._rate[0] * dt
        pose[1] += self._rate[1] * dt
        pose[3] += turning * dt
        ahead = math.hypot(pose[0] - x, pose[1] - y)
        if ahead > self.leash:
            share = self.leash / ahead
            pose[0], pose[1] = x + share * (pose[0] - x), y + share * (pose[1] - y)

    def _put_down(self, robot: Dynamics, t: float) -> None:
        """Says where the feet in the air will land; in the last part of the swing it stays what it was."""
        if not self._airborne or t - self._lifted > 0.7 * self.swing:
            return
        pose = robot.pose(self._frame)
        x, y = pose[:2, 3].tolist()
        vx, vy = robot.twist(self._frame)[:2].tolist()
        # the middle of a stance as long as a swing with the whiles on all feet before and after it
        half = self.swing / 2 + self.overlap
        ahead = self._lifted + self.swing - t + (0.0 if self._rolls else half)
        yaw = math.atan2(pose[1, 0], pose[0, 0]) + self._rate[2] * ahead
        c, s = math.cos(yaw), math.sin(yaw)
        x += vx * ahead + self.feedback * (vx - self._rate[0])
        y += vy * ahead + self.feedback * (vy - self._rate[1])
        for foot in self.contacts_in_air:
            along, aside = self._hips[foot].tolist()
            if self._rolls:
                aside += half * (self._heading_rate[1] + self._heading_rate[2] * along)
            self._to[foot] = np.array([x + c * along - s * aside, y + s * along + c * aside, self._from[foot][2]])

    def _rolling(self, foot: str) -> Array:
        """The velocity with which a wheel rolls under the base, world axes, m/s; zero for what does not roll."""
        if not self._rolls:
            return np.zeros(3)
        forward = self._heading_rate[0] - self._heading_rate[2] * self._hips[foot][1]
        return np.asarray(forward * np.array([math.cos(self._pose[3]), math.sin(self._pose[3]), 0.0]))

    def _base_target(self, time: float) -> tuple[Array, Array, Array]:
        x, y, z, yaw = self._pose
        c, s = math.cos(yaw), math.sin(yaw)
        pose = np.array([[c, -s, 0.0, x], [s, c, 0.0, y], [0.0, 0.0, 1.0, z], [0.0, 0.0, 0.0, 1.0]])
        vx, vy, turning = self._rate
        return pose, np.array([vx, vy, 0.0, 0.0, 0.0, turning]), np.zeros(6)

    def _swing_target(self, foot: str, time: float) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of a foot: away over the ground, and down on it."""
        T = self.swing
        s = min(max((time - self._lifted) / T, 0.0), 1.0)
        if s != self._share:  # the feet of a pair swing together
            s2 = s * s
            self._share, self._paths = s, PATHS.dot((1.0, s, s2, s2 * s, s2 * s2, s2 * s2 * s, s2 * s2 * s2)).tolist()
        away, bump, sunk = self._paths[:3], self._paths[3:6], self._paths[6:]
        moved = []
        for start, end, rolls in zip(*(of[foot].tolist() for of in (self._from, self._to, self._along)), strict=True):
            along = rolls * T
            way = end - start - along
            moved.append([start + way * away[0] + along * s, (way * away[1] + along) / T, way * away[2] / T**2])
        (x, vx, ax), (y, vy, ay), (z, vz, az), down = *moved, self.touchdown * T
        z += self.lift * bump[0] + down * sunk[0]
        vz += (self.lift * bump[1] + down * sunk[1]) / T
        az += (self.lift * bump[2] + down * sunk[2]) / T**2
        return np.array([x, y, z]), np.array([vx, vy, vz, 0.0, 0.0, 0.0]), np.array([ax, ay, az, 0.0, 0.0, 0.0])
