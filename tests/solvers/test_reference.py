"""Parts of the reference by themselves: what seldom runs, and what only shows in what a search decides."""

import numpy as np
import pytest

from tests.solvers.families import inequalities
from tests.solvers.test_guess import rows_of
from wbc.solvers import HierarchicalQP
from wbc.solvers.hierarchical import reference
from wbc.solvers.hierarchical.engine import UNSOUND, Request
from wbc.solvers.hierarchical.multipliers import find_multipliers, is_accurate
from wbc.solvers.hierarchical.search import Outcome, Search
from wbc.solvers.hierarchical.working_set import WorkingSet


@pytest.mark.parametrize("kind", ["feasible", "vertex", "infeasible", "repeated"])
def test_wider_bounds_lead_to_the_set_of_the_true_ones(kind):
    for seed in range(6):
        levels = inequalities(kind, seed)
        search = Search(WorkingSet(rows_of(levels)), np.inf)
        assert reference.break_cycle(search, 1000) is Outcome.OPTIMAL
        expected = HierarchicalQP().solve(levels)
        np.testing.assert_allclose(search.x, expected.x, atol=1e-8 * (1.0 + np.linalg.norm(expected.x)))
        assert not search.working.slack.any()
    assert reference.break_cycle(Search(WorkingSet(rows_of(levels)), np.inf), 1) is Outcome.STOPPED


@pytest.mark.parametrize(
    ("between", "x", "kept"),
    [
        (1.0, [5.0, 5.0, 5.0], [1.0, 1.0, 5.0]),
        (1.0, [1.0, 0.5, 7.0], [1.0, 0.5, 7.0]),
        (0.0, [5.0] * 3, [1.0, 0.0, 3.0]),
    ],
)
def test_where_a_search_was_stopped_the_levels_down_to_the_first_inequalities_are_kept(between, x, kept):
    """All of them where there are none."""
    one, two, three = np.eye(3)[:, None]
    rows = rows_of([(one, 1.0, 1.0), (two, -between, between), (three, 3.0, 3.0)])
    np.testing.assert_allclose(reference.keep_first_levels(rows, np.array(x)), kept, atol=1e-12)


def test_a_row_that_left_in_vain_comes_back_and_stays():
    """Both rows block at once, and the other one is violated more."""
    search = Search(
        WorkingSet(rows_of([(np.eye(2), -np.inf, 0.0), (np.eye(2), np.array([1.0, 5.0]), np.array([1.0, 5.0]))])),
        np.inf,
    )
    assert search.solve_set() > 0.0
    assert search._step(False, 0) == 0
    assert search.working.side.tolist() == [1, 0, 0, 0]
    assert search._stuck.tolist() == [True, False, False, False]


def test_a_search_is_careful_only_after_a_circle(monkeypatch):
    found, step = [], Search._step

    def seen(search, careful, last=None):
        found.append((careful, last))
        return step(search, careful, last)

    monkeypatch.setattr(Search, "_step", seen)
    for seed in range(6):
        Search(WorkingSet(rows_of(inequalities("vertex", seed))), np.inf).run(1000)
    assert len(found) > 12 and {careful for careful, _ in found} == {False} and {last for _, last in found} > {None}


def test_a_search_that_goes_in_a_circle_tries_with_care_and_gives_up(monkeypatch):
    """Two rows that take turns: a careful search sees its set come back three times."""
    care = []

    def leaving(search, careful=False, settled=None):
        care.append(careful)
        (held,) = np.flatnonzero(search.working.side)
        search.working.hold(1 - held, 1)
        return [int(held)]

    monkeypatch.setattr(Search, "leaving", leaving)
    search = Search(WorkingSet(rows_of([(np.eye(2), -np.inf, 1.0)])), np.inf)
    search.working.hold(0, 1)
    assert search.run(1000) is Outcome.STOPPED
    assert search.cycles == 4
    assert care == [False] * 2 + [True] * (len(care) - 2)


@pytest.mark.parametrize("cycles", [0, 1])
def test_only_a_search_that_went_in_a_circle_gets_wider_bounds(cycles, monkeypatch):
    """That of a hierarchy, and that of the point nearest to where it was stopped."""
    broken = []

    def run(search, *_):
        search.cycles = cycles
        return Outcome.STOPPED

    monkeypatch.setattr(Search, "run", run)
    monkeypatch.setattr(reference, "break_cycle", lambda search, limit: broken.append(limit) or Outcome.STOPPED)
    levels = [(np.eye(2), 1.0, 2.0)]
    assert HierarchicalQP(7, compiled=False).solve(levels).status == "iteration-limit"
    assert broken[:2] == ([7, 50 + 2 * 2] if cycles else [])


