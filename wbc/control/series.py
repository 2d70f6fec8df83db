"""Springs between motors and contacts that a controller treats as rigid.

A motor behind a spring can't change a contact force at once: first the spring must deflect. The torques that would give
an acceleration at once would throw the motor's rotor about. A spring much faster than the controller is as good as
rigid: its force is then a constraint force, and the motor moves with what it carries.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from scipy.linalg import lapack

from wbc.arrays import Array
from wbc.contacts import Contact
from wbc.dynamics.base import Dynamics
from wbc.model.loops import JointCoupling
from wbc.model.parts import Joint

RIGID = 8.0
"""Frequency above which a spring counts as rigid, Hz: twice that of the fastest tasks of a body that stands."""

LOADED = 1e-6
"""A spring whose share of a contact's motion is less than this is not loaded by it."""

RANK = 1e-9
"""Below this share of the greatest singular value is rounding."""


def rigid_springs(robot: Dynamics, contacts: Iterable[Contact]) -> list[str]:
    """The joints without motors whose springs contacts load, and that are too fast to be controlled.

    A contact loads a spring if it can move while base and motors are held, by that spring's yielding. Its frequency is
    that of the spring on all the rest, free in space: √(k (M⁻¹)ⱼⱼ), M with closed loops, in the nominal configuration.

    Args:
        robot: of a controller.
        contacts: that may close.
    """
    model = robot.model
    sprung = [joint for joint in model.joints.values() if _is_sprung(joint) and not model.drives(joint.name)]
    frames = {contact.frame for contact in contacts}
    if not sprung or not frames:
        return []
    twin = robot.copy()
    twin.update(model.nominal)
    at = [model.v_index[joint.name] for joint in sprung]
    held = [*range(6 * model.floating), *(model.v_index[name] for name in model.joint_names if model.drives(name))]
    loops = twin.loop_motion.J if model.loops else np.zeros((0, model.nv))
    N = _null_space(np.vstack([loops, np.eye(model.nv)[held]]))
    moved = np.vstack([twin.jacobian(frame)[:3] for frame in sorted(frames)]) @ N
    # what yields in the directions in which contacts move
    V = np.linalg.svd(moved)[2][: np.linalg.matrix_rank(moved, tol=LOADED)]
    share = np.linalg.norm((N @ V.T)[at], axis=1)
    mobility = _mobility(twin, loops)[at]
    fast = np.sqrt([joint.stiffness for joint in sprung] * mobility) > 2.0 * math.pi * RIGID
    return [joint.name for joint, loaded, quick in zip(sprung, share > LOADED, fast, strict=True) if loaded and quick]


def with_rigid_springs(robot: Dynamics, contacts: Iterable[Contact]) -> Dynamics:
    """A copy of a robot in which springs that are too fast to be controlled are rigid.

    Args:
        robot: of a controller.
        contacts: that may close.
    """
    names = rigid_springs(robot, contacts)
    if not names:
        return robot.copy()
    joints = robot.model.joints
    return robot.with_loops(
        *(JointCoupling({name: 1.0}, polynomial=[joints[name].rest], name=f"spring {name}") for name in names)
    )


def _is_sprung(joint: Joint) -> bool:
    return joint.nv == 1 and joint.stiffness > 0.0


def _null_space(A: Array) -> Array:
    """An orthonormal basis of what A maps to nothing, shape (n, free)."""
    _, singular, V = np.linalg.svd(A)
    basis: Array = V[int((singular > RANK * singular.max(initial=0.0)).sum()) :].T
    return basis


def _mobility(robot: Dynamics, loops: Array) -> Array:
    """The diagonal of M⁻¹ with closed loops: 1 / M where nothing else is held, shape (nv,)."""
    N = _null_space(loops)
    factor, failed = lapack.dpotrf(N.T @ robot.mass_matrix @ N, lower=1)
    if failed:
        return np.zeros(robot.nv)
    return np.asarray((lapack.dtrtrs(factor, N.T, lower=1)[0] ** 2).sum(axis=0))
