"""What is special about the hierarchical solver: warm starts, bounds on its work, multipliers, least norm."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from tests.solvers import descent
from tests.solvers.families import KINDS, inequalities
from tests.solvers.judge import cost, gaps
from wbc import compiled as build
from wbc.errors import WbcError
from wbc.solvers import HierarchicalQP, Hierarchy, WeightedQP
from wbc.solvers.base import CompiledPlan
from wbc.solvers.hierarchical.engine import OPTIMAL, UNSOUND, Found

KERNEL = pytest.param(True, id="kernel", marks=pytest.mark.skipif(build.kernel is None, reason="not built"))


@pytest.fixture(params=[KERNEL, pytest.param(False, id="reference")])
def compiled(request):
    return request.param


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
def test_a_warm_start_changes_the_work_and_not_the_answer(seed, compiled):
    warm, steps, before = HierarchicalQP(compiled=compiled), [], None
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


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_warm_start_does_no_harm(kind, compiled):
    """The last problem had the same sizes and nothing else in common."""
    solver = HierarchicalQP(compiled=compiled)
    for seed in range(8):
        levels = inequalities(kind, seed)
        rng = np.random.default_rng(seed)
        others = [(rng.standard_normal(A.shape), lower, upper) for A, lower, upper in levels]
        solver.solve(others)
        answer = solver.solve(levels)
        assert answer.status in ("optimal", "relaxed")
        assert max(descent.gaps(levels, answer.x)) < 1e-8, (kind, seed)


def test_a_held_bound_that_vanishes_is_let_go(compiled):
    solver = HierarchicalQP(compiled=compiled)
    task = (np.eye(1), 5.0, 5.0)
    assert solver.solve([(np.eye(1), -1.0, 1.0), task]).levels[0].active == {0: 1}
    np.testing.assert_allclose(solver.solve([(np.eye(1), -1.0, np.inf), task]).x, [5.0])
    assert solver.solve([(np.eye(1), -1.0, 1.0), task]).levels[0].active == {0: 1}
    np.testing.assert_allclose(solver.solve([(np.eye(1), 2.0, 2.0), task]).x, [2.0])


def test_reset_forgets(compiled):
    solver = HierarchicalQP(compiled=compiled)
    levels = inequalities("infeasible", 8)
    cold = solver.solve(levels).iterations
    assert solver.solve(levels).iterations == 1 <= cold
    solver.reset()
    assert solver.solve(levels).iterations == cold


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("kind", ["feasible", "vertex", "infeasible", "deficient"])
def test_at_the_limit_level_0_is_kept_and_the_answer_is_marked(kind, limit, compiled):
    marked = 0
    for seed in range(12):
        levels = inequalities(kind, seed)
        answer = HierarchicalQP(max_iterations=limit, compiled=compiled).solve(levels)
        best = HierarchicalQP().solve(levels)
        # the equalities, the search, and what it takes to keep level 0
        assert answer.iterations <= 1 + limit + 50 + 2 * len(levels[0][0])
        assert cost(levels[0], answer.x) <= cost(levels[0], best.x) + 1e-8 * (1 + np.abs(answer.x).max())
        marked += answer.status == "iteration-limit"
        if answer.status == "iteration-limit":
            assert not answer.multipliers, "of no optimum"
        else:
            np.testing.assert_allclose(answer.x, best.x, atol=1e-8 * (1 + np.abs(best.x).max()))
    assert marked or limit > 3 or compiled  # its guess is often right


def test_a_deadline_is_kept(compiled):
    levels = inequalities("vertex", 1)
    answer = HierarchicalQP(deadline=0.0, compiled=compiled).solve(levels)
    assert answer.status == "iteration-limit"
    assert answer.iterations <= 1 + 1 + 50 + 2 * len(levels[0][0])
    assert cost(levels[0], answer.x) < 1e-8


@pytest.mark.parametrize("kind", KINDS)
def test_multipliers_balance_and_point_the_right_way(kind, compiled):
    """A_kᵀ r_k + Σ_j A_jᵀ λ_{k,j} = 0; at the first level that a row holds back, it pushes into the feasible side."""
    for seed in range(6):
        levels = inequalities(kind, seed)
        answer = HierarchicalQP(compiled=compiled).solve(levels)
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


def test_a_misspelt_or_impossible_option_is_an_error(monkeypatch):
    with pytest.raises(WbcError, match="max_iterations is 0"):
        HierarchicalQP(max_iterations=0)
    with pytest.raises(WbcError, match="rank_tolerance is 2"):
        HierarchicalQP(rank_tolerance=2)
    monkeypatch.setattr(build, "kernel", None)
    with pytest.raises(WbcError, match="install wbc where a C compiler is"):
        HierarchicalQP(compiled=True)
    assert HierarchicalQP().solve([(np.eye(1), 1.0, 1.0)]).x == 1.0
    assert HierarchicalQP().compiled_plan(3, 1, 2) is None


@pytest.mark.skipif(build.kernel is None, reason="not built")
def test_who_plans_levels_of_a_compiled_tick():
    class Mine(HierarchicalQP):
        pass

    plan = HierarchicalQP(max_iterations=77, rank_tolerance=1e-8).compiled_plan(3, 1, 2)
    assert plan == CompiledPlan((0, 1, 2), (1.0, 1.0, 1.0), 77, 1e-8)
    weighted = WeightedQP(ratio=10.0)
    for exact, places, factors in ((1, (0, 1, 1, 1), (1.0, 1.0, 0.1, 0.01)), (3, (0, 1, 2, 3), (1.0,) * 4)):
        plan = weighted.compiled_plan(4, exact, 2)
        assert plan.places == places and plan.factors == pytest.approx(factors) and plan.elastic is None
    for solver in (Mine(), HierarchicalQP(compiled=False), WeightedQP(compiled=False)):
        assert solver.compiled_plan(3, 1, 2) is None


def test_the_kernel_can_be_switched_off():
    code = "import wbc.compiled; assert wbc.compiled.kernel is None"
    subprocess.run([sys.executable, "-c", code], env=os.environ | {"WBC_KERNEL": "off"}, check=True)


def test_a_copy_is_on_its_own(compiled):
    """Two solvers that shared what one of them remembers would disturb each other."""
    solver, problems = HierarchicalQP(compiled=compiled), list(drifting(0, 4))
    solver.solve(problems[0])
    for twin in (copy.deepcopy(solver), pickle.loads(pickle.dumps(solver))):
        np.testing.assert_allclose(twin.solve(problems[-1]).x, HierarchicalQP().solve(problems[-1]).x, atol=1e-9)


def test_ranks_are_judged_by_the_sizes_that_are_given(compiled):
    """What an elimination has left of a row is rounding, where it is small beside the row it was."""
    hierarchy = Hierarchy([1, 1], 2)
    hierarchy.A[:] = [[1.0, 0.0], [1e-12, 2e-12]]
    hierarchy.lower[:] = hierarchy.upper[:] = [1.0, 1.0]
    assert [level.rank for level in HierarchicalQP(compiled=compiled).solve(hierarchy).levels] == [1, 1]
    hierarchy.norms = np.ones(2)
    assert [level.rank for level in HierarchicalQP(compiled=compiled).solve(hierarchy).levels] == [1, 0]
    hierarchy.weights = np.array([1.0, 1e-6])
    assert [level.rank for level in HierarchicalQP(compiled=compiled).solve(hierarchy).levels] == [1, 0]


@pytest.mark.parametrize("weight", [1e-20, 1.0, 1e20])
def test_whether_a_row_holds_does_not_depend_on_its_weight(weight, compiled):
    hierarchy = Hierarchy([2], 1)
    hierarchy.A[:], hierarchy.lower[0], hierarchy.upper[1] = 1.0, 1.0, 0.0
    hierarchy.norms, hierarchy.weights = np.ones(2), np.full(2, weight)
    answer = HierarchicalQP(compiled=compiled).solve(hierarchy)
    assert answer.status == "relaxed" and answer.levels[0].violated == (0, 1)


def test_numbers_too_large_to_compute_with_fail_and_are_forgotten(compiled):
    solver, limits = HierarchicalQP(compiled=compiled), (np.eye(1), -1.0, 1.0)
    solver.solve([limits, (np.eye(1), 5.0, 5.0)])
    with np.errstate(over="ignore"):
        answer = solver.solve([limits, (1e200 * np.eye(1), 1e200, 1e200)])
    assert answer.status == "failed" and isinstance(answer.reason, OverflowError)
    assert answer.x.tolist() == [0.0] and answer.iterations == 0
    assert solver.solve([limits, (np.eye(1), 5.0, 5.0)]).levels[0].active == {0: 1}


def test_weighted_multipliers_balance(compiled):
    levels = [(np.eye(2), -1.0, 1.0), (np.array([[1.0, 1.0], [1.0, -1.0]]), [5.0, 1.0], [5.0, 1.0], [2.0, 3.0])]
    answer = HierarchicalQP(compiled=compiled).solve(levels)
    A = np.vstack([level[0] for level in levels])
    np.testing.assert_allclose(A.T @ answer.multipliers[1], 0.0, atol=1e-9)
    np.testing.assert_allclose(answer.multipliers[1][2:], answer.residual[2:] * [2.0, 3.0], atol=1e-9)


def test_a_small_reason_holds_a_row_and_a_small_gain_is_taken(compiled):
    """The second unknown moves the equation by 3e-9 of its row only, but by 2e6 times that."""
    solver, limits = HierarchicalQP(compiled=compiled), (np.eye(2), [-1.0, -1e6], [1.0, 1e6])
    for b in (-20.0, 20.0):
        answer = solver.solve([limits, (np.array([[1.0, 3e-9]]), b, b), (np.eye(2)[1:], -2e6, -2e6)])
        np.testing.assert_allclose(answer.x, np.sign(b) * np.array([1.0, 1e6]), rtol=1e-9)
    for b in (-20.0, 20.0):
        answer = HierarchicalQP(compiled=compiled).solve(
            [limits, (np.array([[1.0, 3e-9]]), b, b), (np.eye(2)[1:], 1e5, 1e5)]
        )
        np.testing.assert_allclose(answer.x, np.sign(b) * np.array([1.0, 1e6]), rtol=1e-9)
        assert answer.iterations < 5  # where it was not believed, the row left and came back


def test_laying_rows_out_is_taken_off_the_time(monkeypatch):
    """A clock that goes on by a second each time somebody looks."""
    asked, clock = [], iter(range(100, 200))

    class Engine:
        status = OPTIMAL

        def solve(self, request):
            asked.append(request.seconds)
            side = np.zeros(1, dtype=np.int8)
            return Found(self.status, np.ones(1), np.ones(1), side, [1], 1, [], None)

    monkeypatch.setattr("wbc.solvers.hierarchical_qp.perf_counter", lambda: float(next(clock)))
    monkeypatch.setattr(HierarchicalQP, "_engine", lambda *_: Engine())
    assert HierarchicalQP(deadline=5.0).solve([(np.eye(1), 1.0, 1.0)]).time == 2.0
    HierarchicalQP(deadline=5.0).solve([(np.eye(1), 1.0, 1.0)], seconds=3.0)
    assert asked == [4.0, 2.0]
    Engine.status = UNSOUND
    assert HierarchicalQP().solve([(np.eye(1), 1.0, 1.0)]).time == 2.0


def test_without_a_warm_start_every_solve_is_the_first(compiled):
    levels = inequalities("infeasible", 8)
    solver = HierarchicalQP(warm_start=False, compiled=compiled)
    steps = [solver.solve(levels).iterations for _ in range(3)]
    assert steps == [HierarchicalQP(compiled=compiled).solve(levels).iterations] * 3 and steps[0] > 1


@pytest.mark.parametrize(("off", "status"), [(0.9e-5, "optimal"), (1.1e-5, "relaxed")])
def test_an_inequality_is_broken_by_the_size_of_its_row_and_of_x(off, status, compiled):
    """By 1e-9 of them: of a row of size 10, and an x of 1e3."""
    levels = [(np.eye(1), 1e3, 1e3), (10.0 * np.eye(1), -np.inf, 1e4 - off)]
    assert HierarchicalQP(compiled=compiled).solve(levels).status == status
