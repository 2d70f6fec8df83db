"""How much faster two processes are than one at arithmetic that shares nothing: what this machine has to give now.

Two cores that are shared with other programs, or with each other as threads of one core, are no twice. Figures of
processes are told beside this one, measured in turn with them.
"""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.connection import Connection


def arithmetic(seconds: float) -> float:
    """Rounds of whole-number arithmetic a second, in Python and in the first-level cache.

    Args:
        seconds: that it goes on.
    """
    began, rounds, x = time.perf_counter(), 0, 1
    while time.perf_counter() - began < seconds:
        for _ in range(1000):
            x = (1103515245 * x + 12345) % 2147483648
        rounds += 1
    return rounds / (time.perf_counter() - began)


def rate(jobs: int, seconds: float) -> float:
    """Rounds a second of several processes together.

    Args:
        jobs: processes.
        seconds: that they go on.
    """
    context = multiprocessing.get_context("fork")
    pipes = []
    for _ in range(jobs):
        mine, theirs = context.Pipe()
        context.Process(target=_answer, args=(theirs, seconds), daemon=True).start()
        pipes.append(mine)
    for pipe in pipes:
        pipe.recv()  # it is there
    for pipe in pipes:
        pipe.send(None)
    return float(sum(pipe.recv() for pipe in pipes))


def _answer(pipe: Connection, seconds: float) -> None:
    pipe.send(None)
    pipe.recv()
    pipe.send(arithmetic(seconds))