@pytest.mark.parametrize(
    ("b", "error", "accurate"),
    [
        *(([1e7], 1e-4, True), ([1e7], 1e-2, False), ([1e7 - 1, 1e7 + 1], 1e-9, True)),
        *(([1e7 - 1, 1e7 + 1], 1.5e-8, True), ([1e7 - 1, 1e7 + 1], 2.1e-8, False), ([1e7 - 1, 1e7 + 1], 1e-4, False)),
    ],
)
def test_equations_are_judged_by_their_terms_and_by_what_they_miss(b, error, accurate):
    """Rows of size 1e6: one that can be met, or two that miss each other by 2."""
    working = WorkingSet(rows_of([(1e6 * np.eye(1, 2).repeat(len(b), 0), np.array(b), np.array(b))]))
    working.solve()
    working.value = working.value + error
    assert is_accurate(working) == accurate


def test_nobody_pulls_where_nothing_is_held():
    working = WorkingSet(rows_of([(np.eye(2), -1.0, 1.0), (np.eye(2), 0.5, 0.5)]))
    working.solve()
    found = find_multipliers(working)
    assert found.levels == [] and found.lines.shape[0] == len(found.sizes) == len(found.missed) == 0


@pytest.mark.parametrize(
    ("kinds", "exact", "free"), [("=", 0, 3), ("==<=", 2, 2), ("<=", 0, 4), ("=<<", 1, 3), ("<", 0, 4), ("====", 3, 0)]
)
def test_a_guess_keeps_the_equations_down_to_the_first_inequalities(kinds, exact, free, monkeypatch):
    """It begins in what these leave free, and nobody guesses where that is nothing."""
    asked = []

    class Nothing:
        def __init__(self, *given):
            asked.append(given)

        def find(self, deadline):
            assert deadline == 7.0

    monkeypatch.setattr(reference, "Guess", Nothing)
    rows = rows_of([(np.eye(1, 4, k), 0.0 if kind == "=" else -np.inf, 0.0) for k, kind in enumerate(kinds)])
    search = Search(WorkingSet(rows), 7.0)
    search.solve_set()
    reference.guess_active_set(search)
    assert len(asked) == (free > 0) and search.x is search.working.x and not search.working.side.any()
    if free:
        ((_, x, Z, level),) = asked
        assert level == exact and Z.shape == (4, free) and x is search.working.x


def test_bounds_are_widened_by_little_and_at_random(monkeypatch):
    """By 1e-11 of each row times the size of x, give or take a half; and for the search alone."""
    given = []
    monkeypatch.setattr(WorkingSet, "widen", lambda _, slack: given.append(slack))
    sizes = 10.0 ** np.arange(-3.0, 4.0)
    search = Search(WorkingSet(rows_of([(np.diag(sizes), -1e9, 1e9)])), np.inf)
    search.x, search.cycles = np.full(7, 9.0 / np.sqrt(7.0)), 3
    assert reference.break_cycle(search, 10) is Outcome.OPTIMAL
    shares = given[0] / (1e-11 * sizes * 10.0)
    assert ((shares >= 0.5) & (shares <= 1.5)).all() and len(set(shares)) == 7
    assert len(given) == 2 and not given[1].any() and search.cycles == 0


def test_numbers_that_are_none_are_no_answer_of_any_level():
    engine = reference.Reference(2, [1, 0, 2], 10, 1e-9)
    A, bound = np.ones((3, 2)), np.zeros(3)
    engine._side[:], engine._lasting = 1, 0.5
    for wrong in (np.nan, np.inf):
        A[2, 1] = wrong
        found = engine.solve(Request(A, bound, bound, None, np.inf))
        assert found.status == UNSOUND and found.ranks == [0, 0, 0] and found.steps == 0
        assert found.x.tolist() == [0.0, 0.0] and found.value.tolist() == [0.0] * 3 == found.side.tolist()
    assert not engine._side.any() and engine._lasting == 1.0


def test_the_last_set_is_tried_where_it_was_often_right_lately():
    """It counts a tenth of what was known, each time; and a set that never lasts is no longer tried."""
    engine, steps, lasting = reference.Reference(1, [1, 1], 100, 1e-9), [], []
    A, lower, upper = np.ones((2, 1)), np.array([-1.0, 0.0]), np.array([1.0, 0.0])
    for tick in range(30):
        lower[1] = upper[1] = 5.0 if tick < 3 or tick % 2 else -5.0
        steps.append(engine.solve(Request(A, lower, upper, None, np.inf)).steps)
        lasting.append(engine._lasting)
    np.testing.assert_allclose(lasting[:4], [0.9, 0.91, 0.919, 0.9271])
    np.testing.assert_allclose(lasting[3:], 0.9271 * 0.9 ** np.arange(27.0))
    assert steps[1] == steps[2] == 1 and steps[4] > steps[-1] > 1
    engine.forget()
    assert engine._lasting == 1.0 and not engine._side.any()


