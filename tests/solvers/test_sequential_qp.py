"""What is special about the cascade of QPs: what it does where a QP solver gives up."""

import numpy as np
import pytest

from tests.control.scenes import standing
from tests.solvers.families import inequalities
from tests.solvers.judge import gaps
from wbc.errors import WbcError
from wbc.solvers import Hierarchy, SequentialQP
from wbc.solvers import descent as module
from wbc.solvers.descent import Descent
from wbc.solvers.elimination import RANK_TOLERANCE
from wbc.solvers.qp import QuadraticProgram


class BrokenError(ArithmeticError):
    pass


@pytest.fixture
def no_qp(monkeypatch):
    """A QP solver that throws at everything."""

    def refuse(*_):
        raise BrokenError("I can't")

    monkeypatch.setattr(QuadraticProgram, "_by_daqp", refuse)


def descent_of(levels, quadratic=None):
    return Descent(Hierarchy.of(levels), quadratic or QuadraticProgram("daqp"), RANK_TOLERANCE, np.inf)


@pytest.mark.parametrize("kind", ["feasible", "vertex", "infeasible", "deficient"])
def test_without_any_qp_the_search_stands_in(no_qp, kind):
    """What was carried down holds on both of its sides, so no level is worse than it was."""
    for seed in range(12):
        levels = inequalities(kind, seed)
        answer = SequentialQP().solve(levels)
        assert answer.status in ("optimal", "relaxed")
        assert isinstance(answer.reason, BrokenError) or answer.iterations == 0
        assert gaps(levels, answer.x).max() < 1e-6, (kind, seed)


def test_a_level_that_nothing_solved_is_not_called_relaxed(no_qp, monkeypatch):
    """It stays at 0, between two rows of one level that want it at 1; neither holds the other back."""
    monkeypatch.setattr(Descent, "stand_in", lambda *_: None)
    two = np.ones((2, 1))
    for clash in ((two, [-np.inf, 2.0], [0.0, np.inf]), (two, [0.0, -np.inf], [np.inf, -2.0])):
        for above in ([], [(np.zeros((1, 1)), -1.0, 1.0)]):
            answer = SequentialQP().solve([*above, clash])
            assert answer.status == "iteration-limit" and isinstance(answer.reason, BrokenError)


def test_iterations_are_calls_of_a_qp(monkeypatch):
    calls, solve = [], QuadraticProgram.solve
    monkeypatch.setattr(QuadraticProgram, "solve", lambda *given: calls.append(None) or solve(*given))
    for kind in ("feasible", "infeasible"):
        calls.clear()
        answer = SequentialQP().solve(inequalities(kind, 3))
        assert answer.iterations == len(calls) > 0


def test_lower_bounds_are_carried_as_they_were_met(no_qp):
    """X ≥ 2 and x ≤ 1 meet at 1.5; below it, less x is wanted, and then more: neither may have it."""
    clash = (np.eye(2)[[0, 0]], [2.0, -np.inf], [np.inf, 1.0])
    for wanted in (-5.0, 5.0):
        answer = SequentialQP().solve([clash, (np.eye(2), [wanted, 1.0], [wanted, 1.0])])
        np.testing.assert_allclose(answer.x, [1.5, 1.0], atol=1e-6)
    inside = (np.eye(2), [-1.0, -1.0], [1.0, 1.0])
    for wanted in (-5.0, 5.0):
        answer = SequentialQP().solve([inside, (np.eye(1, 2), wanted, wanted), (np.ones((1, 2)), 0.25, 0.25)])
        np.testing.assert_allclose(
            answer.x, [np.sign(wanted), 0.25 - np.sign(wanted) if wanted > 0 else 1.0], atol=1e-6
        )


