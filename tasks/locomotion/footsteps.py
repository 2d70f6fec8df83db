"""Footsteps, the input of planners, and planners that make footsteps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import numpy as np

from tasks.locomotion.schedule import Interval, Schedule
from wbc.arrays import Array, ArrayLike
from wbc.errors import WbcError, show
from wbc.geometry import so3
from wbc.simulation.terrain import Terrain

ON = 0.05
"""From so far on, m, a step is meant to get on."""

STUCK = 0.3
"""One that gets on by less than this share of that does not."""

EDGE = 0.02
"""Distance of a sole from the edges of steps, m."""

NEAREST = 0.3
"""Feet that are points are put no nearer to each other than this share of their nominal distance."""

STEEPEST = 0.9
"""Least vertical part of the ground's normal at a foothold: steeper than 26° is no place for a foot."""


@dataclass(frozen=True, eq=False)
class Footstep:
    """A foot on the ground.

    Attributes:
        foot: its frame.
        position: of the middle of its sole, or of its point, world, m, shape (3,).
        yaw: of the foot about the vertical, rad.
        normal: of the ground there, world axes, shape (3,).
    """

    foot: str
    position: Array
    yaw: float = 0.0
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)

    @property
    def rotation(self) -> Array:
        """Of a sole that lies flat there: sole → world, shape (3, 3)."""
        return tilt(self.normal) @ turn(self.yaw)

    def shifted(self, way: ArrayLike) -> Footstep:
        """The same step elsewhere on the plane of its ground.

        Args:
            way: m, world axes, shape (2,).
        """
        x, y = np.asarray(way, dtype=float)
        nx, ny, nz = self.normal
        return replace(self, position=self.position + np.array([x, y, -(nx * x + ny * y) / nz]))


@dataclass(frozen=True, eq=False)
class Moment:
    """The input of a planner.

    Attributes:
        time: s.
        command: smoothed command: velocity forward and to the left, m/s, and yaw rate, rad/s, in the heading's axes,
            shape (3,).
        heading: that the robot should have, rad.
        place: that the command has led to, m, world, shape (2,).
        com: of the whole robot, world, m, shape (3,).
        com_velocity: world, m/s, shape (3,).
        omega: rate with which it falls, 1/s.
        feet: where each foot is on the ground, or was last.
        standing: the feet that stand now by the schedule.
        ahead: the coming intervals of the schedule, beginning with the rest of the present one.
        landed: steps that were made since it began.
        normal: of the ground as the feet feel it, shape (3,).
    """

    time: float
    command: Array
    heading: float
    place: Array
    com: Array
    com_velocity: Array
    omega: float
    feet: Mapping[str, Footstep]
    standing: tuple[str, ...]
    ahead: tuple[Interval, ...]
    landed: int = 0
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)

    @property
    def divergent(self) -> Array:
        """The divergent component of motion, or capture point: c + ċ / ω, shape (2,), m."""
        return np.asarray(self.com[:2] + self.com_velocity[:2] / self.omega)

    def landings(self) -> list[tuple[float, str]]:
        """The coming landings: the time from now, s, and the foot."""
        found, since = [], 0.0
        for now, later in pairwise(self.ahead):
            since += now.duration
            found += [(since, foot) for foot in now.air if foot not in later.air]
        return found


class FootstepPlanner(Protocol):
    """Decides where feet land. Your own planner is an object with these two methods."""

    def steps(self, moment: Moment) -> Sequence[Footstep]:
        """A step for each of `moment.landings()`, in that order."""
        ...

    def room(self, moment: Moment, step: Footstep) -> tuple[Array, Array]:
        """How far a step may be shifted where the robot is pushed: least and most, heading's axes, m, shape (2,)."""
        ...


