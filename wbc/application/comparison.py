"""Other controllers on the states of a run: other solvers, or another backend."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from wbc.control.controller import Controller
from wbc.control.protocol import TorqueController
from wbc.control.solution import Solution
from wbc.errors import WbcError, WbcWarning
from wbc.simulation.log import Log
from wbc.simulation.runnable import Runnable
from wbc.simulation.scene import Scene


class Comparison:
    """One controller on the states of a run, against the one that ran it.

    Args:
        name: of what is compared.
        scene: with the controller; its plant is not used.

    Attributes:
        name: as given.
        scene: as given.
        torque: largest difference of a torque, N m.
        cost: largest difference of a level's cost, by level, relative to 1 + the cost, shape (levels,); NaN for a
            controller that is not judged by these levels.
        violated: names of the tasks whose inequalities it broke, and in how many ticks.
        times: of its ticks, s.
    """

    def __init__(self, name: str, scene: Scene) -> None:
        self.name, self.scene = name, scene
        self.torque = 0.0
        self.cost = np.zeros(len(scene.controller.stack))
        self.violated: dict[str, int] = {}
        self.times: list[float] = []

    def take(self, now: float, reference: Solution, runs: TorqueController | None = None) -> None:
        """Shows a tick of the run to the controller: every tick, so that its gait, ramps and active set keep up.

        Args:
            now: s.
            reference: what the controller that runs found.
            runs: that controller, whose measured forces are told to this one; None: there are none.
        """
        controller, targets = self.scene.controller, self.scene.targets
        if targets is not None:
            targets(now, controller)
        if isinstance(controller, Controller) and isinstance(runs, Controller):
            mine = controller.step(reference.q, reference.v, now, measured=runs.measured)
        else:
            mine = controller.step(reference.q, reference.v, now)
        self.torque = max(self.torque, float(np.abs(mine.torque - reference.torque).max()))
        if len(mine.levels) != len(reference.levels):
            self.cost = np.full(len(reference.levels), np.nan)
        for level, (one, other) in enumerate(zip(mine.levels, reference.levels, strict=False)):
            self.cost[level] = max(self.cost[level], abs(one.cost - other.cost) / (1.0 + other.cost))
        for task in dict.fromkeys(active.task for active in mine.violated):
            self.violated[task] = self.violated.get(task, 0) + 1
        self.times.append(mine.time.total)


def compare(
    make: Callable[[str], Runnable], solvers: Sequence[str], duration: float | None = None
) -> tuple[Log, list[Comparison]]:
    """Runs a scene with the first solver, and shows its states to the others and to what the scene has beside.

    Args:
        make: gives the scene for a solver; for an empty name, with its own.
        solvers: names; the first one runs.
        duration: s; None: what the scene takes.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WbcWarning)  # of inequalities that are ignored: what is broken is counted
        _with_torques(make(""))  # its own solver: that of velocities is not among these
        scene = _with_torques(make(solvers[0]))
        found = [Comparison(solver, _with_torques(make(solver))) for solver in solvers]
        found += [Comparison(name, replace(scene, controller=other)) for name, other in scene.beside.items()]

    def judge(now: float, solution: Solution) -> bool:
        for comparison in found:
            comparison.take(now, solution, scene.controller)
        return False

    return scene.run(duration, until=judge), found


def _with_torques(scene: Runnable) -> Scene:
    """The same, which is a controller on a plant."""
    if not isinstance(scene, Scene):
        raise WbcError(
            "this scene moves a robot by velocities: there are no torques to compare; run it with each solver"
        )
    return scene


def other_backends(scene: Scene, make: Callable[[str], Runnable]) -> list[Comparison]:
    """The same controller on numpy and Pinocchio, where it does not have them and they are installed.

    Args:
        scene: that runs.
        make: gives the scene for a backend.
    """
    installed = ["numpy", *(["pinocchio"] if importlib.util.find_spec("pinocchio") else [])]
    return [Comparison(f"on {name}", _with_torques(make(name))) for name in installed if name != scene.robot.name]
