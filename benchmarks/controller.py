"""The cost of `controller.step` for each solver on the scenes of the peers, beside the peers.

usage: PEERS=DIR python -m benchmarks.controller   (`make bench` runs it)

DIR is made by `sh benchmarks/peers/setup.sh DIR`. A tick has one of 50 random velocities around the standing pose, as
the peers' ticks have: the active set changes from tick to tick.
"""

from __future__ import annotations

from benchmarks import beside
from benchmarks.daqp_hierarchy import DaqpHierarchy, Judged
from benchmarks.scenes import PEERS, peer
from benchmarks.ticks import Measured, Ticks, tell
from wbc.application import bench
from wbc.solvers import Solver, solver_names

DAQP = "DAQP's hierarchy"


def measure() -> Measured:
    """Ticks by scene, and by peer and solver."""
    found, others = {}, beside.measure()
    for scene in PEERS:
        rows = found[scene] = dict(others.get(scene, {}))
        for name in (*solver_names(), DAQP):
            solver: str | Solver = DaqpHierarchy() if name == DAQP else name
            controller, q = peer(scene, "pinocchio", solver)
            ticks = 2950 if controller.solver.plan_levels(1) is not None else 250  # few where a tick is long
            timing = bench.measure(scene, name, "pinocchio", controller, q, ticks)
            rows[name] = Ticks.of(timing.times)
    return found


def judge() -> dict[str, tuple[float, float]]:
    """By scene: the worst gap to the optimum of any level in 50 states, of DAQP's hierarchy and of the exact solver."""
    found = {}
    for scene in PEERS:
        judged = Judged()
        controller, q = peer(scene, "pinocchio", judged)
        bench.measure(scene, "judged", "pinocchio", controller, q, 1)  # 50 states to warm up, and one more
        found[scene] = max(judged.gaps[0]), max(judged.gaps[1])
    return found


if __name__ == "__main__":
    print(f"hierarchical-qp and weighted-qp run on {bench.runs_on()}")
    tell(measure())
    for scene, (theirs, ours) in judge().items():
        print(f"{scene}: a level is off its optimum by up to {theirs:.1e} ({DAQP}), {ours:.1e} (hierarchical-qp)")
