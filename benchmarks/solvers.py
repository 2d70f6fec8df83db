"""Time the solvers on random walks of the size of a controller's problem, warm and cold, beside one DAQP call.

``OMP_NUM_THREADS=1 python benchmarks/solvers.py [ticks]``. Medians; "steady" is the median over the ticks whose active
set is the last one's. The DAQP call is one QP of the same unknowns and inequalities, all tasks as one weighted
objective: what a controller without priorities would solve.
"""

from __future__ import annotations

import sys
from time import perf_counter

import daqp
import numpy as np

from wbc.solvers import Hierarchy, make_solver


def walk(
    unknowns: int, contacts: int, joints: int, tasks: list[int], ticks: int, torque_limit: float
) -> list[Hierarchy]:
    """Friction cones of `contacts` points and `joints` torque bounds on level 0, then equality levels; all drift."""
    rng = np.random.default_rng(0)
    cone = np.array([[1, 0, -0.6], [-1, 0, -0.6], [0, 1, -0.6], [0, -1, -0.6], [0, 0, -1.0]])
    forces = rng.standard_normal((3 * contacts, unknowns)) / np.sqrt(unknowns)
    middle = np.tile([0.0, 0.0, 1.0], contacts)
    torque = rng.standard_normal((joints, unknowns)) / np.sqrt(unknowns)
    rows = [rng.standard_normal((m, unknowns)) for m in tasks[:-1]]
    rows.append(np.eye(tasks[-1], unknowns) + 0.05 * rng.standard_normal((tasks[-1], unknowns)))
    target = [rng.standard_normal(m) * 1.5 for m in tasks]
    laid = []
    for _ in range(ticks):
        forces += 1e-3 * rng.standard_normal(forces.shape)
        torque += 1e-3 * rng.standard_normal(torque.shape)
        for k in range(len(tasks)):
            rows[k] = rows[k] + 1e-3 * rng.standard_normal(rows[k].shape)
            target[k] = 0.999 * target[k] + 0.02 * rng.standard_normal(len(target[k]))
        problem = Hierarchy([5 * contacts + joints, *tasks], unknowns)
        top = np.vstack([cone @ forces[3 * i : 3 * i + 3] for i in range(contacts)] + [torque])
        problem.A[: len(top)] = top
        reach = np.concatenate([-(cone @ middle[:3]) for _ in range(contacts)])
        problem.upper[: 5 * contacts] = reach
        problem.lower[5 * contacts : len(top)], problem.upper[5 * contacts : len(top)] = -torque_limit, torque_limit
        problem.A[len(top) :] = np.vstack(rows)
        problem.lower[len(top) :] = problem.upper[len(top) :] = np.concatenate(target)
        laid.append(problem)
    return laid


def one_qp(problem: Hierarchy) -> float:
    """Seconds of one DAQP call: level 0 as constraints, the rest as one objective."""
    m = problem.starts[1]
    A, b = problem.A[m:], problem.lower[m:]
    H, f = A.T @ A + 1e-6 * np.eye(A.shape[1]), -A.T @ b
    args = (H, f, problem.A[:m].copy(), problem.upper[:m].copy(), np.maximum(problem.lower[:m], -1e30))
    sense = np.zeros(m, dtype=np.int32)
    began = perf_counter()
    daqp.solve(*args, sense)
    return perf_counter() - began


def main() -> None:
    """Print the table."""
    ticks = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    scenes = {
        "quadruped": {"unknowns": 12, "contacts": 4, "joints": 24, "tasks": [6, 12, 12], "torque_limit": 1.2},
        "humanoid": {"unknowns": 30, "contacts": 8, "joints": 64, "tasks": [6, 6, 26, 30], "torque_limit": 0.25},
    }
    for scene, size in scenes.items():
        problems = walk(**size, ticks=ticks)  # type: ignore[arg-type]
        base = float(np.median([one_qp(problem) for problem in problems])) * 1e6
        rows, unknowns = problems[0].A.shape
        print(f"{scene}: {unknowns} unknowns, {rows} rows, {ticks} ticks; one DAQP call {base:.1f} us")
        for name in ("hierarchical-qp", "nullspace", "operational-space", "weighted-qp", "sequential-qp"):
            for start in ("warm", "cold") if name == "hierarchical-qp" else ("",):
                solver = make_solver(name)
                times, steady, held, steps, last = [], [], [], [], None
                for problem in problems:
                    if start == "cold":
                        solver.reset()  # type: ignore[attr-defined]
                    began = perf_counter()
                    answer = solver.solve(problem)
                    times.append((perf_counter() - began) * 1e6)
                    active = tuple(level.active.items() for level in answer.levels[:1])
                    active = tuple(tuple(items) for items in active)
                    if active == last:
                        steady.append(times[-1])
                    last = active
                    held.append(sum(len(items) for items in active))
                    steps.append(answer.iterations)
                line = (
                    f"  {name:18s}{start:5s} median {np.median(times):8.1f} us  99 % {np.percentile(times, 99):8.1f} us"
                )
                if start == "warm":
                    line += f"  steady {np.median(steady):6.1f} us ({len(steady)} ticks)"
                print(
                    f"{line}  {np.median(times) / base:5.1f} x daqp  "
                    f"steps {np.mean(steps):.2f}  held {np.mean(held):.1f}"
                )


if __name__ == "__main__":
    main()
