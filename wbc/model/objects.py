"""Free objects in a MuJoCo model that are no part of the robot: what to do with a box that lies beside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError
from wbc.model.mujoco_actuators import HINGE, SLIDE, actuator_count, mujoco

OBJECTS = "objects"
"""What `wbc.load` is told to ignore: that free objects move. They stay where they are in the file's posture."""

FREE = int(mujoco.mjtJoint.mjJNT_FREE)


def free_objects(m: Any) -> list[int]:  # noqa: ANN401  mujoco has no types
    """The bodies that float, carry nothing that is driven, and are tied to nothing; none where nothing is driven.

    Args:
        m: the `mujoco.MjModel`.
    """
    driven = _driven_trees(m)
    tied = {int(m.body_rootid[body]) for pair in _tied_bodies(m) for body in pair}
    found = []
    for joint in np.flatnonzero(m.jnt_type == FREE).tolist():
        tree = int(m.body_rootid[m.jnt_bodyid[joint]])
        if tree not in driven and tree not in tied:
            found.append(int(m.jnt_bodyid[joint]))
    return found if driven else []


def _driven_trees(m: Any) -> set[int]:  # noqa: ANN401
    """The trees that an actuator acts on; where there are none, those with joints that are taken as actuated."""
    if not actuator_count(m):
        scalar = np.isin(m.jnt_type, (HINGE, SLIDE))
        return {int(m.body_rootid[body]) for body in m.jnt_bodyid[scalar]}
    d = mujoco.MjData(m)
    mujoco.mj_resetData(m, d)
    mujoco.mj_forward(m, d)
    moment = np.zeros((m.nu, m.nv))
    mujoco.mju_sparse2dense(moment, d.actuator_moment, d.moment_rownnz, d.moment_rowadr, d.moment_colind)
    acts = np.flatnonzero(np.abs(moment).max(axis=0) > 0.0)
    return {int(m.body_rootid[m.dof_bodyid[v]]) for v in acts}


def _tied_bodies(m: Any) -> list[tuple[int, int]]:  # noqa: ANN401
    """The bodies that connects and welds hold together."""
    found = []
    for number in range(m.neq):
        if int(m.eq_type[number]) in (int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD)):
            ends = int(m.eq_obj1id[number]), int(m.eq_obj2id[number])
            of_site = int(m.eq_objtype[number]) == int(mujoco.mjtObj.mjOBJ_SITE)
            a, b = (int(m.site_bodyid[end]) if of_site else end for end in ends)
            found.append((a, b))
    return found


def hold(spec: Any, m: Any, bodies: list[int], q: Array) -> None:  # noqa: ANN401
    """Takes the free joints of objects out of a description, and puts them where they are in a configuration.

    Args:
        spec: that the model was compiled from; changed.
        m: the model.
        bodies: of `free_objects`.
        q: shape (nq,).
    """
    by_number = {body.id: body for body in spec.bodies}
    for number in bodies:
        at, body = int(m.jnt_qposadr[m.body_jntadr[number]]), by_number[number]
        body.alt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT
        body.pos, body.quat = q[at : at + 3], q[at + 3 : at + 7]
        for joint in list(body.joints):
            spec.delete(joint)


def refuse_in_front(m: Any, bodies: list[int]) -> None:  # noqa: ANN401
    """Raises a `WbcError` where q and v would begin with those of an object.

    Args:
        m: the model.
        bodies: of `free_objects`.
    """
    if m.njnt and int(m.jnt_bodyid[0]) in bodies:
        name = m.body(int(m.jnt_bodyid[0])).name or f"body_{int(m.jnt_bodyid[0])}"
        raise WbcError(
            f"the free object {name!r} comes before the robot, as if it were its base: put the robot's <body> first in "
            f'<worldbody>, or let objects stay in place: ignore=["{OBJECTS}"]'
        )
