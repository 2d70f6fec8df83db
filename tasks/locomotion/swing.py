"""The path of a swinging foot: of least jerk, to a place that may still change."""

from __future__ import annotations

import math

import numpy as np

from tasks.locomotion.footsteps import Footstep, tilt, turn
from wbc.arrays import Array
from wbc.geometry import so3

FROZEN = 0.08
"""The place of a step is fixed this many seconds before its landing: the foot could not follow later changes."""

SEARCHING = 0.015, 5.0, 0.6
"""Where the ground comes later than the first of these, s, a foot goes down faster and faster: acceleration, m/s², and
greatest speed, m/s.
"""

HEEDING = 0.025
"""Time constant with which a foot follows a change of its place, s: its acceleration must not jump."""

RISING = 0.5
"""Share of a swing at which a foot is at its highest."""

SETTLING = 0.004
"""Time before landing from which on a foot moves straight down, s."""


ARRIVING = 0.05
"""Share of a swing that is left when a foot has got to its place: it goes straight down then, and does not scrape."""

CLEARING = 0.15, 0.08
"""Share of a swing for which a foot only rises before a step up, or only sinks after a step down, so that it clears the
edge, and the height of a step from which on it does so fully, m.
"""


def onward(state: Array, goal: float, left: float, dt: float, falling: float = 0.0, down: float = 0.0) -> Array:
    """Position, velocity and acceleration after a while on the path of least jerk to a goal.

    Args:
        state: the three now, shape (3,).
        goal: where it is to rest.
        left: time until then, s.
        dt: the while, s.
        falling: acceleration at the goal, to the negative side.
        down: speed at the goal, to the negative side.
    """
    x, v, a = (float(part) for part in state)
    T = left
    d, e, f = goal - x - v * T - 0.5 * a * T * T, -down - v - a * T, -falling - a
    c3 = (10 * d - 4 * e * T + 0.5 * f * T * T) / T**3
    c4 = (-15 * d + 7 * e * T - f * T * T) / T**4
    c5 = (6 * d - 3 * e * T + 0.5 * f * T * T) / T**5
    s = dt
    return np.array(
        [
            x + s * (v + s * (a / 2 + s * (c3 + s * (c4 + s * c5)))),
            v + s * (a + s * (3 * c3 + s * (4 * c4 + s * 5 * c5))),
            a + s * (6 * c3 + s * (12 * c4 + s * 20 * c5)),
        ]
    )


class Swing:
    """A foot in the air. It lands straight from above, slowly; where the ground comes late it goes on down so.

    Args:
        start: where it was lifted.
        rotation: of the sole there, sole → world, shape (3, 3).
        lift: height over the higher one of both ends, m.
        search: speed with which it meets the ground, m/s.
        usual: time of such a swing, s: in less time it is lifted less.
        frozen: time before landing from which on the place of the step is fixed, s.

    Attributes:
        elapsed: since it was lifted, s.
        left: until it is to land, s.
        late: since it was to land, s.
        state: position, velocity and acceleration of x, y, z and yaw, shape (3, 4).
        rotation: that the sole is to have, shape (3, 3).
    """

    def __init__(
        self,
        start: Footstep,
        rotation: Array,
        lift: float,
        search: float = 0.1,
        usual: float = 0.0,
        frozen: float = FROZEN,
    ) -> None:
        self.start, self.lift, self.search = start, lift, search
        self.usual, self.frozen = usual, frozen
        self.elapsed, self.left, self.late = 0.0, 1.0, 0.0
        self.state = np.zeros((3, 4))
        self.state[0] = [*start.position, start.yaw]
        self.rotation = self._first = rotation
        self._goal: Footstep | None = None

    def _heed(self, goal: Footstep, dt: float) -> Footstep:
        """The place to go to: follows the one that is asked for smoothly, until it is too late."""
        if self._goal is None:
            self._goal = goal
        elif self.left > self.frozen:
            share = min(dt / HEEDING, 1.0)
            place = self._goal.position + share * (goal.position - self._goal.position)
            turned = math.remainder(goal.yaw - self._goal.yaw, 2 * math.pi)
            self._goal = Footstep(goal.foot, place, self._goal.yaw + share * turned, goal.normal)
        return self._goal

    def advance(self, goal: Footstep, left: float, dt: float) -> None:
        """Goes on.

        Args:
            goal: where it is to land.
            left: time until then, s.
            dt: since the last time, s.
        """
        self.elapsed += dt
        self.left = left
        state, whole = self.state.copy(), self.elapsed + left
        goal = self._heed(goal, dt)
        yaw = goal.yaw + 2 * np.pi * round((float(state[0, 3]) - goal.yaw) / (2 * np.pi))
        straight, high = CLEARING
        climb = min(max(float(goal.position[2] - self.start.position[2]) / high, -1.0), 1.0)
        flat_left = left - (ARRIVING + straight * max(-climb, 0.0)) * whole
        for axis, end in ((0, goal.position[0]), (1, goal.position[1]), (3, yaw)):
            if self.elapsed < straight * climb * whole:
                continue
            if flat_left > SETTLING:
                state[:, axis] = onward(state[:, axis], float(end), max(flat_left, dt), dt)
            else:
                state[1:, axis] = 0.0
        lift = self.lift * min(whole / max(self.usual, 1e-3), 1.0) ** 2
        top = max(self.start.position[2], goal.position[2]) + lift
        rising = RISING * whole - self.elapsed
        if left <= SETTLING:
            since, gains, most = SEARCHING
            self.late += dt if left <= 0 else 0.0
            faster = self.search + gains * max(self.late - since, 0.0)
            state[1, 2], state[2, 2] = -min(faster, most), -gains if self.search < faster < most else 0.0
            state[0, 2] += state[1, 2] * dt
        elif rising > SETTLING:
            falling = 24.0 * lift / whole**2
            state[:, 2] = onward(state[:, 2], float(top), max(rising, dt), dt, falling)
        else:
            state[:, 2] = onward(state[:, 2], float(goal.position[2]), max(left, dt), dt, down=self.search)
        self.state = state
        share = min(1.5 * self.elapsed / max(whole, 1e-3), 1.0)
        share = share * share * (3 - 2 * share)
        flat = tilt(goal.normal) @ turn(float(state[0, 3]))
        first = turn(float(state[0, 3]) - self.start.yaw) @ self._first
        self.rotation = flat @ so3.exp((1 - share) * so3.log(flat.T @ first))
