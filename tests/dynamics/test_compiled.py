"""What the compiled kernel gives is what Python gives, and bad input to it is an error."""

from __future__ import annotations

import copy
import os
import subprocess
import sys

import numpy as np
import pytest

import wbc
import wbc.dynamics.mujoco
import wbc.dynamics.numpy
import wbc.dynamics.pinocchio
import wbc.model.space
from tests.dynamics.test_joint_kinds import some_tree
from tests.dynamics.test_small_robots import PENDULUM
from tests.robots import ALL, Robot, load
from wbc.compiled import kernel
from wbc.dynamics import Dynamics
from wbc.model import ConfigurationSpace, Model

needs_kernel = pytest.mark.skipif(kernel is None, reason="the kernel is not built, or off")
COMPILED = ("numpy", "pinocchio", "mujoco")
WHOLE = ("mass_matrix", "bias", "passive_force", "gravity_force", "com", "com_velocity", "com_jacobian", "com_bias")
WHOLE += ("momentum", "momentum_matrix", "momentum_bias")
OF_FRAME = ("pose", "twist", "jacobian", "jacobian_bias", "jacobian_derivative")
MOTION = ("poses", "jacobian", "bias", "velocity")
CLOSE = 1e-10  # relative to the largest entry


def in_python(model: Model, backend: str, monkeypatch) -> Dynamics:
    """The robot without the kernel."""
    with monkeypatch.context() as patch:
        for module in (wbc.model.space, wbc.dynamics.numpy, wbc.dynamics.pinocchio, wbc.dynamics.mujoco):
            patch.setattr(module, "kernel", None)
        return wbc.load(model, backend)


def assert_close(what: str, found, expected) -> None:
    assert found.shape == expected.shape, what
    assert not found.flags.writeable, what
    error = np.abs(found - expected).max(initial=0.0)
    assert error <= CLOSE * max(1.0, np.abs(expected).max(initial=0.0)), f"{what}: off by {error:.1e}"


def offset(rng: np.random.Generator) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3] = wbc.geometry.so3.exp(rng.normal(size=3))
    pose[:3, 3] = rng.normal(size=3)
    return pose


def compare(compiled: Dynamics, plain: Dynamics, seed: int) -> None:
    """Everything that both say, in a few states, some of them fast and far away."""
    rng = np.random.default_rng(seed)
    names = plain.model.frame_names
    chosen = [str(name) for name in rng.choice(names, min(4, len(names)), replace=False)]
    for number, parent in enumerate((chosen[-1], "world")):
        pose = offset(rng)
        for robot in (compiled, plain):
            robot.add_frame(f"added {number}", parent, pose)
    frames = (*chosen, "world", "added 0", "added 1")
    for speed in (0.0, 1.0, 30.0):
        q, v = plain.random(rng), rng.normal(scale=speed, size=plain.nv)
        for robot in (compiled, plain):
            robot.update(q, v)
        for name in WHOLE if plain.mass else WHOLE[:4]:
            assert_close(name, getattr(compiled, name), getattr(plain, name))
        for frame in frames[::2]:  # by itself, before the set
            for name in OF_FRAME:
                assert_close(f"{name} of {frame}", getattr(compiled, name)(frame), getattr(plain, name)(frame))
        for name in MOTION:
            assert_close(
                name, getattr(compiled.frames_motion(frames), name), getattr(plain.frames_motion(frames), name)
            )
        for frame in frames:  # out of the set
            for name in OF_FRAME:
                assert_close(f"{name} of {frame}", getattr(compiled, name)(frame), getattr(plain, name)(frame))
        for found, expected in zip(compiled.points(frames), plain.points(frames), strict=True):
            assert found.flags.writeable
            found.setflags(write=False)
            assert_close("points", found, expected)


@needs_kernel
@pytest.mark.parametrize("backend", COMPILED)
@pytest.mark.parametrize("robot", ALL, ids=lambda robot: robot.name)
def test_compiled_is_as_python(robot: Robot, backend: str, monkeypatch) -> None:
    compiled = load(robot, backend)
    compare(compiled, in_python(compiled.model, backend, monkeypatch), seed=1)


@needs_kernel
@pytest.mark.parametrize("backend", COMPILED)
@pytest.mark.parametrize("seed", range(6))
def test_compiled_is_as_python_with_joints_of_all_kinds(seed: int, backend: str, monkeypatch) -> None:
    model = some_tree(seed)
    compare(wbc.load(model, backend), in_python(model, backend, monkeypatch), seed)


@needs_kernel
@pytest.mark.parametrize("backend", COMPILED)
def test_compiled_is_as_python_with_one_joint(backend: str, monkeypatch) -> None:
    compare(wbc.load(PENDULUM, backend), in_python(PENDULUM, backend, monkeypatch), seed=0)


