"""What keeps joints of a robot that walks within their ranges, and its legs off each other."""

from __future__ import annotations

import pytest

import tasks
import wbc
from tasks.locomotion import Gait, Walk
from tasks.locomotion.keeping import (
    SHARE,
    braked_joints,
    kept_joints_and_legs,
    leg_length,
    legs_apart,
    roomy_joints,
)


def test_joints_are_counted_on_for_no_more_than_their_motors_give() -> None:
    robot = wbc.load("humanoid")
    found = braked_joints(robot)
    robot.update(robot.model.nominal)
    names = list(robot.joint_names)
    for braking, joints in found.items():
        for name in joints:
            index = names.index(name)
            inertia = robot.mass_matrix[6 + index, 6 + index]
            assert braking <= max(SHARE * robot.limits.effort[index] / inertia, 25.0)
    assert "left_hip_roll" in found[25.0] and "left_ankle_roll" in found[200.0]


def test_pairs_are_of_two_legs() -> None:
    robot = wbc.load("humanoid")
    geometry = legs_apart(robot, robot.model.feet)
    assert geometry is not None
    assert {frozenset(pair) for pair in geometry.pairs} == {
        frozenset((f"left_{one}", f"right_{other}")) for one in ("shank", "foot") for other in ("shank", "foot")
    }
    dog = wbc.load("quadruped")
    apart = legs_apart(dog, dog.model.feet)
    assert apart is not None and not any("base" in pair or pair[0][:2] == pair[1][:2] for pair in apart.pairs)
    assert leg_length(dog, dog.model.feet) == pytest.approx(0.463, abs=1e-3)


@pytest.mark.parametrize("kind", ["humanoid", "quadruped"])
def test_limits_of_joints_and_legs_are_above_contacts(kind: str) -> None:
    """Contacts that asked for more made arms and ankles give way in place of the joint that was too fast."""
    robot = wbc.load(kind)
    stack = Walk(robot).stack() if kind == "humanoid" else Gait(robot).stack()
    level = {task.name: number for number, tasks in enumerate(stack.levels) for task in tasks}
    assert level["legs"] < level["contact motion"]
    assert all(level[name] == level["legs"] for name in level if name.startswith("joint limits"))
    if kind == "humanoid":
        assert level["arms"] < level["swing of left_foot"] < level["balance"]


def test_no_room_is_kept_where_the_nominal_posture_leaves_none() -> None:
    """Talos stands with elbows and fingers at their ends and its legs near each other: what was kept threw it over."""
    robot = wbc.load("humanoid")
    roomy = roomy_joints(robot, robot.model.feet, 0.05)
    assert "left_knee" in roomy and "waist_yaw" not in roomy and "left_elbow" not in roomy
    assert "left_knee" not in roomy_joints(robot, robot.model.feet, 0.3)
    levels = kept_joints_and_legs(robot, robot.model.feet, 0.05)
    assert levels is not None
    limits = [task for task in levels.levels[0] if isinstance(task, tasks.JointLimits)]
    margins = {name: task.margin for task in limits for name in task.joints or ()}
    assert margins["left_knee"] == 0.05 and margins["left_elbow"] == 0.0
