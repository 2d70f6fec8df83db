"""What a sweep costs beside its simulations, and how it grows: the figures of docs/sweeps.md.

usage: python -m benchmarks.sweeps [cases through the cluster]

Measures the time of a case that costs nothing, the time that a row takes to be made, one process against two, and
thousands of cases through a Dask cluster of two workers on this machine, with the memory of the process that sweeps.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import wbc
from benchmarks import ceiling
from benchmarks.ticks import REPOSITORY
from wbc.sweeps import Progress, dask_executor, rows
from wbc.sweeps.overrides import load_case

STUB = str(REPOSITORY / "tests" / "sweeps" / "stub_scene.py")
REAL = str(REPOSITORY / "benchmarks" / "standing.py")
STUBS, COUNT, TURNS = 1000, 24, 3


def memory() -> float:
    """Of this process now, MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def seconds(cases: wbc.sweeps.Cases, out: Path, jobs: int = 1) -> float:
    """That a sweep takes while all its processes are busy, s a case: their start is not in it.

    Args:
        cases: to run.
        out: folder.
        jobs: processes.
    """
    times: list[float] = []
    wbc.sweep(cases, out, jobs=jobs, progress=lambda _: times.append(time.perf_counter()))
    return (times[-1] - times[jobs - 1]) / (len(times) - jobs)


def best(measure: Callable[[Path], float], folder: Path) -> float:
    """The least of several: other programs only make it slower."""
    return min(measure(folder / f"{turn}-{time.monotonic_ns()}") for turn in range(TURNS))


def overhead(folder: Path) -> None:
    """A case that costs nothing, and the row of a run of 3 s."""
    stub = best(lambda out: seconds(wbc.cases(STUB, x=range(STUBS)), out), folder)
    print(f"a case that costs nothing, on one process: {1e3 * stub:.2f} ms")
    scene = load_case("11", {"simulator": "builtin"}, 0)
    log = scene.run()

    def row(_: Path) -> float:
        began = time.process_time()
        rows.line(rows.outcome(log, scene))
        return time.process_time() - began

    print(f"the row of a run of {scene.duration:g} s, {len(log)} ticks: {1e3 * best(row, folder):.2f} ms of CPU")


def two_processes(folder: Path, turns: int = TURNS) -> None:
    """One against two, and what the machine has to give meanwhile; one run, in turn.

    Args:
        folder: for rows.
        turns: how often; the best of each counts.
    """
    cases = wbc.cases(REAL, **{"realism.mass": wbc.grid(0.9, 1.1, COUNT)})
    runs, most = dict.fromkeys((1, 2), 0.0), dict.fromkeys((1, 2), 0.0)
    own, began = 0, time.process_time()
    for turn in range(turns):
        for jobs in runs:
            runs[jobs] = max(runs[jobs], 1.0 / seconds(cases, folder / f"{jobs} {turn}", jobs))
            own += len(cases)
            most[jobs] = max(most[jobs], ceiling.rate(jobs, 2.0))
    own_seconds = (time.process_time() - began) / own
    twice, limit = runs[2] / runs[1], most[2] / most[1]
    print(
        f"a run of 1.8 s: {1.0 / runs[1]:.2f} s on one process; two are {twice:.2f} × as fast, arithmetic that shares "
        f"nothing {limit:.2f} ×: {100 * twice / limit:.0f} % of that; the process that sweeps takes "
        f"{1e3 * own_seconds:.1f} ms of CPU a case, workers' start and all",
        flush=True,
    )


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """The address of a scheduler with two workers, started as from a command line."""
    file = folder / "scheduler.json"
    python, silent = [sys.executable, "-m"], {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    worker = ["distributed.cli.dask_worker", "--nthreads", "1", "--no-dashboard", "--local-directory", str(folder)]
    commands = [scheduler, worker, worker]
    started = [
        subprocess.Popen([*python, *words, "--scheduler-file", str(file)], **silent)  # type: ignore[call-overload]
        for words in commands
    ]
    try:
        while not file.exists():
            time.sleep(0.1)
        time.sleep(1.0)
        yield json.loads(file.read_text())["address"]
    finally:
        for process in started:
            process.terminate()
            process.wait()


def through_cluster(folder: Path, count: int) -> None:
    """Thousands of cases that cost nothing."""
    with cluster(folder) as address:
        executor = dask_executor(address)
        client = executor._client  # type: ignore[attr-defined]  # Dask's own
        client.wait_for_workers(2)
        used: list[float] = []

        def after(state: Progress) -> None:
            if state.done % max(count // 10, 1) == 0:
                used.append(memory())

        began = time.perf_counter()
        table = wbc.sweep(wbc.cases(STUB, x=range(count)), folder / "out", executor=executor, progress=after)
        taken = time.perf_counter() - began
        client.close()
    print(
        f"{count} cases that cost nothing through Dask, two workers: {taken:.1f} s, {1e3 * taken / count:.2f} ms a case"
    )
    print(f"  rows: {table.kinds}; {(folder / 'out' / 'rows.jsonl').stat().st_size / count:.0f} bytes a row")
    print(f"  memory of the process that sweeps, MB, at each tenth: {', '.join(f'{one:.0f}' for one in used)}")


def main(count: int = 10_000) -> None:
    """Prints all of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        overhead(folder)
        through_cluster(folder, count)
        two_processes(folder)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
