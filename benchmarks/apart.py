"""Random reaching tasks among obstacles and through oneself: do bodies keep apart, and what does it cost?

usage: python -m benchmarks.apart [arm|humanoid] [COUNT]   (`make apart` runs 1,000 of each)
       python -m benchmarks.apart cost   (`make bench` runs it)

Prints how many runs of each kind collided with and without the task, how far any pair came into the margin, and the
greatest change of a torque in a tick. The costs are those of a look at all pairs of the humanoid, and of 400 rows.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import tasks
import wbc
from wbc.application.bench import Stopwatch
from wbc.collision import CollisionGeometry
from wbc.scenes.apart import MARGIN, Outcome, arm_among_obstacles, humanoid_through_itself

KINDS = {"arm": (arm_among_obstacles, 1.5), "humanoid": (humanoid_through_itself, 1.5)}
"""What is run, and for how long, s."""

EVERY = 2
"""Ticks after which distances are measured."""

LIMIT = 1e-3
"""How far into the margin a pair may come, m."""


def microseconds(times: np.ndarray) -> str:
    """Median and 99 % of times, in words."""
    return f"{np.median(times):.0f} µs, 99 % {np.quantile(times, 0.99):.0f} µs"


def summary(kind: str, outcomes: dict[bool, list[Outcome]]) -> str:
    """What came of all runs of a kind, in words."""
    lines = [f"{kind}: {len(outcomes[True])} tasks"]
    for avoid, found in outcomes.items():
        least = np.array([one.least for one in found])
        jumps = np.array([one.jumps.max() for one in found])
        often = np.mean([np.mean(one.jumps > 0.1) for one in found])
        times = np.concatenate([one.times for one in found])
        lines += [
            f"  {'with' if avoid else 'without'} the task: {int((least < 0).sum())} collided, "
            f"{int((least < MARGIN - LIMIT).sum())} came more than 1 mm into the margin, the nearest to "
            f"{least.min() * 1e3:.2f} mm",
            f"    largest torque jump {np.median(jumps):.3f} of the limit (median of runs), {jumps.max():.3f} (worst), "
            f"above 0.1 in {often:.2%} of ticks; {sum(one.relaxed for one in found)} of {len(times)} ticks relaxed; "
            f"tick {np.median(times) * 1e6:.0f} µs",
        ]
    return "\n".join(lines)


def run(kind: str, count: int) -> str:
    """Runs tasks of a kind with and without avoidance, and says what came of them."""
    make, duration = KINDS[kind]
    outcomes: dict[bool, list[Outcome]] = {False: [], True: []}
    for seed in range(count):
        for avoid, found in outcomes.items():
            found.append(make(seed, avoid).run(duration, every=EVERY))
        if (seed + 1) % 10 == 0:
            print(summary(kind, outcomes), flush=True)
    return summary(kind, outcomes)


def look() -> str:
    """How long a tick's look at all pairs of the standing humanoid takes, with its rows: `CollisionAvoidance.rows`."""
    found = []
    for engine in ("coal", "own"):
        robot = wbc.load("humanoid", "pinocchio")
        avoid = tasks.CollisionAvoidance(CollisionGeometry(robot, engine))
        rng, watch, times = np.random.default_rng(0), Stopwatch(), []
        for tick in range(1050):
            robot.update(robot.model.nominal, 0.1 * rng.normal(size=robot.nv))
            at = wbc.Tick(robot, time=tick * 1e-3)
            watch.start()
            avoid.rows(robot, at)
            times.append(watch.stop())
        used = np.array(times[50:]) * 1e6
        pairs = len(avoid.geometry.pairs)
        found.append(f"{pairs} pairs of the humanoid by {engine}: {microseconds(used)}")
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
        print(look())
        print(many())
    else:
        began = time.perf_counter()
        chosen = sys.argv[1] if len(sys.argv) > 1 else "arm"
        print(run(chosen, int(sys.argv[2]) if len(sys.argv) > 2 else 1000))
        print(f"{time.perf_counter() - began:.0f} s")
