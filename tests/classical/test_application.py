"""Classical controllers where the stacks are: `wbc run` and `wbc compare`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import wbc
from wbc.application import compare, load_scene, reports
from wbc.simulation import Scene

pytest.importorskip("matplotlib")  # of the examples


def test_compare_shows_what_a_scene_has_beside_its_controller() -> None:
    log, found = compare(lambda solver: load_scene("13", "numpy", solver, "builtin"), ["hierarchical-qp"], 0.05)
    stack, exact, lagging, bounded = found
    assert len(log) == 50 and stack.torque < 1e-9
    assert [one.name for one in found[1:]] == ["inverse dynamics", "virtual model", "virtual model, cones"]
    assert exact.torque < 1e-3 * abs(log.torque).max() < lagging.torque  # the stack's twin, where friction allows
    assert all(np.isfinite(one.cost).all() and 0 < np.median(one.times) < 0.1 for one in found)
    assert bounded.cost[2] > 1e-3 > exact.cost[2]


def test_compare_has_no_costs_of_a_controller_with_another_stack(capsys) -> None:
    def make(solver: str) -> Scene:
        scene = load_scene("2", "numpy", solver, "builtin")
        scene.beside = {"springs": wbc.classical.JointPD(scene.controller.robot)}
        return scene

    _, (_, springs) = compare(make, ["hierarchical-qp"], 0.02)
    assert np.isnan(springs.cost).all() and springs.torque > 0.0
    console = Console(width=200)
    console.print(reports.comparison([springs]))
    assert "springs" in capsys.readouterr().out


def test_run_takes_a_file_with_a_classical_controller(tmp_path: Path) -> None:
    file = tmp_path / "springs.py"
    file.write_text(
        "import wbc\n"
        "from wbc.simulation import Scene, make_plant\n"
        "def scene(backend='auto', solver='', simulator='builtin'):\n"
        "    robot = wbc.load('arm', backend)\n"
        "    law = wbc.classical.JointPD(robot, robot.model.nominal + 0.1)\n"
        "    return Scene(law, make_plant(robot, simulator), 0.1)\n"
    )
    command = [sys.executable, "-m", "wbc", "run", str(file), "--backend", "numpy", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "optimal" in done.stdout
    assert len(wbc.read_log(tmp_path / "springs.log")) == 100
