"""The recipes of CONTRIBUTING run, and what they make works; docs/architecture.md tells of the code as it is."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import controller, moving_state
from tests.tasks.motions import Moving, residual
from wbc.dynamics import Dynamics

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPES = {
    found[1]: found[2] for found in re.finditer(r"## Adding an? ([\w ]+)\n\n```python\n(.*?)```", TEXT, re.DOTALL)
}


def made(recipe: str) -> dict[str, object]:
    names: dict[str, object] = {}
    exec(compile(RECIPES[recipe], f"CONTRIBUTING.md, {recipe}", "exec"), names)
    return names


def test_there_is_a_recipe_for_each() -> None:
    assert list(RECIPES) == ["task", "contact type", "solver", "backend", "simulator"]
    for path in re.findall(r"`((?:wbc|tasks|tests|scripts|docs|kernel)/[\w/.]*)`", TEXT):
        assert (ROOT / path).exists(), path
    for name in re.findall(r"`((?:wbc|tasks)\.[\w.]+)`", TEXT):
        module, _, rest = name.partition(".")
        found: object = sys.modules[module]
        for part in rest.split("."):
            found = getattr(found, part, None) or importlib.import_module(f"{found.__name__}.{part}")


def test_the_task() -> None:
    level = made("task")["Level"]
    moving = Moving("arm", 3)
    rows = residual(level("tool", wbc.Gains(kp=0.0, kd=0.0)), moving)
    assert np.allclose(rows, moving.frame_rates("tool")[1][3:5], atol=1e-4), "the angular acceleration about x and y"
    robot = moving.robot
    ours = controller(robot, wbc.Stack(tasks.EquationOfMotion() / level("tool")), "hierarchical-qp")
    q, v = moving.q, np.zeros(7)
    for tick in range(800):
        q, v = robot.integrate(q, v, 2e-3), v + 2e-3 * ours.step(q, v, 2e-3 * tick).acceleration
    robot.update(q)
    assert robot.pose("tool")[2, 2] > 0.999


def test_the_contact_type() -> None:
    blade = made("contact type")["Blade"]
    robot = wbc.load("quadruped", "numpy")
    robot.update(*moving_state(robot, np.random.default_rng(0), 0.4, 0.2))
    skate = blade("LF_foot")
    R = robot.pose("LF_foot")[:3, :3]
    for force, inside in (
        ((1.9, 0.0, 100.0), True),
        ((2.1, 0.0, 100.0), False),
        ((0.0, 59.0, 100.0), True),
        ((0.0, -61.0, 100.0), False),
        ((0.0, 0.0, -1.0), False),
    ):
        turned = R @ force
        assert (skate.cone(robot, 4) @ turned <= 0).all() == inside
    feet = [blade(foot) for foot in robot.model.feet]
    q = np.array(robot.model.nominal)
    limits = tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion()
    levels = tasks.EquationOfMotion() / limits / tasks.EndEffectorAcceleration("base") / tasks.TorqueMinimization()
    solution = controller(robot, wbc.Stack(levels, feet), "hierarchical-qp").step(q, np.zeros(18))
    assert solution.certificate.cone_margin > -1e-6 and solution.certificate.equation_of_motion < 1e-8
    robot.update(q)
    for foot, force in solution.forces.items():
        along, _, normal = robot.pose(foot)[:3, :3].T @ force
        assert abs(along) <= 0.02 * normal + 1e-6


def test_the_solver() -> None:
    solver = made("solver")["OneLevel"]()
    assert solver.ignores_inequalities and solver.trades_priorities and not solver.dynamically_consistent
    robot = wbc.load("arm", "numpy")
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration(acceleration=np.ones(7)))
    solution = wbc.Controller(robot, stack, solver).step(robot.model.nominal, np.zeros(7))
    assert solution.status == "optimal" and np.allclose(solution.acceleration, 1.0)


def test_the_backend(capsys) -> None:
    made("backend")
    told = capsys.readouterr().out
    assert told == f"{sorted(Dynamics.__abstractmethods__)}\n" and "'_mass_matrix'" in told


def test_the_simulator() -> None:
    rails = made("simulator")["Rails"]
    robot = wbc.load("arm", "numpy")
    spring = tasks.JointImpedance(
        np.array(robot.model.nominal) + 0.1, gains=wbc.Gains(kp=100.0, kd=20.0), gravity=False
    )
    ours = wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / spring))
    log = wbc.run(ours, rails(robot), 1.0)
    assert log.ended == "finished" and len(log) == 1000
    assert np.allclose(log.q[-1], robot.model.nominal + 0.1, atol=2e-3), "it went where the springs pull"


# --- the page on the architecture ------------------------------------------------------------------------------------

spec = importlib.util.spec_from_file_location("draw_architecture", ROOT / "scripts" / "draw_architecture.py")
assert spec is not None and spec.loader is not None
drawing = sys.modules["draw_architecture"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(drawing)


def test_picture_and_page_are_those_of_the_code() -> None:
    drawing.check()


@pytest.mark.parametrize(
    ("station", "words"),
    [
        (
            drawing.WAY[0]._replace(name="wbc.control.controller.Controller.stp"),
            "the code has no wbc.control.controller",
        ),
        (drawing.WAY[0]._replace(name="wbc.control.controler.Controller"), "the code has no wbc.control.controler"),
        (drawing.WAY[0]._replace(calls=("advance_everything",)), "Controller.step does not call advance_everything"),
    ],
)
def test_a_name_or_a_call_that_is_gone_is_found(station: object, words: str, monkeypatch) -> None:
    monkeypatch.setattr(drawing, "WAY", (station, *drawing.WAY[1:]))
    with pytest.raises(drawing.OutOfDateError, match=words):
        drawing.check()


def test_a_page_that_is_out_of_date_is_found(monkeypatch, tmp_path: Path) -> None:
    text = drawing.PAGE.read_text(encoding="utf-8")
    page = tmp_path / "page.md"
    monkeypatch.setattr(drawing, "PAGE", page)
    for old, new, words in (
        ("| `wbc.control` |", "| `wbc.controll` |", "the code has no wbc.controll"),
        ("a state in, torques out |", "a state in |", "is out of date"),
        ("`tasks.locomotion`", "`tasks.locomotive`", "the code has no tasks.locomotive"),
        ("<!-- end of way -->", "", "no place for the table 'way'"),
    ):
        assert old in text
        page.write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(drawing.OutOfDateError, match=words):
            drawing.check()
    monkeypatch.setattr(drawing, "LAYERS", {**drawing.LAYERS, "wbc.gone": "nothing"})
    page.write_text(text, encoding="utf-8")
    with pytest.raises(drawing.OutOfDateError, match=r"no layer wbc\.gone"):
        drawing.check()
