"""Bounds that hold for all time: a function h(q) ≥ 0 is braked before it becomes negative."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, number, show
from wbc.tasking.rows import Rows
from wbc.tasking.stopping import Stopping
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick


class Heights(NamedTuple):
    """The values h ≥ 0 of a barrier and their derivatives: h' = J v (plus any motion of the surroundings), h'' = J v̇ +
    drift.

    Attributes:
        value: h, in its own unit, shape (n,).
        jacobian: J, shape (n, nv).
        rate: h', in that unit per s, shape (n,).
        drift: h'' when v̇ is zero, in that unit per s², shape (n,).
    """

    value: Array
    jacobian: Array
    rate: Array
    drift: Array


class Kept(Task):
    """A task that keeps h(q) ≥ 0: J v̇ ≥ −a − drift, with a the greatest acceleration from which h can still be
    stopped.

    Args:
        speed: greatest speed at which h may fall, in units of h per s.
        braking: how hard its fall is braked: the acceleration that can be counted on, in units of h per s².
        return_hz: frequency of the critically damped motion that brings a negative h back to zero, Hz.
        approach: time constant with which h approaches the speed from which it can still be stopped, s.
        greatest: greatest acceleration that is ever demanded, in units of h per s²; None: ten times `braking`.
        inside: how far above zero a negative h is brought back, in units of h.
        name: see `Task`.
        weight: see `Task`.
    """

    inequality = True

    def __init__(
        self,
        speed: float,
        braking: float,
        return_hz: float,
        approach: float,
        greatest: float | None,
        inside: float,
        name: str,
        weight: float,
    ) -> None:
        super().__init__(name, weight)
        self.speed = number(speed, f"{name}: speed", above=True)
        self.braking = number(braking, f"{name}: braking", above=True)
        most = 10.0 * self.braking if greatest is None else number(greatest, f"{name}: greatest", low=self.braking)
        omega = 2 * math.pi * number(return_hz, f"{name}: return_hz", high=1e3, above=True)
        within = number(inside, f"{name}: inside", high=1e6)
        self.stopping = Stopping(self.braking, most, number(approach, f"{name}: approach"), omega, within)
        self._at_once = replace(self.stopping, greatest=math.inf, approach=0.0)

    @abstractmethod
    def heights(self, robot: Dynamics, tick: Tick) -> Heights:
        """The values h in the robot's present state; their number never changes."""

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row a height."""
        h = self.heights(robot, tick)
        most = self.stopping.most(h.value, -h.rate, self.speed, tick.period)
        lower = self._least(h, most, tick.period)
        return Rows(lower, np.full(len(most), np.inf), acceleration=h.jacobian)

    def _least(self, h: Heights, most: Array, period: float) -> Array:
        """The least J v̇: −a − drift; but no more than the braking acceleration, where h can be stopped all the same.

        A drift may be large for a moment, as where an edge passes another: far from zero nobody has to follow it.

        Args:
            h: the heights.
            most: a of each.
            period: of the control, s.
        """
        lower: Array = -most - h.drift
        hasty = np.flatnonzero(lower > self.braking)
        if len(hasty):
            needed = -self._at_once.most(h.value[hasty], -h.rate[hasty], self.speed, period) - h.drift[hasty]
            lower[hasty] = np.minimum(lower[hasty], np.maximum(self.braking, needed))
        return lower

    def error(self, robot: Dynamics, tick: Tick) -> Array:
        """See `Task`: how far each h is below zero; 0 where it is not."""
        return np.maximum(-self.heights(robot, tick).value, 0.0)

    def remarks(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`: which h are negative."""
        value, names = self.heights(robot, tick).value, self.row_names(robot, tick)
        return [
            f"{names[k]} is {-value[k]:.3g} beyond its bound and is brought back" for k in np.flatnonzero(value < 0)
        ]


Height: TypeAlias = "Callable[[Dynamics, Tick], tuple[ArrayLike, ArrayLike, ArrayLike] | tuple[ArrayLike, ...]]"
"""A function of robot and tick that returns h, its Jacobian J and its drift, and also h' if it is not J v."""


class Barrier(Kept):
    """Keeps any function h(q) ≥ 0: near zero, its decrease is braked.

    Rows J v̇ ≥ −a − drift, with a the greatest acceleration from which h can still be stopped before zero, in discrete
    time, as for `JointLimits`.

    Args:
        function: of robot and tick: gives h, shape (n,), or a number; J with h' = J v, shape (n, nv) or (nv,); and the
            drift, h'' when v̇ is zero: J̇v, shape (n,), or a number. Return h' as a fourth value if it is not J v,
            because something moves that the robot does not drive.
        speed: greatest speed at which h may fall, in units of h per s.
        braking: how hard its fall is braked, in units of h per s²: what the robot can do in all its states.
        return_hz: frequency of the critically damped motion that brings a negative h back to zero, Hz.
        approach: time constant with which h approaches the speed from which it can still be stopped, s.
        greatest: greatest acceleration that is ever demanded, in units of h per s²; None: ten times `braking`.
        inside: how far above zero a negative h is brought back, in units of h.
        names: names of the values, for explanations; one, or a sequence.
        name: see `Task`.
        weight: see `Task`.
    """

    def __init__(
        self,
        function: Height,
        speed: float = 1.0,
        braking: float = 5.0,
        *,
        return_hz: float = 2.0,
        approach: float = 0.05,
        greatest: float | None = None,
        inside: float = 1e-3,
        names: str | Sequence[str] = (),
        name: str = "barrier",
        weight: float = 1.0,
    ) -> None:
        super().__init__(speed, braking, return_hz, approach, greatest, inside, name, weight)
        if not callable(function):
            raise WbcError(f"{name}: give a function of robot and tick, not {show(function)}")
        self._function = function
        self._names = [names] if isinstance(names, str) else list(names)
        self._count: int | None = None

    def heights(self, robot: Dynamics, tick: Tick) -> Heights:
        """See `Kept`."""
        found = self._function(robot, tick)
        if not isinstance(found, tuple) or len(found) not in (3, 4):
            raise WbcError(
                f"{self.name}: its function must give h, J and drift, and h' where it is not J v, not {show(found)}"
            )
        value, drift = (np.atleast_1d(self._checked(found[k], what)) for k, what in ((0, "h"), (2, "drift")))
        J = np.atleast_2d(self._checked(found[1], "J"))
        count = len(value)
        if value.ndim != 1 or J.shape != (count, robot.nv) or drift.shape != (count,):
            raise WbcError(
                f"{self.name}: for h of shape {value.shape} and {robot.nv} velocities, J must be ({count}, {robot.nv}) "
                f"and drift ({count},), not {J.shape} and {drift.shape}"
            )
        if self._count not in (None, count):
            raise WbcError(
                f"{self.name}: its function returned {count} values, and {self._count} before; the number must be the "
                "same in every state"
            )
        self._count = count
        rate = J @ robot.v if len(found) == 3 else np.atleast_1d(self._checked(found[3], "h'"))
        if rate.shape != (count,):
            raise WbcError(f"{self.name}: h' has shape {rate.shape}; it must be ({count},), as h")
        return Heights(value, J, rate, drift)

    def _checked(self, values: object, what: str) -> Array:
        found = numbers(values, f"{self.name}: {what}", copy=False)
        if not np.isfinite(found).all():
            raise WbcError(f"{self.name}: {what} = {show(values)} is not finite")
        return found

    def reset(self) -> None:
        """See `Task`."""
        self._count = None

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        count = len(self.heights(robot, tick).value)
        return [self._names[k] if k < len(self._names) else f"height {k}" for k in range(count)]
