"""Pseudo-inverses: the conditions of Moore and Penrose, the formulas for full rank, and what they minimise."""

from __future__ import annotations

import numpy as np
import pytest

import wbc
from tests.equations import equation
from wbc.kinematics import (
    damped_pseudo_inverse,
    null_space_projector,
    pseudo_inverse,
    weighted_pseudo_inverse,
)

RNG = np.random.default_rng(0)
SHAPES = {"wide": (4, 7, 4), "tall": (7, 4, 4), "square": (5, 5, 5), "poor": (5, 7, 2), "poor, tall": (8, 4, 3)}


def matrix(m, n, rank, size=1.0):
    return size * RNG.standard_normal((m, rank)) @ RNG.standard_normal((rank, n))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@equation("ETH 2.195", "condition of a generalised inverse", pseudo_inverse)
@equation("ETH 2.196", "first Moore-Penrose condition", pseudo_inverse)
@equation("ETH 2.197", "second Moore-Penrose condition", pseudo_inverse)
@equation("ETH 2.198", "third Moore-Penrose condition", pseudo_inverse)
@equation("ETH 2.199", "fourth Moore-Penrose condition", pseudo_inverse)
def test_moore_penrose_conditions(shape, size) -> None:
    A = matrix(*shape, size)
    P = pseudo_inverse(A)
    assert np.allclose(A @ P @ A, A, rtol=0, atol=1e-12 * size)
    assert np.allclose(P @ A @ P, P, rtol=0, atol=1e-10 / size)
    assert np.allclose(P @ A, (P @ A).T, atol=1e-12)
    assert np.allclose(A @ P, (A @ P).T, atol=1e-12)


@equation("ETH 2.200", "pseudo-inverse, full column rank", pseudo_inverse)
def test_full_column_rank() -> None:
    A = matrix(*SHAPES["tall"])
    assert np.allclose(pseudo_inverse(A), np.linalg.inv(A.T @ A) @ A.T)


@equation("ETH 2.205", "pseudo-inverse, full row rank", pseudo_inverse)
def test_full_row_rank() -> None:
    A = matrix(*SHAPES["wide"])
    assert np.allclose(pseudo_inverse(A), A.T @ np.linalg.inv(A @ A.T))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@equation("ETH 2.201", "least squares error", pseudo_inverse)
@equation("ETH 2.202", "argument of the least error", pseudo_inverse)
@equation("ETH 2.203", "gradient of the error vanishes", pseudo_inverse)
@equation("ETH 2.204", "least squares by pseudo-inverse", pseudo_inverse)
def test_least_squares_of_least_norm(shape) -> None:
    A = matrix(*shape)
    b = RNG.standard_normal(len(A))
    x = pseudo_inverse(A) @ b
    assert np.allclose(2 * A.T @ A @ x - 2 * A.T @ b, 0, atol=1e-10)
    error = (A @ x - b) @ (A @ x - b)
    for _ in range(20):
        other = x + 0.1 * RNG.standard_normal(len(x))
        assert error <= (A @ other - b) @ (A @ other - b) + 1e-12
    assert np.allclose(null_space_projector(A) @ x, 0, atol=1e-10)  # nothing of x could be left out


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@equation("ETH 2.206", "all solutions of linear equations", pseudo_inverse, null_space_projector)
@equation("ETH 2.212", "null-space projector", null_space_projector)
def test_null_space_projector(shape) -> None:
    A = matrix(*shape)
    N = null_space_projector(A)
    assert np.allclose(N, np.eye(len(N)) - pseudo_inverse(A) @ A, atol=1e-12)
    assert np.allclose(A @ N, 0, atol=1e-12)
    assert np.allclose(N @ N, N, atol=1e-12)
    assert np.trace(N) == pytest.approx(len(N) - shape[2])  # its rank
    b = A @ RNG.standard_normal(len(N))  # one that can be met
    x = pseudo_inverse(A) @ b
    for _ in range(5):
        other = x + N @ RNG.standard_normal(len(N))
        assert np.allclose(A @ other, b, atol=1e-10)
        assert np.linalg.norm(x) <= np.linalg.norm(other) + 1e-12


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@equation("ETH 2.207", "damped pseudo-inverse", damped_pseudo_inverse)
def test_damped(shape) -> None:
    A, damping = matrix(*shape), 0.3
    P = damped_pseudo_inverse(A, damping)
    assert np.allclose(P, A.T @ np.linalg.inv(A @ A.T + damping**2 * np.eye(len(A))), atol=1e-10)
    b = RNG.standard_normal(len(A))
    x = P @ b

    def cost(x):
        return np.sum((A @ x - b) ** 2) + damping**2 * np.sum(x**2)

    assert all(cost(x) <= cost(x + 0.1 * RNG.standard_normal(len(x))) for _ in range(20))
    assert np.linalg.norm(x) <= np.linalg.norm(b) / (2 * damping)


def test_weighted_where_the_rank_is_poor() -> None:
    A, w = matrix(*SHAPES["poor"]), np.array([1.0, 0.0, 2.0, 30.0, 0.5])
    b = RNG.standard_normal(5)
    x = weighted_pseudo_inverse(A, w) @ b
    assert np.allclose(A.T @ (w * (A @ x - b)), 0, atol=1e-10)
    assert np.isfinite(weighted_pseudo_inverse(A, np.zeros(5))).all()


def test_what_is_no_matrix_is_refused() -> None:
    with pytest.raises(wbc.WbcError, match="matrix of finite numbers"):
        pseudo_inverse([1.0, np.nan])
    with pytest.raises(wbc.WbcError, match="damping = 0"):
        damped_pseudo_inverse(np.eye(2), 0)
    with pytest.raises(wbc.WbcError, match="damping = inf"):
        damped_pseudo_inverse(np.eye(2), np.inf)
    with pytest.raises(wbc.WbcError, match="tolerance = 'small'"):
        pseudo_inverse(np.eye(2), "small")
    with pytest.raises(wbc.WbcError, match="weights must be 2"):
        weighted_pseudo_inverse(np.eye(2), [1.0, -1.0])
    assert pseudo_inverse(np.zeros((0, 3))).shape == (3, 0)
    assert (pseudo_inverse(np.zeros((2, 3))) == 0).all()
