"""What drives the joints of a `mujoco.MjModel`, and what in one a tree of rigid bodies leaves out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wbc.arrays import Array, MaskArray
from wbc.errors import WbcError
from wbc.model.findings import Findings

try:
    import mujoco
except ImportError as error:
    raise WbcError(f"reading an MJCF file needs MuJoCo: pip install 'wbc[mujoco]' ({error})") from None

__all__ = ["disabled", "joint_efforts", "mujoco", "note_the_rest", "reflected"]

# As plain integers: MuJoCo's enumerations are not equal to the numpy integers that stand in a model.
HINGE, SLIDE, BALL = (
    int(kind) for kind in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_BALL)
)
ON_JOINTS = int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT)
NO_BIAS = int(mujoco.mjtBias.mjBIAS_NONE)


def joint_efforts(m: Any, names: list[str], found: Findings) -> dict[int, float]:  # noqa: ANN401  mujoco has no types
    """The joints that actuators drive, each with the greatest torque or force that they can give it, either way.

    Args:
        m: the model.
        names: of its joints.
        found: where to note what is left out.
    """
    efforts: dict[int, float] = {}
    turning: dict[int, list[Array]] = {}
    for number in range(m.nu):
        joint, gear = _driven(m, number)
        called = m.actuator(number).name or f"actuator_{number}"
        if joint is None:
            found.warn("actuators that drive no joint, not used", called)
        elif m.jnt_type[joint] in (HINGE, SLIDE):
            efforts[joint] = efforts.get(joint, 0.0) + _effort(m, number, abs(float(gear[0])), called, found)
        else:
            turning.setdefault(joint, []).append(gear)
    for joint, gears in turning.items():
        if m.jnt_type[joint] == BALL and np.linalg.matrix_rank(np.array(gears)[:, :3]) == 3:
            efforts[joint] = math.inf
        else:
            found.warn("joints with several coordinates whose actuators don't drive them all, not used", names[joint])
    for joint in efforts:
        if m.jnt_actfrclimited[joint]:
            efforts[joint] = min(efforts[joint], float(np.abs(m.jnt_actfrcrange[joint]).min()))
    if m.nu == 0:
        for joint in range(m.njnt):
            if m.jnt_type[joint] in (HINGE, SLIDE):
                efforts[joint] = math.inf
        if efforts:
            found.warn(
                "there are no actuators; all joints with one coordinate are taken as actuated", f"{len(efforts)} joints"
            )
    return efforts


def reflected(m: Any) -> tuple[Array, Array]:  # noqa: ANN401
    """Armature and damping by velocity, with what actuators (of newer versions of MuJoCo) add through their gear."""
    armature, damping = np.array(m.dof_armature), np.array(m.dof_damping)
    for number in range(m.nu):
        joint, gear = _driven(m, number)
        if joint is not None and m.jnt_type[joint] in (HINGE, SLIDE):
            v = m.jnt_dofadr[joint]
            for total, of_actuators in ((armature, "actuator_armature"), (damping, "actuator_damping")):
                if hasattr(m, of_actuators):
                    total[v] += float(gear[0]) ** 2 * float(getattr(m, of_actuators)[number])
    return armature, damping


def note_the_rest(m: Any, names: list[str], found: Findings) -> None:  # noqa: ANN401
    """Warns of what a tree of rigid bodies leaves out.

    Args:
        m: the model.
        names: of its joints.
        found: where to note it.
    """
    left_out = "left out of the rigid-body model"
    felt = int(np.count_nonzero(_tendons_with_forces(m)))
    for what, count in (("springs, dampers or limits of tendons", felt), ("flexible bodies", m.nflex)):
        if count:
            found.warn(left_out, f"{count} {what}")
    if m.nmocap:
        found.warn("bodies moved from outside (mocap), taken as fixed", f"{m.nmocap} bodies")
    if m.opt.density or m.opt.viscosity:
        found.warn(left_out, "the forces of a fluid")
    if m.body_gravcomp.any():
        found.warn(left_out, "gravity compensation of bodies")
    for what in ("dof_dampingpoly", "jnt_stiffnesspoly", "actuator_dampingpoly"):
        if np.any(getattr(m, what, 0.0)):
            found.warn(left_out, f"nonlinear {'springs' if 'stiff' in what else 'dampers'}")
    for number, name in enumerate(names):
        if m.jnt_stiffness[number] and m.jnt_type[number] not in (HINGE, SLIDE):
            found.warn("springs left out (of joints with several coordinates)", name)


def _tendons_with_forces(m: Any) -> MaskArray:  # noqa: ANN401
    """Whether each tendon has an inertia, or exerts a force by itself: it is more than a transmission."""
    felt = np.array(m.tendon_limited, dtype=bool)
    for what in ("stiffness", "stiffnesspoly", "damping", "dampingpoly", "frictionloss", "armature"):
        values = getattr(m, f"tendon_{what}", None)
        if m.ntendon and values is not None:
            felt |= np.asarray(values).reshape(m.ntendon, -1).any(axis=1)
    return felt


def disabled(m: Any, what: str) -> bool:  # noqa: ANN401
    """Whether the model switches a kind of force off: "GRAVITY", "SPRING", "DAMPER", "FRICTIONLOSS"."""
    flag = getattr(mujoco.mjtDisableBit, f"mjDSBL_{what}", None) or mujoco.mjtDisableBit.mjDSBL_PASSIVE
    return bool(m.opt.disableflags & int(flag))


def _driven(m: Any, number: int) -> tuple[int | None, Array]:  # noqa: ANN401
    """The joint that an actuator drives, or None, and its gear."""
    gear: Array = np.array(m.actuator_gear[number])
    on_joint = int(m.actuator_trntype[number]) in ON_JOINTS and bool(gear.any())
    return (int(m.actuator_trnid[number, 0]) if on_joint else None), gear


def _effort(m: Any, number: int, gear: float, called: str, found: Findings) -> float:  # noqa: ANN401
    """The greatest force that an actuator can give in both directions."""
    limits = [np.array([-math.inf, math.inf])]
    if m.actuator_forcelimited[number]:
        limits.append(m.actuator_forcerange[number])
    direct = m.actuator_biastype[number] == NO_BIAS  # a motor, not a servo
    if m.actuator_ctrllimited[number] and direct:
        limits.append(m.actuator_ctrlrange[number] * abs(float(m.actuator_gainprm[number, 0])))
    force = min(float(np.abs(limit).min()) for limit in limits)
    if any(limit[0] != -limit[1] for limit in limits):
        found.warn("actuators stronger one way than the other, taken as strong as in the weaker", called)
    return force * gear
