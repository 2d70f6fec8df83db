"""The table of docs/walking.md: the packaged humanoid and quadruped walk in MuJoCo; in full by `make soak`."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("pinocchio")

import wbc
from benchmarks import walking


def check(found: walking.Walked) -> None:
    """It walks, and no tick broke a bound: torques, cones, joint limits, its own shapes."""
    assert found.ended == "walks" and found.bounds.broken == 0
    assert found.bounds.joint[0] > 0.0 and found.bounds.apart[0] > 0.01, str(found.bounds)


def told_to_hold(told: str) -> None:
    """The bounds of a row: no tick beyond a torque or a cone, no joint beyond its range, no shape in another."""
    for part in told.split(" | "):
        assert re.findall(r"bounds (\d+),", part) == ["0"], told
        assert float(re.findall(r"joints (-?[\d.]+) rad", part)[0]) > 0.0, told
        assert int(re.findall(r"apart (-?\d+) mm", part)[0]) > 0, told


ROWS = (
    *("forward", "sideways", "turning", "stairs", "slope", "bumps", "starts"),
    *("mass", "friction", "delay", "noise", "together"),
)


def test_a_humanoid_walks_at_half_a_metre_per_second() -> None:
    """Its stance foot's friction can't take the yaw of the leg that swings: the pelvis has to turn."""
    found = walking.go(*walking.made("humanoid", (0.5, 0.0, 0.0)), 0.0, 5.0)
    check(found)
    q = np.array(found.q)
    forward, left, turning = walking.speeds(q[3200:])  # two cycles
    assert abs(forward - 0.5) < 0.04 and abs(left) < 0.03 and abs(turning) < 0.1


def test_a_trot_goes_to_the_side_as_fast_as_it_is_told() -> None:
    found = walking.go(*walking.made("quadruped", (0.0, 0.4, 0.0)), 0.0, 4.2)
    check(found)
    forward, left, turning = walking.speeds(np.array(found.q)[2400:4200])  # three cycles
    assert abs(left - 0.4) < 0.03 and abs(forward) < 0.03 and abs(turning) < 0.05


def test_a_trot_that_is_pushed_to_the_side_steps_across_its_diagonal() -> None:
    """The push is felt while it goes on: steps that only heeded the error that there is came too late."""
    made = walking.made("quadruped", (0.5, 0.0, 0.0))
    found = walking.go(*made, 0.0, 1.5)
    found = walking.go(*made, 1.5, 1.5, ("base", np.array([0.0, 150.0, 0.0])), found.felt)
    check(found)


def test_a_trot_that_is_held_back_all_the_time_goes_as_fast_as_it_is_told() -> None:
    """Feet that roll with friction hold back as well: a trot that was told to go at 0.3 m/s went at 0.18."""
    made = walking.made("quadruped", (0.3, 0.0, 0.0))
    found = walking.go(*made, 0.0, 1.5)
    plant = made[2]
    steps = plant.step

    def step() -> None:
        plant.push("base", np.array([-18.0, 0.0, 0.0]))
        steps()

    plant.step = step  # type: ignore[method-assign]
    found = walking.go(*made, 1.5, 7.0, felt=found.felt)
    check(found)
    assert walking.speeds(np.array(found.q)[4600:])[0] == pytest.approx(0.3, rel=0.1)


def test_a_trot_that_is_told_to_go_faster_than_it_can_says_so_and_goes_as_fast_as_it_can() -> None:
    """It took 2 m/s for possible, and fell after 6.3 s."""
    walk, controller, plant = walking.made("quadruped", (0.0, 0.0, 0.0))
    with pytest.warns(wbc.WbcWarning, match="a command of 3 forward is more than the legs of 'quadruped' can reach"):
        walk.command = (3.0, 0.0, 0.0)
    found = walking.go(walk, controller, plant, 0.0, 7.0)
    check(found)
    assert walking.speeds(np.array(found.q)[5000:])[0] == pytest.approx(walk.limits[0], rel=0.05)


def test_a_humanoid_on_stairs_does_not_step_in_place_for_ever() -> None:
    """The even place nearest to each step was where the foot stood: it stayed on the second stair."""
    stairs = walking.stairs(0.86, 0.08, 0.35, 3)
    walk, controller, plant = walking.made("humanoid", (0.235, 0.0, 0.0), stairs, known=True)
    found = walking.go(walk, controller, plant, 0.0, 8.0)
    check(found)
    assert found.q[-1][0] > 1.65, "behind the last edge"


def test_a_humanoid_that_steps_across_itself_keeps_its_legs_apart_and_its_arms_quiet() -> None:
    """Its hand went 109 mm into the torso, and a wrist 1.4 rad beyond its range: arms had to make up for the leg."""
    made = walking.made("humanoid", (0.4, 0.0, 0.0))
    found = walking.go(*made, 0.0, 2.03)
    check(walking.go(*made, 2.03, 1.2, ("torso", 100.0 * np.array([1.0, -1.0, 0.0]) / np.sqrt(2.0)), found.felt))


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["humanoid", "quadruped"])
def test_pushes(kind: str) -> None:
    told = walking.pushed(kind)
    print(f"{kind} pushes: {told}")
    held, all_ = (int(number) for number in re.findall(r"(\d+) of (\d+) held", told)[0])
    assert held == all_, told
    told_to_hold(told)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("kind", "row"),
    [
        *((kind, row) for kind in ("humanoid", "quadruped") for row in ROWS),
        ("quadruped", "pace"),
        ("quadruped", "walk"),
    ],
)
def test_the_table(kind: str, row: str) -> None:
    ((_, told),) = walking.rows(kind, row, 30.0)
    print(f"{kind} {row}: {told}")
    for part in told.split(" | "):
        assert part.startswith(("walks", "over it")), told
    told_to_hold(told)
    if row in walking.COMMANDS[kind]:
        asked, mean = (np.array(eval(text)) for text in re.findall(r"(\([-0-9., ]*\))", told)[:2])
        assert np.abs(mean - asked).max() < 0.05 * np.abs(asked).max(), told
