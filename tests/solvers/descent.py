"""A second judge: a step that makes a level better and harms none above it, or none is claimed.

At a point x the gradient of a level's cost is projected on the directions that the levels above allow, to first order:
rows that are equations or violated must not change, rows at a bound must not go beyond it. Along what is left the cost
is convex, so the best step is found by bisection. The judge believes it only where, at its end, no row above is further
outside its bounds than at x. So it raises no false alarm.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.optimize import nnls

ROUNDING = 2e-13  # by so much of |row| (1 + |x|) a row may seem to move
TOUCHES = 1e-9  # a row within this share of its bound is at it


def outside(level, x):
    """The signed violation of each row."""
    A, lower, upper = level
    value = A @ x
    return value - np.clip(value, lower, upper)


def gaps(levels, x):
    """For each level (cost - cost after the best step found) / (1 + cost)."""
    return np.array([_gap(levels[:k], level, x) for k, level in enumerate(levels)])


def _gap(above, level, x):
    A = level[0]
    length, sizes = 1.0 + np.linalg.norm(x), np.linalg.norm(A, axis=1)
    bounds = sum(np.where(np.isfinite(bound), np.abs(bound), 0.0) for bound in level[1:])
    residual = outside(level, x)
    residual = residual * (np.abs(residual) > 1e-13 * (sizes * length + bounds))
    pull = float(sizes @ np.abs(residual))
    if not pull > 0.0:
        return 0.0
    direction = _allowed(above, x, -A.T @ residual, length)
    if not np.linalg.norm(direction) > 1e-10 * pull:
        return 0.0
    direction = direction / np.linalg.norm(direction)
    far = _room(above, x, direction, length)
    t = _best_step(level, x, direction, min(far, 1e6 * length))
    return max(_gain(above, level, x, x + t * direction), 0.0)


def _allowed(above, x, wanted, length):
    """What is left of a wanted direction where rows above are in the way."""
    fixed, limits = [np.zeros((0, len(x)))], [np.zeros((0, len(x)))]
    for A, lower, upper in above:
        sizes = np.linalg.norm(A, axis=1)
        A, lower, upper = A[sizes > 0], lower[sizes > 0], upper[sizes > 0]
        value, near = A @ x, TOUCHES * sizes[sizes > 0] * length
        unit = A / sizes[sizes > 0, None]
        tied = (lower == upper) | (value > upper + near) | (value < lower - near)
        fixed.append(unit[tied])
        limits += [unit[~tied & (value > upper - near)], -unit[~tied & (value < lower + near)]]
    Z = np.eye(len(x))
    if len(E := np.vstack(fixed)):
        Q, R, _ = scipy.linalg.qr(E.T, pivoting=True)
        Z = Q[:, int((np.abs(np.diag(R)) > 1e-11).sum()) :]
    wanted, G = Z.T @ wanted, np.vstack(limits) @ Z
    G = G[np.linalg.norm(G, axis=1) > 1e-11]
    if len(G) and Z.shape[1]:
        wanted = wanted - G.T @ nnls(G.T, wanted, maxiter=1000 + 50 * len(G))[0]
    return Z @ wanted


def _room(above, x, direction, length):
    """How far a row that is inside of its bounds lets one go."""
    far = np.inf
    for A, lower, upper in above:
        value, slope = A @ x, A @ direction
        near = TOUCHES * np.linalg.norm(A, axis=1) * length
        up = (slope > 0) & (value < upper - near) & np.isfinite(upper) & (lower < upper)
        down = (slope < 0) & (value > lower + near) & np.isfinite(lower) & (lower < upper)
        far = min(far, *((upper - value)[up] / slope[up]), *((lower - value)[down] / slope[down]), np.inf)
    return far


def _best_step(level, x, direction, far):
    slope = level[0] @ direction
    low, high = 0.0, far
    if outside(level, x + far * direction) @ slope <= 0.0:
        return far
    for _ in range(120):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if outside(level, x + middle * direction) @ slope > 0.0 else (middle, high)
    return low


def _gain(above, level, x, y):
    """What the level gains from x to y; nothing where a row above loses."""
    length = 1.0 + max(np.linalg.norm(x), np.linalg.norm(y))
    for other in above:
        lost = np.abs(outside(other, y)) - np.abs(outside(other, x))
        if (lost > ROUNDING * np.linalg.norm(other[0], axis=1) * length).any():
            return 0.0
    before, after = np.linalg.norm(outside(level, x)), np.linalg.norm(outside(level, y))
    return (before - after) / (1.0 + before)
