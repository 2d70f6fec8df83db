"""Directions that a level is about to lose: it asks less of them, continuously.

Near a singularity the rows of a level have a tiny singular value in what the levels above leave free: held exactly,
they take huge accelerations from all that is below; dropped, they jump. Here such a direction leaves the level's rows
and becomes a row of its own, soft for every level below: level j then finds least

    |A_j x - b_j|² + n_j² |(g x - c) / λ|²,

with g, c the direction's part of its level, relative to the size of the task's rows, n_j the size of level j's rows,
and λ = max(_MOST, e) l (1 - a (1 - l)), with l = 1 - (σ / e)² for a singular value σ below e, and a as below. So it is
held as ever where σ reaches e, yields to what is below as σ falls, and is free where it is lost; and the last, implicit
level makes damped least squares of it. Only the rows A_j x are passed down as fixed: what is soft stays free.

e is `share`; or, up to _FURTHER times that, the singular value at which what is asked of the direction would take
_BEYOND times all that can be given (`loads`). What can't be had is thus given up over a way that is as long as the
demand is large: within `share` alone an arm that is told to reach too far would swing about its straight pose for ever.

Nor is there much time to lose a direction that is run along: near a singularity joints become fast without end. So e
is also, up to the same, as far as the fastest joint gets along the direction within _AHEAD, if what is asked for makes
it faster still; what brakes is held. The more is asked, the more of that counts, but little more soon: a task whose
direction yields asks for more in each tick, and would lose it at once. A velocity counts that the level's rows have as
well: legs that swing run along directions of a base that rests. What is lost so fast must yield slowly at first, or
torques would jump: a = 1 - e' / e, with the e' that it would have at rest.

Directions are found once a solve and from the equations alone. The kernel does the same (`kernel/solver/soften.c`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_solve, lapack

from wbc.arrays import Array, IntArray
from wbc.singular_values import svd
from wbc.solvers.elimination import Factor, eliminate
from wbc.solvers.hierarchical.engine import Yielding
from wbc.solvers.hierarchical.rows import LevelRows
from wbc.solvers.level import Motion

_MOST = 0.03
"""λ where a direction is lost."""

_REFUGE = 1e-13
"""Weight of the way that a soft row goes in directions that a level does not care for: next to none."""

_ROUNDED = 1e-13
"""Of a refuge: so much more, and N is positive definite by rounding too."""

_FURTHER = 10.0
"""How much further a direction may be from lost that is softened as too much is asked of it."""

_BEYOND = 4.0
"""So much of what can be given is too much."""

_AHEAD, _GROWS = 0.05, 0.2
"""So far ahead it is looked how far a direction is run along, s; half of that counts where what is asked doubles the
velocity in the second time. With 0.03 s ahead slow bases keep more of what they ask, but arms that stretch swing
longer. With less than 0.2 s torques fall faster: what is asked grows as a direction yields."""

_AT_MOST, _OF_A_LEVEL = 12, 8
"""So many directions are softened, the first ones; and of one level, the weakest ones."""


@dataclass(slots=True, eq=False)
class Soft:
    """The directions that levels are about to lose, as soft rows ``g x = c``; those of the first levels first.

    Attributes:
        share: the singular value below which each is soft, shape (q,).
        at_rest: the same if it were not run along, shape (q,).
        G: g of each, shape (q, n).
        bound: c of each, shape (q,).
        level: whose direction it is, shape (q,).
        row: the row that has most of it, shape (q,).
        sigma: its singular value, shape (q,).
        length: the size of each g before anything was eliminated, shape (q,).
        sizes: n of each level, and 1 for the implicit one.
    """

    share: Array
    at_rest: Array
    G: Array
    bound: Array
    level: IntArray
    row: IntArray
    sigma: Array
    length: Array
    sizes: list[float]

    def yielding(self) -> Yielding:
        """Level, row, and what is left of each."""
        return [(int(k), int(row), float(s)) for k, row, s in zip(self.level, self.row, self.sigma, strict=True)]

    def down_to(self, level: int) -> int:
        """How many count for a level: its own and those of the levels above."""
        return int(np.searchsorted(self.level, level, side="right"))

    def _weights(self, level: int, Z: Array) -> Array:
        """N of ``(G x - c)ᵀ N⁻¹ (G x - c)``: what the rows weigh at a level that leaves Z free to serve them.

        In its own level a direction counts like a row of it, but less as it is lost: where limits leave the level too
        little for all its rows, it must not fall behind the others at once.
        """
        q = self.down_to(level)
        sigma = self.sigma[:q]
        share = self.share[:q]
        lost, early = 1.0 - (sigma / share) ** 2, 1.0 - self.at_rest[:q] / share
        decay = np.maximum(_MOST, share) * lost * (1.0 - early * (1.0 - lost))
        own = np.where(self.level[:q] == level, share / sigma, decay)
        refuge = _REFUGE if level < len(self.sizes) - 1 else 1.0
        shared = self.G[:q].dot(Z)
        found: Array = shared.dot(shared.T) / refuge
        found.flat[:: q + 1] *= 1.0 + _ROUNDED
        found.flat[:: q + 1] += own**2
        return found

    def move(self, level: int, C: Array, Y: Array, Z: Array, x: Array) -> tuple[Array, Array]:
        """Least squares of a level's rows and the soft ones.

        Args:
            level: which.
            C: its rows in Y, shape (m, rank).
            Y: what it fixes, shape (n, rank).
            Z: what it leaves free, shape (n, free).
            x: the solution of its rows alone.

        Returns:
            What soft rows move along Y, shape (rank,), and what each then pulls with, shape (q,).
        """
        G, n = self.G[: self.down_to(level)], self.sizes[level]
        off = self.bound[: len(G)] - G.dot(x)
        L = lapack.dpotrf(self._weights(level, Z), lower=1)[0]
        scaled = lapack.dtrtrs(L, np.column_stack([G.dot(Y), off]), lower=1)[0] * n
        Q, R = np.linalg.qr(np.vstack([C, scaled[:, :-1]]))
        step: Array = lapack.dtrtrs(R, Q.T.dot(np.concatenate([np.zeros(len(C)), scaled[:, -1]])))[0]
        pull: Array = n * n * cho_solve((L, True), G.dot(Y.dot(step)) - off)
        return step, pull

    def finish(self, x: Array, Z: Array) -> tuple[Array, Array]:
        """Damped least squares in what is free at the end: x, and what each soft row pulls with."""
        pull: Array = np.linalg.solve(self._weights(len(self.sizes) - 1, Z), self.G.dot(x) - self.bound)
        return x - Z.dot(Z.T.dot(self.G.T.dot(pull))), pull


def soften(
    rows: LevelRows,
    scales: Array,
    first: int,
    share: float,
    loads: Array | None = None,
    motion: Motion | None = None,
) -> tuple[LevelRows, Soft | None]:
    """Take the weak directions out of the equalities.

    Args:
        rows: the hierarchy.
        scales: the size that each row is measured by, shape (M,).
        first: the first level that may yield.
        share: a direction whose singular value is below this is weak, however little is asked of it.
        loads: see `Hierarchy`, shape (q, n).
        motion: the same; None: at rest.

    Returns:
        The rows without them, and the soft rows; None where there are none.
    """
    equal = rows.lower == rows.upper
    x, Z = np.zeros(rows.A.shape[1]), np.eye(rows.A.shape[1], order="F")
    loads = np.zeros((0, len(x))) if loads is None else loads
    found: list[_Weak] = []
    for level, (start, stop) in enumerate(zip(rows.starts, rows.starts[1:], strict=False)):
        at = np.flatnonzero(equal[start:stop]) + start
        if not len(at) or not Z.shape[1]:
            continue
        factor = _factor(rows, at, Z)
        step = _step(rows, at, factor, x)
        # a bound of no width counts as an equation in a search, but is nothing to give up: not beside other bounds
        if level >= first and factor.rank and len(at) == stop - start:
            demand = _Demand(share, loads, step, motion)
            weak = _weak_of(rows, at, factor, scales, level, demand)[: _AT_MOST - len(found)]
            if weak:
                rows = _without(rows, at, weak, scales)
                found += weak
                factor = _factor(rows, at, Z)
                step = _step(rows, at, factor, x)
        x, Z = x + step, factor.Z
    if not found:
        return rows, None
    sizes = [_size(scales[start:stop]) for start, stop in zip(rows.starts, rows.starts[1:], strict=False)]
    return rows, Soft(
        np.array([one.share for one in found]),
        np.array([one.at_rest for one in found]),
        np.array([one.g for one in found]),
        np.array([one.c for one in found]),
        np.array([one.level for one in found]),
        np.array([one.row for one in found]),
        np.array([one.sigma for one in found]),
        np.array([one.length for one in found]),
        [*sizes, 1.0],
    )


@dataclass(slots=True, eq=False)
class _Weak:
    """A weak direction: its part u of each row, and the row that it makes."""

    level: int
    row: int
    sigma: float
    share: float
    at_rest: float
    u: Array
    g: Array
    c: float
    length: float


@dataclass(slots=True, eq=False)
class _Demand:
    """What a level asks for, and how early its directions are soft for that.

    Attributes:
        least: the singular value below which they are, however little is asked.
        loads: what can be given.
        step: from the levels above to what the level asks for, all held exactly; shape (n,).
        motion: see `Hierarchy`; None: at rest.
    """

    least: float
    loads: Array
    step: Array
    motion: Motion | None = None

    def shares(self, direction: Array, sigma: float, part: Array, at: IntArray) -> tuple[float, float]:
        """The singular value below which a direction is soft; and that if it were not run along.

        Args:
            direction: of length 1, shape (n,).
            sigma: its singular value.
            part: its part of each row, over the row's size, shape (m,).
            at: these rows.
        """
        furthest = min(_FURTHER * self.least, 1.0)
        if not sigma < furthest:
            return self.least, self.least
        asked = float(direction.dot(self.step))
        most = float(np.abs(self.loads.dot(direction)).max(initial=0.0))
        at_rest = max(self.least, min(furthest, sigma * abs(asked) * most / _BEYOND))
        if self.motion is None:
            return at_rest, at_rest
        own = float(direction.dot(self.motion.velocity))
        of_rows = float(part.dot(self.motion.rates[at])) / max(sigma, 1e-300)
        fastest = float(np.abs(self.motion.joints.dot(direction)).max(initial=0.0))
        run = fastest**2 * min(_run(own, asked), _run(of_rows, asked))
        return max(at_rest, min(furthest, run)), at_rest


def _run(velocity: float, asked: float) -> float:
    """How far a direction gets within _AHEAD by its velocity, where what is asked of it goes the same way.

    Half of it where that doubles the velocity within _GROWS, and 0 where nothing is asked. What its fastest joint turns
    is to be counted: legs that share a direction are as near to lost as one of them.
    """
    far, further = _AHEAD * velocity, _AHEAD * _GROWS * asked
    return far * further / abs(far + further) if velocity * asked > 0.0 else 0.0


def _step(rows: LevelRows, at: IntArray, factor: Factor, x: Array) -> Array:
    """From x to what the rows are held at, or as near to it as can be."""
    if not factor.rank:
        return np.zeros(len(x))
    found: Array = factor.Y.dot(factor.split(rows.lower[at] - rows.A[at].dot(x))[0])
    return found


def _factor(rows: LevelRows, at: IntArray, Z: Array) -> Factor:
    return eliminate(rows.A[at], Z, rows.norms[at], rows.tolerance, Z.shape[1] == len(Z))


def _size(scales: Array) -> float:
    sized = scales[scales > 0.0]
    return float(np.sqrt(np.mean(sized**2))) if len(sized) else 0.0


def _inverse(scales: Array) -> Array:
    found = np.zeros(len(scales))
    np.divide(1.0, scales, out=found, where=scales > 0.0)
    return found


def _weak_of(rows: LevelRows, at: IntArray, factor: Factor, scales: Array, level: int, demand: _Demand) -> list[_Weak]:
    """The weak directions of a level's rows, each over the size of its task's rows; the weakest first."""
    inverse = _inverse(scales[at])
    U, sigma, V = svd(rows.A[at].dot(factor.Y) * inverse[:, None])
    found = []
    for i in reversed(range(max(len(sigma) - _OF_A_LEVEL, 0), len(sigma))):
        u, part = U[:, i], U[:, i] * inverse
        share, at_rest = demand.shares(factor.Y.dot(V[i]), float(sigma[i]), part, at)
        if not sigma[i] < share * (1.0 - 1e-9):
            continue
        length = float(np.linalg.norm(part * rows.norms[at]))
        row = int(at[np.abs(u).argmax()])
        c = float(part.dot(rows.lower[at]))
        found.append(_Weak(level, row, float(sigma[i]), share, at_rest, u, part.dot(rows.A[at]), c, length))
    return found


def _without(rows: LevelRows, at: IntArray, weak: list[_Weak], scales: Array) -> LevelRows:
    """The rows without their weak directions."""
    A, lower, upper, norms = rows.A.copy(), rows.lower.copy(), rows.upper.copy(), rows.norms.copy()
    for one in weak:
        part = one.u * scales[at]
        A[at] -= np.outer(part, one.g)
        lower[at] -= part * one.c
    upper[at] = lower[at]
    norms[at] = np.maximum(norms[at], scales[at])  # rounding of its size is left of a small one
    return replace(rows, A=A, lower=lower, upper=upper, norms=norms)
