"""What a tick of the loop for hardware takes by itself, whatever else the machine does.

The same run, again and again: of each tick the least time counts, as what disturbs one run seldom disturbs the same
tick of all. `benchmarks.hardware` is the loop in real time, with what the machine adds.

usage: OMP_NUM_THREADS=1 python -m benchmarks.loop_cost [RUNS [SECONDS]]
"""

from __future__ import annotations

import sys
import time

import numpy as np

import wbc
from benchmarks.trotting import SETTLE, Trotting
from wbc.estimation import BaseEstimator
from wbc.realtime import Command, PlantIO, SensorErrors, State, SteppedClock, run


class Timed(PlantIO):
    """A plant, and when each of its states was handed out and answered, s."""

    def __init__(self, *given: object, **options: object) -> None:
        super().__init__(*given, **options)  # type: ignore[arg-type]
        self.moments: list[list[float]] = []

    def read(self) -> State:
        """See `RobotIO`."""
        state = super().read()
        self.moments.append([time.perf_counter(), np.nan])
        return state

    def write(self, command: Command) -> None:
        """See `RobotIO`."""
        self.moments[-1][1] = time.perf_counter()
        super().write(command)


def times(seconds: float) -> np.ndarray:
    """From state to command of each tick of a trot, s."""
    made = Trotting("numpy")
    robot = made.controller.robot
    io = Timed(wbc.MujocoSimulator(robot), errors=SensorErrors.usual(), seed=1)
    estimator = BaseEstimator(robot, level=5e-3)
    run(made.controller, io, seconds, estimator=estimator, clock=SteppedClock(), targets=made.steer, rehearsal=3.0)
    taken = np.diff(np.array(io.moments), axis=1).ravel()
    return taken[np.isfinite(taken)][1:]  # before the first one the loop waits for a newer state


def main(runs: int = 5, seconds: float = SETTLE + 5.0) -> None:
    """Prints the distribution of the least times."""
    found = [times(seconds) for _ in range(runs)]
    assert len({len(one) for one in found}) == 1, "the runs are not the same"
    least = 1e6 * np.min(found, axis=0)
    shares = ", ".join(f"{np.percentile(least, share):.0f} at {share:g} %" for share in (50, 99, 99.9))
    print(
        f"from state to command, {len(least)} ticks, the least of {runs} runs: {shares}, {least.max():.0f} us at most"
    )


if __name__ == "__main__":
    main(*(kind(word) for kind, word in zip((int, float), sys.argv[1:], strict=False)))
