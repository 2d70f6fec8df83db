"""The demonstration does what it says, and what is said of it is so."""

import re

import numpy as np
import pytest

import wbc
from wbc.application import Comparison, compare, demo, load_scene, other_backends
from wbc.geometry import so3
from wbc.scenes.demonstration import COMMANDS, MOTION, PUSHES, BaseMotion


def test_the_base_motion_is_smooth_and_its_derivatives_are_right():
    motion, h = BaseMotion(wbc.load("quadruped", "numpy")), 1e-5
    for t in np.linspace(MOTION[0], MOTION[1], 15)[1:-1]:
        (before, v0, _), (_, v, a), (after, v1, _) = (motion.target(t + dt) for dt in (-h, 0.0, h))
        turn = so3.log(after[:3, :3] @ before[:3, :3].T)
        assert np.append(after[:3, 3] - before[:3, 3], turn) / (2 * h) == pytest.approx(v, abs=1e-8)
        assert (v1 - v0) / (2 * h) == pytest.approx(a, abs=1e-7)
    for t in MOTION:
        assert np.abs(motion.target(t)[1]).max() < 1e-12
        assert motion.target(t)[0] == pytest.approx(motion.target(0.0)[0], abs=1e-12)


def numbers(words):
    return [float(found) for found in re.findall(r"-?\d+\.?\d*", words)]


def test_it_stands_moves_is_pushed_recovers_and_trots():
    scene = demo()
    log = scene.run()
    assert log.ended == "finished" and set(log.status) == {"optimal"}
    assert log.cone_margin.min() > -1e-9 and log.torque_margin.min() > 0
    figures = scene.figures(log)
    for name, words in figures.items():
        print(f"{name}: {words}")
    off, most, angle = numbers(figures["base motion"])
    assert off <= most < 2.0 and angle < 0.5  # mm and degrees
    for _, _, name in PUSHES:
        gave_way, left = numbers(figures[name])
        assert 2.0 < gave_way < 60.0 and left < 2.0
    trots = [(command, words) for _, command, words in COMMANDS if any(command)]
    assert len(trots) == 2
    for command, words in trots:
        forward, _, left, _, turning, _ = numbers(figures[words])
        assert forward == pytest.approx(command[0], rel=0.15)
        assert left == pytest.approx(command[1], abs=0.05)
        assert turning == pytest.approx(command[2], rel=0.15, abs=0.05)
    # the figures are of what was measured: a log of a robot that stands still has others
    log.true_q[:, :3] = log.true_q[0, :3]
    assert numbers(scene.figures(log)["base motion"])[1] > 20.0


def test_the_other_backend_finds_the_same_torques():
    pytest.importorskip("pinocchio")
    scene = load_scene("6", "pinocchio")
    (other,) = other_backends(scene, lambda name: load_scene("6", name))
    log = scene.run(0.8, until=lambda now, solution: bool(other.take(now, solution)))
    assert other.name == "on numpy" and len(other.times) == len(log) == 800
    assert (log.forces[:, :, 2] == 0.0).any()  # feet were in the air
    assert other.torque < 1e-6
    assert other_backends(load_scene("demo", "mujoco"), lambda name: scene)[0].name == "on numpy"


def test_solvers_that_are_compared_keep_up_with_a_gait():
    log, found = compare(lambda solver: load_scene("6", "auto", solver), ["hierarchical-qp", "sequential-qp"], 0.8)
    assert log.ended == "finished"
    assert [one.name for one in found] == ["hierarchical-qp", "sequential-qp"]
    assert all(isinstance(one, Comparison) and len(one.times) == 800 and not one.violated for one in found)
    # In the tick in which a foot leaves the ground, sequential-qp may reach its limit on steps, and is cut short. One
    # whose gait did not keep up would be off by tens of N m.
    assert found[0].cost.max() < 1e-9 and max(one.torque for one in found) < 8.0
    assert found[0].torque == 0.0
