"""The simplest use there is, in MuJoCo: a hand steps by 5 cm and arrives; legs stretch to straight knees and back."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import contacts
from wbc.simulation import make_plant

pytest.importorskip("mujoco")


@pytest.mark.parametrize("step", [(1.0, 1.0, 1.0), (-1.0, 0.0, 0.0)], ids=["up and out", "back"])
def test_a_hand_that_steps_by_5_cm_arrives_and_is_calm(step: tuple[float, float, float]) -> None:
    robot = wbc.load("arm")
    robot.update(np.array(robot.model.nominal), np.zeros(robot.nv))
    stack = tasks.stacks.standing(robot)
    hand = robot.model.hands[0]
    task = next(task for task in stack if getattr(task, "frame", None) == hand)
    pose = np.array(robot.pose(hand))
    pose[:3, 3] += 0.05 * np.array(step) / np.linalg.norm(step)
    task.target = pose if len(task.axes) == 6 else pose[:3, 3]  # type: ignore[attr-defined]
    log = wbc.run(wbc.Controller(robot, stack), make_plant(robot, "mujoco"), duration=2.0, deadline=math.inf)
    assert log.ended == "finished" and "failed" not in log.status
    error = np.linalg.norm(np.array(log.errors[hand])[:, :3], axis=1)
    assert error[0] == pytest.approx(0.05, rel=1e-3) and error[-300:].max() < 5e-4, "m"
    change = np.abs(np.diff(log.torque[-1000:], axis=0)) / robot.limits.effort
    assert change.max() < 0.01, "of an actuator's range a tick"
    assert np.abs(log.torque).max(axis=0).tolist() <= robot.limits.effort.tolist()


def ramp(t: float, start: float, end: float) -> float:
    """From 0 to 1 without a step in speed or acceleration."""
    s = min(max((t - start) / (end - start), 0.0), 1.0)
    return s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)


@pytest.mark.parametrize(("name", "up"), [("quadruped", 0.25), ("humanoid", 0.15)])
def test_legs_are_stretched_to_straight_knees_and_back(name: str, up: float) -> None:
    """Farther than they are long: near the end the base's height is a singular direction."""
    robot, lasts = wbc.load(name), 5.0
    robot.update(np.array(robot.model.nominal), np.zeros(robot.nv))
    pose = np.array(robot.pose("base"))

    def target(t: float) -> np.ndarray:
        moved = pose.copy()
        moved[2, 3] += up * (ramp(t, 0.2, lasts / 2.0 - 0.2) - ramp(t, lasts / 2.0, lasts - 0.7))
        return moved

    base = tasks.EndEffectorAcceleration("base", target=target, gains=wbc.Gains(3.0))
    limits = tasks.TorqueLimits() + tasks.FrictionCones()
    levels = tasks.EquationOfMotion() / limits / tasks.ContactMotion() / base
    levels = levels / tasks.JointAcceleration(gains=wbc.Gains(1.5)) / tasks.TorqueMinimization()
    ours = wbc.Controller(robot, wbc.Stack(levels, contacts=contacts(robot)))
    plant = wbc.MujocoSimulator(robot)
    torques, speeds, heights, errors = [], [], [], []
    for tick in range(round(1e3 * lasts)):
        q, v = plant.state
        solution = ours.step(q, v, 1e-3 * tick)
        torques.append(solution.torque)
        speeds.append(float(np.abs(v[-robot.na :] / robot.limits.velocity[-robot.na :]).max()))
        heights.append(float(ours.robot.pose("base")[2, 3]))
        errors.append(heights[-1] - float(target(1e-3 * tick)[2, 3]))
        plant.apply(solution.torque)
        plant.step()
    change = np.abs(np.diff(torques, axis=0)) / robot.limits.effort
    assert min(heights) > 0.9 * pose[2, 3], "it stands"
    assert min(errors) < -0.02, "it was asked for more than its legs are long, m"
    assert change.max() < 0.02, "of an actuator's range a tick"
    assert max(speeds) < 1.02, "of the joints' speed limits"
    assert np.abs(errors[-100:]).max() < 1e-3, "m"
