"""The limits of commanded torques: no torque beyond what the actuators give, whatever the stack and the solver."""

from __future__ import annotations

import warnings
from dataclasses import replace

import mujoco
import numpy as np
import pytest

import tasks
import wbc
from tests.actuated import QUADROTOR
from tests.control.scenes import SOLVERS, contacts, controller, standing
from wbc.control.command_limits import ActuatorLimits, Clip
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.solving import Outcome
from wbc.control.tolerance import SHARE
from wbc.model import Model

KNOWING = tuple(name for name in SOLVERS if name not in ("nullspace", "operational-space"))
"""Solvers that know inequalities: the actuators' limits are a level above the stack."""


def racing(name: str) -> tuple[wbc.Dynamics, np.ndarray, np.ndarray]:
    """A robot with one joint that runs into its stop: its limits ask for more than its motor has."""
    robot = wbc.load(name)
    q, v = np.array(robot.model.nominal), np.zeros(robot.nv)
    joint = robot.nv - robot.na + 1
    q[robot.nq - robot.na + 1], v[joint] = robot.limits.upper[joint] - 0.01, 3.0
    return robot, q, v


@pytest.mark.parametrize("solver", KNOWING)
@pytest.mark.parametrize("name", ["arm", "humanoid"])
def test_limits_that_contradict_each_other_ask_for_no_more_than_there_is(name, solver) -> None:
    robot, q, v = racing(name)
    top, feet = tasks.TorqueLimits() + tasks.JointLimits(), contacts(robot) if name == "humanoid" else []
    levels = tasks.EquationOfMotion() / (top + tasks.FrictionCones() if feet else top)
    levels = levels / tasks.ContactMotion() if feet else levels
    stack = wbc.Stack(levels / tasks.JointAcceleration() / tasks.TorqueMinimization(), contacts=feet)
    solution = controller(robot, stack, solver).step(q, v)
    assert (np.abs(solution.torque) <= robot.limits.effort).all()
    assert solution.certificate.equation_of_motion < 1e-9  # not clipped: accelerations and forces belong to the torques
    if name == "arm":
        assert solution.status == "relaxed"


def unlimited(name: str, solver: str, **options: object) -> tuple[wbc.Controller, np.ndarray]:
    """A stack that never speaks of torques, and asks for more of them than there are."""
    robot = wbc.load(name)
    feet = contacts(robot) if robot.model.floating else []
    wild = tasks.JointAcceleration(robot.model.nominal[-robot.na :], gains=wbc.Gains(8.0), name="wild")
    levels = tasks.EquationOfMotion() / (tasks.FrictionCones() + tasks.ContactMotion()) if feet else None
    levels = levels / wild if levels else tasks.EquationOfMotion() / wild
    stack = wbc.Stack(levels / tasks.TorqueMinimization(), contacts=feet)
    q = robot.integrate(np.array(robot.model.nominal), np.full(robot.nv, 0.3))
    return controller(robot, stack, solver, **options), q


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", ["arm", "quadruped"])
def test_a_stack_without_limits_commands_no_more_than_there_is_and_physics_holds(name: str, solver: str) -> None:
    ours, q = unlimited(name, solver)
    v, effort = np.zeros(ours.robot.nv), ours.robot.limits.effort
    asked = unlimited(name, solver, actuator_limits=False)[0].step(q, v)
    assert (np.abs(asked.torque) > 1.5 * effort).any()
    given = ours.step(q, v)
    assert (np.abs(given.torque) <= effort).all() and (np.abs(given.torque) == effort).any()
    assert given.certificate.equation_of_motion < 1e-9
    assert given.status == ("relaxed" if solver in ("nullspace", "operational-space") else "optimal")
    if given.status == "optimal":
        assert given.certificate.holds


@pytest.mark.parametrize("solver", ["elastic-qp", "hierarchical-qp"])
def test_who_is_held_back_by_the_actuators_is_told(solver: str) -> None:
    ours, q = unlimited("arm", solver)
    solution = ours.step(q, np.zeros(7))
    actuators = {active.row for active in solution.active if active.task == "actuators"}
    assert actuators and actuators <= set(ours.robot.joint_names)
    assert "held back by actuators (" in solution.explain()
    free, _ = unlimited("arm", solver, actuator_limits=False)
    assert "actuators" not in free.step(q, np.zeros(7)).explain()


