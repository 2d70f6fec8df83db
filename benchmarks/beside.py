"""The peers' ticks: each in an environment of its own, made by `peers/setup.sh`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from benchmarks.ticks import REPOSITORY, Ticks

PROGRAMS = {"tsid": ("bin/python", "tsid_tick.py"), "placo": ("placo/bin/python", "placo_tick.py")}
"""By peer: the interpreter in the folder PEERS, and what it runs."""


def measure() -> dict[str, dict[str, Ticks]]:
    """Ticks by scene and peer; a peer that is not installed is left out, with a word."""
    folder = os.environ.get("PEERS", "")
    found: dict[str, dict[str, Ticks]] = {}
    for peer, (interpreter, program) in PROGRAMS.items():
        python = Path(folder, interpreter)
        if not folder or not python.exists():
            where = f"in {folder}" if folder else "(PEERS= is not set)"
            print(f"{peer} is left out: it is not {where}; sh benchmarks/peers/setup.sh DIR installs it")
            continue
        command = [str(python), str(REPOSITORY / "benchmarks" / "peers" / program)]
        hidden = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}  # ours, not theirs
        around = {name: value for name, value in os.environ.items() if name not in hidden}
        done = subprocess.run(command, capture_output=True, text=True, env={**around, "OMP_NUM_THREADS": "1"})
        if done.returncode:
            raise SystemExit(f"{peer} did not run: {done.stderr[-400:]}")
        for line in done.stdout.splitlines():
            report = json.loads(line)
            ticks = Ticks(1e-6 * report["median_us"], 1e-6 * report["p99_us"])
            found.setdefault(report["scene"], {})[report["peer"]] = ticks
            if report["failed"]:
                print(f"{report['scene']}: {report['peer']} failed in {report['failed']} ticks")
    return found
