"""Where LAPACK's fast way to singular values ends without, the slow one finds the same."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import pytest

import tasks
import wbc
from wbc.singular_values import least_squares, svd


def never(*given: object, **options: object) -> NoReturn:
    raise np.linalg.LinAlgError("SVD did not converge")


@pytest.mark.parametrize("full", [False, True])
def test_singular_values(full: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    A = np.random.default_rng(0).normal(size=(4, 7))
    expected = svd(A, full)
    monkeypatch.setattr(np.linalg, "svd", never)
    U, sizes, V = svd(A, full)
    assert U.shape == expected.U.shape and V.shape == expected.V.shape
    np.testing.assert_allclose(sizes, expected.sizes, rtol=1e-12)
    np.testing.assert_allclose((U[:, :4] * sizes) @ V[:4], A, atol=1e-12)


@pytest.mark.parametrize("rcond", [None, 1e-9, 0.5])
@pytest.mark.parametrize("shape", [(4,), (4, 2)])
def test_least_squares(rcond: float | None, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(4, 7)), rng.normal(size=shape)
    A[3] = A[2]  # of rank 3
    expected = least_squares(A, b, rcond)
    monkeypatch.setattr(np.linalg, "lstsq", never)
    np.testing.assert_allclose(least_squares(A, b, rcond), expected, atol=1e-12)


def test_a_tick_and_its_explanation_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = wbc.load("arm", "numpy")
    levels = tasks.EquationOfMotion() / tasks.TorqueLimits() / tasks.EndEffectorAcceleration("tool", np.eye(4))
    ours = wbc.Controller(robot, wbc.Stack(levels / tasks.JointAcceleration()))
    for name in ("svd", "lstsq"):
        monkeypatch.setattr(np.linalg, name, never)
    solution = ours.step(robot.model.nominal, np.zeros(7))
    assert "tool" in solution.explain() and solution.health is not None
