"""The actuators of joints of a `mujoco.MjModel`: their strength, and which ones can't be asked for a torque."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError
from wbc.model.findings import Findings

try:
    import mujoco
except ImportError as error:
    raise WbcError(f"reading an MJCF file needs MuJoCo: pip install 'wbc[mujoco]' ({error})") from None

__all__ = [
    "ACTUATORS",
    "FILTERS",
    "Drive",
    "actuator_count",
    "disabled",
    "drives",
    "joint_efforts",
    "mujoco",
    "reflected",
]

# As plain integers: MuJoCo's enumerations are not equal to the numpy integers that stand in a model.
HINGE, SLIDE, BALL = (
    int(kind) for kind in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_BALL)
)
IN_PARENT = int(mujoco.mjtTrn.mjTRN_JOINTINPARENT)
ON_JOINTS = int(mujoco.mjtTrn.mjTRN_JOINT), IN_PARENT
NO_BIAS, AFFINE_BIAS = int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE)
FIXED_GAIN = int(mujoco.mjtGain.mjGAIN_FIXED)
AT_ONCE = int(mujoco.mjtDyn.mjDYN_NONE)
LATE = int(mujoco.mjtDyn.mjDYN_INTEGRATOR), int(mujoco.mjtDyn.mjDYN_FILTER), int(mujoco.mjtDyn.mjDYN_FILTEREXACT)

FILTERS, ACTUATORS = "filters", "actuators"
"""What `wbc.load` is told to ignore: the first takes actuators that answer late as motors, the second uses none that
can't be asked for a torque."""


@dataclass(frozen=True, eq=False)
class Drive:
    """An actuator that pushes on a joint: a motor or a servo.

    Its force is gain · control + bias, as far as its ranges allow, and its torque on the joint is gear · force. The
    bias of a position servo is −kp q − kv v, that of a velocity servo −kv v.

    Attributes:
        number: of the actuator.
        name: of the actuator.
        joint: number of the joint, or of what else it pushes on.
        control: where its control stands in `ctrl`.
        gear: factors of force, dimensionless or m, shape (3,); of a joint with one coordinate the first counts.
        gain: force by control, N or N m for one unit of control.
        bias: force, N or N m: constant, by length (joint position, rad or m) and by speed, shape (3,).
        controls: least and greatest control, in the file's units, shape (2,).
        forces: least and greatest force that the file names, of the actuator or by its joint, N or N m, shape (2,).
        late: whether its force lags behind its control.
    """

    number: int
    name: str
    joint: int
    control: int
    gear: Array
    gain: float
    bias: Array
    controls: Array
    forces: Array
    late: bool

    def reach(self) -> tuple[float, float]:
        """The least and the greatest force that can be asked of it, in whatever state: a motor as strong as it is.

        Of a servo it is what it gives at rest, of a position servo in the middle of what it can be told: kp times half
        the range of its control. Where the file says how strong it is, that counts: a range of control tells where a
        position servo may go, and gains of a servo are software.
        """
        if self.bias[1] and np.isfinite(self.forces).all():
            return float(self.forces[0]), float(self.forces[1])
        low, high = sorted(float(self.gain * control) for control in self.controls)
        if self.bias[1] and math.isfinite(high - low):
            low, high = (low - high) / 2, (high - low) / 2
        elif not self.bias[1]:
            low, high = low + float(self.bias[0]), high + float(self.bias[0])
        return max(low, float(self.forces[0])), min(high, float(self.forces[1]))


