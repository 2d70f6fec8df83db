"""Runs whose disk is full or read-only, whose log is removed, or whose process is told to end."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tasks
import wbc
from wbc.simulation.log_file import OFTEN, LogFile

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals and open files are others there")
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")


def reaching() -> tuple[wbc.Controller, wbc.Simulator]:
    robot = wbc.load("planar_arm", backend="numpy")
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration([0.3, 0.2, 0.1]))
    return wbc.Controller(robot, stack), wbc.Simulator(robot)


@FULL
def test_a_full_disk_stops_the_log_and_not_the_run():
    with pytest.warns(wbc.WbcWarning, match=r"the log '/dev/full' can't be written: No space left on device; the run"):
        log = wbc.run(*reaching(), 0.3, record="/dev/full")
    assert len(log) == 300 and log.ended == "finished" and "No space left" in log.unwritten
    assert np.array_equal(log.q, wbc.run(*reaching(), 0.3).q)


def test_a_read_only_disk_is_no_reason_not_to_run(monkeypatch, tmp_path):
    controller, plant = reaching()

    def refuse(self, mode):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.warns(wbc.WbcWarning, match="Read-only file system"):
        log = wbc.run(controller, plant, 0.05, record=tmp_path / "a.log")
    assert len(log) == 50 and log.unwritten


def test_a_folder_that_is_not_there_is_an_error_before_anything_runs(tmp_path):
    with pytest.raises(wbc.WbcError, match="can't write the log .*No such file"):
        wbc.run(*reaching(), 0.05, record=tmp_path / "nowhere" / "a.log")


@POSIX
def test_a_log_that_is_removed_is_written_anew(tmp_path):
    path = tmp_path / "a.log"

    def remove(now, controller):
        if now > 0.1:
            path.unlink(missing_ok=True)

    log = wbc.run(*reaching(), 0.2, record=path, targets=remove)
    found = wbc.read_log(path)
    assert not log.unwritten and found.ended == "finished" and np.array_equal(found.q, log.q)


@POSIX
def test_what_somebody_else_puts_in_place_of_the_log_stays(tmp_path):
    path = tmp_path / "a.log"

    def replace(now, controller):
        if now > 0.1 and not path.read_bytes().startswith(b"mine"):
            path.unlink()
            path.write_bytes(b"mine")

    with pytest.warns(wbc.WbcWarning, match="File exists"):
        log = wbc.run(*reaching(), 0.2, record=path, targets=replace)
    assert path.read_bytes() == b"mine" and len(log) == 200


SCRIPT = """
import signal, sys, time, tests.simulation.test_log_file as t, wbc
for name in ("SIGTERM", "SIGHUP"):  # in the background a shell has them ignored
    signal.signal(getattr(signal, name), signal.SIG_DFL)
def slow(now, controller):
    time.sleep(0.001)
    print(now, flush=True)
wbc.run(*t.reaching(), 60.0, record=sys.argv[1], targets=slow)
"""


def ended_by(number: int, path: Path) -> tuple[int, str, float]:
    """Exit code and stderr of a run that is sent a signal after some 0.3 s of it; the time of the last tick."""
    command = [sys.executable, "-c", SCRIPT, str(path)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    )
    assert process.stdout is not None
    for line in process.stdout:
        if float(line) > 0.3:
            break
    process.send_signal(number)
    rest, said = process.communicate(timeout=60)
    return process.returncode, said, float((line + rest).split()[-1])


@POSIX
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_process_and_closes_the_log(name, tmp_path):
    number = getattr(signal, name)
    code, said, last = ended_by(number, tmp_path / "a.log")
    found = wbc.read_log(tmp_path / "a.log")
    assert code == 128 + number and not said and found.ended == f"ended by {name}"
    assert found.time[-1] >= last - 0.0011  # but for the tick that was under way


@POSIX
def test_a_process_that_is_killed_loses_no_more_than_a_tenth_of_a_second(tmp_path):
    code, _, last = ended_by(signal.SIGKILL, tmp_path / "a.log")
    found = wbc.read_log(tmp_path / "a.log")
    assert code == -signal.SIGKILL and not found.ended
    assert last - found.time[-1] <= OFTEN + 0.0021


@POSIX
def test_signals_that_somebody_handles_are_theirs(tmp_path):
    heard = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        log = wbc.run(
            *reaching(), 0.02, targets=lambda now, c: os.kill(os.getpid(), signal.SIGTERM) if not now else None
        )
    finally:
        signal.signal(signal.SIGTERM, before)
    assert set(heard) == {signal.SIGTERM} and log.ended == "finished"
    wbc.run(*reaching(), 0.01)
    assert signal.getsignal(signal.SIGTERM) == before  # what a run sets it takes back


@FULL
def test_a_file_warns_once():
    with pytest.warns(wbc.WbcWarning) as caught:
        file = LogFile(Path("/dev/full"))
        for time_ in (0.0, 1.0, 2.0):
            file.write(b"x" * 10, time_)
        file.close(list)
    assert len(caught) == 1


INTERRUPTED = """
import os, signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background a shell has it ignored
import wbc  # a command line begins with it, before any line of its own
threading.Timer(float(sys.argv[1]), os.kill, (os.getpid(), signal.SIGINT)).start()
from wbc.__main__ import main
sys.argv[1:] = ["run", "5", "--out", sys.argv[2]]
main()
"""


@POSIX
@pytest.mark.parametrize("after", [0.02, 0.1, 0.4])
def test_ctrl_c_is_quiet_at_any_moment(after, tmp_path):
    command = [sys.executable, "-c", INTERRUPTED, str(after), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 130 and "Traceback" not in done.stderr, done.stderr
