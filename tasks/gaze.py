"""Tasks for cameras: look at a point, or keep it in view."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tasks.barrier import Heights, Kept
from tasks.motion import motion
from wbc.arrays import Array, ArrayLike, cross
from wbc.contacts import Contact
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, number, unknown_name
from wbc.geometry import so3
from wbc.model.model import WORLD
from wbc.model.parts import constant, direction
from wbc.tasking.gains import Gains
from wbc.tasking.law import law
from wbc.tasking.rows import Rows
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick

BEHIND = -1.0 + 1e-9
"""Cosine of the angle beyond which a point counts as behind the camera."""

NEAREST = 1e-3
"""A point nearer to the camera than this has no direction, m."""


class Sight(NamedTuple):
    """The direction of a point, in the camera's axes: u, u' = J v, u'' = J v̇ + drift.

    Attributes:
        direction: unit, camera axes, shape (3,).
        jacobian: J, shape (3, nv).
        rate: of the direction, 1/s, shape (3,).
        drift: what its second derivative is when v̇ is zero, 1/s², camera axes, shape (3,).
    """

    direction: Array
    jacobian: Array
    rate: Array
    drift: Array


class Looking:
    """What a camera looks along, and at.

    Args:
        frame: of the camera.
        point: that is looked at, m, shape (3,): in the world, or in the frame `of`.
        of: a frame of the robot that has the point.
        axis: of the camera, in its frame, shape (3,).
        whose: for messages.
    """

    def __init__(self, frame: str, point: ArrayLike, of: str, axis: ArrayLike, whose: str) -> None:
        self.frame, self.of, self._whose = frame, of, whose
        self.axis: Array = direction(axis, f"{whose}: axis")
        self.point = constant(point, (3,), f"{whose}: point")

    def check(self, robot: Dynamics) -> None:
        """Raises a `WbcError` if a frame is not there."""
        for frame in (self.frame, self.of):
            if frame not in robot.frames:
                raise WbcError(f"{self._whose}: {unknown_name('frame', frame, robot.frames)}")

    def sight(self, robot: Dynamics) -> Sight:
        """The direction of the point, in the camera's axes.

        Args:
            robot: updated.
        """
        pose = np.eye(4)
        pose[:3, 3] = self.point
        seen = motion(robot, self.of, pose, self.frame)
        p, v = seen.position, seen.velocity[:3]
        distance = math.sqrt(float(p @ p))
        if distance < NEAREST:
            raise WbcError(f"{self._whose}: the point is at the camera {self.frame!r} itself")
        u = p / distance
        across = (np.eye(3) - np.outer(u, u)) / distance
        rate = across @ v
        drift = across @ seen.bias[:3] - 2.0 * float(u @ v) / distance * rate - float(rate @ rate) * u
        return Sight(u, across @ seen.jacobian[:3], rate, drift)


class Gaze(Task):
    """Turns a camera until a point is on its axis.

    Rows P J v̇ = kp θ t − kd P u' − P drift in the camera's axes, with u the direction of the point, θ its angle from
    the axis, t the way to it, and P two directions across u.

    Args:
        frame: of the camera.
        point: that it looks at, m, shape (3,): in the world, or in the frame `of`; may be set at any time.
        gains: in 1/s² and 1/s; None: 2 Hz, critically damped. Their speed bounds both rows together, rad/s.
        of: a frame of the robot that has the point.
        axis: of the camera, in its frame, shape (3,).
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`.
    """

    bounds_approach = True

    def __init__(
        self,
        frame: str,
        point: ArrayLike,
        gains: Gains | None = None,
        *,
        of: str = WORLD,
        axis: ArrayLike = (1.0, 0.0, 0.0),
        name: str | None = None,
        weight: float = 1.0,
        tolerance: ArrayLike | None = None,
    ) -> None:
        super().__init__(f"gaze of {frame}" if name is None else name, weight, tolerance)
        self._looking = Looking(frame, point, of, axis, self.name)
        self.gains = Gains.of(gains, Gains(2.0), self.name, bounds_approach=self.bounds_approach)
        self.gains.check(2, self.name)
        self.approach_groups = np.zeros(2, dtype=np.intp)
        along = self._looking.axis
        first = cross(along, np.eye(3)[int(np.abs(along).argmin())])
        first /= np.linalg.norm(first)
        self._across = np.stack([first, cross(along, first)])

    @property
    def point(self) -> Array:
        """What it looks at, m, shape (3,)."""
        return self._looking.point

    @point.setter
    def point(self, point: ArrayLike) -> None:
        self._looking.point = constant(point, (3,), f"{self.name}: point")

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        self._looking.check(robot)

    def _plane(self, u: Array) -> tuple[Array, Array]:
        """Two directions across u, and the way to the axis in them, as angles.

        The directions are those across the axis, turned with it to u the shortest way.

        Args:
            u: unit, in the camera's axes, shape (3,).

        Returns:
            Shapes (2, 3) and (2,), rad.
        """
        axis = self._looking.axis
        cosine, over = float(axis @ u), cross(axis, u)
        sine = math.sqrt(float(over @ over))
        angle = math.atan2(sine, cosine)
        if cosine < BEHIND:  # right behind the camera: every direction is equally good
            return self._across, np.array([angle, 0.0])
        K = so3.skew(over)
        P = self._across @ (np.eye(3) + K + K @ K / (1.0 + cosine)).T
        way = P @ axis
        return P, way * (angle / sine if sine > 1e-9 else 1.0)

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; two rows."""
        seen = self._looking.sight(robot)
        P, way = self._plane(seen.direction)
        J, kd, kp, speed = P @ seen.jacobian, self.gains.kd, self.gains.kp, self.gains.speed
        b = law(v=robot.v, J=J, bias=P @ seen.drift, kd=kd, kp=kp, wanted=way, speed=speed, groups=self.approach_groups)
        return Rows.equal(b, acceleration=J)

    def error(self, robot: Dynamics, tick: Tick) -> Array:
        """See `Task`; rad."""
        return self._plane(self._looking.sight(robot).direction)[1]

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"{which} angle of {self._looking.frame}" for which in ("first", "second")]


class InView(Kept):
    """Keeps a point in the field of view of a camera: h = axis·u − cos(angle) ≥ 0.

    Args:
        frame: of the camera.
        point: m, shape (3,): in the world, or in the frame `of`; may be set at any time.
        angle: of the field, from its axis to its edge, rad.
        of: a frame of the robot that has the point.
        axis: of the camera, in its frame, shape (3,).
        speed: greatest speed at which the cosine may fall, 1/s.
        braking: how hard that is braked, 1/s².
        return_hz: frequency of the motion that leads the point back.
        name: see `Task`.
        weight: see `Task`.
    """

    def __init__(
        self,
        frame: str,
        point: ArrayLike,
        angle: float,
        *,
        of: str = WORLD,
        axis: ArrayLike = (1.0, 0.0, 0.0),
        speed: float = 1.0,
        braking: float = 5.0,
        return_hz: float = 2.0,
        name: str | None = None,
        weight: float = 1.0,
    ) -> None:
        name = f"view of {frame}" if name is None else name
        super().__init__(speed, braking, return_hz, 0.05, None, 1e-3, name, weight)
        self.angle = number(angle, f"{name}: angle", high=3.0, above=True)
        self._looking = Looking(frame, point, of, axis, name)

    @property
    def point(self) -> Array:
        """What stays in view, m, shape (3,)."""
        return self._looking.point

    @point.setter
    def point(self, point: ArrayLike) -> None:
        self._looking.point = constant(point, (3,), f"{self.name}: point")

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        self._looking.check(robot)

    def heights(self, robot: Dynamics, tick: Tick) -> Heights:
        """See `Kept`."""
        seen, axis = self._looking.sight(robot), self._looking.axis
        value = np.array([axis @ seen.direction - math.cos(self.angle)])
        return Heights(value, (axis @ seen.jacobian)[None], np.array([axis @ seen.rate]), np.array([axis @ seen.drift]))

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"point in view of {self._looking.frame}"]
