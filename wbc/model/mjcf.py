"""An MJCF file without some of its joints or motors, and with a floor where it has nothing to stand on."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError, show, unknown_name
from wbc.geometry import pose as poses
from wbc.geometry import quaternion, so3
from wbc.model.bounds import check_velocities
from wbc.model.findings import Findings
from wbc.model.keyframes import trim_keys
from wbc.model.mjcf_bounds import check_mjcf
from wbc.model.mujoco import solid
from wbc.model.mujoco_actuators import HINGE, SLIDE, mujoco
from wbc.model.objects import OBJECTS, free_objects, hold, refuse_in_front
from wbc.model.overlaps import OVERLAPS, overlapping, tell, without


def read_mjcf(
    path: str | Path,
    locked: Iterable[str] = (),
    passive: Iterable[str] = (),
    nominal: object = None,
    ignore: Collection[str] = (),
) -> Any:  # noqa: ANN401  mujoco is not typed for a strict checker
    """The `mujoco.MjModel` of an MJCF file.

    Where something in it can fall and nothing in it can be stood on, a floor is put at z = 0.

    Args:
        path: of the file.
        locked: joints that are left out: what they carry becomes part of what carries them, as they stand in the
            nominal posture.
        passive: joints whose actuators are left out.
        nominal: the posture that joints are locked in: their positions by name, or the name of a keyframe; None: the
            first keyframe.
        ignore: see `wbc.load`: "overlaps" and "objects" count here.
    """
    check_mjcf(Path(path))
    try:
        with _warnings_of_mujoco(path):
            spec = mujoco.MjSpec.from_file(str(path))
            m = spec.compile()
    except (ValueError, RuntimeError, mujoco.FatalError) as error:  # RuntimeError: whatever C++ threw
        text = " ".join(str(error).split())
        if "opening file" in text:  # MuJoCo names it without the folder that it looked in
            text += (
                "; a mesh, a picture or an included file is not where the file says: look in the folders that its "
                "<compiler> names (meshdir, texturedir), and fetch what was left out, as by git lfs pull"
            )
        raise WbcError(f"{path}: MuJoCo can't read it: {text}") from None
    try:
        check_velocities(m.nv)
    except WbcError as error:
        raise WbcError(f"{path}: {error}") from None
    held, undriven = set(locked), set(passive)
    known = [m.joint(number).name for number in range(m.njnt)]
    for option, given in (("locked", held), ("passive", undriven)):
        for name in sorted(given):
            if name not in known:
                raise WbcError(f"{option}: {unknown_name('joint', name, known)}")
    objects, found = free_objects(m), Findings(str(path))
    kept = [] if OBJECTS in ignore else objects
    try:
        refuse_in_front(m, kept)
    except WbcError as error:
        raise WbcError(f"{path}: {error}") from None
    what = (
        "free objects count as parts of the robot, its mass and its centre of mass"
        if kept
        else "free objects stay in place"
    )
    for number in objects:
        told = f'{what} (ignore=["{OBJECTS}"]{" lets them stay in place" if kept else ""})'
        found.warn(told, m.body(number).name or f"body_{number}")
    found.emit()
    floorless = _falls(m) and not _holds(m)
    if not (held or undriven or floorless or objects != kept):
        return _apart(path, spec, m, nominal, ignore)
    slack = _slack(spec, held)
    idle = _drop_actuators(spec, held | undriven, {tendon.name for tendon in slack})
    if objects != kept:
        hold(spec, m, objects, _posture(m, nominal))
    if held:
        _drop_tendons(spec, slack)
        _lock(spec, m, held, _posture(m, nominal))
    gone = [m.joint(name).id for name in held] + [int(m.body_jntadr[body]) for body in objects if body not in kept]
    trim_keys(spec, m, gone, idle)
    if floorless:  # last: what is added takes the numbers of bodies away
        taken = {m.geom(number).name for number in range(m.ngeom)}
        name = next(
            name for name in ("floor", *(f"floor_{count}" for count in range(m.ngeom + 1))) if name not in taken
        )
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[20.0, 20.0, 0.1], name=name)
    try:
        return _apart(path, spec, spec.compile(), None if held else nominal, ignore)
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        what = f"without the joints {show(sorted(held))}" if held else "as it is wanted"
        raise WbcError(f"{path}: MuJoCo can't make it {what}: {' '.join(str(error).split())}") from None


def _apart(path: str | Path, spec: Any, m: Any, nominal: object, ignore: Collection[str]) -> Any:  # noqa: ANN401
    """The model; parts that overlap are told of, or their contacts left out."""
    pairs, found, apart = overlapping(m, _posture(m, nominal)), Findings(str(path)), OVERLAPS in ignore
    if not pairs:
        return m
    tell(m, pairs, found, apart)
    found.emit()
    return without(spec, m, pairs) if apart else m


@contextmanager
def _warnings_of_mujoco(path: str | Path) -> Iterator[None]:
    """Turns MuJoCo's printed messages into warnings."""
    before, found = mujoco.get_mju_user_warning(), Findings(str(path))
    mujoco.set_mju_user_warning(lambda message: found.warn("MuJoCo's compiler", " ".join(message.split())))
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)
    found.emit()


