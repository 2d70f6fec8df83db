"""The cost of one full update of a robot on each backend, against Pinocchio's `computeAllTerms` in the same run.

A full update is: state in; M, h, gravity, centre of mass, momentum and their Jacobians and biases, and pose, twist,
Jacobian and bias of the feet (and hands) out.

usage: OMP_NUM_THREADS=1 python -m benchmarks.dynamics   (`make bench` runs it)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import wbc
from benchmarks.ticks import Measured, Ticks, tell
from wbc import compiled
from wbc.application import bench
from wbc.dynamics import Dynamics
from wbc.model import packaged_path

ROBOTS = ("quadruped", "humanoid")
WHOLE = ("mass_matrix", "bias", "gravity_force", "com", "com_velocity", "com_jacobian", "com_bias", "momentum")


def full_update(robot: Dynamics, q: np.ndarray, v: np.ndarray) -> None:
    """Everything a controller may ask for in one state."""
    robot.update(q, v)
    for name in (*WHOLE, "momentum_matrix", "momentum_bias"):
        getattr(robot, name)
    for frame in (*robot.model.feet, *robot.model.hands):
        robot.pose(frame)
        robot.twist(frame)
        robot.jacobian(frame)
        robot.jacobian_bias(frame)


def mass_and_bias(robot: Dynamics, q: np.ndarray, v: np.ndarray) -> None:
    """What `computeAllTerms` and the prototype of the design give: M, h, and the Jacobians' raw material."""
    robot.update(q, v)
    _ = robot.mass_matrix, robot.bias


def seconds(tick: Callable[[], object], rounds: int = 15, ticks: int = 60) -> float:
    """The time of one call, s: the median over rounds of a round's mean.

    Args:
        tick: what is called.
        rounds: how many.
        ticks: calls in a round.
    """
    for _ in range(ticks):
        tick()
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(ticks):
            tick()
        found.append((time.perf_counter() - start) / ticks)
    return float(np.median(found))


def without_kernel() -> Measured:
    """The same of the numpy backend in a process where the compiled kernel is off."""
    command = [sys.executable, "-m", "benchmarks.dynamics", "numpy"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "WBC_KERNEL": "off"}, check=True)
    return {name: {row: Ticks(*value) for row, value in rows.items()} for name, rows in json.loads(done.stdout).items()}


def measure(only: str = "") -> Measured:
    """Mean times by robot: of `computeAllTerms`, and by backend of M and h and of a full update.

    Args:
        only: a backend; empty: all that are installed.
    """
    backends = [only] if only else sorted(bench.backends(), reverse=True)
    rng = np.random.default_rng(0)
    found: Measured = {}
    for name in ROBOTS:
        rows = found[name] = {}
        if "pinocchio" in backends:
            import pinocchio as pin

            root = [pin.JointModelFreeFlyer()] if wbc.load(name).model.floating else []
            model = pin.buildModelFromUrdf(str(packaged_path(name)), *root)
            v = rng.normal(size=model.nv)
            q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
            rows["computeAllTerms"] = Ticks(seconds(partial(pin.computeAllTerms, model, model.createData(), q, v)))
        for backend in backends:
            robot = wbc.load(name, backend)  # type: ignore[arg-type]
            q, v = robot.random(rng), rng.normal(size=robot.nv)
            rows[backend] = Ticks(seconds(partial(mass_and_bias, robot, q, v)))
            rows[f"{backend}, all"] = Ticks(seconds(partial(full_update, robot, q, v)))
    if not only and compiled.kernel is not None:
        for name, rows in without_kernel().items():
            found[name]["numpy, kernel off"] = rows["numpy"]
    return found


if __name__ == "__main__":
    if sys.argv[1:] == ["numpy"]:
        print(json.dumps(measure("numpy")))
    else:
        print(f"the backend numpy runs on {bench.runs_on()}")
        tell(measure())
