"""The gains of a task, in whatever form it has them, so that they can be faded from one value to another."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError, show
from wbc.tasking.gains import Gains, rate_gain
from wbc.tasking.task import Task

Feedback: TypeAlias = "Gains | float | Array | tuple[Array, Array]"
"""Gains; a rate gain, 1/s; or the stiffness and the damping matrix of an impedance."""


def feedback(task: Task) -> Feedback | None:
    """The present gains of a task; None if it has none.

    Args:
        task: any.
    """
    if isinstance(gains := getattr(task, "gains", None), Gains):
        return gains
    if hasattr(task, "stiffness") and hasattr(task, "damping"):
        return np.asarray(task.stiffness), np.asarray(task.damping)
    gain = getattr(task, "gain", None)
    return gain if isinstance(gain, float | np.ndarray) else None


def set_feedback(task: Task, value: Feedback) -> None:
    """Gives a task its gains.

    Args:
        task: that has some of that kind.
        value: of the kind that `feedback` gives.
    """
    if isinstance(value, Gains):
        task.gains = value  # type: ignore[attr-defined]  # it has some: `fitting` looked
    elif isinstance(value, tuple):
        task.stiffness, task.damping = value  # type: ignore[attr-defined]
    else:
        task.gain = value  # type: ignore[attr-defined]


def fitting(task: Task, name: str, wanted: object) -> Feedback:
    """Gains in the form that a task has them; raises if they are for another number of axes, or of the wrong kind.

    Args:
        task: that is to have them.
        name: of the task in its stack.
        wanted: `wbc.Gains`, or for a task with a rate gain a number, 1/s, or one an axis. An impedance takes kp as its
            stiffness and kd as its damping.
    """
    now = feedback(task)
    if now is None:
        raise WbcError(f"{name!r} has no gains; what can be changed of it is its weight")
    if isinstance(now, float | np.ndarray):
        value = rate_gain(wanted, name)  # type: ignore[arg-type]  # it looks at it
        _check_size(name, "gain", value, np.shape(now) or _axes(task))
        return value
    if not isinstance(wanted, Gains):
        raise WbcError(f"{name}: gains = {show(wanted)} must be wbc.Gains, such as wbc.Gains(frequency_hz=2.0)")
    if not task.bounds_approach:
        wanted.check_no_speed(name)
    if isinstance(now, tuple):
        size = len(now[0])
        for what, part in (("kp", wanted.kp), ("kd", wanted.kd)):
            _check_size(name, what, part, (size,))
        stiffness, damping = (np.diag(np.broadcast_to(part, (size,))) for part in (wanted.kp, wanted.kd))
        return stiffness, damping
    for what, part, present in (("kp", wanted.kp, now.kp), ("kd", wanted.kd, now.kd)):
        _check_size(name, what, part, np.shape(present) or _axes(task))
    return wanted


def _axes(task: Task) -> tuple[int, ...]:
    """As many as the task controls, where it can be told without a robot."""
    if task.holds_contacts:
        return ()  # one number for all kinds of contacts
    axes = getattr(task, "axes", None) or getattr(task, "joints", None)
    return (len(axes),) if axes else ()


def _check_size(name: str, what: str, value: float | Array, size: tuple[int, ...]) -> None:
    if np.ndim(value) and np.shape(value) != size:
        raise WbcError(f"{name}: {what} has {np.size(value)} values; it needs one{f', or {size[0]}' if size else ''}")


def between(start: Feedback, end: Feedback, share: float) -> Feedback:
    """Gains on the way from some to others of the same kind: kp, kd and 1 / speed each go straight.

    A speed of None is an infinite one, 1 / speed = 0: where a fade begins or ends with it, the demand has no step.

    Args:
        start: where they come from.
        end: where they go to.
        share: of the way, 0 to 1.
    """
    if share == 1.0:
        return end
    if isinstance(start, Gains) and isinstance(end, Gains):
        slowness = _mixed(_slowness(start), _slowness(end), share)
        speed = 1.0 / float(slowness) if slowness else None
        return Gains(kp=_mixed(start.kp, end.kp, share), kd=_mixed(start.kd, end.kd, share), speed=speed)
    if isinstance(start, tuple) and isinstance(end, tuple):
        return np.asarray(_mixed(start[0], end[0], share)), np.asarray(_mixed(start[1], end[1], share))
    return _mixed(start, end, share)  # type: ignore[arg-type]  # numbers, or arrays


def same(one: Feedback, other: Feedback) -> bool:
    """Whether two of the same kind are equal.

    Args:
        one: gains.
        other: gains.
    """
    if isinstance(one, Gains) and isinstance(other, Gains):
        return np.array_equal(one.kp, other.kp) and np.array_equal(one.kd, other.kd) and one.speed == other.speed
    if isinstance(one, tuple) and isinstance(other, tuple):
        return np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])
    return np.array_equal(one, other)  # type: ignore[arg-type]


def _slowness(gains: Gains) -> float:
    """1 / speed, s/m or s/rad."""
    return 0.0 if gains.speed is None else 1.0 / gains.speed


def _mixed(start: float | Array, end: float | Array, share: float) -> float | Array:
    return start + share * (end - start)
