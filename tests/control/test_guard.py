"""No torque beyond what the actuators give leaves a controller whose stack speaks of torques."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import contacts, controller


def racing(name: str) -> tuple[wbc.Dynamics, np.ndarray, np.ndarray]:
    """A robot with one joint that runs into its stop: its limits ask for more than its motor has."""
    robot = wbc.load(name)
    q, v = np.array(robot.model.nominal), np.zeros(robot.nv)
    joint = robot.nv - robot.na + 1
    q[robot.nq - robot.na + 1], v[joint] = robot.limits.upper[joint] - 0.01, 3.0
    return robot, q, v


@pytest.mark.parametrize("solver", ("hierarchical-qp", "sequential-qp", "weighted-qp"))
@pytest.mark.parametrize("name", ["arm", "humanoid"])
def test_limits_that_contradict_each_other_ask_for_no_more_than_there_is(name, solver) -> None:
    robot, q, v = racing(name)
    top, feet = tasks.TorqueLimits() + tasks.JointLimits(), contacts(robot) if name == "humanoid" else []
    levels = tasks.EquationOfMotion() / (top + tasks.FrictionCones() if feet else top)
    levels = levels / tasks.ContactMotion() if feet else levels
    stack = wbc.Stack(levels / tasks.JointAcceleration() / tasks.TorqueMinimization(), contacts=feet)
    solution = controller(robot, stack, solver).step(q, v)
    assert (np.abs(solution.torque) <= robot.limits.effort).all()
    if solver in ("hierarchical-qp", "weighted-qp"):  # solved again, not clipped: what comes out is consistent
        assert solution.certificate.equation_of_motion < 1e-9
    if name == "arm":
        assert solution.status == "relaxed"
