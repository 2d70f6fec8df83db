"""Robots in this process whose faults can be had on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

import tasks
import wbc
from wbc import realtime
from wbc.realtime import Command, State

PERIOD = 1e-3


def standing() -> wbc.Controller:
    robot = wbc.load("quadruped", "numpy")
    return wbc.Controller(robot, tasks.stacks.standing(robot))


def reaching(**options) -> wbc.Controller:
    robot = wbc.load("arm", "numpy")
    stack = wbc.Stack(
        (tasks.EquationOfMotion() + tasks.TorqueLimits())
        / tasks.EndEffectorAcceleration("tool", axes="position")
        / tasks.JointAcceleration()
    )
    return wbc.Controller(robot, stack, **options)


class Recorded(realtime.PlantIO):
    """A robot that keeps what it was told, and may tell other states than it has."""

    def __init__(self, plant: wbc.simulation.Plant, alter: Callable[[float, State], State] | None = None) -> None:
        super().__init__(plant, PERIOD)
        self.commands: list[Command] = []
        self.alter = alter
        self.closed = 0

    def read(self) -> State:
        state = super().read()
        return state if self.alter is None else self.alter(self.plant.time, state)

    def write(self, command: Command) -> None:
        self.commands.append(command)
        super().write(command)


def from_then_on(moment: float, **changes: object) -> Callable[[float, State], State]:
    """States as they are up to a moment, and with these changes from then on; a function is given the state."""

    def alter(now: float, state: State) -> State:
        if now < moment:
            return state
        return replace(state, **{name: value(state) if callable(value) else value for name, value in changes.items()})

    return alter


def is_off(command: Command) -> bool:
    return not any(np.any(part) for part in (command.torque, command.kp, command.kd))


def is_damping(command: Command) -> bool:
    return not np.any(command.torque) and not np.any(command.kp) and bool(np.all(command.kd > 0))


def is_holding(command: Command) -> bool:
    return bool(np.all(command.kp > 0) and np.all(command.kd > 0) and not np.any(command.velocity))
