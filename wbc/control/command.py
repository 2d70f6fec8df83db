"""The command for joint controllers on motors: position, velocity, feed-forward torque and gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wbc.arrays import Array, ArrayLike, IntArray, finite, numbers
from wbc.errors import WbcError, show
from wbc.model.model import Model
from wbc.model.names import actuator_names
from wbc.model.space import ConfigurationSpace

if TYPE_CHECKING:
    from wbc.control.solution import Solution


@dataclass(frozen=True, eq=False)
class Command:
    """The command for the motors: each gives τ + kp (position − q) + kd (velocity − q̇) at its own, higher rate.

    All arrays have the shape (na,), in the order of the torques of a `Solution`.

    Attributes:
        position: of each motor, rad or m, shape (na,).
        velocity: of each motor, rad/s or m/s, shape (na,).
        torque: the feed-forward part, N m or N, shape (na,).
        kp: N m/rad or N/m, shape (na,).
        kd: N m s/rad or N s/m, shape (na,).
    """

    position: Array
    velocity: Array
    torque: Array
    kp: Array
    kd: Array

    def effort(self, position: Array, velocity: Array) -> Array:
        """The torques of the motors in a state: τ + kp (position − q) + kd (velocity − q̇), N m or N, shape (na,).

        Args:
            position: q of the joints with motors, shape (na,).
            velocity: q̇ of the same, shape (na,).
        """
        return self.torque + self.kp * (self.position - position) + self.kd * (self.velocity - velocity)

    @property
    def finite(self) -> bool:
        """Whether all numbers are finite."""
        return all(map(finite, (self.position, self.velocity, self.torque, self.kp, self.kd)))

    @classmethod
    def hold(cls, position: Array, kp: Array, kd: Array, torque: Array | None = None) -> Command:
        """A command that holds a position.

        Args:
            position: shape (na,).
            kp: shape (na,).
            kd: shape (na,).
            torque: feed-forward, N m or N, shape (na,); None: none.
        """
        return cls(position, np.zeros_like(position), np.zeros_like(position) if torque is None else torque, kp, kd)

    @classmethod
    def damp(cls, kd: Array) -> Command:
        """A command that brakes and otherwise yields.

        Args:
            kd: shape (na,).
        """
        zero = np.zeros_like(kd)
        return cls(zero, zero, zero, zero, kd)

    @classmethod
    def off(cls, motors: int) -> Command:
        """A command without torque.

        Args:
            motors: how many.
        """
        return cls.damp(np.zeros(motors))

    def blended(self, other: Command, share: float) -> Command:
        """Blends two commands: in every state the torque is `share` of the other's plus the rest of this one's.

        Args:
            other: the other one.
            share: of the other, 0 to 1.
        """
        rest = 1.0 - share
        kp, kd = rest * self.kp + share * other.kp, rest * self.kd + share * other.kd
        # where there are no gains the position does not matter
        position = (rest * self.kp * self.position + share * other.kp * other.position) / np.where(kp > 0, kp, 1.0)
        velocity = (rest * self.kd * self.velocity + share * other.kd * other.velocity) / np.where(kd > 0, kd, 1.0)
        return Command(
            np.where(kp > 0, position, other.position),
            np.where(kd > 0, velocity, other.velocity),
            rest * self.torque + share * other.torque,
            kp,
            kd,
        )


class Motors:
    """Motors with controllers of their own: where they are in q and v, and their gains, checked once.

    Args:
        model: a robot all of whose actuators are motors of joints with one coordinate.
        kp: N m/rad or N/m, a number or one for each motor.
        kd: N m s/rad or N s/m, a number or one for each motor.
        space: of the model, where there is one already.

    Attributes:
        places: the index in q of each one's position, shape (na,).
        velocities: the index in v of each, shape (na,).
        kp: shape (na,).
        kd: shape (na,).
    """

    def __init__(self, model: Model, kp: ArrayLike, kd: ArrayLike, space: ConfigurationSpace | None = None) -> None:
        self.places, self.velocities = motor_positions(model, space), model.actuated
        self.kp, self.kd = gains_of(kp, model.na, "kp"), gains_of(kd, model.na, "kd")

    def command(self, solution: Solution, ahead: float) -> Command:
        """See `Solution.command`.

        Args:
            solution: of a tick.
            ahead: time for which it is carried on, s.
        """
        if solution.status == "failed":
            return Command.hold(solution.q[self.places], self.kp, self.kd, solution.torque.copy())
        v, vdot = solution.v[self.velocities], solution.acceleration[self.velocities]
        velocity = v + ahead * vdot
        position = solution.q[self.places] + (0.5 * ahead) * (v + velocity)
        return Command(position, velocity, solution.torque.copy(), self.kp, self.kd)


def motor_positions(model: Model, space: ConfigurationSpace | None = None) -> IntArray:
    """The index in q of each motor's position, shape (na,).

    Args:
        model: a robot all of whose actuators are motors of joints with one coordinate.
        space: of the model, where there is one already.
    """
    if model.actuators:
        raise WbcError(
            f"actuator {model.actuators[0].name!r} of {model.name!r} is not the motor of a joint: it has no "
            "position to hold; lock its joints, wbc.load(..., locked=[...]), or send it solution.torque"
        )
    places = (space or ConfigurationSpace(model)).position_of_velocity[model.actuated]
    if (places < 0).any():
        name = actuator_names(model)[int(np.flatnonzero(places < 0)[0])]
        raise WbcError(f"{name} of {model.name!r} is an axis of a ball joint: it has no position to hold")
    return places


def gains_of(given: ArrayLike, motors: int, what: str) -> Array:
    """A gain for each motor, checked: shape (na,).

    Args:
        given: a number, or one for each motor.
        motors: na.
        what: it is, as it begins an error.
    """
    found = numbers(given, what)
    if found.shape not in ((), (motors,)) or not finite(found) or (found < 0).any():
        raise WbcError(f"{what} = {show(given)} must be a number, 0 or more, or {motors} of them, one for each motor")
    return found if found.shape else np.full(motors, found)
