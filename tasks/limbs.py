"""Which joints move a frame, and how far a leg can hold its sole."""

from __future__ import annotations

from collections.abc import Collection

from wbc.dynamics import Dynamics

AXES = ("x", "y", "z", "rx", "ry", "rz")


def way(robot: Dynamics, frame: str) -> list[str]:
    """The joints that move a frame, from it to the root."""
    model, found = robot.model, []
    body = model.frames[frame].body if frame in model.frames else frame
    carrying = {joint.child: joint for joint in model.joints.values()}
    while body in carrying:
        found.append(carrying[body].name)
        body = carrying[body].parent
    return found


def axes_held(robot: Dynamics, soles: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The axes in which each of several soles is held: all but the roll, where its leg has fewer than six joints.

    Such a leg can't hold its sole in six axes while its hip moves: two of them together would hold the base as well.

    Args:
        robot: whose soles they are.
        soles: frames.
    """
    shared = set.intersection(*(set(way(robot, sole)) for sole in soles)) if soles else set()
    found = {}
    for sole in soles:
        joints = [name for name in way(robot, sole) if name not in shared and robot.model.joints[name].nv]
        weak = len(soles) > 1 and 0 < len(joints) < 6  # a seat, without joints, carries the base itself
        found[sole] = tuple(axis for axis in AXES if axis != "rx") if weak else AXES
    return found
