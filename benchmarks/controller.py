"""The cost of `controller.step` for each solver and backend, as ratios to TSID's tick where there is one in this run.

usage: OMP_NUM_THREADS=1 python benchmarks/controller.py   (`make bench`)

The packaged robots are those of `wbc bench`. With PEERS=DIR, the environment that `benchmarks/peers/setup.sh DIR`
makes, TSID is timed first, on the scenes `anymal` and `talos`; ours have its robots, contacts, gains and limits, and
its tasks on strict levels. A tick has one of 50 random velocities around the standing pose, as TSID's has: the active
set changes from tick to tick.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from rich.console import Console
from scenes import PEERS, peer

from wbc.application import bench, reports
from wbc.solvers import solver_names

HERE = Path(__file__).parent


def tsid() -> dict[str, float]:
    """TSID's median tick by scene, s; nothing without its environment."""
    folder = os.environ.get("PEERS")
    if not folder:
        return {}
    command = [str(Path(folder) / "bin" / "python"), str(HERE / "peers" / "tsid_tick.py")]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode:
        raise SystemExit(f"TSID did not run: {done.stderr[-400:]}")
    found = {}
    for line in done.stdout.splitlines():
        report = json.loads(line)
        found[report["scene"]] = 1e-6 * report["median_us"]
        print(
            f"{report['scene']}: {report['peer']} (C++) {report['median_us']:.1f} µs, {report['p99_us']:.1f} µs at 99 %"
        )
    return found


def main() -> None:
    """Prints a table a scene."""
    peers = tsid()
    console = Console(width=160, highlight=False)
    for scene in (*PEERS, "quadruped", "humanoid"):
        timings = []
        for solver in solver_names():
            for backend in [name for name in bench.backends() if scene not in PEERS or name != "mujoco"]:
                controller, q = (peer if scene in PEERS else bench.standing)(scene, backend, solver)
                ticks = 250 if solver == "sequential-qp" else 1450
                timings.append(bench.measure(scene, solver, backend, controller, q, ticks))
        console.print(reports.timings(timings, peers), "")


if __name__ == "__main__":
    main()
