"""What is special about the hierarchical solver: warm starts, bounds on its work, multipliers, least norm."""

import numpy as np
import pytest

from tests.solvers.families import KINDS, inequalities
from tests.solvers.judge import cost, gaps
from wbc.solvers import HierarchicalQP, Hierarchy
from wbc.solvers.active_set import Search, nearest
from wbc.solvers.prediction import projected


def drifting(seed, ticks, step=1e-3):
    """A controller's problem: limits, then tasks, the numbers a little different every tick."""
    rng = np.random.default_rng(seed)
    sizes, n = [20, 6, 8, 12], 12
    A = rng.standard_normal((sum(sizes), n))
    b = 1.5 * rng.standard_normal(sum(sizes))
    problem = Hierarchy(sizes, n)
    for _ in range(ticks):
        A += step * rng.standard_normal(A.shape)
        b += 10 * step * rng.standard_normal(b.shape)
        problem.A[:] = A
        problem.lower[:20], problem.upper[:20] = -1.0, 1.0
        problem.lower[20:] = problem.upper[20:] = b[20:]
        yield problem


@pytest.mark.parametrize("seed", range(4))
def test_a_warm_start_changes_the_work_and_not_the_answer(seed):
    warm, steps, before = HierarchicalQP(), [], None
    for problem in drifting(seed, 40):
        cold = HierarchicalQP().solve(problem)
        answer = warm.solve(problem)
        np.testing.assert_allclose(answer.x, cold.x, atol=1e-9)
        held = [level.active for level in answer.levels]
        if held == before:
            assert answer.iterations == 1
        before = held
        steps.append(answer.iterations)
    assert sum(len(rows) for rows in before) > 0
    assert np.median(steps) == 1


