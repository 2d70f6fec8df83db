"""A robot's rigid parts as a tree with their geometry: what touches the ground in a posture, and where limbs end."""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array
from wbc.dynamics.numpy import NumpyDynamics
from wbc.geometry import pose as transforms
from wbc.model.model import Model
from wbc.model.parts import Shape

RIM = 16
"""Points on each rim of a cylinder."""

FINGERS = 0.5
"""Branches that reach less than this share of the limb they end are fingers: the limb ends at their hand."""


class Limbs:
    """The rigid parts of a robot: nodes of its `Tree`, with their collision geometry as balls.

    A ball is a point with a radius: a box is its eight corners, a capsule two balls, a mesh its points. A part without
    collision geometry has that of its visible shapes; a leaf without any is where its frames are.

    Args:
        model: the robot.

    Attributes:
        robot: in the state of the last `put`.
        root: the node that limbs start from: the floating base, or the world.
        parents: by node, that of the node that carries it.
        children: by node, those that it carries.
        bodies: by node, the names of the bodies that are rigidly one, the node's own first.
        balls: by node, centres in the frame of its first body, m, shape (n, 3), and radii, shape (n,).
    """

    def __init__(self, model: Model) -> None:
        self.model, self.robot = model, NumpyDynamics(model.replace(left_out=()))  # for where it is, not its forces
        tree = self.robot._tree
        self.parents = [node.parent for node in tree.nodes]
        self.children: list[list[int]] = [[] for _ in tree.nodes]
        for number, parent in enumerate(self.parents[1:], start=1):
            self.children[parent].append(number)
        self.bodies: list[list[str]] = [[] for _ in tree.nodes]
        for name, (number, _) in tree.places.items():
            if not model.bodies[name].virtual:
                self.bodies[number].append(name)
        self._offsets = {name: pose for name, (_, pose) in tree.places.items()}
        self.node_of = {name: number for name, (number, _) in tree.places.items()}
        self.node_of |= {frame.name: self.node_of[frame.body] for frame in model.frames.values()}
        self.root = self.node_of[model.root] if model.floating else 0
        moving = {joint.child: joint for joint in model.joints.values() if joint.nv}
        self.joints = [moving.get(node.name) for node in tree.nodes]
        self.balls = self._measure()
        self.put(model.nominal)

    def put(self, q: Array) -> None:
        """Puts the robot in a configuration, shape (nq,)."""
        self.robot.update(q)
        self.poses = [self.robot.pose(names[0]) if names else np.eye(4) for names in self.bodies]
        for number in reversed(range(1, len(self.bodies))):
            if (
                not self.bodies[number] and self.children[number]
            ):  # between two joints of one body: take it for that one
                self.poses[number] = self.poses[self.children[number][0]]

    def _measure(self) -> list[tuple[Array, Array]]:
        solid: list[list[tuple[Array, Array]]] = [[] for _ in self.bodies]
        seen: list[list[tuple[Array, Array]]] = [[] for _ in self.bodies]
        for shape in self.model.shapes:
            centres, radii = _balls(shape)
            (solid if shape.collides else seen)[self.node_of[shape.body]].append(
                (self._in_node(shape.body, centres), radii)
            )
        for mesh in self.model.meshes:
            number = self.node_of[mesh.body]
            solid[number].append((self._in_node(mesh.body, mesh.points), np.zeros(len(mesh.points))))
        found = []
        for number, (hard, soft) in enumerate(zip(solid, seen, strict=True)):
            parts = hard or soft
            if not parts and self.bodies[number] and not self.children[number]:
                names = [
                    *self.bodies[number],
                    *(f for f, at in self.node_of.items() if at == number and f in self.model.frames),
                ]
                at = [self._frame_in_node(name)[:3, 3] for name in names]
                parts = [(np.array(at), np.zeros(len(at)))]
            found.append(
                (np.vstack([c for c, _ in parts]), np.concatenate([r for _, r in parts]))
                if parts
                else (np.zeros((0, 3)), np.zeros(0))
            )
        return found

    def _in_node(self, body: str, points: Array) -> Array:
        """Points of a body in the frame of its node's first body."""
        first = self.bodies[self.node_of[body]][0]
        pose = transforms.inverse(self._offsets[first]) @ self._offsets[body]
        return points @ pose[:3, :3].T + pose[:3, 3]

    def _frame_in_node(self, name: str) -> Array:
        """The pose of a frame in the frame of its node's first body."""
        number = self.node_of[name]
        frame = self.model.frames.get(name)
        body, offset = (name, np.eye(4)) if frame is None else (frame.body, frame.pose)
        pose: Array = transforms.inverse(self._offsets[self.bodies[number][0]]) @ self._offsets[body] @ offset
        return pose

    def in_joint(self, number: int) -> tuple[Array, Array]:
        """The balls of a part in the frame of its joint."""
        offset = self._offsets[self.bodies[number][0]]
        centres, radii = self.balls[number]
        return centres @ offset[:3, :3].T + offset[:3, 3], radii

    def joint_pose(self, number: int) -> Array:
        """The frame of a part's joint in the world, shape (4, 4)."""
        pose: Array = self.poses[number] @ transforms.inverse(self._offsets[self.bodies[number][0]])
        return pose

    def lowest(self, number: int) -> float:
        """Height of the lowest point of a part, m; inf where it has no geometry."""
        centres, radii = self.balls[number]
        pose = self.poses[number]
        return float((centres @ pose[2, :3] + pose[2, 3] - radii).min()) if len(centres) else np.inf

    def chain(self, number: int) -> list[int]:
        """The nodes from below the root to a node."""
        found: list[int] = []
        while number not in (self.root, 0, -1):
            found.append(number)
            number = self.parents[number]
        return found[::-1] if number == self.root else []

    def own(self) -> list[int]:
        """The nodes that hang on the root: without objects that lie about in a scene."""
        return [number for number in range(1, len(self.bodies)) if self.bodies[number] and self.chain(number)]

    def origin(self, number: int) -> Array:
        """Where the node's joint is, m, world axes."""
        pose = self.joint_pose(number) if self.bodies[number] else self.poses[number]
        at: Array = pose[:3, 3]
        return at

    def ends(self) -> list[int]:
        """The nodes in which limbs end: leaves, and hands where the branches are but fingers."""
        found: list[int] = []
        waiting = [(self.root, 0.0)]
        while waiting:
            number, length = waiting.pop()
            branches = self.children[number]
            if not branches and number != self.root:
                found.append(number)
            elif len(branches) == 1:
                child = branches[0]
                step = 0.0 if number == self.root else float(np.linalg.norm(self.origin(child) - self.origin(number)))
                waiting.append((child, length + step))
            elif branches:
                reach = max(self._reach(child, self.origin(number)) for child in branches)
                if number != self.root and reach < FINGERS * length:
                    found.append(number)
                else:
                    waiting += [(child, 0.0) for child in branches]
        return sorted(found)

    def _reach(self, number: int, start: Array) -> float:
        """The greatest distance of a joint in a branch from a point, m."""
        below = max((self._reach(child, start) for child in self.children[number]), default=0.0)
        return max(below, float(np.linalg.norm(self.origin(number) - start)))


def _balls(shape: Shape) -> tuple[Array, Array]:
    """The balls whose hull a shape is, in the body's frame."""
    match shape.kind:
        case "box":
            signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
            centres, radius = signs * np.array(shape.size) / 2, 0.0
        case "sphere":
            centres, radius = np.zeros((1, 3)), shape.size[0]
        case "capsule":
            centres, radius = np.array([[0, 0, -0.5], [0, 0, 0.5]]) * shape.size[1], shape.size[0]
        case "cylinder":
            angles = 2 * np.pi * np.arange(RIM) / RIM
            rim = np.column_stack([np.cos(angles), np.sin(angles)]) * shape.size[0]
            halves = [np.full(RIM, side * shape.size[1] / 2) for side in (-1, 1)]
            centres, radius = np.vstack([np.column_stack([rim, half]) for half in halves]), 0.0
    return centres @ shape.pose[:3, :3].T + shape.pose[:3, 3], np.full(len(centres), radius)
