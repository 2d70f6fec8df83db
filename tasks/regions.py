"""Bounds on the place of frames and of the centre of mass, on speeds, and on power."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from tasks.barrier import Heights, Kept
from tasks.motion import motion
from tasks.pressure import edges
from wbc.arrays import Array, ArrayLike, numbers
from wbc.collision import Solid
from wbc.collision.engine import make_engine
from wbc.collision.solid import SolidKind
from wbc.contacts import Contact, SurfaceContact
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, number, show, unknown_name
from wbc.model.parts import constant, constant_transform
from wbc.tasking.rows import Rows
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick

STEP = 1e-5
"""Time step of the finite difference for the drift of a distance, s."""


def _offset(point: ArrayLike | None, whose: str) -> Array | None:
    """A point in a frame as a pose."""
    if point is None:
        return None
    pose = np.eye(4)
    pose[:3, 3] = constant(point, (3,), f"{whose}: point")
    return pose


def _pose(pose: ArrayLike | None, whose: str) -> Array:
    """A pose, or the place of its origin."""
    if pose is None:
        return np.eye(4)
    given = numbers(pose, f"{whose}: pose")
    if given.shape == (3,):
        place = np.eye(4)
        place[:3, 3] = constant(given, (3,), f"{whose}: pose")
        return place
    return constant_transform(given, f"{whose}: pose")


class OnPoint(Kept):
    """A bound on a point of a frame. The arguments are those of `KeepIn`."""

    def __init__(
        self,
        frame: str,
        point: ArrayLike | None,
        speed: float,
        braking: float,
        return_hz: float,
        name: str,
        weight: float,
    ) -> None:
        super().__init__(speed, braking, return_hz, 0.05, None, 1e-3, name, weight)
        self.frame, self._at = frame, _offset(point, name)

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        if self.frame not in robot.frames:
            raise WbcError(f"{self.name}: {unknown_name('frame', self.frame, robot.frames)}")


class KeepIn(OnPoint):
    """Keeps a point of a frame in a box.

    Args:
        frame: its name.
        low: least coordinates in the box's axes, m, shape (3,); -inf where there is none.
        high: greatest ones; +inf where there is none.
        pose: of the box in the world, shape (4, 4) or (3,); None: its axes are the world's.
        point: in the frame, m, shape (3,); None: its origin.
        speed: greatest speed towards a face, m/s.
        braking: how hard that is braked, m/s².
        return_hz: frequency of the motion that leads it back.
        name: see `Task`.
        weight: see `Task`.
    """

    def __init__(
        self,
        frame: str,
        low: ArrayLike = (-np.inf, -np.inf, -np.inf),
        high: ArrayLike = (np.inf, np.inf, np.inf),
        pose: ArrayLike | None = None,
        *,
        point: ArrayLike | None = None,
        speed: float = 1.5,
        braking: float = 5.0,
        return_hz: float = 2.0,
        name: str | None = None,
        weight: float = 1.0,
    ) -> None:
        super().__init__(frame, point, speed, braking, return_hz, f"{frame} keeps in" if name is None else name, weight)
        ends = [numbers(end, f"{self.name}: {what}") for what, end in (("low", low), ("high", high))]
        if any(end.shape != (3,) or np.isnan(end).any() for end in ends) or not (ends[0] < ends[1]).all():
            raise WbcError(f"{self.name}: low and high must be three numbers each, low < high, not {show((low, high))}")
        self._pose = _pose(pose, self.name)
        sides = np.vstack([np.eye(3), -np.eye(3)])
        bounded = np.isfinite(np.concatenate([-ends[0], ends[1]]))
        if not bounded.any():
            raise WbcError(f"{self.name}: low and high are all infinite: they bound nothing")
        self._sides, self._reach = sides[bounded], np.concatenate([-ends[0], ends[1]])[bounded]
        self._named = [f"{s} {axis}" for s, axis in zip(["least"] * 3 + ["greatest"] * 3, "xyzxyz", strict=True)]
        self._named = [text for text, kept in zip(self._named, bounded, strict=True) if kept]

    def heights(self, robot: Dynamics, tick: Tick) -> Heights:
        """See `Kept`."""
        seen = motion(robot, self.frame, self._at)
        N = self._sides @ self._pose[:3, :3].T
        value = N @ (seen.position - self._pose[:3, 3]) + self._reach
        return Heights(value, N @ seen.jacobian[:3], N @ seen.velocity[:3], N @ seen.bias[:3])

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"{side} of {self.frame}" for side in self._named]


class KeepOut(OnPoint):
    """Keeps a ball around a point of a frame out of a convex region.

    Args:
        frame: its name.
        kind: of the region: "sphere", "capsule", "box", "plane".
        size: sphere: radius; capsule: radius and length; box: edge lengths; plane: empty; the region is all below the
            plane. In m.
        pose: of its centre and axes in the world, shape (4, 4) or (3,); None: at the origin.
        radius: of the ball, m.
        point: its centre in the frame, m, shape (3,); None: the frame's origin.
        speed: greatest speed towards it, m/s.
        braking: how hard that is braked, m/s².
        return_hz: frequency of the motion that leads it back.
        name: see `Task`.
        weight: see `Task`.
    """

    def __init__(
        self,
        frame: str,
        kind: SolidKind,
        size: ArrayLike = (),
        pose: ArrayLike | None = None,
        *,
        radius: float = 0.0,
        point: ArrayLike | None = None,
        speed: float = 1.5,
        braking: float = 5.0,
        return_hz: float = 2.0,
        name: str | None = None,
        weight: float = 1.0,
    ) -> None:
        name = f"{frame} keeps out" if name is None else name
        super().__init__(frame, point, speed, braking, return_hz, name, weight)
        self.radius = number(radius, f"{name}: radius", high=10.0)
        given = tuple(np.atleast_1d(numbers(size, f"{name}: size")).tolist())
        self._engine = make_engine("own", [Solid(name, "world", kind, given)])
        self._pose = _pose(pose, name)[None]

    def _to(self, place: Array) -> tuple[float, Array]:
        """Distance of the ball, and the direction away from the region."""
        found = self._engine.measure_balls(self._pose, place[None], np.array([self.radius]), np.array([0]))
        return float(found.distance[0]), -found.normal[0]

    def heights(self, robot: Dynamics, tick: Tick) -> Heights:
        """See `Kept`."""
        seen = motion(robot, self.frame, self._at)
        v, a = seen.velocity[:3], seen.bias[:3]
        distance, n = self._to(seen.position)
        turned = [self._to(seen.position + side * STEP * v)[1] for side in (-1.0, 1.0)]
        drift = n @ a + (turned[1] - turned[0]) @ v / (2 * STEP)
        return Heights(np.array([distance]), (n @ seen.jacobian[:3])[None], np.array([n @ v]), np.array([drift]))

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"distance of {self.frame}"]


class FrameSpeedLimit(Task):
    """Keeps the speed of a frame below a limit s, in any direction: v·v̇ ≤ (s² − v²) / (2 T_a), with T_a = `approach`.

    A frame that is too fast is slowed with `braking` at most.

    Args:
        frame: its name.
        linear: greatest speed of its origin, m/s; None: any.
        angular: greatest rate of turn, rad/s; None: any.
        point: in the frame, m, shape (3,), in place of its origin.
        braking: with which it is slowed where it is too fast, m/s² and rad/s².
        approach: time constant with which the frame approaches its greatest speed, s.
        name: see `Task`.
        weight: see `Task`.
    """

    inequality = True

    def __init__(
        self,
        frame: str,
        linear: float | None = None,
        angular: float | None = None,
        *,
        point: ArrayLike | None = None,
        braking: float = 10.0,
        approach: float = 0.05,
        name: str | None = None,
        weight: float = 1.0,
    ) -> None:
        super().__init__(f"speed of {frame}" if name is None else name, weight)
        if linear is None and angular is None:
            raise WbcError(f"{self.name}: give linear=, m/s, or angular=, rad/s")
        self.frame, self._at = frame, _offset(point, self.name)
        kinds = (("linear", linear, slice(0, 3)), ("angular", angular, slice(3, 6)))
        self._limits = [
            (what, number(most, f"{self.name}: {what}", above=True), rows)
            for what, most, rows in kinds
            if most is not None
        ]
        self.braking = number(braking, f"{self.name}: braking", above=True)
        self.approach = number(approach, f"{self.name}: approach", above=True)

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        if self.frame not in robot.frames:
            raise WbcError(f"{self.name}: {unknown_name('frame', self.frame, robot.frames)}")

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row a limit."""
        seen, A, upper = motion(robot, self.frame, self._at), [], []
        for _, most, rows in self._limits:
            v = seen.velocity[rows]
            speed = math.sqrt(float(v @ v))
            # what turns a velocity lengthens it within a period: that much is left to it
            bound = (most * most - speed * speed) / (2.0 * max(self.approach, tick.period))
            A.append(v @ seen.jacobian[rows])
            upper.append(max(bound, -self.braking * speed) - float(v @ seen.bias[rows]))
        return Rows.between(np.full(len(A), -np.inf), np.array(upper), acceleration=np.array(A))

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"{what} speed of {self.frame}" for what, *_ in self._limits]


