"""The walk down a hierarchy by QPs, step by step: what is carried down, what a QP is asked, who has the last word."""

from time import perf_counter

import numpy as np
import pytest
import scipy.optimize

from wbc.errors import WbcError
from wbc.solvers import Answer, HierarchicalQP, Hierarchy
from wbc.solvers import descent as module
from wbc.solvers.descent import Descent
from wbc.solvers.elimination import RANK_TOLERANCE
from wbc.solvers.qp import QuadraticProgram

ONE, BIG = np.eye(1), 1e3 * np.eye(1, 2)
NONE = np.zeros(0, dtype=int)


def descent_of(levels, quadratic=None, deadline=np.inf):
    return Descent(Hierarchy.of(levels), quadratic or QuadraticProgram("daqp"), RANK_TOLERANCE, deadline)


class Steps:
    """A QP solver that gives what it is told to, one answer after the other, and at last None."""

    def __init__(self, *steps):
        self.steps, self.reason = list(steps), None

    def solve(self, P, q, G, lower, upper, attempt, seconds):
        return np.atleast_1d(self.steps.pop(0)) if self.steps else None


def at(x, levels, carried=(), **options):
    """A descent at a point, with such levels carried down from there."""
    descent = descent_of(levels, **options)
    for level in carried:
        descent.x = np.array(x, dtype=float)
        descent.free.append(descent.Z)
        descent.carry(np.arange(descent.starts[level], descent.starts[level + 1]))
    descent.x = np.array(x, dtype=float)
    return descent


def test_what_rows_miss_at_a_point():
    levels = [(np.diag([1.0, 2.0, 1.0, 1.0]), [3.0, -1.0, -1.0, -1.0], [3.0, 1.0, 1.0, 1.0])]
    descent, fixed, loose = at([1.0, 3.0, -2.0, 0.5], levels), np.array([0]), np.array([1, 2, 3])
    assert descent.rest(fixed).tolist() == [2.0]
    assert descent.slack(loose, descent.x).tolist() == [5.0, -1.0, 0.0]
    assert descent.cost(fixed, loose) == pytest.approx(np.sqrt(4.0 + 25.0 + 1.0))


def test_rows_are_carried_down_as_they_were_met_and_a_step_must_keep_them():
    descent = at([2.0], [(ONE, -1.0, 1.0), (ONE, -3.0, 3.0)], carried=(0, 1))
    assert descent.carried.tolist() == [0, 1]
    assert descent.low.tolist() == [-1.0, -3.0] and descent.high.tolist() == [2.0, 3.0]
    for step, kept in ((0.0, True), (-3.0, True), (0.1, False), (-3.1, False)):
        assert descent.settled(np.array([step])) == kept


@pytest.mark.parametrize(("x", "miss", "left"), [(99.0, 0.05, 2), (99.0, 0.2, 1), (0.0, 0.9e-3, 2), (0.0, 1.1e-3, 1)])
def test_what_can_not_hold_is_an_equality_from_there_on(monkeypatch, x, miss, left):
    """Beyond a millionth of the size of the row, 1000, times that of x."""
    monkeypatch.setattr(Descent, "stand_in", lambda *_: None)
    descent = descent_of([(BIG, -np.inf, 1e3 * x - miss)], Steps())
    descent.x = np.array([x, 0.0])
    descent.level(0)
    assert descent.Z.shape == (2, left)


def test_equations_need_no_qp_where_nothing_is_in_their_way():
    levels = [(np.eye(2), -1.0, 1.0), (np.eye(1, 2), 0.5, 0.5), (np.eye(2)[1:], 5.0, 5.0)]
    descent, calls = descent_of(levels), []
    for level in range(3):
        descent.level(level)
        calls.append(descent.calls)
    assert calls[:2] == [0, 0] and calls[2] > 0 and descent.ranks == [0, 1, 1]
    np.testing.assert_allclose(descent.x, [0.5, 1.0], atol=1e-9)
    assert descent.Z.shape[1] == 0 and len(descent.free) == 3 and not descent.stopped


def test_a_level_is_solved_until_it_stays():
    descent = descent_of([(ONE, -1.0, 1.0), (ONE, 5.0, 9.0)])
    for level in range(2):
        descent.level(level)
    assert descent.calls == 2 and descent.x == pytest.approx(1.0)


@pytest.mark.parametrize(("steps", "calls", "x"), [([1.0] * 20, 8, 8.0), ([1.0, 1.0, 1e-11], 3, 2.0), ([], 2, 0.0)])
def test_it_goes_on_while_that_helps_but_not_for_ever(monkeypatch, steps, calls, x):
    """Eight rounds; where a QP is not solved, once more with wider tolerances."""
    monkeypatch.setattr(Descent, "polish", lambda *_, **__: None)
    monkeypatch.setattr(Descent, "stand_in", lambda *_: None)
    descent = descent_of([(ONE, 100.0, 200.0)], Steps(*[[step, 0.0] for step in steps]))
    descent.level(0)
    assert descent.calls == calls and descent.x == pytest.approx(x)


