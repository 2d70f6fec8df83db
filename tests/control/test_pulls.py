"""How hard levels may pull: the level by which it is measured, and the bound, from damping, actuators and period."""

from __future__ import annotations

from collections.abc import Iterable

import mujoco
import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import contacts
from wbc.control.program import Program
from wbc.control.pulls import Pulls, authority, posture_rank
from wbc.tasking.task import Task

SLOW = 1.0
"""A period, s, that bounds nothing else: it is turned by less."""


def rank_of(name: str, *levels: Iterable[wbc.Task], feet: bool = False) -> tuple[int, int]:
    """The level by which pulls are measured, and how many there are, physics left out and the top level put in."""
    robot = wbc.load(name, "numpy")
    robot.update(robot.model.nominal, np.zeros(robot.nv))
    stack = wbc.Stack([[tasks.EquationOfMotion()], *map(list, levels)], contacts(robot) if feet else [])
    tick = wbc.Tick(robot, stack.contacts)
    program = Program(stack, tick.layout, yields=True)
    return posture_rank(program.parts(robot, tick), program.levels), program.levels


def test_the_lowest_level_on_accelerations_is_the_posture_if_it_is_one() -> None:
    reach, posture = tasks.EndEffectorAcceleration("tool"), tasks.JointAcceleration()
    least, still = tasks.TorqueMinimization(), tasks.AccelerationMinimization()
    for levels, rank in (
        ((tasks.TorqueLimits(), reach, posture, least), 3),
        ((tasks.TorqueLimits(), reach, posture), 3),
        ((reach, posture, least), 2),  # above the stack there is a level all the same
        ((reach, posture, still, least), 4),  # the lowest is none: the level below it
        ((reach, still, least), 3),
        ((reach, least), 2),
        ((reach,), 1),  # there is none below
        ((posture,), 1),
        ((least,), 1),
        ((tasks.TorqueLimits(), tasks.JointLimits(), posture, least), 3),  # bounds ask for nothing
        ((posture, reach, least), 3),  # the posture is not the lowest one
    ):
        found = rank_of("arm", *([task] for task in levels))
        assert found[0] == rank and rank < found[1], levels


def test_contacts_and_forces_beside_a_posture() -> None:
    limits, motion = [tasks.TorqueLimits(), tasks.FrictionCones()], [tasks.ContactMotion()]
    base, posture = [tasks.EndEffectorAcceleration("base")], [tasks.JointAcceleration()]
    below = [tasks.ForceMinimization()], [tasks.TorqueMinimization()]
    rank, levels = rank_of("quadruped", limits, motion, base, posture, *below, feet=True)
    assert levels - rank == 3, "two levels are below it"


def bound(*postures: Task, robot: wbc.Dynamics | None = None, period: float = SLOW / 1e6) -> float:
    return Pulls(wbc.load("arm", "numpy") if robot is None else robot).bound(postures, period)


def swing(stiffness: float, damping: float) -> float:
    """By how much of a displacement a spring swings beyond its rest, at first."""
    x, v, dt, least = 1.0, 0.0, 1e-5, 0.0
    for _ in range(200_000):
        v += dt * (-stiffness * x - damping * v)
        x += dt * v
        least = min(least, x)
        if v > 0.0:
            break
    return -least


@pytest.mark.parametrize("hertz", [3.0, 6.0])
def test_the_posture_damps_the_spring_of_a_singular_direction(hertz: float) -> None:
    """DAMPING_RATIO: it swings beyond its rest by exp(-π ζ / √(1 - ζ²)), two fifths of where it came from."""
    posture = tasks.JointAcceleration(gains=wbc.Gains(hertz))
    K = bound(posture)
    assert 20.0 * authority(wbc.load("arm", "numpy")) < K, "it is the damping that counts"
    assert swing(K, posture.posture_damping) == pytest.approx(0.4, abs=0.04)


def test_the_posture_that_damps_most_counts() -> None:
    slow, fast = (tasks.JointAcceleration(gains=wbc.Gains(hertz)) for hertz in (4.0, 8.0))
    assert bound(slow, fast) == bound(fast, slow) == bound(fast) == pytest.approx(4.0 * bound(slow))
    assert bound(tasks.TorqueMinimization(), slow) == bound(slow), "what is no posture damps nothing"
    assert bound(tasks.JointAcceleration(gains=wbc.Gains(kp=100.0, kd=0.0))) == bound()


