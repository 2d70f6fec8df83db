"""A controller's memory of the last second, so that a solution can report what persists."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wbc.arrays import FLOAT, Array, finite, numbers
from wbc.control.joint_ends import JointEnds
from wbc.errors import WbcError, show, unknown_name

if TYPE_CHECKING:
    from wbc.contacts import Contact
    from wbc.control.health import Finding
    from wbc.control.program import Part
    from wbc.control.ticker import Ended
    from wbc.dynamics.base import Dynamics
    from wbc.tasking.tick import Tick

EVERY = 0.25
"""Time between two looks at the errors of tasks, s: four looks cover a second, and an average tick costs nothing."""

LONG = 1.0
"""An error that persists this long, s, is reported: longer than the time constant of the slowest usual gains, 0.3 s at
0.5 Hz."""

CARRIED = 0.1
"""A contact that feels less than this share of what is commanded carries nothing."""

COUNTS = 0.02
"""A commanded normal force below this share of the robot's weight is too small to be missed."""


FEELS = 0.005
"""Time between two looks at the contacts while all of them carry their load, s."""


@dataclass(eq=False)
class Look:
    """The errors of tasks at one moment.

    Attributes:
        time: s.
        errors: by task, desired − measured, as `Task.error`, in its units, shape (rows,) each.
        ends: how far joints are beyond the ends of their ranges, rad or m, by name.
        stays: the persisting errors, computed on first use; None before.
        slowed: the errors whose approach was bounded, computed on first use; None before.
        meant: by task and row, whether higher tasks oppose it; computed once per look.
    """

    time: float
    errors: Mapping[str, Array]
    ends: Mapping[str, float] = field(default_factory=dict)
    stays: list[Finding] | None = None
    slowed: list[Finding] | None = None
    meant: dict[tuple[str, int], bool] = field(default_factory=dict)


class Empty(NamedTuple):
    """A contact that carries nothing although a force is commanded.

    Attributes:
        since: when it was first seen, s.
        commanded: the normal force of the tick before, N.
        measured: the normal force that was felt, N.
        share: of the robot's weight that is commanded.
    """

    since: float
    commanded: float
    measured: float
    share: float


class Past(NamedTuple):
    """What is remembered at a tick. A solution keeps it.

    Attributes:
        looks: the last ones, the oldest first.
        empty: the contacts that carry nothing, by name.
        yielding: since when levels pull as hard as they may, s: by rank, as solvers count levels.
    """

    looks: tuple[Look, ...]
    empty: Mapping[str, Empty]
    yielding: Mapping[int, float]


NOTHING = Past((), {}, {})
"""What is remembered at the start."""


class Watch:
    """Remembers what is needed from tick to tick. If time goes back, later entries are forgotten.

    Attributes:
        past: what is remembered now.
    """

    def __init__(self) -> None:
        self.past = NOTHING
        self._ends: JointEnds | None = None
        self._from = self._to = 0.0  # in between there is nothing to look at
        self._carries_from = self._carries_to = 0.0  # nor are there contacts that were seen to carry nothing

    def due(self, time: float) -> bool:
        """Whether it is time for a look at the errors."""
        return not self._from <= time < self._to

    def look(self, robot: Dynamics, tick: Tick, parts: Sequence[Part]) -> None:
        """Takes a look at the errors of the tasks that are in force.

        Args:
            robot: in the state of the tick.
            tick: the moment.
            parts: of the tick.
        """
        now = tick.time
        errors = {}
        for part in parts:
            error = part.entry.task.error(robot, tick)
            if isinstance(error, np.ndarray):
                errors[part.entry.name] = error
        if self._ends is None:
            self._ends = JointEnds(robot.model)
        kept = tuple(look for look in self.past.looks if now - LONG - 2.0 * EVERY <= look.time < now)
        self.past = self.past._replace(looks=(*kept, Look(now, errors, self._ends.beyond(robot))))
        self._from, self._to = now, now + EVERY

    def mark(self, time: float, pulls: Sequence[float]) -> None:
        """Remembers since when levels yield.

        Args:
            time: of the tick, s.
            pulls: see `Outcome`.
        """
        before = self.past.yielding
        since = {rank: min(before.get(rank, time), time) for rank, pull in enumerate(pulls) if pull > 1.0}
        self.past = self.past._replace(yielding=since)

    def feel(self, robot: Dynamics, tick: Tick, last: Ended | None, measured: Mapping[str, Array] | None) -> None:
        """Compares the normal forces that were felt with those that were commanded at the tick before.

        The normals are those of now: in a tick they do not turn by what counts here.

        Args:
            robot: in the state of the tick.
            tick: the closed contacts.
            last: what the tick before came to.
            measured: forces on the robot by contact, world axes, N; None: none were measured.
        """
        if measured is None:
            if self.past.empty:
                self.past = self.past._replace(empty={})
            return
        if not self.past.empty and self._carries_from <= tick.time < self._carries_to:
            return
        self._carries_from, self._carries_to = tick.time, tick.time + FEELS
        weight = robot.mass * (math.hypot(*robot.model.gravity) or 9.81)
        found = {}
        for contact in tick.contacts:
            force = measured.get(contact.name)
            commanded = None if last is None or force is None else last.force_variables(contact.name)
            if force is None or commanded is None:
                continue
            wanted = float(contact.normals(robot).dot(commanded))
            if wanted < COUNTS * weight:
                continue
            normal = contact.normal if contact.carrier is None else contact.turn(robot).dot(contact.normal)
            felt = float(normal.dot(force[:3]))
            if felt < CARRIED * wanted:
                before = self.past.empty.get(contact.name)
                since = tick.time if before is None or before.since > tick.time else before.since
                found[contact.name] = Empty(since, wanted, felt, wanted / weight)
        if found or self.past.empty:
            self.past = self.past._replace(empty=found)


def measured_forces(measured: object, contacts: tuple[Contact, ...]) -> dict[str, Array] | None:
    """The forces that a user hands over, as arrays.

    Args:
        measured: by contact; None: there are none.
        contacts: of the stack.

    Raises:
        WbcError: a name or a number is wrong.
    """
    if measured is None:
        return None
    if not isinstance(measured, Mapping):
        raise WbcError(f"measured = {show(measured)} must be a dict from names of contacts to forces")
    names, found = [contact.name for contact in contacts], {}
    for name, given in measured.items():
        if name not in names:
            raise unknown_name("contact", name, names)
        if type(given) is np.ndarray and given.dtype is FLOAT and given.shape in ((3,), (6,)) and finite(given):
            found[name] = given.copy()  # as most are, in each tick
            continue
        force = numbers(given, f"the force measured at {name!r}, N,")
        if force.shape not in ((3,), (6,)) or not finite(force):
            raise WbcError(
                f"the force measured at {name!r} must be finite numbers, N, shape (3,), or a wrench, shape (6,), not "
                f"{show(given)}"
            )
        found[name] = force
    return found
