"""Ticks a second of many robots by `wbc.Batch`, against a loop of `controller.step`.

usage: python -m benchmarks.batch [seconds a figure]

Standing quadrupeds, each in a state of its own that changes from tick to tick. Loop, batch and the arithmetic of
`benchmarks.ceiling` on one process and on two are timed in turn, several times, and the best of each counts: other
programs only make it slower. The torques of all are compared with the loop's first.
"""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable

import numpy as np

import wbc
from benchmarks import ceiling
from wbc.application import bench

COUNTS, JOBS, TURNS = (1, 16, 256), (1, 2), 15


def rate(tick: Callable[[int], object], count: int, seconds: float) -> float:
    """Ticks of all robots together, a second."""
    tick(0)
    began, ticks = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        ticks += 1
        tick(ticks)
    return count * ticks / (time.perf_counter() - began)


def main(seconds: float = 0.1) -> None:
    """Prints the table."""
    controller, _ = bench.standing("quadruped", "auto", "elastic-qp")
    robot, random = controller.robot, np.random.default_rng(0)
    print("robots, a loop: ticks a second; threads and processes as multiples of the loop")
    for count in COUNTS:
        q = np.tile(robot.model.nominal, (count, 1))
        v = random.normal(scale=0.1, size=(20, count, robot.nv))
        alone = [copy.deepcopy(controller) for _ in range(count)]

        def loop(tick: int, alone: list[wbc.Controller] = alone, q: np.ndarray = q, v: np.ndarray = v) -> None:
            for row, one in enumerate(alone):
                one.step(q[row], v[tick % 20, row])

        ways: dict[str, Callable[[int], object]] = {"loop": loop}
        batches = []
        for workers in ("threads", "processes"):
            for jobs in JOBS if count > 1 else (1,):
                batch = wbc.Batch(controller, count, jobs=jobs, workers=workers)  # type: ignore[arg-type]
                batches.append(batch)
                ways[f"{jobs} {workers}"] = lambda tick, batch=batch, q=q, v=v: batch.step(q, v[tick % 20])
        fresh = [copy.deepcopy(controller) for _ in range(count)]
        wanted = [[one.step(q[row], v[tick, row]).torque for row, one in enumerate(fresh)] for tick in range(5)]
        for batch in batches:
            found = [batch.step(q, v[tick]).torque for tick in range(5)]
            assert np.array_equal(found, wanted), "not the loop's, bit for bit"
        best, most = dict.fromkeys(ways, 0.0), dict.fromkeys((1, 2), 0.0)
        for _ in range(TURNS):
            for name, way in ways.items():
                best[name] = max(best[name], rate(way, count, seconds))
            most = {jobs: max(most[jobs], ceiling.rate(jobs, seconds)) for jobs in most}
        for batch in batches:
            batch.close()
        told = ", ".join(f"{name} {found / best['loop']:.2f} ×" for name, found in best.items() if name != "loop")
        print(
            f"{count:>4}: {best['loop']:.0f}; {told}; arithmetic on 2 processes {most[2] / most[1]:.2f} ×", flush=True
        )


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
