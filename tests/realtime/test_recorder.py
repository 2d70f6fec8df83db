"""The log of a loop: written by a process of its own, and read as any log."""

from __future__ import annotations

import json
import os
import signal
import time

import numpy as np
import pytest

import wbc
from tests.realtime.support import Recorded, reaching, standing
from wbc import realtime
from wbc.realtime import SteppedClock
from wbc.realtime.recorder import RingLog


def test_a_log_has_all_ticks(tmp_path) -> None:
    controller = standing()
    io = Recorded(wbc.MujocoSimulator(controller.robot))
    path = tmp_path / "a.log"
    report = realtime.run(controller, io, 0.2, ramp=0.1, clock=SteppedClock(), record=path)
    log = wbc.read_log(path)
    assert report.log == path and not report.dropped and not report.log_trouble
    assert log.ended == "finished" and len(log) == 199  # that of the last tick waits for torques that nobody measures
    assert log.time == pytest.approx(1e-3 * np.arange(199))
    assert log.feet == controller.robot.model.feet and log.robot == "quadruped"
    assert log.measured[150:, :, 2].sum(axis=1) == pytest.approx(9.81 * controller.robot.mass, rel=0.1)
    assert log.forces[150:, :, 2].sum(axis=1) == pytest.approx(9.81 * controller.robot.mass, rel=0.05)
    assert log.delivered == pytest.approx(log.torque, abs=1e-9)
    assert "199 optimal" in log.summary()


def test_what_the_file_has_is_what_was_given(tmp_path) -> None:
    path = tmp_path / "rows"
    ring = RingLog(path, b"head\n", 5, 1e-3)
    rows = np.random.default_rng(0).normal(size=(25_000, 5))  # more than twice round
    for number, row in enumerate(rows):
        ring.add(row)
        if not number % 5000:
            time.sleep(0.05)
    assert ring.close(b"tail") == "" and ring.close(b"again") == ""
    data = path.read_bytes()
    assert data.startswith(b"head\n") and data.endswith(b"tail")
    found = np.frombuffer(data[5:-4]).reshape(-1, 5)
    assert len(found) + ring.dropped == len(rows)
    assert (found == rows[: len(found)]).all() if not ring.dropped else len(found)


def test_a_disk_that_does_not_keep_up_drops_rows_and_keeps_nobody_waiting(tmp_path) -> None:
    ring = RingLog(tmp_path / "rows", b"", 100, 1e-3)
    os.kill(ring._process.pid, signal.SIGSTOP)
    took = []
    for number in range(12_000):
        began = time.perf_counter()
        ring.add(np.full(100, float(number)))
        took.append(time.perf_counter() - began)
    os.kill(ring._process.pid, signal.SIGCONT)
    assert ring.dropped == 2000
    assert np.median(took) < 1e-4
    assert ring.close(b"") == ""
    found = np.fromfile(tmp_path / "rows").reshape(-1, 100)
    assert (found[:, 0] == np.arange(10_000)).all()


def test_a_writer_that_dies_is_told(tmp_path) -> None:
    ring = RingLog(tmp_path / "rows", b"", 2, 1e-3)
    ring._process.kill()
    assert "breaks off: the process that writes it ended with -9" in ring.close(b"")


def test_health_of_a_header_is_not_promised(tmp_path) -> None:
    controller = reaching()
    path = tmp_path / "b.log"
    realtime.run(controller, Recorded(wbc.Simulator(controller.robot)), 0.02, clock=SteppedClock(), record=str(path))
    header = json.loads(path.read_bytes().split(b"\n")[1])
    assert "health" not in header and wbc.read_log(path).ill is None
