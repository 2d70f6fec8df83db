"""User options beside a robot's file: locked joints, joints without a motor, a posture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from wbc.arrays import Array, numbers
from wbc.errors import WbcError, show, unknown_name
from wbc.geometry import so3
from wbc.model.model import Model
from wbc.model.parts import Joint
from wbc.model.space import ConfigurationSpace


def names(given: object, option: str, kind: str = "joints") -> tuple[str, ...]:
    """Names, or one name, as a tuple.

    Args:
        given: what a user handed over.
        option: of `load`, for an error.
        kind: the kind of thing that is named.
    """
    found = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (given,)
    if not all(isinstance(name, str) for name in found):
        raise WbcError(f"{option} must be names of {kind}, not {show(given)}")
    return found


def with_nominal(model: Model, nominal: Any) -> Model:  # noqa: ANN401
    """The model with a posture.

    Args:
        model: of the robot.
        nominal: a configuration, shape (nq,); positions by joint (rad or m; or all coordinates of a joint with
            several), the others staying what they are; or the name of a keyframe of the MJCF file.
    """
    q: Array = np.array(model.nominal)
    if isinstance(nominal, str):
        known = keyframes(model)
        if nominal not in known:
            raise WbcError(f"nominal: {unknown_name('keyframe', nominal, known)}")
        q = np.array(known[nominal])
    elif isinstance(nominal, Mapping):
        for name, position in nominal.items():
            if name not in model.joints:
                raise WbcError(f"nominal: {unknown_name('joint', name, model.joints)}")
            joint, at = model.joints[name], model.q_index[name]
            given = np.atleast_1d(numbers(position, f"the nominal position of {name!r}"))
            if given.shape != (joint.nq,):
                raise WbcError(f"nominal: joint {name!r} has {joint.nq} coordinates, not {show(position)}")
            q[at : at + joint.nq] = given
    else:
        q = numbers(nominal, "nominal")
    return model.replace(nominal=ConfigurationSpace(model).configuration(q, "nominal"))


def keyframes(model: Model) -> dict[str, Array]:
    """The postures with names of the MJCF file that a model was read from."""
    m = model.simulated
    return {} if m is None else {m.key(number).name: m.key_qpos[number] for number in range(m.nkey)}


def with_passive(model: Model, passive: Iterable[str]) -> Model:
    """The model with joints that no motor drives.

    Args:
        model: of the robot.
        passive: names of joints.
    """
    undriven = set(_known(model, passive, "passive"))
    joints = [replace(joint, actuated=joint.actuated and joint.name not in undriven) for joint in model.joints.values()]
    return model.replace(joints=joints)


def with_locked(model: Model, locked: Iterable[str]) -> Model:
    """The model with joints fixed where the nominal posture has them: what they carry becomes part of their parent.

    Args:
        model: of the robot.
        locked: names of joints with one coordinate.
    """
    held = set(_known(model, locked, "locked"))
    kept, joints = np.ones(model.nq, dtype=bool), []
    for joint in model.joints.values():
        if joint.name in held and joint.nv:
            if joint.nq != 1:
                raise WbcError(
                    f"locked: joint {joint.name!r} has {joint.nq} coordinates; only joints with one are locked"
                )
            at = model.q_index[joint.name]
            kept[at] = False
            joint = Joint(
                joint.name,
                "fixed",
                joint.parent,
                joint.child,
                joint.pose @ moved(joint, model.nominal[at]),
                actuated=False,
            )
        joints.append(joint)
    return model.replace(joints=joints, nominal=np.array(model.nominal)[kept], simulated=None)


def moved(joint: Joint, position: float) -> Array:
    """The transform of a revolute or prismatic joint at a position, shape (4, 4)."""
    T = np.eye(4)
    if joint.kind == "prismatic":
        T[:3, 3] = position * joint.axis
    else:
        T[:3, :3] = so3.exp(position * joint.axis)
    return T


def _known(model: Model, given: Iterable[str], option: str) -> list[str]:
    found = list(given)
    for name in found:
        if name not in model.joints:
            raise WbcError(f"{option}: {unknown_name('joint', name, model.joints)}")
    return found
