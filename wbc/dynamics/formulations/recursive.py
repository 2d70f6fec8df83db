"""Recursive Newton–Euler inverse dynamics, in time linear in the number of joints (Liu–Jain section 7)."""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array, cross
from wbc.geometry import quaternion, so3
from wbc.model.tree import Node, Tree


def recursive_newton_euler(tree: Tree, q: Array, v: Array, vdot: Array) -> Array:
    """The generalised force M v̇ + C + g of a robot, without armature and passive joint forces.

    One sweep outwards gives each part its velocity and acceleration from its carrier's, in the part's own axes; one
    sweep inwards gathers the forces that these need, and each joint's force is the share along its motion. Gravity
    enters as an upward acceleration of the world.

    Args:
        tree: the robot.
        q: configuration, shape (nq,).
        v: velocity, shape (nv,).
        vdot: acceleration, shape (nv,).

    Returns:
        Shape (nv,).
    """
    nodes = tree.nodes
    count = len(nodes)
    rotations, offsets = [np.eye(3)] * count, [np.zeros(3)] * count  # of each part in its carrier
    linear, angular = np.zeros((count, 3)), np.zeros((count, 3))
    linear_rate, angular_rate = np.zeros((count, 3)), np.zeros((count, 3))
    forces, moments = np.zeros((count, 3)), np.zeros((count, 3))
    linear_rate[0] = -tree.model.gravity

    for part in range(1, count):
        node, carrier = nodes[part], nodes[part].parent
        R, p = _joint_pose(node, q)
        rotations[part], offsets[part] = R, p
        joint_linear, joint_angular = _joint_motion(node, v)
        joint_linear_rate, joint_angular_rate = _joint_motion(node, vdot)
        linear[part] = R.T @ (linear[carrier] + cross(angular[carrier], p)) + joint_linear
        angular[part] = R.T @ angular[carrier] + joint_angular
        # rates of the components in the part's axes: what the carrier hands on, v̇, and the turning of the joint's axes
        linear_rate[part] = (
            R.T @ (linear_rate[carrier] + cross(angular_rate[carrier], p))
            + joint_linear_rate
            + cross(angular[part], joint_linear)
            + cross(linear[part], joint_angular)
        )
        angular_rate[part] = R.T @ angular_rate[carrier] + joint_angular_rate + cross(angular[part], joint_angular)
        # Newton–Euler at the part's origin: the force is m r̈ of the centre of mass, r̈ from the spatial rate + ω × v
        acceleration = linear_rate[part] + cross(angular[part], linear[part])
        c, w = node.com, angular[part]
        com_acceleration = acceleration + cross(angular_rate[part], c) + cross(w, cross(w, c))
        forces[part] = node.mass * com_acceleration
        moments[part] = node.inertia @ angular_rate[part] + cross(w, node.inertia @ w) + cross(c, forces[part])

    tau = np.zeros(len(v))
    for part in range(count - 1, 0, -1):
        node, carrier = nodes[part], nodes[part].parent
        where = slice(node.v_index, node.v_index + node.nv)
        along = forces[part] if node.kind in ("prismatic", "translation") else moments[part]
        tau[where] = along if node.nv == 3 else node.axis @ along
        handed = rotations[part] @ forces[part]
        forces[carrier] += handed
        moments[carrier] += rotations[part] @ moments[part] + cross(offsets[part], handed)
    return tau


def _joint_pose(node: Node, q: Array) -> tuple[Array, Array]:
    """Rotation and origin of a part in its carrier's frame."""
    R, p = node.pose[:3, :3], node.pose[:3, 3]
    at = q[node.q_index : node.q_index + node.nq]
    match node.kind:
        case "revolute":
            return R @ so3.exp(node.axis * at[0]), p
        case "spherical":
            return R @ quaternion.to_matrix(at), p
        case "prismatic":
            return R, p + R @ node.axis * at[0]
        case "translation":
            return R, p + R @ at


def _joint_motion(node: Node, rates: Array) -> tuple[Array, Array]:
    """Linear and angular motion of a part against its carrier, in the part's axes, for these joint rates."""
    rate = rates[node.v_index : node.v_index + node.nv]
    motion = rate if node.nv == 3 else node.axis * rate[0]
    still = np.zeros(3)
    return (motion, still) if node.kind in ("prismatic", "translation") else (still, motion)
