"""Draws how three solvers behave near a singularity, for docs/pulls.md: docs/pictures/pulls.png.

usage: python scripts/draw_pulls.py [FOLDER]
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import tasks
import wbc
from wbc.arrays import Array

DEMAND = 10.0
"""Acceleration of the hand along the arm, m/s²."""

TICKS = 60
"""Ticks in each state: the multipliers of the elastic solver converge in fewer."""

SOLVERS: dict[str, tuple[Callable[[], wbc.solvers.Solver], str]] = {
    "hierarchical-qp: exact": (wbc.solvers.HierarchicalQP, "C0"),
    "weighted-qp, 100 : 1": (lambda: wbc.solvers.WeightedQP(ratio=100.0), "C1"),
    "elastic-qp: exact, with a bounded pull": (wbc.solvers.ElasticQP, "C2"),
}


def states() -> list[Array]:
    """The packaged arm, ever closer to straight: shape (7,) each, rad."""
    found = []
    for bend in np.logspace(-3.5, 0.0, 80):
        q = np.zeros(7)
        q[1], q[3], q[5] = 0.3 * bend, bend, bend
        found.append(q)
    return found


def measure(robot: wbc.Dynamics, solver: wbc.solvers.Solver, q: Array) -> tuple[float, float, float]:
    """σ of the hand's position, m/rad; the norm of the joint accelerations, rad/s²; what the hand misses, m/s²."""
    robot.update(q)
    U, sizes, _ = np.linalg.svd(robot.jacobian("tool")[:3])
    along = U[:, 2] * np.sign(U[2, 2])
    demand = [*(DEMAND * along), 0.0, 0.0, 0.0]
    hand = tasks.EndEffectorAcceleration("tool", acceleration=demand, axes="position", name="hand")
    posture = tasks.JointAcceleration(q, gains=wbc.Gains(1.0), name="posture")
    free = wbc.Rows.between(np.full(robot.nv, -1e9), np.full(robot.nv, 1e9), acceleration=np.eye(robot.nv))
    first = tasks.Rows(lambda robot, tick: free, "first")  # without effect: weighted-qp keeps its first level exact
    stack = wbc.Stack(tasks.EquationOfMotion() / first / hand / posture)
    controller = wbc.Controller(robot, stack, solver, actuator_limits=False)
    for tick in range(TICKS):
        solution = controller.step(q, np.zeros(robot.nv), 1e-3 * tick)
    missed = np.linalg.norm(solution.levels[2].residual["hand"])
    return float(sizes[-1]), float(np.linalg.norm(solution.acceleration)), float(missed)


def main() -> None:
    """Writes the picture."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", wbc.WbcWarning)  # the stack has no limits: solvers are shown as they are
    robot = wbc.load("arm", "numpy")
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for label, (make, color) in SOLVERS.items():
        sigma, acceleration, missed = np.array([measure(robot, make(), q) for q in states()]).T
        left.loglog(sigma, acceleration, color=color, label=label)
        right.semilogx(sigma, 100.0 * missed / DEMAND, color=color, label=label)
    for axes in (left, right):
        axes.set_xlabel("least singular value σ of the hand's Jacobian, m/rad (← straight arm)")
        axes.grid(alpha=0.3)
    left.set(title="joint acceleration for 10 m/s² of the hand along the arm", ylabel="rad/s²")
    right.set(title="what the hand misses", ylabel="% of 10 m/s²")
    left.legend(fontsize=9)
    figure.savefig(folder / "pulls.png", dpi=80)


if __name__ == "__main__":
    main()
