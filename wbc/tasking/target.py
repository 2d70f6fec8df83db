"""The target of a task: a constant, or a function of time, with velocity and acceleration."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from wbc.arrays import FLOAT, Array, ArrayLike, finite, numbers
from wbc.errors import WbcError, show
from wbc.tasking.task import Task

Moving: TypeAlias = "Callable[[float], ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike]]"
"""A target as a function of time: its value, or its value, velocity and acceleration."""


class Target:
    """A value to reach, its velocity and acceleration; what is handed over is copied.

    Args:
        value: constant; or a function of time that gives a value, or a value, a velocity and an acceleration; None:
            what the task measures at its first tick.
        shapes: that a value may have; None: not known yet, `fit` tells.
        rates: entries of velocity and acceleration.
        velocity: beside a constant value, shape (rates,).
        acceleration: beside a constant value, shape (rates,).
        whose: the task, for messages.
        turns: says whether the rotation in a value is one; None: there is none.
    """

    def __init__(
        self,
        value: ArrayLike | Moving | None,
        shapes: tuple[tuple[int, ...], ...] | None,
        rates: int = 0,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        whose: str = "target",
        turns: Callable[[Array], bool] | None = None,
    ) -> None:
        self._shapes, self._whose, self._turns = shapes, whose, turns
        self._function: Moving | None = None
        self._value: Array | None = None
        self._held: Array | None = None
        self._rates: tuple[tuple[int, ...], ...] | None = None
        self._velocity = None if velocity is None else self._checked(velocity, None, "velocity")
        self._acceleration = None if acceleration is None else self._checked(acceleration, None, "acceleration")
        self.value = value
        if shapes is not None:
            self.fit(shapes, rates)

    def fit(self, shapes: tuple[tuple[int, ...], ...], rates: int) -> None:
        """Says which shapes are right, and raises if what was given has another."""
        self._shapes, self._rates, self._zero = shapes, ((rates,),), np.zeros(rates)
        if self._value is not None:
            self._checked(self._value, shapes, "target")
        if self._held is not None and self._held.shape not in shapes:
            self._held = None  # it was measured on another robot
        for what, given in (("velocity", self._velocity), ("acceleration", self._acceleration)):
            if given is not None:
                self._checked(given, self._rates, what)

    def _checked(
        self, value: object, shapes: tuple[tuple[int, ...], ...] | None, what: str, time: float | None = None
    ) -> Array:
        """A read-only copy; the message of an error names what it is of whose target, and when."""
        array = numbers(value, self._named(what, time))
        if not finite(array) or (shapes is not None and array.shape not in shapes):
            wanted = "" if shapes is None else f" of shape {' or '.join(map(str, shapes))}"
            raise WbcError(f"{self._named(what, time)} must be finite numbers{wanted}, not {show(value)}")
        if self._turns is not None and array.ndim == 2 and not self._turns(array):
            name = self._named("the rotation in " + what, time)
            raise WbcError(f"{name} is not a rotation matrix, to 1e-6")
        array.setflags(write=False)  # in half the time of the flag by its name
        return array

    def _named(self, what: str, time: float | None) -> str:
        return f"{self._whose}: {what}" + ("" if time is None else f" at t = {time:g}")

    def _whole(self, rate: ArrayLike, value: Array) -> ArrayLike:
        """The rate of a position that stands for a frame, as that of the frame: it does not turn."""
        if value.shape == (3,) and len(self._zero) == 6 and np.shape(rate) == (3,):
            return np.concatenate([np.asarray(rate), self._zero[3:]])
        return rate

    def _sound(self, found: object) -> tuple[Array, Array, Array] | None:
        """Copies of what a function gave, where these are three arrays as they should be, as they are most often; None:
        to be looked at more closely.
        """
        if type(found) is not tuple or len(found) != 3 or self._rates is None or self._shapes is None:
            return None
        value, velocity, acceleration = found
        if not (_is_sound(value, self._shapes) and _is_sound(velocity, self._rates)):
            return None
        if not _is_sound(acceleration, self._rates) or (value.ndim == 2 and self._turns and not self._turns(value)):
            return None
        return value.copy(), velocity.copy(), acceleration.copy()

    @property
    def value(self) -> Array | Moving | None:
        """The target as given: a read-only copy of the given shape, a function, or None to hold the measured value; may
        be set at any
        time.
        """
        return self._value if self._function is None else self._function

    @value.setter
    def value(self, value: ArrayLike | Moving | None) -> None:
        constant = None if value is None or callable(value) else self._checked(value, self._shapes, "target")
        self._function, self._value, self._held = value if callable(value) else None, constant, None

    def release(self) -> None:
        """Without a given value: holds the next measured value, not the one held so far."""
        self._held = None

    def at(self, time: float, measured: Array) -> tuple[Array, Array, Array]:
        """Value, velocity and acceleration at a time.

        Args:
            time: s.
            measured: what the task measures now: held from the first call on where no value was given.
        """
        velocity = self._zero if self._velocity is None else self._velocity
        acceleration = self._zero if self._acceleration is None else self._acceleration
        if self._function is not None:
            found = self._function(time)
            sound = self._sound(found)
            if sound is not None:
                return sound
            # three numbers are a value of three entries, three arrays are a value and its derivatives
            if not isinstance(found, tuple) or all(np.ndim(part) == 0 for part in found):
                return self._checked(found, self._shapes, "target", time), velocity, acceleration
            if len(found) != 3:
                raise WbcError(f"{self._whose}: a moving target gives a value, or value, velocity and acceleration")
            value = self._checked(found[0], self._shapes, "target", time)
            return (
                value,
                self._checked(self._whole(found[1], value), self._rates, "velocity", time),
                self._checked(self._whole(found[2], value), self._rates, "acceleration", time),
            )
        if self._value is not None:
            return self._value, velocity, acceleration
        if self._held is None:
            self._held = np.array(measured)
        return self._held, velocity, acceleration


def _is_sound(given: object, shapes: tuple[tuple[int, ...], ...]) -> bool:
    """Whether it is an array of finite numbers, of one of some shapes."""
    return type(given) is np.ndarray and given.dtype is FLOAT and given.shape in shapes and finite(given)


class Targeted:
    """An object with a target that its user may set."""

    _target: Target

    @property
    def target(self) -> Array | Moving | None:
        """The target: a read-only copy of the given value and shape, in the task's units, a function of
        time, or None; may be set at any time.
        """
        return self._target.value

    @target.setter
    def target(self, target: ArrayLike | Moving | None) -> None:
        self._target.value = target


class Aimed(Targeted, Task):
    """A task with a target."""

    def reset(self) -> None:
        """See `Task`: without a target, it holds the next measured value from now on."""
        self._target.release()

    @property
    def _aim(self) -> str:
        """The kind of target, in words."""
        return "held" if self._target.value is None else "follows a path" if callable(self.target) else "to its target"
