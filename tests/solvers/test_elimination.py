"""One level's elimination: bases, least squares, what is left over, and multipliers, whatever the rows are like."""

import numpy as np
import pytest

from wbc.solvers.elimination import RANK_TOLERANCE, eliminate


def rows_of(kind):
    """Rows, what is free before them, their norms, and the rank that they have in it."""
    rng = np.random.default_rng(3)
    A, Z, norms, rank = rng.standard_normal((3, 6)), np.eye(6), None, 3
    if kind == "more rows than unknowns":
        A, rank = rng.standard_normal((9, 6)), 6
    elif kind == "as many rows as unknowns":
        A, rank = rng.standard_normal((6, 6)), 6
    elif kind == "some is free":
        Z = np.linalg.qr(rng.standard_normal((6, 4)))[0]
    elif kind == "more rows than are free":
        Z, rank = np.linalg.qr(rng.standard_normal((6, 2)))[0], 2
    elif kind == "dependent":
        A = rng.standard_normal((5, 2)) @ rng.standard_normal((2, 6))
        rank = 2
    elif kind == "sizes apart":
        A *= np.array([[1e5], [1.0], [1e-5]])
    elif kind == "sizes apart and dependent":
        A = (rng.standard_normal((5, 2)) @ rng.standard_normal((2, 6))) * 10.0 ** np.array([[4], [-4], [0], [3], [-2]])
        rank = 2
    elif kind == "nearly dependent":
        A[2] = A[0] + 1e-5 * A[2]
    elif kind == "one row, nearly fixed":
        A, Z, rank = np.array([[1.0, 1e-5, 0.0]]), np.eye(3)[:, 1:], 1
    elif kind == "nothing is free of them":
        A, Z, rank = np.eye(2, 6), np.eye(6)[:, 3:], 0
    elif kind == "rounding of what was large":
        A, norms, rank = 1e-12 * A, np.ones(3), 0
    elif kind == "a row of zeros":
        A[1], rank = 0.0, 2
    elif kind == "too small to count":
        A[1] *= 1e-300 / np.linalg.norm(A[1])
        rank = 2
    return A, np.asfortranarray(Z), np.linalg.norm(A, axis=1) if norms is None else norms, rank


KINDS = (
    *("plain", "more rows than unknowns", "as many rows as unknowns", "some is free", "more rows than are free"),
    *("dependent", "sizes apart", "sizes apart and dependent", "nearly dependent", "one row, nearly fixed"),
    *("nothing is free of them", "rounding of what was large", "a row of zeros", "too small to count"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_level_is_divided_into_what_it_fixes_and_what_it_leaves(kind):
    A, Z, norms, rank = rows_of(kind)
    factor = eliminate(A, Z, norms, first=Z.shape == (6, 6))
    assert factor.rank == rank and factor.exact == (0 < rank == len(A) and kind != "as many rows as unknowns")
    assert factor.Y.shape[1] == rank and factor.Z.shape[1] == Z.shape[1] - rank
    both = np.hstack([factor.Y, factor.Z])
    np.testing.assert_allclose(both.T @ both, np.eye(Z.shape[1]), atol=1e-12)
    np.testing.assert_allclose(Z @ (Z.T @ both), both, atol=1e-12)
    np.testing.assert_allclose((A @ factor.Z) / np.maximum(norms, 1e-290)[:, None], 0.0, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_least_squares_and_multipliers(kind):
    A, Z, norms, rank = rows_of(kind)
    factor, rng = eliminate(A, Z, norms), np.random.default_rng(4)
    C, rhs, size = A @ factor.Y, rng.standard_normal(len(A)), np.maximum(norms, 1e-290)
    w, left = factor.split(rhs * size)
    assert w.shape == (rank,) and left.shape == (0 if factor.exact else len(A) - rank,)
    np.testing.assert_array_equal(factor.solve(rhs * size), w)
    missed = rhs * size - C @ w
    if factor.exact:
        np.testing.assert_allclose(missed / size, 0.0, atol=1e-9)
    else:
        np.testing.assert_allclose(C.T @ missed, 0.0, atol=1e-9 * max(norms.max() ** 2, 1e-20))
        np.testing.assert_allclose(factor.residual(left), missed, atol=1e-9 * norms.max())
        assert np.linalg.norm(left) == pytest.approx(np.linalg.norm(missed), rel=1e-6)
        assert sorted(factor.rows_left.tolist()) == sorted(set(factor.rows_left.tolist()))
        assert len(factor.rows_left) == len(A) - rank
    if rank:
        pull = rng.standard_normal((2, rank))
        found = factor.multipliers(pull)
        np.testing.assert_allclose(found @ C, pull, atol=1e-8)
        Q = np.linalg.svd(C, full_matrices=False)[0]
        np.testing.assert_allclose(found, found @ Q @ Q.T, atol=1e-6 * np.abs(found).max())  # of least norm


def test_a_direction_is_fixed_from_a_share_of_its_row_on():
    for share, rank in ((0.5 * RANK_TOLERANCE, 1), (2.0 * RANK_TOLERANCE, 2)):
        A = np.array([[1.0, 0.0, 0.0], [1e6, 1e6 * share, 0.0]])
        assert eliminate(A, np.eye(3), np.linalg.norm(A, axis=1)).rank == rank
        assert eliminate(A, np.eye(3), np.linalg.norm(A, axis=1), 0.1).rank == 1


def test_rows_of_one_size_and_clear_rank_are_factorised_as_they_stand():
    """In the others' place the rows are ordered: what is left over then stands for other rows."""
    A = np.random.default_rng(5).standard_normal((4, 2))
    for first, plain in (([1.0, 1.0, 1.0, 1.0], True), ([1.0, 1.0, 1.0, 2e3], False)):
        scaled = A / np.linalg.norm(A, axis=1)[:, None] * np.array(first)[:, None]
        factor = eliminate(scaled, np.eye(2), np.linalg.norm(scaled, axis=1))
        assert (factor.rows_left.tolist() == [2, 3]) == plain
        assert plain or 3 not in factor.rows_left
