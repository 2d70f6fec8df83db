"""Random hierarchies, by what makes them hard."""

from __future__ import annotations

import numpy as np

KINDS = ("feasible", "infeasible", "deficient", "vertex", "repeated", "hidden", "scaled", "columns")


def inequalities(kind, seed):
    """Levels (A, lower, upper) with inequalities on every one: 2-6 levels, up to 60 unknowns.

    Kinds: bounds around one point; bounds anywhere; rows of low rank, some from the levels above; most bounds through
    one vertex; rows of the levels above once more, turned or doubled; equalities hidden in two inequalities; rows
    scaled by up to 1e4 among themselves; unknowns scaled by up to 1e4 among themselves.
    """
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    n, p = int(rng.integers(3, 61)), int(rng.integers(2, 7))
    center = rng.standard_normal(n) * rng.choice([1.0, 3.0])
    levels = []
    for k in range(p):
        m = int(rng.integers(1 if k == 0 else 0, max(3, n // 2) + 1))
        A = _rows(rng, m, n, low_rank=kind == "deficient" or rng.random() < 0.15)
        above = np.vstack([level[0] for level in levels]) if levels else np.zeros((0, n))
        if len(above) and m and (kind == "repeated" or (kind == "deficient" and rng.random() < 0.5)):
            again = above[rng.integers(0, len(above), size=m)] * rng.choice([1.0, -1.0, 2.0], size=(m, 1))
            A = np.where(rng.random((m, 1)) < 0.5, again, A)
        value = A @ center
        lower, upper = value - 2.0 * rng.random(m), value + 2.0 * rng.random(m)
        if kind == "vertex":
            touching = rng.random(m) < 0.5
            lower, upper = np.where(touching, value - 1.0, value), np.where(touching, value, value + 1.0)
        elif kind != "feasible":
            middle = 2.0 * rng.standard_normal(m)
            lower, upper = middle - rng.random(m), middle + rng.random(m)
        draw = rng.random(m)
        if k or kind not in ("feasible", "vertex"):
            lower = np.where(draw < 0.25, upper, lower)
        lower = np.where((draw > 0.25) & (draw < 0.5), -np.inf, lower)
        upper = np.where((draw > 0.5) & (draw < 0.75), np.inf, upper)
        if kind == "hidden" and m >= 2:
            half = m // 2
            turned = rng.random(half) < 0.5
            b = A[:half] @ center if rng.random() < 0.5 else rng.standard_normal(half)
            A[half : 2 * half] = A[:half] * np.where(turned, -1.0, 1.0)[:, None]
            lower[:half], upper[:half] = -np.inf, b
            lower[half : 2 * half] = np.where(turned, -np.inf, b)
            upper[half : 2 * half] = np.where(turned, -b, np.inf)
        if kind == "scaled":
            size = 10.0 ** rng.uniform(-2, 2, size=m)
            A, lower, upper = A * size[:, None], lower * size, upper * size
        levels.append((A, lower, upper))
    if kind == "columns":
        size = 10.0 ** rng.uniform(-2, 2, size=n)
        levels = [(A * size, lower, upper) for A, lower, upper in levels]
    return levels


HARD = ("parallel", "deficient", "scales", "near bounds", "infinite", "vertex", "mixed")


def hard(seed):
    """A kind out of HARD and levels (A, lower, upper): 1-8 levels of up to 40 rows, 1-80 unknowns.

    Rows parallel to others but for 1e-3 to 1e-7; rows of low rank; rows scaled by 1e-6 to 1e6 within a level; bounds
    that are equal but for 1e-6 to 1e-14; bounds at infinity; many bounds through one vertex; all of it at once.
    """
    rng = np.random.default_rng([7, seed])
    kind = HARD[seed % len(HARD)]
    n, p = int(rng.integers(1, 81)), int(rng.integers(1, 9))
    center = rng.standard_normal(n) * rng.choice([0.1, 1.0, 10.0])
    levels = []

    def does(what, share):
        return m > 0 and kind in (what, "mixed") and rng.random() < share

    for k in range(p):
        m = 0 if rng.random() < 0.1 else int(rng.integers(1, n // 2 + 2))
        A = rng.standard_normal((m, n))
        if rng.random() < 0.3:
            A *= rng.random((m, n)) < 0.3
        if does("parallel", 0.7):
            source = np.vstack([A, *(level[0] for level in levels)]) if rng.random() < 0.5 else A
            rows = source[rng.integers(0, len(source), size=m // 2)]
            A[: m // 2] = rows + 10.0 ** rng.uniform(-7, -3) * rng.standard_normal(rows.shape)
        if does("deficient", 0.6):
            rank = int(rng.integers(1, m + 1))
            A = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n)) / np.sqrt(rank)
        value = A @ center
        middle = value if k == 0 or rng.random() < 0.5 else 2.0 * rng.standard_normal(m)
        width = rng.choice([0.1, 1.0, 3.0])
        lower, upper = middle - width * rng.random(m), middle + width * rng.random(m)
        if does("vertex", 0.6):
            touching = rng.random(m) < 0.5
            lower, upper = np.where(touching, value - 1.0, value), np.where(touching, value, value + 1.0)
        if does("near bounds", 0.6):
            upper = np.where(rng.random(m) < 0.5, lower + 10.0 ** rng.uniform(-14, -6, size=m), upper)
        draw = rng.random(m)
        lower = np.where(draw < 0.25, upper, lower)
        lower = np.where((draw > 0.25) & (draw < 0.5), -np.inf, lower)
        upper = np.where((draw > 0.5) & (draw < 0.75), np.inf, upper)
        if kind == "infinite":
            free = rng.random(m) < 0.3
            lower, upper = np.where(free, -np.inf, lower), np.where(free, np.inf, upper)
        if does("scales", 0.7):
            size = 10.0 ** rng.uniform(-6, 6, size=m)
            A, lower, upper = A * size[:, None], lower * size, upper * size
        levels.append((A, lower, upper))
    return kind, levels


def equalities(seed):
    """Levels of equalities only: 2-6 levels, up to 60 unknowns, of any rank, consistent or not, some of them empty."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(2, 61)), int(rng.integers(2, 7))
    levels = []
    for k in range(p):
        m = 0 if rng.random() < 0.1 else int(rng.integers(1, n + 3))
        A = _rows(rng, m, n, low_rank=rng.random() < 0.4)
        if k and m and len(levels[k - 1][0]) and rng.random() < 0.3:
            A[: (m + 1) // 2] = levels[k - 1][0][rng.integers(0, len(levels[k - 1][0]), size=(m + 1) // 2)]
        b = A @ rng.standard_normal(n) if rng.random() < 0.5 else rng.standard_normal(m)
        levels.append((A, b, b))
    return levels


def _rows(rng, m, n, low_rank):
    if low_rank and m:
        rank = int(rng.integers(1, max(2, m // 2 + 1)))
        return rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n)) / np.sqrt(rank)
    A = rng.standard_normal((m, n))
    return A * (rng.random((m, n)) < 0.4) if rng.random() < 0.3 else A