def drives(
    m: Any,  # noqa: ANN401  mujoco has no types
    ignore: Collection[str] = (),
    on: Collection[int] = ON_JOINTS,
) -> list[Drive]:
    """The actuators that push on joints, or on something else.

    Args:
        m: the model.
        ignore: may have `FILTERS` and `ACTUATORS` in it.
        on: kinds of transmission.

    Raises:
        WbcError: one of them can't be asked for a torque.
    """
    found = []
    for number in range(actuator_count(m)):
        gear: Array = np.array(m.actuator_gear[int(_per_actuator(m, "outadr", number))])
        group = int(m.actuator_group[number])
        off = 0 <= group < 31 and bool(m.opt.disableactuator & (1 << group))
        on_joint = int(m.actuator_trntype[number]) in ON_JOINTS
        if int(m.actuator_trntype[number]) not in on or off:
            continue
        name, joint = m.actuator(number).name or f"actuator_{number}", int(m.actuator_trnid[number, 0])
        if not (gear[:1] if on_joint and m.jnt_type[joint] in (HINGE, SLIDE) else gear).any():
            continue
        control = int(_per_actuator(m, "ctrladr", number))
        late = _lags(m, number)
        problem = _problem(m, number) or (_TOO_LATE if late and FILTERS not in ignore else "")
        if problem and ACTUATORS in ignore:
            continue
        if problem:
            raise WbcError(f'actuator {name!r} {problem}; ignore=["{ACTUATORS}"] does not use it')
        if on_joint and m.jnt_type[joint] == BALL and int(m.actuator_trntype[number]) == IN_PARENT:
            raise WbcError(
                f"actuator {name!r} turns a ball joint about its parent's axes; give it joint=, not jointinparent="
            )
        bias = np.array(m.actuator_biasprm[number, :3])
        if int(m.actuator_biastype[number]) == NO_BIAS:
            bias[:] = 0.0
        clamped = m.actuator_ctrllimited[control] and not disabled(m, "CLAMPCTRL")
        controls = np.array(m.actuator_ctrlrange[control]) if clamped else np.array([-math.inf, math.inf])
        limited = m.actuator_forcelimited[number]
        forces = np.array(m.actuator_forcerange[number]) if limited else np.array([-math.inf, math.inf])
        if on_joint and bias[1] and not limited and m.jnt_actfrclimited[joint] and m.jnt_type[joint] in (HINGE, SLIDE):
            forces = np.sort(np.array(m.jnt_actfrcrange[joint]) / gear[0])
        gain = float(m.actuator_gainprm[number, 0])
        found.append(Drive(number, name, joint, control, gear[:3], gain, bias, controls, forces, late))
    if found and disabled(m, "ACTUATION"):
        raise WbcError('the file switches its actuators off: <flag actuation="disable"/>')
    return found


_TOO_LATE = (
    "has dynamics of its own (a filter, an integrator or a delay): it gives later than what is asked of it; "
    f'ignore=["{FILTERS}"] takes it as a motor'
)


def _lags(m: Any, number: int) -> bool:  # noqa: ANN401
    """Whether an actuator answers late."""
    delayed = bool(np.any(getattr(m, "actuator_delay", np.zeros(number + 1))[number]))
    return delayed or int(m.actuator_dyntype[number]) != AT_ONCE


def _problem(m: Any, number: int) -> str:  # noqa: ANN401
    """Why an actuator can't be asked for a torque, not even late; empty if it can."""
    plugin = int(getattr(m, "actuator_plugin", np.full(number + 1, -1))[number]) >= 0
    gain, bias = int(m.actuator_gaintype[number]), int(m.actuator_biastype[number])
    known = gain == FIXED_GAIN and bias in (NO_BIAS, AFFINE_BIAS)
    if plugin or not known or int(m.actuator_dyntype[number]) not in (AT_ONCE, *LATE):
        return "is neither a motor nor a servo: a torque can't be asked of it"
    return "" if m.actuator_gainprm[number, 0] else "has no gain: a torque can't be asked of it"


