"""The kinematic tree that the backends compute on: elementary joints only, everything rigidly joined made one.

Fixed joints are gone: what hangs on them is added to the node that carries it. A floating joint has become a
translation and a spherical joint, a planar one two prismatic joints and a revolute one; the nodes between are massless.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError, unknown_name
from wbc.model.model import WORLD, Model
from wbc.model.parts import Body, Joint, plane_axes

ElementaryKind = Literal["revolute", "prismatic", "translation", "spherical"]


@dataclass(eq=False)
class Node:
    """A rigid part of the robot and the elementary joint that moves it.

    Attributes:
        name: of the body whose frame is the node's, or of the joint it belongs to where it has none.
        parent: index of the node that carries it; 0 is the world.
        kind: revolute, prismatic, translation (three directions, fixed to the parent) or spherical.
        pose: the joint in the parent's node frame; the node's own frame when its coordinates are zero, shape (4, 4).
        axis: of a revolute or prismatic joint, in the node frame, shape (3,).
        q_index: where its coordinates start in `q`.
        v_index: where its velocities start in `v`.
        mass: kg.
        com: in the node frame, m, shape (3,).
        inertia: about the centre of mass, in the axes of the node frame, kg m², shape (3, 3).
    """

    name: str
    parent: int
    kind: ElementaryKind
    pose: Array
    axis: Array
    q_index: int
    v_index: int
    mass: float = 0.0
    com: Array = None  # type: ignore[assignment]
    inertia: Array = None  # type: ignore[assignment]

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return 1 if self.kind in ("revolute", "prismatic") else 3

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return 4 if self.kind == "spherical" else self.nv


class Tree:
    """The nodes of a robot, depth first; node 0 is the world.

    Args:
        model: the robot.

    Attributes:
        nodes: by index.
        places: where each body's frame is: its node, and the pose in the node's frame.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        eye = np.eye(4)
        self.nodes: list[Node] = [Node(WORLD, -1, "translation", eye, np.zeros(3), 0, 0)]
        self.places: dict[str, tuple[int, Array]] = {WORLD: (0, eye)}
        carried: list[list[tuple[Body, Array]]] = [[]]
        for joint in model.joints.values():
            node, pose = self.places[joint.parent]
            pose = pose @ joint.pose
            for kind, axis, q_offset, v_offset in _elementary(joint):
                index = model.q_index[joint.name] + q_offset, model.v_index[joint.name] + v_offset
                self.nodes.append(Node(joint.child, node, kind, pose, axis, *index))
                carried.append([])
                node, pose = len(self.nodes) - 1, eye
            self.places[joint.child] = (node, pose)
            carried[node].append((model.bodies[joint.child], pose))
        for part, bodies in zip(self.nodes, carried, strict=True):
            part.mass, part.com, part.inertia = _together(bodies)

    def place(self, frame: str) -> tuple[int, Array]:
        """The node that carries a frame, and the frame's pose in the node's frame.

        Args:
            frame: the name of a body or of an added frame.
        """
        added = self.model.frames.get(frame)
        if added is not None:
            node, pose = self.places[added.body]
            return node, pose @ added.pose
        found = self.places.get(frame)
        if found is None or self.model.bodies[frame].virtual:
            raise unknown_name("frame", frame, self.model.frame_names)
        return found


def _elementary(joint: Joint) -> list[tuple[ElementaryKind, Array, int, int]]:
    """The elementary joints that make up a joint: kind, axis, offset in its `q`, offset in its `v`."""
    none = np.zeros(3)
    match joint.kind:
        case "fixed":
            return []
        case "revolute" | "continuous":
            return [("revolute", joint.axis, 0, 0)]
        case "prismatic":
            return [("prismatic", joint.axis, 0, 0)]
        case "spherical":
            return [("spherical", none, 0, 0)]
        case "floating":
            return [("translation", none, 0, 0), ("spherical", none, 3, 3)]
        case "planar":
            first, second = plane_axes(joint.axis)
            return [("prismatic", first, 0, 0), ("prismatic", second, 1, 1), ("revolute", joint.axis, 2, 2)]
    raise WbcError(f"joint {joint.name!r}: unknown kind {joint.kind!r}")


def _together(parts: list[tuple[Body, Array]]) -> tuple[float, Array, Array]:
    """Mass, centre of mass and inertia about it of bodies that move as one, in the node's frame.

    The inertia of each is turned into the node's axes and moved by the parallel-axis theorem (Traversaro–Saccon 69).
    """
    mass = sum(body.mass for body, _ in parts)
    centres = [pose[:3, :3] @ body.com + pose[:3, 3] for body, pose in parts]
    moment = sum((body.mass * c for (body, _), c in zip(parts, centres, strict=True)), np.zeros(3))
    com = moment / mass if mass > 0.0 else moment
    inertia = np.zeros((3, 3))
    for (body, pose), centre in zip(parts, centres, strict=True):
        R, r = pose[:3, :3], centre - com
        inertia += R @ body.inertia @ R.T + body.mass * ((r @ r) * np.eye(3) - np.outer(r, r))
    return float(mass), com, (inertia + inertia.T) / 2
