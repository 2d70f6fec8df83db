"""Friction cones as a task: which forces it lets through, for contacts of every kind."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tasks
import wbc
from tests.tasks.motions import Moving

SQUARE = [[0.1, 0.05], [0.1, -0.05], [-0.1, 0.05], [-0.1, -0.05]]
TILTED = (0.4, -0.2, 0.9)


def holds(task, robot, tick, f, margin=0.0):
    """Whether forces satisfy the rows; the other variables do not matter."""
    A, lower, upper = task.matrices(robot, tick)
    assert not A[:, tick.acceleration].any() and not A[:, tick.torque].any()
    values = A[:, tick.force] @ f
    slack = margin * np.abs(f).max()
    return bool((values >= lower - slack).all() and (values <= upper + slack).all())


@pytest.mark.parametrize("on", (None, "RF_thigh"))
@pytest.mark.parametrize("sides", (3, 4, 7))
def test_points_do_not_slide(on: str | None, sides: int) -> None:
    """Forces that pass lie in the true cone about the normal, which turns with the body that is touched."""
    moving = Moving("quadruped", sides)
    robot, rng = moving.robot, moving.rng
    contact = wbc.PointContact("LF_foot", 0.7, normal=TILTED, on=on)
    tick = wbc.Tick(robot, (contact,))
    task = tasks.FrictionCones(sides)
    for _ in range(2):  # in two states: the cone of a contact on a body is another one in each
        robot.update(robot.random(rng))
        n = np.array(TILTED) / np.linalg.norm(TILTED)
        if on is not None:
            n = robot.pose(on)[:3, :3] @ n
        assert np.allclose(contact.normals(robot), n)
        passed = 0
        for force in rng.normal(size=(400, 3)) + 1.2 * n:
            normal = n @ force
            true = 0.7 * normal - np.linalg.norm(force - normal * n)
            if holds(task, robot, tick, force):
                assert true >= -1e-12
                passed += 1
            elif true > 0:  # in the cone, but beyond the pyramid: at most the gap between the two
                assert true <= 0.7 * normal * (1 - math.cos(math.pi / sides)) + 1e-12
            assert contact.margin(robot, force, sides) == pytest.approx(min(true, normal))
        assert passed > 20


def test_normal_forces_stay_between_minimum_maximum_and_ceiling() -> None:
    moving = Moving("quadruped", 3)
    contact = wbc.PointContact("LF_foot", minimum=20.0, maximum=100.0)
    tick, task = wbc.Tick(moving.robot, (contact,)), tasks.FrictionCones()
    for ceiling, least, most in ((100.0, 20.0, 100.0), (50.0, 20.0, 50.0), (10.0, 10.0, 10.0), (0.0, 0.0, 0.0)):
        tick = tick.replace(ceilings=[ceiling])
        for normal in (0.0, 5.0, 10.0, 15.0, 20.0, 40.0, 60.0, 100.0, 110.0):
            assert holds(task, moving.robot, tick, np.array([0, 0, normal])) == (least <= normal <= most)
        assert not holds(task, moving.robot, tick, np.array([0, 0, -1.0]))


@pytest.mark.parametrize("normal", ((0, 0, 1), TILTED))
@pytest.mark.parametrize("friction", (0.0, 0.7))
def test_wrenches_that_pass_are_those_of_corner_forces_that_pass(friction: float, normal: tuple[float, ...]) -> None:
    moving = Moving("humanoid", 5)
    robot, rng = moving.robot, moving.rng
    options = {"friction": friction, "corners": SQUARE, "normal": normal}
    as_wrench = wbc.SurfaceContact("left_foot", **options)
    at_corners = wbc.SurfaceContact("left_foot", **options, forces="corners")
    task, other = tasks.FrictionCones(), tasks.FrictionCones()
    wrenches, corners = wbc.Tick(robot, (as_wrench,)), wbc.Tick(robot, (at_corners,))
    n = robot.pose("left_foot")[:3, :3] @ as_wrench.normal
    tangents = np.linalg.svd(n[None])[2][1:]
    passed = 0
    for _ in range(200):
        parts = rng.exponential(size=(4, 1)) * n + 0.3 * friction * rng.normal(size=(4, 2)) @ tangents
        f = parts.ravel()
        wrench = at_corners.wrench(robot, f)
        if holds(other, robot, corners, f, 1e-12):
            passed += 1
            assert holds(task, robot, wrenches, wrench, 1e-9)
            assert at_corners.margin(robot, f, 4) > -1e-9 and as_wrench.margin(robot, wrench, 4) > -1e-9
        assert corners.contact_jacobian(robot).T @ f == pytest.approx(wrenches.contact_jacobian(robot).T @ wrench)
    assert passed > 20
    pull = np.r_[-n, np.zeros(3)]
    assert not holds(task, robot, wrenches, pull)
    assert not holds(other, robot, corners, np.tile(-n, 4))
    # one corner may not pull however hard the others push
    assert not holds(other, robot, corners, np.r_[-0.1 * n, 5 * n, 5 * n, 5 * n])
    # the centre of pressure stays in the sole
    R = robot.pose("left_foot")[:3, :3]
    for x, y, inside in ((0.09, 0.04, True), (0.12, 0.0, False), (0.0, -0.06, False), (-0.09, 0.049, True)):
        f = np.r_[n, np.cross(R @ np.array([x, y, 0.0]), n)]
        assert holds(task, robot, wrenches, f, 1e-9) == inside


def test_yaw_moment_is_bounded_by_what_friction_leaves() -> None:
    moving = Moving("humanoid", 6)
    robot = moving.robot
    contact = wbc.SurfaceContact("left_foot", 0.5, corners=SQUARE)
    tick, task = wbc.Tick(robot, (contact,)), tasks.FrictionCones()
    n = robot.pose("left_foot")[:3, :3][:, 2]
    radius = math.hypot(0.1, 0.05)
    assert holds(task, robot, tick, np.r_[n, 0.4 * 0.5 * radius * n])
    assert not holds(task, robot, tick, np.r_[n, 1.01 * 0.5 * radius * n])


@pytest.mark.parametrize("backend", ("numpy", "pinocchio"))
def test_several_contacts_come_and_go(backend: str) -> None:
    """The layout follows the contacts; rows have names; without contacts there are no rows."""
    robot = Moving("humanoid", 7, backend).robot
    hand = wbc.PointContact("right_hand", on="left_thigh")
    soles = [wbc.SurfaceContact(foot, corners=SQUARE) for foot in robot.model.feet]
    task = tasks.FrictionCones()
    for closed in ((hand, *soles), (), (soles[0],), (soles[1], hand), ()):
        tick = wbc.Tick(robot, closed)
        A, _, _ = task.matrices(robot, tick)
        expected = np.zeros((0, tick.nf))
        assert len(A) == len(task.row_names(robot, tick))
        for contact in closed:
            at = tick.force_of(contact.name)
            block = np.zeros((len(contact.cone(robot, 4)) + 1, tick.nf))
            block[:-1, at], block[-1, at] = contact.cone(robot, 4), contact.normals(robot)
            expected = np.vstack([expected, block])
        order = sorted(map(tuple, np.round(A[:, tick.force], 9)))
        assert order == sorted(map(tuple, np.round(expected, 9)))


def test_a_fixed_base_without_contacts_has_no_cones_and_needs_none() -> None:
    robot = wbc.load("arm", "numpy")
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.FrictionCones() / tasks.JointAcceleration())
    assert wbc.Controller(robot, stack).step(robot.neutral(), np.zeros(robot.nv)).status == "optimal"


def test_bad_sides_are_named() -> None:
    for sides in (2, 4.0, "4"):
        with pytest.raises(wbc.WbcError, match=r"friction cones: sides"):
            tasks.FrictionCones(sides)


def test_no_tick_computes_the_cone_of_a_sole(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a millisecond: the first tick of a controller was over its deadline by two."""
    robot = wbc.load("humanoid")
    stack = tasks.stacks.standing(robot)
    controller = wbc.Controller(robot, stack)
    made: list[object] = []
    monkeypatch.setattr("wbc.contacts.surface.wrench_cone", lambda *given: made.append(given))
    controller.step(robot.model.nominal, np.zeros(robot.nv))
    assert not made
