"""Robots, led through singular poses and to their limits and back, in closed loop."""

from __future__ import annotations

import pytest

import wbc
from benchmarks.strain import PACKAGED, lead, ways_of

EDGE = {("quadruped", "a trot on straight legs"), ("arm", "tired")}
"""Ways on which torques still chatter for a while: nobody may fall there, and it has to be over at the end."""


@pytest.mark.soak
@pytest.mark.parametrize("name", PACKAGED)
def test_no_robot_falls_or_chatters_on_its_way_to_its_limits_and_back(name: str) -> None:
    pytest.importorskip("mujoco")
    robot = wbc.load(name)
    for way, what in ways_of(robot).items():
        result = lead(robot, what)
        assert result.fell is None and not result.failed, way
        if (name, way) in EDGE:
            assert (result.jumps[-300:] < 0.1).all(), way
        else:
            assert not result.short, f"{way}: {result.short}"


def test_a_humanoid_crouches_to_the_ends_of_its_ankles_without_chatter() -> None:
    """It changed torques by more than 1 % in 910 ticks: next to a limit joints reacted to speed too hard."""
    pytest.importorskip("mujoco")
    robot = wbc.load("humanoid")
    result = lead(robot, ways_of(robot)["crouch to the ends of joints"])
    assert result.fell is None and not result.failed
    assert result.often < 35


def test_an_arm_stretches_without_chatter() -> None:
    """Joints that became faster and faster were held too long: torques changed by more than 1 % in 38 ticks."""
    pytest.importorskip("mujoco")
    robot = wbc.load("arm")
    result = lead(robot, ways_of(robot)["beyond its reach, as a pose"])
    assert result.off < 1e-4 and not result.failed
    assert result.often < 15


def test_torques_that_jump_and_rest_and_jump_again_are_calmed() -> None:
    """Jumps of 24 % with rests of 20 ms in between did not count as a swing for a second: 279 ticks above 1 %."""
    pytest.importorskip("mujoco")
    robot = wbc.load("arm")
    result = lead(robot, ways_of(robot)["over its own axis"])
    assert result.off < 1e-4 and not result.failed
    assert result.often < 140 and result.jumps.max() < 0.125
