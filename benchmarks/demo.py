"""The ticks of `wbc demo`, run without pictures: 10,500 ticks of a quadruped that stands, is pushed, and trots.

usage: python -m benchmarks.demo
"""

from __future__ import annotations

import warnings

import numpy as np

import wbc
from benchmarks.ticks import Measured, Ticks, tell
from wbc.application import bench, demo
from wbc.scenes import default_simulator


def run(backend: str) -> np.ndarray:
    """Times of the demonstration's ticks, s, without those around which another program took the processor.

    Args:
        backend: see `wbc.load`.
    """
    counts = [bench.interruptions()]

    def note(now: float, solution: wbc.Solution) -> bool:
        counts.append(bench.interruptions())
        return False

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        log = demo(backend, simulator=default_simulator()).run(until=note)
    quiet: np.ndarray = log.tick_time[np.diff(counts) == 0]
    return quiet


def measure() -> Measured:
    """Ticks by backend."""
    backends = [name for name in ("numpy", "pinocchio") if name in bench.backends()]
    return {"demo": {backend: Ticks.of(run(backend)) for backend in backends}}


if __name__ == "__main__":
    print(f"elastic-qp and the backend numpy run on {bench.runs_on()}")
    found = measure()
    tell(found)
    for backend, ticks in found["demo"].items():
        shares = f"{100 * ticks.over_half:.2f} % over 0.5 ms, {100 * ticks.over_one:.2f} % over 1 ms"
        print(f"{backend}: {1e6 * ticks.highest:.0f} µs at 99.9 %, {shares}")