def test_no_qp_is_asked_when_the_time_is_over():
    descent = descent_of([(ONE, 5.0, 9.0)], deadline=perf_counter() - 1.0)
    assert descent.late and not descent_of([(ONE, 0.0, 0.0)]).late
    descent.level(0)
    assert descent.calls == 0 and descent.x == 0.0


@pytest.mark.parametrize(
    ("x", "wanted", "least"),
    [
        (1.0, 5.0, True),
        (0.5, 5.0, False),
        (1.0, -5.0, False),
        (-1.0, -5.0, True),
        (-0.5, -5.0, False),
        (-1.0, 5.0, False),
        (0.7, 0.7, True),
    ],
)
def test_a_level_is_at_its_least_where_what_it_pulls_with_is_pushed_back(x, wanted, least):
    descent = at([x], [(ONE, -1.0, 1.0), (ONE, wanted, wanted)], carried=(0,))
    descent.free.append(np.eye(1))
    assert descent.is_least(1) == least


@pytest.mark.parametrize(("gap", "least"), [(0.5, True), (2.0, False)])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_row_is_at_its_bound_by_its_size_and_that_of_x(gap, least, side):
    """Within 1e-9 of the size of the row, 1000, times that of x, 100."""
    levels = [(BIG, *sorted([side * (99e3 + gap * 1e-4), -side * 1e9])), (np.eye(1, 2), side * 500.0, side * 500.0)]
    descent = at([side * 99.0, 0.0], levels, carried=(0,))
    descent.free.append(np.eye(2))
    assert descent.is_least(1) == least


def test_rows_of_any_size_push_back():
    levels = [(np.diag([1e6, 1e-6]), -np.inf, [1e6, 1e-6]), (np.eye(2), 5.0, 5.0)]
    descent = at([1.0, 1.0], levels, carried=(0,))
    descent.free.append(np.eye(2))
    assert descent.is_least(1)
    descent.free[1] = np.eye(2)[:, 1:]  # of the first row nothing is free
    assert descent.is_least(1)
    descent.x[1] = 0.5
    assert not descent.is_least(1)


