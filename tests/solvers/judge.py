"""How much better each level of a hierarchy could be, everything above it staying as it is at a given point.

For level k the judge looks for the step s of least violation of the level's rows at x + s among those after which every
row above lies no further outside its bounds than it does at x, give or take a margin. An interior-point solver finds
it. Its word is only taken if its point really keeps the rows above; if not it is asked again with every row brought to
unit norm, and with a smaller margin: the least claim that survives counts.
"""

from __future__ import annotations

import clarabel
import numpy as np
import scipy.sparse as sp


def outside(A, lower, upper, x):
    """Violation of every row at x, not negative."""
    value = A @ x
    return np.maximum(np.maximum(value - upper, lower - value), 0.0)


def cost(level, x):
    return float(np.linalg.norm(outside(*level, x)))


def gaps(levels, x):
    """For each level (cost - least cost) / (1 + cost); zero where it could not be better."""
    found = np.array([_gap(levels, k, x, 1e-9, unit=False) for k in range(len(levels))])
    for k in np.flatnonzero(found > 1e-7):
        found[k] = min(found[k], _gap(levels, k, x, 1e-9, unit=True), _gap(levels, k, x, 1e-10, unit=True))
    return found


def _gap(levels, k, x, margin, unit):
    level = levels[k]
    here = cost(level, x)
    if here < 1e-9 or not len(level[0]):
        return here
    above = [_scaled(other, x) if unit else (*other, outside(*other, x)) for other in levels[:k]]
    n, m = len(x), len(level[0])
    norms = np.maximum(np.linalg.norm(level[0], axis=1), 1e-300) if unit else np.ones(m)
    own = sp.csc_matrix(np.hstack([level[0] / norms[:, None], -np.diag(1.0 / norms)]))
    value = level[0] @ x
    rows, bounds = [own, -own], [(level[2] - value) / norms, (value - level[1]) / norms]
    for A, lower, upper, slack in above:
        block = sp.csc_matrix(np.hstack([A, np.zeros((len(A), m))]))
        rows += [block, -block]
        bounds += [upper + slack + margin - A @ x, A @ x - lower + slack + margin]
    bound = np.concatenate(bounds)
    finite = np.isfinite(bound)
    P = sp.diags(np.concatenate([np.full(n, 1e-10), np.ones(m)])).tocsc()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cone = [clarabel.NonnegativeConeT(int(finite.sum()))]
    M = sp.vstack(rows).tocsr()[finite].tocsc()
    solution = clarabel.DefaultSolver(P, np.zeros(n + m), M, bound[finite], cone, settings).solve()
    y = x + np.array(solution.x)[:n]
    if not np.isfinite(y).all():
        return 0.0
    for A, lower, upper, slack in above:
        excess = (outside(A, lower, upper, y) - slack) / np.maximum(np.linalg.norm(A, axis=1), 1e-300)
        if len(A) and excess.max() > margin + 1e-9 * (1.0 + np.linalg.norm(y)):
            return 0.0  # what clarabel found is not allowed: no claim
    return (here - cost(level, y)) / (1.0 + here)


def _scaled(level, x):
    A, lower, upper = level
    norms = np.linalg.norm(A, axis=1)
    norms[norms == 0.0] = 1.0
    A, lower, upper = A / norms[:, None], lower / norms, upper / norms
    return A, lower, upper, outside(A, lower, upper, x)
