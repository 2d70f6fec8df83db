"""How long `controller.step` takes: standing robots under every solver and backend."""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections import Counter
from dataclasses import dataclass

import numpy as np

import tasks
import wbc
from wbc import compiled
from wbc.arrays import Array
from wbc.control.controller import Controller
from wbc.errors import WbcError, WbcWarning

WARM_UP = 50
"""Ticks that are not counted."""

VELOCITIES = 50
"""Different velocities around the pose: the active set changes from tick to tick."""


@dataclass(frozen=True, eq=False)
class Timing:
    """The ticks of one controller.

    Attributes:
        scene: what it stands in: the name of a robot, say.
        solver: its name.
        backend: its name.
        times: of ticks, s, shape (ticks,).
        parts: medians of where the time went, s: backend, tasks, solver, and the rest; shape (4,).
        statuses: of solutions, and how many there were.
        steps: median of the solver's inner steps.
    """

    scene: str
    solver: str
    backend: str
    times: Array
    parts: Array
    statuses: Counter[str]
    steps: float


def backends() -> list[str]:
    """The backends that are installed, fastest first."""
    known = {"pinocchio": "pinocchio", "numpy": "numpy", "mujoco": "mujoco"}
    return [name for name, module in known.items() if importlib.util.find_spec(module)]


def runs_on() -> str:
    """What a solver or backend that has a compiled twin runs on here."""
    return "the compiled kernel" if compiled.kernel is not None else "numpy (no compiled kernel)"


def interruptions() -> int:
    """How often another program has taken the processor from this thread; 0 where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(getattr(resource, "RUSAGE_THREAD", resource.RUSAGE_SELF)).ru_nivcsw


class Stopwatch:
    """Times something; what other programs take of the processor meanwhile does not count."""

    def start(self) -> None:
        """Begin."""
        self._before, self._spent = interruptions(), time.thread_time()
        self._began = time.perf_counter()

    def stop(self) -> float:
        """The time since the beginning, s; where there was an interruption, this thread's time on the processor."""
        taken = time.perf_counter() - self._began
        return taken if interruptions() == self._before else min(taken, time.thread_time() - self._spent)


def standing(name: str, backend: str, solver: str) -> tuple[Controller, Array]:
    """A robot in its nominal configuration, on its feet if it has any, and what holds it there.

    Args:
        name: of a packaged robot, or a URDF or MJCF file.
        backend: see `wbc.load`.
        solver: see `wbc.Controller`.

    Returns:
        The controller, and the configuration, shape (nq,).
    """
    robot = wbc.load(name, backend)  # type: ignore[arg-type]  # a wrong name is told
    feet: list[wbc.Contact] = [
        wbc.SurfaceContact(foot, 0.6) if foot in robot.model.soles else wbc.PointContact(foot, 0.6)
        for foot in robot.model.feet
    ]
    held = "base" if robot.model.floating else next(iter(robot.model.hands), robot.frames[-1])
    limits = tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion()
    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / (limits if feet else tasks.TorqueLimits())
        / tasks.EndEffectorAcceleration(held)
        / tasks.JointAcceleration()
        / tasks.TorqueMinimization(),
        contacts=feet,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WbcWarning)  # of inequalities that a solver ignores
        return Controller(robot, stack, solver), np.array(robot.model.nominal)


def measure(scene: str, solver: str, backend: str, controller: Controller, q: Array, ticks: int) -> Timing:
    """Times ticks of a controller at random velocities around a configuration.

    What another program takes of the processor meanwhile is not counted, see `Stopwatch`.

    Args:
        scene: for the timing.
        solver: for the timing.
        backend: for the timing.
        controller: as it is.
        q: configuration, shape (nq,).
        ticks: that are counted.
    """
    if ticks < 1:
        raise WbcError(f"ticks = {ticks} must be one or more")
    rng = np.random.default_rng(0)
    velocities = 0.1 * rng.normal(size=(VELOCITIES, controller.robot.nv))
    times, parts, steps, watch = [], [], [], Stopwatch()
    statuses: Counter[str] = Counter()
    with wbc.single_threaded():
        for tick in range(WARM_UP + ticks):
            v = velocities[tick % VELOCITIES]
            watch.start()
            solution = controller.step(q, v, controller.period * tick)
            times.append(watch.stop())
            parts.append(solution.time)
            statuses[solution.status] += 1
            steps.append(solution.iterations)
    shares = np.median(np.array(parts[WARM_UP:]), axis=0)
    shares[3] -= shares[:3].sum()
    return Timing(scene, solver, backend, np.array(times[WARM_UP:]), shares, statuses, float(np.median(steps)))
