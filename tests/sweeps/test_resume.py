"""What stops a sweep of 500 cases in its middle loses no row, and does no case twice that has one."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from wbc.sweeps import Table
from wbc.sweeps.cell import _end

pytest.importorskip("fcntl", reason="signals and limits are those of POSIX")

STUB = "tests/sweeps/stub_scene.py"
CODE = """
import sys, wbc
out, note = sys.argv[1:]
wbc.sweep(wbc.cases({stub!r}, x=range(500), note=note), out, jobs=2)
"""
JOBS, CASES = 2, 500


class Run:
    """A process that sweeps."""

    def __init__(self, folder, before=""):
        self.out, self.note = folder / "out", folder / "note"
        # a shell that runs the tests in the background has it ignore Ctrl-C
        code = (
            "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
            + before
            + CODE.format(stub=STUB)
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(self.out), str(self.note)], stderr=subprocess.PIPE, text=True
        )

    def rows(self):
        file = self.out / "rows.jsonl"
        return file.read_bytes().count(b"\n") if file.exists() else 0

    def until(self, rows):
        end = time.monotonic() + 60
        while self.rows() < rows and self.process.poll() is None:
            assert time.monotonic() < end, "it takes too long"
            time.sleep(0.002)

    def end(self):
        """Its exit code, and what it said."""
        said = self.process.communicate(timeout=60)[1]
        return self.process.returncode, said

    def performed(self):
        """How often each case was performed."""
        return Counter(float(line.split()[0]) for line in self.note.read_text().splitlines())

    def workers(self):
        return {int(line.split()[1]) for line in self.note.read_text().splitlines()}


def finish(folder, before, lost=2 * JOBS):
    """Goes on, and looks at all that is there then.

    A worker has a case under way, and may have ended one whose row was not written yet.
    """
    had = [row["case"] for row in Table(folder / "out")]
    assert before <= len(had) < CASES, "it was stopped in the middle"
    run = Run(folder)
    code, said = run.end()
    assert code == 0, said
    table = Table(folder / "out")
    assert table.kinds == {"finished": CASES}
    cases = [row["case"] for row in table]
    assert len(set(cases)) == CASES and cases[: len(had)] == had, "every case once, and what was there is there"
    times = run.performed()
    assert len(times) == CASES
    twice = sum(times.values()) - CASES
    assert twice <= lost, f"{twice} cases were performed again; no more than {lost} had no row yet"


def gone(pid):
    """Whether a process ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    return True


def wait_for(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_parent_that_is_stopped(how, tmp_path):
    run = Run(tmp_path)
    run.until(150)
    workers = run.workers()
    assert len(workers) == JOBS and not any(map(gone, workers))
    run.process.send_signal(how)
    code, said = run.end()
    assert code != 0
    if how == signal.SIGINT:
        assert said.rstrip().endswith("KeyboardInterrupt"), said
    wait_for(lambda: all(map(gone, workers)))  # nothing is left behind
    finish(tmp_path, 150)


def test_a_worker_that_is_killed(tmp_path):
    run = Run(tmp_path)
    run.until(150)
    os.kill(min(run.workers()), signal.SIGKILL)
    code, said = run.end()
    assert code == 0, said
    assert Table(run.out).kinds == {"finished": CASES}
    assert len({row["case"] for row in Table(run.out)}) == CASES
    assert sum(run.performed().values()) <= CASES + 1, "only the case that was under way is performed again"
    assert len(run.workers()) == JOBS + 1


def test_a_full_disk(tmp_path):
    room = 120_000  # bytes: some 200 rows
    run = Run(
        tmp_path, f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, resource.RLIM_INFINITY))\n"
    )
    code, said = run.end()
    assert code == 1
    assert (
        "rows.jsonl can't be written: File too large" in said
        and "the same command on the same folder continues" in said
    )
    assert (run.out / "rows.jsonl").read_bytes().endswith(b"\n"), "no row is there in part"
    finish(tmp_path, 100, lost=JOBS + 1)  # and the one whose row did not fit


def test_a_process_that_is_gone_with_a_line_unsent_is_ended_quietly(tmp_path):
    with (tmp_path / "words").open("wb") as words:
        process = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE, text=True)
        process.wait()
        process.stdin.write("never sent\n")  # it stays in the buffer
        _end(process, words)
    assert process.stdin.closed
