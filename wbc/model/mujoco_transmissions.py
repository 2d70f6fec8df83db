"""The actuators of a `mujoco.MjModel` that are no motors of joints: on fixed tendons, at sites, on parts of joints."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError
from wbc.model.actuators import Actuator
from wbc.model.findings import Findings
from wbc.model.mujoco_actuators import IN_PARENT, Drive, actuator_count, drives, mujoco
from wbc.model.mujoco_loops import tendon_coefficients

TENDON, AT_SITE = int(mujoco.mjtTrn.mjTRN_TENDON), int(mujoco.mjtTrn.mjTRN_SITE)
BALL = int(mujoco.mjtJoint.mjJNT_BALL)


def other_drives(m: Any, driven: Collection[int], ignore: Collection[str] = ()) -> list[Drive]:  # noqa: ANN401
    """The actuators that can be described here and are no motor of a joint, in MuJoCo's order.

    Args:
        m: the model.
        driven: the joints that have motors.
        ignore: see `drives`.
    """
    on_parts = [drive for drive in drives(m, ignore) if drive.joint not in driven]
    others = drives(m, ignore, (TENDON, AT_SITE))
    known = [it for it in others if not on_tendon(m, it) or tendon_coefficients(m, it.joint) is not None]
    return sorted([*on_parts, *known], key=lambda drive: drive.number)


def thruster_sites(m: Any) -> set[int]:  # noqa: ANN401
    """The sites that actuators push on, or against."""
    pushed = m.actuator_trnid[m.actuator_trntype == AT_SITE]
    return {int(site) for site in pushed.ravel() if site >= 0}


def read_actuators(
    m: Any,  # noqa: ANN401
    joints: list[str],
    sites: dict[int, str],
    driven: Collection[int],
    found: Findings,
    ignore: Collection[str] = (),
) -> list[Actuator]:
    """The actuators that are not motors of joints; their u is MuJoCo's force, and G has its gears.

    Args:
        m: the model.
        joints: their names here.
        sites: the frames that its sites are, by number.
        driven: the joints that have motors.
        found: where to note which can't be used.
        ignore: see `drives`.
    """
    others = other_drives(m, driven, ignore)
    used = {drive.number for drive in [*others, *drives(m, ignore)]}
    for number in range(actuator_count(m)):
        if number not in used:
            tendon = int(m.actuator_trnid[number, 0])
            pulls = m.actuator_trntype[number] == mujoco.mjtTrn.mjTRN_TENDON and tendon_coefficients(m, tendon) is None
            what = "drive no joint" if not pulls else "pull a tendon over sites (what hangs on it is loose)"
            found.warn(f"actuators that {what}, not used", m.actuator(number).name or f"actuator_{number}")
    taken = {joints[joint] for joint in driven}
    actuators = []
    for drive in others:
        name = drive.name
        while name in taken:
            name += "_"
        taken.add(name)
        low, high = drive.reach()
        effort, least, gear = max(high, 0.0), min(low, 0.0), _gear(m, drive)
        if on_tendon(m, drive):
            coefficients = tendon_coefficients(m, drive.joint) or {}
            rates = {joints[joint]: gear[0] * c for joint, c in coefficients.items()}
            actuators.append(Actuator(name, effort, least, rates))
        elif int(m.actuator_trntype[drive.number]) == AT_SITE:
            reference = int(m.actuator_trnid[drive.number, 1])
            against = sites[reference] if reference >= 0 else ""
            actuators.append(Actuator(name, effort, least, {}, sites[drive.joint], gear, against))
        else:
            actuators.append(Actuator(name, effort, least, {joints[drive.joint]: _on_joint(m, drive, gear)}))
    return actuators


def on_tendon(m: Any, drive: Drive) -> bool:  # noqa: ANN401
    """Whether an actuator pulls a tendon."""
    return int(m.actuator_trntype[drive.number]) == TENDON


def _on_joint(m: Any, drive: Drive, gear: Array) -> Array:  # noqa: ANN401
    """What an actuator does to the velocities of a ball joint or a free one."""
    if int(m.jnt_type[drive.joint]) == BALL:
        return gear[:3]
    if int(m.actuator_trntype[drive.number]) == IN_PARENT and gear[3:].any():
        raise WbcError(
            f"actuator {drive.name!r} turns a free body about the world's axes; give it joint=, not jointinparent="
        )
    return gear


def _gear(m: Any, drive: Drive) -> Array:  # noqa: ANN401
    """All six numbers."""
    where = m.actuator_outadr[drive.number] if hasattr(m, "actuator_outadr") else drive.number
    return np.array(m.actuator_gear[int(where)])