@pytest.mark.parametrize("backend", ["numpy", "pinocchio", "mujoco"])
def test_the_motion_of_frames_is_that_of_each(backend: str) -> None:
    robot, rng = wbc.load("humanoid", backend), np.random.default_rng(0)
    frames = (*robot.model.feet, *robot.model.hands, "base")
    with pytest.raises(wbc.WbcError, match="call update"):
        robot.frames_motion(frames)
    with pytest.raises(wbc.WbcError, match="call update"):
        robot.points((*frames, "world"))
    robot.update(robot.random(rng), rng.normal(size=robot.nv))
    motion = robot.frames_motion(frames)
    assert robot.frames_motion(frames) is motion
    assert np.array_equal(motion.poses, [robot.pose(frame) for frame in frames])
    assert np.array_equal(motion.jacobian, np.concatenate([robot.jacobian(frame) for frame in frames]))
    assert np.array_equal(motion.bias, np.concatenate([robot.jacobian_bias(frame) for frame in frames]))
    assert np.allclose(motion.velocity, motion.jacobian @ robot.v, atol=1e-12)
    for number, frame in enumerate(frames):
        parts = robot.frame_motion(frame)
        apart = robot.pose(frame), robot.jacobian(frame), robot.jacobian_bias(frame), robot.twist(frame)
        assert all(np.array_equal(*both) for both in zip(parts, apart, strict=True))
        assert np.array_equal(parts[0], motion.poses[number])
    assert not any(array.flags.writeable for array in motion)
    kept = [array.copy() for array in motion]
    twin = copy.deepcopy(robot)
    robot.update(robot.random(rng), rng.normal(size=robot.nv))
    assert robot.frames_motion(frames) is not motion
    for before, after, of_twin in zip(kept, motion, twin.frames_motion(frames), strict=True):
        assert np.array_equal(before, after)
        assert np.array_equal(before, of_twin)
    assert np.array_equal(robot.pose("world"), np.eye(4))
    none = robot.frames_motion(())
    assert [array.shape for array in none] == [(0, 4, 4), (0, robot.nv), (0,), (0,)]
    with pytest.raises(wbc.WbcError, match="no frame 'bse'"):
        robot.frames_motion(("base", "bse"))


@pytest.mark.parametrize("name", ["quadruped", "arm"])
def test_a_state_is_checked_alike_with_and_without_the_kernel(name: str, monkeypatch) -> None:
    model, rng = wbc.load(name, "numpy").model, np.random.default_rng(0)
    first = ConfigurationSpace(model)
    monkeypatch.setattr(wbc.model.space, "kernel", None)
    second = ConfigurationSpace(model)
    for _ in range(20):
        q, v = first.random(rng), rng.normal(size=first.nv)
        if model.floating:
            q[3:7] *= rng.uniform(0.9995, 1.0005)
        for a, b in zip(first.state(q, v), second.state(q, v), strict=True):
            assert np.array_equal(a, b)
            assert not a.flags.writeable
            assert not np.shares_memory(a, q)
        for odd in (q.tolist(), np.column_stack([q, q])[:, 0]):
            assert np.allclose(first.state(odd, None)[0], second.state(odd, None)[0])
    for bad_q, bad_v in ((q[1:], v), (q, v[1:]), (q + np.nan, v), (q, v + np.inf), ("home", v), (1.01 * q, v - np.inf)):
        with pytest.raises(wbc.WbcError) as one:
            first.state(bad_q, bad_v)
        with pytest.raises(wbc.WbcError) as other:
            second.state(bad_q, bad_v)
        assert str(one.value) == str(other.value)


def frames_of(**changes) -> object:
    """A reader of one frame of two velocities; the changes make it wrong."""
    vectors = [np.zeros(3), np.eye(3), *(np.zeros(3) for _ in range(5))]
    given = {"J": np.zeros((6, 2)), "pose": np.eye(4), "columns": (0, 1), "node": tuple(vectors)}
    given |= changes
    frame = given.get("frame", (given["pose"], given["columns"], given["node"]))
    return kernel.Frames(None, given["J"], True, (frame,))


@needs_kernel
@pytest.mark.parametrize(
    "changes",
    [
        {"J": np.zeros((5, 2))},
        {"J": np.zeros(6)},
        {"J": np.zeros((6, 2), dtype=np.float32)},
        {"J": None},
        {"pose": np.eye(3)},
        {"columns": (0, 2)},
        {"columns": (-1,)},
        {"columns": ("x",)},
        {"columns": [0]},
        {"columns": (10**30,)},
        {"node": (np.zeros(3),)},
        {"node": (np.zeros(3), np.eye(2), *(np.zeros(3) for _ in range(5)))},
        {"node": 3},
        {"frame": 3},
        {"frame": (np.eye(4),)},
    ],
    ids=str,
)
def test_frames_that_are_none_are_refused(changes) -> None:
    with pytest.raises((TypeError, ValueError, IndexError, OverflowError)):
        frames_of(**changes)


