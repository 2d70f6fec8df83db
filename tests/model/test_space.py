"""The configuration manifold: integrate and difference undo each other, quaternions stay unit, limits are respected."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wbc
from wbc import WbcError
from wbc.geometry import quaternion
from wbc.model import Body, ConfigurationSpace, Joint, Model

ROBOTS = ("planar_arm", "arm", "quadruped", "humanoid")


def everything() -> Model:
    """A chain with a joint of every kind."""
    kinds = ("floating", "fixed", "revolute", "continuous", "prismatic", "planar", "spherical")
    names = ["world", *(f"body {kind}" for kind in kinds)]
    bodies = [Body(name, 1.0, np.array([0.1, 0.2, 0.3]), 0.1 * np.eye(3)) for name in names[1:]]
    joints = [Joint(kind, kind, names[k], names[k + 1]) for k, kind in enumerate(kinds)]
    return Model("everything", bodies, joints)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.0, 1e-9, 1e-3, 1.0, 1.7]))
def test_integrate_and_difference_undo_each_other(seed: int, scale: float) -> None:
    space, rng = ConfigurationSpace(everything()), np.random.default_rng(seed)
    q, v = space.random(rng), rng.uniform(-1, 1, space.nv) * scale
    q1 = space.integrate(q, v)
    assert np.allclose(space.difference(q, q1), v, atol=1e-12)
    assert np.abs(space.difference(space.integrate(q1, v, -1.0), q)).max() < 1e-12
    other = space.random(rng)
    again = space.integrate(q, space.difference(q, other))
    assert np.abs(space.difference(again, other)).max() < 1e-12


@pytest.mark.parametrize("name", ROBOTS)
def test_random_configurations_lie_within_limits_and_are_repeatable(name: str) -> None:
    robot = wbc.load(name, "numpy")
    for seed in range(50):
        q = robot.random(np.random.default_rng(seed))
        assert np.array_equal(q, robot.random(np.random.default_rng(seed)))
        joints = q[7:] if robot.model.floating else q
        start = robot.nv - len(joints)
        assert (joints >= robot.limits.lower[start:]).all()
        assert (joints <= robot.limits.upper[start:]).all()
        if robot.model.floating:
            assert 0 < np.abs(q[:3]).min() <= np.abs(q[:3]).max() <= 1
    assert np.array_equal(robot.neutral(), robot.model.neutral())


def test_base_rotates_in_its_own_axes_and_moves_in_the_world() -> None:
    robot = wbc.load("quadruped", "numpy")
    q = np.array(robot.model.nominal)
    q[3:7] = quaternion.from_rotation_vector([0.0, 0.0, np.pi / 2])
    v = np.zeros(robot.nv)
    v[:6] = 1.0, 0.0, 0.0, 0.5, 0.0, 0.0
    moved = robot.integrate(q, v, 0.1)
    assert np.allclose(moved[:3] - q[:3], [0.1, 0.0, 0.0])
    turned = quaternion.multiply(q[3:7], quaternion.from_rotation_vector([0.05, 0.0, 0.0]))
    assert np.allclose(moved[3:7], turned)


def test_unit_quaternions_stay_unit_over_many_steps() -> None:
    robot, rng = wbc.load("quadruped", "numpy"), np.random.default_rng(0)
    q = np.array(robot.model.nominal)
    for _ in range(2000):
        q = robot.integrate(q, rng.normal(scale=20.0, size=robot.nv), 1e-2)
    assert abs(np.linalg.norm(q[3:7]) - 1.0) < 1e-14


def test_bad_times_and_sizes_are_named() -> None:
    robot = wbc.load("arm", "numpy")
    with warnings.catch_warnings(), pytest.raises(WbcError, match="dt = 1e.308 is not a finite time"):
        warnings.simplefilter("error")
        robot.integrate(robot.neutral(), np.full(7, 2.0), 1e308)
    with pytest.raises(WbcError, match="dt = inf is not a finite time"):
        robot.integrate(robot.neutral(), np.ones(7), np.inf)
    with pytest.raises(WbcError, match="q0 has shape"):
        robot.difference(np.zeros(3), robot.neutral())


@pytest.mark.parametrize(("value", "what"), [(1e200, "too large to compute with"), (np.inf, "not finite")])
def test_numbers_whose_square_is_not_finite_are_named_without_a_warning_of_numpys(value: float, what: str) -> None:
    robot = wbc.load("arm", "numpy")
    v = np.zeros(7)
    v[3] = value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for use in (lambda: robot.integrate(robot.neutral(), v), lambda: robot.update(robot.neutral(), v)):
            with pytest.raises(WbcError, match=rf"v is {what} at \[3\]: \["):
                use()
