"""Regions, speeds and power: heights against finite differences, and what they are for, in a loop."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tasks
import wbc
from tests.tasks.motions import Moving

TURNED = np.eye(4)
TURNED[:3, :3], TURNED[:3, 3] = Rotation.from_rotvec([0.3, -0.5, 0.8]).as_matrix(), [0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    "make",
    [
        lambda: tasks.KeepIn("tool", (-1, -2, -np.inf), (1, np.inf, 2), TURNED, point=(0.1, 0.0, 0.2)),
        lambda: tasks.KeepOut("tool", "sphere", 0.1, (0.2, 0.1, 0.2), radius=0.05, point=(0.0, 0.1, 0.0)),
        lambda: tasks.KeepOut("tool", "capsule", (0.05, 0.3), TURNED),
        lambda: tasks.KeepOut("tool", "box", (0.1, 0.2, 0.3), TURNED, radius=0.02),
        lambda: tasks.KeepOut("tool", "plane", (), TURNED),
    ],
)
def test_heights_change_as_they_say(make) -> None:
    moving, task = Moving("arm", 2), make()
    robot, tick = moving.robot, wbc.Tick(moving.robot)
    found = task.heights(robot, tick)
    first, second = moving.rates(lambda: task.heights(robot, tick).value - found.value)
    assert np.allclose(found.rate, first, atol=1e-4) and np.allclose(found.jacobian @ moving.v, found.rate)
    assert np.allclose(found.jacobian @ moving.vdot + found.drift, second, rtol=1e-3, atol=1e-3)
    assert len(task.row_names(robot, tick)) == len(found.value)


def test_over_support_is_what_the_hull_says() -> None:
    moving = Moving("humanoid", 2)
    robot = moving.robot
    contacts = [wbc.SurfaceContact("left_foot"), wbc.PointContact("right_foot")]
    tick, task = wbc.Tick(robot, contacts), tasks.OverSupport(margin=0.01)
    corners = task._corners(robot, tick)
    assert corners.shape == (5, 2)
    found = task.heights(robot, tick)
    assert len(found.value) == 5
    fixed = tasks.OverSupport(0.01, corners)
    edges = fixed.heights(robot, tick)
    assert np.allclose(np.sort(found.value)[: len(edges.value)], np.sort(edges.value))
    first, second = moving.rates(lambda: fixed.heights(robot, tick).value - edges.value)
    assert np.allclose(edges.rate, first, atol=1e-5)
    assert np.allclose(edges.jacobian @ moving.vdot + edges.drift, second, atol=1e-4)


def drive(
    *bounds: wbc.Task, goal=(0.0, 0.0, -0.25), seconds: float = 1.0, record: wbc.Task | None = None, solver="elastic-qp"
) -> tuple[wbc.Dynamics, np.ndarray, np.ndarray]:
    """An arm in MuJoCo whose tool is sent away: places and speeds of the tool, powers of the motors."""
    robot = wbc.load("arm", "pinocchio")
    robot.update(robot.model.nominal)
    start = robot.pose("tool")[:3, 3].copy()
    limits = tasks.TorqueLimits() + tasks.JointLimits()
    for bound in bounds:
        limits = limits + bound
    reach = tasks.EndEffectorAcceleration("tool", start + goal, wbc.Gains(2.0), axes="position")
    stack = wbc.Stack(tasks.EquationOfMotion() / limits / reach / tasks.JointAcceleration(gains=wbc.Gains(1.0)))
    controller, plant = wbc.Controller(robot, stack, solver), wbc.MujocoSimulator(robot)
    places, powers, seen = [], [], robot.copy()
    for tick in range(round(seconds * 1e3)):
        q, v = plant.state
        seen.update(q, v)
        height = record.heights(seen, wbc.Tick(seen)).value if record else []
        places.append(np.r_[seen.pose("tool")[:3, 3] - start, seen.twist("tool"), height])
        torque = controller.step(q, v, tick * 1e-3).torque
        powers.append(torque @ v)
        plant.apply(torque)
        plant.step()
    return robot, np.array(places), np.array(powers)


def test_a_tool_stays_in_its_box_and_out_of_a_ball() -> None:
    robot, free, _ = drive()
    robot.update(robot.model.nominal)
    start = robot.pose("tool")[:3, 3]
    low = np.array([-np.inf, -np.inf, start[2] - 0.1])
    _, kept, _ = drive(tasks.KeepIn("tool", low))
    assert free[:, 2].min() < -0.24 and -0.1 - 2e-4 < kept[:, 2].min() < -0.0989  # `Stopping.inside`: 1 mm
    ball = start + np.array([0.01, 0.0, -0.15])
    _, around, _ = drive(tasks.KeepOut("tool", "sphere", 0.05, ball, radius=0.02))
    away = np.linalg.norm(around[:, :3] + start - ball, axis=1)
    assert 0.07 - 2e-4 < away.min() < 0.0711
    assert np.linalg.norm(free[:, :3] + start - ball, axis=1).min() < 0.02


def test_a_frame_moves_no_faster_than_told() -> None:
    _, free, _ = drive()
    _, slow, _ = drive(tasks.FrameSpeedLimit("tool", 0.2, 0.5))
    speed, turn = (np.linalg.norm(part, axis=1).max() for part in (slow[:, 3:6], slow[:, 6:9]))
    assert np.linalg.norm(free[:, 3:6], axis=1).max() > 0.8
    assert 0.19 < speed < 0.202 and turn < 0.505


def test_motors_give_no_more_power_than_told() -> None:
    _, _, free = drive(goal=(0.0, 0.0, 0.25))
    _, _, kept = drive(tasks.PowerLimit(20.0, 15.0), goal=(0.0, 0.0, 0.25))
    assert free.max() > 40.0 and kept.max() < 20.0 + 1e-6 and kept.min() > -15.0 - 1e-6


def test_a_centre_of_mass_that_is_pulled_out_stays_over_its_feet() -> None:
    robot = wbc.load("humanoid", "pinocchio")
    feet = [wbc.SurfaceContact(foot, 0.6) for foot in robot.model.feet]
    robot.update(robot.model.nominal)
    move = tasks.CenterOfMass(robot.com + np.array([0.0, 0.3, 0.0]), wbc.Gains(0.5), axes="xy")
    trunk = tasks.EndEffectorAcceleration("base", gains=wbc.Gains(1.0), axes=("z", "rx", "ry", "rz"), name="trunk")
    support = tasks.OverSupport(0.03)
    levels = tasks.EquationOfMotion() / (tasks.TorqueLimits() + tasks.FrictionCones()) / tasks.ContactMotion() / support
    stack = wbc.Stack(levels / (move + trunk) / tasks.JointAcceleration(gains=wbc.Gains(1.0)), contacts=feet)
    controller, plant = wbc.Controller(robot, stack), wbc.MujocoSimulator(robot)
    least, seen = np.inf, robot.copy()
    for tick in range(1200):
        plant.apply(controller.step(*plant.state, tick * 1e-3).torque)
        plant.step()
        if tick % 10 == 0:
            seen.update(*plant.state)
            least = min(least, support.heights(seen, wbc.Tick(seen, feet)).value.min())
    assert -1e-3 < least < 2e-3 and plant.state[0][2] > 0.8


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tasks.KeepIn("tool"), "tool keeps in: low and high are all infinite: they bound nothing"),
        (lambda: tasks.KeepIn("tool", (0, 0, 0), (1, 0, 1)), "low < high"),
        (lambda: tasks.KeepOut("tool", "cone"), "no kind of shape 'cone'"),
        (lambda: tasks.KeepOut("tool", "box", 1.0), "size of a box is 3"),
        (lambda: tasks.FrameSpeedLimit("tool"), "give linear="),
        (lambda: tasks.FrameSpeedLimit("tool", -1.0), "speed of tool: linear"),
        (lambda: tasks.PowerLimit(0.0), "power limit: most"),
        (lambda: tasks.OverSupport(polygon=[[0, 0], [1, 1]]), "over support: a polygon"),
        (lambda: tasks.KeepIn("hand", (0, 0, 0), (1, 1, 1)).check(wbc.load("arm", "numpy"), {}), "no frame 'hand'"),
        (lambda: tasks.KeepIn("tool", (0, 0, 0), (1, 1, 1), np.ones((4, 4))), "pose is not a homogeneous"),
    ],
)
def test_mistakes_are_named(make: object, words: str) -> None:
    with pytest.raises(wbc.WbcError, match=words):
        make()
