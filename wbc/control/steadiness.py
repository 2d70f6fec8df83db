"""A bound on the rate of torques: a sudden demand of the stack is met over several ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wbc.arrays import Array
from wbc.compiled import kernel
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.inserted import InsertedLevel
from wbc.control.program import Part, Program
from wbc.control.solving import Outcome
from wbc.dynamics.base import Dynamics
from wbc.model.names import actuator_names
from wbc.solvers.base import Solver
from wbc.tasking.layout import Layout
from wbc.tasking.rows import Rows
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick

FASTEST = 50.0
"""A coordinate that changed faster than this since the last tick, rad/s or m/s, and twice as fast as anything moves,
means that the robot was placed there: the last torques then do not count."""

BRAKES = 6.0
"""A torque that brakes may change this many times faster. If it could not, each delay would feed a swing, and a joint
that can't reach its target would spin. Robots led through singular poses swing as often with 3 as with 12; with 4 a
humanoid that is pushed across its steps falls."""

LASTING, LOOSENS = 0.15, 0.05
"""After so long at the bound, s, it may be loosened, by a factor e in so long, until all torques may change as fast as
those that brake: sensors that are noisy would otherwise hold torques at it for ever. Humanoid and quadruped fall after
2 to 5 s of a walk with noise if it stays as it is; with twice as much the humanoid walks at a third of its speed."""

WIDER, WIDE_FOR = 16.0, 0.1
"""Where torques surely follow the noise of sensors, the bound may be so many times wider, for so long, s. Strict levels
that are held back by it use what an arm has left, its self-motion: with usual noise that goes to and fro at 0.4 rad/s
with 12."""

IN_BETWEEN = 0.1
"""So much of the time away from the bound counts against that at it, where torques go to and fro: they jump for a few
ticks, rest for some twenty, and jump again."""

SOON = 0.05
"""What was less than this ago, s, was shortly before."""

MOVES = 0.05
"""A joint slower than this, rad/s or m/s, is at rest."""


class Room(NamedTuple):
    """How far torques may go in a tick.

    Attributes:
        tick: which it is.
        v: of the robot in it, m/s and rad/s, shape (nv,).
        most: what `TorqueRates` was told, N m or N, shape (na,).
        down: by how much torques may go down, N m or N, shape (na,).
        up: by how much they may go up, N m or N, shape (na,).
        rows: of the task.
    """

    tick: Tick
    v: Array
    most: Array
    down: Array
    up: Array
    rows: Rows

    def holds(self, robot: Dynamics, tick: Tick, most: Array) -> bool:
        """Whether it is that of a tick: all that it was made of is the same object, and none of them changes."""
        return self.tick is tick and self.v is robot.v and self.most is most

    def ways(self, torque: Array, last: Array) -> Array | None:
        """1 where a torque rises as far as it may, −1 where it falls so far, 0 elsewhere; None: no torque does.

        Args:
            torque: N m or N, shape (na,).
            last: that of the tick before, shape (na,).
        """
        if kernel is not None:
            found = np.empty(len(torque))
            any_does = kernel.rates_ways(torque, last, self.down, self.up, self.most, found)
            return found if any_does else None
        change, nearly, gives = torque - last, 1e-7 * self.most, self.most > 0.0
        rises, falls = gives & (self.up - change <= nearly), gives & (change + self.down <= nearly)
        found = np.subtract(rises, falls, dtype=float)
        return found if found.any() else None


def _lasts(lasted: float, passed: float, goes_on: bool, fades: float) -> float:
    """For how long something has lasted after a tick; where it does not go on, a share of the time is taken off."""
    return lasted + passed if goes_on else max(lasted - fades * passed, 0.0)


def _room(speed: Array, last: Array | None, most: Array, brakes: float, least: Array, effort: Array) -> Array:
    """How far torques may go down and up, and their bounds, shape (4, na).

    Args:
        speed: of what they drive, shape (na,).
        last: that of the tick before, shape (na,); None: there was none.
        most: greatest change in a tick of what does not brake, shape (na,).
        brakes: what brakes may change so many times as far.
        least: that actuators give, shape (na,).
        effort: that they give at most, shape (na,).
    """
    found: Array = np.empty((4, len(speed)))
    if kernel is not None:
        kernel.rates_room(speed, last, most, least, effort, MOVES, brakes, found)
        return found
    origin = np.zeros(len(speed)) if last is None else np.clip(last, least, effort)
    for row, motion in zip(found, (speed, -speed), strict=False):
        row[:] = np.where(motion > MOVES, brakes, 1.0) * most
    found[2], found[3] = np.maximum(origin - found[0], least), np.minimum(origin + found[1], effort)
    return found


class TorqueRates(Task):
    """Keeps torques near those of the last tick.

    Args:
        most: greatest change in a tick, shape (na,).

    Attributes:
        brakes: torques that brake may change so many times as far.
    """

    inequality = True
    NAME = "torque rates"

    def __init__(self, most: Array) -> None:
        super().__init__(self.NAME)
        self.most, self.brakes = most, BRAKES
        self._room: Room | None = None

    def room(self, robot: Dynamics, tick: Tick) -> Room:
        """How far torques may go; it is asked for several times in a tick that is at the bound.

        Args:
            robot: in the state of the tick.
            tick: the moment.
        """
        known = self._room
        if known is None or not known.holds(robot, tick, self.most):
            speed, last, limits = robot.actuation_matrix.dot(robot.v), tick.last_torque, robot.limits
            down, up, lower, upper = _room(speed, last, self.most, self.brakes, limits.least, limits.effort)
            rows = Rows(lower, upper, torque=np.arange(robot.na))
            known = self._room = Room(tick, robot.v, self.most, down, up, rows)
        return known

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row an actuator."""
        return self.room(robot, tick).rows

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return actuator_names(robot.model)


