"""Inverse dynamics of robots that stand on contacts (ETH 3.10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.classical.controller import ClassicalController
from wbc.classical.motion import motion_levels, multi_task_acceleration
from wbc.contacts import Contact
from wbc.control.stack import Stack
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError
from wbc.tasking.levels import Levels
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick


class InverseDynamics(ClassicalController):
    """Support-consistent inverse dynamics: τ = (Nᵀ Sᵀ)⁺ Nᵀ (M v̇* + h) + 𝒩(Nᵀ Sᵀ) τ₀ (ETH 3.100, 3.101).

    v̇* fulfils the motion tasks one below the other (ETH 3.83), with the contacts at rest above them all. It is the
    answer of a stack of equations that minimises torque on its last level, and like all of these it knows neither
    friction nor limits: with four feet the least torque may well ask a foot to pull. τ₀ shifts forces between contacts.

    Args:
        robot: of `wbc.load`.
        motions: tasks on accelerations: `a + b` is one level, `a / b` has b below a.
        contacts: see `ClassicalController`.
        free_torque: τ₀, shape (na,); or a function of the time that gives it; None: least torque.
        judged_by: see `ClassicalController`.
        solver: of the motion tasks: "nullspace" is ETH (3.83).
        period: see `ClassicalController`.
    """

    carried_by_contacts = True

    def __init__(
        self,
        robot: Dynamics,
        motions: Task | Levels | Iterable[Iterable[Task]],
        contacts: Contact | Iterable[Contact] = (),
        *,
        free_torque: ArrayLike | Callable[[float], ArrayLike] | None = None,
        judged_by: Stack | None = None,
        solver: str | Any = "nullspace",  # noqa: ANN401  anything with a solve(levels)
        period: float | None = None,
    ) -> None:
        super().__init__(robot, contacts, judged_by=judged_by, solver=solver, period=period)
        self.motions = motion_levels(motions)
        if not any(self.motions):
            raise WbcError("inverse dynamics needs a motion: a task on accelerations")
        for task in (task for level in self.motions for task in level):
            if not isinstance(task, Task):
                raise WbcError(f"motions must be tasks on accelerations, not {task!r}")
            task.check(self.robot, {contact.name: contact for contact in self.stack.contacts})
        self.free_torque = free_torque

    def reset(self) -> None:
        """See `wbc.Controller`."""
        super().reset()
        for task in (task for level in self.motions for task in level):
            task.reset()

    def law(self, robot: Dynamics, tick: Tick) -> Array:
        """See `ClassicalController`."""
        wanted = multi_task_acceleration(robot, self.motions, tick, self.solver)
        free = self.free_torque(tick.time) if callable(self.free_torque) else self.free_torque
        return self.support(robot, tick).inverse_dynamics(wanted, None if free is None else np.asarray(free))
