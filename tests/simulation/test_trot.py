"""The quadruped of example 6 trots to velocity commands in MuJoCo."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import wbc
from tasks import Trot

COMMANDS = {"forward": (0.5, 0.0, 0.0), "sideways": (0.0, 0.2, 0.0), "turning": (0.0, 0.0, 0.5)}
START = 1.5
"""Time to start and to take the command up, s: it is no part of the mean."""


def example(name: str):
    """A module of examples/, whose names are no identifiers."""
    path = Path(__file__).parents[2] / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"example_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def heading_speeds(log: wbc.Log, since: float) -> np.ndarray:
    """Mean speeds from a time on, by where the robot got to and not by what it measured: m/s, m/s, rad/s.

    The way of each tick is turned into the heading that the robot has there.
    """
    log_from = int(np.searchsorted(log.time, since))
    w, x, y, z = log.q[log_from:, 3:7].T
    yaw = np.unwrap(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
    way, at = np.diff(log.q[log_from:, :2], axis=0), (yaw[1:] + yaw[:-1]) / 2
    forward = np.cos(at) * way[:, 0] + np.sin(at) * way[:, 1]
    left = np.cos(at) * way[:, 1] - np.sin(at) * way[:, 0]
    return np.array([forward.sum(), left.sum(), yaw[-1] - yaw[0]]) / (log.time[-1] - log.time[log_from])


def off_the_hips(log: wbc.Log, since: float) -> np.ndarray:
    """By how much each foot, in the mean of its time on the ground, is off its nominal place under the base, m.

    Forward and to the left, shape (feet, 2): a foothold is where the hip will be in the middle of the stance.
    """
    robot = wbc.load("quadruped")
    ticks = np.flatnonzero(log.time > since)[::5]
    places = np.zeros((len(ticks), len(log.feet), 2))
    for row, tick in enumerate(ticks):
        robot.update(log.q[tick], log.v[tick])
        seen = np.linalg.inv(robot.pose("base"))
        places[row] = [(seen @ robot.pose(foot))[:2, 3] for foot in log.feet]
    robot.update(robot.model.nominal)
    nominal = np.array([robot.pose(foot)[:2, 3] for foot in log.feet])
    down = log.measured[ticks, :, 2] > 1.0
    return np.array([places[down[:, k], k].mean(axis=0) for k in range(len(log.feet))]) - nominal


def trots(command: tuple[float, ...], duration: float) -> None:
    log = example("06_quadruped_trot").scene(commands=[(duration, *command)]).run()
    mean = heading_speeds(log, START)
    tilt = np.degrees(np.arccos(np.clip(1 - 2 * (log.q[:, 4] ** 2 + log.q[:, 5] ** 2), -1, 1))).max()
    figures = (
        f"{log.ended} after {log.time[-1]:.1f} s; mean {mean.round(4)} of {command}; least margins "
        f"{log.cone_margin.min():.2g} N, {log.torque_margin.min():.2g} N m; tilt {tilt:.2f}°; "
        f"{len(log) - log.status.count('optimal')} ticks not optimal"
    )
    asked = np.array(command)
    assert log.ended == "finished" and log.time[-1] > duration - 0.01, figures
    assert (np.abs(mean - asked) < np.where(asked != 0, 0.15 * np.abs(asked), 0.05)).all(), figures
    assert log.cone_margin.min() > -1e-9 and log.torque_margin.min() > -1e-9, figures
    assert tilt < 3.0, figures
    off = off_the_hips(log, START)
    assert np.abs(off).max() < 0.02, f"feet on the ground are off the hips by {off.round(3).tolist()} m; {figures}"
    # it trots: every foot is off the ground for part of the time, and never more than two are
    up = log.measured[log.time > START, :, 2] < 1.0
    assert (up.mean(axis=0) > 0.2).all() and up.sum(axis=1).max() <= 2, (figures, up.mean(axis=0))


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_quadruped_trots_as_told(command) -> None:
    trots(command, 5.0)


@pytest.mark.soak
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_quadruped_trots_as_told_for_twenty_seconds(command) -> None:
    trots(command, 20.0)


def test_the_command_changes_while_it_trots_and_a_push_does_not_fell_it() -> None:
    made = example("06_quadruped_trot").scene(commands=[(1.5, 0.5, 0.0, 0.0), (4.0, -0.3, 0.1, -0.4)])
    made.disturbances = [wbc.Push("base", (0.0, 90.0, 0.0), 1.5, 0.2)]  # 30 % of its weight
    log = made.run()
    mean = heading_speeds(log, 3.0)
    figures = f"{log.ended} after {log.time[-1]:.1f} s, mean {mean.round(3)}, margin {log.cone_margin.min():.2g} N"
    assert log.ended == "finished" and np.abs(mean - [-0.3, 0.1, -0.4]).max() < 0.08, figures
    assert log.cone_margin.min() > -1e-9 and log.torque_margin.min() > -1e-9, figures


def test_a_swing_leaves_and_meets_the_ground_gently() -> None:
    """Targets of a swing are derivatives of each other, start at rest, and end on the ground, coming down slowly."""
    robot = wbc.load("quadruped", "numpy")
    trot = Trot(robot, lift=0.07, touchdown=0.2, swing=0.25)
    foot = robot.model.feet[1]
    trot._lifted, trot._from[foot], trot._to[foot] = 1.0, np.array([0.1, 0.2, 0.025]), np.array([0.3, 0.1, 0.025])
    task = next(task for task in trot.swings if task.frame == foot)
    times, step = np.linspace(1.0, 1.25, 26), 1e-6
    for t in times[1:-1]:
        before, (_, v, a), after = task.target(t - step), task.target(t), task.target(t + step)
        np.testing.assert_allclose((after[0] - before[0]) / (2 * step), v[:3], atol=1e-7)
        np.testing.assert_allclose((after[1] - before[1]) / (2 * step), a, atol=1e-6)
    start, end = task.target(1.0), task.target(1.25)
    np.testing.assert_allclose(start[0], trot._from[foot], atol=1e-12)
    assert not start[1].any() and not start[2].any()
    np.testing.assert_allclose(end[0], trot._to[foot], atol=1e-12)
    np.testing.assert_allclose(end[1], [0, 0, -0.2, 0, 0, 0], atol=1e-9)
    heights = np.array([task.target(t)[0][2] for t in times])
    assert 0.07 < heights.max() - 0.025 < 0.08 and heights.min() >= 0.025 - 1e-12


def test_a_trot_that_is_run_again_does_the_same() -> None:
    made = example("06_quadruped_trot").scene(commands=[(1.2, 0.3, 0.0, 0.2)])
    first = made.run()
    made.controller.reset()
    made.plant.reset()
    second = made.run()
    np.testing.assert_allclose(second.q, first.q, atol=1e-9)


def test_a_trot_needs_four_feet_and_a_command_of_three_numbers() -> None:
    with pytest.raises(wbc.WbcError, match=r"four feet; 'humanoid' has 2"):
        Trot(wbc.load("humanoid", "numpy"))
    trot = Trot(wbc.load("quadruped", "numpy"))
    with pytest.raises(wbc.WbcError, match="three finite numbers"):
        trot.command = (0.5, 0.0)
    with pytest.raises(wbc.WbcError, match="command = 'fast' is not an array of numbers"):
        Trot(wbc.load("quadruped", "numpy"), "fast")
    with pytest.raises(wbc.WbcError, match="needs a robot of wbc.load, not 'quadruped'"):
        Trot("quadruped")
    with pytest.raises(wbc.WbcError, match="must be positive"):
        Trot(wbc.load("quadruped", "numpy"), swing=0.0)
