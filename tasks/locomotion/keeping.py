"""What keeps the joints of a robot that walks within their ranges, and its legs off each other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tasks.collision import CollisionAvoidance
from tasks.limbs import way
from tasks.limits import JointLimits
from wbc.collision import CollisionGeometry
from wbc.dynamics import Dynamics
from wbc.model.loops import moved_joints
from wbc.tasking.levels import Levels
from wbc.tasking.task import Task

BRAKING = 25.0, 200.0
"""The least and the greatest acceleration that joints are counted on to brake with, rad/s²."""

SHARE = 0.5
"""How much of what its actuator gives a joint is counted on to brake with. What can't be had is fatal: all joints whose
limits are on the same level, arms and ankles too, would give way to make up for a hip that comes too fast.
"""

UNLIMITED = 1e9
"""Stands for a motor without a limit, N m or N."""

GREATEST = 500.0
"""Greatest acceleration that limits demand, rad/s²."""

APPROACH = 0.015
"""Time constant with which joints come up to their greatest speeds, s: a swing accelerates for a tenth of a second."""

ROOM = 0.03
"""Kept from the ends of joints, rad: what pushes is known to nobody, and a foot that lands changes speeds at once."""

BACK = 6.0
"""How fast a joint that is nearer to its end than is kept gets back, Hz."""

APART = 0.02
"""Kept between legs, m."""

PASSING = 3.0
"""Legs pass each other at up to this speed, m/s."""

ROWS = 12
"""Rows for legs that are near each other."""


def kept_joints_and_legs(robot: Dynamics, feet: Sequence[str], room: float = ROOM) -> Levels | None:
    """A level that keeps joints within their ranges and legs off each other; None where there is nothing to keep.

    Args:
        robot: of `wbc.load`.
        feet: frames.
        room: kept from the ends of the joints of legs, rad.
    """
    joints, roomy = braked_joints(robot), roomy_joints(robot, feet, room)
    found: list[Task] = []
    for braking, names in joints.items():
        for margin, chosen in ((room, roomy), (0.0, set(names) - roomy)):
            some, kept = [name for name in names if name in chosen], f", {margin:g} rad kept" if margin else ""
            if some:
                name = f"joint limits, braked with {braking:g} rad/s²{kept}"
                limits = JointLimits(
                    braking, GREATEST, margin, return_hz=BACK, approach=APPROACH, name=name, joints=some
                )
                found.append(limits)
    geometry = legs_apart(robot, feet)
    if geometry is not None:
        own = {name for names in own_joints(robot, feet).values() for name in names}
        weakest = min((braking for braking, names in joints.items() if own.intersection(names)), default=BRAKING[0])
        braking = weakest * leg_length(robot, feet)
        found.append(CollisionAvoidance(geometry, APART, PASSING, braking, rows=ROWS, approach=APPROACH, name="legs"))
    return Levels([found]) if found else None


def own_joints(robot: Dynamics, feet: Sequence[str]) -> dict[str, set[str]]:
    """The joints of each leg, without those that move all feet.

    Args:
        robot: of `wbc.load`.
        feet: frames.
    """
    ways = {foot: set(way(robot, foot)) for foot in feet}
    shared = set.intersection(*ways.values())
    return {foot: names - shared for foot, names in ways.items()}


def roomy_joints(robot: Dynamics, feet: Sequence[str], room: float) -> set[str]:
    """The joints of legs that the nominal configuration leaves more than some room: a straight knee has none to keep.

    Args:
        robot: of `wbc.load`.
        feet: frames.
        room: rad.
    """
    model, limits, found = robot.model, robot.limits, set()
    for name in set().union(*own_joints(robot, feet).values()):
        if model.joints[name].nv == 1:
            at, index = float(model.nominal[model.q_index[name]]), model.v_index[name]
            if min(at - limits.lower[index], limits.upper[index] - at) > 2 * room:
                found.add(name)
    return found


def leg_length(robot: Dynamics, feet: Sequence[str]) -> float:
    """From the first joint of a leg to its foot in the nominal configuration, m, of the shortest one.

    Args:
        robot: of `wbc.load`.
        feet: frames.
    """
    posed, own = robot.copy(), own_joints(robot, feet)
    posed.update(robot.model.nominal, np.zeros(robot.nv))
    hips = {foot: next(name for name in reversed(way(robot, foot)) if name in own[foot]) for foot in feet if own[foot]}
    places = [posed.pose(foot)[:3, 3] - posed.pose(robot.model.joints[hip].child)[:3, 3] for foot, hip in hips.items()]
    return min((float(np.linalg.norm(place)) for place in places), default=1.0)


def braked_joints(robot: Dynamics) -> dict[float, list[str]]:
    """The joints with limits that a motor or a closed loop moves, by how hard they can brake, rad/s², in powers of two.

    Args:
        robot: of `wbc.load`.
    """
    model = robot.model
    posed = robot.copy()
    posed.update(model.nominal, np.zeros(robot.nv))
    gives = np.abs(robot.actuation_matrix.T) @ np.minimum(robot.limits.effort, UNLIMITED)
    least, most = BRAKING
    found: dict[float, list[str]] = {}
    for name in moved_joints(model):
        if not model.joints[name].limited:
            continue
        index = model.v_index[name]
        given = float(gives[index]) or UNLIMITED  # what a closed loop moves
        can = SHARE * given / float(posed.mass_matrix[index, index])
        doublings = math.floor(math.log2(min(max(can, least), most) / least))
        found.setdefault(least * 2.0**doublings, []).append(name)
    return found


def legs_apart(robot: Dynamics, feet: Sequence[str]) -> CollisionGeometry | None:
    """The shapes of a robot, with the pairs that are of two legs and not near as it stands; None where there are none.

    Args:
        robot: of `wbc.load`.
        feet: frames.
    """
    geometry, own = CollisionGeometry(robot), own_joints(robot, feet)
    legs = {
        name: {foot for foot in feet if own[foot].intersection(way(robot, solid.body))}
        for name, solid in geometry.solids.items()
    }
    pairs = [(one, other) for one, other in geometry.pairs if legs[one] and legs[other] and legs[one] != legs[other]]
    posed = robot.copy()
    posed.update(robot.model.nominal, np.zeros(robot.nv))
    near = {(it.first, it.second) for it in geometry.nearest(posed, len(geometry.pairs)) if it.distance < 2 * APART}
    pairs = [pair for pair in pairs if pair not in near]
    geometry.keep_pairs(pairs)
    return geometry if pairs else None