def joint_efforts(m: Any, found: Findings, ignore: Collection[str] = ()) -> dict[int, float]:  # noqa: ANN401
    """The joints that actuators drive, each with the greatest torque or force that they can give it, either way.

    Args:
        m: the model.
        found: where to note what is unusual.
        ignore: see `drives`.
    """
    efforts: dict[int, float] = {}
    on_joint: dict[int, list[Drive]] = {}
    for drive in drives(m, ignore):
        on_joint.setdefault(drive.joint, []).append(drive)
    for joint, several in on_joint.items():
        if m.jnt_type[joint] in (HINGE, SLIDE):
            efforts[joint] = _effort(m, joint, several, found)
        elif m.jnt_type[joint] == BALL and np.linalg.matrix_rank([drive.gear for drive in several]) == 3:
            efforts[joint] = _effort_about_any_axis(several)
    if actuator_count(m) == 0:
        for joint in range(m.njnt):
            if m.jnt_type[joint] in (HINGE, SLIDE):
                efforts[joint] = math.inf
        if efforts:
            found.warn(
                "there are no actuators; all joints with one coordinate are taken as actuated", f"{len(efforts)} joints"
            )
    return efforts


def _effort(m: Any, joint: int, several: list[Drive], found: Findings) -> float:  # noqa: ANN401
    """What the actuators of a joint with one coordinate give together, the weaker way."""
    low = high = 0.0
    for drive in several:
        ends = sorted(float(drive.gear[0]) * force for force in drive.reach())
        low, high = low + ends[0], high + ends[1]
    if m.jnt_actfrclimited[joint]:
        low, high = max(low, float(m.jnt_actfrcrange[joint, 0])), min(high, float(m.jnt_actfrcrange[joint, 1]))
    if low != -high:
        for drive in several:
            found.warn("actuators stronger one way than the other, taken as strong as in the weaker", drive.name)
    return max(min(-low, high), 0.0)


def _effort_about_any_axis(several: list[Drive]) -> float:
    """The greatest e for which the actuators of a ball joint give all torques with no component above e."""
    forces = np.abs(np.linalg.pinv(np.array([drive.gear for drive in several]).T)).sum(axis=1)  # for a component of 1
    reach = np.array([min(-low, high) for low, high in (drive.reach() for drive in several)])
    return max(float((reach / forces).min()), 0.0)


def reflected(m: Any) -> tuple[Array, Array]:  # noqa: ANN401
    """Armature and damping by velocity, with what actuators (of newer versions of MuJoCo) add through their gear."""
    armature, damping = np.array(m.dof_armature), np.array(m.dof_damping)
    for number in range(actuator_count(m)):
        joint = int(m.actuator_trnid[number, 0])
        if int(m.actuator_trntype[number]) in ON_JOINTS and m.jnt_type[joint] in (HINGE, SLIDE):
            v, gear = m.jnt_dofadr[joint], float(m.actuator_gear[int(_per_actuator(m, "outadr", number)), 0])
            for total, of_actuators in ((armature, "actuator_armature"), (damping, "actuator_damping")):
                if hasattr(m, of_actuators):
                    total[v] += gear**2 * float(getattr(m, of_actuators)[number])
    return armature, damping


def disabled(m: Any, what: str) -> bool:  # noqa: ANN401
    """Whether the model switches something off: "GRAVITY", "SPRING", "DAMPER", "FRICTIONLOSS", "ACTUATION"."""
    flag = getattr(mujoco.mjtDisableBit, f"mjDSBL_{what}", None) or mujoco.mjtDisableBit.mjDSBL_PASSIVE
    return bool(m.opt.disableflags & int(flag))


def actuator_count(m: Any) -> int:  # noqa: ANN401
    """How many actuators a model has; in newer versions of MuJoCo one of them can have several controls."""
    return int(getattr(m, "nactuator", m.nu))


def _per_actuator(m: Any, what: str, number: int) -> int:  # noqa: ANN401
    """Where an actuator's controls ("ctrladr") or outputs ("outadr") begin; in older versions it has one of each."""
    return int(getattr(m, f"actuator_{what}")[number]) if hasattr(m, f"actuator_{what}") else number