def test_a_set_of_bounds_that_are_gone_is_none():
    engine = reference.Reference(1, [4], 10, 1e-9)
    engine._side[:] = [1, -1, 1, -1]
    inf = np.inf
    rows = rows_of([(np.ones((4, 1)), np.array([-inf, -inf, 2.0, 0.0]), np.array([3.0, 3.0, 2.0, inf]))])
    assert engine._start_from(rows).tolist() == [1, 0, 0, -1]


@pytest.mark.parametrize(("x", "off", "holds"), [(900.0, 0.9, True), (900.0, 1.1, False), (2000.0, 1.1e-3, False)])
def test_rounding_far_out_is_no_reason_to_hold(x, off, holds):
    """A share of 1e-9 of row and x; of the row alone where x is beyond 1000."""
    rows = rows_of([(10.0 * np.eye(1), -np.inf, 10.0 * x - off * 1e-9 * 10.0 * (1.0 + x))])
    assert reference._holds(rows, np.array([x])) == holds


@pytest.mark.parametrize(("wanted", "optimal"), [(5.0, True), (-5.0, False)])
def test_who_is_stuck_is_asked_once_more_and_then_forgotten(wanted, optimal):
    """With the wrong sign it is no optimum."""
    rows = rows_of([(np.eye(1), -np.inf, 1.0), (np.eye(1), wanted, wanted)])
    search = Search(WorkingSet(rows), np.inf)
    search.working.hold(0, 1)
    search.solve_set()
    search._stuck[0] = True
    assert search.leaving() == []
    assert search._is_optimal() == optimal
    assert not search._stuck.any()


@pytest.mark.parametrize(
    ("off", "outcome"), [(1e-10, Outcome.OPTIMAL), (-4e-10, Outcome.OPTIMAL), (4e-10, Outcome.STOPPED)]
)
def test_a_set_that_wider_bounds_led_to_must_do_for_the_true_ones(off, outcome, monkeypatch):
    """But for a share of 1e-10 of the row and of x."""
    rows = rows_of([(1e3 * np.eye(1), -np.inf, 1e3), (np.eye(1), 1.0 + off, 1.0 + off)])
    search = Search(WorkingSet(rows), np.inf)
    monkeypatch.setattr(Search, "run", lambda *_: Outcome.OPTIMAL)
    assert reference.break_cycle(search, 10) is outcome


@pytest.mark.parametrize("limit", [1, 2, 3, 5])
def test_a_search_takes_as_many_steps_as_it_may(limit):
    """Of a problem that takes more: rows enter one after the other."""
    levels = [(np.eye(8), -np.inf, -np.arange(1.0, 9.0)), (np.eye(8) + 0.9, 5.0, 5.0)]
    search = Search(WorkingSet(rows_of(levels)), np.inf)
    search.x = np.full(8, -100.0)
    assert search.run(limit) is Outcome.STOPPED and search.working.steps == limit
    assert (search.x <= -np.arange(1.0, 9.0) + 1e-9).all(), "what held still holds"
    if limit > 1:
        np.testing.assert_allclose(search.value, search.working.rows.A @ search.x, atol=1e-9)
    whole = Search(WorkingSet(rows_of(levels)), np.inf)
    whole.x = np.full(8, -100.0)
    assert whole.run(1000) is Outcome.OPTIMAL and whole.working.steps > 5


@pytest.mark.parametrize(
    ("lower", "upper", "sound"),
    [
        (np.inf, np.inf, False),
        (-np.inf, -np.inf, False),
        (2.0, 1.0, False),
        (-np.inf, np.inf, True),
        (np.nan, 1.0, False),
    ],
)
def test_bounds_that_no_number_meets_are_unsound(lower, upper, sound):
    engine = reference.Reference(1, [2], 10, 1e-9)
    found = engine.solve(Request(np.ones((2, 1)), np.array([0.0, lower]), np.array([0.0, upper]), None, np.inf))
    assert (found.status != UNSOUND) == sound


def test_a_row_that_nothing_can_meet_is_no_reason_to_go_elsewhere():
    """The point that is kept is the nearest one all the same."""
    rows = rows_of([(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([-np.inf, 1.0]), np.array([1.0, 2.0]))])
    np.testing.assert_allclose(reference.keep_first_levels(rows, np.array([5.0, 7.0])), [1.0, 7.0], atol=1e-12)
    np.testing.assert_allclose(reference.keep_first_levels(rows, np.array([-5.0, 7.0])), [-5.0, 7.0], atol=1e-12)