@pytest.mark.parametrize("solver", ["nullspace", "operational-space"])
def test_what_was_clipped_is_told(solver: str) -> None:
    clipped = "torques were clipped to what the actuators give"
    ours, q = unlimited("quadruped", solver)
    solution = ours.step(q, np.zeros(18))
    assert solution._clipped and clipped in solution.explain()
    assert "held back by friction cones" not in solution.explain(), "the solver ignored them: the clip holds back"
    ours, q = unlimited("arm", solver)
    solution = ours.step(q, np.zeros(7))
    assert solution._clipped and clipped in solution.explain()
    still = ours.step(ours.robot.model.nominal, np.zeros(7))
    assert not still._clipped and clipped not in still.explain()


@pytest.mark.parametrize("solver", KNOWING)
def test_a_solver_that_knows_limits_is_not_clipped(solver: str) -> None:
    for name in ("arm", "quadruped"):
        ours, q = unlimited(name, solver)
        for tick in range(5):
            assert not ours.step(q, np.zeros(ours.robot.nv), 1e-3 * tick)._clipped


def test_a_task_that_does_the_same_takes_the_place_of_the_limits() -> None:
    """No row twice: `TorqueLimits` at the top of a stack replace the box, as long as they are switched on."""
    robot = wbc.load("arm", "numpy")
    wild = tasks.JointAcceleration(np.full(7, 3.0), gains=wbc.Gains(9.0))
    for solver in ("elastic-qp", "hierarchical-qp"):
        stack = wbc.Stack(tasks.EquationOfMotion() / tasks.TorqueLimits(scale=0.5) / wild)
        ours = controller(robot, stack, solver)
        for tick, share in enumerate((0.5, 1.0, 0.5)):
            (stack.switch_off if share == 1.0 else stack.switch_on)("torque limits")
            solution = ours.step(robot.model.nominal, np.zeros(7), 1e-3 * tick)
            names = {active.task for active in solution.active}
            assert names == {"actuators" if share == 1.0 else "torque limits"}
            assert (np.abs(solution.torque) / robot.limits.effort).max() == pytest.approx(share)


@pytest.mark.parametrize("solver", SOLVERS)
def test_torques_reach_their_limits_without_a_step(solver: str) -> None:
    """Through the point where a torque reaches its limit: as continuous as the solver's own answer is there."""
    ours, q = unlimited("arm", solver)
    home = np.array(ours.robot.model.nominal)
    found = np.array(
        [
            ours.step(home + share * (q - home), np.zeros(7), 1e-3 * tick).torque
            for tick, share in enumerate(np.linspace(0.0, 1.0, 2001))
        ]
    )
    effort = ours.robot.limits.effort
    assert (np.abs(found[0]) < effort).all() and (np.abs(found[-1]) == effort).any()
    assert (np.abs(np.diff(found, axis=0)) / effort).max() < 0.02


def scaled(model: Model, factor: float) -> Model:
    """A robot of another mass, and motors to match: all forces and torques are as many times larger."""
    bodies = [
        replace(body, mass=factor * body.mass, inertia=factor * body.inertia)
        for body in model.bodies.values()
        if body.name != "world"
    ]
    names = ("effort", "armature", "damping", "friction", "stiffness")
    joints = [
        replace(joint, **{name: factor * getattr(joint, name) for name in names}) for joint in model.joints.values()
    ]
    given = {"nominal": model.nominal, "feet": model.feet, "soles": model.soles, "shapes": model.shapes}
    return Model(model.name, bodies, joints, model.frames.values(), **given)


