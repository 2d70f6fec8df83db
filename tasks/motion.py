"""The motion of a frame in the world or relative to another frame: the basis of the tasks on frames."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wbc.arrays import Array, cross
from wbc.dynamics import Dynamics
from wbc.geometry import so3


class Motion(NamedTuple):
    """A frame's pose and motion, in the axes of the world or of the frame that it is relative to.

    Attributes:
        pose: frame → axes, shape (4, 4).
        jacobian: linear, then angular, shape (6, nv).
        bias: of its velocity: J̇v, shape (6,).
        velocity: m/s and rad/s, shape (6,).
    """

    pose: Array
    jacobian: Array
    bias: Array
    velocity: Array

    @property
    def position(self) -> Array:
        """Of the pose, m, shape (3,)."""
        return self.pose[:3, 3]

    @property
    def rotation(self) -> Array:
        """Of the pose: frame → axes, shape (3, 3)."""
        return self.pose[:3, :3]


def motion(
    robot: Dynamics, frame: str, offset: Array | None = None, relative_to: str | None = None, moving: bool = True
) -> Motion:
    """The motion of a frame, or of a point or frame at an offset from it.

    Args:
        robot: updated.
        frame: its name.
        offset: a pose in the frame, shape (4, 4); None: the frame itself.
        relative_to: the frame relative to which it moves; None: the world.
        moving: whether to compute velocity and bias; otherwise they are zero, as at rest.
    """
    pose, J, bias, V = robot.frame_motion(frame) if moving else _at_rest(robot, frame)
    if offset is not None:
        arm = pose[:3, :3] @ offset[:3, 3]
        omega = V[3:]
        J, bias, V = J.copy(), bias.copy(), V.copy()
        J[:3] -= so3.skew(arm) @ J[3:]
        bias[:3] += cross(bias[3:], arm) + cross(omega, cross(omega, arm))
        V[:3] += cross(omega, arm)
        pose = pose @ offset
    if relative_to is None:
        return Motion(pose, J, bias, V)
    # seen from a frame that moves: d²/dt² of Rᵀ (p − p₀), with the Coriolis and centrifugal terms of that frame
    base, J0, bias0, V0 = robot.frame_motion(relative_to) if moving else _at_rest(robot, relative_to)
    R, r, omega = base[:3, :3], pose[:3, 3] - base[:3, 3], V0[3:]
    relative = V - V0
    relative[:3] -= cross(omega, r)
    J_r, bias_r = J - J0, bias - bias0
    J_r[:3] += so3.skew(r) @ J0[3:]
    bias_r[:3] -= cross(bias0[3:], r) + cross(omega, cross(omega, r)) + 2.0 * cross(omega, relative[:3])
    bias_r[3:] -= cross(omega, relative[3:])
    turn = np.zeros((6, 6))
    turn[:3, :3] = turn[3:, 3:] = R.T
    between = np.eye(4)
    between[:3, :3], between[:3, 3] = R.T @ pose[:3, :3], R.T @ r
    return Motion(between, turn @ J_r, turn @ bias_r, turn @ relative)


def _at_rest(robot: Dynamics, frame: str) -> tuple[Array, Array, Array, Array]:
    """As `Dynamics.frame_motion`, for a robot that does not move."""
    return robot.pose(frame), robot.jacobian(frame), np.zeros(6), np.zeros(6)