def _falls(m: Any) -> bool:  # noqa: ANN401
    """Whether gravity pulls on a free body."""
    return bool((m.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE)).any() and np.any(m.opt.gravity))


def _holds(m: Any) -> bool:  # noqa: ANN401
    """Whether there is something fixed that can be touched."""
    fixed = m.body_weldid[m.geom_bodyid] == 0
    return bool((fixed & solid(m)).any())


def _posture(m: Any, nominal: object) -> Array:  # noqa: ANN401
    """The configuration that joints are locked in, shape (nq,)."""
    q: Array = np.array(m.key_qpos[0] if m.nkey else m.qpos0)
    if isinstance(nominal, str):
        known = [m.key(number).name for number in range(m.nkey)]
        if nominal not in known:
            raise WbcError(f"nominal: {unknown_name('keyframe', nominal, known)}")
        q = np.array(m.key_qpos[known.index(nominal)])
    elif isinstance(nominal, Mapping):
        for name, position in nominal.items():
            number = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_JOINT, str(name))
            if number >= 0 and int(m.jnt_type[number]) in (HINGE, SLIDE):
                q[m.jnt_qposadr[number]] = float(position)
    return q


def _slack(spec: Any, held: set[str]) -> list[Any]:  # noqa: ANN401
    """The tendons that nothing moves any more without some joints: those along these joints alone."""
    found = []
    for tendon in spec.tendons if held else ():
        along = [wrap.target.name for wrap in tendon.path if wrap.type == mujoco.mjtWrap.mjWRAP_JOINT]
        loose = sorted(set(along) - held)
        if along and not loose:
            found.append(tendon)
        elif len(loose) < len(set(along)):
            raise WbcError(
                f"locked: tendon {tendon.name!r} couples joint {loose[0]!r} to a locked one; lock it as well"
            )
    return found


def _drop_tendons(spec: Any, slack: list[Any]) -> None:  # noqa: ANN401
    """Takes tendons out of a description, with what couples and measures them."""
    names, kind = {tendon.name for tendon in slack}, mujoco.mjtObj.mjOBJ_TENDON
    for equality in list(spec.equalities):
        if equality.type == mujoco.mjtEq.mjEQ_TENDON and {equality.name1, equality.name2} & names:
            spec.delete(equality)
    for sensor in list(spec.sensors):
        if sensor.objtype == kind and sensor.objname in names:
            spec.delete(sensor)
    for tendon in slack:
        spec.delete(tendon)


