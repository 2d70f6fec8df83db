"""Feet, soles, hands and wheels, proposed from a robot's geometry where its file does not name them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.dynamics.limbs import Limbs
from wbc.dynamics.soles import Patch, touching
from wbc.errors import WbcError, show, unknown_name
from wbc.geometry import pose as transforms
from wbc.model.model import Model
from wbc.model.parts import Frame, Shape
from wbc.model.wheels import NEAR

LEVEL = 0.03
"""Parts whose lowest point is within this share of the robot's height of the ground stand on it."""

ARM = 4
"""Joints with motors of its own that a limb needs to be an arm; a neck has fewer."""

TURNS = 40.0
"""Least range of a joint that a wheel turns on, rad; wrists with limits turn by two turns or so."""

ROUND = 0.06
"""Greatest deviation of a wheel's rim from a circle, as a share of its radius."""

SMALL = 0.1
"""A touching area shorter than this share of the robot's height is a point."""

THICK = 0.01
"""Height of the box that stands for a sole, or radius of the ball that stands for a foot, where a simulator has no
other shape for them, m.
"""


@dataclass(eq=False)
class Ends:
    """The feet, soles, hands and wheels of a robot.

    Attributes:
        feet: frames on the ground.
        soles: corners in the frames of flat feet, m, shape (n, 2).
        hands: frames.
        wheels: bodies.
        frames: to be added to the model.
        shapes: to be added to the model: of feet that have none.
        legs: by foot, the node of `Limbs` that it is on.
    """

    feet: list[str] = field(default_factory=list)
    soles: dict[str, Array] = field(default_factory=dict)
    hands: list[str] = field(default_factory=list)
    wheels: list[str] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    legs: dict[str, int] = field(default_factory=dict)


def stands_on_legs(limbs: Limbs) -> list[int]:
    """The parts that a robot stands on, if they are feet of legs of its own: those of a URDF whose base should float.

    They hang on the root with one joint in common at the most, such as a waist: arms that hang down have a spine in
    common. And no limb has several of them: those would be fingers.

    Args:
        limbs: of the robot, with its root fixed.
    """
    feet = standing_parts(limbs)
    shared = set.intersection(*(set(limbs.chain(number)) for number in feet)) if feet else set()
    fingers = any(limbs.parents[a] == limbs.parents[b] for a in feet for b in feet if a < b)
    return [] if len(shared) > 1 or fingers else feet


def standing_parts(limbs: Limbs) -> list[int]:
    """The parts that a robot stands on in the configuration that it was put in: none, if it lies on its base.

    A part stands on the ground if its lowest point is as low as any of the robot's, within 3 % of its height. It needs
    two joints or more between it and the base, one of them with a motor; and two such parts or more make legs.

    Args:
        limbs: of the robot.
    """
    low, tall = _ground(limbs)
    if not tall > 0 or limbs.lowest(limbs.root) < low + 2 * LEVEL * tall:
        return []
    found = []
    for number in limbs.own():
        joints = [limbs.joints[node] for node in limbs.chain(number)]
        driven = [joint for joint in joints if joint is not None and joint.actuated]
        if limbs.lowest(number) < low + LEVEL * tall and len(joints) > 1 and driven:
            found.append(number)
    # of a foot and its toes, the one with the larger sole
    chosen: list[int] = []
    for number in found:
        same = [
            other for other in found if other == number or number in limbs.chain(other) or other in limbs.chain(number)
        ]
        if max(same, key=lambda other: (_extent(limbs, other), -other)) == number:
            chosen.append(number)
    ends = {
        end for number in chosen for end in limbs.ends() if number in limbs.chain(end) or end in limbs.chain(number)
    }
    return chosen if len(chosen) > 1 and len(ends) > 1 else []  # fingers are one limb


def _ground(limbs: Limbs) -> tuple[float, float]:
    """Height of the robot's lowest point, and from there to its highest joint, m."""
    parts = [*limbs.own(), limbs.root]
    low = min(limbs.lowest(number) for number in parts)
    return low, max(limbs.poses[number][2, 3] for number in parts) - low if np.isfinite(low) else 0.0


def _extent(limbs: Limbs, number: int) -> float:
    points = _patch(limbs, number).points
    return float(np.ptp(points, axis=0).max())


def _patch(limbs: Limbs, number: int) -> Patch:
    centres, radii = limbs.balls[number]
    return touching(centres, radii, -limbs.poses[number][2, :3], max(SMALL * _ground(limbs)[1], 0.01))


def is_wheel(limbs: Limbs, number: int) -> bool:
    """Whether a part is round about the axis of its joint, which is level and has no limits."""
    joint, (centres, radii) = limbs.joints[number], limbs.in_joint(number)
    if joint is None or joint.kind not in ("revolute", "continuous") or len(centres) == 0:
        return False
    if joint.upper - joint.lower < TURNS:
        return False
    axis = joint.axis
    if abs(limbs.joint_pose(number)[2, :3] @ axis) > 0.5:
        return False
    ways = np.linalg.svd(axis[None])[2][1:]
    angles = np.linspace(0.0, np.pi, 12, endpoint=False)
    reach = [
        side * (centres @ way) + radii
        for angle in angles
        for way in [np.cos(angle) * ways[0] + np.sin(angle) * ways[1]]
        for side in (1, -1)
    ]
    outer = np.max(reach, axis=1)
    return bool(outer.max() - outer.min() < ROUND * outer.max())


