"""A log tells what there was to worry about in a run: how often, what first, and when."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import tasks
import wbc
from tests.control.scenes import standing
from wbc.application import reports
from wbc.simulation import Simulator, read_log


def collapse(path: Path | None = None, scale: float = 0.1) -> wbc.Log:
    """An arm that may use a tenth of its torque; from 0.05 s on."""
    robot = wbc.load("arm", "numpy")
    limits = tasks.TorqueLimits()
    stack = wbc.Stack(tasks.EquationOfMotion() / limits / tasks.JointAcceleration() / tasks.TorqueMinimization())

    def targets(t: float, controller: wbc.Controller) -> None:
        limits.scale, limits._constant = scale if t >= 0.05 else 1.0, None

    return wbc.run(wbc.Controller(robot, stack), Simulator(robot), 0.2, targets=targets, record=path)


def test_a_healthy_run_is_good() -> None:
    log = collapse(scale=1.0)
    assert log.ill is not None and not log.ill.any() and log.worries == ()
    assert log.summary().endswith("\nhealth: good")


def test_what_came_first_is_told_and_how_many_ticks_were_ill(tmp_path: Path) -> None:
    log = collapse(tmp_path / "run.log")
    assert log.ill is not None and not log.ill[:50].any() and log.ill[50:].sum() >= 140
    first = log.worries[0]
    assert (first.kind, first.first, first.text) == ("torque limit", 0.05, "joint_2 is at its limit of 9 N m")
    assert first.ticks <= log.ill.sum() and len({(it.kind, it.name) for it in log.worries}) == len(log.worries)
    line = f"health: {log.ill.sum()} of 200 ticks not good, from 0.05 s on: joint_2 is at its limit of 9 N m"
    assert line in log.summary()
    back = read_log(tmp_path / "run.log")
    assert back.worries == log.worries and np.array_equal(back.ill, log.ill) and back.summary() == log.summary()
    assert back.ended == "finished" and np.array_equal(back.errors["posture"], log.errors["posture"])
    shown = StringIO()
    Console(width=150, file=shown).print(reports.run(back))
    assert "joint_2 is at its limit of 9 N m" in shown.getvalue()


def test_a_file_that_breaks_off_has_the_kinds_still(tmp_path: Path) -> None:
    log = collapse(tmp_path / "run.log")
    data = (tmp_path / "run.log").read_bytes()
    (tmp_path / "part.log").write_bytes(data[: data.rfind(b"\nended: ")])
    back = read_log(tmp_path / "part.log")
    assert np.array_equal(back.ill, log.ill) and back.ended == ""
    for end in range(data.rfind(b"\nended: "), len(data)):  # wherever in its last words
        (tmp_path / "part.log").write_bytes(data[:end])
        cut = read_log(tmp_path / "part.log")
        assert len(cut) == len(log) and cut.ended == "" and cut.worries == back.worries, end
    (worry,) = back.worries
    assert log.ill is not None
    assert (worry.kind, worry.name, worry.first, worry.ticks) == ("torque limit", "", 0.05, int(log.ill.sum()))


def test_damaged_health_is_named(tmp_path: Path) -> None:
    collapse(tmp_path / "run.log")
    data = (tmp_path / "run.log").read_bytes()
    (tmp_path / "odd.log").write_bytes(data[: data.rfind(b"\nhealth: ") + 9] + b"[1, 2]")
    with pytest.raises(wbc.WbcError, match="is damaged: its health can't be read"):
        read_log(tmp_path / "odd.log")


def test_a_log_of_version_2_is_read(tmp_path: Path) -> None:
    """One that was written before there was health, as bytes."""
    header = b'wbc log 2\n{"robot": "r", "sizes": [1, 1, 1, 1], "contacts": [], "feet": [], "errors": {"a": 1}}\n'
    row = np.array([0.0, 1.0, 2.0, 3.0, 7.0, 8.0, 9.0, 0.0, 1e-3, 5.0])
    (tmp_path / "old.log").write_bytes(header + row.tobytes() + b"\nended: finished")
    log = read_log(tmp_path / "old.log")
    assert log.ill is None and log.worries == () and log.errors["a"].tolist() == [[5.0]] and log.ended == "finished"
    assert "health" not in log.summary() and log.health() == "nobody looked"


def test_a_controller_of_ones_own_need_not_take_measured_forces() -> None:
    ours, _ = standing("quadruped", "numpy")

    class Plain:
        robot, stack, period = ours.robot, ours.stack, ours.period

        def step(self, q: np.ndarray, v: np.ndarray, t: float | None = None) -> wbc.Solution:
            return ours.step(q, v, t)

        def errors(self) -> dict[str, np.ndarray]:
            return ours.errors()

        def reset(self) -> None:
            ours.reset()

    assert len(wbc.run(Plain(), Simulator(ours.robot), 0.01)) == 10  # type: ignore[arg-type]
