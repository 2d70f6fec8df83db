"""A simulated robot in this process, behind the interface of a real one."""

from __future__ import annotations

import numpy as np

from wbc.control.command import Command, motor_positions
from wbc.errors import WbcError, number, show
from wbc.realtime.sensors import SensorErrors, Sensors
from wbc.realtime.state import State
from wbc.simulation.plant import Plant


class PlantIO:
    """A plant as a robot: after each command it goes on by a period, with the motors' own controllers at each step.

    Args:
        plant: a `Plant`.
        period: s between two commands: whole steps of the plant.
        errors: of its sensors; None: none.
        seed: of these errors.
        base: whether its state tells where the base is.

    Attributes:
        plant: as given.
        sensors: that read it.
        command: the last one; None before the first.
        paced: see `RobotIO`.
    """

    paced = False

    def __init__(
        self,
        plant: Plant,
        period: float = 1e-3,
        errors: SensorErrors | None = None,
        seed: int = 0,
        base: bool = True,
    ) -> None:
        if not isinstance(plant, Plant):
            raise WbcError(f"plant = {show(plant)} must be a Plant, such as a wbc.MujocoSimulator")
        self.plant, self.sensors = plant, Sensors(plant, errors, seed, base)
        self.command: Command | None = None
        self._drive = Drive(plant, period)
        self._state = self.sensors.read()

    def read(self) -> State:
        """See `RobotIO`."""
        return self._state

    def write(self, command: Command) -> None:
        """See `RobotIO`; the plant goes on by a period."""
        self.command = command
        self._drive.go_on(command)
        self._state = self.sensors.read()

    def close(self) -> None:
        """See `RobotIO`."""


class Drive:
    """The motors' own controllers on a plant.

    Args:
        plant: that they drive.
        period: between two commands, s: whole steps of the plant.
    """

    def __init__(self, plant: Plant, period: float) -> None:
        self._steps = round(number(period, "the period, s,", high=1.0, above=True) / plant.timestep)
        if self._steps < 1 or abs(self._steps * plant.timestep - period) > 1e-9:
            raise WbcError(f"the period, {period:g} s, is no multiple of the plant's timestep, {plant.timestep:g} s")
        self._plant = plant
        self._places, self._motors = motor_positions(plant.model), plant.model.actuated
        limits = plant.model.limits
        self._least, self._most = limits.least, limits.effort

    def go_on(self, command: Command) -> None:
        """Goes on by a period.

        Args:
            command: that holds for it.
        """
        for _ in range(self._steps):
            q, v = self._plant.true_state
            torque = command.effort(q[self._places], v[self._motors])
            self._plant.apply(np.clip(torque, self._least, self._most))
            self._plant.step()