def propose(limbs: Limbs, feet: Iterable[int] | None = None) -> Ends:
    """Feet, soles, hands and wheels of a robot in the configuration that it was put in.

    Args:
        limbs: of the robot.
        feet: the parts that are feet; None: those that it stands on.
    """
    found = Ends()
    if feet is None:  # on a fixed base what hangs lowest may be arms
        touching_ground = standing_parts(limbs) if limbs.model.floating else stands_on_legs(limbs)
    else:
        touching_ground = list(feet)
    if feet is None and not touching_ground:
        low, tall = _ground(limbs)
        rolling = [number for number in limbs.own() if limbs.lowest(number) < low + LEVEL * tall]
        wheels = [number for number in rolling if is_wheel(limbs, number)]
        found.wheels = [_wheel(limbs, number, found) for number in wheels]
        if wheels:
            found.wheels += _castors(limbs, low + LEVEL * tall, found)
    else:
        wheels = [number for number in touching_ground if is_wheel(limbs, number)]
        found.wheels = [_wheel(limbs, number, found) for number in wheels]
    for number in touching_ground:
        if number not in wheels:
            _add_foot(limbs, number, found)
    standing = set(wheels) | set(found.legs.values())
    ends = [number for number in limbs.ends() if not standing & {number, *limbs.chain(number), *_below(limbs, number)}]
    own = {number: _motors(limbs, number, ends) for number in ends}
    arms = [number for number in ends if own[number] >= ARM]
    if not limbs.model.floating and not arms:
        arms = [number for number in ends if own[number] >= 1]
    found.hands = [_tool(limbs, number) for number in arms]
    return found


def _wheel(limbs: Limbs, number: int, found: Ends) -> str:
    """The frame at the middle of a wheel: its body, or one that is added beside it on its axle.

    A wheel without a shape that touches the ground in a simulator, but with a mesh, gets a cylinder.
    """
    body, (centres, radii) = limbs.bodies[number][0], limbs.in_joint(number)
    joint = limbs.joints[number]
    assert joint is not None  # else it would be no wheel
    along = centres @ joint.axis
    ends = float((along - radii).min()), float((along + radii).max())
    in_joint = transforms.inverse(limbs.poses[number]) @ limbs.joint_pose(number)
    centre, axle = in_joint[:3, :3] @ (joint.axis * sum(ends) / 2) + in_joint[:3, 3], in_joint[:3, :3] @ joint.axis
    if not _touches(limbs, number):
        across = np.linalg.norm(centres - np.outer(along, joint.axis), axis=1) + radii
        R = np.column_stack([*np.linalg.svd(axle[None])[2][1:], axle])
        R[:, 0] *= np.sign(np.linalg.det(R))
        size = float(across.max()), max(ends[1] - ends[0], THICK)
        found.shapes.append(Shape(body, "cylinder", size, _transform(R, centre), collides=True))
    if np.linalg.norm(centre) < NEAR:
        return body
    name = _free_name(limbs.model, f"{body}_hub")
    found.frames.append(Frame(name, body, _transform(np.eye(3), centre)))
    return name


def _castors(limbs: Limbs, high: float, found: Ends) -> list[str]:
    """Frames at the spheres of the base that are on the ground, lower than a height: it slides or rolls on them."""
    names: list[str] = []
    for shape in limbs.model.shapes:
        pose = limbs.robot.pose(shape.body) @ shape.pose
        if shape.kind != "sphere" or not shape.collides or limbs.node_of[shape.body] != limbs.root:
            continue
        if pose[2, 3] - shape.size[0] < high:
            taken = {frame.name for frame in found.frames}
            name = _free_name(limbs.model, f"{shape.body}_castor")
            while name in taken:
                name += "_"
            found.frames.append(Frame(name, shape.body, shape.pose))
            names.append(name)
    return names


def _below(limbs: Limbs, number: int) -> list[int]:
    found = list(limbs.children[number])
    for child in found:
        found += limbs.children[child]
    return found


def _motors(limbs: Limbs, number: int, ends: list[int]) -> int:
    """The joints with motors that move a limb's end and no other's."""
    shared = {node for other in ends if other != number for node in limbs.chain(other)}
    joints = [limbs.joints[node] for node in limbs.chain(number) if node not in shared]
    return sum(joint is not None and joint.actuated for joint in joints)


def _tool(limbs: Limbs, number: int) -> str:
    """The frame of a part that is farthest out: a site or a fixed link, or its body."""
    model = limbs.model
    names = list(limbs.bodies[number])
    names += [name for name in model.frames if limbs.node_of[name] == number]
    outs = [float(np.linalg.norm(limbs._frame_in_node(name)[:3, 3])) for name in names]
    return names[max(range(len(names)), key=lambda k: (round(outs[k], 4), -k))]


