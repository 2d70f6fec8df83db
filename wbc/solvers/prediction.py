"""A guess of which inequalities are active at the optimum of a hierarchy: those of one weighted QP.

The levels' equations become one cost, each level's weight far below that of the level above; inequalities are
constraints. Its solution is not that of the hierarchy, but its active set nearly is, and the exact search
(`active_set`) ends in a step or two when it starts there. A wrong guess costs time only.
"""

from __future__ import annotations

import daqp
import numpy as np

from wbc.arrays import Array

RATIO = 1e-4
"""Weight of a level against the level above."""

_HUGE = 1e30
"""What DAQP takes for no bound."""

_INFEASIBLE = -1
"""DAQP's word for constraints that can't all hold."""

_EQUAL = 5
"""DAQP's mark of an equality."""

_SOFT = 8
"""DAQP's mark of a constraint that may be violated at a price."""


class Predictor:
    """Predicts active sets of hierarchies that are laid out alike.

    Args:
        equal: whether each row is an equality, shape (M,).
        starts: first row of each level, and M.
        unknowns: length of x.

    Attributes:
        infeasible: whether the last QP said that its hard inequalities, those of the first level that has any, can't
            all hold.
    """

    def __init__(self, equal: np.ndarray, starts: list[int], unknowns: int) -> None:
        self._equations, self._inequalities = np.flatnonzero(equal), np.flatnonzero(~equal)
        level = np.searchsorted(starts, np.arange(len(equal)), side="right") - 1
        ranks = np.unique(level[self._equations], return_inverse=True)[1]
        self._last = RATIO ** (int(ranks.max(initial=-1)) + 1)
        self._weights = RATIO ** ranks.astype(float)
        self._groups = (ranks == np.arange(ranks.max(initial=-1) + 1)[:, None]).astype(float)
        self._sense = np.zeros(len(self._inequalities), dtype=np.int32)
        if len(self._inequalities):  # those below the first level that has any may have to give way
            self._sense[level[self._inequalities] > level[self._inequalities[0]]] = _SOFT
        self.infeasible = False
        self._diagonal = np.arange(unknowns) * (unknowns + 1)

    def predict(self, A: Array, lower: Array, upper: Array, norms: Array) -> tuple[list[tuple[int, int]], Array] | None:
        """Rows that are likely to be active, and the side of each; and the point that says so.

        Args:
            A: rows of all levels, shape (M, n).
            lower: shape (M,).
            upper: shape (M,).
            norms: norm of each row.

        Returns:
            Pairs (row, -1 lower or +1 upper), and x; None where the QP has no solution.
        """
        self.infeasible = False
        if not len(self._inequalities):
            return None
        at = self._equations
        squares = norms.take(at)
        squares *= squares
        # a level's weight is against the mean square of its rows: levels in N m and in rad/s² are then comparable
        size = self._groups.dot(squares) / self._groups.sum(axis=1)
        root = np.sqrt(self._weights / (self._groups.T.dot(size) + 1e-300))
        R = A.take(at, 0)
        R *= root[:, None]
        H = R.T.dot(R)
        H.put(self._diagonal, H.take(self._diagonal) + self._last)
        f = R.T.dot(lower.take(at) * -root)
        at = self._inequalities
        high, low = np.minimum(upper.take(at), _HUGE), np.maximum(lower.take(at), -_HUGE)
        if not abs(float(f.sum() + high.sum() + low.sum())) < np.inf:  # whoever searches will name what is no number
            return None
        x, _, flag, info = daqp.solve(H, f, A.take(at, 0), high, low, self._sense.copy())
        if flag < 1:
            self.infeasible = flag == _INFEASIBLE
            return None
        multipliers = info["lam"]
        return [(int(at[row]), 1 if multipliers[row] > 0.0 else -1) for row in multipliers.nonzero()[0].tolist()], x


def projected(A: Array, lower: Array, upper: Array, x: Array) -> tuple[list[tuple[int, int]], Array]:
    """Rows that are likely to be active where a point is moved as little as it takes to keep rows, and that point.

    Args:
        A: shape (m, n).
        lower: shape (m,).
        upper: shape (m,).
        x: the point, shape (n,).

    Returns:
        Pairs (row, -1 lower or +1 upper) of inequalities, and x; none, and x itself, where no point keeps all rows.
    """
    if not len(A):
        return [], x
    equal = lower == upper
    high, low = np.minimum(upper, _HUGE), np.maximum(lower, -_HUGE)
    if not abs(float(x.sum() + high.sum() + low.sum())) < np.inf:
        return [], x
    sense = np.where(equal, _EQUAL, 0).astype(np.int32)
    found, _, flag, info = daqp.solve(np.eye(len(x)), -x, np.ascontiguousarray(A), high, low, sense)
    if flag < 1:
        return [], x
    multipliers = np.where(equal, 0.0, info["lam"])
    return [(int(row), 1 if multipliers[row] > 0.0 else -1) for row in multipliers.nonzero()[0]], np.array(found)