class CommandedSteps:
    """Footsteps around a middle that moves at the commanded velocity.

    A foot is put where it will be in its nominal place r beside the middle in the middle of its stance (Raibert): with
    c the middle, ψ the heading and t₊ the time to the middle of that stance,

        foothold = c + R_z(ψ + ω t₊ / 2) v t₊ + R_z(ψ + ω t₊) r.

    The present place of the middle follows from the standing feet by the same formula. The foothold's height and normal
    are those of the terrain, or of the plane that the feet feel.

    Args:
        schedule: of the feet.
        places: nominal place of each foot beside the middle, m, shape (2,) each.
        apart: least distance of two feet side by side, m: feet are put farther apart where a command to the side needs
            it. None: they need not be.
        reach: greatest distance of a step from its nominal place beside the middle, forward and to the side, m.
        terrain: the known terrain; None: unknown.
        soles: size of each sole, m, shape (2,): one is put where the terrain is even under it, forward or backward, so
            that points, of no size, are not put on edges.
        climb: greatest step up or down, m.
        homing: share of the way to the place that the command has led to that a step makes up for, and how much at
            most, m.

    Attributes:
        trouble: why no foothold was found for a step; empty if all were found.
    """

    def __init__(
        self,
        schedule: Schedule,
        places: Mapping[str, Array],
        apart: float | None = None,
        reach: tuple[float, float] = (0.3, 0.3),
        terrain: Terrain | None = None,
        soles: Mapping[str, Array] | None = None,
        climb: float = 0.3,
        homing: tuple[float, float] = (0.2, 0.04),
    ) -> None:
        self.schedule, self.places, self.apart, self.reach = schedule, dict(places), apart, reach
        self.terrain, self.soles, self.climb = terrain, dict(soles or {}), climb
        self.homing, self.trouble = homing, ""

    def place(self, foot: str, command: Array) -> Array:
        """Nominal place of a foot beside the middle, wider where it steps to the side, m, shape (2,)."""
        place = self.places[foot]
        if self.apart is None:
            return place
        least = (self.apart + abs(float(command[1])) * self.schedule.period / 2) / 2
        return np.array([place[0], math.copysign(max(abs(place[1]), least), place[1])])

    def middle(self, moment: Moment) -> Array:
        """Where the middle is now, as the feet that stand and will not be lifted next tell it, m, shape (2,)."""
        lifted = next((interval.air for interval in moment.ahead[1:] if interval.air), ())
        told = [foot for foot in moment.standing if foot not in lifted] or list(moment.standing) or list(moment.feet)
        found = np.zeros(2)
        for foot in told:
            ahead = _lift_off(moment.ahead, foot) - self.schedule.stance(foot) / 2
            place = turn(moment.heading + moment.command[2] * ahead)[:2, :2] @ self.place(foot, moment.command)
            found += moment.feet[foot].position[:2] - place - _way(moment, ahead)
        found /= len(told)
        share, most = self.homing
        return np.asarray(found + np.clip(share * (moment.place - found), -most, most))

    def steps(self, moment: Moment) -> list[Footstep]:
        """See `FootstepPlanner`."""
        middle, found = self.middle(moment), []
        self.trouble = ""
        last = dict(moment.feet)
        for since, foot in moment.landings():
            ahead = since + self.schedule.stance(foot) / 2
            yaw = moment.heading + moment.command[2] * ahead
            xy = middle + _way(moment, ahead) + turn(yaw)[:2, :2] @ self.place(foot, moment.command)
            step = self._on_the_ground(moment, foot, xy, yaw, last)
            last[foot] = step
            found.append(step)
        return found

    def _on_the_ground(
        self, moment: Moment, foot: str, xy: Array, yaw: float, last: Mapping[str, Footstep]
    ) -> Footstep:
        """A footstep at a place, at the height of the ground there."""
        lowest = min(last.values(), key=lambda step: float(np.hypot(*(step.position[:2] - xy))))
        if self.terrain is None:
            n = moment.normal
            rise = -(n[0] * (xy[0] - lowest.position[0]) + n[1] * (xy[1] - lowest.position[1])) / n[2]
            return Footstep(foot, np.append(xy, lowest.position[2] + rise), yaw, n)
        over = self._over(moment)
        if foot in self.soles:
            xy = self._even(foot, xy, yaw, moment, last[foot].position[:2])
        height, normal = self.terrain.height(xy) + over, self.terrain.normal(xy)
        way = height - float(moment.feet[foot].position[2])
        if not self.trouble and normal[2] < STEEPEST:
            self.trouble = f"no foothold for {foot!r}: the ground at ({xy[0]:.2f}, {xy[1]:.2f}) m is too steep"
        elif not self.trouble and abs(way) > 2 * self.climb:
            self.trouble = (
                f"no foothold for {foot!r}: the ground at ({xy[0]:.2f}, {xy[1]:.2f}) m is {abs(way):.2f} m "
                f"{'higher' if way > 0 else 'lower'} than the foot; its steps are up to {2 * self.climb:.2f} m"
            )
        return Footstep(foot, np.append(xy, height), yaw, normal)

    def _even(self, foot: str, xy: Array, yaw: float, moment: Moment, since: Array) -> Array:
        """The even place nearest to one; one further on, where a foot would only come back to where it was, `since`."""
        assert self.terrain is not None
        size, onward = self.soles[foot] + 2 * EDGE, -1 if moment.command[0] < 0.0 else 1
        found = self.terrain.even(xy, yaw, size)
        ahead = onward * np.array([math.cos(yaw), math.sin(yaw)])
        meant = (xy - since) @ ahead
        if meant < ON or (found - since) @ ahead > STUCK * meant:
            return found
        further = self.terrain.even(xy, yaw, size, onward)
        return further if (further - xy) @ ahead < self.reach[0] else found

    def _over(self, moment: Moment) -> float:
        """How high a foot's frame is over the terrain while it stands on it, m: the radius of a ball."""
        assert self.terrain is not None
        return min(float(step.position[2]) - self.terrain.height(step.position[:2]) for step in moment.feet.values())

    def room(self, moment: Moment, step: Footstep) -> tuple[Array, Array]:
        """See `FootstepPlanner`: no farther than the legs reach, and neither into another foot nor past it."""
        reach, R = np.array(self.reach), turn(moment.heading)[:2, :2]
        low, high = -reach, reach.copy()
        for foot in moment.standing:
            usual = self.places[step.foot] - self.places[foot]
            axis = int(np.abs(usual).argmax())
            least = NEAREST * abs(usual[axis]) if self.apart is None else self._apart(moment, step, foot)
            away = float((R.T @ (step.position[:2] - moment.feet[foot].position[:2]))[axis])
            if usual[axis] > 0:
                low[axis] = max(low[axis], -max(away - least, 0.0))
            else:
                high[axis] = min(high[axis], max(-away - least, 0.0))
        return low, high

    def _apart(self, moment: Moment, step: Footstep, other: str) -> float:
        """Least distance of a step to another foot beside it, m: soles that are turned need more."""
        assert self.apart is not None
        more = 0.0
        for foot, yaw in ((step.foot, step.yaw), (other, moment.feet[other].yaw)):
            if foot in self.soles:
                length, width = self.soles[foot] / 2
                c, s = abs(math.cos(yaw - moment.heading)), abs(math.sin(yaw - moment.heading))
                more += width * c + length * s - width
        return self.apart + more


