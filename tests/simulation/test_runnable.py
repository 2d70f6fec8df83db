"""What `wbc run` runs is a protocol: a controller on a plant meets it, and so does a robot that only moves."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tasks
import wbc
from tests.control.scenes import standing
from wbc.application.cli import app
from wbc.application.comparison import compare
from wbc.kinematics import DifferentialKinematics, KinematicScene
from wbc.simulation import Runnable, Scene, Simulator


def on_a_plant() -> Scene:
    controller, _ = standing("quadruped", "numpy")
    return Scene(controller, Simulator(controller.robot), 0.1)


def moving() -> KinematicScene:
    robot = wbc.load("arm", "numpy")
    reach = tasks.EndEffectorVelocity("tool", velocity=[0.1, 0, 0, 0, 0, 0])
    return KinematicScene(DifferentialKinematics(robot, wbc.Stack(tasks.VelocityLimits() / reach)), 0.1)


@pytest.mark.parametrize("make", [on_a_plant, moving])
def test_both_can_be_run_and_neither_is_the_other(make) -> None:
    scene = make()
    assert isinstance(scene, Runnable) and isinstance(scene, Scene) == (make is on_a_plant)
    assert scene.robot.name == "numpy" and scene.period in (1e-3, 1e-2) and scene.duration == 0.1
    assert list(scene.disturbances) == [] and list(scene.phases) == [] and scene.figures is None
    seen, shares = [], []
    log = scene.run(0.05, 5e-3, None, shares.append, lambda t, solution: bool(seen.append((t, solution.status))))
    assert len(log) == len(seen) == 10 and shares[-1] == pytest.approx(1.0)
    wanted = list(inspect.signature(Runnable.run).parameters)
    assert list(inspect.signature(type(scene).run).parameters) == wanted
    assert scene.period in (1e-3, 1e-2), "its own period is what it was"


def test_what_moves_without_a_plant_has_none_of_its_attributes() -> None:
    assert KinematicScene.__mro__ == (KinematicScene, object)
    assert not any(hasattr(moving(), name) for name in ("plant", "controller", "beside"))
    assert not isinstance(object(), Runnable) and not isinstance(wbc.load("arm", "numpy"), Runnable)


FILE = """
import tests.simulation.test_runnable as scenes

def scene():
    return scenes.moving()
"""


def test_a_robot_without_a_plant_has_a_picture_and_a_video_but_no_viewer(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    path = tmp_path / "reach.py"
    path.write_text(FILE)
    done = CliRunner().invoke(app, ["run", str(path), "--out", str(tmp_path), "--view", "--video"])
    told = " ".join(done.output.split())
    assert done.exit_code == 0, told
    assert "no viewer: the viewer shows a plant" in told
    assert (tmp_path / "reach.png").exists()
    assert (tmp_path / "reach.gif").exists() or "no video" in told  # a machine may have nothing to render with


def test_a_comparison_needs_torques() -> None:
    with pytest.raises(wbc.WbcError, match="moves a robot by velocities: there are no torques to compare"):
        compare(lambda solver: moving(), ["hierarchical-qp"])


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_a_logged_tick_makes_no_other_robot_and_updates_its_own_once(name: str, monkeypatch) -> None:
    """Forces, certificate, levels and errors are read in the state that the controller is in."""
    controller, _ = standing(name, "numpy")
    plant = Simulator(controller.robot)
    wbc.run(controller, plant, 0.005)
    kind, copies = type(controller.robot), []
    copy = kind.copy
    monkeypatch.setattr(kind, "copy", lambda robot: copies.append(robot) or copy(robot))
    before, ticks = controller.robot.updates, 20
    log = wbc.run(
        controller, plant, ticks * 1e-3, until=lambda t, solution: bool(np.isnan(solution.certificate.cone_margin))
    )
    assert len(log) == ticks and np.isfinite(log.cone_margin).all() and len(log.errors) == 2
    assert controller.robot.updates - before == ticks
    assert not copies
