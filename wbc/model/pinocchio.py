"""Reads a robot out of a `pinocchio.Model`: joints in the same order, coordinates as everywhere in this library."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError, show
from wbc.model.findings import Findings
from wbc.model.model import WORLD, Model
from wbc.model.parts import Body, Frame, Joint, JointKind

try:
    import pinocchio as pin
except ImportError as error:
    raise WbcError(f"reading a Pinocchio model needs Pinocchio: pip install 'wbc[pinocchio]' ({error})") from None


def from_pinocchio(m: Any) -> Model:  # noqa: ANN401  pinocchio has no types
    """The robot in a `pinocchio.Model`.

    Its free-flyer joint becomes a floating base, whose velocity has its linear part in the world; continuous joints
    have an angle in place of Pinocchio's cosine and sine; a planar joint has an angle too, and its linear velocity in
    the joint's frame. Every joint but a free flyer is taken as actuated. Joints are sorted depth first; where that
    changes their order, it is a warning.

    Args:
        m: the model; it is only read.
    """
    bodies: list[Body] = []
    joints: list[Joint] = []
    named: dict[int, str] = {0: WORLD}
    frames: list[Frame] = []
    carried: dict[int, list[Any]] = {}
    for frame in m.frames:
        if frame.type != pin.FrameType.JOINT and frame.name not in ("universe", WORLD):
            carried.setdefault(frame.parentJoint, []).append(frame)
    for number in range(1, m.njoints):
        at_origin = [
            frame.name
            for frame in carried.get(number, [])
            if frame.type == pin.FrameType.BODY and np.allclose(frame.placement.homogeneous, np.eye(4), atol=1e-15)
        ]
        named[number] = at_origin[0] if at_origin else f"{m.names[number]}_body"
    for number in range(1, m.njoints):
        inertia = m.inertias[number]
        bodies.append(Body(named[number], float(inertia.mass), np.array(inertia.lever), np.array(inertia.inertia)))
        _add_joint(m, number, named, bodies, joints)
    name = m.name or "Pinocchio model"
    found = Findings(f"Pinocchio model {name!r}")
    taken = {body: (number, np.eye(4)) for number, body in named.items()}
    for number, of_joint in carried.items():
        for frame in of_joint:
            pose = np.array(frame.placement.homogeneous)
            if frame.name not in taken:
                taken[frame.name] = number, pose
                frames.append(Frame(frame.name, named[number], pose))
            elif taken[frame.name][0] != number or not np.allclose(taken[frame.name][1], pose, rtol=0, atol=1e-12):
                found.warn("frames left out, because another elsewhere has the same name", frame.name)
    given = [joint.name for joint in joints]
    ordered = list(Model(name, bodies, joints).joints)
    if ordered != given:
        found.warn("joints in another order than Pinocchio's (depth first), from", ", ".join(ordered))
    found.emit()
    return Model(name, bodies, joints, frames, gravity=tuple(m.gravity.linear), warnings=found.warnings)


def _add_joint(m: Any, number: int, named: dict[int, str], bodies: list[Body], joints: list[Joint]) -> None:  # noqa: ANN401
    """Adds the joint, or the joints, that a joint of Pinocchio's is here."""
    joint, name = m.joints[number], m.names[number]
    pose = np.array(m.jointPlacements[number].homogeneous)
    carrier, child = named[m.parents[number]], named[number]
    shape = joint.shortname()
    simple: dict[str, JointKind] = {
        "JointModelFreeFlyer": "floating",
        "JointModelSpherical": "spherical",
        "JointModelPlanar": "planar",
    }
    if shape in simple:
        axis = np.array([0.0, 0.0, 1.0] if shape == "JointModelPlanar" else [1.0, 0.0, 0.0])
        values = _values(m, slice(joint.idx_v, joint.idx_v + joint.nv), name)
        driven = shape != "JointModelFreeFlyer"
        joints.append(Joint(name, simple[shape], carrier, child, pose, axis, actuated=driven, **values))
        return
    axes = _axes(joint, shape, name)
    for index, (kind, axis) in enumerate(axes):
        last = index == len(axes) - 1
        between = child if last else f"{child} at {name} {index + 1}"
        bounded = joint.nq == joint.nv
        q, v = joint.idx_q + index, joint.idx_v + index
        joints.append(
            Joint(
                name if len(axes) == 1 else f"{name} {index + 1}",
                "continuous" if not bounded and kind == "revolute" else kind,
                carrier,
                between,
                pose,
                axis,
                lower=_bound(m.lowerPositionLimit[q]) if bounded else -math.inf,
                upper=_bound(m.upperPositionLimit[q]) if bounded else math.inf,
                **_values(m, slice(v, v + 1), name),
            )
        )
        if not last:
            bodies.append(Body(between, virtual=True))
        carrier, pose = between, np.eye(4)


def _values(m: Any, where: slice, name: str) -> dict[str, Any]:  # noqa: ANN401
    """The limits, armature, damping and friction of some velocities, one number for all of them."""
    values = {}
    for ours, theirs in _NAMES.items():
        array = next(np.asarray(getattr(m, word))[where] for word in theirs if hasattr(m, word))
        if ours in ("velocity", "effort"):
            values[ours] = min(map(_limit, array))
        elif (array != array[0]).any():
            raise WbcError(f"joint {show(name)}: its {ours} {show(array.tolist())} differs by direction; here it can't")
        else:
            values[ours] = float(array[0])
    return values


_NAMES = {
    "velocity": ("upperVelocityLimit", "velocityLimit"),
    "effort": ("upperEffortLimit", "effortLimit"),
    "armature": ("armature",),
    "damping": ("damping",),
    "friction": ("upperDryFrictionLimit", "friction"),
}
"""What Pinocchio calls them, the newer version first."""


def _axes(joint: Any, shape: str, name: str) -> list[tuple[JointKind, Array]]:  # noqa: ANN401
    """The elementary joints, outermost first, of a joint of Pinocchio's that is not one of ours."""
    x, y, z = np.eye(3)
    if shape == "JointModelTranslation":
        return [("prismatic", x), ("prismatic", y), ("prismatic", z)]
    if shape == "JointModelSphericalZYX":
        return [("revolute", z), ("revolute", y), ("revolute", x)]
    if joint.nv == 1 and shape.startswith(("JointModelR", "JointModelP")):
        alone = pin.Model()  # holds a copy: calc of the joint itself would need its indices changed
        alone.addJoint(0, joint, pin.SE3.Identity(), name)
        data = alone.joints[1].createData()
        alone.joints[1].calc(data, np.array([1.0, 0.0]) if joint.nq == 2 else np.zeros(1))
        screw = np.array(data.S).ravel()
        turning = bool(screw[3:].any())
        return [("revolute" if turning else "prismatic", screw[3:] if turning else screw[:3])]
    raise WbcError(f"joint {show(name)} of the Pinocchio model is a {shape}, which has no equivalent here")


def _bound(value: float) -> float:
    """A position limit; Pinocchio writes its absence as the greatest double or infinity."""
    return math.copysign(math.inf, value) if abs(value) > 1e300 else float(value)


def _limit(value: float) -> float:
    """An effort or velocity limit; zero, or more than any number, is none."""
    return math.inf if value <= 0 or value > 1e300 else float(value)
