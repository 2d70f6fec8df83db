"""Names for the entries of v and τ."""

from __future__ import annotations

from wbc.model.model import Model
from wbc.model.parts import Joint


def velocity_names(model: Model) -> list[str]:
    """The name of each entry of v: a joint, or an axis of one with several; nv names."""
    names = []
    for joint in model.joints.values():
        if joint.kind == "floating":
            names += [f"{axis} of {joint.child}" for axis in ("x", "y", "z", "rx", "ry", "rz")]
        else:
            names += _numbered(joint)
    return names


def actuator_names(model: Model) -> list[str]:
    """The name of each actuator: that of its joint, where it is the motor of one; joints with several have numbers."""
    names = []
    for joint in model.joints.values():
        if joint.actuated:
            names += _numbered(joint)
    return names + [actuator.name for actuator in model.actuators]


def _numbered(joint: Joint) -> list[str]:
    """A name for each of a joint's velocities."""
    return [joint.name] if joint.nv == 1 else [f"{joint.name}[{k}]" for k in range(joint.nv)]