class Steadiness:
    """How fast a controller's torques may change.

    Args:
        robot: the controller's own.
        rise: time in which a torque may go from nothing to all that its actuator gives, s.

    Attributes:
        task: the bound.
        pressed: whether the last tick was at the bound: the next one is solved with it at once.
        loosens: whether the bound is loosened after long at it; False: it stays as it is.
    """

    def __init__(self, robot: Dynamics, rise: float) -> None:
        self._slope = robot.limits.effort / rise
        can = self._slope > 0.0  # an actuator without effort is left to the guard
        self._per_slope = np.where(can, 1.0 / np.where(can, self._slope, 1.0), 0.0)
        self.task = TorqueRates(self._slope)
        self.forget()

    def forget(self) -> None:
        """Forgets the ticks before."""
        self._time, self._passed, self._held, self._swung = np.nan, 0.0, 0.0, 0.0
        self._bound_at = self._turned = self._widened = -np.inf
        self._ways: Array = np.zeros(0)
        self._q: Array | None = None
        self._before: Array | None = None
        self._layout: Layout | None = None
        self._steps = False
        self.pressed, self.loosens = False, True

    def _note(self, robot: Dynamics, tick: Tick) -> None:
        """Notes the state of a tick; noting the same tick twice changes nothing."""
        if tick.time != self._time:  # a tick once more is compared with the same one before
            # a tick that comes late may change more; the first one comes after NaN, which is no more than a period
            self._passed = max(tick.period, tick.time - self._time)
            self._held = _lasts(self._held, self._passed, self.pressed, 0.5)
            self._swung = _lasts(self._swung, self._passed, self.pressed, IN_BETWEEN)
            self._time, self._before = tick.time, self._q
            self._steps = self._layout not in (None, tick.layout)
        self._q, self._layout = robot.q, tick.layout

    def widen(self, time: float) -> None:
        """Torques follow the noise of sensors: for a while they may.

        Args:
            time: of the tick, s.
        """
        self._widened = time

    def is_wide(self, time: float) -> bool:
        """Whether the bound is wider than it was told.

        Args:
            time: of the tick, s.
        """
        return 0.0 <= time - self._widened < WIDE_FOR  # clocks may be set back

    @property
    def pressed_for(self) -> float:
        """For how long torques have been at the bound, s; of the times in between `IN_BETWEEN` is taken off."""
        return self._swung

    @property
    def _most(self) -> float:
        """The time in which torques may change as fast as told, s: more than has passed after long at the bound."""
        if self.is_wide(self._time):
            return WIDER * self._passed
        if not self.loosens:
            return self._passed
        longer = max(self._held - LASTING, 0.0) / LOOSENS
        return self._passed * math.exp(min(longer, math.log(BRAKES)))

    def _allow(self, time: float) -> None:
        """Tells the task how far torques may go: brakes as usual, however far the bound is loosened.

        Args:
            time: in which they may go as fast as told, s.
        """
        self.task.most, self.task.brakes = self._slope * time, max(BRAKES * self._passed / time, 1.0)

    @property
    def passed(self) -> float:
        """What has passed since the tick before, s."""
        return self._passed

    def bounds(self, robot: Dynamics, tick: Tick) -> bool:
        """Notes the state of a tick; gives whether the bound holds in it: where it goes on from the tick before.

        Args:
            robot: in the state of the tick.
            tick: the moment.
        """
        self._note(robot, tick)
        self._allow(self._most)
        return tick.last_torque is not None and self._goes_on(robot)

    def _goes_on(self, robot: Dynamics) -> bool:
        """Whether the state continues that of the last tick."""
        if self._before is None:
            return False
        change, most = robot.q - self._before, FASTEST * self._passed
        if change.dot(change) <= most * most:  # most often all together change less than one may
            return True
        return float(np.abs(change).max()) <= max(most, 2.0 * float(np.abs(robot.v).max()) * self._passed)

    def stepped(self, tick: Tick) -> bool:
        """Whether contacts may be others than in the tick before."""
        return self._steps or tick.layout is not self._layout

    def expected(self, robot: Dynamics, tick: Tick) -> bool:
        """Whether the bound is to be tried at once: the tick before was at it, or had other contacts, which makes
        torques jump; and the state goes on from there.
        """
        if not (self.pressed or self.stepped(tick)):
            return False
        self._note(robot, tick)
        return (self.pressed or self._steps) and self.bounds(robot, tick)

    def _reached(self, robot: Dynamics, tick: Tick, torque: Array) -> Array | None:
        assert tick.last_torque is not None  # else nothing is expected
        return self.task.room(robot, tick).ways(torque, tick.last_torque)

    def reaches(self, robot: Dynamics, tick: Tick, torque: Array) -> bool:
        """Whether a torque that keeps the bound is held back by it; the actuators' own limits do not count."""
        return self._reached(robot, tick, torque) is not None

    def binds(self, robot: Dynamics, tick: Tick, torque: Array) -> bool:
        """As `reaches`, and remembers which way torques go."""
        ways = self._reached(robot, tick, torque)
        if ways is None:
            return False
        if tick.time - self._bound_at > SOON:
            self._ways = np.zeros(robot.na)
        if (ways * self._ways).min() < 0.0:
            self._turned = tick.time
        self._ways = np.where(ways == 0.0, self._ways, ways)
        self._bound_at = tick.time
        return True

    def swings(self, time: float) -> bool:
        """Whether, in a tick shortly before, a torque was at the bound the other way than shortly before that.

        Args:
            time: of the tick, s.
        """
        return 0.0 < time - self._turned <= SOON

    def exceeded(self, robot: Dynamics, tick: Tick, torque: Array) -> bool:
        """Whether a torque is further from that of the tick before than it may be, in a state that goes on from there.

        Args:
            robot: in the state of the tick.
            tick: the moment.
            torque: that was found for it.
        """
        self._note(robot, tick)
        self.pressed = False
        if self._before is None or tick.last_torque is None:
            return False
        share = (torque - tick.last_torque) * self._per_slope
        most = self._most
        if share.dot(share) <= most * most:  # most often all together change less than one may: one look is enough
            return False
        self._allow(most)
        return self.breaks(robot, tick, torque) and self._goes_on(robot)

    def breaks(self, robot: Dynamics, tick: Tick, torque: Array) -> bool:
        """Whether a torque breaks the bound as it was noted."""
        rows = self.task.rows(robot, tick)
        return bool((np.maximum(rows.lower - torque, torque - rows.upper) > 1e-9 * self.task.most).any())


