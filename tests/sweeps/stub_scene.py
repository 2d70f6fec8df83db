"""A scene that costs nothing: nothing is simulated, and it goes wrong where it is told to."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from wbc.simulation import Log

TICKS = 3


class Stub:
    """A `wbc.simulation.Runnable` whose log is made up."""

    robot, period, duration, disturbances, phases, figures = None, 1e-3, TICKS * 1e-3, (), (), None

    def __init__(self, x, seed, way):
        self.x, self.seed, self.way = x, seed, way

    def run(self, duration=None, period=None, record=None, progress=None, until=None):
        value = np.random.default_rng([self.seed, int(1e6 * abs(self.x))]).normal(size=(TICKS, 1))
        if record is not None:
            Path(record).write_bytes(b"a log")
        if self.way == "hang in the run":
            time.sleep(1e6)
        none, free = np.zeros((TICKS, 0, 3)), np.full(TICKS, np.inf)
        ticks = self.period * np.arange(TICKS)
        return Log(
            "stub", (), (), ticks, value, value, value, none, none, value, free, free + 0, ["optimal"] * TICKS,
            np.full(TICKS, 1e-5), "finished" if self.x >= 0 else "it blew up", value, value, {"x": value}, value,
        )  # fmt: skip


def scene(x=0.0, way="run", note="", seed=0, wait=0.0, y=0.0):
    """Runs, or goes wrong in the way that is asked for; `note` is a file that has a line for each time it ran."""
    if note:
        with Path(note).open("a") as file:
            file.write(f"{x:g} {os.getpid()}\n")
    if wait:  # to sleep for no time gives the processor away
        time.sleep(wait)
    if way == "raise":
        raise ValueError(f"x = {x} is not what I want")
    if way == "tell":
        raise ValueError(f"{os.environ['OPENBLAS_NUM_THREADS']} thread")
    if way == "leave":
        raise SystemExit(3)
    if way == "hang":
        while True:
            time.sleep(0.1)
    if way == "hang in C":
        sum(range(10**15))  # never comes back to the interpreter
    if way == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "die once" and len(Path(note).read_text().splitlines()) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    print("a scene may print")
    return Stub(x, seed, way)
