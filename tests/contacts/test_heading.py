"""Torques do not depend on which way the world is turned about the vertical: pyramids are aligned with the robot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import SOLVERS, controller
from wbc.arrays import Array
from wbc.contacts.heading import heading
from wbc.geometry import quaternion, so3
from wbc.model import Model

KINDS = {
    "quadruped": ("points", "points on a slope", "one on its own thigh"),
    "humanoid": ("soles", "forces at corners", "points"),
}
SIDES_AND_FRICTION = ((4, 0.6), (3, 0.15), (6, 0.3))


def contacts(robot: wbc.Dynamics, kind: str, friction: float, Q: Array) -> list[wbc.Contact]:
    """In a world that is turned by Q."""
    feet = robot.model.feet
    if kind == "soles":
        return [wbc.SurfaceContact(foot, friction) for foot in feet]
    if kind == "forces at corners":
        return [wbc.SurfaceContact(foot, friction, forces="corners") for foot in feet]
    normals = {foot: np.array([0.0, 0.0, 1.0]) for foot in feet}
    if kind == "points on a slope":
        normals = {foot: Q @ [0.3 * k, 0.2, 1.0 - 0.3 * k] for k, foot in enumerate(feet)}
    found = [wbc.PointContact(foot, friction, normal=normals[foot]) for foot in feet]
    if kind == "one on its own thigh":
        found[0] = wbc.PointContact(feet[0], friction, on=feet[1].replace("_foot", "_thigh"))
    return found


def torque(name: str, solver: str, kind: str, seed: int, turn: float) -> Array:
    """Of a robot in motion that is asked for more than friction gives, in a world that is turned."""
    robot, rng = wbc.load(name, "numpy"), np.random.default_rng(seed)
    sides, friction = SIDES_AND_FRICTION[seed % 3]
    nominal = np.array(robot.model.nominal)
    q, v = robot.integrate(nominal, rng.normal(scale=0.08, size=robot.nv)), rng.normal(scale=0.2, size=robot.nv)
    robot.update(nominal)
    Q, target = so3.exp([0.0, 0.0, turn]), np.eye(4)
    target[:3, 3] = Q @ (robot.pose("base")[:3, 3] + rng.normal(scale=0.1, size=3))
    target[:3, :3] = Q @ robot.pose("base")[:3, :3]
    q[:3], v[:3] = Q @ q[:3], Q @ v[:3]
    q[3:7] = quaternion.from_matrix(Q @ quaternion.to_matrix(q[3:7]))
    levels = tasks.EquationOfMotion() / (tasks.TorqueLimits() + tasks.FrictionCones(sides)) / tasks.ContactMotion()
    levels = levels / tasks.EndEffectorAcceleration("base", target, gains=wbc.Gains(3.0))
    posture = tasks.JointAcceleration(nominal[7:], gains=wbc.Gains(1.5))
    stack = wbc.Stack(levels / posture / tasks.TorqueMinimization(), contacts(robot, kind, friction, Q))
    return controller(robot, stack, solver).step(q, v).torque


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, kinds in KINDS.items() for kind in kinds])
def test_torques_know_no_compass(name: str, kind: str, solver: str) -> None:
    if (kind, solver) == ("forces at corners", "sequential-qp"):
        pytest.skip("its QPs leave forces that do nothing in their null space where they happen to end")
    for seed in range(3):
        straight = torque(name, solver, kind, seed, 0.0)
        for turn in np.random.default_rng(seed).uniform(-np.pi, np.pi, 2):
            assert np.abs(torque(name, solver, kind, seed, turn) - straight).max() < 1e-9, (seed, turn)


def turned(model: Model, Q: Array) -> Model:
    """A model whose base is mounted in another direction."""
    first, *others = model.joints.values()
    pose = np.array(first.pose)
    pose[:3, :3] = Q @ pose[:3, :3]
    bodies = [body for body in model.bodies.values() if body.name != "world"]
    frames = model.frames.values()
    return Model(model.name, bodies, [replace(first, pose=pose), *others], frames, nominal=model.nominal)


@pytest.mark.parametrize("by", ["its mount", "its first joint"])
def test_an_arm_that_pushes_on_a_table_does_not_know_where_north_is(by: str) -> None:
    model = wbc.load("arm", "numpy").model
    found = []
    for turn in (0.0, 0.7, -2.2):
        Q, q = so3.exp([0.0, 0.0, turn]), np.array(model.nominal)
        robot = wbc.load(turned(model, Q) if by == "its mount" else model, "numpy")
        if by == "its first joint":
            q[0] += turn
        push = tasks.ContactForce("tool", Q @ np.array([40.0, 25.0, 30.0]))  # more to the side than friction bears
        levels = tasks.EquationOfMotion() / tasks.FrictionCones() / tasks.ContactMotion() / push
        stack = wbc.Stack(levels / tasks.TorqueMinimization(), wbc.PointContact("tool", 0.5))
        solution = wbc.Controller(robot, stack).step(q, np.zeros(7))
        assert not solution.levels[3].cost < 1.0 and solution.status == "optimal"
        found.append(solution.torque)
    assert np.abs(found[1] - found[0]).max() < 1e-9 and np.abs(found[2] - found[0]).max() < 1e-9


def facing(robot: wbc.Dynamics, R: Array) -> float:
    q = np.array(robot.model.nominal)
    q[3:7] = quaternion.from_matrix(R)
    robot.update(q)
    return float(np.arctan2(*heading(robot)[::-1]))


def test_the_heading_is_the_turn_about_the_vertical_however_the_base_is_tilted() -> None:
    robot, rng = wbc.load("quadruped", "numpy"), np.random.default_rng(0)
    for tilt in (0.0, 0.3, np.pi / 2, 3.0):  # at a quarter of a turn its nose may point straight up
        for _ in range(5):
            about, turn = rng.uniform(-np.pi, np.pi), rng.uniform(-np.pi, np.pi)
            R = so3.exp([0, 0, turn]) @ so3.exp(tilt * np.array([np.cos(about), np.sin(about), 0.0]))
            assert facing(robot, R) == pytest.approx(turn, abs=1e-9)
    nose_up = [facing(robot, so3.exp([0, 0, 0.4]) @ so3.exp([0, -pitch, 0])) for pitch in np.linspace(1.5, 1.7, 50)]
    assert np.abs(np.diff(nose_up)).max() < 1e-9


def test_upside_down_there_is_some_heading() -> None:
    assert facing(wbc.load("quadruped", "numpy"), np.diag([1.0, -1.0, -1.0])) == 0.0


def test_pyramids_turn_about_their_normals_only() -> None:
    robot = wbc.load("quadruped", "numpy")
    for normal in ((0, 0, 1), (0, 0, -1), (1, 0, 0), (0.3, -0.2, 0.9), (0.3, -0.2, -0.9)):
        contact = wbc.PointContact("LF_foot", 0.6, normal=normal)
        at = []
        for turn in (0.0, 0.2, 0.2 + np.pi / 2):
            facing(robot, so3.exp([0.0, 0.0, turn]))
            R = contact.turn(robot)
            assert so3.is_rotation(R, 1e-12) and np.allclose(R @ contact.normal, contact.normal)
            at.append(contact.cone(robot, 4))
        assert not np.allclose(at[0], at[1], atol=0.05)
        assert np.allclose(sorted(map(tuple, at[1].round(9))), sorted(map(tuple, at[2].round(9))))  # four alike sides


BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
CART = f"""<robot name="cart"><link name="world"/><link name="floor"/>
  <link name="cart">{BODY}</link> <link name="arm">{BODY}</link>
  <joint name="mount" type="fixed"><parent link="world"/><child link="floor"/><origin rpy="0 0 0.5"/></joint>
  <joint name="wheels" type="planar"><parent link="floor"/><child link="cart"/><axis xyz="0 0 1"/></joint>
  <joint name="lift" type="continuous"><parent link="cart"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""


def test_a_cart_heads_where_its_wheels_take_it(tmp_path: object) -> None:
    path = tmp_path / "cart.urdf"  # type: ignore[operator]
    path.write_text(CART)
    robot = wbc.load(str(path), "numpy")
    for turn, lift in ((0.0, 0.0), (0.3, 1.0), (0.3, 3.0)):
        robot.update(np.array([1.0, 2.0, turn, lift]))
        assert np.arctan2(*heading(robot)[::-1]) == pytest.approx(0.5 + turn)
