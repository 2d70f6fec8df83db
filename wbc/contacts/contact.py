"""The base class of contacts: the place, the possible forces, and the motion that is held still."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.contacts.heading import aligned, heading
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, number, show, word
from wbc.geometry import so3
from wbc.model.parts import direction


class Contact(ABC):
    """A place where the robot touches the ground, or another body of its own.

    Args:
        frame: of the robot, at the contact.
        friction: coefficient of Coulomb friction.
        normal: the direction in which the contact pushes; see the subclasses for its axes.
        minimum: least normal force while the contact is closed, N.
        maximum: greatest normal force, N.
        on: a frame of the robot that is touched; None: the ground. The force on it is the opposite one.
        name: of the contact; None: that of the frame.
    """

    @property
    @abstractmethod
    def rows(self) -> int:
        """Number of motions that are held still."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of force variables."""

    def __init__(
        self,
        frame: str,
        friction: float = 0.6,
        *,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        minimum: float = 0.0,
        maximum: float = math.inf,
        on: str | None = None,
        name: str | None = None,
    ) -> None:
        if not isinstance(frame, str):
            raise WbcError(f"a contact's frame must be a name, not {show(frame)}")
        self.frame, self.on = frame, None if on is None else word(on, f"contact {frame!r}: on")
        self.name = frame if name is None else word(name, f"contact {frame!r}: name")
        whose = f"contact {self.name!r}"
        self.friction = number(friction, f"{whose}: friction", high=1e6)
        self.minimum = number(minimum, f"{whose}: minimum", high=1e12)
        self.maximum = number(maximum, f"{whose}: maximum", low=self.minimum)
        if on == frame:
            raise WbcError(f"contact {self.name!r}: frame {frame!r} can't touch itself; on= is another body's frame")
        self.normal: Array = direction(normal, f"contact {self.name!r}: normal")

    def fit(self, robot: Dynamics) -> None:  # noqa: B027  most contacts were given all they need
        """Completes missing arguments from the robot's model. Controllers, ticks and simulators call it.

        Args:
            robot: in any state.
        """

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the motions that are held still, of "x", "y", "z", "rx", "ry", "rz"; z is along the normal."""
        return ("x", "y", "z", "rx", "ry", "rz")[: self.rows]

    @property
    def wrench_size(self) -> int:
        """Numbers of what it exerts: 3 of a force, 6 of a wrench."""
        return 6 if self.rows == 6 else 3

    @abstractmethod
    def motion(self, robot: Dynamics) -> tuple[Array, Array]:
        """Jacobian, shape (rows, nv), and bias J̇v, shape (rows,), of what the contact holds still, world axes."""

    @abstractmethod
    def spread(self, robot: Dynamics, J: Array) -> Array:
        """The Jacobian that maps the contact's force variables to joints, shape (size, nv), from that of the motion."""

    @property
    @abstractmethod
    def carrier(self) -> str | None:
        """The frame in whose axes the normal and the cone stand still; None: the ground.

        On the ground the normal stands still in the world, and the cone turns about it with the robot's heading.
        """

    @abstractmethod
    def carried_cone(self, sides: int) -> Array:
        """C with C f ≤ 0 for every force the contact can exert, in the carrier's axes; shape (facets, size).

        On the ground: in the world's, for tangents `plane_axes(normal)`.
        """

    @abstractmethod
    def carried_normals(self) -> Array:
        """N with normal force n · f, in the carrier's axes; shape (size,)."""

    def cone(self, robot: Dynamics, sides: int) -> Array:
        """C with C f ≤ 0 for every force the contact can exert, world axes; shape (facets, size)."""
        return self._turned(self.carried_cone(sides), self.turn(robot))

    def normals(self, robot: Dynamics) -> Array:
        """N with normal force n · f, world axes; shape (size,)."""
        normals = self.carried_normals()
        return normals if self.carrier is None else self._turned(normals, self.turn(robot))

    def carried_pressure(self) -> Array:
        """The force variables of a normal force of 1 N amid the contact, inside its cone; as `carried_normals`."""
        normals = self.carried_normals()
        return np.asarray(normals / float(normals @ normals))

    def pressure(self, robot: Dynamics) -> Array:
        """The same in world axes, shape (size,)."""
        pressure = self.carried_pressure()
        return pressure if self.carrier is None else self._turned(pressure, self.turn(robot))

    def turn(self, robot: Dynamics) -> Array:
        """The rotation that takes the cone from the axes that it is given in to the world's, shape (3, 3)."""
        if self.carrier is not None:
            return robot.pose(self.carrier)[:3, :3]
        still, forward, across = aligned(self.normal)
        cosine, sine = heading(robot)
        return np.asarray(still + cosine * forward + sine * across)

    @staticmethod
    def _turned(rows: Array, turn: Array) -> Array:
        """Rows on the force variables, each triple of columns turned."""
        turned: Array = (rows.reshape(-1, 3) @ turn.T).reshape(rows.shape)
        return turned

    def place(self, robot: Dynamics) -> Array:
        """The present pose of the contact relative to the body that it touches, shape (4, 4)."""
        pose = robot.pose(self.frame)
        return pose if self.on is None else np.asarray(np.linalg.solve(robot.pose(self.on), pose))

    @abstractmethod
    def error(self, robot: Dynamics, anchor: Array) -> Array:
        """The distance of the contact from a place, desired − measured; world axes, shape (rows,)."""

    @abstractmethod
    def wrench(self, robot: Dynamics, force: Array) -> Array:
        """The force variables as a force, shape (3,), or a wrench at the frame's origin, shape (6,), world axes."""

    @abstractmethod
    def margin(self, robot: Dynamics, force: Array, sides: int) -> float:
        """Distance of the force variables from the edge of the friction cone and the bounds, N; negative is outside."""

    def force_names(self) -> list[str]:
        """The name of each force variable."""
        if self.size == self.rows:
            return [f"{axis} of {self.name}" for axis in ("x", "y", "z", "rx", "ry", "rz")[: self.size]]
        return [f"{'xyz'[k % 3]} at corner {k // 3} of {self.name}" for k in range(self.size)]

    posed = False
    """Whether what its force variables mean in the world's axes depends on the robot's state."""

    turns = True
    """Whether its cone turns against its force variables: with its carrier, or with the robot's heading."""

    plain = False
    """Whether it is a point on the ground: computed with others of its kind at once, and its normal never turns."""

    grounded = False
    """Whether it touches the ground, and what it holds still are the first rows of its frame's motion."""

    def _against(self, robot: Dynamics) -> tuple[Array, Array]:
        """Jacobian and bias of the frame's motion against what it touches: six rows, world axes."""
        J, bias = robot.jacobian(self.frame), robot.jacobian_bias(self.frame)
        if self.on is None:
            return J, bias
        # against the point of the other body that is at the contact now, p_on + r; the acceleration is the one seen
        # from that body: without its centrifugal and (should the contact drift) Coriolis acceleration
        r = robot.pose(self.frame)[:3, 3] - robot.pose(self.on)[:3, 3]
        J_on, bias_on = robot.jacobian(self.on).copy(), robot.jacobian_bias(self.on).copy()
        omega = robot.twist(self.on)[3:]
        J_on[:3] -= so3.skew(r) @ J_on[3:]
        drift = (J - J_on) @ robot.v
        bias_on[:3] += np.cross(bias_on[3:], r) + np.cross(omega, np.cross(omega, r)) + 2.0 * np.cross(omega, drift[:3])
        bias_on[3:] += np.cross(omega, drift[3:])
        return J - J_on, bias - bias_on

    def __repr__(self) -> str:
        where = f" on {self.on!r}" if self.on else ""
        return f"{type(self).__name__}({self.frame!r}{where}, friction={self.friction:g})"


def as_contacts(contacts: object) -> tuple[Contact, ...]:
    """Contacts as a tuple.

    Args:
        contacts: one, or several.

    Raises:
        WbcError: one is none.
    """
    found = tuple(contacts) if isinstance(contacts, Iterable) and not isinstance(contacts, str) else (contacts,)
    for contact in found:
        if not isinstance(contact, Contact):
            raise WbcError(
                f"contacts must be PointContact, SurfaceContact or RollingContact objects, not {show(contact)}"
            )
    return found
