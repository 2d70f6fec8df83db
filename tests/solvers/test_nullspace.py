"""The numbers of ETH example 2.9.1, and damping."""

import numpy as np
import pytest

from tests.equations import equation
from wbc.errors import WbcError
from wbc.solvers import HierarchicalQP, LevelAnswer, NullSpace, SequentialQP

J_E = 0.5 * np.array([[0.0, -np.sqrt(3.0), -np.sqrt(3.0)], [-4.0, -3.0, -1.0]])  # ETH (2.224)
W_E = np.ones(2)  # ETH (2.223)
J_J = np.eye(2, 3)  # ETH (2.227)
EXACT = [NullSpace(), HierarchicalQP(), SequentialQP()]


@pytest.mark.parametrize("solver", EXACT, ids=lambda solver: type(solver).__name__)
@equation("ETH 2.222", "tracking a hand's velocity", HierarchicalQP, NullSpace, SequentialQP)
@equation("ETH 2.225", "the hand alone, numbers", HierarchicalQP, NullSpace, SequentialQP)
@equation("ETH 2.226", "the hand's velocity is met", HierarchicalQP)
@equation("ETH 2.228", "hand and joints, one priority", HierarchicalQP)
@equation("ETH 2.229", "hand and joints, at an instant", HierarchicalQP)
@equation("ETH 2.230", "hand and joints, numbers", HierarchicalQP, NullSpace, SequentialQP)
@equation("ETH 2.231", "hand's and joints' velocity, stacked", HierarchicalQP)
@equation("ETH 2.232", "error of the hand, one priority", HierarchicalQP)
@equation("ETH 2.233", "error of the joints, one priority", HierarchicalQP)
@equation("ETH 2.234", "error of the hand, alone", HierarchicalQP)
@equation("ETH 2.235", "error of the joints, hand alone", HierarchicalQP)
@equation("ETH 2.236", "the hand first", HierarchicalQP, NullSpace, SequentialQP)
@equation("ETH 2.238", "the hand first, numbers", HierarchicalQP, NullSpace, SequentialQP)
@equation("ETH 2.239", "error of the hand, first", LevelAnswer)
@equation("ETH 2.240", "error of the joints, hand first", LevelAnswer)
def test_eth_2_9_1(solver):
    """Single task (2.225), stacked (2.230)-(2.233), prioritised (2.238)-(2.240), and the errors (2.234), (2.235)."""
    end_effector, joints = (J_E, W_E, W_E), (J_J, np.zeros(2), np.zeros(2))

    single = solver.solve([end_effector]).x
    np.testing.assert_allclose(single, [0.069, -0.560, -0.595], atol=5e-4)
    np.testing.assert_allclose(J_E @ single, W_E, atol=1e-12)  # (2.226), (2.234)
    np.testing.assert_allclose(np.sum((J_J @ single) ** 2), 0.319, atol=5e-4)

    stack = solver.solve([(np.vstack([J_E, J_J]), np.r_[W_E, 0, 0], np.r_[W_E, 0, 0])]).x
    np.testing.assert_allclose(stack, [-0.133, -0.067, -1.132], atol=5e-4)
    np.testing.assert_allclose(np.vstack([J_E, J_J]) @ stack, [1.039, 0.933, -0.133, -0.067], atol=5e-4)
    np.testing.assert_allclose(np.sum((W_E - J_E @ stack) ** 2), 0.0059, atol=5e-5)
    np.testing.assert_allclose(np.sum((J_J @ stack) ** 2), 0.0223, atol=5e-5)

    answer = solver.solve([end_effector, joints])
    np.testing.assert_allclose(answer.x, [-0.169, -0.085, -1.070], atol=5e-4)
    np.testing.assert_allclose(answer.levels[0].cost, 0.0, atol=1e-12)
    np.testing.assert_allclose(answer.levels[1].cost ** 2, 0.036, atol=5e-4)


def test_damping_is_the_damped_pseudo_inverse():
    """ETH (2.207): Aᵀ (A Aᵀ + λ² I)⁻¹ b, also for rows of low rank."""
    rng = np.random.default_rng(1)
    for A in (rng.standard_normal((4, 7)), rng.standard_normal((4, 2)) @ rng.standard_normal((2, 7))):
        b = rng.standard_normal(4)
        expected = A.T @ np.linalg.solve(A @ A.T + 0.3**2 * np.eye(4), b)
        np.testing.assert_allclose(NullSpace(damping=0.3).solve([(A, b, b)]).x, expected, atol=1e-12)


def test_damping_bounds_x_near_a_singularity():
    A = np.diag([1.0, 1e-6])
    b = np.ones(2)
    assert np.abs(NullSpace().solve([(A, b, b)]).x).max() > 1e5
    assert np.abs(NullSpace(damping=0.1).solve([(A, b, b)]).x).max() < 6


def test_a_negative_damping_is_refused():
    with pytest.raises(WbcError, match="damping is -1"):
        NullSpace(damping=-1)


def test_violated_inequalities_are_named():
    levels = [(np.eye(2), [-1, -1], [1, 1]), (np.eye(2), [3.0, 0.5], [3.0, 0.5])]
    answer = NullSpace().solve(levels)
    np.testing.assert_allclose(answer.x, [3.0, 0.5])
    assert answer.status == "violated"
    assert answer.levels[0].violated == (0,)
    assert NullSpace().solve([levels[0], (np.eye(2), [0.5, 0.5], [0.5, 0.5])]).status == "optimal"


def test_equations_are_found_among_inequalities_on_any_level():
    levels = [(np.eye(1, 3), 5.0, 5.0), (np.eye(3)[1:], [0.0, 2.0], [1.0, 2.0])]
    answer = NullSpace().solve(levels)
    np.testing.assert_allclose(answer.x, [5.0, 0.0, 2.0], atol=1e-12)
    assert [level.rank for level in answer.levels] == [1, 1] and answer.status == "optimal"


def test_levels_for_which_there_is_no_time_are_said_to_be_left_out():
    levels = [(np.eye(1, 3, k), np.ones(1), np.ones(1)) for k in range(3)]
    hurried, whole = NullSpace().solve(levels, seconds=-1.0), NullSpace().solve(levels)
    assert hurried.status == "iteration-limit" and whole.status == "optimal"
    np.testing.assert_allclose(hurried.x, [1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(whole.x, np.ones(3), atol=1e-12)


def test_a_level_without_equations_fixes_nothing():
    levels = [(np.eye(1, 3), 1.0, 1.0), (np.zeros((0, 3)), [], []), (np.eye(3), -1.0, 1.0), (np.eye(2, 3), 2.0, 2.0)]
    assert [level.rank for level in NullSpace().solve(levels).levels] == [1, 0, 0, 1]
    assert [level.rank for level in NullSpace().solve(levels, seconds=-1.0).levels] == [1, 0, 0, 0]
