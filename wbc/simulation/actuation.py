"""From torques to the controls of a MuJoCo model's actuators."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError
from wbc.model.model import Model


class Actuation:
    """Finds the control with which each actuator exerts a wanted torque on its joint.

    An actuator's force is gain · ctrl + bias, times its gear on the joint. A motor has no bias; a position servo has
    bias −kp q − kv v, a velocity servo −kv v: with the present q and v the control follows. Activation dynamics
    (muscles, filters, integrators) answer later than asked and are refused by name, as is a joint with two actuators.

    Args:
        m: the `mujoco.MjModel`.
        model: the robot read from it.
    """

    def __init__(self, m: Any, model: Model) -> None:  # noqa: ANN401  mujoco is not typed for a strict checker
        joints = {int(m.jnt_dofadr[number]): number for number in range(m.njnt)}  # v is laid out as qvel
        by_joint: dict[int, list[int]] = {}
        for number in range(m.nu):
            if int(m.actuator_trntype[number]) in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT):
                by_joint.setdefault(int(m.actuator_trnid[number, 0]), []).append(number)
        self._actuators: list[int] = []
        for joint in model.joints.values():
            if joint.actuated:
                found = by_joint.get(joints[model.v_index[joint.name]], [])
                if len(found) != 1:
                    raise WbcError(f"joint {joint.name!r} has {len(found)} actuators in the MuJoCo model; it needs one")
                self._actuators += found
        at = np.array(self._actuators, dtype=np.intp)
        for number in self._actuators:
            name = m.actuator(number).name or f"actuator_{number}"
            if int(m.actuator_dyntype[number]) != mujoco.mjtDyn.mjDYN_NONE:
                raise WbcError(f"actuator {name!r} has dynamics of its own; a torque can't be asked of it")
            gain, bias = int(m.actuator_gaintype[number]), int(m.actuator_biastype[number])
            if gain != mujoco.mjtGain.mjGAIN_FIXED or bias not in (
                mujoco.mjtBias.mjBIAS_NONE,
                mujoco.mjtBias.mjBIAS_AFFINE,
            ):
                raise WbcError(f"actuator {name!r} is neither a motor nor a servo; a torque can't be asked of it")
            if m.actuator_gainprm[number, 0] == 0 or m.actuator_gear[number, 0] == 0:
                raise WbcError(f"actuator {name!r} has no gain; a torque can't be asked of it")
        self._at = at
        self._gear, self._gain = m.actuator_gear[at, 0].copy(), m.actuator_gainprm[at, 0].copy()
        affine = m.actuator_biastype[at] == int(mujoco.mjtBias.mjBIAS_AFFINE)
        self._bias = np.where(affine[:, None], m.actuator_biasprm[at, :3], 0.0)
        limited = m.actuator_ctrllimited[at].astype(bool)
        self._low = np.where(limited, m.actuator_ctrlrange[at, 0], -np.inf)
        self._high = np.where(limited, m.actuator_ctrlrange[at, 1], np.inf)

    def control(self, d: Any, torque: Array) -> None:  # noqa: ANN401
        """Sets the controls of the data so that the actuators exert these torques now, shape (na,)."""
        length, speed = d.actuator_length[self._at], d.actuator_velocity[self._at]
        bias = self._bias[:, 0] + self._bias[:, 1] * length + self._bias[:, 2] * speed
        control = (torque / self._gear - bias) / self._gain
        d.ctrl[self._at] = np.clip(control, self._low, self._high)
