"""Many robots of one kind, each with its own state, under copies of one controller."""

from __future__ import annotations

import contextlib
import copy
import itertools
import multiprocessing
import os
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from wbc import compiled
from wbc.arrays import Array, ArrayLike, numbers
from wbc.control.protocol import TorqueController
from wbc.control.solution import Solution
from wbc.errors import WbcError, show, unknown_name

WORKERS = ("threads", "processes")


@dataclass(frozen=True)
class BatchSolution:
    """The answers of a tick of many robots.

    Attributes:
        torque: τ, N m or N, shape (count, na).
        acceleration: v̇ that is expected, shape (count, nv).
        status: of each, "optimal", "relaxed" or "failed".
        solutions: of each, with all that is known about it; empty where other processes found them.
    """

    torque: Array
    acceleration: Array
    status: tuple[str, ...]
    solutions: tuple[Solution, ...] = ()

    def __len__(self) -> int:
        return len(self.status)


class Batch:
    """Steps many robots of one kind with one call: the same numbers as a loop of `controller.step`.

    Each robot has a copy of the controller and its stack, which remembers what its own robot did. Functions that are
    targets of tasks are shared by the copies. To be used in a `with`, or closed when it is done.

    Args:
        controller: of one robot; it is not used itself.
        count: of the robots.
        jobs: threads or processes; None: one a core.
        workers: "threads", "processes", or None for threads where the compiled kernel is there and processes where it
            is not. Processes are forked: stacks may hold functions of any kind, and can't be changed afterwards.

    Attributes:
        controllers: the copies, to change targets and weights of one robot; empty with processes.
        jobs: threads or processes.
        workers: "threads" or "processes".
    """

    def __init__(
        self,
        controller: TorqueController,
        count: int,
        *,
        jobs: int | None = None,
        workers: Literal["threads", "processes"] | None = None,
    ) -> None:
        if not isinstance(controller, TorqueController):
            raise WbcError(f"a batch needs a controller of torques, such as a wbc.Controller, not {show(controller)}")
        self._count, jobs = _whole(count, "count"), _whole(_cores() if jobs is None else jobs, "jobs")
        workers = workers or ("processes" if compiled.kernel is None else "threads")
        if workers not in WORKERS:
            raise unknown_name("kind of workers", workers, WORKERS)
        self.jobs, self.workers = min(jobs, self._count), workers
        self._sizes = controller.robot.nq, controller.robot.nv, controller.robot.na
        copies = [copy.deepcopy(controller) for _ in range(count)]
        for one in copies:
            one.reset()
        bounds = np.linspace(0, count, self.jobs + 1).round().astype(int)
        self._parts = [slice(int(first), int(last)) for first, last in itertools.pairwise(bounds)]
        self.controllers: tuple[TorqueController, ...] = ()
        self._pool: ThreadPoolExecutor | None = None
        self._children: list[tuple[Any, Any]] = []
        if workers == "threads":
            self.controllers = tuple(copies)
            self._pool = ThreadPoolExecutor(self.jobs, "wbc-batch")
        else:
            self._fork(copies)

    def __len__(self) -> int:
        return self._count

    def step(self, q: ArrayLike, v: ArrayLike, t: float | None = None) -> BatchSolution:
        """One tick of each robot: see `Controller.step`.

        Args:
            q: configurations, shape (count, nq).
            v: velocities, shape (count, nv).
            t: time, s; None: a period after the last tick.
        """
        states = []
        for name, given, size in (("q", q, self._sizes[0]), ("v", v, self._sizes[1])):
            states.append(numbers(given, name))
            if states[-1].shape != (self._count, size):
                raise WbcError(f"{name} has the shape {states[-1].shape}, not {(self._count, size)}: a row a robot")
        if self._pool is None:
            return self._in_processes(states[0], states[1], t)
        jobs = [
            self._pool.submit(_steps, self.controllers[part], states[0][part], states[1][part], t)
            for part in self._parts
        ]
        found = [solution for job in jobs for solution in job.result()]
        return BatchSolution(
            np.array([solution.torque for solution in found]),
            np.array([solution.acceleration for solution in found]),
            tuple(solution.status for solution in found),
            tuple(found),
        )

    def close(self) -> None:
        """Ends threads and processes."""
        if self._pool is not None:
            self._pool.shutdown()
        for process, pipe in self._children:
            with contextlib.suppress(OSError):  # it may have ended already
                pipe.send(None)
            process.join()
            pipe.close()
        self._children = []

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _fork(self, copies: Sequence[TorqueController]) -> None:
        """Starts the processes, each with its part of the robots."""
        if "fork" not in multiprocessing.get_all_start_methods():
            raise WbcError("this system can't fork processes: workers='threads'")
        context = multiprocessing.get_context("fork")
        for part in self._parts:
            mine, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(copies[part], theirs, os.getpid()), daemon=True)
            process.start()
            theirs.close()
            self._children.append((process, mine))

    def _in_processes(self, q: Array, v: Array, t: float | None) -> BatchSolution:
        if not self._children:
            raise WbcError("the batch is closed")
        for (_, pipe), part in zip(self._children, self._parts, strict=True):
            pipe.send((q[part], v[part], t))
        found = []
        for number, (_, pipe) in enumerate(self._children):
            try:
                found.append(pipe.recv())
            except EOFError:
                raise WbcError(f"process {number} of the batch ended") from None
        wrong = next((one for one in found if isinstance(one, Exception)), None)
        if wrong is not None:
            raise wrong
        torque, acceleration, status = zip(*found, strict=True)
        return BatchSolution(
            np.concatenate(torque), np.concatenate(acceleration), tuple(s for part in status for s in part)
        )


def _steps(controllers: Sequence[TorqueController], q: Array, v: Array, t: float | None) -> list[Solution]:
    """A tick of some of the robots."""
    return [one.step(q[row], v[row], t) for row, one in enumerate(controllers)]


def _serve(controllers: Sequence[TorqueController], pipe: Any, parent: int) -> None:  # noqa: ANN401
    """What a process does: ticks of its robots, until it is told to end, or its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    while True:
        while not pipe.poll(1.0):  # its end would not be seen: processes that were forked later hold the pipe as well
            if os.getppid() != parent:
                return
        asked = pipe.recv()
        if asked is None:
            return
        try:
            q, v, t = asked
            found = _steps(controllers, q, v, t)
            answer: object = (
                np.array([one.torque for one in found]),
                np.array([one.acceleration for one in found]),
                [one.status for one in found],
            )
        except Exception as error:  # it is raised where it was asked for
            answer = error
        pipe.send(answer)


def _whole(value: object, what: str) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise WbcError(f"{what} = {show(value)} must be a whole number, 1 or more")
    return int(value)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
