"""Pyramids of forces and cones of wrenches against what they stand for: non-negative sums of the pyramids' edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from tests.tasks.motions import rotvec
from wbc.contacts.cone import force_cone, wrench_cone
from wbc.errors import WbcError
from wbc.model.parts import plane_axes

FIFTH = 2 * np.pi * np.arange(5) / 5
SOLES = {
    "rectangle": [[0.1, 0.05, 0], [0.1, -0.05, 0], [-0.1, 0.05, 0], [-0.1, -0.05, 0]],
    "off its frame": [[0.3, 0.05, -0.1], [0.3, -0.05, -0.1], [0.1, 0.05, -0.1], [0.1, -0.05, -0.1]],
    "triangle": [[0.1, 0, 0], [-0.1, 0.08, 0], [-0.05, -0.1, 0]],
    "pentagon": np.column_stack([0.1 * np.cos(FIFTH), 0.07 * np.sin(FIFTH), np.zeros(5)]),
    "not flat": [[0.1, 0.05, 0.02], [0.1, -0.05, -0.01], [-0.1, 0.05, 0.0], [-0.1, -0.06, 0.03]],
    "point inside": [[0.1, 0.05, 0], [0.1, -0.05, 0], [-0.1, 0.05, 0], [-0.1, -0.05, 0], [0, 0, 0]],
    "tiny": [[1e-3, 0, 0], [-1e-3, 1e-3, 0], [-1e-3, -1e-3, 0]],
}
NORMALS = ((0, 0, 1), (0, 0, -1), (0.2, -0.3, 0.9), (1, 0, 0), (-0.5, 0.5, 0.1))


def unit(v):
    return np.asarray(v, dtype=float) / np.linalg.norm(v)


def edges(normal, friction, sides):
    """The edges of a pyramid, by the vertices of its base: they lie on the cone, between two facets."""
    first, second = plane_axes(normal)
    angle = 2 * np.pi * np.arange(sides) / sides + np.pi / sides
    return [normal + friction * (np.cos(a) * first + np.sin(a) * second) for a in angle]


def generators(corners, normal, friction, sides):
    """Wrenches of the edges at all corners, as columns."""
    return np.array([np.r_[f, np.cross(r, f)] for r in np.asarray(corners) for f in edges(normal, friction, sides)]).T


def out_of_reach(G, w):
    """How far a wrench is from the sums of generators, relative to its size."""
    scale = 1 / np.abs(G).max(axis=1).clip(1e-9)
    return nnls(G * scale[:, None], w * scale, maxiter=1000)[1] / np.linalg.norm(w * scale)


@settings(deadline=None, max_examples=60)
@given(st.integers(3, 12), st.floats(0.0, 2.0), st.integers(0, 10**6))
def test_the_pyramid_is_inside_the_cone_and_touches_it(sides: int, friction: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    normal = unit(rng.normal(size=3))
    C = force_cone(normal, friction, sides)
    assert C.shape == (sides, 3)
    base = np.array(edges(normal, friction, sides))
    assert (base @ C.T).max() < 1e-12  # the edges are inside the pyramid, and each lies on two facets
    assert ((np.abs(base @ C.T) < 1e-12).sum(axis=1) >= 2).all()
    for weights in rng.exponential(size=(20, sides)) ** 3:
        force = weights @ base
        assert (C @ force).max() < 1e-9 * np.linalg.norm(force)
        tangent = force - normal * (normal @ force)
        assert np.linalg.norm(tangent) <= friction * (normal @ force) + 1e-9
    if friction > 1e-6:
        for force in rng.normal(size=(50, 3)):
            inside = (C @ force).max() <= 0
            assert inside == (nnls(base.T, force)[1] < 1e-9)
            if inside:
                assert np.linalg.norm(force - normal * (normal @ force)) <= friction * (normal @ force) + 1e-9


def test_without_friction_a_point_pushes_straight() -> None:
    C = force_cone(unit((1, 2, 3)), 0.0, 4, push=True)
    assert (C @ unit((1, 2, 3))).max() < 1e-12 and (C @ -unit((1, 2, 3))).max() > 0.9
    assert (C @ (unit((1, 2, 3)) + 1e-3 * unit((2, -1, 0)))).max() > 1e-4
    with pytest.raises(WbcError, match="3 sides"):
        force_cone(unit((0, 0, 1)), 0.5, 2)


@pytest.mark.parametrize("sole", SOLES)
@pytest.mark.parametrize("friction", (0.05, 0.6, 1.5))
@pytest.mark.parametrize("sides", (3, 4, 6))
def test_a_wrench_is_inside_exactly_if_forces_at_the_corners_can_exert_it(
    sole: str, friction: float, sides: int
) -> None:
    corners, rng = np.array(SOLES[sole], dtype=float), np.random.default_rng(sides)
    normal = unit(NORMALS[sides % 2 * 2])
    C, G = wrench_cone(corners, normal, friction, sides), generators(corners, normal, friction, sides)
    size = np.abs(C) @ np.abs(G)
    assert ((C @ G) / size.clip(1e-12)).max() < 1e-8
    # every facet is met by five generators that span it, so that none could be closer
    for row in C:
        on = G[:, np.abs(row @ G) < 1e-7 * (np.abs(row) @ np.abs(G))]
        assert np.linalg.matrix_rank(on / np.abs(G).max(axis=1).clip(1e-9)[:, None], tol=1e-6) == 5
    inside = outside = 0
    for _ in range(60):
        w = G @ rng.exponential(size=G.shape[1]) ** 4
        w += rng.choice([0.0, 0.1, 0.5]) * np.abs(w).max() * rng.normal(size=6) * np.abs(G).max(axis=1)
        margin = (C @ w).max() / np.linalg.norm(w[:3])
        if abs(margin) < 1e-7:
            continue
        gap = out_of_reach(G, w)
        assert (gap < 1e-7) == (margin < 0), (margin, gap)
        inside, outside = inside + (margin < 0), outside + (margin > 0)
    assert inside > 5 and outside > 5


@pytest.mark.parametrize("normal", NORMALS)
def test_any_normal(normal: tuple[float, ...]) -> None:
    """A sole that is turned as a whole, normal and corners, has the same cone, turned."""
    n = unit(normal)
    first, second = plane_axes(n)
    R = np.column_stack([first, second, n])
    assert np.linalg.norm(rotvec(R.T @ R)) < 1e-12
    corners = np.array(SOLES["pentagon"])
    G = generators(corners @ R.T, n, 0.7, 4)
    C = wrench_cone(corners @ R.T, n, 0.7, 4)
    straight = wrench_cone(corners, np.array([0.0, 0.0, 1.0]), 0.7, 4)
    rng = np.random.default_rng(0)
    for w in (G @ rng.exponential(size=(G.shape[1], 30))).T:
        turned = np.r_[R.T @ w[:3], R.T @ w[3:]]
        assert (C @ w).max() == pytest.approx((straight @ turned).max(), abs=1e-9)


@pytest.mark.parametrize("sole", ["rectangle", "off its frame", "triangle", "pentagon", "tiny"])
@pytest.mark.parametrize("normal", NORMALS[:2])
def test_without_friction_a_sole_pushes_straight_within_its_polygon(sole: str, normal: tuple[float, ...]) -> None:
    corners, n, rng = np.array(SOLES[sole], dtype=float), unit(normal), np.random.default_rng(1)
    C = wrench_cone(corners, n, 0.0, 4)
    G = np.array([np.r_[n, np.cross(r, n)] for r in corners]).T
    for weights in rng.exponential(size=(30, len(corners))):
        assert (C @ (G @ weights)).max() < 1e-9
    for axis in (0, 1, 5):  # sideways, and yaw
        for sign in (1, -1):
            assert (C @ (G.sum(axis=1) + sign * 1e-3 * np.eye(6)[axis])).max() > 1e-4
    for _ in range(100):
        point = corners.mean(axis=0) + rng.normal(size=3) * [1, 1, 0] * np.ptp(corners, axis=0).max()
        w = np.r_[n, np.cross(point, n)]
        margin = (C @ w).max()
        if abs(margin) > 1e-9:
            assert (out_of_reach(G, w) < 1e-8) == (margin < 0)


def test_corners_on_a_line_span_nothing() -> None:
    with pytest.raises(WbcError, match="span no surface"):
        wrench_cone(np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]]), unit((0, 0, 1)), 0.5, 4)
