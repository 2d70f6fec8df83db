"""The state of a robot's sensors, and the interface between the loop and a robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from wbc.arrays import Array, finite
from wbc.control.command import Command


@dataclass(frozen=True, eq=False)
class Imu:
    """The reading of an inertial measurement unit, in its own axes.

    Attributes:
        rate: angular velocity, rad/s, shape (3,).
        force: specific force, acceleration less gravity, m/s², shape (3,): (0, 0, 9.81) at rest and upright.
    """

    rate: Array
    force: Array


@dataclass(frozen=True, eq=False)
class State:
    """The readings of a robot's sensors at one moment.

    Attributes:
        time: time of the readings, s, by the robot's clock: a state with another time is another state.
        position: q of the joints, without the floating base, rad or m, shape (nq,) or (nq − 7,).
        velocity: v of the joints, without the floating base, rad/s or m/s, shape (nv,) or (nv − 6,).
        torque: that the motors exert, N m or N, shape (na,); not a number where it is not measured.
        imu: of the base; None: there is none.
        contacts: measured normal forces by the frame of the sensor, N; a switch gives 0 or inf. Empty: there is none.
        base: q of the floating base, shape (7,), and v of it, shape (6,), where something from outside measures it,
            such as motion capture; None: it has to be estimated.
    """

    time: float
    position: Array
    velocity: Array
    torque: Array
    imu: Imu | None = None
    contacts: Mapping[str, float] = field(default_factory=dict)
    base: tuple[Array, Array] | None = None

    @property
    def finite(self) -> bool:
        """Whether what a controller needs of it are numbers."""
        parts = [self.position, self.velocity]
        if self.imu is not None:
            parts += [self.imu.rate, self.imu.force]
        if self.base is not None:
            parts += self.base
        return bool(np.isfinite(self.time)) and all(map(finite, parts))


@runtime_checkable
class RobotIO(Protocol):
    """A robot, as the loop sees it: a real one, one in another process, or one in this process.

    Attributes:
        paced: whether `read` waits for the next state: then the robot's clock makes the ticks. Else the loop's does,
            and `read` returns at once.
    """

    paced: bool

    def read(self) -> State | None:
        """The newest state; None where none has come yet. Without a new one it is the last one again."""
        ...

    def write(self, command: Command) -> None:
        """Sends a command; it does not wait."""
        ...

    def close(self) -> None:
        """Releases the robot safely; calling it twice is harmless."""
        ...


@runtime_checkable
class Bunching(Protocol):
    """A robot whose states may arrive several at a time: an estimator needs each of them.

    Attributes:
        earlier: those that came since the `read` before the last one, but for that which it returned.
    """

    earlier: Sequence[State]


@runtime_checkable
class Estimator(Protocol):
    """An estimator of the base's state, such as `wbc.estimation.BaseEstimator`."""

    def estimate(self, state: State) -> tuple[Array, Array]:
        """Takes the next state; q, shape (nq,), and v, shape (nv,)."""
        ...
