"""A plane or a terrain, and the places on a robot that can touch it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from wbc.arrays import Array, ArrayLike, IntArray, numbers
from wbc.contacts import Contact, RollingContact, SurfaceContact
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, number, show, unknown_name
from wbc.geometry import so3
from wbc.model.parts import direction, plane_axes
from wbc.model.tree import Tree
from wbc.model.wheel import Wheel
from wbc.simulation.terrain import Terrain

Touching: TypeAlias = str | Contact | tuple[str, ArrayLike]
"""A place that touches the ground: a frame; a contact of a stack; points fixed to a frame, in it, m, shape (3,) or (n,
3)."""


@dataclass(frozen=True, eq=False)
class Point:
    """A place on the robot that can touch the ground: a point, a ball, or a wheel, which touches at its lowest point.

    Attributes:
        frame: of the robot.
        offset: of the point, or the ball's or wheel's centre, in the frame, m, shape (3,).
        radius: of the ball, m; zero for a point.
        wheel: the wheel, where it is one.
    """

    frame: str
    offset: Array
    radius: float = 0.0
    wheel: Wheel | None = None


class Ground:
    """A plane, or a terrain, under some points of a robot.

    Args:
        robot: that the points are on.
        points: that touch.
        normal: of the plane, world axes.
        height: of the plane above the world's origin, m.
        terrain: in the place of the plane: its tops are touched, its upright sides are not; None: there is none.

    Attributes:
        points: that touch.
        axes: of every contact, world axes: normal, tangent, tangent, in rows, shape (3, 3); of a wheel see `touch`.
    """

    def __init__(
        self,
        robot: Dynamics,
        points: Iterable[Point],
        normal: ArrayLike,
        height: float,
        terrain: Terrain | None = None,
    ) -> None:
        n = direction(normal, "normal")
        height = number(height, "height, m,", -1e6, 1e6)
        self.points, self.axes = tuple(points), np.vstack([n, *plane_axes(n)])
        self._normal, self._level, self._nv = n, float(n[2] * height), robot.nv
        self._frames = tuple(dict.fromkeys(point.frame for point in self.points))
        self._frame_of: IntArray = np.array([self._frames.index(point.frame) for point in self.points], dtype=np.intp)
        self._offsets = np.array([point.offset for point in self.points]).reshape(-1, 3)
        self._radii = np.array([point.radius for point in self.points])
        self._wheels = [(index, point.wheel) for index, point in enumerate(self.points) if point.wheel is not None]
        self._terrain = terrain
        if terrain is not None and (height or n[2] < 1.0 or self._wheels):
            raise WbcError("a terrain is on level ground at height 0: don't give normal= or height=")

    def touch(self, robot: Dynamics) -> tuple[Array, Array, Array]:
        """The gaps, axes and Jacobians of the points in the robot's present state.

        The tangents of a wheel turn with its way over the ground; along what its rollers, or a castor, leave free there
        is no tangent, but zeros.

        Returns:
            Gaps, m, shape (n,); the axes of each contact in rows, world axes, shape (n, 3, 3); and Jacobians in these,
            shape (n, 3, nv).
        """
        if not self.points:
            return np.zeros(0), np.zeros((0, 3, 3)), np.zeros((0, 3, self._nv))
        n = self._normal
        poses = np.array([robot.pose(frame) for frame in self._frames])[self._frame_of]
        J = np.array([robot.jacobian(frame) for frame in self._frames])[self._frame_of]
        arms = np.matmul(poses[:, :3, :3], self._offsets[:, :, None])[:, :, 0]
        if self._terrain is not None:
            return self._touch_terrain(self._terrain, poses[:, :3, 3] + arms, arms, J)
        gaps = (poses[:, :3, 3] + arms) @ n - self._level - self._radii
        arms -= self._radii[:, None] * n  # from the centre of a ball to where it touches
        axes = np.broadcast_to(self.axes, (len(gaps), 3, 3))
        if self._wheels:
            axes = axes.copy()
        for index, wheel in self._wheels:
            down, E = wheel.touch(poses[index, :3, :3] @ wheel.axle, n)
            gaps[index] += n @ down
            arms[index] += down
            held = wheel.held @ E
            axes[index] = np.vstack([held[-1:], held[:-1], np.zeros((3 - len(held), 3))])
        return gaps, axes, axes @ (J[:, :3] - so3.skew(arms) @ J[:, 3:])

    def _touch_terrain(self, terrain: Terrain, at: Array, arms: Array, J: Array) -> tuple[Array, Array, Array]:
        """As `touch`, on a terrain.

        Args:
            terrain: that is touched.
            at: where points, and the centres of balls, are, m, shape (n, 3).
            arms: the same from the origins of their frames, m, shape (n, 3).
            J: of the frames, shape (n, 6, nv).
        """
        heights, slopes = terrain.heights(at[:, :2])
        size = np.hypot(slopes, 1.0)
        axes = np.zeros((len(at), 3, 3))
        axes[:, 0, 0], axes[:, 0, 2] = -slopes / size, 1.0 / size
        axes[:, 1, 0], axes[:, 1, 2] = 1.0 / size, slopes / size
        axes[:, 2, 1] = 1.0
        gaps = (at[:, 2] - heights) / size - self._radii
        arms = arms - self._radii[:, None] * axes[:, 0]
        return gaps, axes, axes @ (J[:, :3] - so3.skew(arms) @ J[:, 3:])


def contact_points(robot: Dynamics, contacts: str | Contact | Iterable[Touching] | None) -> tuple[Point, ...]:
    """The points that touch the ground.

    A frame touches with the wheel or the corners of its sole, where the model has one; else with the ball around its
    origin, where there is a collision shape like that; else with its origin.

    Args:
        robot: that touches.
        contacts: what touches; None: the model's feet and wheels.
    """
    if contacts is None:
        contacts = (*robot.model.feet, *robot.model.wheels)
    if isinstance(contacts, str | Contact):
        contacts = (contacts,)
    if not isinstance(contacts, Iterable):
        raise WbcError(f"contacts must be frames, Contact objects, or (frame, points in it), not {show(contacts)}")
    tree, points = Tree(robot.model), []
    corners: ArrayLike | None
    for contact in contacts:
        if isinstance(contact, Contact) and contact.on is not None:
            raise WbcError(
                f"contact {contact.name!r} is on {contact.on!r}: only contacts with the ground are simulated"
            )
        if isinstance(contact, str | Contact):
            frame = contact if isinstance(contact, str) else contact.frame
            _known(robot, frame)
            if isinstance(contact, Contact):
                contact.fit(robot)
            wheel = contact.wheel if isinstance(contact, RollingContact) else robot.model.wheels.get(frame)
            if wheel is not None:
                points.append(Point(frame, np.zeros(3), wheel=wheel))
                continue
            corners = contact.corners if isinstance(contact, SurfaceContact) else robot.model.soles.get(frame)
            if corners is None:
                points.append(Point(frame, np.zeros(3), _ball(robot, tree, frame)))
                continue
        elif isinstance(contact, tuple) and len(contact) == 2 and isinstance(contact[0], str):
            frame, corners = contact
            _known(robot, frame)
        else:
            raise WbcError(f"{show(contact)} can't touch the ground: give a frame, a Contact, or (frame, points in it)")
        points += [Point(frame, corner) for corner in _corners(corners, frame)]
    return tuple(points)


def _known(robot: Dynamics, frame: str) -> None:
    if frame not in robot.frames:
        raise unknown_name("frame", frame, robot.frames)


def _corners(given: ArrayLike, frame: str) -> Array:
    """Points in a frame, shape (n, 3), of one, several, or several in its plane, shapes (3,), (n, 3), (n, 2)."""
    points = np.atleast_2d(numbers(given, f"the points on {frame!r}"))
    if points.ndim == 2 and points.shape[1] == 2 and np.ndim(given) == 2:
        points = np.column_stack([points, np.zeros(len(points))])
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise WbcError(f"the points on {frame!r} must be finite, of shape (3,), (n, 3) or (n, 2), not {show(given)}")
    return points


def _ball(robot: Dynamics, tree: Tree, frame: str) -> float:
    """The radius of the ball around a frame's origin, m; zero if there is none."""
    if frame not in robot.model.frame_names:
        return 0.0  # added to this robot alone
    node, pose = tree.place(frame)
    radius = 0.0
    for shape in robot.model.shapes:
        carrier, place = tree.places[shape.body]
        ball = shape.collides and shape.kind == "sphere" and carrier == node
        if ball and np.allclose(place @ shape.pose[:, 3], pose[:, 3], atol=1e-6):
            radius = max(radius, float(shape.size[0]))
    return radius


def felt(points: Array, parts: IntArray, sensors: Array, sensor_parts: IntArray) -> Array:
    """Which forces which sensors feel: that of a point is felt by the nearest sensor on its rigid part.

    Sensors that are as near as the nearest, to a micrometre, feel it too.

    Args:
        points: where forces act, m, shape (n, 3).
        parts: number of the rigid part of each point, shape (n,).
        sensors: where they are, in the same axes, m, shape (m, 3).
        sensor_parts: the part of each sensor, shape (m,).

    Returns:
        1 where a sensor feels a force, else 0, shape (m, n).
    """
    ways = sensors[:, None] - points[None]
    far = np.sqrt(np.einsum("mnk,mnk->mn", ways, ways))
    far[sensor_parts[:, None] != parts[None]] = np.inf
    nearest = far.min(axis=0, initial=np.inf)
    return np.asarray((far <= nearest + 1e-6) & np.isfinite(far), dtype=float)
