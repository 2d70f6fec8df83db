"""A guess of the active set: the hierarchy as one weighted problem, solved by non-negative least squares.

Each level weighs 1e-4 of the one above, and the equalities down to the first level that has inequalities are exact.
With the equalities of the other levels whitened, what is left is a least-distance problem: least |u| with ``D u - S s
<= e``, where each inequality has a slack s as heavy as its level. Such a problem can always be met, and its dual is a
non-negative least-squares problem (Lawson and Hanson 1974, ch. 23). The rows with a positive multiplier are the guess.
The search then proves it, or repairs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from scipy.linalg import lapack

from wbc.arrays import Array, IntArray
from wbc.solvers.answer import Sides
from wbc.solvers.hierarchical.rows import LevelRows

_RATIO = 1e-4
"""Of the weights of one level and the one above."""

_MEETS = 1e-9
"""A row is met within this share of its norm."""

_ROUNDS = 20
"""So often at most the rows that are violated next are added."""


@dataclass(slots=True, eq=False)
class Guess:
    """The weighted problem of a hierarchy, seen from a point x that solves its equalities.

    Attributes:
        rows: the hierarchy.
        x: shape (n,).
        Z: orthonormal basis of what the exact equalities leave free, shape (n, f).
        exact: these are the equalities down to this level: the first one that has inequalities.
    """

    rows: LevelRows
    x: Array
    Z: Array
    exact: int

    def find(self, deadline: float) -> tuple[Sides, Array] | None:
        """Solve it.

        Args:
            deadline: until when it may take, by `time.perf_counter()`.

        Returns:
            What each row is held at, and the point; None where it can't be solved.
        """
        from scipy.optimize import nnls  # it takes as long to import as all of wbc: only who needs it pays

        rows, p = self.rows, len(self.rows.starts) - 1
        level_of = np.repeat(np.arange(p), np.diff(rows.starts))
        weight: Array = np.power(_RATIO, 0.5 * (level_of - self.exact - 1.0))
        back = self._whitening(weight)
        if back is None:
            return None
        D = rows.A.dot(back)
        value = rows.A.dot(self.x)
        open_rows = (rows.lower < rows.upper) & (rows.norms > 0.0)
        side: Sides = np.zeros(len(value), dtype=np.int8)
        u = np.zeros(back.shape[1])
        chosen: list[int] = []
        sides: list[int] = []
        for _ in range(_ROUNDS):
            at = value + D.dot(u)
            over = at - rows.upper > _MEETS * rows.norms
            under = rows.lower - at > _MEETS * rows.norms
            new = np.flatnonzero((over | under) & open_rows & (side == 0))
            if not len(new):
                return side, self.x + back.dot(u)
            if perf_counter() > deadline:
                return None
            chosen += new.tolist()
            sides += np.where(over, 1, -1)[new].tolist()
            index, turn = np.array(chosen), np.array(sides)
            e = np.where(turn > 0, rows.upper[index] - value[index], value[index] - rows.lower[index])
            found = _least_distance(nnls, D[index] * turn[:, None], rows.norms[index] / weight[index], e)
            if found is None:
                return None
            u, pushed = found
            side[:] = 0
            side[index[pushed]] = turn[pushed]
            # a row that was chosen and need not be held is left to the problem, which knows it
            open_rows[index] = False
        return None

    def _whitening(self, weight: Array) -> Array | None:
        """B with x + B u for all points and |u|² as the weighted cost of the equalities, shape (n, f)."""
        rows = self.rows
        f = self.Z.shape[1]
        blocks, equal = [], rows.lower == rows.upper
        for level in range(self.exact + 1, len(rows.starts) - 1):
            at: IntArray = np.flatnonzero(equal[rows.starts[level] : rows.starts[level + 1]]) + rows.starts[level]
            size = float(np.sqrt(np.mean(rows.norms[at] ** 2))) if len(at) else 0.0
            if size > 0.0:
                blocks.append(rows.A[at].dot(self.Z) * (float(weight[at[0]]) / size))
        last = _RATIO ** (0.5 * (len(rows.starts) - 1 - self.exact))
        # heavy rows first and columns by size: the factorisation is then accurate however far the weights are apart
        qr, order, _, _, _ = lapack.dgeqp3(np.vstack([*blocks, last * np.eye(f)]))
        inverse, info = lapack.dtrtrs(qr[:f], np.eye(f))
        if info != 0 or not np.isfinite(inverse).all():
            return None
        back = np.empty((len(self.Z), f))
        back[:] = self.Z[:, order - 1].dot(inverse)
        return back


def _least_distance(nnls: object, D: Array, slack: Array, e: Array) -> tuple[Array, Array] | None:
    """Least |u|² + |s|² with ``D u - slack s <= e``: u, and which rows push; None where it can't be solved."""
    size = np.hypot(np.sqrt((D * D).sum(axis=1)), slack)
    far = float((-e / size).max())
    G = np.hstack([-D, np.diag(slack)]) / size[:, None]
    E = np.vstack([G.T, -e / (size * far)])
    goal = np.zeros(len(E))
    goal[-1] = 1.0
    try:
        multipliers, _ = nnls(E, goal)  # type: ignore[operator]
    except RuntimeError:  # too many steps
        return None
    rest = E.dot(multipliers) - goal
    if not rest[-1] < 0.0:
        return None
    u = rest[: D.shape[1]] * (-far / rest[-1])
    return (u, multipliers > 0.0) if np.isfinite(u).all() else None
