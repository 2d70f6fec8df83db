"""The humanoid of examples 7 and 8 squats, reaches, is pushed, and stands on one foot in MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

import wbc
from tests.simulation.test_trot import example

LIMIT = 1e-6
"""By how much, N and N m, rounding may break a limit: as in `Certificate.holds`."""


def sound(log: wbc.Log, duration: float) -> str:
    """Checks that a run ended as it should, within all limits of contacts, motors and joints; says what came of it."""
    model = wbc.load("humanoid").model
    joints = [joint for joint in model.joints.values() if joint.nv == 1]
    q = log.q[:, [model.q_index[joint.name] for joint in joints]]
    inside = min(
        (q - [joint.lower for joint in joints]).min(),
        ([joint.upper for joint in joints] - q).min(),
    )
    figures = (
        f"{log.ended} after {log.time[-1]:.2f} s; least margins {log.cone_margin.min():.2g} N, "
        f"{log.torque_margin.min():.2g} N m, {inside:.2g} rad; {log.status.count('failed')} ticks failed"
    )
    assert log.ended == "finished" and log.time[-1] > duration - 0.01, figures
    assert log.cone_margin.min() > -LIMIT and log.torque_margin.min() > -LIMIT and inside > 0, figures
    assert "failed" not in log.status, figures
    return figures


def distances(errors: np.ndarray) -> np.ndarray:
    """Of each row of errors, m."""
    return np.linalg.norm(errors, axis=1)


def test_squat() -> None:
    """By 0.2 m at 0.25 Hz, the centre of mass within 1 cm."""
    seven = example("07_humanoid_squat_and_reach")
    assert (seven.DEPTH, seven.FREQUENCY) == (0.2, 0.25)
    log = seven.scene().run(4.5)
    figures, off = sound(log, 4.5), distances(seven.measure(log)[0])
    assert np.ptp(log.q[:, 2]) > 0.18, (figures, np.ptp(log.q[:, 2]))  # the base goes down, too
    assert off.max() < 0.01, f"centre of mass off by {1e3 * off.max():.2f} mm; {figures}"


def reaches_and_recovers(begin: float, pushed: tuple[float, ...], duration: float) -> None:
    seven = example("07_humanoid_squat_and_reach")
    log = seven.scene(begin=begin, pushed=pushed).run(duration)
    figures = sound(log, duration)
    com, hand = (distances(errors) for errors in seven.measure(log, begin))
    plan = log.time + begin
    held = (plan > seven.REACHED + 0.3) & (plan < pushed[0])
    figures += f"; hand within {1e3 * hand[held].max():.2f} mm"
    assert held.sum() > 100 and hand[held].max() < 0.005, figures
    for start, end in zip(pushed, (*pushed[1:], np.inf), strict=True):
        after = (plan > start) & (plan < end)
        thrown, left, hand_left = com[after].max(), com[after][-1], hand[after][-1]
        said = f"push at {start} s: {1e3 * thrown:.1f} mm, then {1e3 * left:.2f} mm, hand {1e3 * hand_left:.2f} mm"
        assert 0.005 < thrown < 0.05 and left < 0.002 and hand_left < 0.005, f"{said}; {figures}"


def test_a_hand_reaches_a_point_and_pushes_are_survived() -> None:
    """To 5 mm while balancing; a push to the left and one forward, 20 % of the weight for 0.1 s."""
    seven = example("07_humanoid_squat_and_reach")
    reaches_and_recovers(seven.SQUATTED, (11.0, 12.5), 5.5)


@pytest.mark.soak
def test_two_squats_a_reach_and_pushes_from_all_sides() -> None:
    seven = example("07_humanoid_squat_and_reach")
    reaches_and_recovers(0.0, seven.PUSHED, 22.0)


def poses(robot: wbc.Dynamics, log: wbc.Log, tick: int) -> np.ndarray:
    """Of left foot, right foot and base, shape (3, 4, 4)."""
    robot.update(log.q[tick], log.v[tick])
    return np.array([robot.pose(frame) for frame in ("left_foot", "right_foot", "base")])


def stands_on_one_foot(hold: float, duration: float | None) -> tuple[wbc.Log, wbc.Dynamics, str]:
    eight = example("08_humanoid_one_foot")
    made = eight.scene(hold=hold)
    log, robot = made.run(duration), made.controller.robot
    figures = sound(log, made.duration if duration is None else duration)
    left, right = (log.measured[:, log.feet.index(f"{side}_foot"), 2] for side in ("left", "right"))
    alone = right < 1e-3
    figures += f"; alone on the left foot for {alone.sum() * 1e-3:.2f} s"
    assert alone.sum() * 1e-3 > hold, figures
    assert (np.diff(alone.astype(int)) == 1).sum() == 1, figures  # it does not touch down in between
    middle = int(np.median(np.flatnonzero(alone)))
    assert left[middle] == pytest.approx(9.81 * robot.mass, rel=0.01), figures
    first, held = poses(robot, log, 0), poses(robot, log, middle)
    assert np.abs(held[0] - first[0]).max() < 0.002, figures  # the sole stays flat where it was
    assert held[1, 2, 3] == pytest.approx(eight.RAISED, abs=0.01), figures
    return log, robot, figures


def test_one_foot() -> None:
    """For some three seconds."""
    stands_on_one_foot(2.5, 6.5)


@pytest.mark.soak
def test_one_foot_for_ten_seconds_and_back() -> None:
    log, robot, figures = stands_on_one_foot(10.0, None)
    moved = np.abs(poses(robot, log, -1) - poses(robot, log, 0)).max()
    assert moved < 0.01 and log.measured[-1, :, 2].min() > 0.4 * 9.81 * robot.mass, f"{moved:.4f} off; {figures}"
