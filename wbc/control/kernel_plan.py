"""A plan of the kernel: the rows of a tick laid out once, with what is told to it and read from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.control.program import Part
from wbc.solvers.base import CompiledPlan
from wbc.tasking.task import Task


class KernelPlan:
    """A plan of the kernel for parts of some shapes, and the pulls of its levels.

    Args:
        plan: of the kernel.
        planned: how the kernel does the solver's work.
        yielding: the levels that yield.
        postures: the tasks of the last of them.
        rows: the parts' names, and how many rows each has.

    Attributes:
        plan: of the kernel.
        elastic: tells how levels that yield pull; None: none does.
        postures: the tasks by whose level pulls are measured.
    """

    def __init__(
        self,
        plan: Any,  # noqa: ANN401
        planned: CompiledPlan,
        yielding: slice,
        postures: Sequence[Task],
        rows: list[tuple[str, int]],
    ) -> None:
        self.plan, self._pull = plan, math.nan
        self.elastic, self.postures = planned.elastic, postures
        self._rows, self._first = rows, yielding.start
        self._factors = planned.factors if any(factor != 1.0 for factor in planned.factors) else ()
        self._loads = np.zeros(yielding.stop - yielding.start)
        self._missed = np.zeros(sum(count for _, count in rows) if len(self._loads) else 0)

    def weighted(self, parts: Sequence[Part]) -> Sequence[Part]:
        """The parts with the factors of their levels' weights."""
        if not self._factors:
            return parts
        return tuple([part._replace(weight=part.weight * self._factors[part.entry.rank]) for part in parts])

    def bound(self, pull: float) -> None:
        """Bounds the pulls of its levels.

        Args:
            pull: bound on the pull of the level above the posture, m/s².
        """
        if pull != self._pull and self.elastic is not None:
            self.plan.elastic(*self.elastic.pulling(len(self._loads), pull))
            self._pull = pull

    def loads(self) -> Sequence[float]:
        """How hard each level pulls, as a fraction of its bound; empty if none yields."""
        if self.elastic is None:
            return ()
        self.plan.pulls(self._missed, self._loads)
        return (*[0.0] * self._first, *self._loads.tolist())

    def pulls(self) -> dict[str, Array]:
        """What each task missed, by name; empty if none yields."""
        if not self.loads():
            return {}
        ends = np.cumsum([0, *(count for _, count in self._rows)]).tolist()
        return {name: self._missed[a:b].copy() for (name, _), a, b in zip(self._rows, ends, ends[1:], strict=False)}

    def adopt(self, pulls: dict[str, Array]) -> None:
        """Continues with what tasks that have as many rows missed."""
        if self.elastic is None:
            return
        found = [np.zeros(0)]
        for name, count in self._rows:
            known = pulls.get(name)
            found.append(known if known is not None and len(known) == count else np.zeros(count))
        self.plan.adopt(np.concatenate(found))
