"""Directions that levels are about to lose: the kernel beside the reference, on hierarchies that lose many at once."""

import numpy as np
import pytest

from wbc import compiled
from wbc.solvers import HierarchicalQP, Hierarchy

needs_kernel = pytest.mark.skipif(compiled.kernel is None, reason="the kernel was not built")
ENGINES = [pytest.param(True, id="kernel", marks=needs_kernel), pytest.param(False, id="reference")]


def losing(seed, weak=(3, 2), limit=5.0):
    """Limits, two levels that lose so many directions, and a wish for all unknowns."""
    rng = np.random.default_rng(seed)
    n, m = 30, 14
    levels = [(np.eye(n), -limit, limit)]
    for count in weak:
        U, V = (np.linalg.qr(rng.standard_normal((size, m)))[0] for size in (m, n))
        sigma = np.concatenate([rng.uniform(0.5, 1.0, m - count), 10.0 ** rng.uniform(-6, -2.5, count)])
        b = rng.standard_normal(m)
        levels.append(((U * sigma) @ V.T, b, b))
    wish = rng.standard_normal(n)
    hierarchy = Hierarchy.of([*levels, (np.eye(n), wish, wish)])
    hierarchy.yields_from = 1
    return hierarchy


@needs_kernel
@pytest.mark.parametrize(("weak", "limit"), [((3, 2), 5.0), ((0, 4), 2.0), ((8, 4), np.inf)])
def test_kernel_and_reference_yield_alike(weak, limit):
    for seed in range(8):
        kernel, reference = (HierarchicalQP(compiled=c).solve(losing(seed, weak, limit)) for c in (True, False))
        assert kernel.status == reference.status
        np.testing.assert_allclose(kernel.x, reference.x, atol=1e-7 * (1.0 + np.linalg.norm(kernel.x)))
        assert [line[:2] for line in kernel.yielding] == [line[:2] for line in reference.yielding]
        np.testing.assert_allclose(*([s for *_, s in one.yielding] for one in (kernel, reference)), rtol=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_weakest_of_a_level_and_the_first_of_all_yield(engine):
    """Eight of a level and twelve in all."""
    answer = HierarchicalQP(compiled=engine).solve(losing(0, (10, 10)))
    assert [level for level, _, _ in answer.yielding] == [1] * 8 + [2] * 4
    for level in (1, 2):
        left = [share for k, _, share in answer.yielding if k == level]
        assert left == sorted(left)


@needs_kernel
def test_a_posture_of_many_rows_is_not_searched_for_weak_directions():
    """Its directions are all as strong: a look is enough, whatever is asked. The search took ten times as long."""
    n, rng = 60, np.random.default_rng(0)
    wish = 100.0 * rng.standard_normal(n)
    hierarchy = Hierarchy.of([(rng.standard_normal((6, n)), 1.0, 1.0), (np.eye(n), wish, wish)])
    hierarchy.yields_from, hierarchy.loads = 1, np.eye(n)
    best = {}
    for soften in (0.0, 0.02):
        solver = HierarchicalQP(soften=soften)
        best[soften] = min(solver.solve(hierarchy).time for _ in range(60))
    assert best[0.02] < 2.0 * best[0.0]
