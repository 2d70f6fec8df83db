"""The multipliers of a working set: which rows hold which levels back, and which ones may leave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wbc.arrays import Array, MaskArray
from wbc.solvers.hierarchical.working_set import WorkingSet

NEGLIGIBLE = 3e-13
"""A residual below this share of its terms is rounding."""

SIGNIFICANT = 1e-10
"""A multiplier of the wrong sign counts beyond this share of |A_k| |residual|."""

SETTLED = 1e-9
"""One of the right sign settles its row beyond this share."""

ACCURACY = 1e-10
"""What a solved equation may be off, as a share of its terms, for an answer to be optimal."""

EXACT = 1e-8
"""The same for a level, as a share of what it misses."""


@dataclass(slots=True, eq=False)
class Multipliers:
    """The multipliers of all rows, for every level that pulls.

    Attributes:
        levels: these levels, lowest priority first; one past the last is the implicit one, min ½ |x|².
        lines: λ of all rows, one line for each of these, shape (q, M).
        sizes: Σ |residual| |row| of each of these, the scale of multipliers, shape (q,).
        missed: the largest residual of each, shape (q,).
    """

    levels: list[int]
    lines: Array
    sizes: Array
    missed: Array

    def shares(self, working: WorkingSet) -> Array:
        """The multipliers of held rows as shares of the pull, positive where a row is held for a reason.

        The multiplier of a row of the level itself is its residual. Where rows differ much in size a small row can
        hardly pull, and yet be most of what the level misses: its share of that counts as well.
        """
        turned = self.lines * working.side
        own = working.level_of == np.array(self.levels)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):  # NaN is not a share
            found = turned * working.rows.norms / self.sizes[:, None]
            missed = turned / self.missed[:, None]
        return np.where(own & (np.abs(missed) > np.abs(found)), missed, found)


def residual_of(working: WorkingSet, level: int) -> Array | None:
    """The residual A x - b of a level's rows in the set; None where it is rounding and nothing more."""
    at, factor = working.members(level), working.factors[level]
    if not len(at) or (factor is not None and factor.exact):
        return None
    if factor is None or not factor.rank:
        left, rows = working.value[at] - working.target[at], at
    else:
        left, rows = -working.left[level], at[factor.rows_left]
    left = left * (np.abs(left) > NEGLIGIBLE * (np.abs(working.target[rows]) + working.size[rows]))
    if not left.any():
        return None
    return left if factor is None or not factor.rank else factor.residual(left)


def find_multipliers(working: WorkingSet) -> Multipliers:
    """Find the multipliers of the rows in the set, for every level that has a residual.

    From the lowest level up: level k's residual pulls with ``g = -A_kᵀ r_k``; what level j above it takes of the pull
    is ``λ = C_j (C_jᵀ C_j)⁻¹ Y_jᵀ g``, and ``g - A_jᵀ λ`` is left for the levels above. A level's own multiplier is its
    residual. Without a held inequality nobody asks, and nothing is found.
    """
    rows, p = working.rows, len(working.held)
    levels: list[int] = []
    pulls: list[Array] = []
    lines: list[Array] = []
    sizes: list[float] = []
    missed: list[float] = []
    if not any(working.held):
        return Multipliers([], np.zeros((0, len(rows.A))), np.zeros(0), np.zeros(0))
    if working.length > NEGLIGIBLE * (1.0 + working.length):
        levels, pulls, lines = [p], [-working.x], [np.zeros(len(rows.A))]
        sizes, missed = [working.length], [np.inf]
    for level in range(p - 1, -1, -1):
        at = working.members(level)
        if not len(at):
            continue
        A, factor = rows.A[at], working.factors[level]
        if factor is not None and factor.rank and pulls:
            found = factor.multipliers(np.array(pulls).dot(factor.Y))
            for line, part in zip(lines, found, strict=True):
                line[at] = part
            if level:
                pulls = list(np.array(pulls) - found.dot(A))
        own = residual_of(working, level)
        if own is not None:
            levels.append(level)
            pulls.append(-own.dot(A))
            lines.append(np.zeros(len(rows.A)))
            lines[-1][at] = own
            sizes.append(float(np.abs(own).dot(rows.norms[at])))
            missed.append(float(np.abs(own).max()))
    if not levels:
        return Multipliers([], np.zeros((0, len(rows.A))), np.zeros(0), np.zeros(0))
    return Multipliers(levels, np.array(lines), np.array(sizes), np.array(missed))


def leaving_rows(
    working: WorkingSet,
    found: Multipliers,
    stuck: MaskArray,
    careful: bool,
    settled: float = SETTLED,
    significant: float = SIGNIFICANT,
) -> list[int]:
    """The rows that leave the set; none: its solution is optimal.

    Walks the levels that pull, highest first: a row that an earlier one holds for a reason is settled; of the others
    those that this one would push off leave. Ordinarily all rows of the level itself leave at once, or the one that is
    pushed most; a careful search takes the first row alone, so that no cycle can close (Bland's rule).

    Args:
        working: the set.
        found: its multipliers.
        stuck: rows that are held for a reason, as leaving in vain has shown.
        careful: as above.
        settled: the share from which on a row is settled.
        significant: the share from which on one is pushed off.
    """
    if not found.levels:
        return []
    done = stuck.copy()
    for level, share in zip(reversed(found.levels), found.shares(working)[::-1], strict=True):
        pushed = np.flatnonzero((share < -significant) & ~done & (working.level_of <= level) & (working.side != 0))
        if len(pushed):
            own = pushed[working.level_of[pushed] == level]
            if len(own) and not careful:
                return own.tolist()  # type: ignore[no-any-return]
            return [int(pushed[0] if careful else pushed[share[pushed].argmin()])]
        done |= (share > settled) & (working.level_of <= level)
    return []


def is_accurate(working: WorkingSet) -> bool:
    """Whether the equations are solved as well as numbers allow, row by row and by what each level misses.

    Where rows are nearly parallel, and differ much in size as well, rounding can grow beyond what an answer may be
    called
    exact with: what was solved for is then not what comes out.
    """
    for level, factor in enumerate(working.factors):
        at = working.members(level)
        if factor is None or not factor.rank:
            continue
        residual = residual_of(working, level)
        missed = np.zeros(len(at)) if residual is None else residual
        error = working.value[at] - working.target[at] - missed
        if not (np.abs(error) <= ACCURACY * (np.abs(working.target[at]) + working.size[at])).all():
            return False
        if factor.exact:
            continue
        if not np.linalg.norm(error) <= EXACT * (1.0 + np.linalg.norm(missed)):
            return False
    return True