@needs_kernel
def test_outputs_of_another_size_are_refused() -> None:
    frames = frames_of()
    frames.motion(np.zeros(6 * 2 + 28))
    frames.points(np.zeros(3 * 2 + 6))
    states = kernel.States(7, 6, (3,), 1e-3)
    terms = kernel.Terms(None, 2, 1.0, np.eye(2), np.zeros(2), np.zeros(3), np.zeros((6, 2)), np.zeros((6, 2)), None)
    terms.read(np.zeros(2), np.zeros(2), np.zeros(4 + 8 + 6))
    read_only = np.zeros(10)
    read_only.setflags(write=False)
    for bad in (np.zeros(10), np.zeros((5, 2)), np.zeros(20)[::2], np.zeros(10, dtype=int), read_only, None, "x"):
        for call in (
            frames.motion,
            frames.points,
            lambda out: states.take(np.zeros(7), np.zeros(6), out),
            lambda out: terms.read(np.zeros(2), np.zeros(2), out),
            lambda out: terms.read(out, np.zeros(2), np.zeros(18)),
            lambda out: terms.read(np.zeros(2), out, np.zeros(18)),
        ):
            with pytest.raises((TypeError, ValueError, BufferError)):
                call(bad)
    for arguments in ((7, 6, (4,), 1e-3), (7, 6, (-1,), 1e-3), (-1, 6, (), 1e-3), (7, 6, ("x",), 1e-3), (7,)):
        with pytest.raises((TypeError, ValueError, IndexError)):
            kernel.States(*arguments)
    for method in (states.take, terms.read):
        with pytest.raises(TypeError):
            method()
    passive = (np.zeros(2), np.zeros(2), np.ones(2), ((2, 0, 1.0, 0.0),))
    with pytest.raises(IndexError):
        kernel.Terms(None, 2, 1.0, np.eye(2), np.zeros(2), np.zeros(3), np.zeros((6, 2)), np.zeros((6, 2)), passive)


def test_the_kernel_can_be_switched_off() -> None:
    program = "import wbc.compiled; assert wbc.compiled.kernel is None"
    subprocess.run([sys.executable, "-c", program], env={**os.environ, "WBC_KERNEL": "off"}, check=True)


def tree_of(**changes) -> object:
    """A tree of one slider; the changes make it wrong."""
    zero, eye = np.zeros(3), np.eye(3)
    node = {"parent": 0, "kind": 1, "R": eye, "p": zero, "axis": zero, "q": 0, "v": 0, "mass": 1.0, "com": zero}
    node |= {"inertia": eye} | {key: value for key, value in changes.items() if key in (*node, "inertia")}
    whole = {"nodes": (tuple(node.values()),), "armature": np.zeros(1), "gravity": zero, "passive": None}
    whole |= {"motion": np.zeros((2, 24)), "screws": np.zeros((1, 6)), "origin": np.zeros(3)}
    whole |= {key: value for key, value in changes.items() if key in whole}
    return kernel.Tree(1, 1, *whole.values())


@needs_kernel
@pytest.mark.parametrize(
    "changes",
    [
        {"parent": 1},
        {"parent": -1},
        {"kind": 4},
        {"kind": 2},
        {"q": 1},
        {"v": -1},
        {"mass": "x"},
        {"inertia": np.eye(2)},
        {"nodes": (3,)},
        {"nodes": [()]},
        {"armature": np.zeros(2)},
        {"gravity": np.zeros(2)},
        {"passive": (np.zeros(1), np.zeros(2), np.ones(1), ())},
        {"passive": (np.zeros(1), np.zeros(1), np.ones(2), ())},
        {"passive": (np.zeros(1), np.zeros(1), 0.01, ())},
        {"passive": (np.zeros(1), np.zeros(1), np.ones(1), (3,))},
        {"motion": np.zeros((1, 24))},
        {"motion": np.zeros((2, 24), order="F")},
        {"screws": np.zeros((6, 1))},
        {"origin": np.zeros(2)},
    ],
    ids=str,
)
def test_trees_that_are_none_are_refused(changes) -> None:
    with pytest.raises((TypeError, ValueError, IndexError)):
        tree_of(**changes)


@needs_kernel
def test_a_tree_says_what_is_missing() -> None:
    tree, one, block = tree_of(), np.zeros(1), np.zeros(1 + 4 + 6)
    for call in (lambda: tree.read(one, one, block), lambda: tree.momentum(np.zeros(12))):
        with pytest.raises(RuntimeError, match="no state yet"):
            call()
    tree.update(one, one)
    tree.read(one, one, block)
    for call in (
        lambda: tree.update(one),
        lambda: tree.update(np.zeros(2), one),
        lambda: tree.update(one, np.zeros(2)),
        lambda: tree.read(one, one, np.zeros(12)),
        lambda: tree.read(one, one),
        lambda: tree.momentum(block),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()
