"""The state of a robot's sensors, and the interface between the loop and a robot."""

from __future__ import annotations

import math
import numbers as kinds
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from wbc.arrays import FLOAT, Array, finite, numbers
from wbc.control.command import Command
from wbc.errors import WbcError, show


def _is_row(values: object, size: int | None = None) -> bool:
    """Whether a reading is an array of numbers already, as most are, a thousand times a second."""
    if type(values) is not np.ndarray or values.dtype is not FLOAT or values.ndim != 1:
        return False
    return size is None or len(values) == size


def _row(values: object, what: str, size: int | None = None) -> Array:
    """A reading as an array of numbers."""
    values = numbers(values, what, copy=False)
    if values.ndim != 1 or (size is not None and len(values) != size):
        raise WbcError(f"{what} has the shape {values.shape}; it must be ({'n' if size is None else size},)")
    return values


def _check_real(value: object, what: str, example: str) -> None:
    """Whether it is a number; it may be none that is finite."""
    if type(value) is not float and (isinstance(value, bool) or not isinstance(value, kinds.Real)):
        raise WbcError(f"{what} of a State = {show(value)} must be a number, {example}")


@dataclass(frozen=True, eq=False)
class Imu:
    """The reading of an inertial measurement unit, in its own axes.

    Attributes:
        rate: angular velocity, rad/s, shape (3,).
        force: specific force, acceleration less gravity, m/s², shape (3,): (0, 0, 9.81) at rest and upright.
    """

    rate: Array
    force: Array

    def __post_init__(self) -> None:
        if _is_row(self.rate, 3) and _is_row(self.force, 3):
            return
        for name in ("rate", "force"):
            object.__setattr__(self, name, _row(getattr(self, name), f"{name} of an Imu", 3))


@dataclass(frozen=True, eq=False)
class State:
    """The readings of a robot's sensors at one moment.

    Attributes:
        time: time of the readings, s, by the robot's clock: a state with a later time is a newer one. One with an
            earlier time was overtaken, and is not used.
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

    def __post_init__(self) -> None:
        _check_real(self.time, "time", "s")
        for name in ("position", "velocity", "torque"):
            if not _is_row(given := getattr(self, name)):
                object.__setattr__(self, name, _row(given, f"{name} of a State"))
        if self.imu is not None and not isinstance(self.imu, Imu):
            raise WbcError(f"imu of a State = {show(self.imu)} must be a wbc.realtime.Imu, or None")
        if not isinstance(self.contacts, Mapping):
            raise WbcError(f"contacts of a State = {show(self.contacts)} must be forces by the frame of the sensor, N")
        for frame, force in self.contacts.items():
            if type(force) is not float:
                _check_real(force, f"contacts[{frame!r}]", "N; a switch gives 0 or inf")
        if self.base is not None:
            if not isinstance(self.base, tuple | list) or len(self.base) != 2:
                raise WbcError(f"base of a State = {show(self.base)} must be a pair of its q and v, or None")
            q, v = self.base
            object.__setattr__(self, "base", (_row(q, "base[0] of a State", 7), _row(v, "base[1] of a State", 6)))

    @cached_property
    def finite(self) -> bool:
        """Whether what a controller or an estimator needs of it are numbers."""
        parts = [self.position, self.velocity]
        if self.imu is not None:
            parts += [self.imu.rate, self.imu.force]
        if self.base is not None:
            parts += self.base
        return math.isfinite(self.time) and all(map(finite, parts)) and not any(map(math.isnan, self.contacts.values()))

    @property
    def trouble(self) -> str:
        """What is no number, such as "velocity[3] = nan"; empty where it is `finite`."""
        if not math.isfinite(self.time):
            return f"time = {self.time}"
        rows = {"position": self.position, "velocity": self.velocity}
        if self.imu is not None:
            rows |= {"imu.rate": self.imu.rate, "imu.force": self.imu.force}
        if self.base is not None:
            rows |= {"base[0]": self.base[0], "base[1]": self.base[1]}
        for name, row in rows.items():
            for place in np.flatnonzero(~np.isfinite(row)):
                return f"{name}[{place}] = {row[place]}"
        return next((f"contacts[{frame!r}] = nan" for frame, force in self.contacts.items() if math.isnan(force)), "")


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
