"""Pinocchio by itself: its own URDF reader, free flyer and coordinates; converted to ours at the very end."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from tests.robots import Robot
from wbc.dynamics import Dynamics


class PinocchioReference:
    """Quantities of a robot as Pinocchio has them when nothing of ours is between it and the file.

    Our v maps to Pinocchio's by v_pin = B v, where B sorts joints and turns the linear velocity into the base frame;
    then M = Bᵀ M_pin B, and v̇_pin = B v̇ + Ḃ v.
    """

    def __init__(self, robot: Robot, ours: Dynamics) -> None:
        self.ours, self.floating = ours, robot.floating
        root = [pin.JointModelFreeFlyer()] if robot.floating else []
        self.model = pin.buildModelFromUrdf(str(robot.path), *root)
        armature = np.zeros(self.model.nv)
        self.q_entries: list[tuple[int, int, int]] = []  # our q, Pinocchio's q, its number of entries
        self.sort = np.zeros((self.model.nv, ours.nv))
        for name in ours.joint_names:
            joint = self.model.joints[self.model.getJointId(name)]
            q, v = ours.model.q_index[name], ours.model.v_index[name]
            self.q_entries.append((q, joint.idx_q, joint.nq))
            self.sort[joint.idx_v, v] = 1.0
            armature[joint.idx_v] = ours.model.joints[name].armature  # which URDF has no word for
        self.model.armature = armature
        self.data = self.model.createData()

    def update(self, q: np.ndarray, v: np.ndarray) -> None:
        q_pin = pin.neutral(self.model)
        for ours, theirs, count in self.q_entries:
            q_pin[theirs : theirs + count] = [np.cos(q[ours]), np.sin(q[ours])] if count == 2 else [q[ours]]
        B, B_dot_v = self.sort.copy(), np.zeros(self.model.nv)
        if self.floating:
            q_pin[:7] = [*q[:3], *q[4:7], q[3]]
            R = pin.Quaternion(np.array([*q[4:7], q[3]])).toRotationMatrix()
            B[:3, :3], B[3:6, 3:6] = R.T, np.eye(3)
            B_dot_v[:3] = -np.cross(v[3:6], R.T @ v[:3])
        self.B, self.B_dot_v, self.q, self.v = B, B_dot_v, q_pin, B @ v
        pin.computeAllTerms(self.model, self.data, q_pin, self.v)
        pin.forwardKinematics(self.model, self.data, q_pin, self.v, B_dot_v)
        pin.updateFramePlacements(self.model, self.data)

    def whole(self) -> dict[str, np.ndarray]:
        """Whole-body quantities in our coordinates."""
        model, data, B = self.model, self.data, self.B
        M = np.array(data.M)
        found = {
            "mass_matrix": B.T @ M @ B,
            "nonlinear": B.T @ (np.array(data.nle) + M @ self.B_dot_v),
            "gravity_force": B.T @ pin.computeGeneralizedGravity(model, model.createData(), self.q),
            "kinetic_energy": np.array(0.5 * self.v @ M @ self.v),
            "potential_energy": np.array(pin.computePotentialEnergy(model, data, self.q)),
            "com": np.array(data.com[0]),
            "com_velocity": np.array(data.vcom[0]),
            "com_jacobian": np.array(data.Jcom) @ B,
            "momentum": np.array(data.hg.vector),
            "momentum_matrix": np.array(data.Ag) @ B,
        }
        rate = pin.computeCentroidalMomentumTimeVariation(model, model.createData(), self.q, self.v, self.B_dot_v)
        found["momentum_bias"] = np.array(rate.vector)
        scratch = model.createData()
        pin.centerOfMass(model, scratch, self.q, self.v, self.B_dot_v)
        found["com_bias"] = np.array(scratch.acom[0])
        return found

    def frame(self, name: str) -> dict[str, np.ndarray]:
        """Quantities of a frame in our coordinates."""
        model, data, aligned = self.model, self.data, pin.LOCAL_WORLD_ALIGNED
        number = model.getFrameId(name, pin.FrameType.BODY)
        jacobian = pin.computeFrameJacobian(model, data, self.q, number, aligned) @ self.B
        pin.forwardKinematics(model, data, self.q, self.v, self.B_dot_v)
        return {
            "pose": np.array(data.oMf[number].homogeneous),
            "twist": np.array(pin.getFrameVelocity(model, data, number, aligned).vector),
            "jacobian": jacobian,
            "jacobian_bias": np.array(pin.getFrameClassicalAcceleration(model, data, number, aligned).vector),
        }

    def inverse_dynamics(self, vdot: np.ndarray) -> np.ndarray:
        """M v̇ + h without passive forces."""
        return self.B.T @ pin.rnea(self.model, self.model.createData(), self.q, self.v, self.B @ vdot + self.B_dot_v)

    def forward_dynamics(self, force: np.ndarray) -> np.ndarray:
        """v̇ for a generalised force in our coordinates."""
        to_pin = np.linalg.inv(self.B)
        vdot = pin.aba(self.model, self.model.createData(), self.q, self.v, to_pin.T @ force)
        return to_pin @ (vdot - self.B_dot_v)
