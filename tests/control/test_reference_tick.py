"""The controller gives the torques of the reference that stands in docs/architecture.md."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tasks
import wbc
from wbc.control import pulls
from wbc.solvers import elastic_qp

DOCS = Path(__file__).parents[2] / "docs"
TOLERANCE = 1e-8
"""Difference of a torque, as a fraction of its range."""

CASES = ("arm", "slow arm", "quadruped", "fast quadruped", "humanoid")
"""K is decided by the posture's damping, by the period, and by the actuators; in fast states contacts saturate, too."""

TICKS = 8


def reference() -> dict[str, Any]:
    """The names of the page's first block."""
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    block = next(code for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def tick(" in code)
    names: dict[str, Any] = {}
    exec(compile(block, "architecture.md", "exec"), names)
    return names


def worst_difference(names: dict[str, Any], case: str, compiled: bool | None, trials: int = 3) -> tuple[float, float]:
    """Largest difference of a torque from the reference, as a fraction of its range; and the largest pull."""
    rng, period = np.random.default_rng(5), 1e-2 if case.startswith("slow") else 1e-3
    speed = 3.0 if case.startswith("fast") else 0.3
    robot = wbc.load(case.split()[-1])
    stack = tasks.stacks.standing(robot)
    if case.endswith("arm"):
        stack["posture"].gains = wbc.Gains(4.0)  # so stiff that its damping decides K
    solver = wbc.solvers.ElasticQP(compiled=compiled)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)  # gains of 8 Hz are high for a period of 10 ms
        controller = wbc.Controller(robot, stack, solver, period=period, friction=False)
    levels = stack.levels[1:]
    posture = next(k for k, level in enumerate(levels) if level[0].name == "posture")
    twin = controller.robot.copy()
    twin.update(robot.model.nominal)
    K = names["pull_bound"](twin, levels[posture][0].posture_damping, period)
    worst = load = 0.0
    for trial in range(trials):
        controller.reset()
        q = robot.integrate(robot.model.nominal, rng.normal(scale=0.1, size=robot.nv))
        v, missed, last = rng.normal(scale=speed, size=robot.nv), None, None
        for count in range(TICKS):
            time = period * count
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", wbc.WbcWarning)
                solution = controller.step(q, v, time)
            twin.update(q, v)
            support = stack.support
            moment = wbc.Variables(
                twin,
                support.closed,
                time=time,
                period=period,
                last_torque=last,
                ceilings=support.ceilings,
                anchors=support.anchors,
            )
            torque, missed = names["tick"](twin, levels, posture, moment, K, missed)
            worst = max(worst, float(np.abs((torque - solution.torque) / robot.limits.effort).max()))
            load = max([load, *(float(pull) for pull in solution._pulls)])
            last = solution.torque
            v = v + period * solution.acceleration
            q = robot.integrate(q, v, period)
        assert solution.status == "optimal", (case, trial)
    return worst, load


@pytest.mark.parametrize("case", CASES)
def test_the_controller_is_the_reference(case: str) -> None:
    worst, _ = worst_difference(reference(), case, None)
    assert worst < TOLERANCE


@pytest.mark.parametrize("case", ["arm", "quadruped"])
def test_so_is_the_one_in_numpy(case: str) -> None:
    worst, _ = worst_difference(reference(), case, False, trials=1)
    assert worst < TOLERANCE


def test_the_states_saturate_pulls() -> None:
    _, load = worst_difference(reference(), "quadruped", None)
    assert load > 1.0


CHANGED = {
    "DAMPING_RATIO": "arm",
    "RANGES": "quadruped",
    "TURN": "slow arm",
    "RATIO": "arm",
    "GROWTH": "fast quadruped",
}
"""A case that depends on each number."""


@pytest.mark.parametrize("name", CHANGED)
def test_every_number_counts(name: str) -> None:
    names = reference()
    assert names[name] == getattr(pulls, name, getattr(elastic_qp, name, None))
    names[name] *= 1.3
    worst, _ = worst_difference(names, CHANGED[name], None, trials=1)
    assert worst > TOLERANCE


def test_the_page_on_pulls_has_the_numbers() -> None:
    page = (DOCS / "pulls.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `([A-Z_]+)`[^|]* \| ([\d.e]+) \|", page, re.MULTILINE))
    assert set(told) == {
        name
        for module in (pulls, elastic_qp)
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, float) and name != "RANK_TOLERANCE"  # of all solvers
    }
    for name, value in told.items():
        assert float(value) == getattr(pulls, name, getattr(elastic_qp, name, None)), name


def test_without_a_controller_pulls_are_measured_by_their_own_bound() -> None:
    hand = wbc.solvers.Level(np.eye(1), np.full(1, 10.0), np.full(1, 10.0))
    posture = wbc.solvers.Level(np.eye(1), np.zeros(1), np.zeros(1))
    first = wbc.solvers.Level(np.eye(1), np.full(1, -1e6), np.full(1, 1e6))
    answer = wbc.solvers.ElasticQP().solve([first, hand, posture])
    pull = elastic_qp.RATIO * (10.0 - answer.x[0])
    assert answer.pulls is not None
    assert answer.pulls[1] == pytest.approx(pull / elastic_qp.PULL)


def test_weights_differ_by_no_more_than_double_precision_allows() -> None:
    weight = wbc.solvers.ElasticQP().pulling(20, 1.0).weight
    assert weight.max() / weight.min() == pytest.approx(elastic_qp.LARGEST)
    assert wbc.solvers.ElasticQP().pulling(8, 1.0).weight.max() == pytest.approx(elastic_qp.RATIO**7)


@pytest.mark.parametrize(("missed", "status"), [(0.7, "optimal"), (1.3, "relaxed")])
def test_a_bound_counts_as_held_within_its_tolerance(missed: float, status: str) -> None:
    first = wbc.solvers.Level(np.eye(1), np.zeros(1), np.zeros(1))
    bound = wbc.solvers.Level(np.eye(1), np.full(1, missed * elastic_qp.HELD), np.full(1, np.inf))
    posture = wbc.solvers.Level(np.eye(1), np.zeros(1), np.zeros(1))
    assert wbc.solvers.ElasticQP().solve([first, bound, posture]).status == status


def test_the_reference_is_short() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    block = next(code for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def tick(" in code)
    lines = [line for line in block.splitlines() if line.strip()]
    assert len(lines) <= 60
    assert "class " not in block
    assert max(map(len, lines)) <= 120
