"""A controller, a plant, and what happens to them: what an example makes, and what `wbc run` runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from wbc.controller import Controller
from wbc.dynamics.base import Dynamics
from wbc.errors import unknown_name
from wbc.simulation.log import Log
from wbc.simulation.loop import Push, run
from wbc.simulation.plant import Plant

SIMULATORS = ("mujoco", "builtin")
"""What a scene can be simulated in."""


@dataclass
class Scene:
    """Something to run.

    Attributes:
        controller: of the robot.
        plant: the robot.
        duration: that it takes, s.
        targets: called before each tick with the time and the controller.
        disturbances: pushes.
    """

    controller: Controller
    plant: Plant
    duration: float
    targets: Callable[[float, Controller], None] | None = None
    disturbances: Iterable[Push] = ()

    def run(
        self,
        duration: float | None = None,
        period: float | None = None,
        record: str | Path | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Log:
        """Runs it.

        Args:
            duration: s; None: what it takes.
            period: of the control, s; None: the controller's.
            record: file to write the log to.
            progress: called after each tick with the share that is done.
        """
        return run(
            self.controller,
            self.plant,
            self.duration if duration is None else duration,
            period,
            targets=self.targets,
            disturbances=self.disturbances,
            record=record,
            progress=progress,
        )


def make_plant(robot: Dynamics, simulator: str = "mujoco") -> Plant:
    """The plant of a robot, by the simulator's name.

    Args:
        robot: of `wbc.load`.
        simulator: "mujoco" or "builtin".
    """
    if simulator == "mujoco":
        from wbc.simulation.mujoco import MujocoSimulator

        return MujocoSimulator(robot)
    if simulator == "builtin":
        from wbc.simulation.builtin import Simulator

        return Simulator(robot)
    raise unknown_name("simulator", simulator, SIMULATORS)