def test_without_damping_torques_of_the_spring_are_small_beside_what_actuators_give() -> None:
    """RANGES: in the worst direction a twentieth of a radian changes torques by all that there is."""
    robot = wbc.load("arm", "numpy")
    robot.update(robot.model.nominal)
    K, E = bound(robot=robot), np.diag(1.0 / robot.limits.effort)
    _, _, V = np.linalg.svd(E @ robot.mass_matrix)
    moved = 0.05 * V[0]  # rad, in the direction in which torques do least
    assert np.linalg.norm(E @ robot.mass_matrix @ (K * moved)) == pytest.approx(1.0, rel=0.01)
    assert pytest.approx(bound(tasks.TorqueMinimization())) == K


@pytest.mark.parametrize("period", [1e-2, 2e-3])
def test_the_period_resolves_the_spring(period: float) -> None:
    """TURN: an oscillation takes 14 ticks at least."""
    posture = tasks.JointAcceleration(gains=wbc.Gains(40.0))
    K = bound(posture, period=period)
    x, v, turns = 1.0, 0.0, 0
    for _ in range(1400):  # tick by tick
        before = x
        v -= period * K * x
        x += period * v
        turns += before < 0.0 <= x
    assert turns == pytest.approx(100, abs=10)
    assert bound(posture, period=period / 2.0) == pytest.approx(4.0 * K)


TWO = """<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="a" axis="0 1 0" range="-3 3"/>
<inertial pos="0 0 0" mass="1" diaginertia="2 2 2"/></body><body pos="1 0 0"><joint name="b" axis="0 1 0" range="-3 3"/>
<inertial pos="0 0 0" mass="1" diaginertia="0.5 0.5 0.5"/></body></worldbody><actuator>
<motor joint="a" ctrlrange="-1 1" gear="{a}" ctrllimited="true"/>{b}</actuator></mujoco>"""
MOTOR = '<motor joint="b" ctrlrange="-1 1" gear="{}" ctrllimited="true"/>'


def test_authority_is_that_of_the_worst_direction() -> None:
    """Of two flywheels of 2 and 0.5 kg m²: the one whose motor accelerates it least."""
    for a, b, least in ((10.0, 5.0, 5.0), (100.0, 5.0, 10.0), (10.0, 50.0, 5.0)):
        robot = wbc.load(mujoco.MjModel.from_xml_string(TWO.format(a=a, b=MOTOR.format(b))), "numpy")
        assert authority(robot) == pytest.approx(least)


def test_a_joint_without_a_motor_has_no_part_in_authority() -> None:
    robot = wbc.load(mujoco.MjModel.from_xml_string(TWO.format(a=10.0, b="")), "numpy")
    assert authority(robot) == pytest.approx(5.0)


def test_authority_does_not_depend_on_the_state_and_leaves_it() -> None:
    robot = wbc.load("quadruped", "numpy")
    fresh, q = authority(robot), robot.integrate(robot.model.nominal, np.full(18, 0.3))
    robot.update(q, np.ones(18))
    assert authority(robot) == fresh and np.array_equal(robot.q, q) and np.isfinite(fresh)


def test_a_controller_tells_its_solver_the_bound() -> None:
    """What comes out is the stiffness: a direction of which a thousandth is left, and a demand without bound."""
    robot = wbc.load("arm", "numpy")
    posture = tasks.JointAcceleration(robot.model.nominal, gains=wbc.Gains(6.0))
    weak = tasks.Rows(wbc.Rows.equal([0.0, 1e9], acceleration=np.eye(7)[:2] * [[1.0], [1e-3]]), "weak")
    stack = wbc.Stack(tasks.EquationOfMotion() / weak / posture)
    for period in (1e-3, 4e-3):
        ours = wbc.Controller(robot, stack, period=period, actuator_limits=False)
        for tick in range(40):
            solution = ours.step(robot.model.nominal, np.zeros(7), period * tick)
        size = np.sqrt((1.0 + 1e-6) / 2.0)  # of the level's rows
        K = bound(posture, period=period)
        assert solution.acceleration[1] == pytest.approx(1e-3 * K / size, rel=0.02)
        assert solution.yielding[0][:2] == ("weak", "row 1")
