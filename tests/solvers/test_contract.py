"""What every solver owes its caller."""

import subprocess
import sys
from time import perf_counter

import numpy as np
import pytest

from tests.solvers.families import equalities, inequalities
from tests.solvers.judge import cost
from wbc.errors import WbcError
from wbc.solvers import Answer, Hierarchy, Level, Solver, grade, make_solver, solver_names

SOLVERS = solver_names()
WITH_INEQUALITIES = ["elastic-qp", "hierarchical-qp", "sequential-qp", "weighted-qp"]


@pytest.mark.parametrize("name", SOLVERS)
def test_the_answer_says_what_was_done(name):
    levels = [
        Level(np.eye(3), -np.ones(3), np.ones(3), name="limits"),
        Level(np.eye(1, 3), [0.5], [0.5]),
        Level(np.zeros((0, 3)), [], []),
        Level(np.ones((1, 3)), [0.9], [0.9]),
    ]
    began = perf_counter()
    answer = make_solver(name).solve(levels)
    assert answer.status == "optimal"
    np.testing.assert_allclose(answer.x, [0.5, 0.2, 0.2], atol=1e-4)
    assert len(answer.levels) == 4
    assert [len(level.residual) for level in answer.levels] == [3, 1, 0, 1]
    assert all(level.cost < 1e-4 and level.violated == () for level in answer.levels)
    assert answer.levels[0].active == {}
    assert answer.iterations >= 0
    assert 0.0 < answer.time < perf_counter() - began


@pytest.mark.parametrize("name", WITH_INEQUALITIES)
def test_active_rows_and_relaxed_levels_are_named(name):
    hold = Level(np.eye(2), [-1, -1], [1, 1])
    answer = make_solver(name).solve([hold, Level(np.eye(2), [5, -7], [5, -7])])
    np.testing.assert_allclose(answer.x, [1, -1], atol=1e-6)
    assert answer.levels[0].active == {0: 1, 1: -1}
    assert answer.status == "optimal"
    np.testing.assert_allclose(answer.levels[1].residual, [-4, 6], atol=1e-6)
    answer = make_solver(name).solve([Level(np.ones((2, 1)), [0, 2], [1, np.inf])])
    np.testing.assert_allclose(answer.x, [1.5], atol=1e-6)
    assert answer.status == "relaxed"
    assert answer.levels[0].violated == (0, 1)
    np.testing.assert_allclose(answer.residual, [0.5, -0.5], atol=1e-6)


def test_each_level_says_which_of_its_rows_are_violated():
    levels = [(np.eye(2), -1.0, 1.0), (np.eye(1, 2), 0.5, 0.5), (np.eye(2), [0.5, 3.0], [0.5, 3.0])]
    answer = make_solver("hierarchical-qp").solve(levels)
    assert [level.violated for level in answer.levels] == [(), (), (1,)]


def test_what_nobody_graded_is_met_exactly_or_violated():
    answer = Answer(np.zeros(1), "optimal", 0, 0.0, np.array([0.0, 0.5]), _starts=[0, 1, 2], _ranks=[0, 0])
    assert [level.violated for level in answer.levels] == [(), (0,)]


def test_a_grade_is_judged_by_inequalities_alone_and_by_the_size_of_their_terms():
    def status(x, lower, upper, **options):
        laid = Hierarchy.of([(np.full((1, 1), 1e3), lower, upper)])
        return grade(laid, np.array([x]), iterations=0, time=0.0, ranks=[0], **options).status

    for options in ({}, {"candidates": [0]}):
        assert status(2.0, 0.0, 2e3, tolerance=0.0, **options) == "optimal"
        assert status(2.0, 0.0, 2e3 - 1.9e-6, **options) == "optimal", "1e-9 of 2001"
        assert status(2.0, 0.0, 2e3 - 2.1e-6, **options) == "relaxed"
        assert status(-2.0, -2e3 + 2.1e-6, 0.0, **options) == "relaxed"
        assert status(2.0, 0.0, 0.0, ignores_inequalities=True, **options) == ("violated" if options else "optimal")
    assert status(2.0, 0.0, 1.0, candidates=[]) == "optimal"
    assert status(2.0, 0.0, 1.0, ignores_inequalities=True) == "violated"
    assert status(2.0, 0.0, 1.0, status="failed") == "failed"


