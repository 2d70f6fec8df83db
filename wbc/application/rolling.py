"""How `wbc try` drives a robot on wheels: a small way forward and back, or round a loop where it can."""

from __future__ import annotations

import numpy as np

import tasks
from tasks import stacks
from tasks.wheels import drivable_axes, driving
from wbc.arrays import Array
from wbc.contacts import RollingContact
from wbc.control.controller import Controller
from wbc.control.stack import Stack
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError
from wbc.model.wheels import find_wheel
from wbc.simulation.log import Log

TASK = "base velocity"
"""The task of the stack that drives."""

LEAST = 3
"""Wheels that carry a base: on fewer it would have to balance."""

PROPOSED = "wheels: "
"""How the note of a model begins that names the wheels found in its geometry."""


def rolls(robot: Dynamics) -> bool:
    """Whether a robot stands on wheels and on no feet.

    Args:
        robot: of `wbc.load`.
    """
    model = robot.model
    return model.floating and not model.feet and bool(model.wheels or _proposed(robot))


def stack(robot: Dynamics, period: float) -> Stack:
    """A stack that drives a robot on the wheels that its model declares, else on those that its geometry tells of.

    Args:
        robot: on wheels.
        period: of the control, s.

    Raises:
        WbcError: its wheels are not known well enough.
    """
    model = robot.model
    names = list(model.wheels) or _proposed(robot)
    unknown = [name for name in names if find_wheel(model, name) is None]
    if unknown:
        raise WbcError(
            f"{model.name!r}: it has wheels, but no sphere, cylinder or capsule gives the shape of "
            f"{', '.join(unknown)}: give tasks.wheels.driving wheels=[wbc.RollingContact(frame, wheel=wbc.Wheel(...))]"
        )
    if len(names) < LEAST:
        raise WbcError(
            f"{model.name!r}: its wheels {', '.join(names)} don't carry it alone: name its castors as well, "
            "wheels=[...] of tasks.wheels.driving, or its feet, if it has some (--feet)"
        )
    contacts = [RollingContact(name) for name in names]
    if not drivable_axes(robot, wheels=contacts):
        raise WbcError(f"{model.name!r}: the motors of its wheels ({', '.join(names)}) drive it in no direction")
    return driving(robot, wheels=contacts, gain=1.0 / (stacks.PERIODS * period))


def _proposed(robot: Dynamics) -> list[str]:
    note = next((note for note in robot.model.notes if note.startswith(PROPOSED)), "")
    return note.removeprefix(PROPOSED).split(", ") if note else []


def radius(controller: Controller) -> float:
    """Of the loop, m: forward and back it goes as far as the smallest driven wheel is high, halved.

    Args:
        controller: with the stack that drives.
    """
    wheels = [contact.wheel for contact in controller.stack.contacts if isinstance(contact, RollingContact)]
    return min(wheel.radius for wheel in wheels if not wheel.castor) / 2


class Way:
    """The velocities of a circle forward and to the left, from rest to rest; without the left, forward and back.

    Args:
        radius: m.
        left: whether the base can be driven to the left.
        start: when it begins, s.
        time: that it takes, s.
    """

    def __init__(self, radius: float, left: bool, start: float, time: float) -> None:
        self.radius, self.left, self.start, self.time = radius, left, start, time

    def target(self, t: float) -> tuple[Array, Array, Array]:
        """Forward, left and turning at a time, m/s, m/s and rad/s, shape (3,), its rate, and zeros."""
        s = min(max((t - self.start) / self.time, 0.0), 1.0)
        angle = 2 * np.pi * s**3 * (10 - 15 * s + 6 * s * s)
        turning = 2 * np.pi * 30 * s**2 * (1 - s) ** 2 / self.time
        change = 2 * np.pi * 60 * s * (1 - s) * (1 - 2 * s) / self.time**2
        ahead, aside = np.sin(angle), np.cos(angle) * self.left
        speed = self.radius * turning * np.array([ahead, aside, 0.0])
        across = np.array([np.cos(angle), -np.sin(angle) * self.left, 0.0])
        return speed, self.radius * (change * np.array([ahead, aside, 0.0]) + turning**2 * across), np.zeros(3)

    @property
    def fastest(self) -> float:
        """The greatest speed, m/s."""
        return float(max(np.linalg.norm(self.target(self.start + s * self.time)[0]) for s in np.linspace(0, 1, 101)))


def deviation(robot: Dynamics, log: Log, way: Way) -> Array:
    """By how much the velocity of the base over the ground was another than it was told, m/s, shape (ticks,).

    Args:
        robot: of the run.
        log: of the run.
        way: that it was told to go.
    """
    posed, base, off = robot.copy(), tasks.BaseVelocity(robot.model.root), np.zeros(len(log))
    for tick, (t, q, v) in enumerate(zip(log.time, log.true_q, log.true_v, strict=True)):
        posed.update(q, v)
        off[tick] = np.linalg.norm((base.velocity(posed) - way.target(float(t))[0])[:2])
    return off
