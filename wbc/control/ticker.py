"""Makes the ticks of a controller, and remembers the last one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from wbc.arrays import Array
from wbc.control.checks import finite_time
from wbc.control.equation_of_motion import EquationOfMotion
from wbc.control.ramps import ROUNDING
from wbc.control.rubbing import Rubbing
from wbc.control.stack import Stack
from wbc.control.watch import Past, Watch
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, WbcWarning
from wbc.model.names import velocity_names
from wbc.tasking.layout import Layout
from wbc.tasking.tick import Tick

if TYPE_CHECKING:
    from wbc.control.program import Part

FASTEST = 500.0
"""A velocity above this, m/s or rad/s, causes a warning: robots are slower, failing sensors are not."""

STANDING_STILL = 100
"""After this many ticks in a row at the same time a warning says that time stands still."""


class Ended(Protocol):
    """What a ticker remembers of a tick."""

    @property
    def torque(self) -> Array:
        """τ, N m or N, shape (na,)."""
        ...

    @property
    def acceleration(self) -> Array:
        """v̇, m/s² and rad/s², shape (nv,)."""
        ...

    @property
    def normal_forces(self) -> dict[str, float]:
        """By contact, N."""
        ...

    def force_variables(self, contact: str) -> Array | None:
        """Of a contact, shape (size,); None where it was open."""
        ...


class Ticker:
    """Makes the ticks of a controller.

    Args:
        robot: the controller's own.
        stack: its tasks and contacts.
        kinematic: whether x is v.
        rubs: whether friction is compensated where joints are to go.

    Attributes:
        time: of the last tick, s.
        began: whether there was a tick.
    """

    def __init__(self, robot: Dynamics, stack: Stack, kinematic: bool = False, rubs: bool = False) -> None:
        self._robot, self._stack, self._kinematic = robot, stack, kinematic
        self._physics = next((task for task in stack if isinstance(task, EquationOfMotion)), None)
        self._layouts: dict[tuple[str, ...], Layout] = {}
        self._layout: Layout | None = None
        rubbing = Rubbing(robot) if rubs else None
        self._rubbing = None if rubbing is None or rubbing.idle else rubbing
        self.forget()

    def forget(self) -> None:
        """Forgets the past, as at the start."""
        self.time = 0.0
        self.began, self._still, self._new_clock = False, 0, False
        self._warned_of_speed = False
        self._last: Ended | None = None
        self._torque: Array | None = None
        self._watch = Watch()
        if self._rubbing is not None:
            self._rubbing.forget()

    def expect_new_clock(self) -> None:
        """Allows the next tick to come from another clock, as at the start of a run; nothing else is forgotten."""
        self._new_clock = True

    @property
    def layout(self) -> Layout:
        """Of x with the contacts that are closed now; the same object for the same contacts."""
        closed = self._stack.support.closed
        if self._layout is None or self._layout.contacts is not closed:
            names = tuple(contact.name for contact in closed)
            if names not in self._layouts:
                self._layouts[names] = Layout(self._robot, closed, self._kinematic)
            self._layout = self._layouts[names]
        return self._layout

    def tick(self, t: float | None, period: float) -> Tick:
        """The tick at a time: ramps are carried on to it.

        Args:
            t: s; None: a period after the last tick.
            period: between ticks, s.
        """
        time = finite_time(t) if t is not None else self.time + period if self.began else 0.0
        if self._new_clock:
            self._set_clock(time, period)
        self._look(time)
        if self._rubbing is not None and self._last is not None and time > self.time:
            self._rubbing.advance(self._last.acceleration, time - self.time)
        v = self._robot.v
        if v.dot(v) > FASTEST**2 and not self._warned_of_speed:
            self._warn_of_speed(v)
        stack = self._stack
        stack.schedule.advance(time, self)
        stack.support.advance(time, self._robot, self._normal_forces, self)
        return self._at(time, period)

    def again(self, period: float) -> Tick:
        """The tick at the time of the last one; nothing moves on."""
        return self._at(self.time, period)

    def _at(self, time: float, period: float) -> Tick:
        physics, support, robot = self._physics, self._stack.support, self._robot
        external = physics.external_force(robot, time) if physics is not None and physics.external else None
        if self._rubbing is not None:
            rubbing = self._rubbing.force(robot)
            external = rubbing if external is None else external + rubbing
        self.time = time
        return Tick.of(self.layout, time, period, self._torque, support.ceilings, support.anchors, external)

    def note(self, ended: Ended | None) -> None:
        """Remembers what a tick came to."""
        self._last, self.began = ended, True

    def _set_clock(self, time: float, period: float) -> None:
        """The tick is a period after the last one, whatever its clock says: what is under way goes on from there."""
        self._new_clock = False
        if self.began and time < self.time - ROUNDING:
            by = time - (self.time + period)
            self._stack.schedule.shift(by)
            self._stack.support.shift(by)
            self.time += by

    def watch(
        self,
        tick: Tick,
        parts: Sequence[Part],
        pulls: Sequence[float],
        measured: Mapping[str, Array] | None,
    ) -> Past:
        """The memory of earlier ticks for a solution; call it before `note`.

        Args:
            tick: the moment.
            parts: the rows of its tasks.
            pulls: see `Outcome`.
            measured: forces by contact, N; None: none were measured.
        """
        watch, robot = self._watch, self._robot
        if watch.due(tick.time):
            watch.look(robot, tick, parts)
        if watch.past.yielding or any(pull > 1.0 for pull in pulls):
            watch.mark(tick.time, pulls)
        if measured is not None or watch.past.empty:
            watch.feel(robot, tick, self._last, measured)
        return watch.past

    def _look(self, time: float) -> None:
        """Two ticks at one time have the same last torque: that of the last tick at another time."""
        if not self.began:
            return
        if time < self.time - ROUNDING:
            raise WbcError(
                f"t = {time:g} s is before the last tick, at {self.time:g} s: time must not run backwards; "
                "call controller.reset() to start again"
            )
        if time != self.time:
            self._torque, self._still = None if self._last is None else self._last.torque, 0
            return
        self._still += 1
        if self._still == STANDING_STILL:
            warnings.warn(
                f"{STANDING_STILL} ticks in a row had the time {time:g} s: targets, ramps and limits on the rate of "
                "torques stand still; give each tick its time, or leave t out: controller.step(q, v)",
                WbcWarning,
                stacklevel=4,
            )

    def _warn_of_speed(self, v: Array) -> None:
        """Warns once of an implausible velocity."""
        worst = int(np.abs(v).argmax())
        if abs(v[worst]) > FASTEST:
            self._warned_of_speed = True
            name = velocity_names(self._robot.model)[worst]
            warnings.warn(
                f"v[{worst}] = {v[worst]:.6g}, {name}, is no plausible velocity of {self._robot.model.name!r}: m/s and "
                f"rad/s are expected, and {FASTEST:g} is a lot; is a sensor faulty?",
                WbcWarning,
                stacklevel=4,
            )

    def _normal_forces(self) -> dict[str, float]:
        """The normal force of each contact at the last tick, N."""
        return {} if self._last is None else self._last.normal_forces