@pytest.mark.parametrize("factor", [1e-5, 1e3])
@pytest.mark.parametrize("solver", SOLVERS)
def test_grams_and_tonnes_are_judged_alike(solver: str, factor: float) -> None:
    """Tolerances are shares: what holds, and what does not, is the same for a robot of any mass."""
    rng, model = np.random.default_rng(3), wbc.load("quadruped").model
    pair = []
    for robot in (wbc.load(model), wbc.load(scaled(model, factor))):
        limits = tasks.TorqueLimits() + tasks.FrictionCones()
        levels = tasks.EquationOfMotion() / limits / tasks.ContactMotion() / tasks.JointAcceleration()
        stack = wbc.Stack(levels, contacts=[wbc.PointContact(foot, 0.4) for foot in robot.model.feet])
        pair.append(controller(robot, stack, solver))
    statuses = set()
    for tick in range(12):
        q = pair[0].robot.integrate(np.array(model.nominal), rng.normal(scale=0.2, size=18))
        v = rng.normal(scale=1.0 if tick % 2 else 0.0, size=18)
        one, other = (ours.step(q, v, 1e-3 * tick) for ours in pair)
        assert one.status == other.status
        assert one.certificate.holds == other.certificate.holds
        assert np.allclose(other.torque, factor * one.torque, rtol=1e-4, atol=1e-5 * factor)
        statuses.add(one.status)
    assert "optimal" in statuses or solver == "operational-space"


def test_a_certificate_of_a_small_robot_hides_nothing() -> None:
    """What is a thousandth of the robot's weight outside a cone, or of a motor's torque beyond it, is seen."""
    ours, q = standing("quadruped")
    robot = wbc.load(scaled(ours.robot.model, 1e-6))  # 50 mg
    feet = [wbc.PointContact(foot) for foot in robot.model.feet]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        pull = tasks.ContactForce("LF_foot", [0.0, 0.0, -1e-3 * 9.81 * robot.mass])
        stack = wbc.Stack([[tasks.EquationOfMotion()], [pull], [tasks.JointAcceleration()]], feet)
        solution = wbc.Controller(robot, stack).step(q, np.zeros(18))
    found = solution.certificate
    assert -1e-6 < found.cone_margin < 0.0 and not found.holds


def test_a_small_robot_s_broken_limits_are_named() -> None:
    """A motor of a few millionths of a newton metre that is asked for a hundredth more than it gives."""
    robot = wbc.load(scaled(wbc.load("arm").model, 1e-7))
    effort = robot.limits.effort
    asked = tasks.Rows(wbc.Rows.equal(1.01 * effort, torque=np.arange(7)), "asked")
    stack = wbc.Stack(tasks.EquationOfMotion() / asked / tasks.TorqueLimits())
    solution = controller(robot, stack, "hierarchical-qp", actuator_limits=False).step(robot.neutral(), np.zeros(7))
    assert {active.row for active in solution.violated} == set(robot.joint_names)


def test_a_force_at_the_least_that_its_actuator_gives_is_not_beyond_it() -> None:
    """A thruster pulls nowhere; what is less than nothing by rounding alone becomes nothing."""
    robot = wbc.load(mujoco.MjModel.from_xml_string(QUADROTOR), "numpy")
    robot.update(robot.model.nominal)
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration())
    ours = controller(robot, stack, "hierarchical-qp")
    solution = ours.step(robot.model.nominal, np.zeros(robot.nv))
    clip, given = Clip(robot), solution._tick.torque
    assert (robot.limits.least == 0.0).all()
    for least, beyond in ((0.0, False), (-0.5 * SHARE, False), (-2.0 * SHARE * robot.limits.effort.max(), True)):
        x = solution._x.copy()
        x[given] = 0.5 * robot.limits.effort.min()
        x[given.start + 1] = least
        equation = MotionEquation.of(robot, solution._tick)
        found = clip(robot, solution._tick, equation, Outcome(x, "optimal"), ())
        assert found.clipped == beyond and found.status == ("relaxed" if beyond else "optimal")
        assert found.x[given][1] == 0.0


def test_the_limits_task_declares_what_it_is() -> None:
    limits = ActuatorLimits()
    assert limits.name == "actuators"
    assert limits.bounds_only and limits.bounds_torques and not limits.bounds_contacts and not limits.holds_contacts
