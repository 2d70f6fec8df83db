"""Plans of velocity commands, as the demonstrations have them: which one holds when, and how well a log keeps to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from wbc.arrays import Array
from wbc.geometry import quaternion
from wbc.simulation.log import Log

Velocity = tuple[float, float, float]
"""Forward and to the left in m/s, yaw rate in rad/s."""

Commands = Sequence[tuple[float, Velocity, str]]
"""From when in s, which velocity, and words for it; in the order of time."""

SETTLED = 1.0
"""What a robot may take to take up a new command, s."""


def command_at(commands: Commands, t: float) -> Velocity:
    """The command that holds at a time.

    Args:
        commands: the first one begins at `t` or before.
        t: s.
    """
    return next(command for start, command, _ in reversed(commands) if t >= start)


def settled_speeds(log: Log, commands: Commands, until: float) -> Iterator[tuple[str, Velocity, list[float]]]:
    """The words and the velocity of each command to move, with the mean speeds once it is taken up, two decimals each.

    Args:
        log: of a robot with a floating base; commands that it does not reach are left out.
        commands: that it was given.
        until: time at which the last one ends, s; none is looked at from then on.
    """
    going = speeds(log)
    ends = [*(start for start, _, _ in commands[1:]), until]
    for (start, command, words), end in zip(commands, ends, strict=True):
        settled = (log.time >= start + SETTLED) & (log.time < min(end, until))
        if settled.any() and any(command):
            yield words, command, (going[settled].mean(axis=0).round(2) + 0.0).tolist()  # never -0.00


def speeds(log: Log) -> Array:
    """Forward and to the left, m/s, and yaw rate, rad/s, shape (ticks, 3).

    Args:
        log: of a robot with a floating base.
    """
    x, y, z = quaternion.to_matrix(log.true_q[:, 3:7])[:, :2, 0], log.true_v[:, :2], log.true_v[:, 5]
    heading = x / np.linalg.norm(x, axis=1, keepdims=True)
    forward = (heading * y).sum(axis=1)
    left = heading[:, 0] * y[:, 1] - heading[:, 1] * y[:, 0]
    return np.column_stack([forward, left, z])  # the base stays level: its yaw rate is about its own z axis
