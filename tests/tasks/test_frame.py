"""Tasks on frames: what they demand against what a frame in motion is measured to do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tasks
import wbc
from tests.tasks.motions import CLOSE, Moving, pose_near, residual, rotvec

ROBOTS = {"quadruped": ("LF_foot", "RH_shank"), "humanoid": ("right_hand", "left_thigh"), "arm": ("tool", "link_3")}
TURN = Rotation.from_rotvec([0.3, -1.1, 0.7]).as_matrix()
OFFSET = np.block([[TURN.T, np.array([[0.2], [-0.1], [0.3]])], [np.zeros((1, 3)), np.ones((1, 1))]])
ALL = ("x", "y", "z", "rx", "ry", "rz")
VARIANTS = {
    "pose": {},
    "position": {"axes": "position"},
    "orientation": {"axes": "orientation"},
    "letters": {"axes": "zx"},
    "subset": {"axes": ("rz", "y", "x")},
    "in frame": {"axes": ("z", "rx"), "axes_in": "frame"},
    "in rotated axes": {"axes": ("x", "y", "rz"), "axes_in": TURN},
    "tool": {"offset": OFFSET},
    "tool point": {"offset": (0.1, -0.2, 0.3), "axes": "position"},
    "relative": {"relative_to": 1},
    "relative tool": {"relative_to": 1, "offset": OFFSET, "axes_in": "frame", "axes": ("y", "rx", "rz")},
    "relative, rotated": {"relative_to": 1, "axes": "position", "axes_in": TURN},
}


def demanded(moving, options, pose, velocity, acceleration, kp, kd, frames):
    """What the task asks of the frame's acceleration, and what that is, in the task's axes."""
    offset = options.get("offset")
    if offset is not None and np.ndim(offset) == 1:
        offset = np.block([[np.eye(3), np.array(offset)[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])
    seen = (frames[0], offset, frames[1] if "relative_to" in options else None)
    now = moving.pose(*seen)
    rate, second = moving.frame_rates(*seen)
    error = np.r_[pose[:3, 3] - now[:3, 3], rotvec(pose[:3, :3] @ now[:3, :3].T)]
    words = {"pose": ALL, "position": ALL[:3], "orientation": ALL[3:]}
    axes = options.get("axes", "pose")
    picked = [ALL.index(axis) for axis in (words.get(axes, axes) if isinstance(axes, str) else axes)]
    W = {"world": np.eye(3), "frame": now[:3, :3]}.get(str(options.get("axes_in", "world")))
    W = options["axes_in"] if W is None else W
    turn = np.kron(np.eye(2), W.T)[picked]
    force = kp * (turn @ error) + kd * (turn @ (velocity - rate))
    return turn @ second, turn @ acceleration, force, picked


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_demands_are_met_by_motions_that_fulfil_the_rows(name: str, variant: str) -> None:
    moving, frames = Moving(name, seed=len(variant)), ROBOTS[name]
    options = dict(VARIANTS[variant])
    pose = pose_near(moving.rng, moving.pose(frames[0]))
    velocity, acceleration = moving.rng.normal(size=(2, 6))
    kp, kd = 30.0, 7.0
    got, feed, force, picked = demanded(moving, options, pose, velocity, acceleration, kp, kd, frames)
    if "relative_to" in options:
        options["relative_to"] = frames[1]
    shape = (
        pose
        if len(picked) > 3 or (min(picked) < 3 <= max(picked))
        else pose[:3, 3]
        if max(picked) < 3
        else pose[:3, :3]
    )
    gains = wbc.Gains(kp=np.full(len(picked), kp), kd=kd)
    for target, rates in (
        (shape, {"velocity": velocity, "acceleration": acceleration}),
        (lambda t: (pose if t == 3.0 else np.eye(4), velocity, acceleration), {}),
    ):
        task = tasks.EndEffectorAcceleration(frames[0], target, gains, **options, **rates)
        assert np.allclose(residual(task, moving, time=3.0), got - feed - force, **CLOSE)
        assert len(task.row_names(moving.robot, wbc.Tick(moving.robot))) == len(picked)
        for axis in task.axes:
            assert axis in repr(task)
        assert frames[0] in repr(task) and task.error(moving.robot, wbc.Tick(moving.robot)).shape == (len(picked),)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_an_impedance_behaves_like_spring_damper_and_inertia(name: str, variant: str) -> None:
    moving, frames = Moving(name, seed=len(variant) + 50), ROBOTS[name]
    options = dict(VARIANTS[variant])
    pose = pose_near(moving.rng, moving.pose(frames[0]))
    velocity, acceleration = moving.rng.normal(size=(2, 6))
    got, feed, force, picked = demanded(moving, options, pose, velocity, acceleration, 300.0, 20.0, frames)
    if "relative_to" in options:
        options["relative_to"] = frames[1]
    n, robot = len(picked), moving.robot
    given = {"target": pose, "velocity": velocity, "acceleration": acceleration}
    B = moving.rng.normal(size=(n, n))
    inertia = B @ B.T + np.eye(n)
    wanted = tasks.CartesianImpedance(frames[0], 300.0, np.full(n, 20.0), inertia=inertia, **given, **options)
    # K e + D ė = inertia (ẅ - ẅ*): the closed loop
    assert np.allclose(residual(wanted, moving), got - feed - np.linalg.solve(inertia, force), **CLOSE)
    own = tasks.CartesianImpedance(frames[0], 300.0 * np.eye(n), 20.0, **given, **options)
    J = own.matrices(robot, wbc.Tick(robot))[0][:, : robot.nv]
    assert np.allclose(J, wanted.matrices(robot, wbc.Tick(robot))[0][:, : robot.nv], atol=1e-12)
    mobility = J @ np.linalg.inv(robot.mass_matrix) @ J.T
    assert np.allclose(residual(own, moving), got - feed - mobility @ force, **CLOSE)


def test_with_its_own_inertia_an_impedance_needs_no_torque_but_spring_and_damper() -> None:
    moving = Moving("arm", 3)
    robot = moving.robot
    task = tasks.CartesianImpedance("tool", 100.0, 5.0, pose_near(moving.rng, moving.pose("tool")))
    stack = wbc.Stack(tasks.EquationOfMotion() / task / tasks.AccelerationMinimization())
    exact = wbc.Controller(robot, stack, "hierarchical-qp", actuator_limits=False)
    found = exact.step(moving.q, moving.v).torque
    error = task.error(robot, wbc.Tick(robot))
    J = robot.jacobian("tool")
    force = 100.0 * error - 5.0 * robot.twist("tool")
    # ETH (3.87): tau = J^T (Λ ẇ* + μ + p), Λ ẇ* the spring's force; up to what lies in the null space
    expected = robot.bias + J.T @ (
        force - np.linalg.solve(J @ np.linalg.solve(robot.mass_matrix, J.T), robot.jacobian_bias("tool"))
    )
    gap = J @ np.linalg.solve(robot.mass_matrix, found - robot.bias) - J @ np.linalg.solve(
        robot.mass_matrix, expected - robot.bias
    )
    assert np.abs(gap).max() < 1e-7


def test_without_a_target_a_frame_is_held_where_it_first_was() -> None:
    moving = Moving("quadruped", 4)
    task = tasks.EndEffectorAcceleration("LF_foot", axes="position")
    tick = wbc.Tick(moving.robot)
    assert not task.error(moving.robot, tick).any()
    place = moving.pose("LF_foot")[:3, 3]
    moving.robot.update(moving.robot.random(moving.rng))
    assert np.allclose(task.error(moving.robot, tick), place - moving.pose("LF_foot")[:3, 3])
    task.reset()
    assert not task.error(moving.robot, tick).any()
    assert "held" in repr(task)
    task.target = place
    assert "to its target" in repr(task)
    assert np.allclose(task.error(moving.robot, tick), place - moving.pose("LF_foot")[:3, 3])


def test_targets_offsets_axes_and_gains_are_copied() -> None:
    moving = Moving("arm", 5)
    pose, velocity, acceleration = pose_near(moving.rng, np.eye(4)), np.ones(6), np.ones(6)
    offset, axes_in, kp = np.eye(4), np.eye(3), np.full(6, 30.0)
    task = tasks.EndEffectorAcceleration(
        "tool", pose, wbc.Gains(kp=kp), offset=offset, axes_in=axes_in, velocity=velocity, acceleration=acceleration
    )
    tick = wbc.Tick(moving.robot)
    before = task.matrices(moving.robot, tick)
    for array in (pose, velocity, acceleration, offset, axes_in, kp):
        array *= 2
    after = task.matrices(moving.robot, tick)
    assert np.array_equal(before[0], after[0]) and np.array_equal(before[1], after[1])
    with pytest.raises(ValueError, match="read-only"):
        task.target[0, 3] = 7.0
    task.target = task.target
    assert np.array_equal(task.matrices(moving.robot, tick)[1], after[1])
    before[1][:] = 0.0  # nor does a user's hold on the rows reach back
    assert np.array_equal(task.matrices(moving.robot, tick)[1], after[1])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"axes": "xyq"}, "no axis 'q'"),
        ({"axes": "positon"}, "did you mean 'position'"),
        ({"axes": ("x", "x")}, "once"),
        ({"axes": ()}, "at least one"),
        ({"axes_in": "wrld"}, "did you mean 'world'"),
        ({"axes_in": np.ones((3, 3))}, "rotation matrix"),
        ({"offset": np.ones(4)}, "offset"),
        ({"target": np.ones(3)}, r"shape \(3,\) is not a pose.* position alone, give axes=.position."),
        ({"target": np.eye(3)}, r"orientation alone, give axes=.orientation."),
        ({"target": np.full((4, 4), np.nan)}, "finite"),
        ({"target": "there"}, "not an array"),
        ({"target": np.ones((4, 4))}, "not a rotation matrix"),
        ({"axes_in": [[1.0], [2.0, 3.0]]}, "axes_in = .* is not an array"),
        ({"gains": 3.0}, r"gains = 3.0 must be wbc\.Gains"),
        ({"velocity": np.ones(3)}, r"velocity .*\(6,\)"),
        ({"gains": wbc.Gains(kp=np.ones(4))}, "kp has 4 values"),
        ({"weight": -1.0}, "weight"),
        ({"tolerance": -0.1}, "tolerance"),
    ],
)
def test_mistakes_are_named(options: dict, words: str) -> None:
    with pytest.raises(wbc.WbcError, match=words) as caught:
        tasks.EndEffectorAcceleration("tool", **options)
    assert "tool" in str(caught.value) or "axes_in" in str(caught.value)


def test_a_moving_target_that_does_not_turn_is_named() -> None:
    robot = wbc.load("arm", "numpy")
    robot.update(robot.neutral())
    task = tasks.EndEffectorAcceleration("tool", lambda t: np.ones((4, 4)))
    with pytest.raises(wbc.WbcError, match=r"tool: the rotation in target at t = 0 is not a rotation matrix"):
        task.matrices(robot, wbc.Tick(robot))
    tasks.EndEffectorAcceleration("tool", np.ones((4, 4)), axes="position").matrices(robot, wbc.Tick(robot))


def test_bad_impedances_are_named() -> None:
    for stiffness, words in (
        (-1.0, "not negative"),
        (np.ones(4), "6 numbers"),
        (np.triu(np.ones((6, 6))), "symmetric"),
    ):
        with pytest.raises(wbc.WbcError, match=f"impedance of tool: stiffness.*{words}"):
            tasks.CartesianImpedance("tool", stiffness, 1.0)
    with pytest.raises(wbc.WbcError, match="inertia"):
        tasks.CartesianImpedance("tool", 1.0, 1.0, inertia=0.0)


def test_an_impedance_may_have_no_stiffness_and_no_damping_but_not_no_inertia() -> None:
    """A frame that only damps, and one that is left alone: K = 0 and D = 0 are springs and dampers too."""
    robot = wbc.load("arm", "numpy")
    robot.update(robot.model.nominal, np.full(7, 0.3))
    tick = wbc.Tick(robot)
    away = robot.pose("tool").copy()
    away[:3, 3] += 0.1
    free = tasks.CartesianImpedance("tool", 0.0, 0.0, away).matrices(robot, tick)[1]
    assert np.allclose(free, -robot.jacobian_bias("tool"))
    damped = tasks.CartesianImpedance("tool", np.zeros(6), 5.0, away, inertia=2.0).matrices(robot, tick)[1]
    assert np.allclose(damped - free, -2.5 * robot.twist("tool"))
    for inertia in (0.0, np.zeros(6), np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 0.0])):
        with pytest.raises(wbc.WbcError, match="impedance of tool: inertia must be symmetric and not negative"):
            tasks.CartesianImpedance("tool", 1.0, 1.0, inertia=inertia)
