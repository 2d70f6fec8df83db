"""Hierarchical least squares as ETH 3.10.1–3.10.3 print it, beside our solvers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.equations import equation
from wbc.solvers import Level, NullSpace, SequentialQP


def problem(seed: int, rows: tuple[int, ...] = (3, 4, 5), unknowns: int = 9) -> list[tuple[np.ndarray, np.ndarray]]:
    """Levels A x = b; the second has a row that depends on the first, the last asks for more than is left."""
    rng = np.random.default_rng(seed)
    levels = [(rng.normal(size=(m, unknowns)), rng.normal(size=m)) for m in rows]
    levels[1][0][0] = levels[0][0].sum(axis=0)
    return levels


def null_space(A: np.ndarray, unknowns: int) -> np.ndarray:
    """A projector with A N = 0."""
    return np.eye(unknowns) - np.linalg.pinv(A, rcond=1e-9) @ A if len(A) else np.eye(unknowns)


@pytest.mark.parametrize("seed", range(5))
@equation("ETH 3.102", "a task as linear equations", Level)
@equation("ETH 3.103", "a task met in the least-squares sense", NullSpace.solve)
@equation("ETH 3.104", "solution as a sum of projected parts", NullSpace.solve)
@equation("ETH 3.105", "projectors leave tasks above alone", NullSpace.solve)
@equation("ETH 3.106", "a task's residual from the parts", NullSpace.solve)
@equation("ETH 3.107", "the part of a task", NullSpace.solve)
@equation("ETH algorithm 2", "hierarchical least squares", NullSpace)
def test_algorithm_2_line_by_line(seed: int) -> None:
    levels, n = problem(seed), 9
    x, N, parts, projectors = np.zeros(n), np.eye(n), [], []
    for k, (A, b) in enumerate(levels):
        part = np.linalg.pinv(A @ N, rcond=1e-9) @ (b - A @ x)  # (3.107)
        parts.append(part)
        projectors.append(N)
        x = x + N @ part
        N = null_space(np.vstack([A for A, _ in levels[: k + 1]]), n)
    assert np.allclose(x, sum(N @ part for N, part in zip(projectors, parts, strict=True)))  # (3.104)
    for i, (A, _) in enumerate(levels):  # (3.105)
        for N in projectors[i + 1 :]:
            assert np.allclose(A @ N, 0.0, atol=1e-10)
    answer = NullSpace().solve([Level(A, b, b) for A, b in levels])
    assert np.allclose(answer.x, x, atol=1e-9)
    (A, b), first = levels[0], answer.levels[0]
    assert np.allclose(first.residual, A @ answer.x - b)  # (3.102)
    alone = NullSpace().solve([Level(A, b, b)]).x
    assert np.allclose(alone, np.linalg.lstsq(A, b, rcond=None)[0])  # (3.103)
    for k, (level, (A, b)) in enumerate(zip(answer.levels, levels, strict=True)):
        assert np.allclose(level.residual, A @ x - b, atol=1e-9)
        # (3.106): parts of tasks below it are not in it, by (3.105)
        upto = sum(N @ part for N, part in zip(projectors[: k + 1], parts[: k + 1], strict=True))
        assert np.allclose(level.residual, A @ upto - b, atol=1e-9)
    assert answer.levels[1].cost > 0.1 and answer.levels[2].cost > 0.1  # they could not all be met


@pytest.mark.parametrize("seed", range(5))
@equation("ETH 3.108", "a least-squares problem below another", SequentialQP.solve)
def test_each_level_keeps_what_those_above_achieved(seed: int) -> None:
    """The constraint of (3.108) is the residual achieved: c is zero where the rows above are consistent, no sooner."""
    levels = problem(seed)
    answer = SequentialQP().solve([Level(A, b, b) for A, b in levels])
    for depth in range(1, 3):
        A, b = (np.concatenate(parts) for parts in zip(*levels[:depth], strict=True))
        above = SequentialQP().solve([Level(A, b, b) for A, b in levels[:depth]])
        c = A @ above.x - b
        assert (np.abs(c).max() < 1e-8) == (depth == 1)  # the second level has a row that contradicts the first
        assert np.allclose(A @ answer.x - b, c, atol=1e-6)
    A, b = (np.concatenate(parts) for parts in zip(*levels[:2], strict=True))
    Z = np.linalg.svd(A)[2][np.linalg.matrix_rank(A) :].T
    A, b = levels[2]
    assert np.allclose(Z.T @ A.T @ (A @ answer.x - b), 0.0, atol=1e-6)  # no step that keeps c does better
