"""Bodies, joints, frames and shapes that are made by hand: copied, kept, and checked by name."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from wbc import Body, Frame, Joint, Model, Shape, WbcError
from wbc.model.parts import direction

MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Body("b", -1.0), "body 'b': its mass is -1.0 kg"),
        (lambda: Body("b", np.nan), "body 'b': its mass is nan kg"),
        (lambda: Body("b", 1.0, [1, 2]), r"body 'b': its com must be finite numbers of shape \(3,\), not \[1, 2\]"),
        (lambda: Body("b", 1.0, "here"), "body 'b': its com = 'here' is not an array of numbers"),
        (lambda: Body("b", 1.0, np.zeros(3), np.ones(3)), r"body 'b': its inertia must be .* of shape \(3, 3\)"),
        (lambda: Body("b", 1.0, np.zeros(3), np.triu(np.ones((3, 3)))), "body 'b': its inertia .* is not symmetric"),
        (lambda: Joint("j", "hinge", "world", "b"), "joint 'j': no joint type 'hinge'"),
        (lambda: Joint("j", "fixed", "world", "b", np.eye(3)), r"joint 'j': its pose must be .* of shape \(4, 4\)"),
        (lambda: Joint("j", "fixed", "world", "b", MIRROR), "joint 'j': its pose is not a homogeneous transform"),
        (lambda: Joint("j", "revolute", "world", "b", axis=[0, 0, 2]), "joint 'j': axis .* is not a unit vector"),
        (lambda: Joint("j", "revolute", "world", "b", axis=[0, 1]), r"joint 'j': its axis must be .* of shape \(3,\)"),
        (lambda: Joint("j", "revolute", "world", "b", damping=np.nan), "joint 'j': its damping is not a number"),
        (lambda: Joint("j", "revolute", "world", "b", lower=2, upper=1), "joint 'j': its lower limit 2 is above .* 1"),
        (lambda: Frame("f", "b", 2 * np.eye(4)), "frame 'f': its pose is not a homogeneous transform"),
        (lambda: Shape("b", "sphere", (1.0,), MIRROR), "shape of 'b': its pose is not a homogeneous transform"),
        (lambda: Model("m", [], [], gravity=(0, -9.81)), r"gravity of 'm' must be finite numbers of shape \(3,\)"),
        (lambda: Model("m", [], [], nominal=[0.0]), r"nominal configuration of 'm' must be .* of shape \(0,\)"),
    ],
)
def test_what_is_wrong_is_named_where_it_is_made(make, message) -> None:
    with pytest.raises(WbcError, match=message):
        make()


def test_an_inertia_is_symmetric_within_rounding_and_kept_so() -> None:
    """Cancelled entries of R D Rᵀ have rounding errors as large as themselves: the scale is the trace."""
    inertia = np.diag([3.754e-06, 0.004487, 0.004488])
    inertia[1, 2], inertia[2, 1] = 7.561e-23, -7.558e-23
    kept = Body("b", 1.0, np.zeros(3), inertia).inertia
    np.testing.assert_array_equal(kept, kept.T)
    np.testing.assert_allclose(kept, inertia, atol=1e-22)
    inertia[1, 2] = 1e-7
    with pytest.raises(WbcError, match="is not symmetric"):
        Body("b", 1.0, np.zeros(3), inertia)


def test_what_is_handed_over_is_copied_and_kept() -> None:
    com, pose = np.zeros(3), np.eye(4)
    body, joint = Body("b", 1.0, com, np.eye(3)), Joint("j", "revolute", "world", "b", pose, [0, 0, 1])
    com[0] = pose[0, 3] = 7.0
    assert body.com[0] == joint.pose[0, 3] == 0.0
    model = Model("m", [body], [joint])
    for array in (body.com, body.inertia, joint.pose, joint.axis, model.gravity, model.nominal):
        with pytest.raises(ValueError, match="read-only"):
            array.flat[0] = 1.0


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-160, 1.0, 1e160, 1e308])
def test_a_direction_may_be_of_any_length(size: float) -> None:
    for axis in np.vstack([np.eye(3), np.ones(3), [1.0, -1.0, 0.0]]):
        unit = direction(size * axis, "an axis")
        assert np.abs(unit - axis / np.linalg.norm(axis)).max() < 1e-15
        assert np.array_equal(direction(unit, "an axis"), direction(unit * 2.0, "an axis"))


@pytest.mark.parametrize("size", [1e-320, 1e300])
@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda axis: tasks.AxialMomentum(axis), lambda made: made.axis),
        (lambda axis: tasks.BaseVelocity("base", normal=axis), lambda made: made.normal),
        (lambda axis: tasks.Gaze("base", (1, 1, 1), axis=axis), lambda made: made._looking.axis),
        (lambda axis: wbc.PointContact("foot", 0.5, normal=axis), lambda made: made.normal),
        (lambda axis: wbc.Wheel(0.1, axle=axis), lambda made: made.axle),
    ],
)
def test_what_takes_a_direction_takes_it_of_any_length(make, found, size: float) -> None:
    assert np.abs(found(make((0.0, size, 0.0))) - [0.0, 1.0, 0.0]).max() == 0.0


@pytest.mark.parametrize("given", [(0, 0, 0), (1, 2), (np.nan, 0, 1), (np.inf, 0, 0)])
def test_what_is_no_direction_is_named(given) -> None:
    with pytest.raises(WbcError, match="an axis = .* must be a direction: three finite numbers, not all zero"):
        direction(given, "an axis")
