"""What pushes, against simulators that know it."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from wbc.estimation import ContactDetector, MomentumObserver

BALL = 0.025
"""Radius of the quadruped's feet, m."""


def observed(plant, controller, observer, ticks: int, push=None) -> None:
    """Runs a controller, and shows the observer what happens."""
    first = round(1e3 * plant.time)
    for tick in range(first, first + ticks):
        if push is not None:
            plant.push(*push)
        q, v = plant.state
        plant.apply(controller.step(q, v, 1e-3 * tick).torque)
        plant.step()
        observer.update(*plant.state, plant.torque, 1e-3)


@pytest.mark.parametrize("backend", ["numpy", "pinocchio"])
def test_a_push_on_a_standing_quadruped_is_felt_and_so_are_its_feet(backend) -> None:
    robot = wbc.load("quadruped", backend)
    controller = wbc.Controller(robot, tasks.stacks.standing(robot))
    plant, observer = wbc.MujocoSimulator(robot), MomentumObserver(robot, 20.0)
    pushed = [20.0, -30.0, 15.0]
    observed(plant, controller, observer, 500, ("base", pushed))
    wrench = observer.external_wrench("base", robot.model.feet, BALL)
    assert wrench[:3] == pytest.approx(pushed, abs=0.3) and np.abs(wrench[3:]).max() < 1.0
    forces = observer.contact_forces(robot.model.feet, BALL)
    measured = np.array([plant.contact_forces[foot] for foot in robot.model.feet])
    assert forces == pytest.approx(measured, abs=1.0)
    assert forces.sum(axis=0) == pytest.approx([-20.0, 30.0, 9.81 * robot.mass - 15.0], abs=4.0)


def test_a_force_at_the_tool_of_an_arm_is_felt_while_it_moves() -> None:
    robot = wbc.load("arm", "numpy")
    target = robot.copy()
    target.update(robot.model.nominal)
    place = target.pose("tool")[:3, 3] + np.array([0.1, 0.1, -0.1])
    stack = wbc.Stack(
        (tasks.EquationOfMotion() + tasks.TorqueLimits())
        / tasks.EndEffectorAcceleration("tool", place, axes="position")
        / tasks.JointAcceleration()
    )
    controller = wbc.Controller(robot, stack)
    plant, observer = wbc.Simulator(robot), MomentumObserver(robot, 20.0)
    observed(plant, controller, observer, 200)
    assert np.abs(observer.residual).max() < 0.2  # nothing pushes
    observed(plant, controller, observer, 200, ("tool", [0.0, 25.0, -10.0]))
    assert observer.external_wrench("tool")[:3] == pytest.approx([0.0, 25.0, -10.0], abs=1.0)


def test_the_residual_is_a_lag_of_what_pushes() -> None:
    """Exactly: after n ticks under a force that began with the first, 1 − e^(−K n dt) of it."""
    robot = wbc.load("planar_arm", "numpy")
    observer = MomentumObserver(robot, 10.0)
    q, v, dt = robot.model.nominal, np.zeros(3), 1e-4
    rng = np.random.default_rng(0)
    torque, push = rng.normal(size=3), rng.normal(size=3)
    observer.update(q, v, torque, dt)
    for _ in range(300):
        robot.update(q, v)
        acceleration = np.linalg.solve(robot.mass_matrix, torque + push - robot.bias)
        q, v = robot.integrate(q, v + 0.5 * dt * acceleration, dt), v + dt * acceleration
        observer.update(q, v, torque, dt)
    share = 1.0 - np.exp(-2 * np.pi * 10.0 * 300 * dt)
    assert observer.residual == pytest.approx(share * push, abs=2e-3)


def test_contacts_have_hysteresis_and_take_their_time() -> None:
    detector = ContactDetector(2, 30.0, 15.0, 3e-3)
    seen = [detector.update(np.array([force, 0.0]), 1e-3)[0] for force in (20, 31, 31, 31, 20, 16, 14, 20, 29)]
    assert seen == [False, False, False, True, True, True, False, False, False]
    detector.assume(np.array([False, True]))
    assert detector.update(np.array([31.0, 16.0]), 1e-3).tolist() == [False, True]
    with pytest.raises(wbc.WbcError, match="off = 4 N must be no more than on = 3 N"):
        ContactDetector(1, 3.0, 4.0)


def test_bad_input_is_named() -> None:
    with pytest.raises(wbc.WbcError, match="needs a robot of wbc.load"):
        MomentumObserver("quadruped")
    with pytest.raises(wbc.WbcError, match="the bandwidth, Hz, = 0"):
        MomentumObserver(wbc.load("arm"), 0)
