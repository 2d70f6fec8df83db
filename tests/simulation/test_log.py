"""Logs are read back as they were, also when the process that wrote them died."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.control.scenes import standing
from wbc import WbcError
from wbc.simulation import Log, MujocoSimulator, read_log, run

ARRAYS = ("time", "q", "v", "torque", "forces", "measured", "cost", "cone_margin", "torque_margin", "tick_time")


def make(path: Path | None, duration: float = 0.05) -> Log:
    controller, _ = standing("quadruped")
    return run(controller, MujocoSimulator(controller.robot), duration, record=path)


def same(one: Log, other: Log, ticks: int | None = None) -> None:
    for name in ARRAYS:
        assert np.array_equal(getattr(one, name)[:ticks], getattr(other, name)[:ticks]), name
    assert one.status[:ticks] == other.status[:ticks]
    assert (one.robot, one.contacts, one.feet) == (other.robot, other.contacts, other.feet)


def test_reading_back_gives_the_same_numbers(tmp_path: Path) -> None:
    log = make(tmp_path / "run.log")
    assert len(log) == 50
    assert log.forces.shape == (50, 4, 3)
    back = read_log(tmp_path / "run.log")
    same(log, back)
    assert back.ended == "finished"
    assert "50 optimal" in back.summary()


def test_the_same_run_twice_gives_the_same_numbers() -> None:
    one, other = make(None), make(None)
    for name in ARRAYS[:-1]:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_a_log_that_breaks_off_gives_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    log = make(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3])
    back = read_log(path)
    assert 20 < len(back) < 50
    assert back.ended == ""
    same(back, log, len(back))
    assert "breaks off" in back.summary()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no log of wbc"),
        (b"PK\x03\x04 something else", "is no log of wbc"),
        (b"wbc log 1\n", "header can't be read"),
        (b"wbc log 1\n{}\n", "header can't be read"),
        (b'wbc log 1\n{"sizes": [1, "x", 2, 3], "contacts": [], "feet": []}\n', "header can't be read"),
        (b'wbc log 1\n{"robot": "r", "sizes": [1, 1, 1, 1], "contacts": [], "feet": []}\n' + b"\xff" * 72, "damaged"),
    ],
)
def test_foreign_and_damaged_files_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "odd.log"
    path.write_bytes(content)
    with pytest.raises(WbcError, match=message):
        read_log(path)
    with pytest.raises(WbcError, match="can't read"):
        read_log(tmp_path / "nowhere.log")


def test_a_killed_process_leaves_all_but_the_last_second(tmp_path: Path) -> None:
    path = tmp_path / "killed.log"
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from tests.simulation.test_log import make\n"
        "from pathlib import Path\n"
        f"make(Path({str(path)!r}), 1000.0)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not path.exists() or path.stat().st_size < 1_500_000):
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    log = read_log(path)
    assert len(log) > 1000
    assert np.allclose(np.diff(log.time), 1e-3)
    assert log.ended == ""


def test_a_log_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(WbcError, match="can't write the log"):
        make(tmp_path / "no such folder" / "run.log")