def test_unknowns_of_very_different_size_are_brought_to_one():
    """A row counts by its direction, whatever its length; equations, which no QP sees, are left as they are."""
    levels = [(np.array([[1e6, 0.0, 0.0], [1.0, 1.0, 1e3], [0.0, 0.0, 0.0]]), -1.0, [1.0, 1.0, 2.0])]
    alternating = np.where(np.arange(1000) % 2, 1.0, 2.0)[None]
    for given, units in (
        (levels, [1.0, 1e3, 1.0]),
        ([(np.diag([1.0, 29.0]) + 1.0, -1.0, 1.0)], [1.0, 1.0]),
        ([(alternating, -1.0, 1.0)], np.ones(1000)),
        ([(levels[0][0], 0.0, 0.0)], np.ones(3)),
    ):
        descent = descent_of(given)
        np.testing.assert_allclose(descent.units, units, rtol=1e-5)
        np.testing.assert_array_equal(descent.A, given[0][0] * descent.units)
        np.testing.assert_allclose(descent.norms, np.linalg.norm(descent.A, axis=1))


def test_what_is_carried_down_has_room_by_the_size_of_its_row_and_of_x():
    """A level's own rows have none. The second attempt has more of it, and holds z to the last point more firmly."""

    class Recorder:
        reason, asked = None, ()

        def solve(self, P, q, G, lower, upper, attempt, seconds):
            self.asked += ((np.diag(P), lower * np.linalg.norm(G, axis=1), upper * np.linalg.norm(G, axis=1)),)

    sizes, recorder = np.array([1e3, 1e-2]), Recorder()
    limits = (np.diag(sizes), [-np.inf, 0.04], [3000.0, np.inf])
    wanted = (np.array([[3.0, 4.0]]), 50.0, 60.0)
    descent = descent_of([limits, wanted], recorder)
    descent.level(0)
    descent.x = np.array([3.0, 4.0])
    recorder.asked = ()
    descent.minimise(np.arange(0), np.array([2]), np.zeros((2, 0)), np.zeros((0, 0)), np.eye(2))
    assert len(recorder.asked) == 2
    for (weights, lower, upper), (margin, weight) in zip(recorder.asked, module._ATTEMPTS, strict=True):
        room = margin * (1.0 + 5.0)  # of a row of size 1
        np.testing.assert_allclose(upper[:2], [room, np.inf], rtol=1e-4)
        np.testing.assert_allclose(lower[:2], [-np.inf, -room], rtol=1e-4)
        own = np.sqrt(1.0 + 1.0 / 25.0)  # with its slack
        np.testing.assert_allclose([lower[2], upper[2]], np.array([5.0, 7.0]) * own)
        np.testing.assert_array_equal(weights, [weight, weight, 1.0])


@pytest.mark.parametrize("row", [0, 1])
def test_a_residual_counts_by_the_size_of_its_row_and_of_x(row):
    """Below that it is rounding, and a level that has nothing else is at its least."""
    A, x = np.diag([1e3, 1e-3]), np.array([59.4, 79.2])
    rounding = 1e-11 * A[row, row] * (1.0 + 99.0)
    for residual, least in ((0.5, True), (5.0, False)):
        b = A @ x
        b[row] -= residual * rounding
        descent = descent_of([(A, b, b)])
        descent.x, descent.free = x, [np.eye(2)]
        assert descent.is_least(0) == least


@pytest.mark.parametrize("wanted", [(-np.inf, -20.0), (-20.0, -20.0)])
def test_the_exact_point_may_cost_what_the_room_was_worth_and_no_more(wanted):
    """X ≥ -1 was carried down and 10 x = -20 or less is wanted: a QP that went to -1 - 1e-7 has won 1e-6."""
    levels = [(np.eye(1), -1.0, np.inf), (10.0 * np.eye(1), *wanted)]
    for start, room, end in ((-1.0 - 1e-7, 3e-11, -1.0), (-1.0 - 1e-7, 3e-13, -1.0 - 1e-7), (-0.5, 3e-11, -0.5)):
        descent = descent_of(levels)
        descent.level(0)
        descent.x = np.array([start])
        descent.polish(*np.split(np.array([1]), [int(wanted[0] == wanted[1])]), room)
        np.testing.assert_allclose(descent.x, end, rtol=1e-12)


