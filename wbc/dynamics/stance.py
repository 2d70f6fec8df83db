"""Finds a posture to stand in if a robot's file has none: legs bent, feet flat, level and under the hips."""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares, minimize

from wbc.arrays import Array
from wbc.dynamics.ends import Ends, roll_points
from wbc.dynamics.limbs import Limbs
from wbc.model.model import Model
from wbc.model.parts import Joint, Plane

STRAIGHT = 0.985
"""A leg that is longer than this share of its greatest length is straight: its foot can't be pushed away any more."""

PUSHES = 0.07
"""A leg with a flat foot that pushes it away by less, as a share of its length for each rad, is straight, too: of two
equal links, with a knee bent by less than 19°. In a leg whose joints are not in a line its length does not tell."""

TURNS = 1e-3
"""A way of turning the foot that is smaller than this share of the greatest is none."""

BENT = 0.92
"""Length that a bent leg gets, as a share of its greatest: a knee of two equal links is bent by 46°."""

INNER = 0.5
"""Share of the feet's length, about their middle, over which the centre of mass of a robot on two legs should be."""

SAMPLES = 150
"""Postures of a leg that are looked at for its greatest length."""

LEVEL = 1.0 - 1e-6
"""Cosine of the greatest angle between the floor of a file and the horizontal: no robot is put on a slope."""

MARGIN = 0.05
"""Share of a joint's range that a posture keeps from either end."""