@pytest.mark.parametrize("name", SOLVERS)
def test_nothing_handed_over_is_changed_or_kept(name):
    levels = inequalities("infeasible", 4)
    copies = [tuple(part.copy() for part in level) for level in levels]
    solver = make_solver(name)
    answer = solver.solve(levels, validate=False)
    x, residual = answer.x.copy(), answer.residual.copy()
    for level, copy in zip(levels, copies, strict=True):
        for part, same in zip(level, copy, strict=True):
            np.testing.assert_array_equal(part, same)
            part[...] = 7.0
    solver.solve(copies)
    np.testing.assert_array_equal(answer.x, x)
    np.testing.assert_array_equal(answer.residual, residual)


@pytest.mark.parametrize("name", SOLVERS)
def test_twice_the_same_is_the_same(name):
    for kind in ("feasible", "vertex"):
        levels = inequalities(kind, 6)
        solver = make_solver(name)
        first, second = solver.solve(levels), solver.solve(levels)
        np.testing.assert_allclose(first.x, second.x, atol=1e-9 * (1 + abs(first.x).max()))


def test_levels_that_are_not_looked_at_have_their_weights_all_the_same():
    A, weights = np.eye(1).repeat(2, 0), np.array([1.0, 3.0])
    levels = [(A, np.zeros(2), np.zeros(2), weights)]
    assert Hierarchy.of(levels).weights.tolist() == Hierarchy.of(levels, False).weights.tolist() == [1.0, 3.0]
    assert Hierarchy.of([(A, np.zeros(2), np.zeros(2))], False).weights is None


@pytest.mark.parametrize("name", SOLVERS)
def test_a_hierarchy_laid_out_once_is_taken_as_it_is(name):
    levels = equalities(12)
    laid = Hierarchy([len(level[0]) for level in levels], levels[0][0].shape[1])
    assert not laid.A.any() and set(laid.lower) == {-np.inf} and set(laid.upper) == {np.inf}, (
        "rows are unbounded at first"
    )
    for k, (A, lower, upper) in enumerate(levels):
        laid.A[laid.rows(k)], laid.lower[laid.rows(k)], laid.upper[laid.rows(k)] = A, lower, upper
    np.testing.assert_array_equal(make_solver(name).solve(laid).x, make_solver(name).solve(levels).x)
    row = laid.starts[-1] - 1
    kept, laid.upper[row] = laid.upper[row], np.nan
    with pytest.raises(WbcError, match="level 2, row 14: upper is nan"):
        make_solver(name).solve(laid)
    laid.upper[row] = kept
    laid.A[0, 0] = np.nan
    with pytest.raises(WbcError, match="level 0, row 0: A is not finite"):
        make_solver(name).solve(laid)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize(
    "levels",
    [
        [(np.zeros((0, 3)), [], [])],
        [(np.zeros((2, 3)), [1, -2], [1, 5])],
        [(np.zeros((2, 0)), [0, -1], [0, 1])],
        [(np.eye(2), -np.inf, np.inf)],
        [(1e-200 * np.eye(2), 1.0, 1.0), (np.eye(2), 0.0, 1.0)],
        [(1e120 * np.eye(2), 1e120, 1e120), (1e-120 * np.eye(2), 1.0, 1.0)],
        [(np.ones((5, 2)), -np.inf, [1e300, 1, 2, 3, 4]), (np.eye(2), 1e150, 1e151)],
    ],
    ids=["empty", "zero rows", "no unknowns", "free", "tiny", "huge", "far bounds"],
)
def test_hard_numbers_neither_raise_nor_give_nan(name, levels):
    with np.errstate(all="ignore"):
        answer = make_solver(name).solve(levels)
    assert np.isfinite(answer.x).all()
    assert len(answer.levels) == len(levels)


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ([(np.eye(2), [0, 0], [1, 1]), (np.eye(3), [0] * 3, [1] * 3)], "level 1: A has 3 columns, level 0 has 2"),
        ([(np.eye(2), [0, 2], [1, 1])], "level 0, row 1: lower 2 is above upper 1"),
        ([(np.eye(2), [0, np.nan], [1, 1])], "level 0, row 1: lower is nan"),
        ([(np.eye(2), [0, 0], [1, -np.inf])], "level 0, row 1: upper is -inf"),
        ([(np.eye(2), [0, np.inf], [1, np.inf])], "level 0, row 1: lower is inf"),
        ([(np.eye(2), 0, 1), (np.array([[1, np.inf], [0, 0]]), 0, 1)], "level 1, row 0: A is not finite"),
        ([(np.eye(2), [0, 0, 0], [1, 1])], r"level 0: lower has shape \(3,\), expected \(2,\)"),
        ([(np.ones(2), 0, 1)], r"level 0: A has shape \(2,\)"),
        ([(np.eye(2), 0, 1, [1, -1])], "level 0, row 1: weight is -1"),
        ([np.eye(2)], "level 0: expected a Level or a tuple"),
        ([], "at least one level"),
    ],
)
@pytest.mark.parametrize("name", SOLVERS)
def test_bad_levels_are_errors_by_level_and_row(name, levels, message):
    with pytest.raises(WbcError, match=message):
        make_solver(name).solve(levels)


