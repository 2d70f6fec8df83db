"""The common interface of the compiled kernel and the reference: their input and output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from wbc.arrays import Array
from wbc.solvers.answer import Sides

OPTIMAL, RELAXED, STOPPED, UNSOUND = range(4)
"""The first two: an optimum. Then: stopped by the bound on steps or time, or by a cycle that nothing broke; a number
that is not finite."""


@dataclass(slots=True, eq=False)
class Request:
    """A hierarchy whose rows are multiplied by the roots of their weights.

    Attributes:
        A: shape (M, n).
        lower: shape (M,).
        upper: shape (M,).
        norms: the sizes of the rows by which ranks are judged, shape (M,); None: their norms.
        seconds: how long it may take.
    """

    A: Array
    lower: Array
    upper: Array
    norms: Array | None
    seconds: float


@dataclass(slots=True, eq=False)
class Found:
    """The result of a solve.

    Attributes:
        status: one of the four above.
        x: shape (n,).
        value: A x, shape (M,).
        side: what each row is held at, shape (M,).
        ranks: how many directions each level fixes.
        steps: inner steps.
        pulling: the levels that have a residual, lowest priority first.
        multipliers: a line for each of these (or more lines), shape (q, M); None where there are none.
    """

    status: int
    x: Array
    value: Array
    side: Sides
    ranks: list[int]
    steps: int
    pulling: list[int]
    multipliers: Array | None


class Engine(Protocol):
    """Solves hierarchies of the same sizes, and may begin with the last active set."""

    def solve(self, request: Request) -> Found:
        """Solve levels of the sizes it was made for."""
        ...

    def forget(self) -> None:
        """Forget the last active set."""
        ...
