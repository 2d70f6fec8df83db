"""Feedback gains of a task."""

from __future__ import annotations

import math
import sys

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.errors import WbcError, number, show


class Gains:
    """Stiffness and damping of a task's error: acceleration = kp · error + kd · error rate.

    The first argument is a frequency in Hz, not kp: `Gains(3.0)` is 3 Hz, which is kp = 355 1/s² and kd = 37.7 1/s; kp
    itself is `Gains(kp=3.0)`. Given as the frequency and damping ratio of the error's motion, kp = ω², kd = 2 ζ ω with
    ω = 2π f (ETH 3.79–3.80), they mean the same whatever the control period is. Each is a number, or one an axis.

    A `speed` bounds the demand of the error: |kp · error| ≤ kd · speed. A distant target is then approached at that
    speed, because kp · error / kd is the velocity at which the damping balances the demand. Nearer than kd · speed / kp
    the law is the usual one: with critical damping there is no overshoot. Linear rows of a frame are bounded together
    by their norm, which keeps the direction, and angular rows by theirs; a joint by itself. With gains by axis, the
    norm of kp_i error_i / (kd_i speed) is at most 1. A target's own velocity is not bounded.

    Args:
        frequency_hz: of the undamped motion, Hz.
        damping_ratio: 1 is critical damping.
        kp: 1/s² (in an impedance: N/m or N m/rad).
        kd: 1/s (in an impedance: N s/m or N m s/rad); None: from `kp` and the damping ratio.
        speed: greatest speed at which the error is approached, m/s, and rad/s for rotations and joints; None: any.

    Attributes:
        kp: number or array.
        kd: number or array.
        speed: number, or None.
    """

    __slots__ = ("_in_hz", "kd", "kp", "speed")

    def __init__(
        self,
        frequency_hz: ArrayLike | None = None,
        damping_ratio: ArrayLike = 1.0,
        *,
        kp: ArrayLike | None = None,
        kd: ArrayLike | None = None,
        speed: float | None = None,
    ) -> None:
        if (frequency_hz is None) == (kp is None and kd is None):
            raise WbcError("give Gains either a frequency_hz, or kp (and kd)")
        if frequency_hz is not None:
            omega = 2.0 * math.pi * _not_negative("frequency_hz", frequency_hz)
            with np.errstate(over="ignore"):  # it is looked at below
                stiffness = omega * omega
            damping = 2.0 * _not_negative("damping_ratio", damping_ratio) * omega
        else:
            stiffness = _not_negative("kp", 0.0 if kp is None else kp)
            ratio = _not_negative("damping_ratio", damping_ratio)
            damping = 2.0 * ratio * np.sqrt(stiffness) if kd is None else _not_negative("kd", kd)
        if not (np.isfinite(stiffness).all() and np.isfinite(damping).all()):
            raise WbcError(f"frequency_hz = {show(frequency_hz)} is too high: its square is not finite")
        self._in_hz = frequency_hz is not None
        self.kp: float | Array = _plain(stiffness)
        self.kd: float | Array = _plain(damping)
        most = sys.float_info.max
        self.speed = None if speed is None else number(speed, "speed, m/s or rad/s,", high=most, above=True)
        if speed is not None and _undamped(stiffness, damping):
            raise WbcError(f"speed = {show(speed)} needs damping: kd must be above zero where kp is")

    @classmethod
    def of(cls, given: object, usual: Gains, whose: str, *, bounds_approach: bool = False) -> Gains:
        """Gains that a task was given, or its usual ones; raises where something else was given.

        Args:
            given: to the task; None: nothing.
            usual: what it takes then.
            whose: the task, for messages.
            bounds_approach: whether the task uses their speed: `Task.bounds_approach`.
        """
        if given is None:
            return usual
        if not isinstance(given, Gains):
            raise WbcError(f"{whose}: gains = {show(given)} must be wbc.Gains, such as wbc.Gains(frequency_hz=2.0)")
        if not bounds_approach:
            given.check_no_speed(whose)
        return given

    def __repr__(self) -> str:
        kp, kd = np.asarray(self.kp), np.asarray(self.kd)
        if not self._in_hz:
            speed = "" if self.speed is None else f", speed={self.speed!r}"
            return f"Gains(kp={show(kp.tolist())}, kd={show(kd.tolist())}{speed})"
        hz = np.sqrt(kp) / (2.0 * math.pi)
        told = f"kp = {_short(kp)} 1/s², kd = {_short(kd)} 1/s"
        told += "" if self.speed is None else f", speed = {self.speed:.4g} m/s or rad/s"
        return f"<Gains of {_short(hz)} Hz: {told}>"

    def check(self, size: int, whose: str) -> None:
        """Raises if a gain by axis has another number of axes than the task it is for."""
        for name, gain in (("kp", self.kp), ("kd", self.kd)):
            if np.ndim(gain) and np.shape(gain) != (size,):
                raise WbcError(f"{whose}: {name} has {np.size(gain)} values; it needs one, or {size}")

    def check_no_speed(self, whose: str) -> None:
        """Raises if there is a speed: of gains for a task that does not use it."""
        if self.speed is not None:
            raise WbcError(f"{whose}: gains have speed = {self.speed:g}, which this task can't use: leave it out")


def rate_gain(value: ArrayLike, whose: str, size: int | None = None) -> float | Array:
    """The gain of a velocity's error, k of v = k e, 1/s: a number, or a read-only array with one an axis.

    Args:
        value: that was given.
        whose: the task, for messages.
        size: how many axes there are; None: that is looked at later.
    """
    found = _plain(_not_negative(f"{whose}: gain", value))
    if size is not None and np.ndim(found) and np.shape(found) != (size,):
        raise WbcError(f"{whose}: gain has {np.size(found)} values; it needs one, or {size}")
    return found


def _not_negative(name: str, value: ArrayLike) -> Array:
    array = numbers(value, name)
    if array.ndim > 1 or not array.size or not np.isfinite(array).all() or (array < 0).any():
        raise WbcError(f"{name} = {show(value)} must be zero or more, a number or one an axis")
    return array


def _undamped(kp: Array, kd: Array) -> bool:
    """Whether some axis has stiffness without damping; `Gains.check` finds arrays of different sizes."""
    if np.ndim(kp) and np.ndim(kd) and np.shape(kp) != np.shape(kd):
        return False
    return bool(((kp > 0) & (kd == 0)).any())


def _short(values: Array) -> str:
    """Numbers for a person: four digits."""
    listed = [f"{value:.4g}" for value in np.atleast_1d(values)]
    return listed[0] if np.ndim(values) == 0 else show(listed).replace("'", "")


def _plain(value: Array) -> float | Array:
    if np.ndim(value) == 0:
        return float(value)
    value.flags.writeable = False
    return value