def test_a_level_is_checked_once_and_cannot_be_changed():
    with pytest.raises(WbcError, match="level 'cones', row 1: lower 3 is above upper 2"):
        Level(np.eye(2), [0, 3], [1, 2], name="cones")
    A = np.eye(2)
    level = Level(A, 0.0, 1.0)
    A[0, 0] = 5.0
    assert level.A[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        level.lower[0] = 3.0


def test_an_unknown_solver_is_told_the_nearest():
    with pytest.raises(WbcError, match=r"no solver 'hierarchic-qp'; did you mean 'hierarchical-qp'"):
        make_solver("hierarchic-qp")
    with pytest.raises(WbcError, match=r"no QP solver 'dapq'; did you mean 'daqp'"):
        make_solver("sequential-qp", qp="dapq")
    with pytest.raises(WbcError, match=r"ratio is 0\.5"):
        make_solver("weighted-qp", ratio=0.5)


def test_a_qp_solver_is_only_imported_when_asked_for():
    code = "import wbc.solvers as s, sys; s.HierarchicalQP(); s.NullSpace(); s.WeightedQP(); "
    code += "assert not {'qpsolvers', 'daqp', 'osqp'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", SOLVERS)
def test_who_has_no_time_says_so_and_does_less(name):
    """None leaves its time unread: each has some levels that it does not come to.

    Where the guess of the active set is right a full solve takes two steps, and one that was stopped takes three, for
    it looks for the nearest point that keeps level 0.
    """
    less = 0
    for seed in range(8):
        levels = inequalities("vertex", seed)
        hurried, full = (make_solver(name).solve(levels, seconds=seconds) for seconds in (0.0, np.inf))
        assert full.status != "iteration-limit"
        less += hurried.status == "iteration-limit" and hurried.iterations < max(full.iterations, 4)
    assert less >= 4


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("kind", ["vertex", "infeasible", "repeated"])
def test_when_the_time_is_over_level_0_is_kept(name, kind):
    """The work that is left then is bounded: it does not wait for a clock."""
    solver = make_solver(name)
    for seed in range(8):
        levels = inequalities(kind, seed)
        answer = solver.solve(levels, seconds=0.0)
        full = solver.solve(levels)
        assert answer.status in ("iteration-limit", full.status)
        assert np.isfinite(answer.x).all()
        if name in WITH_INEQUALITIES:
            best = cost(levels[0], make_solver("hierarchical-qp").solve(levels[:1]).x)
            assert cost(levels[0], answer.x) <= best + 1e-7 * (1 + best) * (1 + np.abs(answer.x).max())


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_keeps_to_the_contract(name):
    solver = make_solver(name)
    assert isinstance(solver, Solver)
    assert solver.ignores_inequalities == (name not in WITH_INEQUALITIES)
    assert solver.trades_priorities == (name in ("elastic-qp", "weighted-qp"))
    assert solver.yields == (name == "elastic-qp")
    assert solver.dynamically_consistent == (name == "operational-space")
    solver.reset()
    planned = solver.compiled_plan(4, 1, 3)
    assert planned is None or len(planned.places) == len(planned.factors) == 4