def test_a_warm_start_needs_no_prediction(monkeypatch):
    solver, problems = HierarchicalQP(), list(drifting(0, 3))
    for problem in problems:
        solver.solve(problem)
    assert solver.solve(problems[-1]).levels[0].active

    def refuse(*_):
        raise AssertionError("predicted")

    monkeypatch.setattr("wbc.solvers.prediction.Predictor.predict", refuse)
    assert solver.solve(problems[-1]).iterations == 1
    with pytest.raises(AssertionError, match="predicted"):
        HierarchicalQP().solve(problems[-1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_warm_start_does_no_harm(kind):
    """The last problem had the same sizes and nothing else in common."""
    solver = HierarchicalQP()
    for seed in range(8):
        levels = inequalities(kind, seed)
        rng = np.random.default_rng(seed)
        others = [(rng.standard_normal(A.shape), lower, upper) for A, lower, upper in levels]
        solver.solve(others)
        answer = solver.solve(levels)
        assert answer.status in ("optimal", "relaxed")
        assert gaps(levels, answer.x).max() < 1e-6, (kind, seed)


def test_a_held_bound_that_vanishes_is_let_go():
    solver = HierarchicalQP()
    task = (np.eye(1), 5.0, 5.0)
    assert solver.solve([(np.eye(1), -1.0, 1.0), task]).levels[0].active == {0: 1}
    np.testing.assert_allclose(solver.solve([(np.eye(1), -1.0, np.inf), task]).x, [5.0])
    assert solver.solve([(np.eye(1), -1.0, 1.0), task]).levels[0].active == {0: 1}
    np.testing.assert_allclose(solver.solve([(np.eye(1), 2.0, 2.0), task]).x, [2.0])


def test_reset_forgets():
    solver = HierarchicalQP()
    levels = inequalities("infeasible", 8)
    cold = solver.solve(levels).iterations
    assert solver.solve(levels).iterations == 1 <= cold
    solver.reset()
    assert solver.solve(levels).iterations == cold


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("kind", ["feasible", "vertex", "infeasible", "deficient"])
def test_at_the_limit_level_0_is_kept_and_the_answer_is_marked(kind, limit):
    marked = 0
    for seed in range(12):
        levels = inequalities(kind, seed)
        answer = HierarchicalQP(max_iterations=limit).solve(levels)
        best = HierarchicalQP().solve(levels)
        assert answer.iterations <= limit
        assert cost(levels[0], answer.x) <= cost(levels[0], best.x) + 1e-8 * (1 + np.abs(answer.x).max())
        marked += answer.status == "iteration-limit"
        if answer.status != "iteration-limit":
            np.testing.assert_allclose(answer.x, best.x, atol=1e-8 * (1 + np.abs(best.x).max()))
    assert marked or limit > 3


def test_a_deadline_is_kept():
    levels = inequalities("vertex", 1)
    answer = HierarchicalQP(deadline=0.0).solve(levels)
    assert answer.iterations == 1
    assert cost(levels[0], answer.x) < 1e-8


@pytest.mark.parametrize("kind", KINDS)
def test_multipliers_balance_and_point_the_right_way(kind):
    """A_kᵀ r_k + Σ_j A_jᵀ λ_{k,j} = 0; at the first level that a row holds back, it pushes into the feasible side."""
    for seed in range(6):
        levels = inequalities(kind, seed)
        answer = HierarchicalQP().solve(levels)
        A = np.vstack([level[0] for level in levels])
        held = np.concatenate([[level.active.get(i, 0) for i in range(len(level.residual))] for level in answer.levels])
        inequality = np.concatenate([level[1] < level[2] for level in levels])
        settled = np.zeros(len(A), dtype=bool)
        starts = np.cumsum([0] + [len(level[0]) for level in levels])
        for k, values in sorted(answer.multipliers.items()):
            free = answer.x if k == len(levels) else np.zeros(len(answer.x))
            size = np.linalg.norm(A, axis=1) @ np.abs(values) + np.linalg.norm(free)
            assert np.linalg.norm(A.T @ values + free) <= 1e-7 * (1 + size), (kind, seed, k)
            assert not values[inequality & (held == 0) & (np.arange(len(A)) < starts[min(k, len(levels))])].any()
            turned = values * held * np.linalg.norm(A, axis=1)
            assert (turned[inequality & ~settled] >= -1e-6 * size).all(), (kind, seed, k)
            settled |= turned > 1e-6 * size


def test_x_is_the_one_of_least_norm():
    """With x + y ≥ 2 leaves a half-plane: the nearest point to 0 is (1, 1); without the level below it is 0."""
    answer = HierarchicalQP().solve([(np.ones((1, 2)), 2.0, np.inf)])
    np.testing.assert_allclose(answer.x, [1, 1])
    assert answer.levels[0].active == {0: -1}
    np.testing.assert_allclose(HierarchicalQP().solve([(np.ones((1, 2)), -2.0, np.inf)]).x, [0, 0])


@pytest.mark.parametrize("kind", ["feasible", "vertex", "infeasible", "hidden"])
def test_least_norm_is_the_level_below_all_others(kind):
    for seed in range(15):
        levels = inequalities(kind, seed)
        n = levels[0][0].shape[1]
        below = [*levels, (np.eye(n), np.zeros(n), np.zeros(n))]
        x = HierarchicalQP().solve(levels).x
        np.testing.assert_allclose(x, HierarchicalQP().solve(below).x, atol=1e-8 * (1 + np.abs(x).max()))
        assert gaps(below, x).max() < 1e-6, (kind, seed)


@pytest.mark.parametrize("kind", ["feasible", "vertex", "infeasible"])
def test_x_is_continuous_in_the_bounds(kind):
    """Torques do not jump where a limit drifts."""
    for seed in range(15):
        levels = inequalities(kind, seed)
        x = HierarchicalQP().solve(levels).x
        moved = [(A, np.where(lo < up, lo - 1e-7, lo), np.where(lo < up, up + 1e-7, up)) for A, lo, up in levels]
        np.testing.assert_allclose(HierarchicalQP().solve(moved).x, x, atol=1e-4)


@pytest.mark.parametrize("seed", range(10))
def test_keeping_the_first_level_takes_a_step_or_two(seed: int) -> None:
    """It comes on top of a deadline: the search starts from the rows that a QP found."""
    rng = np.random.default_rng(seed)
    A, center, x = rng.standard_normal((60, 25)), rng.standard_normal(25), 5.0 * rng.standard_normal(25)
    lower, upper = A @ center - rng.random(60), A @ center + rng.random(60)
    lower[:4] = upper[:4] = A[:4] @ center
    rows, start = projected(A, lower, upper, x)
    assert len(rows) > 3
    search = Search(A, lower, upper, [0, 60], 1e-9)
    search.run(x, start, rows, 3, np.inf)
    assert search.optimal
    found = nearest(A, lower, upper, x, 1e-9)
    assert np.allclose(found, search.x)
    assert np.maximum(A @ found - upper, lower - A @ found).max() < 1e-9
    # nearest: what is missing to x is a sum of what the active rows pull, each in its direction
    pull = np.linalg.lstsq(A[[*range(4), *(row for row, _ in rows)]].T, x - found, rcond=None)[0]
    assert np.allclose(A[[*range(4), *(row for row, _ in rows)]].T @ pull, x - found, atol=1e-8)
    assert all(force * side > 0 for force, (_, side) in zip(pull[4:], rows, strict=True))
    assert np.array_equal(nearest(A, lower, upper, center, 1e-9), center)
