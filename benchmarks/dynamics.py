"""The cost of one full update of a robot on each backend, against Pinocchio's `computeAllTerms` in the same run.

A full update is: state in; M, h, gravity, centre of mass, momentum and their Jacobians and biases, and pose, twist,
Jacobian and bias of the feet (and hands) out. Run with OMP_NUM_THREADS=1 (`make bench` does).
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import wbc
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


def microseconds(tick: Callable[[], None], rounds: int = 15, ticks: int = 60) -> float:
    """The time of one call: the median over rounds of a round's mean."""
    for _ in range(ticks):
        tick()
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(ticks):
            tick()
        found.append((time.perf_counter() - start) / ticks)
    return 1e6 * float(np.median(found))


def main() -> None:
    """Prints one table."""
    backends = [name for name in ("numpy", "pinocchio", "mujoco") if name == "numpy" or importlib.util.find_spec(name)]
    rng = np.random.default_rng(0)
    print(f"{'robot':10} {'backend':10} {'M and h':>12} {'full update':>12} {'ratio of M and h':>18}")
    for name in ROBOTS:
        unit = None
        if "pinocchio" in backends:
            import pinocchio as pin

            root = [pin.JointModelFreeFlyer()] if wbc.load(name).model.floating else []
            model = pin.buildModelFromUrdf(str(packaged_path(name)), *root)
            v = rng.normal(size=model.nv)
            q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
            unit = microseconds(partial(pin.computeAllTerms, model, model.createData(), q, v))
            print(f"{name:10} {'computeAllTerms':>23} {'':>12} {unit:9.1f} µs")
        for backend in backends:
            robot = wbc.load(name, backend)
            q, v = robot.random(rng), rng.normal(size=robot.nv)
            part, whole = (
                microseconds(partial(mass_and_bias, robot, q, v)),
                microseconds(partial(full_update, robot, q, v)),
            )
            ratio = f"{part / unit:.1f} x" if unit else "(no Pinocchio)"
            print(f"{name:10} {backend:10} {part:9.1f} µs {whole:9.1f} µs {ratio:>18}")


if __name__ == "__main__":
    main()
