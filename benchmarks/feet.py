"""A tick in which feet come down or lift off: the levels have other sizes than in the tick before.

usage: python -m benchmarks.feet

A robot steps from foot to foot, each time for ten ticks. "first" are ticks with a set of closed contacts that the
controller has not seen before: it makes their layout. "again" are changes between sets that it knows.
"""

from __future__ import annotations

import warnings

import numpy as np

import wbc
from benchmarks.ticks import Measured, Ticks, tell
from wbc.application import bench

HELD = 10
"""Ticks between two changes."""

PAIRS = {
    "quadruped": (("LF_foot", "RH_foot"), ("RF_foot", "LH_foot")),
    "humanoid": (("left_foot",), ("right_foot",)),
}
"""Feet that are off the ground by turns; between them all are on it."""


def walk(name: str, backend: str, rounds: int = 60) -> tuple[list[float], list[float], list[float]]:
    """Times of the ticks in which feet changed for the first time, in which they changed again, and of all others, s.

    Args:
        name: of the robot.
        backend: see `wbc.load`.
        rounds: how often each feet come off the ground.
    """
    controller, q = bench.standing(name, backend, "elastic-qp")
    stack, rng = controller.stack, np.random.default_rng(0)
    swing, lag = 0.1 * rng.normal(size=controller.robot.nv), rng.uniform(0.0, 2 * np.pi, controller.robot.nv)
    velocities = [swing * np.sin(2 * np.pi * k / 500 + lag) for k in range(500)]  # of a robot that sways at 2 Hz
    first: list[float] = []
    again: list[float] = []
    steady: list[float] = []
    seen, tick, watch = set(), 0, bench.Stopwatch()
    with wbc.single_threaded(), warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        for _ in range(HELD):  # on all feet
            controller.step(q, velocities[0], 1e-3 * tick)
            tick += 1
        for change in range(4 * rounds):
            feet = PAIRS[name][change // 2 % 2]
            (stack.close_contact if change % 2 else stack.open_contact)(feet)
            for held in range(HELD):
                watch.start()
                controller.step(q, velocities[tick % 500], 1e-3 * tick)
                taken = watch.stop()
                tick += 1
                if held:
                    steady.append(taken)
                else:
                    (again if change % 2 or feet in seen else first).append(taken)
            seen.add(feet)
    return first, again, steady


def measure() -> Measured:
    """Ticks by robot and backend: where feet change for the first time, where they change again, and all others."""
    found: Measured = {}
    for name in PAIRS:
        for backend in [name for name in bench.backends() if name != "mujoco"]:
            walk(name, backend, 2)  # what Python imports late is imported; a controller has two first times
            fresh = [taken for _ in range(10) for taken in walk(name, backend, 1)[0]]
            _, again, steady = walk(name, backend)
            rows = {"first": fresh, "again": again, "steady": steady}
            found[f"{name} on {backend}"] = {row: Ticks.of(times) for row, times in rows.items()}
    return found


if __name__ == "__main__":
    print(f"elastic-qp and the backend numpy run on {bench.runs_on()}")
    tell(measure())