def test_how_much_of_a_gradient_is_left_is_measured_by_what_pulls():
    """Two rows of size 10 that miss by 1 each, and one that could be better by a share of that."""
    A = np.array([[10.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    for share, least in ((0.5e-8, True), (2e-8, False)):
        off = 20.0 * share / 10.0
        descent = at([0.0, 0.0], [(A, [1.0, -1.0, off], [1.0, -1.0, off])])
        descent.free.append(np.eye(2))
        assert descent.is_least(0) == least
        assert descent.is_solved() and descent.is_least(0, 10.0 * 1e-8)
    for share, solved in ((0.9e-7, True), (1.1e-7, False)):
        off = 20.0 * share / 10.0
        descent = at([0.0, 0.0], [(A, [1.0, -1.0, off], [1.0, -1.0, off])])
        descent.free.append(np.eye(2))
        assert descent.is_solved() == solved
    descent.free.clear()
    assert descent.is_solved()
    descent.stopped = True
    assert not descent.is_solved()


def test_where_nobody_can_tell_a_level_is_not_at_its_least(monkeypatch):
    descent = at([1.0], [(ONE, -1.0, 1.0), (ONE, 5.0, 5.0)], carried=(0,))
    descent.free.append(np.eye(1))

    def gives_up(*_):
        raise RuntimeError("too many steps")

    monkeypatch.setattr(scipy.optimize, "nnls", gives_up)
    assert not descent.is_least(1)


@pytest.mark.parametrize(
    ("x", "status", "kept"),
    [(1.0, "optimal", True), (-1.0, "optimal", False), (1.0, "failed", False), (-1e-11, "optimal", True)],
)
def test_the_search_stands_in_where_it_does_better(monkeypatch, x, status, kept):
    """It is told what is left of the time, and how far each row may go from here."""
    asked = []

    def solve(solver, within, *, seconds):
        asked.append((within, seconds, solver.max_iterations))
        return Answer(np.array([x]), status, 7, 0.0, np.zeros(0))

    monkeypatch.setattr(HierarchicalQP, "solve", solve)
    descent = at([3.0], [(ONE, -1.0, 2.0), (ONE, 10.0, 10.0), (ONE, 0.0, 20.0)], (0,), deadline=perf_counter() + 100.0)
    descent.calls = 2
    descent.stand_in(np.array([1]), np.array([2]))
    ((within, seconds, most),) = asked
    assert descent.calls == 9 and descent.x.tolist() == [3.0 + x if kept else 3.0]
    assert 50.0 < seconds <= 100.0 and most == 10 * (3 + 10)
    assert within.lower.tolist() == [-4.0, 7.0, -3.0] and within.upper.tolist() == [0.0, 7.0, 17.0]
    assert within.A.tolist() == [[1.0], [1.0], [1.0]] and within.starts == [0, 1, 3]


@pytest.mark.parametrize(("gap", "x"), [(0.05, 99.00005), (0.2, 99.0)])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_an_exact_point_holds_the_rows_that_a_qp_found_at_their_bounds(gap, x, side):
    """Within a millionth of the size of the row times that of x. Where another row is then broken nothing changes."""
    wide = sorted([side * (99e3 + gap), -side * 1e9])
    for wanted in ((side * 200.0, side * 200.0), sorted([side * 200.0, side * 300.0])):
        descent = at([side * 99.0, 7.0], [(BIG, *wide), (np.eye(1, 2), *wanted)], carried=(0,))
        rows = (np.array([1]), NONE) if wanted[0] == wanted[1] else (NONE, np.array([1]))
        descent.polish(*rows, room_of=3e-11)
        np.testing.assert_allclose(descent.x, [side * x, 7.0], rtol=1e-13)


@pytest.mark.parametrize(("broken", "end"), [(1e-7, 8.0), (1e-5, 7.0)])
def test_an_exact_point_may_break_what_was_carried_down_by_as_much_room_as_a_qp_has(broken, end):
    """A share of the size of the row times that of x: 3e-6 here."""
    descent = at([99.0, 7.0], [(1e3 * np.eye(2)[1:], -1e9, 8e3 - broken), (np.eye(2)[1:], 8.0, 8.0)], carried=(0,))
    descent.polish(np.array([1]), NONE, room_of=3e-11)
    np.testing.assert_allclose(descent.x, [99.0, end], rtol=1e-13)


@pytest.mark.parametrize(("x", "end"), [(0.0, 2.0), (5.0, 3.0), (2.5, 2.5)])
def test_an_exact_point_meets_the_bounds_that_a_qp_missed(x, end):
    descent = at([x], [(ONE, 2.0, 3.0)])
    descent.polish(NONE, np.array([0]), room_of=3e-11)
    np.testing.assert_allclose(descent.x, [end], rtol=1e-12)


@pytest.mark.parametrize(("off", "x"), [(5e-15, 1.0 + 5e-15), (1e-9, 1.0), (1e-7, 1.0), (1e-3, 1.001)])
def test_the_first_level_is_pressed_to_where_it_was_carried_down(off, x):
    """But for rounding, and where it could not hold."""
    descent = descent_of([(ONE, -np.inf, 1.0), (ONE, 5.0, 5.0)])
    descent.x = np.array([1.0 + off])
    descent.press()
    np.testing.assert_allclose(descent.x, [x], rtol=1e-15)


@pytest.mark.parametrize(("x", "stopped", "end"), [(1.01, False, 1.0), (2.0, False, 2.0), (2.0, True, 1.0)])
def test_a_first_level_that_could_hold_is_mended_by_small_steps_or_where_nothing_else_is_left(x, stopped, end):
    descent = descent_of([(ONE, -np.inf, 1.0)])
    descent.free.append(np.eye(1))
    descent.x, descent.stopped = np.array([x]), stopped
    descent.press()
    np.testing.assert_allclose(descent.x, [end], atol=1e-12)


def test_an_answer_has_the_users_units_and_the_rows_at_their_bounds():
    levels = [(np.tile([1.0, 1e3], (4, 1)), [-1.0, 3.0, 3.0, 0.0], [3.0, 5.0, 3.0, 9.0])]
    descent = descent_of(levels)
    descent.level(0)
    np.testing.assert_allclose(descent.units, [1e3, 1.0])
    descent.x = np.array([1.0, 0.002]) / descent.units
    answer = descent.answer(Hierarchy.of(levels), perf_counter() - 5.0)
    np.testing.assert_allclose(answer.x, [1.0, 0.002])
    assert answer.side.tolist() == [1, -1, 0, 0] and answer.status == "optimal" and 5.0 <= answer.time < 50.0
    assert answer.levels[0].rank == 1 and answer.iterations == descent.calls
    descent.stopped, descent.reason = True, ValueError("why")
    answer = descent.answer(Hierarchy.of(levels), 0.0)
    assert answer.status == "iteration-limit" and answer.reason is descent.reason


def test_numbers_that_nobody_checked_are_looked_at():
    hierarchy = Hierarchy([1], 2)
    hierarchy.A[0, 1] = np.nan
    with pytest.raises(WbcError, match="level 0, row 0: A is not finite"):
        Descent(hierarchy, QuadraticProgram("daqp"), RANK_TOLERANCE, np.inf)
    assert module._ROUNDS == 8