class OverSupport(Kept):
    """Keeps the centre of mass over the polygon of the closed contacts on the ground, or over a given one.

    Args:
        margin: kept from the edges, m.
        polygon: corners in the world, m, shape (n, 2); None: the hull of the closed contacts, soles with their corners.
        speed: greatest speed towards an edge, m/s.
        braking: how hard that is braked, m/s²; a foot can give g times the distance of the edge divided by the height.
        return_hz: frequency of the motion that leads it back.
        name: see `Task`.
        weight: see `Task`.
    """

    def __init__(
        self,
        margin: float = 0.02,
        polygon: ArrayLike | None = None,
        *,
        speed: float = 0.5,
        braking: float = 0.5,
        return_hz: float = 0.5,
        name: str = "over support",
        weight: float = 1.0,
    ) -> None:
        super().__init__(speed, braking, return_hz, 0.1, None, 1e-3, name, weight)
        self.margin = number(margin, f"{name}: margin", high=10.0)
        self._edges = None if polygon is None else edges(polygon, self.margin, name)

    def heights(self, robot: Dynamics, tick: Tick) -> Heights:
        """See `Kept`; as many as the contacts have corners, those that are not needed far above zero."""
        if self._edges is not None:
            normals, reach, count = *self._edges, len(self._edges[1])
        else:
            corners = self._corners(robot, tick)
            count = len(corners)
            if count < 3:
                raise WbcError(f"{self.name}: the closed contacts have {count} corners; a polygon needs three")
            normals, reach = edges(corners, self.margin, self.name)
        value, N = np.full(count, 1e6), np.zeros((count, 2))
        N[: len(normals)] = -normals
        value[: len(normals)] = reach - normals @ robot.com[:2]
        return Heights(value, N @ robot.com_jacobian[:2], N @ robot.com_velocity[:2], N @ robot.com_bias[:2])

    def _corners(self, robot: Dynamics, tick: Tick) -> Array:
        """Of all closed contacts on the ground, in the world, shape (n, 2)."""
        found = []
        for contact in tick.contacts:
            if contact.on is None:
                pose = robot.pose(contact.frame)
                own = contact.corners if isinstance(contact, SurfaceContact) else np.zeros((1, 3))
                found.append(own @ pose[:2, :3].T + pose[:2, 3])
        return np.concatenate(found) if found else np.zeros((0, 2))

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"edge {k}" for k in range(len(self.heights(robot, tick).value))]


class PowerLimit(Task):
    """Bounds the mechanical power that all motors together give and absorb: −P_brake ≤ τ·(G v) ≤ P.

    Args:
        most: P, W.
        braking: P_brake, the power that they may absorb, W; None: any.
        name: see `Task`.
        weight: see `Task`.
    """

    inequality = True
    always_holds = True

    def __init__(
        self, most: float, braking: float | None = None, *, name: str = "power limit", weight: float = 1.0
    ) -> None:
        super().__init__(name, weight)
        self.most = number(most, f"{name}: most", above=True)
        self.braking = math.inf if braking is None else number(braking, f"{name}: braking", above=True)

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; one row."""
        A = (robot.actuation_matrix @ robot.v)[None]
        return Rows.between(np.array([-self.braking]), np.array([self.most]), torque=A)

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return ["power of all motors"]
