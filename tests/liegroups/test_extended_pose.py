"""SE_K(3) against the matrix exponential, and against itself."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

import wbc
from wbc.geometry import pose, so3
from wbc.liegroups import extended_pose


@st.composite
def tangents(draw) -> np.ndarray:
    count = draw(st.integers(1, 5))
    numbers = st.floats(-3.0, 3.0, allow_nan=False)
    xi = np.array(draw(st.lists(numbers, min_size=3 + 3 * count, max_size=3 + 3 * count)))
    xi[:3] *= min(1.0, 3.0 / max(np.linalg.norm(xi[:3]), 1e-9))
    return xi


def hat(xi: np.ndarray) -> np.ndarray:
    count = len(xi) // 3 - 1
    found = np.zeros((3 + count, 3 + count))
    found[:3, :3], found[:3, 3:] = so3.skew(xi[:3]), xi[3:].reshape(count, 3).T
    return found


@given(tangents())
def test_exp_is_that_of_the_matrix_and_log_leads_back(xi) -> None:
    X = extended_pose.exp(xi)
    assert scipy.linalg.expm(hat(xi)) == pytest.approx(X, abs=1e-9)
    assert extended_pose.log(X) == pytest.approx(xi, abs=1e-8)
    assert extended_pose.inverse(X) @ X == pytest.approx(np.eye(len(X)), abs=1e-12)


@given(tangents(), st.integers(0, 1000))
def test_the_adjoint_moves_a_tangent_to_the_other_side(xi, seed) -> None:
    X = extended_pose.exp(xi)
    other = np.random.default_rng(seed).normal(size=len(xi))
    moved = extended_pose.adjoint(X) @ other
    assert X @ hat(other) @ extended_pose.inverse(X) == pytest.approx(hat(moved), abs=1e-9)


def test_with_one_vector_it_is_a_pose() -> None:
    xi = np.array([0.3, -0.2, 0.9, 1.0, 2.0, 3.0])
    assert extended_pose.exp(xi) == pytest.approx(pose.exp6(np.roll(xi, 3)), abs=1e-14)


def test_bad_shapes_are_named() -> None:
    with pytest.raises(wbc.WbcError, match=r"xi has shape \(4,\)"):
        extended_pose.exp(np.zeros(4))
    with pytest.raises(wbc.WbcError, match=r"X has shape \(4, 5\)"):
        extended_pose.log(np.zeros((4, 5)))
