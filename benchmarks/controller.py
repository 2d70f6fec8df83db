"""The cost of `controller.step` for each solver and backend, as ratios to TSID's tick where there is one in this run.

usage: OMP_NUM_THREADS=1 python benchmarks/controller.py   (`make bench`)

With PEERS=DIR, the environment that `benchmarks/peers/setup.sh DIR` makes, TSID is timed first, on the scenes `anymal`
and `talos`; ours have its robots, contacts, gains and limits, and its tasks on strict levels. A tick has one of 50
random velocities around the standing pose, as TSID's has: the active set changes from tick to tick.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import time
from collections import Counter
from pathlib import Path

import numpy as np
from scenes import peer, standing

SOLVERS = ("hierarchical-qp", "weighted-qp", "nullspace", "operational-space", "sequential-qp")
HERE = Path(__file__).parent


def tsid() -> dict[str, float]:
    """TSID's median tick by scene, µs; nothing without its environment."""
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
        found[report["scene"]] = report["median_us"]
        times = f"{report['median_us']:8.1f} µs {report['p99_us']:9.1f} µs"
        print(f"{report['scene']:10} {report['peer']:18} {'C++':10} {times}")
    return found


def measure(name: str, solver: str, backend: str, ticks: int) -> tuple[np.ndarray, np.ndarray, Counter[str], float]:
    """Times of ticks (s), where they went (medians, s), statuses, and the median of the solver's inner steps."""
    make = peer if name in ("anymal", "talos") else standing
    controller, q = make(name, backend, solver)
    controller.step(q, np.zeros(controller.robot.nv), 0.0)
    rng = np.random.default_rng(0)
    velocities = [0.1 * rng.normal(size=controller.robot.nv) for _ in range(50)]
    times, parts, steps = [], [], []
    statuses: Counter[str] = Counter()
    for tick in range(ticks):
        start = time.perf_counter()
        solution = controller.step(q, velocities[tick % 50], 1e-3 * (tick + 1))
        times.append(time.perf_counter() - start)
        parts.append(solution.time)
        statuses[solution.status] += 1
        steps.append(solution.iterations)
    return np.array(times[50:]), np.median(np.array(parts[50:]), axis=0), statuses, float(np.median(steps))


def main() -> None:
    """Prints one table."""
    shares = "backend tasks solver rest (µs)"
    print(f"{'scene':10} {'solver':18} {'backend':10} {'median':>11} {'99 %':>12} {'x TSID':>7}  {shares}")
    peers = tsid()
    backends = [name for name in ("pinocchio", "numpy", "mujoco") if name == "numpy" or importlib.util.find_spec(name)]
    for scene in ("anymal", "talos", "quadruped", "humanoid"):
        for solver in SOLVERS:
            for backend in backends if scene in ("quadruped", "humanoid") else backends[:2]:
                times, parts, statuses, steps = measure(
                    scene, solver, backend, 300 if solver == "sequential-qp" else 1500
                )
                us = 1e6 * np.array([np.median(times), np.percentile(times, 99)])
                ratio = f"{us[0] / peers[scene]:6.2f}" if scene in peers else ""
                rest = parts[3] - parts[:3].sum()
                shares = " ".join(f"{1e6 * part:6.1f}" for part in (*parts[:3], rest))
                told = ", ".join(f"{count} {status}" for status, count in statuses.items())
                print(
                    f"{scene:10} {solver:18} {backend:10} {us[0]:8.1f} µs {us[1]:9.1f} µs {ratio:>7}  {shares}  "
                    f"{steps:.0f} steps, {told}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
