"""Admittance and the tank of a passive impedance: the equation that is solved, and the energy that comes out."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from wbc.geometry import so3


def test_a_target_gives_way_as_a_mass_on_a_spring() -> None:
    """Against the solution of M ẍ + D ẋ + K x = f with critical damping."""
    task = tasks.CenterOfMass((0.0, 0.0, 1.0))
    soft = tasks.Admittance(task, mass=2.0, damping=2 * np.sqrt(2.0 * 200.0), stiffness=200.0)
    for _ in range(500):
        soft.felt((10.0, 0.0, 0.0), 1e-3)
    omega, t = 10.0, 0.5
    assert soft.displacement == pytest.approx([0.05 * (1 - (1 + omega * t) * np.exp(-omega * t)), 0, 0], rel=0.01)
    value, rate, acceleration = task.target(0.0)
    assert value == pytest.approx(soft.displacement + np.eye(3)[2]) and rate[0] > 0 and acceleration[0] < 0
    for _ in range(20_000):
        soft.felt((0.0, 0.0, 0.0), 1e-3)
    assert np.abs(soft.displacement).max() < 1e-6
    stays = tasks.Admittance(tasks.CenterOfMass(np.zeros(3)), deadband=1.0, most=0.1)
    stays.felt((0.9, 0, 0), 1e-3)
    assert not stays.displacement.any()
    for _ in range(1000):
        stays.felt((500.0, 0, 0), 1e-3)
    assert stays.displacement == pytest.approx([0.1, 0, 0])
    stays.reset()
    assert not stays.displacement.any()


def test_a_pose_gives_way_in_all_axes() -> None:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = so3.exp(np.array([0.1, 0.2, 0.3])), [1, 2, 3]
    task = tasks.EndEffectorAcceleration("tool", pose)
    soft = tasks.Admittance(task, mass=1.0, damping=10.0)
    for _ in range(100):
        soft.felt((0, 0, 0, 0, 0, 1.0), 1e-2)
    moved = task.target(0.0)[0]
    turned = so3.log(moved[:3, :3] @ pose[:3, :3].T)
    assert turned == pytest.approx([0, 0, soft.displacement[5]]) and 0.05 < turned[2] < 0.1


def test_an_arm_gives_way_to_a_push_and_stays_where_it_was_pushed_to() -> None:
    """The sensor of a tool reads 15 N for half a second: with D = 60 N s/m it goes some 12 cm."""
    robot = wbc.load("arm", "pinocchio")
    robot.update(robot.model.nominal)
    start = robot.pose("tool")[:3, 3].copy()
    reach = tasks.EndEffectorAcceleration("tool", start, wbc.Gains(4.0), axes="position")
    soft = tasks.Admittance(reach, mass=3.0, damping=60.0)
    levels = tasks.EquationOfMotion() / tasks.TorqueLimits() / reach / tasks.JointAcceleration(gains=wbc.Gains(1.0))
    controller, plant = wbc.Controller(robot, wbc.Stack(levels)), wbc.MujocoSimulator(robot)
    for tick in range(1200):
        push = np.array([0.0, 15.0, 0.0]) if tick < 500 else np.zeros(3)
        plant.push("tool", push)
        soft.felt(push, 1e-3)
        plant.apply(controller.step(*plant.state, tick * 1e-3).torque)
        plant.step()
    seen = robot.copy()
    seen.update(*plant.state)
    away = seen.pose("tool")[:3, 3] - start
    assert away == pytest.approx(soft.displacement, abs=3e-3) and 0.11 < away[1] < 0.13


def circle(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Half a turn a second, 10 cm wide."""
    c, s, w = np.cos(np.pi * t), np.sin(np.pi * t), np.pi
    value = START + 0.1 * np.array([0.0, s, 1 - c])
    return value, 0.1 * w * np.array([0, c, s, 0, 0, 0]), 0.1 * w * w * np.array([0, -s, c, 0, 0, 0])


ARM = wbc.load("arm", "pinocchio")
ARM.update(ARM.model.nominal)
START = ARM.pose("tool")[:3, 3].copy()


def stir(make, seconds: float) -> tuple[float, wbc.Task]:
    """What the tool gives to a thick medium that it is led through, J."""
    task = make()
    levels = (
        tasks.EquationOfMotion()
        / tasks.TorqueLimits()
        / task
        / tasks.JointAcceleration(gains=wbc.Gains(kp=0.0, kd=2.0))
    )
    controller, plant = wbc.Controller(ARM.copy(), wbc.Stack(levels)), wbc.MujocoSimulator(ARM)
    given, seen = 0.0, ARM.copy()
    for tick in range(round(seconds * 1e3)):
        seen.update(*plant.state)
        v = seen.twist("tool")[:3]
        plant.push("tool", -40.0 * v)
        given += 40.0 * float(v @ v) * 1e-3
        plant.apply(controller.step(*plant.state, tick * 1e-3).torque)
        plant.step()
    return given, task


def test_what_can_be_taken_out_is_what_the_tank_had() -> None:
    """An impedance stirs on for ever, and pays for it; with a tank it gives what the tank had, and waits."""
    free, _ = stir(lambda: tasks.CartesianImpedance("tool", 400.0, 40.0, circle, axes="position"), 3.0)
    make = lambda: tasks.PassiveImpedance("tool", 400.0, 40.0, circle, energy=2.0, axes="position")  # noqa: E731
    kept, task = stir(make, 3.0)
    assert free > 5.0 and 0.5 < kept < 2.0
    assert abs(task.energy) < 0.1 and task.progress < 1.0
    task.reset()
    assert task.energy == 2.0 and task.progress == 0.0


def test_pushes_that_help_fill_the_tank() -> None:
    robot = ARM.copy()
    task = tasks.PassiveImpedance("tool", 400.0, 40.0, circle, energy=1.0, axes="position")
    robot.update(ARM.model.nominal, np.full(7, 0.2))
    braking = robot.gravity_force - 5.0
    task.rows(robot, wbc.Tick(robot, time=0.0))
    task.rows(robot, wbc.Tick(robot, time=1e-3, last_torque=braking))
    assert task.energy == pytest.approx(1.0 + 7 * 5.0 * 0.2 * 1e-3)
    task.rows(robot, wbc.Tick(robot, time=1e-3, last_torque=braking))  # the same tick counts once
    assert task.energy == pytest.approx(1.0 + 7 * 5.0 * 0.2 * 1e-3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tasks.Admittance(tasks.JointLimits()), "give a task with a target"),
        (lambda: tasks.Admittance(tasks.CenterOfMass()), "no constant target; give base="),
        (lambda: tasks.Admittance(tasks.CenterOfMass(np.zeros(3)), mass=0.0), "mass must be a number or 3"),
        (lambda: tasks.Admittance(tasks.CenterOfMass(np.zeros(3)), damping=[1, 2]), "damping must be"),
        (lambda: tasks.Admittance(tasks.CenterOfMass(np.zeros(3))).felt((1, 2), 1e-3), "force must be finite"),
        (lambda: tasks.Admittance(tasks.CenterOfMass(np.zeros(3))).felt((1, 2, np.nan), 1e-3), "force must be finite"),
        (lambda: tasks.PassiveImpedance("tool", 1.0, 1.0, np.eye(4)), "path must be a function"),
        (lambda: tasks.PassiveImpedance("tool", 1.0, 1.0, circle, energy=9.0, most=5.0), "energy"),
    ],
)
def test_mistakes_are_named(make: object, words: str) -> None:
    with pytest.raises(wbc.WbcError, match=words):
        make()
