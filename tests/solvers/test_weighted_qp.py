"""Priorities as weights: level 0 exact, the rest as the normal equations say."""

import numpy as np
import pytest

from tests.solvers.families import KINDS, inequalities
from tests.solvers.judge import cost
from wbc.solvers import HierarchicalQP, WeightedQP


@pytest.mark.parametrize("kind", KINDS)
def test_level_0_is_exact(kind):
    for seed in range(12):
        levels = inequalities(kind, seed)
        answer = WeightedQP().solve(levels)
        best = cost(levels[0], HierarchicalQP().solve(levels).x)
        assert answer.status != "failed"
        assert cost(levels[0], answer.x) <= best + 1e-6 * (1 + best) * (1 + np.abs(answer.x).max()), (kind, seed)


def test_the_ratio_is_that_of_the_squared_residuals():
    """Least (x-1)² + (x-3)²/ratio with x free: x = (1 + 3/ratio) / (1 + 1/ratio)."""
    levels = [(np.zeros((0, 1)), [], []), (np.eye(1), 1.0, 1.0), (np.eye(1), 3.0, 3.0)]
    for ratio in (1.0, 10.0, 1e4):
        x = WeightedQP(ratio=ratio).solve(levels).x
        np.testing.assert_allclose(x, [(1 + 3 / ratio) / (1 + 1 / ratio)], atol=1e-6)


def test_inequalities_below_level_0_are_weighted_too():
    """Least (x-1)²₊ + ((3-x)₊)²/4: the same sum with one-sided rows."""
    levels = [(np.eye(1), -10.0, 10.0), (np.eye(1), -np.inf, 1.0), (np.eye(1), 3.0, np.inf)]
    answer = WeightedQP(ratio=4.0).solve(levels)
    np.testing.assert_allclose(answer.x, [1.4], atol=1e-6)
    assert answer.status == "relaxed"


def test_with_a_great_ratio_it_tends_to_strict_priorities():
    for seed in range(4):
        levels = inequalities("feasible", seed)[:3]
        exact, weighted = HierarchicalQP().solve(levels), WeightedQP(ratio=1e5).solve(levels)
        for one, other in zip(exact.levels, weighted.levels, strict=True):
            np.testing.assert_allclose(other.cost, one.cost, atol=2e-2 * (1 + one.cost))