def test_what_a_solver_declares_is_spelt_right_and_inherited():
    class Damped(Steepest, ignores_inequalities=True):
        pass

    class Heavier(Damped):
        pass

    assert Heavier().ignores_inequalities and not Heavier().trades_priorities
    assert not Steepest().ignores_inequalities
    with pytest.raises(TypeError, match="trade_priorities"):

        class Wrong(Steepest, trade_priorities=True):
            pass

    with pytest.raises(TypeError, match="abstract"):
        Solver()


class Steepest(Solver):
    """A user's solver, in a page: gradient steps on the sum of all squared violations."""

    def solve(self, levels, *, validate=True, seconds=np.inf):
        """Solve a hierarchy."""
        began = perf_counter()
        hierarchy = Hierarchy.of(levels, validate)
        A, lower, upper = hierarchy.scaled()
        x = np.zeros(A.shape[1])
        for _ in range(500):
            value = A @ x
            x = x - A.T @ (value - np.clip(value, lower, upper)) / np.linalg.norm(A, 2) ** 2
        return grade(hierarchy, x, iterations=500, time=perf_counter() - began, ranks=[0] * len(hierarchy))


def test_a_user_writes_a_solver_in_a_page():
    answer = Steepest().solve([Level(np.eye(2), [0, 0], [1, 1]), Level(np.ones((1, 2)), 1.5, 1.5)])
    assert isinstance(answer, Answer)
    assert answer.status == "optimal"
    np.testing.assert_allclose(answer.x, [0.75, 0.75], atol=1e-6)


@pytest.mark.parametrize("qp", ["osqp", "piqp", "clarabel", "proxqp", "daqp"])
def test_any_qp_solver_by_name(qp):
    pytest.importorskip({"proxqp": "proxsuite"}.get(qp, qp))
    exact = make_solver("hierarchical-qp")
    for kind in ("feasible", "infeasible"):
        for seed in (1, 2, 3):
            levels = inequalities(kind, seed)
            expected = exact.solve(levels)
            answer = make_solver("sequential-qp", qp=qp).solve(levels)
            for mine, best in zip(answer.levels, expected.levels, strict=True):
                np.testing.assert_allclose(mine.cost, best.cost, atol=1e-4 * (1 + best.cost), err_msg=f"{kind} {seed}")


@pytest.mark.parametrize("qp", ["osqp", "piqp", "clarabel", "proxqp", "daqp"])
def test_qp_solvers_print_nothing(qp, capfd):
    pytest.importorskip({"proxqp": "proxsuite"}.get(qp, qp))
    for seed in range(3):
        make_solver("sequential-qp", qp=qp).solve(inequalities("vertex", seed))
    assert capfd.readouterr() == ("", "")


def test_sound_levels_need_no_second_look():
    for A, lower, upper, sane in (
        (1.0, -np.inf, 1.0, True),
        (1.0, -1.0, np.inf, True),
        (1.0, np.nan, 1.0, False),
        (1.0, -1.0, np.nan, False),
        (np.nan, -1.0, 1.0, False),
    ):
        hierarchy = Hierarchy([1], 1)
        hierarchy.A[:], hierarchy.lower[:], hierarchy.upper[:] = A, lower, upper
        assert hierarchy.sane() == sane
