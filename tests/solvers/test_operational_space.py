"""Operational-space control out of the general solver: τ = Jᵀ(Λ ẇ* + μ + p), ETH (3.90)."""

import numpy as np
import pytest

from wbc.errors import WbcError
from wbc.solvers import HierarchicalQP, NullSpace, OperationalSpace


def arm(seed, joints=7, rows=3):
    """M, b + g, J, J̇ q̇ and ẇ* of an arm that does not exist."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((joints, joints))
    M = root @ root.T + np.eye(joints)
    return M, rng.standard_normal(joints), rng.standard_normal((rows, joints)), rng.standard_normal((2, rows))


@pytest.mark.parametrize("seed", range(5))
def test_eth_3_90(seed):
    M, h, J, (Jdot_qdot, w) = arm(seed)
    inverse = np.linalg.inv(M)
    Lambda = np.linalg.inv(J @ inverse @ J.T)  # (3.87)
    mu_p = Lambda @ J @ inverse @ h - Lambda @ Jdot_qdot  # (3.88) + (3.89)
    expected = J.T @ (Lambda @ w + mu_p)  # (3.90)
    b = w + J @ inverse @ h - Jdot_qdot  # ẇ* = J M⁻¹ (τ - h) + J̇ q̇
    task = (J @ inverse, b, b)
    factor = np.linalg.inv(np.linalg.cholesky(M))
    for solver in (OperationalSpace(metric=inverse), OperationalSpace(factor=factor)):
        answer = solver.solve([task])
        np.testing.assert_allclose(answer.x, expected, atol=1e-8)
        assert len(answer.levels) == 1
    zeros = np.zeros(len(M))
    np.testing.assert_allclose(HierarchicalQP().solve([task, (factor, zeros, zeros)]).x, expected, atol=1e-8)


def test_the_metric_is_below_every_level_and_least_norm_below_it():
    levels = [(np.array([[1.0, 1.0, 0.0]]), 2.0, 2.0)]
    np.testing.assert_allclose(OperationalSpace().solve(levels).x, [1, 1, 0], atol=1e-12)
    np.testing.assert_allclose(
        OperationalSpace(metric=np.diag([3.0, 1.0, 0.0])).solve(levels).x, [0.5, 1.5, 0], atol=1e-12
    )
    aimed = OperationalSpace(factor=np.eye(3), target=[5.0, 1.0, 4.0])
    np.testing.assert_allclose(aimed.solve(levels).x, [3, -1, 4], atol=1e-12)
    np.testing.assert_allclose(OperationalSpace().solve(levels).x, NullSpace().solve(levels).x)


def test_inequalities_are_ignored_aloud():
    assert OperationalSpace().solve([(np.eye(1), 1.0, 2.0)]).status == "violated"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": np.diag([1.0, -1.0])}, "least eigenvalue is -1"),
        ({"metric": np.diag([1e-6, -1e-10])}, "least eigenvalue is -1e-10"),
        ({"metric": np.ones((2, 3))}, r"shape \(2, 3\)"),
        ({"metric": np.ones(2)}, r"metric has shape \(2,\), expected a finite square matrix"),
        ({"metric": np.diag([1.0, np.inf])}, "metric has shape .*, expected a finite square matrix"),
        ({"factor": np.ones(2)}, r"factor has shape \(2,\), expected a finite matrix"),
        ({"factor": np.diag([1.0, np.inf])}, r"factor has shape \(2, 2\), expected a finite matrix"),
        ({"factor": np.diag([1.0, np.nan])}, r"factor has shape \(2, 2\), expected a finite matrix"),
        ({"metric": np.eye(2), "factor": np.eye(2)}, "not both"),
        ({"target": [1.0]}, "needs a factor"),
    ],
)
def test_a_metric_that_is_none_is_refused(options, message):
    with pytest.raises(WbcError, match=message):
        OperationalSpace(**options)


def test_a_metric_may_miss_being_one_by_rounding():
    task = (np.ones((1, 2)), 2.0, 2.0)
    np.testing.assert_allclose(OperationalSpace(metric=np.diag([1e6, -1e-4])).solve([task]).x, [0.0, 2.0], atol=1e-12)


def test_a_metric_of_another_size_is_refused():
    with pytest.raises(WbcError, match="2 unknowns"):
        OperationalSpace(metric=np.eye(2)).solve([(np.eye(3), 0.0, 0.0)])


def test_it_says_that_its_time_was_over():
    levels = [(np.eye(1, 3), 1.0, 1.0), (np.eye(3)[1:2], 2.0, 2.0)]
    for solver in (OperationalSpace(), OperationalSpace(np.eye(3))):
        assert solver.solve(levels).status == "optimal"
        assert solver.solve(levels, seconds=-1.0).status == "iteration-limit"