class SteadySolving:
    """Solves a tick again with the bound on the rates of torques.

    The bound has its own level, below the limits at the top of the stack: a `TorqueLimits` that is lowered, or bodies
    that are about to meet, may need a jump. Beside limits of torques and forces it can always hold. All other tasks
    wait, limits of joints and contacts too: what they would need after an impact no actuator gives in the time. A tick
    that keeps the bound costs nothing.

    Args:
        program: the tasks.
        equation: physics in any state.
        solver: that was asked first.
        task: the bound.
        effort: what each actuator gives, shape (na,).
        kept: how many levels of the program a weighted sum does not trade; None: those above the bound.
    """

    def __init__(
        self,
        program: Program,
        equation: MotionEquation,
        solver: Solver,
        task: TorqueRates,
        effort: Array,
        kept: int | None = None,
    ) -> None:
        rank = program.leading_bounds
        under = solver.under(rank if kept is None else kept)
        self._task = task
        self._level = InsertedLevel(program, equation, under, task, rank, effort, lambda task: task.bounds_joints)

    def solve(
        self, robot: Dynamics, tick: Tick, equation: MotionEquation, parts: Sequence[Part], seconds: float
    ) -> tuple[Outcome, tuple[Part, ...]]:
        """As `Solving.solve`; and the rows that were solved.

        Args:
            robot: in the state of the tick.
            tick: the moment.
            equation: physics.
            parts: the rows of the tasks.
            seconds: that it may take; inf: any.
        """
        asked = self._level.among(parts, self._task.rows(robot, tick))
        return self._level.solve(equation, asked, seconds)._replace(steadied=True), asked

    def without(self, outcome: Outcome) -> Outcome:
        """Of a tick in which no torque was held back: what it is without the bound."""
        return self._level.without(outcome)._replace(steadied=False)

    def forget(self) -> None:
        """Forgets what it remembers from tick to tick."""
        self._level.forget()
