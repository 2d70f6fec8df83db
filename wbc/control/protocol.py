"""The protocols of controllers that `wbc.run` can run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from wbc.arrays import Array, ArrayLike
from wbc.control.solution import Solution
from wbc.control.stack import Stack
from wbc.dynamics.base import Dynamics


@runtime_checkable
class TorqueController(Protocol):
    """A controller of torques, such as `wbc.Controller` or one of `wbc.classical`.

    Attributes:
        robot: its own copy, in the state of the last tick.
        stack: its contacts, and the tasks that its solutions report.
        period: between ticks, s; `wbc.run` sets it for the length of a run.
    """

    robot: Dynamics
    stack: Stack
    period: float

    def step(
        self,
        q: ArrayLike,
        v: ArrayLike,
        t: float | None = None,
        *,
        measured: Mapping[str, ArrayLike] | None = None,
    ) -> Solution:
        """One tick: computes torques for a state, and everything known about them.

        `measured` are contact forces: see `wbc.Controller.step`. A controller without a use for them may leave it out.
        """
        ...

    def errors(self) -> dict[str, Array]:
        """The error of each task with a target in the state of the last tick, by name."""
        ...

    def reset(self) -> None:
        """Forgets the past."""
        ...


@runtime_checkable
class Clocked(Protocol):
    """A controller that checks that time increases, such as those of this library."""

    def expect_new_clock(self) -> None:
        """The time of the next tick may be before that of the last one."""
        ...


@runtime_checkable
class Bounded(Protocol):
    """A controller whose ticks may be bounded in time, such as `wbc.Controller`.

    Attributes:
        deadline: s that a tick may take; None: no bound, but in `wbc.run` the period.
    """

    deadline: float | None
