"""Hierarchies of equalities only: every exact solver gives the same, and it is what projectors give."""

import numpy as np
import pytest

from tests.solvers.families import equalities
from wbc.solvers import HierarchicalQP, NullSpace, OperationalSpace, SequentialQP


def by_projectors(levels, tolerance=1e-9):
    """ETH algorithm 2 as printed: pseudo-inverses and projectors."""
    n = levels[0][0].shape[1]
    x, N = np.zeros(n), np.eye(n)
    stacked = np.zeros((0, n))
    for A, b, _ in levels:
        B = A @ N
        x = x + N @ np.linalg.pinv(
            B, rcond=tolerance * max(np.linalg.norm(A), 1e-300) / max(np.linalg.norm(B), 1e-300)
        ) @ (b - A @ x)
        stacked = np.vstack([stacked, A])
        N = np.eye(n) - np.linalg.pinv(stacked, rcond=tolerance) @ stacked
    return x


def residuals(levels, x):
    return np.concatenate([A @ x - b for A, b, _ in levels])


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_all_exact_solvers_agree(first):
    for seed in range(first, first + 50):
        levels = equalities(seed)
        reference = by_projectors(levels)
        expected = residuals(levels, reference)
        unique = None
        for solver in (NullSpace(), SequentialQP("daqp"), HierarchicalQP(), OperationalSpace()):
            answer = solver.solve(levels)
            assert answer.status == "optimal"
            size = 1 + np.abs(expected).max(initial=0.0)
            np.testing.assert_allclose(residuals(levels, answer.x), expected, atol=1e-8 * size, err_msg=f"seed {seed}")
            np.testing.assert_allclose(answer.residual, expected, atol=1e-8 * size)
            ranks = [level.rank for level in answer.levels]
            unique = ranks if unique is None else unique
            assert ranks == unique, seed
            # Least norm: x is the same even where the levels leave it free.
            np.testing.assert_allclose(
                answer.x, reference, atol=1e-8 * (1 + np.abs(reference).max()), err_msg=f"seed {seed}"
            )


def test_rows_of_any_size_have_the_same_rank():
    """A row in millimetres counts as much as one in kilometres."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((4, 6))
    size = np.array([1e-5, 1.0, 1e5, 1.0])
    b = rng.standard_normal(4)
    for solver in (NullSpace(), HierarchicalQP()):
        plain = solver.solve([(A, b, b)])
        scaled = solver.solve([(A * size[:, None], b * size, b * size)])
        assert plain.levels[0].rank == scaled.levels[0].rank == 4
        np.testing.assert_allclose(scaled.x, plain.x, atol=1e-9)


def test_a_nearly_dependent_row_does_not_blow_x_up():
    A = np.array([[1.0, 0.0], [1.0, 1e-12]])
    b = np.array([1.0, 2.0])
    for solver in (NullSpace(), HierarchicalQP()):
        answer = solver.solve([(A, b, b)])
        assert answer.levels[0].rank == 1
        assert np.abs(answer.x).max() < 2


def test_weights_multiply_the_squared_residual():
    """Least w₁ (x-1)² + w₂ (x-3)²: x = (w₁ + 3 w₂) / (w₁ + w₂)."""
    from wbc.solvers import Level

    level = Level(np.ones((2, 1)), [1.0, 3.0], [1.0, 3.0], weights=[1.0, 3.0])
    for solver in (NullSpace(), HierarchicalQP(), SequentialQP()):
        answer = solver.solve([level])
        np.testing.assert_allclose(answer.x, [2.5], atol=1e-9)
        np.testing.assert_allclose(answer.levels[0].cost, np.sqrt(1.5**2 + 3 * 0.5**2))


def test_a_row_of_weight_zero_is_as_good_as_absent():
    from wbc.solvers import Level

    level = Level(np.ones((2, 1)), [1.0, -np.inf], [1.0, -5.0], weights=[1.0, 0.0])
    np.testing.assert_allclose(HierarchicalQP().solve([level]).x, [1.0])
