"""A sole whose corners are not given is the one that the robot's model declares."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import controller, standing
from wbc.classical import TaskSpace
from wbc.simulation import Simulator


def humanoid() -> wbc.Dynamics:
    robot = wbc.load("humanoid", "numpy")
    robot.update(robot.model.nominal)
    return robot


def levels() -> wbc.Levels:
    limits = tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion()
    balance = tasks.EndEffectorAcceleration("base", gains=wbc.Gains(3.0))
    posture = tasks.JointAcceleration(gains=wbc.Gains(1.5))
    return tasks.EquationOfMotion() / limits / balance / posture / tasks.TorqueMinimization()


@pytest.mark.parametrize("forces", ["wrench", "corners"])
def test_a_controller_takes_the_soles_of_its_robot(forces: str) -> None:
    robot = humanoid()
    feet = [wbc.SurfaceContact(foot, forces=forces) for foot in robot.model.feet]
    ours = controller(robot, wbc.Stack(levels(), feet), "hierarchical-qp")
    assert [len(foot.corners) for foot in feet] == [4, 4] and not feet[0].corners.flags.writeable
    assert np.array_equal(feet[0].corners[:, :2], robot.model.soles["left_foot"])
    q, v = robot.model.nominal, np.random.default_rng(0).normal(scale=0.1, size=robot.nv)
    told, _ = standing("humanoid", "numpy")
    assert np.allclose(ours.step(q, v).torque, told.step(q, v).torque, atol=1e-6)


@pytest.mark.parametrize("forces", ["wrench", "corners"])
def test_ticks_task_spaces_and_simulators_take_them_too(forces: str) -> None:
    robot = humanoid()

    def sole() -> wbc.SurfaceContact:
        return wbc.SurfaceContact("left_foot", forces=forces)

    assert wbc.Tick(robot, [sole()]).nf == (6 if forces == "wrench" else 12)
    assert len(TaskSpace.of_contacts(robot, [sole()]).jacobian) == (6 if forces == "wrench" else 12)
    assert len(Simulator(robot, contacts=sole()).points) == 4


def test_a_sole_that_is_not_declared_is_an_error_that_says_what_to_give() -> None:
    robot = wbc.load("quadruped", "numpy")
    stack = wbc.Stack(levels(), wbc.SurfaceContact("LF_foot"))
    words = r"contact 'LF_foot': the model 'quadruped' declares no sole for 'LF_foot' \(soles: none\): give corners="
    for make in (lambda: wbc.Controller(robot, stack), lambda: wbc.Tick(robot, stack.contacts)):
        with pytest.raises(wbc.WbcError, match=words):
            make()
    with pytest.raises(wbc.WbcError, match=r"soles: left_foot, right_foot\): give corners="):
        wbc.Tick(humanoid(), [wbc.SurfaceContact("left_hand")])
    with pytest.raises(wbc.WbcError, match="contact 'left_fot': no frame 'left_fot'; did you mean 'left_foot'"):
        wbc.Tick(humanoid(), [wbc.SurfaceContact("left_fot")])


@pytest.mark.parametrize("ask", [lambda sole: sole.corners, lambda sole: sole.carried_cone(4), lambda sole: sole.size])
def test_before_it_has_a_robot_it_says_what_it_lacks(ask: object) -> None:
    with pytest.raises(wbc.WbcError, match="contact 'left_foot' has no corners yet: give corners="):
        ask(wbc.SurfaceContact("left_foot", forces="corners"))


def test_one_sole_is_not_that_of_two_robots() -> None:
    sole = wbc.SurfaceContact("left_foot")
    robot = humanoid()
    wbc.Tick(robot, [sole])
    wbc.Tick(humanoid(), [sole])  # the same robot again
    wider = humanoid()
    wider.model = type("Model", (), {"soles": {"left_foot": 2.0 * robot.model.soles["left_foot"]}})()
    with pytest.raises(wbc.WbcError, match="contact 'left_foot' has the sole of another robot"):
        sole.fit(wider)
    given = wbc.SurfaceContact("left_foot", corners=robot.model.soles["left_foot"])
    given.fit(wider)  # what was given stays
    assert np.array_equal(given.corners[:, :2], robot.model.soles["left_foot"])
