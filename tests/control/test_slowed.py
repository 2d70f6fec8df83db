"""Health names the tasks that the speed of their gains slows, and no others."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from wbc.control.health import KINDS
from wbc.tasking.levels import Levels

DT = 0.01


def findings(task: wbc.Task | Levels, below: wbc.Task | None = None, duration: float = 2.0) -> dict[float, wbc.Health]:
    """The health of an arm that does as it is told, every 0.25 s."""
    robot = wbc.load("arm", "numpy")
    levels = tasks.EquationOfMotion() / tasks.TorqueLimits() / task
    controller = wbc.Controller(robot, wbc.Stack(levels if below is None else levels / below), period=DT)
    q, v, found = np.array(robot.model.nominal), np.zeros(robot.nv), {}
    for tick in range(round(duration / DT) + 1):
        solution = controller.step(q, v, tick * DT)
        if tick % 25 == 0:
            found[tick * DT] = solution.health
        q = robot.integrate(q, v * DT + solution.acceleration * DT**2 / 2, 1.0)
        v = v + solution.acceleration * DT
    return found


def place(*away: float) -> np.ndarray:
    """A target of the tool, m, so far from where it begins."""
    robot = wbc.load("arm", "numpy")
    robot.update(robot.model.nominal)
    return np.asarray(robot.pose("tool")[:3, 3] + away)


def slowed(health: wbc.Health) -> list[str]:
    return [finding.name for finding in health.of("slowed")]


def test_it_stands_before_late() -> None:
    assert KINDS[-2:] == ("slowed", "late")


def test_joints_that_are_slowed_for_a_second_are_named() -> None:
    """With 2 Hz and 0.3 rad/s the bound ends 2 · 0.3 / ω = 0.048 rad before the target."""
    goal = np.array(wbc.load("arm", "numpy").model.nominal)
    goal[[1, 3]] += 0.3, -0.5
    told = findings(tasks.JointAcceleration(goal, gains=wbc.Gains(2.0, speed=0.3)), duration=2.5)
    assert [time for time, health in told.items() if slowed(health)] == [1.0, 1.25, 1.5]
    (finding,) = told[1.0].of("slowed")
    assert (finding.name, finding.unit, finding.value) == ("posture", "rad", pytest.approx(0.21, abs=0.005))
    assert finding.text.startswith("posture: joint_4 is 0.2") and finding.text.endswith("approach it at 0.3 rad/s")


@pytest.mark.parametrize("speed", [None, 3.0])
def test_what_is_not_bounded_is_not_named(speed: float | None) -> None:
    goal = np.array(wbc.load("arm", "numpy").model.nominal) + 0.4
    told = findings(tasks.JointAcceleration(goal, gains=wbc.Gains(1.0, speed=speed)))
    assert not any(map(slowed, told.values()))


def test_what_others_hold_back_is_not_slowed() -> None:
    """A posture that gives way to the tool for good: its demand is bounded, but the tool is the reason."""
    tool = tasks.EndEffectorAcceleration("tool", place(-0.1, 0.25, 0.1), wbc.Gains(2.0), axes="position")
    told = findings(tool, tasks.JointAcceleration(gains=wbc.Gains(2.0, speed=0.05)), duration=4.0)
    assert not slowed(told[3.0]) and not slowed(told[4.0])


def test_a_target_out_of_reach_is_slowed_until_the_arm_is_stretched() -> None:
    tool = tasks.EndEffectorAcceleration("tool", place(1.0, 0.3, 0.1), wbc.Gains(2.0, speed=0.3), axes="position")
    told = findings(tool, tasks.JointAcceleration(), duration=4.0)
    assert slowed(told[1.25]) == ["tool"]
    assert not slowed(told[4.0]) and told[4.0].of("out of reach")


@pytest.mark.parametrize(("brake", "slow"), [(2 / 3, True), (1.5, False)])
def test_what_goes_at_less_than_half_of_its_speed_is_held_back_by_others(brake: float, slow: bool) -> None:
    """A damper of weight w beside it leaves v = speed / (1 + w)."""
    goal = np.array(wbc.load("arm", "numpy").model.nominal) + 1.0
    gains = wbc.Gains(2.0, speed=0.3)
    damper = tasks.JointAcceleration(gains=wbc.Gains(kp=0.0, kd=gains.kd), weight=brake, name="damper")
    told = findings(tasks.JointAcceleration(goal, gains=gains) + damper, duration=1.5)
    assert slowed(told[1.5]) == (["posture"] if slow else [])


def test_a_long_way_at_a_low_speed_is_not_out_of_reach() -> None:
    goal = np.array(wbc.load("arm", "numpy").model.nominal)
    goal[1] += 1.2
    told = findings(tasks.JointAcceleration(goal, gains=wbc.Gains(2.0, speed=0.1)), duration=2.0)
    assert slowed(told[2.0]) == ["posture"]
    assert not any(health.of("out of reach") for health in told.values())