class Stance:
    """Finds a posture to stand in.

    Args:
        limbs: of the robot, put in the file's posture, within the limits of its joints.
        ends: its feet.
    """

    def __init__(self, limbs: Limbs, ends: Ends) -> None:
        self.limbs, self.ends, self.model = limbs, ends, limbs.model
        self.q0 = within_limits(self.model)
        self.legs = legs_of(limbs, ends)
        self.frames = {frame.name: frame for frame in ends.frames}
        level = self.q0.copy()
        level[:7] = [0, 0, 0, 1, 0, 0, 0]
        limbs.put(level)
        # a leg's length counts from the joint that swings it forwards: one before it moves it sideways
        self.hips = {
            number: self._body_below(next((joint for joint in leg if abs(self._axis(joint)[1]) > 0.7), leg[0]))
            for number, leg in self.legs.items()
        }
        self.ankles = {number: self._ankle(number) for number in self.legs}
        self.lengths = {number: self._longest(number) for number in self.legs}

    def _joint_node(self, joint: Joint) -> int:
        return self.limbs.node_of[joint.child]

    def _length(self, number: int) -> float:
        """From the hip to the foot of a leg, m; to the ankle of a flat one, whose middle is ahead of it."""
        hip = self.limbs.robot.pose(self.hips[number])[:3, 3]
        if number in self._flat_feet():
            return float(np.linalg.norm(self._ankle_now(number) - hip))
        return float(np.linalg.norm(self._foot(number)[:3, 3] - hip))

    def _ankle(self, number: int) -> tuple[str, Array]:
        """A leg's ankle: a body and a point in it, m; the last of three joints or more that swing the foot forwards.

        The origin of the foot's body is often behind it: a leg whose foot points down would seem longer than it is.
        """
        swings = [joint for joint in self.legs[number] if abs(self._axis(joint)[1]) > 0.7]
        if len(swings) < 3:
            return self._foot_body(number), np.zeros(3)
        body = self._body_below(swings[-1])
        pose = self.limbs.robot.pose(body)
        return body, pose[:3, :3].T @ (self.limbs.origin(self._joint_node(swings[-1])) - pose[:3, 3])

    def _ankle_now(self, number: int) -> Array:
        body, point = self.ankles[number]
        pose = self.limbs.robot.pose(body)
        at: Array = pose[:3, :3] @ point + pose[:3, 3]
        return at

    def _foot_body(self, number: int) -> str:
        """The body of a leg's foot."""
        name = next(name for name in self.ends.feet if self.ends.legs[name] == number)
        frame = self.frames.get(name) or self.model.frames.get(name)
        return name if frame is None else frame.body

    def _foot(self, number: int) -> Array:
        """The pose of the middle of a leg's feet, shape (4, 4)."""
        poses = [self._pose(name) for name, at in self.ends.legs.items() if at == number]
        pose = poses[0].copy()
        pose[:3, 3] = np.mean([each[:3, 3] for each in poses], axis=0)
        return pose

    def _pose(self, foot: str) -> Array:
        frame = self.frames.get(foot) or self.model.frames.get(foot)
        if frame is None:
            return self.limbs.robot.pose(foot)
        pose: Array = self.limbs.robot.pose(frame.body) @ frame.pose
        return pose

    def _longest(self, number: int) -> float:
        """The greatest length of a leg within the limits of its joints, m: of many postures, and from the best."""
        joints = self.legs[number]
        rng = np.random.default_rng(0)
        low, high = _ranges(joints)
        at = [self.model.q_index[joint.name] for joint in joints]
        q, best, longest = self.q0.copy(), self.q0[at], 0.0
        tries = [np.clip(np.zeros(len(at)), low, high), self.q0[at], *rng.uniform(low, high, (SAMPLES, len(at)))]
        for angles in tries:
            q[at] = angles
            self.limbs.robot.update(q)
            length = self._length(number)
            if length > longest:
                best, longest = angles.copy(), length

        def shortness(angles: Array) -> float:
            q[at] = angles
            self.limbs.robot.update(q)
            return -self._length(number)

        climbed = minimize(shortness, best, bounds=list(zip(low, high, strict=True)), method="L-BFGS-B")
        return max(longest, -float(climbed.fun))

    def _body_below(self, joint: Joint) -> str:
        """A body that the joint moves: its child, or what stands for it where several joints move one."""
        node = self._joint_node(joint)
        while not self.limbs.bodies[node]:
            node = self.limbs.children[node][0]
        return self.limbs.bodies[node][0]

    # --- judged ----------------------------------------------------------------------------------------------------

    def straight(self, q: Array) -> bool:
        """Whether a leg is as good as straight in a configuration."""
        self.limbs.robot.update(q)
        flat = self._flat_feet()
        return any(
            self._length(number) > STRAIGHT * self.lengths[number]
            or (number in flat and self._pushing(number) < PUSHES * self.lengths[number])
            for number in self.legs
        )

    def _pushing(self, number: int) -> float:
        """By how much a leg pushes its foot away from its hip while the foot does not turn, m for each rad."""
        robot = self.limbs.robot
        body = self._foot_body(number)
        # those that swing it forwards: from a hip beside the leg, one that swings it sideways lengthens it, too
        swings = [joint for joint in self.legs[number] if abs(self._axis(joint)[1]) > 0.7] or self.legs[number]
        at = [self.model.v_index[joint.name] for joint in swings]
        J = robot.jacobian(body)[:, at]
        along = self._ankle_now(number) - robot.pose(self.hips[number])[:3, 3]
        slope = (along / max(float(np.linalg.norm(along)), 1e-9)) @ J[:3]
        turning = np.linalg.svd(J[3:])
        held = turning[2][: int((turning[1] > TURNS * turning[1][0]).sum())]
        return float(np.linalg.norm(slope - held.T @ (held @ slope)))

    def balanced(self, q: Array) -> bool:
        """Whether the centre of mass is over the inner half of the feet of a robot on two legs, as far as forwards."""
        flat = self._flat_feet()
        if len(self.legs) != 2 or len(flat) != 2:
            return True
        self.limbs.robot.update(q)
        x = np.concatenate([self._reach(foot) for foot in self.ends.feet])
        middle, half = (x.min() + x.max()) / 2, (x.max() - x.min()) / 2
        return bool(abs(self.limbs.robot.com[0] - middle) < INNER * half)

    def _reach(self, foot: str) -> Array:
        """How far forwards the points of a foot are, m."""
        pose, corners = self._pose(foot), self.ends.soles.get(foot, np.zeros((1, 2)))
        reach: Array = pose[0, 3] + corners @ pose[0, :2]
        return reach

    def grounded(self, q: Array) -> Array:
        """The configuration with the base at the height at which the lowest foot is on the ground."""
        q = q.copy()
        self.limbs.robot.update(q)
        q[2] += floor_height(self.model) - min(self._pose(foot)[2, 3] for foot in self.ends.feet)
        return above_margins(self.model, q)

    # --- found -----------------------------------------------------------------------------------------------------

    def bent(self) -> Array:
        """A configuration with bent legs, shape (nq,): the better one of knees forwards and knees backwards."""
        joints = [joint for leg in self.legs.values() for joint in leg]
        at = [self.model.q_index[joint.name] for joint in joints]
        low, high = _ranges(joints)
        q = self.q0.copy()
        q[:7] = [0, 0, 0, 1, 0, 0, 0]
        rest = np.clip(np.zeros(len(at)), low, high)
        q[at] = np.clip(self._bend(joints, 0.0), low, high)
        self.limbs.robot.update(q)
        sides = {number: self._foot(number)[1, 3] for number in self.legs}

        def residuals(angles: Array) -> Array:
            q[at] = angles
            self.limbs.robot.update(q)
            robot, rows = self.limbs.robot, []
            feet = {number: self._foot(number) for number in self.legs}
            flat = self._flat_feet()
            middle = np.mean([foot[:3, 3] for foot in feet.values()], axis=0)
            size = np.mean(list(self.lengths.values()))
            for number, foot in feet.items():
                hip = robot.pose(self.hips[number])[:3, 3]
                length = self._length(number)
                rows += [10 * (length / self.lengths[number] - BENT), 10 * (foot[2, 3] - middle[2]) / size]
                rows += [2 * (foot[1, 3] - sides[number]) / size]
                if number in flat:
                    rows += [5 * foot[0, 2], 5 * foot[1, 2], 2 * foot[1, 0]]
                else:
                    rows += [2 * (foot[0, 3] - hip[0]) / size]
            rows += [2 * (robot.com[0] - middle[0]) / size] if flat else []
            return np.concatenate([rows, 0.02 * (angles - rest)])

        best: tuple[float, Array] | None = None
        for way in (1.0, -1.0) if len(self.legs) == 2 else (-1.0, 1.0):
            start = np.clip(self._bend(joints, way), low + 1e-6, high - 1e-6)
            answer = least_squares(residuals, start, bounds=(low, high), xtol=1e-6, ftol=1e-8)
            if best is None or answer.cost < 0.7 * best[0]:
                best = answer.cost, answer.x
        assert best is not None
        q[at] = best[1].round(4)
        q[:2] = self.model.nominal[:2]
        self.limbs.put(q)
        roll_points(self.limbs, self.ends)
        self.frames = {frame.name: frame for frame in self.ends.frames}
        return self.grounded(q)

    def _flat_feet(self) -> set[int]:
        """The legs whose feet have an orientation: soles, and lines."""
        names = self.ends.feet
        return {
            number
            for number in self.legs
            if any(self.ends.legs[name] == number and name in self.ends.soles for name in names)
            or sum(self.ends.legs[name] == number for name in names) > 1
        }

    def _axis(self, joint: Joint) -> Array:
        """The axis of a joint in the world."""
        node = self._joint_node(joint)
        pose = self.limbs.joint_pose(node) if self.limbs.bodies[node] else self.limbs.poses[node]
        axis: Array = pose[:3, :3] @ joint.axis
        return axis

    def _bend(self, joints: list[Joint], way: float) -> Array:
        """Angles to start from: thighs forwards and shins backwards (`way` = 1), or the other way round."""
        self.limbs.put(self.q0)
        angles = np.array([np.clip(0.0, joint.lower, joint.upper) for joint in joints])
        for leg in self.legs.values():
            pitching = [joint for joint in leg if abs(self._axis(joint)[1]) > 0.7]
            for joint, turn in zip(pitching, (-0.4, 0.8, -0.4), strict=False):
                angles[joints.index(joint)] += way * turn * np.sign(self._axis(joint)[1])
        return angles


