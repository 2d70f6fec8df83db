"""What the command line runs: scenes out of files, the demonstration, comparisons. Of the layer above `tasks`."""

from __future__ import annotations

import importlib.util
import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np

import tasks
import wbc
from wbc.arrays import Array
from wbc.controller import Controller
from wbc.errors import WbcError, WbcWarning, show, unknown_name
from wbc.simulation.log import Log
from wbc.simulation.loop import Push
from wbc.simulation.scene import Scene, make_plant
from wbc.solution import Solution

EXAMPLES = Path(__file__).parents[1] / "examples"
"""Where the examples are in a checkout; an installed package has none."""


def examples() -> dict[str, Path]:
    """The examples of a checkout, by name."""
    return {path.stem: path for path in sorted(EXAMPLES.glob("[0-9]*.py"))}


def load_scene(what: str, backend: str, solver: str, simulator: str) -> Scene:
    """The scene of an example or a file: what its function `scene(backend=, solver=, simulator=)` makes.

    Args:
        what: "demo", the name or number of an example, or the path of a Python file.
        backend: see `wbc.load`.
        solver: see `wbc.Controller`.
        simulator: "mujoco" or "builtin".
    """
    if what == "demo":
        return demo(backend, solver, simulator)
    known = examples()
    path = Path(what)
    matching = [
        file for name, file in known.items() if name == what or name.split("_")[0].lstrip("0") == what.lstrip("0")
    ]
    if matching:
        path = matching[0]
    elif not path.is_file():
        raise unknown_name("example or file", what, ["demo", *known])
    module = _module(path)
    make = getattr(module, "scene", None)
    if not callable(make):
        hint = f"; it runs by itself: python {path}" if callable(getattr(module, "main", None)) else ""
        raise WbcError(
            f"{path} has no function scene(backend=, solver=, simulator=) that makes a wbc.simulation.Scene{hint}"
        )
    given = {"backend": backend, "solver": solver, "simulator": simulator}
    taken = inspect.signature(make).parameters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WbcWarning)
        found = make(**{name: value for name, value in given.items() if name in taken})
    if not isinstance(found, Scene):
        raise WbcError(f"scene() of {path} made {show(found)}, not a wbc.simulation.Scene")
    return found


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem.lstrip("0123456789_") or "scene", path)
    if spec is None or spec.loader is None:
        raise WbcError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except WbcError:
        raise
    except Exception as error:  # whatever is wrong in a user's file
        raise WbcError(f"{path} can't be imported: {type(error).__name__}: {error}") from None
    return module


def demo(backend: str = "auto", solver: str = "hierarchical-qp", simulator: str = "mujoco") -> Scene:
    """The quadruped stands, follows a motion of its base, is pushed from the side and from behind, and recovers.

    Args:
        backend: see `wbc.load`.
        solver: see `wbc.Controller`.
        simulator: "mujoco" or "builtin".
    """
    robot = wbc.load("quadruped", backend)  # type: ignore[arg-type]
    feet = [wbc.PointContact(foot, friction=0.6) for foot in robot.model.feet]
    hard = tasks.EquationOfMotion() / (tasks.TorqueLimits() + tasks.FrictionCones()) / tasks.ContactMotion()
    start = np.eye(4)
    start[:3, 3] = robot.model.nominal[:3]

    def sway(t: float) -> tuple[Array, Array, Array]:
        """A lissajous figure of the base between the first and the fifth second."""
        pose, velocity, acceleration = start.copy(), np.zeros(6), np.zeros(6)
        if 1.0 <= t <= 5.0:
            for axis, (size, turns) in enumerate(((0.04, 1.0), (0.03, 2.0), (0.02, 3.0))):
                w = 2 * np.pi * turns / 4.0
                s = w * (t - 1.0)
                fade = 1.0 - np.cos(2 * np.pi * (t - 1.0) / 4.0)  # starts and ends at rest
                slope, bend = (
                    2 * np.pi / 4.0 * np.sin(2 * np.pi * (t - 1.0) / 4.0),
                    (2 * np.pi / 4.0) ** 2 * np.cos(2 * np.pi * (t - 1.0) / 4.0),
                )
                pose[axis, 3] += size / 2 * fade * np.sin(s)
                velocity[axis] = size / 2 * (slope * np.sin(s) + fade * w * np.cos(s))
                acceleration[axis] = (
                    size / 2 * (bend * np.sin(s) + 2 * slope * w * np.cos(s) - fade * w * w * np.sin(s))
                )
        return pose, velocity, acceleration

    base = tasks.EndEffectorAcceleration("base", sway, wbc.Gains(3.0))
    posture = tasks.JointAcceleration(robot.model.nominal[7:], gains=wbc.Gains(1.5))
    stack = wbc.Stack(hard / base / posture / tasks.TorqueMinimization(), contacts=feet)
    weight = 9.81 * robot.mass
    pushes = (Push("base", (0.0, 0.3 * weight, 0.0), 5.5, 0.2), Push("base", (0.3 * weight, 0.0, 0.0), 7.0, 0.2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WbcWarning)
        controller = wbc.Controller(robot, stack, solver)
    return Scene(controller, make_plant(robot, simulator), 8.5, None, pushes)


class Comparison:
    """One solver or controller on the states of a run, against the solver that ran it.

    Attributes:
        solver: its name.
        torque: largest difference of a torque, N m.
        cost: largest difference of a level's cost, by level, relative to 1 + the cost; NaN for a controller that
            is not judged by these levels.
        violated: names of the tasks whose inequalities it broke, and in how many ticks.
        time: median of a tick, s.
    """

    def __init__(self, solver: str, levels: int) -> None:
        self.solver = solver
        self.torque = 0.0
        self.cost = np.zeros(levels)
        self.violated: dict[str, int] = {}
        self.times: list[float] = []

    def take(self, mine: Solution, reference: Solution) -> None:
        """Compares one tick."""
        self.torque = max(self.torque, float(np.abs(mine.torque - reference.torque).max()))
        if len(mine.levels) == len(reference.levels):
            for level, (one, other) in enumerate(zip(mine.levels, reference.levels, strict=True)):
                self.cost[level] = max(self.cost[level], abs(one.cost - other.cost) / (1.0 + other.cost))
        else:
            self.cost[:] = np.nan
        for task in dict.fromkeys(active.task for active in mine.violated):
            self.violated[task] = self.violated.get(task, 0) + 1
        self.times.append(mine.time.total)

    @property
    def time(self) -> float:
        """Median of a tick, s."""
        return float(np.median(self.times))


def compare(
    make: Callable[[str], Scene], solvers: list[str], duration: float, every: int = 10
) -> tuple[Log, list[Comparison]]:
    """Runs a scene with the first solver, and shows its states to the others, and to what the scene has beside.

    Args:
        make: gives the scene for a solver.
        solvers: names; the first one runs.
        duration: s.
        every: ticks between comparisons.
    """
    scene = make(solvers[0])
    others: dict[str, Controller] = {solver: make(solver).controller for solver in solvers} | dict(scene.beside)
    found = [Comparison(name, len(scene.controller.stack)) for name in others]
    ticks = 0

    def judge(now: float, solution: Solution) -> bool:
        nonlocal ticks
        if ticks % every == 0:
            for comparison in found:
                other = others[comparison.solver]
                if scene.targets is not None:
                    scene.targets(now, other)
                comparison.take(other.step(solution.q, solution.v, now), solution)
        ticks += 1
        return False

    log = wbc.run(
        scene.controller,
        scene.plant,
        duration,
        targets=scene.targets,
        disturbances=scene.disturbances,
        until=judge,
    )
    return log, found
