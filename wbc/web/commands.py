"""Requests of a person to a run. They are plain data; the run carries them out between two ticks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from wbc.errors import WbcError, number, show


@dataclass(frozen=True)
class Go:
    """Pause, go on, go one tick and pause, begin anew, or end.

    Attributes:
        where: one of these.
    """

    where: Literal["pause", "on", "step", "reset", "end"]


@dataclass(frozen=True)
class Pace:
    """The speed of the simulation.

    Attributes:
        speed: simulated seconds in one of the clock's; 0.1 is slow motion.
    """

    speed: float

    def __post_init__(self) -> None:
        number(self.speed, "the speed", high=1e3, above=True)


@dataclass(frozen=True)
class Shove:
    """A push, from the next tick on.

    Attributes:
        frame: that is pushed.
        force: N, world axes, three numbers.
        duration: s of simulated time.
    """

    frame: str
    force: tuple[float, ...]
    duration: float = 0.2


@dataclass(frozen=True)
class Switch:
    """Puts a task into force, or takes it out.

    Attributes:
        task: its name in the stack.
        on: whether it is to be in force.
    """

    task: str
    on: bool


@dataclass(frozen=True)
class Turn:
    """Turns a knob of a task: see `wbc.web.knobs`.

    Attributes:
        task: its name in the stack.
        knob: its name.
        value: where it is to be, in its unit.
    """

    task: str
    knob: str
    value: float


@dataclass(frozen=True, eq=False)
class Aim:
    """Gives a task another target.

    Attributes:
        task: its name in the stack.
        target: a pose, shape (4, 4), or a position, shape (3,), world axes.
    """

    task: str
    target: np.ndarray[tuple[int, ...], np.dtype[np.float64]]

    def __post_init__(self) -> None:
        target = np.array(self.target, dtype=float)
        if target.shape not in ((4, 4), (3,)) or not np.isfinite(target).all():
            raise WbcError(f"the target of {self.task!r} must be a pose or a position, not {show(self.target)}")


Command: TypeAlias = Go | Pace | Shove | Switch | Turn | Aim