def _add_foot(limbs: Limbs, number: int, found: Ends) -> None:
    """Adds the feet of a part: a frame at its point, two at the ends of its line, or one in the middle of its sole."""
    body, patch = limbs.bodies[number][0], _patch(limbs, number)
    pose = limbs.poses[number]
    forward = np.array([1.0, 0.0, 0.0]) @ pose[:3, :3]  # the robot's, in the part's frame
    R = np.eye(3)
    R[:, 2] = patch.normal
    R[:, 0] = forward - patch.normal * (patch.normal @ forward)
    R[:, 0] /= np.linalg.norm(R[:, 0])
    R[:, 1] = np.cross(R[:, 2], R[:, 0])
    bare = not _touches(limbs, number)
    if len(patch.points) < 3:
        ahead = np.argsort(-(patch.points @ forward), kind="stable")
        ends = ("",) if len(patch.points) == 1 else ("_front", "_back")
        for end, point in zip(ends, patch.points[ahead], strict=True):
            name = _free_name(limbs.model, f"{body}_foot{end}")
            found.frames.append(Frame(name, body, _transform(R, point)))
            found.feet.append(name)
            found.legs[name] = number
            if bare:
                found.shapes.append(
                    Shape(body, "sphere", (THICK,), _transform(R, point + THICK * R[:, 2]), collides=True)
                )
        return
    middle = (patch.points.min(axis=0) + patch.points.max(axis=0)) / 2
    middle = middle - patch.normal * (patch.normal @ (middle - patch.points[0]))
    corners = ((patch.points - middle) @ R)[:, :2]
    centre = (corners.min(axis=0) + corners.max(axis=0)) / 2
    middle, corners = middle + R[:, :2] @ centre, corners - centre
    name = _free_name(limbs.model, f"{body}_sole")
    found.frames.append(Frame(name, body, _transform(R, middle)))
    found.feet.append(name)
    found.soles[name] = corners.round(9)
    found.legs[name] = number
    if bare:
        size = (*np.ptp(corners, axis=0).tolist(), THICK)
        found.shapes.append(Shape(body, "box", size, _transform(R, middle + THICK / 2 * R[:, 2]), collides=True))


def roll_points(limbs: Limbs, ends: Ends) -> None:
    """Moves the proposed feet that are points to where their parts are lowest in the configuration that limbs were put
    in: a ball rolls where its leg bends.

    Args:
        limbs: of the robot.
        ends: whose frames are replaced.
    """
    for at, frame in enumerate(ends.frames):
        number = ends.legs.get(frame.name, -1)
        if frame.name in ends.soles or list(ends.legs.values()).count(number) != 1 or not len(limbs.balls[number][0]):
            continue
        up = limbs.poses[number][2, :3]
        centres, radii = limbs.balls[number]
        heights = centres @ up - radii
        lowest = int(np.argmin(heights))
        if (heights < heights[lowest] + NEAR).sum() == 1:
            point = centres[lowest] - radii[lowest] * up
            ends.frames[at] = Frame(frame.name, frame.body, _transform(frame.pose[:3, :3], point))


def _touches(limbs: Limbs, number: int) -> bool:
    """Whether a part has a shape that touches the ground in a simulator: MuJoCo's own model has its meshes as well."""
    model = limbs.model
    solid = {shape.body for shape in model.shapes if shape.collides}
    if model.simulated is not None:
        solid |= {mesh.body for mesh in model.meshes}
    return any(limbs.node_of[body] == number for body in solid)


def _transform(R: Array, p: Array) -> Array:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = R, p
    return pose


def _free_name(model: Model, name: str) -> str:
    while name in model.frames or name in model.bodies:
        name += "_"
    return name


def named_parts(limbs: Limbs, names: Iterable[str], what: str) -> list[int]:
    """The parts that frames are on.

    Args:
        limbs: of the robot.
        names: of bodies or frames.
        what: they are, for an error.
    """
    found = []
    for name in names:
        if not isinstance(name, str):
            raise WbcError(f"{what} must be names, not {show(name)}")
        if name not in limbs.node_of:
            raise unknown_name("frame", name, limbs.model.frame_names)
        found.append(limbs.node_of[name])
    return found


def declared_soles(soles: Mapping[str, ArrayLike | None]) -> dict[str, Array]:
    """Soles as a user gives them: frames with the corners of those that are flat.

    Args:
        soles: by frame, corners of shape (n, 2), or None for a point.
    """
    found = {}
    for name, corners in soles.items():
        if corners is None:
            continue
        given = numbers(corners, f"the sole of {name!r}")
        if given.ndim != 2 or given.shape[1] != 2 or len(given) < 3 or not np.isfinite(given).all():
            raise WbcError(f"the sole of {name!r} must be the corners, shape (n, 2) with n ≥ 3, not {show(corners)}")
        found[name] = given
    return found
