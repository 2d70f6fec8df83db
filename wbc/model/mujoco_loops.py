"""The equality constraints of a `mujoco.MjModel` as loops of ours."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from wbc.arrays import Array
from wbc.geometry import pose as poses
from wbc.geometry import quaternion
from wbc.model.findings import Findings
from wbc.model.loops import JointCoupling, Loop, LoopClosure
from wbc.model.mujoco_actuators import HINGE, SLIDE, disabled, mujoco

CONNECT, WELD, JOINT, TENDON = (
    int(getattr(mujoco.mjtEq, f"mjEQ_{kind}")) for kind in ("CONNECT", "WELD", "JOINT", "TENDON")
)
SITE = int(mujoco.mjtObj.mjOBJ_SITE)

PLAY = "play"
"""What `wbc.load` is told to ignore: that of joints which a tendon couples by limits that leave little room."""

LITTLE = 0.05
"""Share of the way that joints can move a tendon within their ranges, at the most, for its limits to be mere play."""


def read_loops(
    m: Any,  # noqa: ANN401
    bodies: list[str],
    joints: list[str],
    found: Findings,
    ignore: Collection[str] = (),
) -> list[Loop]:
    """The equality constraints that are in force at the start, and tendons that couple joints where play is ignored.

    Args:
        m: the model.
        bodies: their names here.
        joints: their names here.
        found: where to note what is left out.
        ignore: see `wbc.load`.
    """
    loops: list[Loop] = []
    for tendon, coefficients in coupling_tendons(m).items() if PLAY in ignore else ():
        middle = float(np.mean(m.tendon_range[tendon]))
        name = m.tendon(tendon).name or f"tendon_{tendon}"
        loops.append(JointCoupling({joints[joint]: c for joint, c in coefficients.items()}, {}, [middle], name))
    if disabled(m, "EQUALITY"):
        return loops
    for number in range(m.neq):
        name = m.eq(number).name or f"equality_{number}"
        kind = int(m.eq_type[number])
        if not m.eq_active0[number]:
            continue
        loop: Loop | None = None
        if kind in (CONNECT, WELD):
            loop = _closure(m, number, name, bodies)
        elif kind in (JOINT, TENDON):
            loop = _coupling(m, number, name, joints)
        if loop is None:
            found.warn("left out of the rigid-body model: equality constraints of another kind", name)
        else:
            loops.append(loop)
    return loops


def tendon_coefficients(m: Any, tendon: int) -> dict[int, float] | None:  # noqa: ANN401
    """The coefficient of each joint in the length of a tendon; None where it is not fixed to joints.

    Args:
        m: the model.
        tendon: its number.
    """
    first, count = int(m.tendon_adr[tendon]), int(m.tendon_num[tendon])
    coefficients: dict[int, float] = {}
    for index in range(first, first + count):
        if int(m.wrap_type[index]) != int(mujoco.mjtWrap.mjWRAP_JOINT):
            return None
        joint = int(m.wrap_objid[index])
        coefficients[joint] = coefficients.get(joint, 0.0) + float(m.wrap_prm[index])
    return coefficients


def coupling_tendons(m: Any) -> dict[int, dict[int, float]]:  # noqa: ANN401
    """The tendons whose limits couple joints but for a little play, each with the coefficients of its joints.

    Args:
        m: the model.
    """
    found: dict[int, dict[int, float]] = {}
    for tendon in np.flatnonzero(m.tendon_limited).tolist():
        coefficients = {joint: c for joint, c in (tendon_coefficients(m, tendon) or {}).items() if c}
        if len(coefficients) < 2 or any(int(m.jnt_type[joint]) not in (HINGE, SLIDE) for joint in coefficients):
            continue
        ways = [abs(c) * np.ptp(m.jnt_range[joint]) for joint, c in coefficients.items() if m.jnt_limited[joint]]
        longest = max(ways) if len(ways) == len(coefficients) else 2 * np.pi * max(map(abs, coefficients.values()))
        if np.ptp(m.tendon_range[tendon]) < LITTLE * longest:
            found[tendon] = coefficients
    return found


def _closure(m: Any, number: int, name: str, bodies: list[str]) -> LoopClosure | None:  # noqa: ANN401
    """A connect or a weld: between bodies, or between sites."""
    first, second = int(m.eq_obj1id[number]), int(m.eq_obj2id[number])
    data: Array = np.array(m.eq_data[number])
    welded = int(m.eq_type[number]) == WELD
    if int(m.eq_objtype[number]) == SITE:
        ends = [(int(m.site_bodyid[site]), _pose(m.site_pos[site], m.site_quat[site])) for site in (first, second)]
    elif welded:  # its numbers: where it is on the second body, then how the second body lies in the first
        ends = [(first, _pose(data[3:6], data[6:10])), (second, _pose(data[:3], np.array([1.0, 0.0, 0.0, 0.0])))]
    else:
        none = np.array([1.0, 0.0, 0.0, 0.0])
        ends = [(first, _pose(data[:3], none)), (second, _pose(data[3:6], none))]
    (a, pose_a), (b, pose_b) = ends
    if bodies[a] == bodies[b]:
        return None
    return LoopClosure(bodies[a], bodies[b], None if welded else "xyz", pose_a, pose_b, name)


def _coupling(m: Any, number: int, name: str, joints: list[str]) -> JointCoupling | None:  # noqa: ANN401
    """The coupling of two joints, or of two tendons that are fixed to joints: both lengths counted from qpos0."""
    first, second = int(m.eq_obj1id[number]), int(m.eq_obj2id[number])
    sides: list[dict[int, float] | None]
    if int(m.eq_type[number]) == JOINT:
        sides = [{first: 1.0}, {second: 1.0} if second >= 0 else {}]
    else:
        sides = [tendon_coefficients(m, first), tendon_coefficients(m, second) if second >= 0 else {}]
    left, right = sides
    if left is None or right is None:
        return None
    if any(int(m.jnt_type[joint]) not in (HINGE, SLIDE) for joint in (*left, *right)) or set(left) & set(right):
        return None
    at_left, at_right = (
        sum(c * float(m.qpos0[m.jnt_qposadr[joint]]) for joint, c in side.items()) for side in (left, right)
    )
    if not right:
        polynomial = Polynomial([at_left + float(m.eq_data[number, 0])])
    else:
        polynomial = Polynomial(m.eq_data[number, :5])(Polynomial([-at_right, 1.0])) + at_left
    names = [{joints[joint]: c for joint, c in side.items() if c} for side in (left, right)]
    return JointCoupling(names[0], names[1], polynomial.coef.tolist(), name)


def _pose(position: Array, orientation: Array) -> Array:
    return poses.homogeneous(quaternion.to_matrix(orientation), position)