def floor_height(model: Model) -> float:
    """The height of a robot's floor, m: of the highest level plane that its file has, or 0."""
    planes = [shape.pose for shape in model.surroundings if isinstance(shape, Plane)]
    return max((float(pose[2, 3]) for pose in planes if pose[2, 2] > LEVEL), default=0.0)


def put_down(limbs: Limbs) -> Array:
    """The nominal configuration with the base at the height at which the robot's lowest part is on the ground.

    Args:
        limbs: of the robot; they are put in it.
    """
    q = np.array(limbs.model.nominal)
    limbs.put(q)
    q[2] += floor_height(limbs.model) - min(limbs.lowest(number) for number in (*limbs.own(), limbs.root))
    q = above_margins(limbs.model, q)
    limbs.put(q)
    return q


def above_margins(model: Model, q: Array) -> Array:
    """A configuration in which a robot touches the ground, higher by the margins in which MuJoCo's contacts carry it.

    Args:
        model: of the robot.
        q: shape (nq,).
    """
    if model.simulated is not None and model.simulated.geom_margin.any() and len(q) == model.simulated.nq:
        from wbc.model.overlaps import kept_off

        q = q.copy()
        q[2] += kept_off(model.simulated, q)
    return q


def within_limits(model: Model) -> Array:
    """The model's configuration, each joint within its limits; the base level."""
    q = np.array(model.nominal)
    for joint in model.joints.values():
        if joint.nq == 1:
            at = model.q_index[joint.name]
            q[at] = np.clip(q[at], joint.lower, joint.upper)
    return q


def legs_of(limbs: Limbs, ends: Ends) -> dict[int, list[Joint]]:
    """The joints of each leg, by the node that carries its foot; none where a foot is fixed to the trunk.

    Args:
        limbs: of the robot.
        ends: its feet.
    """
    found: dict[int, list[Joint]] = {}
    shared = _shared(limbs, list(ends.legs.values()))
    for number in dict.fromkeys(ends.legs.values()):
        joints = [limbs.joints[node] for node in limbs.chain(number) if node not in shared]
        found[number] = [joint for joint in joints if joint is not None and joint.nq == 1]
    return found


def _shared(limbs: Limbs, feet: list[int]) -> set[int]:
    """The nodes on the way to every foot: a waist that all legs hang on; a robot on one leg has none."""
    chains = [set(limbs.chain(number)) for number in dict.fromkeys(feet)]
    return set.intersection(*chains) if len(chains) > 1 else set()


def _ranges(joints: list[Joint]) -> tuple[Array, Array]:
    """The ranges of joints less a margin; a joint without limits turns by a right angle to either side."""
    low = [joint.lower if np.isfinite(joint.lower) else min(joint.upper, 0.0) - np.pi / 2 for joint in joints]
    high = [joint.upper if np.isfinite(joint.upper) else max(joint.lower, 0.0) + np.pi / 2 for joint in joints]
    margin = MARGIN * (np.array(high) - low)
    return low + margin, high - margin
