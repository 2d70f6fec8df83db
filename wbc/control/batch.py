"""Many robots of one kind, each with its own state, under copies of one controller."""

from __future__ import annotations

import contextlib
import copy
import itertools
import mmap
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.control.protocol import TorqueController
from wbc.control.solution import Solution
from wbc.control.solving import Status
from wbc.copies import Unique
from wbc.errors import WbcError, show, unknown_name

WORKERS = ("threads", "processes")
END = b"end"
"""The last message to a process."""

STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True)
class BatchSolution:
    """The answers of a tick of many robots.

    Attributes:
        torque: τ, N m or N, shape (count, na).
        acceleration: expected v̇, m/s² and rad/s², shape (count, nv).
        status: of each, "optimal", "relaxed" or "failed".
        the full solution of each robot; empty if other processes solved them.
    """

    torque: Array
    acceleration: Array
    status: tuple[str, ...]
    solutions: tuple[Solution, ...] = ()

    def __len__(self) -> int:
        return len(self.status)


class Batch(Unique):
    """Steps many robots of one kind with one call: the same numbers as a loop of `controller.step`.

    Each robot has a copy of the controller and its stack, which remembers what its own robot did. Functions that are
    targets of tasks are shared by the copies. Use it in a `with` statement, or call `close` at the end.

    Args:
        controller: for one robot; the batch uses copies of it.
        count: of the robots.
        jobs: threads or processes, the caller's among them; None: one a core.
        workers: "processes", "threads", or None for processes where there is more than one job and this system can
            fork. Most of a tick is Python, of which a process runs one thread at a time: threads are no faster than a
            loop. Processes are forked: stacks may hold functions of any kind, and can't be changed afterwards.

    Attributes:
        controllers: the copies, to change targets and weights of one robot; empty with processes.
        jobs: threads or processes.
        workers: "threads" or "processes".
    """

    held = "threads or processes"

    def __init__(
        self,
        controller: TorqueController,
        count: int,
        *,
        jobs: int | None = None,
        workers: Literal["threads", "processes"] | None = None,
    ) -> None:
        if not isinstance(controller, TorqueController):
            raise WbcError(f"a batch needs a torque controller, such as a wbc.Controller, not {show(controller)}")
        self._count, jobs = _whole(count, "count"), _whole(_cores() if jobs is None else jobs, "jobs")
        self.jobs = min(jobs, self._count)
        forks = "fork" in multiprocessing.get_all_start_methods()
        workers = workers or ("processes" if self.jobs > 1 and forks else "threads")
        if workers not in WORKERS:
            raise unknown_name("kind of workers", workers, WORKERS)
        if workers == "processes" and not forks:
            raise WbcError("this system can't fork processes: workers='threads'")
        self.workers = workers
        self._sizes = controller.robot.nq, controller.robot.nv, controller.robot.na
        copies = [copy.deepcopy(controller) for _ in range(count)]
        for one in copies:
            one.reset()
        bounds = np.linspace(0, count, self.jobs + 1).round().astype(int)
        self._parts = [slice(int(first), int(last)) for first, last in itertools.pairwise(bounds)]
        self._mine: Sequence[TorqueController] = copies[self._parts[0]]
        self._pool: ThreadPoolExecutor | None = None
        self._children: list[tuple[Any, Any]] = []
        self._open = True
        self.controllers: tuple[TorqueController, ...] = ()
        if workers == "processes":
            self._board = _Board(self._count, *self._sizes)
            self._fork(copies)
        else:
            self.controllers = tuple(copies)
            if self.jobs > 1:
                self._pool = ThreadPoolExecutor(self.jobs - 1, "wbc-batch")

    def __reduce_ex__(self, protocol: Any) -> Any:  # noqa: ANN401  as in `object`
        return object.__reduce_ex__(self, protocol) if self.jobs == 1 else super().__reduce_ex__(protocol)

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
                raise WbcError(f"{name} has the shape {states[-1].shape}, not {(self._count, size)}: one row per robot")
        if not self._open:
            raise WbcError("the batch is closed")
        q, v = states
        if self.workers == "processes":
            return self._in_processes(q, v, t)
        others = [
            self._pool.submit(_steps, self.controllers[part], q[part], v[part], t)  # type: ignore[union-attr]
            for part in self._parts[1:]
        ]
        try:
            found = _steps(self._mine, q[self._parts[0]], v[self._parts[0]], t)
        finally:  # wait for all robots, also if one of them failed
            answers = [(other.exception(), other) for other in others]
        found += [solution for _, other in answers for solution in other.result()]
        return BatchSolution(
            np.array([solution.torque for solution in found]),
            np.array([solution.acceleration for solution in found]),
            tuple(solution.status for solution in found),
            tuple(found),
        )

    def close(self) -> None:
        """Ends threads and processes."""
        self._open = False
        if self._pool is not None:
            self._pool.shutdown()
        for process, pipe in self._children:
            with contextlib.suppress(OSError):  # it may have ended already
                pipe.send_bytes(END)
            process.join()
            pipe.close()
        self._children = []

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _fork(self, copies: Sequence[TorqueController]) -> None:
        """Starts the processes, each with its part of the robots; the first part stays here."""
        context = multiprocessing.get_context("fork")
        for part in self._parts[1:]:
            mine, theirs = context.Pipe()
            process = context.Process(
                target=_serve, args=(copies[part], part, self._board, theirs, os.getpid()), daemon=True
            )
            process.start()
            theirs.close()
            self._children.append((process, mine))

    def _in_processes(self, q: Array, v: Array, t: float | None) -> BatchSolution:
        board = self._board
        board.q[:], board.v[:] = q, v
        asked = pickle.dumps(t)
        for number, (_, pipe) in enumerate(self._children):
            try:
                pipe.send_bytes(asked)
            except OSError:
                raise self._lost(number) from None
        errors: list[Exception] = []
        try:
            board.step(self._mine, self._parts[0], t)
        except Exception as error:  # the others have begun: their answers are waited for
            errors.append(error)
        for number, (_, pipe) in enumerate(self._children):
            try:
                answer = pipe.recv_bytes()
            except (EOFError, OSError):
                raise self._lost(number) from None
            if answer:
                errors.append(pickle.loads(answer))
        if errors:
            raise errors[0]
        status = tuple(STATUSES[code] for code in board.status)
        return BatchSolution(board.torque.copy(), board.acceleration.copy(), status)

    def _lost(self, number: int) -> WbcError:
        """The error for a process that has ended; the batch can't be used any more."""
        self.close()
        return WbcError(f"process {number + 1} of the batch ended; it is closed")


