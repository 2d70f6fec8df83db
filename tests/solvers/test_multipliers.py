"""Who leaves the working set, and why: what multipliers are measured by, and what the rows of a set balance."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.solvers.families import inequalities
from tests.solvers.test_guess import rows_of
from wbc.solvers.hierarchical.multipliers import Multipliers, find_multipliers, leaving_rows
from wbc.solvers.hierarchical.working_set import WorkingSet


def working_set(levels, sides, norms=None):
    """All that is asked of a working set: the level of each row, and what it is held at."""
    rows = SimpleNamespace(norms=np.ones(len(levels)) if norms is None else np.array(norms))
    return SimpleNamespace(level_of=np.array(levels), side=np.array(sides, dtype=np.int8), rows=rows)


def test_a_multiplier_is_a_share_of_what_its_level_pulls_with():
    """Of a row of the level itself what it is of the largest residual counts as well, where that is more."""
    working = working_set([0, 1, 1, 2, 0], [1, -1, 1, -1, 0], [2.0, 3.0, 1e-3, 5.0, 1.0])
    lines = np.array([[4.0, 6.0, 5.0, 7.0, 9.0], [8.0, -9.0, 3.0, 0.0, 9.0]])
    found = Multipliers([2, 1], lines, np.array([10.0, 20.0]), np.array([70.0, 30.0]))
    expected = [[0.8, -1.8, 5e-4, -3.5, 0.0], [0.8, 1.35, 0.1, 0.0, 0.0]]
    np.testing.assert_allclose(found.shares(working), expected, rtol=1e-12, atol=1e-12)


class Shares(SimpleNamespace):
    """Multipliers whose shares are told."""

    def shares(self, working):
        return np.array(self.told, dtype=float)


LEVELS, SIDES = [0, 0, 1, 1, 2], [1, 1, 1, -1, 1]


@pytest.mark.parametrize(
    ("levels", "told", "leave", "first"),
    [
        ([], [], [], []),
        ([2, 1], [[0, 0, 0, 0, 0], [0.1, 0, 0, 0, 0]], [], []),
        ([1], [[-0.1, 0, -0.2, -0.3, 0]], [2, 3], [0]),  # all of the level itself, or the first of all
        ([2, 1], [[-0.1, -0.2, 0, 0, 0], [0, 0, 0, 0, 0]], [1], [0]),  # the one that is pushed most
        ([2, 1], [[-0.1, -0.2, 0, 0, 0], [0, 2e-9, 0, 0, 0]], [0], [0]),  # held for a reason by what is above
        ([2, 1], [[-0.1, -0.2, 0, 0, 0], [0, 0.5e-9, 0, 0, 0]], [1], [0]),  # too small a one
        ([2, 1], [[0.5, 0.5, 0, 0, 0], [-0.1, 0, 0, 0, 0]], [0], [0]),  # who is above says first
        ([1], [[-0.9e-10, 0, 0, 0, 0]], [], []),
        ([1], [[-1.1e-10, 0, 0, 0, 0]], [0], [0]),
        ([1], [[0, 0, 0, 0, -0.5]], [], []),  # no business of a level above it
    ],
)
def test_rows_leave_that_no_level_holds_and_one_pushes_off(levels, told, leave, first):
    working, nobody = working_set(LEVELS, SIDES), np.zeros(5, dtype=bool)
    found = Shares(levels=levels, told=told)
    assert leaving_rows(working, found, nobody, careful=False) == leave
    assert leaving_rows(working, found, nobody, careful=True) == first


def test_rows_that_are_stuck_or_not_held_stay():
    found = Shares(levels=[2], told=[[-0.5, -0.4, -0.3, 0.0, 0.0]])
    stuck = np.array([True, False, False, False, False])
    assert leaving_rows(working_set(LEVELS, SIDES), found, stuck, careful=False) == [1]
    assert leaving_rows(working_set(LEVELS, [1, 0, 1, 1, 1]), found, stuck, careful=False) == [2]
    assert stuck.tolist() == [True, False, False, False, False], "who asked keeps its own"
    wrong = Shares(levels=[1], told=[[-1e-9, 0.0, 0.0, 0.0, 0.0]])
    assert leaving_rows(working_set(LEVELS, SIDES), wrong, ~stuck, True, significant=1e-8) == []


def held_at_random(rows, seed=0):
    """The solution of a working set in which a third of the inequalities are."""
    working, rng = WorkingSet(rows), np.random.default_rng(seed)
    for row in np.flatnonzero(~working.equal & (rng.random(len(working.side)) < 0.3)).tolist():
        bounds = {side: bound[row] for side, bound in ((-1, rows.lower), (1, rows.upper))}
        sides = [side for side, bound in bounds.items() if np.isfinite(bound)]
        if sides:
            working.hold(row, sides[0])
    working.solve()
    return working


def off_balance(working, found, k):
    """How far the pull of a level and what the rows hold against it are from zero, over the pull."""
    rows, p = working.rows, len(working.held)
    line = found.lines[found.levels.index(k)]
    pull = working.x + line @ rows.A if k == p else line @ rows.A
    gross = (
        np.linalg.norm(working.x) if k == p else np.abs(line[working.level_of == k]) @ rows.norms[working.level_of == k]
    )
    assert found.sizes[found.levels.index(k)] == pytest.approx(gross, rel=1e-6)
    return np.linalg.norm(pull) / gross


@pytest.mark.parametrize("kind", ["infeasible", "deficient", "repeated", "scaled"])
def test_multipliers_balance_what_each_level_pulls_with(kind):
    for seed in range(5):
        working = held_at_random(rows_of(inequalities(kind, seed)), seed=seed)
        found = find_multipliers(working)
        assert found.levels == sorted(found.levels, reverse=True)
        for k in found.levels:
            assert off_balance(working, found, k) < 1e-7, (seed, k)
            assert not found.lines[found.levels.index(k)][working.level_of > k].any()
