"""Priorities as weights: level 0 exact, the rest as the normal equations say."""

import numpy as np
import pytest

from tests.solvers.families import KINDS, inequalities
from tests.solvers.judge import cost
from wbc.solvers import HierarchicalQP, Hierarchy, WeightedQP


@pytest.mark.parametrize("compiled", [None, False], ids=["default", "reference"])
@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e6, 1e8])
@pytest.mark.parametrize("kind", KINDS)
def test_level_0_is_exact(kind, ratio, compiled):
    for seed in range(12):
        levels = inequalities(kind, seed)
        answer = WeightedQP(ratio, compiled=compiled).solve(levels)
        best = cost(levels[0], HierarchicalQP().solve(levels[:1]).x)
        assert answer.status in ("optimal", "relaxed") or ratio > 1e3
        assert cost(levels[0], answer.x) <= best + 1e-8 * (1 + best) * (1 + np.abs(answer.x).max()), (kind, seed)


@pytest.mark.parametrize("ratio", [1e6, 1e8])
def test_a_robots_hierarchy_is_solved_at_any_ratio(ratio):
    """Limits, then equations: the one kind of hierarchy that controllers make."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        targets = [(rng.standard_normal((4, 12)), b, b) for b in 2.0 * rng.standard_normal((4, 4))]
        levels = [(np.vstack([np.eye(12), rng.standard_normal((8, 12))]), -1.0, 1.0), *targets]
        weighted, exact = WeightedQP(ratio).solve(levels), HierarchicalQP().solve(levels)
        assert weighted.status == exact.status == "optimal"
        assert cost((levels[0][0], -np.ones(20), np.ones(20)), weighted.x) < 1e-9
        for one, other in zip(weighted.levels, exact.levels, strict=True):
            np.testing.assert_allclose(one.cost, other.cost, atol=20.0 / ratio**0.5)


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


@pytest.mark.parametrize("compiled", [None, False], ids=["default", "reference"])
def test_exact_levels_are_not_traded(compiled):
    """Three levels are exact here, and the fourth and fifth are weighted."""
    ours, e = WeightedQP(4.0, compiled=compiled), np.eye(2)
    levels = [(e[:1], 2.0, 2.0), (e[:1], 5.0, 9.0), (e[1:], -1.0, 1.0), (e[1:], 1.0, 1.0), (e[1:], 6.0, 6.0)]

    def solve(levels, exact):
        hierarchy = Hierarchy.of(levels)
        hierarchy.exact = exact
        return ours.solve(hierarchy)

    answer = solve(levels, 3)
    np.testing.assert_allclose(answer.x, [2.0, 1.0], atol=1e-9)
    assert [level.rank for level in answer.levels][:2] == [1, 0] and answer.status == "relaxed"
    np.testing.assert_allclose(solve([levels[0], levels[0], levels[0], *levels[3:]], 3).x, [2.0, 2.0], atol=1e-6)
    np.testing.assert_allclose(solve([levels[0], *levels[3:]], 1).x, [2.0, 2.0], atol=1e-6)
    np.testing.assert_allclose(solve([levels[0], *levels[3:]], 2).x, [2.0, 1.0], atol=1e-6)
    np.testing.assert_allclose(solve(levels[:2], 3).x, [2.0, 0.0], atol=1e-9)
