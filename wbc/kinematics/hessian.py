"""How a Jacobian changes with the configuration (Kindr appendix III)."""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array, IntArray
from wbc.dynamics.base import Dynamics
from wbc.geometry import so3


def jacobian_hessian(robot: Dynamics, frame: str) -> Array:
    """H with H[k] = ∂J/∂qₖ of the mixed Jacobian, the change of J along the k-th entry of v (Kindr 15, 16).

    With J_P and J_R the linear and angular rows,

        ∂J_i/∂q_j = (J_Rj × J_Pi, J_Rj × J_Ri)   where joint j is nearer to the base than joint i, or the same,
        ∂J_i/∂q_j = (J_Ri × J_Pj, 0)             where it is farther out.

    (Kindr (15) prints J_Rj × J_Pi in the second line.) A spherical joint, or the rotation of a floating base, is one
    joint: its three axes turn together.

    Args:
        robot: updated.
        frame: its name.

    Returns:
        Shape (nv, 6, nv); J̇ = Σ H[k] v_k (Kindr 17, 18) is `robot.jacobian_derivative(frame)`.
    """
    J = robot.jacobian(frame)
    joint = _joints(robot)
    # by each joint j that is nearer to the base: its rotation carries the whole column along
    turned = so3.skew(J[3:].T)[:, None] @ J.reshape(2, 3, -1)  # (j, linear or angular, 3, i)
    # by each joint j that is farther out: it moves the frame that column i's rotation acts on
    moved = -so3.skew(J[:3].T) @ J[3:]  # J_Ri × J_Pj, (j, 3, i)
    nearer = (joint[:, None] <= joint)[:, None, :]
    H = np.zeros((robot.nv, 6, robot.nv))
    H[:, :3] = np.where(nearer, turned[:, 0], moved)
    H[:, 3:] = np.where(nearer, turned[:, 1], 0.0)
    return H


def _joints(robot: Dynamics) -> IntArray:
    """For each entry of v the joint it belongs to, numbered from the world outwards; a floating base is two, a planar
    joint three.
    """
    numbers: list[int] = []
    count = 0
    for part in robot.model.joints.values():
        for size in {"floating": (3, 3), "spherical": (3,)}.get(part.kind, (1,) * part.nv):
            numbers += [count] * size
            count += 1
    return np.array(numbers, dtype=np.intp)
