"""Hierarchies with inequalities on every level, judged level by level."""

import numpy as np
import pytest

from tests.solvers.families import KINDS, inequalities
from tests.solvers.judge import cost, gaps
from wbc.solvers import HierarchicalQP, SequentialQP

TOLERANCE = {"hierarchical-qp": 1e-6, "sequential-qp daqp": 1e-4, "sequential-qp proxqp": 1e-4}
EACH = 63  # x 8 kinds: 504 hierarchies


def judge(solver, kind, seeds, tolerance, unsolved=0):
    """No level could be better by more than the tolerance; a few answers may say that they are not solved."""
    for seed in seeds:
        levels = inequalities(kind, seed)
        answer = solver.solve(levels)
        unsolved -= answer.status not in ("optimal", "relaxed")
        assert unsolved >= 0, (kind, seed, answer.status)
        gap = gaps(levels, answer.x)
        assert gap.max() < tolerance, (kind, seed, gap)


@pytest.mark.parametrize("compiled", [None, False], ids=["default", "reference"])
@pytest.mark.parametrize("kind", KINDS)
def test_hierarchical_qp_is_exact(kind, compiled):
    judge(HierarchicalQP(compiled=compiled), kind, range(EACH), TOLERANCE["hierarchical-qp"])


@pytest.mark.parametrize("qp", ["daqp", "proxqp"])
@pytest.mark.parametrize("kind", KINDS)
def test_sequential_qp_is_accurate(kind, qp):
    if qp == "proxqp":
        pytest.importorskip("proxsuite")
    judge(SequentialQP(qp), kind, range(EACH), TOLERANCE[f"sequential-qp {qp}"], unsolved=3 if qp == "proxqp" else 0)


def test_it_does_not_go_in_circles():
    """Where it forgets which working sets it has seen, these never end."""
    for compiled in (None, False):
        solver = HierarchicalQP(compiled=compiled)
        judge(solver, "scaled", (102, 134, 156, 158, 166, 184, 213, 274), TOLERANCE["hierarchical-qp"])


@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
def test_many_more(kind):
    # The judge itself is good to a few 1e-6 where multipliers are large; a QP solver now and then to no more than 1e-3.
    judge(HierarchicalQP(), kind, range(10_000, 11_000), 5e-6)
    judge(SequentialQP("daqp"), kind, range(10_000, 10_300), 1e-3)


@pytest.mark.parametrize("make", [HierarchicalQP, SequentialQP], ids=["hierarchical-qp", "sequential-qp"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_lower_level_never_moves_a_higher_one(kind, make):
    tolerance = 1e-7 if make is HierarchicalQP else 1e-5
    for seed in range(20, 25):
        levels = inequalities(kind, seed)
        before = []
        for k in range(1, len(levels) + 1):
            x = make().solve(levels[:k]).x
            costs = [cost(level, x) for level in levels[:k]]
            for old, new in zip(before, costs, strict=False):
                assert new <= old + tolerance * (1 + old), (kind, seed, k)
            before = costs


def test_the_peer_of_the_judge_agrees():
    """The judge finds what is wrong with a point that is not optimal."""
    levels = inequalities("infeasible", 3)
    x = HierarchicalQP().solve(levels).x
    assert gaps(levels, x).max() < 1e-6
    assert gaps(levels, x + 0.1).max() > 1e-3


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_units_do_not_matter(scale):
    """All rows in other units: the same x; all bounds and x in other units: x in these."""
    for seed in range(5):
        levels = inequalities("infeasible", seed)
        x = HierarchicalQP().solve(levels).x
        rows = HierarchicalQP().solve([(A * scale, lo * scale, up * scale) for A, lo, up in levels]).x
        bounds = HierarchicalQP().solve([(A, lo * scale, up * scale) for A, lo, up in levels]).x / scale
        np.testing.assert_allclose(rows, x, atol=1e-7 * (1 + abs(x).max()))
        np.testing.assert_allclose(bounds, x, atol=1e-7 * (1 + abs(x).max()))