class _Board:
    """What processes share: states in, answers out, a row a robot.

    Args:
        count: robots.
        nq: entries of q.
        nv: of v.
        na: of τ.
    """

    def __init__(self, count: int, nq: int, nv: int, na: int) -> None:
        sizes = (nq, nv, na, nv)
        # of nobody but this process and those that are forked from it; it is gone with them
        memory = mmap.mmap(-1, 8 * count * sum(sizes) + count)
        numbers_of = np.frombuffer(memory, float, count * sum(sizes))
        ends = np.cumsum([0, *(count * size for size in sizes)])
        self.q, self.v, self.torque, self.acceleration = (
            numbers_of[first:last].reshape(count, size)
            for (first, last), size in zip(itertools.pairwise(ends), sizes, strict=True)
        )
        self.status = np.frombuffer(memory, np.int8, count, 8 * count * sum(sizes))

    def step(self, controllers: Sequence[TorqueController], part: slice, t: float | None) -> None:
        """A tick of some of the robots.

        Args:
            controllers: theirs.
            part: which rows they are.
            t: time, s.
        """
        for row, solution in enumerate(_steps(controllers, self.q[part], self.v[part], t), part.start):
            self.torque[row], self.acceleration[row] = solution.torque, solution.acceleration
            self.status[row] = STATUSES.index(solution.status)


def _steps(controllers: Sequence[TorqueController], q: Array, v: Array, t: float | None) -> list[Solution]:
    """A tick of some of the robots."""
    return [one.step(q[row], v[row], t) for row, one in enumerate(controllers)]


def _serve(controllers: Sequence[TorqueController], part: slice, board: _Board, pipe: Any, parent: int) -> None:  # noqa: ANN401
    """What a process does: ticks of its robots, until it is told to end, or its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    while (asked := pipe.recv_bytes()) != END:
        answer = b""
        try:
            board.step(controllers, part, pickle.loads(asked))
        except Exception as error:  # it is raised where it was asked for
            try:
                answer = pickle.dumps(error)
            except Exception:  # it holds something that can't be sent
                answer = pickle.dumps(WbcError(f"{type(error).__name__}: {error}"))
        pipe.send_bytes(answer)


def _watch(parent: int) -> None:
    """Ends a process whose parent has died: later forks hold the pipe open, so its end can't be seen there."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(0)


def _whole(value: object, what: str) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise WbcError(f"{what} = {show(value)} must be a whole number, 1 or more")
    return int(value)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