def test_a_row_is_violated_beyond_the_tolerance_that_is_told():
    for bound, status in ((0.9e-6, "optimal"), (1.5e-6, "relaxed")):
        answer = SequentialQP().solve([(np.eye(1), 0.0, 0.0), (np.eye(1), bound, 1.0)])
        assert answer.status == status


def test_it_says_why_a_qp_was_not_solved():
    qp = QuadraticProgram("daqp")
    one, twice = np.eye(1), np.ones((2, 1))
    assert qp.solve(one, np.zeros(1), twice, np.array([2.0, -np.inf]), np.array([np.inf, 1.0])) is None
    assert "gave no answer" in str(qp.reason)
    assert qp.solve(one, np.zeros(1), one, np.array([2.0]), np.array([np.inf])) == pytest.approx(2.0)
    assert qp.reason is None


def test_no_row_is_marked_as_soft_for_daqp(monkeypatch):
    """DAQP 0.11 writes beyond its memory at some of these: no mark at all reaches it."""
    daqp, given = pytest.importorskip("daqp"), []
    solve = daqp.solve
    monkeypatch.setattr(daqp, "solve", lambda *args, **more: given.append((args[5], set(more))) or solve(*args, **more))
    ours, q = standing("humanoid", "numpy", "sequential-qp")
    rng = np.random.default_rng(0)
    for tick in range(6):
        ours.step(q, rng.normal(scale=1.0, size=ours.robot.nv), 1e-3 * tick)
    assert len(given) > 6
    assert all(sense.dtype == np.int32 and not sense.any() and more == {"primal_tol"} for sense, more in given)


@pytest.mark.parametrize("name", ["daqp", "osqp", "proxqp", "piqp"])
def test_a_bound_is_infinite_from_one_size_on(name):
    pytest.importorskip({"proxqp": "proxsuite"}.get(name, name))
    one = np.eye(2)
    for far in (np.inf, 1e20, 1e25):
        found = QuadraticProgram(name).solve(one, -np.ones(2), one, np.full(2, -far), np.array([0.5, far]))
        np.testing.assert_allclose(found, [0.5, 1.0], atol=1e-6)


@pytest.mark.parametrize("name", ["daqp", "osqp", "proxqp", "piqp"])
def test_both_bounds_of_a_row_are_kept_by_every_qp_solver(name):
    """Without the cascade, which would repair a point that is wrong."""
    pytest.importorskip({"proxqp": "proxsuite"}.get(name, name))
    G = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    lower, upper = np.array([2.0, -np.inf, -1.0]), np.array([np.inf, -2.0, 1.0])
    for attempt in (0, 1):
        for q, last in ((-3.0, 1.0), (3.0, -1.0), (0.5, -0.5)):
            found = QuadraticProgram(name).solve(np.eye(3), np.array([0.0, 0.0, q]), G, lower, upper, attempt)
            np.testing.assert_allclose(found, [2.0, -1.0, last], atol=1e-2 if attempt else 1e-6)


def test_an_unknown_qp_solver_is_an_error():
    with pytest.raises(WbcError, match="did you mean 'daqp'"):
        SequentialQP("daqpp")


def test_a_programme_of_daqp_ends_at_its_time() -> None:
    """It was looked at between programmes only; one of them took 9 ms of a tick that had 4."""
    rng = np.random.default_rng(0)
    rows, far = rng.normal(size=(400, 60)), rng.uniform(0.1, 1.0, 400)
    programme = QuadraticProgram("daqp")
    given = np.eye(60), 50.0 * rng.normal(size=60), rows, -far, far
    assert programme.solve(*given, seconds=1e-6) is None
    assert programme.solve(*given, seconds=60.0) is not None
