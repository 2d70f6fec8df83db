"""How a command is taken up: smoothed, no faster than the robot can, and where it leads to."""

from __future__ import annotations

import math

import numpy as np

from tasks.locomotion.footsteps import turn
from wbc.arrays import Array

FASTER = 0.2
"""The smoothed command exceeds the robot's speed by no more than this, m/s: a robot that can't follow slows down."""

SMOOTH = 0.3
"""Time constant of the filter of that speed, s: the speed varies within every step."""

LEASH = 0.25
"""The place that the command leads to is never farther from the centre of mass than this, m."""

AXES = ("forward", "to the left", "about the vertical")


def beyond_limits(command: Array, limits: Array, robot: str, period: float) -> list[str]:
    """What of a command legs can't do, in words.

    Args:
        command: m/s, m/s and rad/s, shape (3,).
        limits: of it, shape (3,).
        robot: its name.
        period: of a cycle of steps, s.
    """
    return [
        f"a command of {value:g} {way} is more than the legs of {robot} can reach in a cycle of {period:g} s: "
        f"{math.copysign(limit, value):.3g} is taken"
        for value, limit, way in zip(command.tolist(), limits.tolist(), AXES, strict=True)
        if abs(value) > limit
    ]


class Following:
    """Takes up a velocity command.

    Args:
        along: whether the place goes along with the robot while the command changes. The robot stays behind a command
            that grows, and then does not make up for that afterwards, faster than it was told.

    Attributes:
        rate: smoothed command: velocity forward and to the left, m/s, and yaw rate, rad/s, in the heading's axes, (3,).
        heading: that it has led to, rad.
        place: that it has led to, world, m, shape (2,).
    """

    def __init__(self, along: bool) -> None:
        self._along = along
        self.rate, self.heading, self.place = np.zeros(3), 0.0, np.zeros(2)
        self._speed = np.zeros(2)

    def begin(self, place: Array, heading: float) -> None:
        """Begins where the robot stands.

        Args:
            place: of its centre of mass, world, m, shape (2,).
            heading: of its trunk, rad.
        """
        self.place, self.heading = place.copy(), heading

    def follow(self, wanted: Array, com: Array, velocity: Array, greatest: Array, dt: float) -> None:
        """Smooths the command, and integrates the place that it leads to.

        Args:
            wanted: command, as `rate`, shape (3,).
            com: centre of mass, world, m, shape (2,).
            velocity: of it, world, m/s, shape (2,).
            greatest: acceleration with which it is taken up, m/s², m/s² and rad/s², shape (3,).
            dt: s.
        """
        has = turn(self.heading)[:2, :2].T @ velocity
        self._speed = self._speed + min(dt / SMOOTH, 1.0) * (has - self._speed)
        slower = np.minimum(np.abs(wanted[:2]), np.maximum(np.sign(wanted[:2]) * self._speed, 0.0) + FASTER)
        limited = np.append(np.sign(wanted[:2]) * slower, wanted[2])
        change = np.clip(limited - self.rate, -greatest * dt, greatest * dt)
        self.rate = self.rate + change
        self.heading += float(self.rate[2]) * dt
        goes = np.where(change[:2] == 0.0, self.rate[:2], has) if self._along else self.rate[:2]
        self.place = self.place + turn(self.heading)[:2, :2] @ goes * dt
        ahead = self.place - com
        far = float(np.hypot(*ahead))
        if far > LEASH:
            self.place = com + ahead * (LEASH / far)
