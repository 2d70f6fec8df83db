"""Gaze, views, hands against each other, momentum about an axis, manipulability: differences, and what they are for."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from tests.tasks.motions import CLOSE, Moving
from tests.tasks.test_regions import drive


@pytest.mark.parametrize(("point", "of"), [((0.3, 1.0, 0.5), "world"), ((0.05, 0.1, 0.2), "left_hand")])
def test_a_sight_moves_as_it_says(point: tuple, of: str) -> None:
    moving = Moving("humanoid", 4)
    robot, looking = moving.robot, tasks.Gaze("head", point, of=of)._looking
    seen = looking.sight(robot)
    place = robot.pose(of)[:3, :3] @ np.array(point) + robot.pose(of)[:3, 3]
    way = robot.pose("head")[:3, :3].T @ (place - robot.pose("head")[:3, 3])
    assert np.allclose(seen.direction, way / np.linalg.norm(way))
    first, second = moving.rates(lambda: looking.sight(robot).direction - seen.direction)
    assert np.allclose(seen.rate, first, atol=1e-5) and np.allclose(seen.jacobian @ moving.v, seen.rate)
    assert np.allclose(seen.jacobian @ moving.vdot + seen.drift, second, atol=2e-4, rtol=1e-5)


def test_rows_of_gaze_ask_for_the_angle_to_vanish() -> None:
    """At rest, the acceleration of the angle is kp times the angle, back to the axis."""
    robot = wbc.load("humanoid", "numpy")
    robot.update(robot.model.nominal)
    gaze = tasks.Gaze("head", (1.0, 0.8, 1.0), wbc.Gains(kp=10.0, kd=5.0))
    _, b = gaze.matrices(robot, wbc.Tick(robot))
    angle = np.arccos(gaze._looking.axis @ gaze._looking.sight(robot).direction)
    assert np.linalg.norm(b) == pytest.approx(10.0 * angle) and np.linalg.norm(gaze.error(robot, wbc.Tick(robot))) == (
        pytest.approx(angle)
    )
    P, _ = gaze._plane(gaze._looking.sight(robot).direction)
    assert b @ (P @ gaze._looking.axis) > 0 and np.abs(P @ gaze._looking.sight(robot).direction).max() < 1e-12


def test_a_camera_finds_a_point_behind_it_and_keeps_it() -> None:
    robot = wbc.load("arm", "pinocchio")
    robot.update(robot.model.nominal)
    axis = -robot.pose("tool")[:3, 2] + np.array([0.0, 0.3, 0.0])
    gaze = tasks.Gaze("tool", robot.pose("tool")[:3, 3] + 0.8 * axis, wbc.Gains(1.5), axis=(0.0, 0.0, 1.0))
    hold = tasks.EndEffectorAcceleration("tool", axes="position")
    levels = tasks.EquationOfMotion() / (tasks.TorqueLimits() + tasks.JointLimits()) / gaze / hold
    controller = wbc.Controller(robot, wbc.Stack(levels / tasks.JointAcceleration(gains=wbc.Gains(0.5))))
    plant, seen = wbc.MujocoSimulator(robot), robot.copy()
    for tick in range(2500):
        plant.apply(controller.step(*plant.state, tick * 1e-3).torque)
        plant.step()
    seen.update(*plant.state)
    assert np.degrees(np.linalg.norm(gaze.error(seen, wbc.Tick(seen)))) < 1.0


def test_a_point_stays_in_view() -> None:
    robot = wbc.load("arm", "pinocchio")
    robot.update(robot.model.nominal)
    along = robot.pose("tool")[:3, 2]
    at = robot.pose("tool")[:3, 3] + along
    view = tasks.InView("tool", at, 0.2, axis=(0, 0, 1))
    moving = Moving("arm", 1)
    found = view.heights(moving.robot, wbc.Tick(moving.robot))
    first, second = moving.rates(lambda: view.heights(moving.robot, wbc.Tick(moving.robot)).value - found.value)
    assert np.allclose(found.rate, first, atol=1e-5)
    assert np.allclose(found.jacobian @ moving.vdot + found.drift, second, atol=1e-3, rtol=1e-4)
    least = []
    for bounds in ((), (view,)):
        away = drive(*bounds, goal=(0.0, 0.3, 0.1), seconds=0.8, record=view)[1]
        least.append(away[:, -1].min())
    assert least[0] < -0.02 and least[1] > -1e-4


def test_two_hands_keep_what_they_hold() -> None:
    moving = Moving("humanoid", 6)
    task = tasks.RelativePose("left_hand", "right_hand", np.eye(4), wbc.Gains(kp=0.0, kd=0.0))
    A, b = task.matrices(moving.robot, wbc.Tick(moving.robot))
    _, second = moving.frame_rates("left_hand", None, "right_hand")
    assert np.allclose(A[:, : moving.robot.nv] @ moving.vdot - b, second, **CLOSE)
    robot = wbc.load("humanoid", "pinocchio")
    feet = [wbc.SurfaceContact(foot, 0.6) for foot in robot.model.feet]
    robot.update(robot.model.nominal)
    start = np.linalg.solve(robot.pose("right_hand"), robot.pose("left_hand"))
    goal = robot.pose("right_hand")[:3, 3] + np.array([0.08, 0.05, 0.1])
    both = tasks.RelativePose("left_hand", "right_hand", gains=wbc.Gains(3.0))
    move = tasks.EndEffectorAcceleration("right_hand", goal, wbc.Gains(0.7), axes="position")
    balance = tasks.CenterOfMass(gains=wbc.Gains(1.0)) + tasks.EndEffectorAcceleration(
        "base", gains=wbc.Gains(1.5), axes="orientation"
    )
    levels = tasks.EquationOfMotion() / (tasks.TorqueLimits() + tasks.FrictionCones()) / tasks.ContactMotion() / balance
    stack = wbc.Stack(levels / both / move / tasks.JointAcceleration(gains=wbc.Gains(0.7)), contacts=feet)
    controller, plant = wbc.Controller(robot, stack), wbc.MujocoSimulator(robot)
    apart, seen = 0.0, robot.copy()
    for tick in range(900):
        plant.apply(controller.step(*plant.state, tick * 1e-3).torque)
        plant.step()
        if tick % 10 == 0:
            seen.update(*plant.state)
            now = np.linalg.solve(seen.pose("right_hand"), seen.pose("left_hand"))
            apart = max(apart, np.linalg.norm(now[:3, 3] - start[:3, 3]))
    assert apart < 2e-3 and np.linalg.norm(seen.pose("right_hand")[:3, 3] - goal) < 0.03


@pytest.mark.parametrize("point", (None, (0.2, 0.3, 0.0)))
def test_momentum_about_an_axis_changes_as_its_row_says(point) -> None:
    moving = Moving("humanoid", 7)
    robot, task = moving.robot, tasks.AxialMomentum((1.0, 2.0, -1.0), point, target=0.7, gain=3.0)
    start = task.value(robot)
    axis = np.array([1.0, 2.0, -1.0]) / np.sqrt(6.0)
    about = robot.com if point is None else np.array(point)
    by_hand = robot.momentum[3:] + np.cross(robot.com - about, robot.momentum[:3])
    assert start == pytest.approx(axis @ by_hand)
    first, _ = moving.rates(lambda: np.atleast_1d(task.value(robot) - start))
    A, b = task.matrices(robot, wbc.Tick(robot))
    assert np.allclose(A[:, : robot.nv] @ moving.vdot - b, first - 3.0 * (0.7 - start), **CLOSE)


def test_a_body_in_free_flight_stops_its_arms_turning_about_an_axis() -> None:
    """An arm turns about its base's axis; its momentum about it goes to nothing as 1/e in a fifth of a second.

    Joints become ever faster for it, so that a level without a posture is solved exactly.
    """
    robot = wbc.load("arm", "pinocchio")
    spin = tasks.AxialMomentum(point=(0.0, 0.0, 0.0), gain=5.0)
    stack = wbc.Stack(tasks.EquationOfMotion() / spin / tasks.TorqueMinimization())
    controller = wbc.Controller(robot, stack, wbc.solvers.HierarchicalQP())
    q, v = np.array(robot.model.nominal), np.zeros(7)
    v[0] = 1.0
    robot.update(q, v)
    start = spin.value(robot)
    for tick in range(400):
        a = controller.step(q, v, tick * 1e-3).acceleration
        q, v = robot.integrate(q, v + a * 5e-4, 1e-3), v + a * 1e-3
    robot.update(q, v)
    assert spin.value(robot) == pytest.approx(start * np.exp(-2.0), rel=0.01)


@pytest.mark.parametrize("axes", ("position", "pose"))
def test_the_gradient_of_manipulability_is_that_of_its_value(axes: str) -> None:
    moving = Moving("arm", 3)
    robot, floor = moving.robot, tasks.ManipulabilityFloor("tool", 0.01, axes)
    found = floor.heights(robot, wbc.Tick(robot))
    J = robot.jacobian("tool")[: 3 if axes == "position" else 6]
    assert found.value[0] == pytest.approx(np.sqrt(np.linalg.det(J @ J.T)) / 0.01 - 1.0)
    first, second = moving.rates(lambda: floor.heights(robot, wbc.Tick(robot)).value - found.value)
    assert np.allclose(found.rate, first, rtol=1e-5, atol=1e-5)
    assert np.allclose(found.jacobian @ moving.vdot + found.drift, second, rtol=1e-3, atol=1e-2)


def test_manipulability_is_climbed_and_kept() -> None:
    robot = wbc.load("arm", "pinocchio")
    floor = tasks.ManipulabilityFloor("tool", 0.05)

    def w(away: np.ndarray) -> np.ndarray:
        return (away[:, -1] + 1.0) * 0.05

    robot.update(robot.model.nominal)
    # an exact solver goes into the singularity; a pull that is bounded does not get there
    _, free, _ = drive(goal=(0.5, 0.0, 0.3), record=floor, seconds=0.8, solver="hierarchical-qp")
    _, kept, _ = drive(floor, goal=(0.5, 0.0, 0.3), record=floor, seconds=0.8)
    assert w(free).min() < 0.04 and w(kept).min() > 0.05 * (1 - 1e-3)
    hold = tasks.EndEffectorAcceleration("tool", axes="position")
    levels = tasks.EquationOfMotion() / tasks.JointLimits() / hold / tasks.Manipulability("tool", "pose", 50.0)
    controller = wbc.Controller(robot, wbc.Stack(levels / tasks.AccelerationMinimization()))
    q, v = np.array(robot.model.nominal), np.zeros(7)
    found = []
    for tick in range(1000):
        robot.update(q, v)
        found.append(np.sqrt(np.linalg.det(robot.jacobian("tool") @ robot.jacobian("tool").T)))
        a = controller.step(q, v, tick * 1e-3).acceleration
        q, v = robot.integrate(q, v + a * 5e-4, 1e-3), v + a * 1e-3
    assert found[-1] > 1.03 * found[0]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tasks.Gaze("head", (1, 0)), "gaze of head: point"),
        (lambda: tasks.Gaze("head", (1, 0, 0), axis=(0, 0, 0)), "must be a direction"),
        (lambda: tasks.Gaze("eye", (1, 0, 0)).check(wbc.load("humanoid", "numpy"), {}), "no frame 'eye'"),
        (lambda: tasks.InView("head", (1, 0, 0), 0.0), "view of head: angle"),
        (lambda: tasks.RelativePose("left_hand", "left_hand"), "give two frames"),
        (lambda: tasks.AxialMomentum((0, 0, 0)), "must be a direction"),
        (lambda: tasks.Manipulability("tool", "w"), "manipulability of tool: no axis 'w'"),
        (lambda: tasks.ManipulabilityFloor("tool", 0.0), "floor"),
    ],
)
def test_mistakes_are_named(make: object, words: str) -> None:
    with pytest.raises(wbc.WbcError, match=words):
        make()


def test_the_manipulability_of_a_frame_that_too_few_joints_move_is_an_error() -> None:
    robot = wbc.load("arm", "numpy")
    levels = tasks.EquationOfMotion() / tasks.ManipulabilityFloor("link_1", 0.1) / tasks.TorqueMinimization()
    with pytest.raises(wbc.WbcError, match="'link_1' is moved by 1 of the 3 joints that its"):
        wbc.Controller(robot, wbc.Stack(levels))


def test_where_nothing_moves_a_frame_its_manipulability_has_no_gradient() -> None:
    """At the axis of the joint that alone moves it, in the axes of its place."""
    robot = wbc.load("arm", "numpy")
    robot.update(robot.model.nominal)
    w, gradient = tasks.dexterity.manipulability(robot, robot.model.frame_names[1], [0, 1, 2])
    assert w == 0.0 and np.isfinite(gradient).all() and not gradient.any()