class ListedSteps:
    """Footsteps from a list, one after the other; at its end the robot stops.

    Args:
        steps: in the order in which feet land.
        usual: whose `room` is taken.
    """

    def __init__(self, steps: Sequence[Footstep], usual: FootstepPlanner) -> None:
        for step in steps:
            if not isinstance(step, Footstep):
                raise WbcError(f"footsteps must be tasks.locomotion.Footstep objects, not {show(step)}")
        for first, second in pairwise(steps):
            if first.foot == second.foot:
                raise WbcError(f"{first.foot!r} steps twice in a row; feet must step in turn")
        self.list, self.usual = tuple(steps), usual

    def steps(self, moment: Moment) -> list[Footstep]:
        """See `FootstepPlanner`: those that are left, then steps in place."""
        last = dict(moment.feet)
        found = []
        for number, (_, foot) in enumerate(moment.landings(), moment.landed):
            step = self.list[number] if number < len(self.list) and self.list[number].foot == foot else last[foot]
            last[foot] = step
            found.append(step)
        return found

    def room(self, moment: Moment, step: Footstep) -> tuple[Array, Array]:
        """See `FootstepPlanner`."""
        return self.usual.room(moment, step)


def _way(moment: Moment, ahead: float) -> Array:
    """The way of the middle in a time, m, world, shape (2,)."""
    vx, vy, rate = moment.command
    return np.asarray(turn(moment.heading + rate * ahead / 2)[:2, :2] @ np.array([vx, vy]) * ahead)


def _lift_off(ahead: Sequence[Interval], foot: str) -> float:
    """The time until a foot is lifted, s; that of all that is ahead, where it is not."""
    time = 0.0
    for interval in ahead:
        if foot in interval.air:
            return time
        time += interval.duration
    return time


def turn(yaw: float) -> Array:
    """A rotation about the vertical, shape (3, 3)."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def tilt(normal: Sequence[float] | Array) -> Array:
    """The shortest rotation that takes the vertical to a normal, shape (3, 3)."""
    x, y, z = (float(n) for n in normal)
    sine = math.hypot(x, y)
    if sine < 1e-9:
        return np.eye(3)
    return np.asarray(so3.exp(np.array([-y, x, 0.0]) * (math.atan2(sine, z) / sine)))
