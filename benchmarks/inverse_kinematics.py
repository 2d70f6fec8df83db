"""Inverse kinematics of the 7-joint arm on random reachable poses: share solved and time, beside Pink and mink.

usage: OMP_NUM_THREADS=1 python benchmarks/inverse_kinematics.py [POSES]

Pink and mink are differential inverse kinematics (a QP a step); they take part where they can be imported (`pip install
pin-pink mink`). All have the same poses, the same first start, the same random configurations to start again from, the
joint limits, and the same rule to give a start up: solved to 1e-6 m and rad, or 100 steps, or no progress in seven. Of
each peer the damping that did best here is taken; speed limits are off.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable

import numpy as np

import wbc
from wbc.geometry import so3
from wbc.kinematics import InverseKinematics
from wbc.model import packaged_path

TOLERANCE, STEPS, RESTARTS, PATIENCE, PROGRESS = 1e-6, 100, 50, 6, 0.96
Step = Callable[[np.ndarray | None], tuple[np.ndarray, np.ndarray]]
"""Sets a configuration (or goes one step on, for None) and gives the frame's pose and the configuration."""


def search(target: np.ndarray, advance: Step, starts: list[np.ndarray]) -> tuple[bool, int]:
    """The loop around a peer's step: whether it reached the target, and the steps it took."""
    steps = 0
    for start in starts:
        pose, _ = advance(start)
        mark, waited = np.inf, 0
        for _ in range(STEPS):
            position = float(np.linalg.norm(target[:3, 3] - pose[:3, 3]))
            rotation = float(np.linalg.norm(so3.log(target[:3, :3] @ pose[:3, :3].T)))
            if max(position, rotation) < TOLERANCE:
                return True, steps
            square = position**2 + rotation**2
            mark, waited = (square, 0) if square < PROGRESS * mark else (mark, waited + 1)
            if waited > PATIENCE:
                break
            pose, _ = advance(None)
            steps += 1
    return False, steps


def pink_step(damping: float) -> Callable[[np.ndarray], Step]:
    """Pink, with Pinocchio."""
    import pink
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(packaged_path("arm")))
    data, limit = model.createData(), pink.limits.ConfigurationLimit(model, config_limit_gain=0.95)
    configuration = pink.Configuration(model, data, pin.neutral(model))

    def toward(target: np.ndarray) -> Step:
        task = pink.tasks.FrameTask("tool", position_cost=1.0, orientation_cost=1.0, lm_damping=damping)
        task.set_target(pin.SE3(target))

        def advance(q: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
            if q is not None:
                configuration.update(q)
            else:
                v = pink.solve_ik(configuration, [task], 1.0, "daqp", limits=[limit], safety_break=False)
                configuration.integrate_inplace(v, 1.0)
            return configuration.get_transform_frame_to_world("tool").homogeneous, configuration.q

        return advance

    return toward


def mink_step(damping: float) -> Callable[[np.ndarray], Step]:
    """mink, with MuJoCo."""
    import mink
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(packaged_path("arm")))
    limit = mink.ConfigurationLimit(model)
    configuration = mink.Configuration(model)

    def toward(target: np.ndarray) -> Step:
        task = mink.FrameTask("tool", "body", position_cost=1.0, orientation_cost=1.0, lm_damping=damping)
        task.set_target(mink.SE3.from_matrix(target))

        def advance(q: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
            if q is not None:
                configuration.update(q)
            else:
                v = mink.solve_ik(configuration, [task], 1.0, "daqp", limits=[limit])
                configuration.integrate_inplace(v, 1.0)
            return configuration.get_transform_frame_to_world("tool", "body").as_matrix(), configuration.q

        return advance

    return toward


def report(name: str, solved: int, steps: int, times: list[float]) -> None:
    """A line of the table."""
    ms = 1e3 * np.array(times)
    count = len(times)
    print(
        f"{name:28} {100 * solved / count:6.1f} % {steps / count:8.1f} {np.median(ms):9.3f} ms {ms.mean():9.3f} ms "
        f"{np.percentile(ms, 99):9.3f} ms",
        flush=True,
    )


def main(count: int) -> None:
    """Prints the table."""
    robot, rng = wbc.load("arm", "numpy"), np.random.default_rng(0)
    targets = []
    for _ in range(count):
        robot.update(robot.random(rng))
        targets.append(robot.pose("tool").copy())
    print(f"{count} poses{'':18} {'solved':>8} {'steps':>8} {'median':>12} {'mean':>12} {'99 %':>12}")
    backends = ["numpy"] + ["pinocchio"] * (importlib.util.find_spec("pinocchio") is not None)
    for backend in backends:
        ik = InverseKinematics(wbc.load("arm", backend), "tool", restarts=RESTARTS)  # type: ignore[arg-type]
        times, solved, steps = [], 0, 0
        for target in targets:
            began = time.perf_counter()
            solution = ik.solve(target)
            times.append(time.perf_counter() - began)
            solved += solution.solved
            steps += solution.iterations
        report(f"wbc on {backend}", solved, steps, times)
    nominal = np.array(robot.model.nominal)
    draw = np.random.default_rng(0)
    starts = [nominal, *(robot.random(draw) for _ in range(RESTARTS))]
    for name, module, make, damping in (
        ("Pink", "pink", pink_step, 3e-2),
        ("mink", "mink", mink_step, 3e-2),
    ):
        if importlib.util.find_spec(module) is None:
            print(f"{name:28} is not installed")
            continue
        toward = make(damping)
        times, solved, steps = [], 0, 0
        for target in targets:
            began = time.perf_counter()
            done, taken = search(target, toward(target), starts)
            times.append(time.perf_counter() - began)
            solved += done
            steps += taken
        report(name, solved, steps, times)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