def _drop_actuators(spec: Any, joints: set[str], tendons: set[str]) -> list[int]:  # noqa: ANN401
    """Takes the actuators of joints and tendons out of a description; their numbers in the model."""
    kinds = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
    idle = [
        (a, a.id)
        for a in spec.actuators
        if (a.trntype in kinds and a.target in joints)
        or (a.trntype == mujoco.mjtTrn.mjTRN_TENDON and a.target in tendons)
    ]
    for actuator, _ in idle:
        spec.delete(actuator)
    return [number for _, number in idle]


def without_motors(m: Any, joints: Iterable[str]) -> Any:  # noqa: ANN401
    """A copy of a `mujoco.MjModel` in which the actuators of some joints give nothing.

    Args:
        m: the model.
        joints: names of joints.
    """
    twin, idle = copy.copy(m), set(joints)
    kinds = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    for number in range(m.nu):
        if int(m.actuator_trntype[number]) in kinds and m.joint(int(m.actuator_trnid[number, 0])).name in idle:
            twin.actuator_gainprm[number] = twin.actuator_biasprm[number] = 0.0
    return twin


def _lock(spec: Any, m: Any, held: set[str], q: Array) -> None:  # noqa: ANN401
    """Takes joints out of a description, and puts their bodies where they stood."""
    for equality in list(spec.equalities):
        tied = {name for name in (equality.name1, equality.name2) if name}
        if equality.type == mujoco.mjtEq.mjEQ_JOINT and tied & held:
            loose = sorted(tied - held)
            if loose:
                raise WbcError(f"locked: joint {loose[0]!r} is coupled to one that is locked; lock it as well")
            spec.delete(equality)
    for sensor in list(spec.sensors):
        if sensor.objtype == mujoco.mjtObj.mjOBJ_JOINT and sensor.objname in held:
            spec.delete(sensor)
    for body in spec.bodies[1:]:
        if any(joint.name in held for joint in body.joints):
            _fold(spec, m, body, held, q)


def _fold(spec: Any, m: Any, body: Any, held: set[str], q: Array) -> None:  # noqa: ANN401
    """Folds the locked joints of a body into its pose.

    A body moves by T J₁ J₂ …, Jₖ being its joints in their order. A locked one is a constant F, which is moved to the
    front: J F = F (F⁻¹ J F), where the bracket is the joint J at another place.
    """
    front = np.eye(4)
    joints = list(body.joints)
    for place, joint in enumerate(joints):
        if joint.name not in held:
            continue
        number = m.joint(joint.name).id
        kind = int(m.jnt_type[number])
        if kind not in (HINGE, SLIDE):
            raise WbcError(f"locked: joint {joint.name!r} has several coordinates; only joints with one are locked")
        at = m.jnt_qposadr[number]
        F = _motion(kind, m.jnt_axis[number], m.jnt_pos[number], float(q[at] - m.qpos0[at]))
        for other in joints[:place]:
            if other.name not in held:
                other.pos = F[:3, :3].T @ (np.array(other.pos) - F[:3, 3])
                other.axis = F[:3, :3].T @ np.array(other.axis)
        front = front @ F
    if not np.allclose(front, np.eye(4), atol=1e-12):
        if body.frame is not None:
            raise WbcError(f"locked: body {body.name!r} stands in a <frame>; its joint can be locked at zero only")
        pose = poses.homogeneous(quaternion.to_matrix(m.body_quat[body.id]), m.body_pos[body.id]) @ front
        body.alt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT
        body.pos, body.quat = pose[:3, 3], quaternion.from_matrix(pose[:3, :3])
    for joint in joints:
        if joint.name in held:
            spec.delete(joint)


def _motion(kind: int, axis: Array, anchor: Array, position: float) -> Array:
    """What a joint does: a turn about an axis through its anchor, or a shift along the axis; shape (4, 4)."""
    T = np.eye(4)
    if kind == SLIDE:
        T[:3, 3] = position * axis
    else:
        T[:3, :3] = so3.exp(position * axis)
        T[:3, 3] = anchor - T[:3, :3] @ anchor
    return T
