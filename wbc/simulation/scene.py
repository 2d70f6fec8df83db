"""A scene: a controller, a plant, and the events of a run. Examples make one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wbc.contacts import Contact
from wbc.control.protocol import TorqueController
from wbc.control.solution import Solution
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, number, show, unknown_name
from wbc.model.model import Model
from wbc.simulation.builtin import Simulator
from wbc.simulation.ground import Touching
from wbc.simulation.log import Log
from wbc.simulation.loop import Push, run
from wbc.simulation.plant import Plant
from wbc.simulation.realism import Realism, with_mass_error
from wbc.simulation.terrain import Terrain

SIMULATORS = ("mujoco", "builtin")
"""What a scene can be simulated in."""


@dataclass
class Scene:
    """A controller on a plant: a `Runnable`.

    Attributes:
        controller: of the robot.
        plant: the robot.
        duration: that it takes, s.
        targets: called before each tick with the time, s, and the controller.
        disturbances: pushes.
        beside: other controllers of the robot by name, such as classical ones, that `wbc compare` shows the states to.
        phases: phases of the run: their start times, s, and captions.
        figures: returns extra lines for the summary of a log.
        every: ticks between two records of the log: see `wbc.run`.
    """

    controller: TorqueController
    plant: Plant
    duration: float
    targets: Callable[[float, TorqueController], None] | None = None
    disturbances: Iterable[Push] = ()
    beside: Mapping[str, TorqueController] = field(default_factory=dict)
    phases: Sequence[tuple[float, str]] = ()
    figures: Callable[[Log], Mapping[str, str]] | None = None
    every: int = 1

    @property
    def robot(self) -> Dynamics:
        """The controller's own."""
        return self.controller.robot

    @property
    def period(self) -> float:
        """Of the controller, s."""
        return self.controller.period

    def run(
        self,
        duration: float | None = None,
        period: float | None = None,
        record: str | Path | None = None,
        progress: Callable[[float], None] | None = None,
        until: Callable[[float, Solution], bool] | None = None,
    ) -> Log:
        """Runs it. A controller without a deadline takes what time it needs: the same scene gives the same log.

        Args:
            duration: s; None: what it takes.
            period: of the control, s; None: the controller's.
            record: file to write the log to.
            progress: called after each tick with the finished share, 0 to 1.
            until: called after each tick with the time and the solution; true ends the run.
        """
        return run(
            self.controller,
            self.plant,
            self.duration if duration is None else duration,
            period,
            deadline=math.inf,
            targets=self.targets,
            disturbances=self.disturbances,
            record=record,
            progress=progress,
            until=until,
            every=self.every,
        )


def make_plant(
    robot: Dynamics | Model,
    simulator: str = "mujoco",
    *,
    friction: float = 1.0,
    timestep: float = 1e-3,
    contacts: str | Contact | Iterable[Touching] | None = None,
    realism: Realism | None = None,
    terrain: Terrain | None = None,
) -> Plant:
    """A robot on flat ground or a terrain, in a simulator by its name: the same ground, and as far from ideal, in both.

    Args:
        robot: of `wbc.load`, or its model.
        simulator: "mujoco" or "builtin".
        friction: coefficient of Coulomb friction of the ground.
        timestep: of the physics, s; the control period is a multiple of it.
        contacts: what touches the ground in the built-in simulator (see `Simulator`); None: the feet. In MuJoCo the
            model's collision shapes touch, whatever is named here, and the forces at these frames are measured.
        realism: what is not ideal; None: nothing.
        terrain: patches on the ground; None: none.
    """
    realism = Realism() if realism is None else realism
    if not isinstance(realism, Realism):
        raise WbcError(f"realism = {show(realism)} must be a wbc.simulation.Realism")
    if realism.mass != 1.0:
        robot = with_mass_error(robot.model if isinstance(robot, Dynamics) else robot, realism.mass, realism.bodies)
    friction = realism.friction * number(friction, "friction", high=1e9)
    if simulator == "mujoco":
        from wbc.simulation.mujoco import MujocoSimulator

        plant: Plant = MujocoSimulator(robot, timestep, friction, terrain=terrain)
        named = [contacts] if isinstance(contacts, str | Contact) else contacts or ()
        plant.measure(
            touching if isinstance(touching, str) else touching.frame if isinstance(touching, Contact) else touching[0]
            for touching in named
        )
    elif simulator == "builtin":
        plant = Simulator(robot, timestep, friction=friction, contacts=contacts, terrain=terrain)
    else:
        raise unknown_name("simulator", simulator, SIMULATORS)
    return realism.around(plant)
