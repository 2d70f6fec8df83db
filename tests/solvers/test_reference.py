"""Parts of the reference by themselves: what seldom runs, and what only shows in what a search decides."""

import numpy as np
import pytest

from tests.solvers.families import inequalities
from tests.solvers.test_guess import rows_of
from tests.solvers.test_softening import losing
from wbc.solvers import HierarchicalQP
from wbc.solvers.hierarchical import reference
from wbc.solvers.hierarchical.multipliers import find_multipliers, is_accurate
from wbc.solvers.hierarchical.rows import LevelRows
from wbc.solvers.hierarchical.search import Outcome, Search
from wbc.solvers.hierarchical.soften import soften
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
    [([1e7], 1e-4, True), ([1e7], 1e-2, False), ([1e7 - 1, 1e7 + 1], 1e-9, True), ([1e7 - 1, 1e7 + 1], 1e-4, False)],
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


def test_what_soft_rows_pull_with_counts_in_what_a_multiplier_is_measured_by():
    hierarchy = losing(0)
    norms = np.linalg.norm(hierarchy.A, axis=1)
    rows = LevelRows(hierarchy.A, hierarchy.lower, hierarchy.upper, norms, hierarchy.starts, 1e-9)
    rows, soft = soften(rows, np.ones(len(norms)), 1, 0.02)
    working = WorkingSet(rows, soft)
    working.hold(0, 1)
    working.solve()
    found = find_multipliers(working)
    level = 3
    at, pull = np.flatnonzero(working.level_of == level), working.pulls[level]
    line, size = (of[found.levels.index(level)] for of in (found.lines, found.sizes))
    assert np.abs(pull) @ soft.length > 1e-3
    np.testing.assert_allclose(size, np.abs(line[at]) @ rows.norms[at] + np.abs(pull) @ soft.length)
