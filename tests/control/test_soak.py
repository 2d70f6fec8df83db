"""Wild and plausible states, contacts that switch at every tick, all solvers: what a controller says holds.

A slice of it runs with the other tests; `make soak` runs a million ticks, or as many as SOAK_TICKS says.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tasks
import wbc
from tests.control import soaking, wild
from tests.control.scenes import SOLVERS
from tests.control.soaking import CHOSEN, ROUND, robot_of, soak, soak_ticks, wrong


def test_what_a_controller_says_holds_in_any_state() -> None:
    told = [line for number in range(2000 // ROUND) for line in soak(number)[0]]
    assert not told, "\n".join(told)


def test_a_search_that_did_not_end_keeps_cones() -> None:
    """By sequential QPs, with accelerations of 1e8 m/s²: what had been reached was taken for kept."""
    assert not soak(1_002_520)[0]


def test_a_bound_of_no_width_is_not_given_up_near_a_singularity() -> None:
    """Feet that leave beside what holds them, on one level: their forces were above what they may be, "optimal"."""
    assert not [line for number in (1_005_752, 1_006_711, 1_006_742) for line in soak(number)[0]]


def test_a_force_within_its_tolerance_is_not_told_to_be_outside() -> None:
    """A micronewton outside a cone of a robot of 45 kg, or beside forces of 1e11 N: "optimal", and the cone did not
    hold.
    """
    assert not [line for number in (1_000_082, 1_000_714, 1_011_840, 1_017_612) for line in soak(number)[0]]


def test_a_torque_is_judged_as_it_is_commanded() -> None:
    """Panda's coupled fingers, in a wild state: by unknowns without its torques they kept a bound, and in N m not."""
    assert not soak(1_004_799)[0]


@pytest.mark.filterwarnings("ignore::wbc.WbcWarning")
def test_what_a_controller_says_holds_under_stacks_that_are_drawn() -> None:
    robots = [robot_of(name, "numpy") for name in ("arm", "quadruped", "humanoid")]
    told, statuses = [], Counter[str]()
    for number in range(30):
        lines, found = wild.attack(number, robots)
        told += lines
        statuses += found
    assert not told, "\n".join(told)
    assert sum(n for what, n in statuses.items() if "refused" not in what) > 500


@pytest.mark.soak
def test_what_a_controller_says_holds_over_very_many_states(capsys: pytest.CaptureFixture[str]) -> None:
    ticks, processes = int(os.environ.get("SOAK_TICKS", "1000000")), int(os.environ.get("WORKERS", "2"))
    found = soak_ticks(ticks, Path("runs/soak.jsonl"), processes)
    with capsys.disabled():
        print(f"\n{found}")
    assert not found.told
    assert found.ticks == ticks // ROUND * ROUND


def test_a_soak_goes_on_where_it_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that was cut short, and one of other code, are run once more; what was wrong is kept."""
    run: list[int] = []

    def one(number: int) -> tuple[list[str], Counter[tuple[str, str]]]:
        run.append(number)
        if number == soaking.FIRST + 1:
            raise ValueError("a fault")
        return [], Counter({("nullspace", "optimal"): ROUND})

    monkeypatch.setattr(soaking, "soak", one)
    notes = tmp_path / "notes.jsonl"
    first = soak_ticks(3 * ROUND, notes)
    assert first.told == [f"round {soaking.FIRST + 1} raised ValueError: a fault"]
    assert first.ticks == 2 * ROUND
    lines = notes.read_text().splitlines()
    notes.write_text("\n".join([lines[0].replace(soaking.fingerprint(), "other"), lines[1], lines[2][:9]]))
    run.clear()
    assert soak_ticks(3 * ROUND, notes) == first
    assert run == [soaking.FIRST, soaking.FIRST + 2]
    run.clear()
    assert soak_ticks(3 * ROUND, notes) == first
    assert run == []


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name not in ("nullspace", "operational-space")])
@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_ticks_that_are_cut_short_one_after_the_other_keep_physics_limits_and_cones(name: str, solver: str) -> None:
    """While a robot that is hurried on moves from state to state."""
    robot, rng = robot_of(name, "pinocchio"), np.random.default_rng(0)
    stack = tasks.stacks.standing(robot)
    ours = wbc.Controller(robot, stack, solver, deadline=1e-7)
    q, v, cut = np.array(robot.model.nominal), np.zeros(robot.nv), 0
    for k in range(60):
        v = 0.95 * v + rng.normal(scale=0.3, size=robot.nv)
        q = robot.integrate(q, v, 1e-3)
        solution = ours.step(q, v, 1e-3 * k)
        cut += solution.interrupted
        assert not wrong(robot, solution, keeps=True)
    assert cut > 10


def test_a_deadline_that_is_over_at_once_leaves_physics_limits_and_cones() -> None:
    """Every solver, in hard states: what is cut short is marked, and can be commanded all the same."""
    cut = Counter[str]()
    for number in range(len(CHOSEN) * len(SOLVERS)):
        told, statuses = soak(2_000_000 + number, deadline=1e-7)
        assert not told, "\n".join(told)
        for (solver, status), count in statuses.items():
            cut[solver] += count if status != "optimal" else 0
    assert all(cut[solver] > 0 for solver in SOLVERS)
