"""The last level of operational-space control: the freedom left by the tasks goes to least τᵀ M⁻¹ τ."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from wbc.dynamics.base import Dynamics
from wbc.tasking.rows import Rows
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick
from wbc.triangular import triangular_inverse


class LeastTorqueByInverseMass(Task):
    """Least torque in the metric of the inverse mass matrix.

    With it the general solver gives τ = Jᵀ (Λ ẇ* + μ + p) (ETH 3.90): the torque that moves nothing but the task. With
    M = L Lᵀ its rows are L⁻¹ Sᵀ τ = 0.
    """

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`."""
        L, _ = lapack.dpotrf(robot.mass_matrix, lower=1)
        rows = triangular_inverse(L, lower=True) @ robot.actuation_matrix.T
        return Rows.equal(np.zeros(robot.nv), torque=rows)
