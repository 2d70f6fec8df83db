"""The knobs of a task: its weight, and its gains as numbers that a person can read."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from wbc.control.equation_of_motion import EquationOfMotion
from wbc.tasking.feedback import Feedback, feedback
from wbc.tasking.gains import Gains
from wbc.tasking.task import Task

FREQUENCY, RATIO, FACTOR = "frequency, Hz", "damping ratio", "gains, times what they were"
"""Names of knobs: of gains that a frequency and a damping ratio make; and of all others, which are scaled."""

WEIGHT = "weight"


@dataclass(frozen=True)
class Knob:
    """A number of a task that may be turned.

    Attributes:
        name: what it is, with its unit.
        value: now, in its unit.
        high: most that a slider offers, in the same unit; the least is zero.
    """

    name: str
    value: float
    high: float


def turnable(task: Task) -> bool:
    """Whether a task can be switched and weighted: physics can't."""
    return not isinstance(task, EquationOfMotion)


def knobs(task: Task, origin: Feedback | None = None) -> list[Knob]:
    """The knobs of a task, with their present values.

    Args:
        task: of a stack.
        origin: its gains where it began; None: those of now.
    """
    if not turnable(task):
        return []
    now = feedback(task)
    found = [Knob(WEIGHT, task.weight, 10.0 * max(1.0, task.weight))]
    origin = now if origin is None else origin
    if now is None or origin is None:
        return found
    began, present = _frequency(origin), _frequency(now)
    if began is not None and present is not None:
        found.append(Knob(FREQUENCY, present[0], max(10.0, 4.0 * began[0])))
        return [*found, Knob(RATIO, present[1], max(3.0, 2.0 * began[1]))]
    return [*found, Knob(FACTOR, _size(now) / _size(origin), 5.0)] if _size(origin) else found


def turned(origin: Feedback, wanted: dict[str, float]) -> Feedback:
    """Gains, where their knobs are somewhere else.

    Args:
        origin: where they began.
        wanted: where knobs are, by name; those that are not there are where they began.
    """
    began = _frequency(origin)
    if began is not None:
        speed = origin.speed if isinstance(origin, Gains) else None
        return Gains(wanted.get(FREQUENCY, began[0]), wanted.get(RATIO, began[1]), speed=speed)
    factor = wanted.get(FACTOR, 1.0)
    if isinstance(origin, Gains):
        return Gains(kp=factor * np.asarray(origin.kp), kd=factor * np.asarray(origin.kd), speed=origin.speed)
    if isinstance(origin, tuple):
        return factor * origin[0], factor * origin[1]
    return factor * origin


def _frequency(gains: Feedback) -> tuple[float, float] | None:
    """Frequency, Hz, and damping ratio, where one of each makes the gains."""
    if not isinstance(gains, Gains) or np.ndim(gains.kp) or np.ndim(gains.kd) or not gains.kp:
        return None
    omega = math.sqrt(float(gains.kp))
    return omega / (2.0 * math.pi), float(gains.kd) / (2.0 * omega)


def _size(gains: Feedback) -> float:
    """One number that grows with them."""
    if isinstance(gains, Gains):
        return float(np.max(gains.kp)) + float(np.max(gains.kd))
    if isinstance(gains, tuple):
        return float(np.abs(gains[0]).max()) + float(np.abs(gains[1]).max())
    return float(np.max(gains))
