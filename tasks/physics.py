"""The equation of motion."""

from __future__ import annotations

import numpy as np

from wbc.dynamics import Dynamics
from wbc.model.names import velocity_names
from wbc.tasking.problem import Rows, Variables
from wbc.tasking.task import Task


class EquationOfMotion(Task):
    """Torques, forces and accelerations that belong together.

    M v̇ − Jᵀ f − Sᵀ τ = −h (ETH 3.110; our f acts on the robot). It is never traded against anything, whatever the level
    it is written on: the controller eliminates it.
    """

    physics = True

    def __init__(self) -> None:
        super().__init__("equation of motion")

    def rows(self, robot: Dynamics, variables: Variables) -> Rows:
        """See `Task`; nv rows."""
        selection = np.zeros((robot.nv, robot.na))
        selection[robot.actuated, np.arange(robot.na)] = -1.0
        force = -variables.contact_jacobian(robot).T if variables.nf else None
        return Rows.equal(-robot.bias, acceleration=robot.mass_matrix, force=force, torque=selection)

    def row_names(self, robot: Dynamics, variables: Variables) -> list[str]:
        """See `Task`."""
        return velocity_names(robot.model)
