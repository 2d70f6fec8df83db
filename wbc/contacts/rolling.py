"""A wheel that rolls on the ground: it holds the velocity of its lowest point, but no position."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from wbc.arrays import Array, ArrayLike, cross
from wbc.contacts.cone import FRICTIONLESS, force_cone
from wbc.contacts.contact import Contact
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, show, unknown_name
from wbc.geometry import so3
from wbc.model.wheel import LEAST_SINE, Wheel
from wbc.model.wheels import find_wheel

AXES = {3: ("x", "y", "z"), 2: ("x", "z"), 1: ("z",)}
"""Names of what is held, by how much is: along (or along the rollers' axes), to the left, along the normal."""


class _Rates(NamedTuple):
    """How a contact's axes and its point on the wheel change, per second."""

    down: Array
    along: Array
    left: Array


class RollingContact(Contact):
    """A wheel on the ground: what touches is its lowest point, which moves over the wheel and over the ground.

    A tyre neither slips along its way nor to the side: the velocity of its material at the lowest point is zero. A
    wheel with rollers holds the ground along the axes of its rollers only, a castor along the normal only. With c the
    wheel's centre, ω its angular velocity, d from the centre to the lowest point and E the contact's axes in rows
    (along, to the left, normal), the ground holds

        u = E (ċ + ω × d) = J v,   J v̇ + J̇v = 0   with   J̇v = E (c̈₀ + ω̇₀ × d + ω × ḋ) + Ė (ċ + ω × d)

    and c̈₀, ω̇₀ the accelerations of the frame at v̇ = 0. In these axes are the forces as well, as many as there are
    motions held, at the lowest point. The wheel may lean; its directions do not turn with its rolling.

    There is no position to hold: a wheel that slipped stays there. So of the gains of `ContactMotion`, kd stops slip
    and kp has no effect.

    Args:
        frame: of the robot, at the centre of the wheel, on the body that turns.
        friction: coefficient of Coulomb friction.
        wheel: its shape; None: that which the robot's model declares, or that of its collision shape, as soon as a
            controller or a tick is made with both.
        normal: of the ground, world axes.
        minimum: see `Contact`.
        maximum: see `Contact`.
        name: see `Contact`.
    """

    posed, turns = True, False

    def __init__(
        self,
        frame: str,
        friction: float = 0.6,
        wheel: Wheel | None = None,
        *,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        minimum: float = 0.0,
        maximum: float = math.inf,
        name: str | None = None,
    ) -> None:
        super().__init__(frame, friction, normal=normal, minimum=minimum, maximum=maximum, name=name)
        self._own = wheel is None  # the robot's own wheel
        self._wheel: Wheel | None = None
        if wheel is not None:
            if not isinstance(wheel, Wheel):
                raise WbcError(f"contact {self.name!r}: wheel = {show(wheel)} must be a wbc.Wheel(radius, ...)")
            self._take(wheel)

    def _take(self, wheel: Wheel) -> None:
        self._wheel, self._held = wheel, wheel.held
        self._cones: dict[int, Array] = {}

    @property
    def wheel(self) -> Wheel:
        """Its shape."""
        if self._wheel is None:
            raise WbcError(
                f"contact {self.name!r} has no wheel yet: give wheel=wbc.Wheel(radius), or make a controller or a tick "
                f"with it and a robot that has a wheel at {self.frame!r}"
            )
        return self._wheel

    def fit(self, robot: Dynamics) -> None:
        """See `Contact`: the wheel."""
        if not self._own:
            return
        if self.frame not in robot.frames:
            raise WbcError(f"contact {self.name!r}: {unknown_name('frame', self.frame, robot.frames)}")
        found = find_wheel(robot.model, self.frame)
        if found is None:
            raise WbcError(
                f"contact {self.name!r}: the model {robot.model.name!r} declares no wheel for {self.frame!r} (wheels: "
                f"{', '.join(robot.model.wheels) or 'none'}), and no ball, cylinder or capsule that touches is centred "
                "on it: give wheel=wbc.Wheel(radius, axle)"
            )
        if self._wheel is not None and not found.same(self._wheel):
            raise WbcError(f"contact {self.name!r} has the wheel of another robot: make one for each robot")
        if self._wheel is None:
            self._take(found)

    @property
    def rows(self) -> int:
        """See `Contact`: 3 for a tyre, 2 for rollers, 1 for a castor."""
        return len(self._held) if self._wheel is not None else len(self.wheel.held)

    @property
    def size(self) -> int:
        """See `Contact`."""
        return self.rows

    @property
    def axes(self) -> tuple[str, ...]:
        """See `Contact`: x along the way, or along the rollers' axes; y to the left of it; z along the normal."""
        return AXES[self.rows]

    def directions(self, robot: Dynamics) -> Array:
        """What is held, each a direction in world axes, shape (rows, 3)."""
        _, E = self.wheel.touch(robot.pose(self.frame)[:3, :3] @ self.wheel.axle, self.normal)
        return np.asarray(self._held @ E)

    def point(self, robot: Dynamics) -> Array:
        """The wheel's lowest point, m, world axes, shape (3,)."""
        pose = robot.pose(self.frame)
        down, _ = self.wheel.touch(pose[:3, :3] @ self.wheel.axle, self.normal)
        return np.asarray(pose[:3, 3] + down)

    def slip(self, robot: Dynamics) -> Array:
        """The velocity of the wheel's material at its lowest point, in the directions held, m/s, shape (rows,)."""
        return np.asarray(self.motion(robot)[0] @ robot.v)

    def motion(self, robot: Dynamics) -> tuple[Array, Array]:
        """See `Contact`; in the axes of the contact, not of the world."""
        axle = robot.pose(self.frame)[:3, :3] @ self.wheel.axle
        down, E = self.wheel.touch(axle, self.normal)
        twist = robot.twist(self.frame)
        velocity, omega = twist[:3] + cross(twist[3:], down), twist[3:]
        rates = self._rates(axle, E[0], cross(omega, axle))
        K = np.empty((len(self._held), 6))
        K[:, :3] = self._held @ E
        K[:, 3:] = -K[:, :3] @ so3.skew(down)  # e · (ω × d)
        turning = E @ cross(omega, rates.down)
        turning[0] += rates.along @ velocity
        turning[1] += rates.left @ velocity
        bias: Array = K @ robot.jacobian_bias(self.frame) + self._held @ turning
        J: Array = K @ robot.jacobian(self.frame)
        return J, bias

    def _rates(self, axle: Array, along: Array, turning: Array) -> _Rates:
        """The rates of a contact's axes, and of its point on the wheel, from that of the axle."""
        n, wheel = self.normal, self.wheel
        p, rate = float(n @ axle), float(n @ turning)
        sine = max(math.sqrt(max(1.0 - p * p, 0.0)), LEAST_SINE)
        growth = -p * rate / sine**2  # of the sine, relative to it
        along_rate = cross(turning, n) / sine - growth * along
        up_rate = -(rate * axle + p * turning) / sine - growth * (n - p * axle) / sine
        return _Rates(-(wheel.radius - wheel.crown) * up_rate, along_rate, cross(n, along_rate))

    def spread(self, robot: Dynamics, J: Array) -> Array:
        """See `Contact`."""
        return J

    @property
    def carrier(self) -> str | None:
        """See `Contact`: the forces are in the contact's own axes, in which its cone stands still."""
        return None

    def carried_normals(self) -> Array:
        """See `Contact`; in the contact's own axes."""
        return np.asarray(np.eye(self.rows)[-1])

    def carried_cone(self, sides: int) -> Array:
        """A pyramid inside the cone of friction, or what of it lies along the rollers' axes; see `Contact`."""
        rows = self.rows
        C = self._cones.get(sides)
        if C is None:
            if rows == 3:
                C = force_cone(np.array([0.0, 0.0, 1.0]), self.friction, sides, push=self.friction < FRICTIONLESS)
            elif rows == 2:
                C = np.array([[1.0, -self.friction], [-1.0, -self.friction], [0.0, -1.0]])
            else:
                C = np.array([[-1.0]])
            C.flags.writeable = False
            self._cones[sides] = C
        return C

    def cone(self, robot: Dynamics, sides: int) -> Array:
        """See `Contact`; in the contact's own axes."""
        return self.carried_cone(sides)

    def normals(self, robot: Dynamics) -> Array:
        """See `Contact`; in the contact's own axes."""
        return self.carried_normals()

    def place(self, robot: Dynamics) -> Array:
        """See `Contact`: where it touches, in the axes of the world."""
        pose = np.eye(4)
        pose[:3, 3] = self.point(robot)
        return pose

    def error(self, robot: Dynamics, anchor: Array) -> Array:
        """See `Contact`: none, as a wheel holds no place."""
        return np.zeros(self.rows)

    def wrench(self, robot: Dynamics, force: Array) -> Array:
        """The force at the lowest point, world axes, N, shape (3,)."""
        return np.asarray(force @ self.directions(robot))

    def margin(self, robot: Dynamics, force: Array, sides: int) -> float:
        """Of the true cone, whatever the sides; see `Contact`."""
        normal = float(force[-1])
        return normal if len(force) == 1 else min(self.friction * normal - float(np.linalg.norm(force[:-1])), normal)

    def force_names(self) -> list[str]:
        """See `Contact`."""
        return [f"{axis} of {self.name}" for axis in self.axes]
