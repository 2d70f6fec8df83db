"""Random reaching tasks among obstacles and through oneself: do bodies keep apart, and what does it cost?

usage: python -m benchmarks.apart [arm|humanoid] [COUNT] [FOLDER]   (`make apart` runs 1,000 of each)
       python -m benchmarks.apart cost [FILE]   (`make bench` runs it)

Prints how many runs of each kind collided with and without the task, how far any pair came into the margin, and the
greatest change of a torque in a tick. Without the task every fifth task is run. Runs are kept in FOLDER, so that a
second call goes on where the first one ended. The costs are those of a look at all pairs of the humanoid, or of
another robot, and of 400 rows.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import tasks
import wbc
from wbc.application.bench import Stopwatch
from wbc.collision import CollisionGeometry
from wbc.scenes.apart import MARGIN, arm_among_obstacles, humanoid_through_itself

KINDS = {"arm": (arm_among_obstacles, 1.5), "humanoid": (humanoid_through_itself, 1.5)}
"""What is run, and for how long, s."""

WITHOUT = 5
"""Of so many tasks one is run without avoidance as well."""

EVERY = 2
"""Ticks after which distances are measured."""

LIMIT = 1e-3
"""How far into the margin a pair may come, m."""


class Run(NamedTuple):
    """What is kept of a run.

    Attributes:
        seed: of the task.
        avoid: whether it was run with the task that keeps bodies apart.
        least: the least distance of any pair, m.
        jump: the greatest change of a torque in a tick, as a share of its limit.
        often: share of ticks in which one changed by more than a tenth of its limit.
        relaxed: ticks in which not all bounds held.
        ticks: how many there were.
        tick: how long one took, median, s.
    """

    seed: int
    avoid: bool
    least: float
    jump: float
    often: float
    relaxed: int
    ticks: int
    tick: float


def microseconds(times: np.ndarray) -> str:
    """Median and 99 % of times, in words."""
    return f"{np.median(times):.0f} µs, 99 % {np.quantile(times, 0.99):.0f} µs"


def summary(kind: str, runs: list[Run]) -> str:
    """What came of all runs of a kind, in words."""
    lines = []
    for avoid in (False, True):
        found = [one for one in runs if one.avoid == avoid]
        if not found:
            continue
        least, jumps = (np.array([getattr(one, name) for one in found]) for name in ("least", "jump"))
        ticks = sum(one.ticks for one in found)
        lines += [
            f"{kind} {'with' if avoid else 'without'} the task: {int((least < 0).sum())} of {len(found)} collided, "
            f"{int((least < MARGIN - LIMIT).sum())} came more than 1 mm into the margin, the nearest to "
            f"{least.min() * 1e3:.2f} mm",
            f"  largest torque jump {np.median(jumps):.3f} of the limit (median of runs), {jumps.max():.3f} (worst), "
            f"above 0.1 in {np.mean([one.often for one in found]):.2%} of ticks; "
            f"{sum(one.relaxed for one in found)} of {ticks} ticks relaxed; "
            f"tick {np.median([one.tick for one in found]) * 1e6:.0f} µs",
        ]
    return "\n".join(lines)


def run(kind: str, count: int, folder: Path) -> str:
    """Runs tasks of a kind with avoidance, and some without, and says what came of them."""
    make, duration = KINDS[kind]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{kind}.jsonl"
    runs = [Run(**json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(one.seed, one.avoid) for one in runs}
    with path.open("a") as file:
        for seed in range(count):
            for avoid in (True, False)[: 2 if seed % WITHOUT == 0 else 1]:
                if (seed, avoid) in done:
                    continue
                told = make(seed, avoid).run(duration, every=EVERY)
                times, jumps = np.median(told.times), told.jumps
                worst, often = float(jumps.max()), float(np.mean(jumps > 0.1))
                one = Run(seed, avoid, told.least, worst, often, told.relaxed, len(told.times), float(times))
                runs.append(one)
                print(json.dumps(one._asdict()), file=file, flush=True)
            if (seed + 1) % 50 == 0:
                print(summary(kind, runs), flush=True)
    return summary(kind, [one for one in runs if one.seed < count])


def look(file: str = "humanoid") -> str:
    """How long a tick's look at all pairs of a robot that stands takes, with its rows: `CollisionAvoidance.rows`."""
    found = []
    for engine in ("coal", "own"):
        robot = wbc.load(file, "pinocchio")
        avoid = tasks.CollisionAvoidance(CollisionGeometry(robot, engine))
        rng, watch, times = np.random.default_rng(0), Stopwatch(), []
        for tick in range(1050):
            robot.update(robot.model.nominal, 0.1 * rng.normal(size=robot.nv))
            at = wbc.Tick(robot, time=tick * 1e-3)
            watch.start()
            avoid.rows(robot, at)
            times.append(watch.stop())
        used = np.array(times[50:]) * 1e6
        near = len(avoid.look(robot, at).key)
        pairs = f"{len(avoid.geometry.pairs)} pairs of {robot.model.name}, {near} nearest points, corners and crossings"
        found.append(f"{pairs} near, by {engine}: {microseconds(used)}")
    return "\n".join(found)


def many(rows: int = 400) -> str:
    """What so many rows of a barrier cost: a tool among half-spaces that it is pressed against."""
    robot, rng = wbc.load("arm", "pinocchio"), np.random.default_rng(0)
    robot.update(robot.model.nominal)
    center = robot.pose("tool")[:3, 3].copy()
    normals = rng.normal(size=(rows, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)

    def inside(robot: wbc.Dynamics, tick: wbc.Tick) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        away = robot.pose("tool")[:3, 3] - center
        return 0.1 - normals @ away, -normals @ robot.jacobian("tool")[:3], -normals @ robot.jacobian_bias("tool")[:3]

    found = []
    for count in (0, rows):
        limits = tasks.TorqueLimits() / (tasks.JointLimits() + tasks.Barrier(inside) if count else tasks.JointLimits())
        reach = tasks.EndEffectorAcceleration(
            "tool", center + np.array([0.15, 0.1, 0.1]), wbc.Gains(1.0), axes="position"
        )
        stack = wbc.Stack(tasks.EquationOfMotion() / limits / reach / tasks.JointAcceleration())
        controller, q, v = wbc.Controller(robot, stack), np.array(robot.model.nominal), np.zeros(7)
        watch, times = Stopwatch(), []
        for tick in range(1500):
            watch.start()
            solution = controller.step(q, v, tick * 1e-3)
            times.append(watch.stop())
            q, v = robot.integrate(q, v + solution.acceleration * 5e-4, 1e-3), v + solution.acceleration * 1e-3
        used = np.array(times[50:]) * 1e6
        found.append(f"arm with {count} barrier rows, a tick: {microseconds(used)}")
    return "\n".join(found)


if __name__ == "__main__":
    if sys.argv[1:2] == ["cost"]:
        print(look(*sys.argv[2:3]))
        print(many())
    else:
        began = time.perf_counter()
        chosen = sys.argv[1] if len(sys.argv) > 1 else "arm"
        given = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
        print(run(chosen, given, Path(sys.argv[3] if len(sys.argv) > 3 else "runs/apart")))
        print(f"{time.perf_counter() - began:.0f} s")
