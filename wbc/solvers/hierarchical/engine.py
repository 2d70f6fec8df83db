"""The common interface of the compiled kernel and the reference: their input and output."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from wbc.arrays import Array
from wbc.solvers.answer import Sides
from wbc.solvers.level import Motion

OPTIMAL, RELAXED, STOPPED, UNSOUND = range(4)
"""The first two: an optimum. Then: stopped by the bound on steps or time, or by a cycle that nothing broke; a number
that is not finite."""

LONG = 30
"""A search that was given up after so many steps went round in circles. After fewer it found a point that is not as
accurate as it should be, next to a singularity: strict levels would make it no better.
"""

Yielding: TypeAlias = "list[tuple[int, int, float]]"
"""The directions that levels are about to lose, and ask less of: level, row that has most of it, how much is left."""


@dataclass(slots=True, eq=False)
class Request:
    """A hierarchy whose rows are multiplied by the roots of their weights.

    Attributes:
        A: shape (M, n).
        lower: shape (M,).
        upper: shape (M,).
        norms: the sizes of the rows by which ranks are judged, shape (M,); None: their norms.
        seconds: how long it may take.
        soften: the share of their size below which directions yield.
        yields_from: the first level in which they do; None: all are held exactly.
        scales: the sizes by which that share is measured, shape (M,); None: the root mean square of a level's `norms`.
        loads: see `Hierarchy`, shape (q, n); None: there are none.
        motion: the same, with rates of these rows; None: at rest.
    """

    A: Array
    lower: Array
    upper: Array
    norms: Array | None
    seconds: float
    soften: float = 0.0
    yields_from: int | None = None
    scales: Array | None = None
    loads: Array | None = None
    motion: Motion | None = None


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
        multipliers: a line for each of these (or more lines), shape (q, M); None where there are none. Where directions
            yield they are of rows without them.
        yielding: these directions.
    """

    status: int
    x: Array
    value: Array
    side: Sides
    ranks: list[int]
    steps: int
    pulling: list[int]
    multipliers: Array | None
    yielding: Yielding = field(default_factory=list)


class Engine(Protocol):
    """Solves hierarchies of the same sizes, and may begin with the last active set."""

    def solve(self, request: Request) -> Found:
        """Solve levels of the sizes it was made for."""
        ...

    def forget(self) -> None:
        """Forget the last active set."""
        ...
