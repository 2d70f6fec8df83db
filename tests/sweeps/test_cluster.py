"""A sweep on a real cluster of processes on this machine: one worker is killed in the middle, one joins late."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import wbc
from wbc.sweeps import Table, compared, dask_executor

distributed = pytest.importorskip("distributed")
pytest.importorskip("fcntl", reason="signals are those of POSIX")

STUB = "tests/sweeps/stub_scene.py"
CASES = 500
DASK = {**os.environ, "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error", "PYTHONPATH": "."}


def start(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]],
        env=DASK,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.fixture
def cluster(tmp_path):
    """Starts a scheduler; gives its address, and what starts a worker."""
    file = tmp_path / "scheduler.json"
    started = [
        start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", file)
    ]

    def worker():
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", tmp_path / "dask")
        started.append(start("dask_worker", "--scheduler-file", file, *options))
        return started[-1]

    end = time.monotonic() + 60
    while not file.exists() or not file.read_text():
        assert time.monotonic() < end
        time.sleep(0.05)
    yield json.loads(file.read_text())["address"], worker
    for process in started:
        process.kill()
        process.wait()


def test_one_worker_is_killed_and_one_joins_late(cluster, tmp_path):
    address, worker = cluster
    first, _ = worker(), worker()
    executor = dask_executor(address)
    client = executor._client
    client.wait_for_workers(2, timeout=60)
    out = tmp_path / "out"
    joined = threading.Event()

    def disturb():
        end = time.monotonic() + 60
        while time.monotonic() < end and not ((out / "rows.jsonl").exists() and len(Table(out)) > 100):
            time.sleep(0.01)
        first.send_signal(signal.SIGKILL)
        worker()
        joined.set()

    disturbing = threading.Thread(target=disturb)
    disturbing.start()
    # each waits a little, so that the worker that joins late finds something to do
    cases = wbc.cases(STUB, x=range(CASES), wait=0.02, note=str(tmp_path / "note"))
    table = wbc.sweep(cases, out, executor=executor)
    disturbing.join()
    assert joined.is_set() and len(table) == CASES and table.kinds == {"finished": CASES}
    performers = {line.split()[1] for line in (tmp_path / "note").read_text().splitlines()}
    assert len(performers) == 3, "two at first, and the one that joined late"
    client.close()

    here = wbc.sweep(wbc.cases(STUB, x=range(20), wait=0.02, note=str(tmp_path / "note")), tmp_path / "here", jobs=1)
    there = {row["case"]: row for row in table}
    for row in here:
        assert json.dumps(compared(row)) == json.dumps(compared(there[row["case"]]))


def test_no_scheduler_is_told():
    with pytest.raises(wbc.WbcError, match="no Dask scheduler at 'tcp://127.0.0.1:1'"):
        dask_executor("tcp://127.0.0.1:1", wait=0.5)


def test_without_dask_it_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(wbc.WbcError, match=r"pip install 'wbc\[cluster\]'"):
        dask_executor("tcp://127.0.0.1:8786")
