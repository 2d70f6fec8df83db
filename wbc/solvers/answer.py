"""The answer of a solver: x, and the result of every level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from wbc.arrays import Array, SideArray
from wbc.solvers.level import Hierarchy

AnswerStatus: TypeAlias = Literal["optimal", "relaxed", "violated", "iteration-limit", "failed"]
"""How a solve ended.

- ``optimal``: lexicographically optimal, and every inequality of every level holds.
- ``relaxed``: lexicographically optimal; some inequality could not hold and was met as well as possible.
- ``violated``: the solver ignores inequalities, and x violates some; `LevelAnswer.violated` says which.
- ``iteration-limit``: the bound on iterations or time was reached; x is the best point so far, level 0 kept.
- ``failed``: a QP solver gave no answer at some level; x is the answer of the levels above it.
"""


Sides: TypeAlias = SideArray
"""The bound at which a row is held: -1 `lower`, +1 `upper`, 0 not held."""

Pulls: TypeAlias = "tuple[list[int], Array]"
"""Levels that have a residual, and the multipliers of all rows for each of them, shape (q, M), for rows multiplied by
the roots of their weights."""


@dataclass(frozen=True, eq=False)
class LevelAnswer:
    """The result of one level.

    Attributes:
        residual: ``A x`` minus the nearest point of [lower, upper], by row: positive above `upper`, negative below
            `lower`, 0 in between; for an equality ``A x - b``. Shape (m,).
        cost: sqrt(sum of weight * residual²).
        rank: how many directions of x the level's held rows (equalities and active inequalities) fixed.
        active: the inequality rows that hold x back, row of the level → -1 (at `lower`) or +1 (at `upper`).
        violated: the rows whose residual is beyond the solver's tolerance.
    """

    residual: Array
    cost: float
    rank: int
    active: Mapping[int, int]
    violated: tuple[int, ...]


@dataclass(slots=True, eq=False)
class Answer:
    """The answer to a hierarchy.

    Attributes:
        x: the solution, shape (n,).
        status: how the solve ended, see `AnswerStatus`.
        iterations: inner steps (`hierarchical-qp`), QP calls (`sequential-qp`, `weighted-qp`) or levels (`nullspace`).
        time: wall time of the solve [s].
        residual: residual of all rows, level after level, shape (M,); see `LevelAnswer.residual`.
        reason: why it failed, where an error was the cause.
        side: what each row is held at, -1 `lower`, +1 `upper`, 0 not held, shape (M,); None where the solver holds
            none.
        pulls: how hard each level pulls, as a fraction of its bound: above 1 the level yields; shape (levels,). None:
            the solver bounds none. See `ElasticQP`.
    """

    x: Array
    status: AnswerStatus
    iterations: int
    time: float
    residual: Array
    reason: Exception | None = None
    side: Sides | None = None
    pulls: Array | None = None
    _starts: Sequence[int] = ()
    _ranks: Sequence[int] = ()
    _weights: Array | None = None
    _allowed: Array | None = None
    _pulls: Pulls | None = None

    @property
    def multipliers(self) -> dict[int, Array]:
        """The multipliers: level k → λ of all rows, shape (M,). They tell which row holds back which level. Empty if a
        solver has none.

        ``A_kᵀ W_k r_k + Σ_j A_jᵀ λ_j = 0`` over the levels j above k: λ is how much each held row is to blame for the
        residual r_k of level k, positive where it pushes down from `upper`, negative where up from `lower`. k's own
        rows have their weighted residual ``W_k r_k``, to more digits than `residual` has where rows differ much in
        size. Levels without a residual are left out, and so are all where no inequality is active. Key p, one past the
        last level, is the implicit one, min ½ |x|².
        """
        if self._pulls is None:
            return {}
        levels, lines = self._pulls
        root = 1.0 if self._weights is None else np.sqrt(self._weights)
        return {k: line * root for k, line in zip(levels, lines, strict=False)}

    @property
    def levels(self) -> tuple[LevelAnswer, ...]:
        """The result of each level, highest priority first."""
        found = []
        beyond = np.abs(self.residual) > (0.0 if self._allowed is None else self._allowed)
        for index, (start, stop) in enumerate(zip(self._starts, self._starts[1:], strict=False)):
            residual = self.residual[start:stop].copy()
            weighted = residual if self._weights is None else residual * np.sqrt(self._weights[start:stop])
            active: dict[int, int] = {}
            if self.side is not None:
                held = self.side[start:stop]
                active = {int(row): int(held[row]) for row in np.flatnonzero(held)}
            violated = tuple(int(row) for row in np.flatnonzero(beyond[start:stop]))
            found.append(
                LevelAnswer(residual, float(np.linalg.norm(weighted)), int(self._ranks[index]), active, violated)
            )
        return tuple(found)


def grade(
    hierarchy: Hierarchy,
    x: Array,
    *,
    iterations: int,
    time: float,
    ranks: Sequence[int],
    side: Sides | None = None,
    pulls: Pulls | None = None,
    status: AnswerStatus | None = None,
    tolerance: float = 1e-9,
    ignores_inequalities: bool = False,
    value: Array | None = None,
    size: Array | None = None,
    candidates: Sequence[int] | None = None,
    reason: Exception | None = None,
    slack: Array | None = None,
    loads: Array | None = None,
) -> Answer:
    """Make the answer of an x: residuals, costs and status from the rows themselves, whatever the solver believes.

    Args:
        hierarchy: the levels.
        x: the solution.
        iterations: as in `Answer`.
        time: as in `Answer`.
        ranks: rank of each level.
        side: what each row is held at, -1 `lower`, +1 `upper`, 0 not held; None for zeros.
        pulls: what `Answer.multipliers` reads.
        status: None to judge it from the residuals.
        tolerance: what counts as a violated row, relative to the size of the row's terms.
        value: A x, where the solver has it already.
        size: the size of the terms of A x by row, where the solver has it already.
        candidates: the inequality rows that can be violated, where the solver knows; None for all.
        reason: as in `Answer`.
        slack: by how much more each row may be violated, shape (M,); None: by nothing.
        loads: `Answer.pulls`.
        ignores_inequalities: a violated inequality is then reported as ``violated``, not as ``relaxed``.
    """
    if value is None:
        value = hierarchy.A.dot(x)
    residual = np.maximum(value, hierarchy.lower)
    np.minimum(residual, hierarchy.upper, out=residual)
    np.subtract(value, residual, out=residual)
    if size is None:
        size = np.abs(hierarchy.A).dot(np.abs(x)) + 1.0
    allowed = tolerance * size if slack is None else tolerance * size + slack
    if status is None:
        if candidates is None:
            beyond = np.abs(residual) > allowed
            beyond &= hierarchy.lower != hierarchy.upper
            violated = bool(beyond.any())
        else:
            violated = bool(candidates) and any(abs(residual[row]) > allowed[row] for row in candidates)
        status = "optimal" if not violated else "violated" if ignores_inequalities else "relaxed"
    weights = None if hierarchy.weights is None else hierarchy.weights.copy()
    starts = hierarchy.starts.copy()
    return Answer(x, status, iterations, time, residual, reason, side, loads, starts, ranks, weights, allowed, pulls)
