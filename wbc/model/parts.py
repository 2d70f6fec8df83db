"""The parts of a robot: bodies, joints, frames, shapes. Plain data, read by every backend.

Arrays are copied, checked and kept read-only: an error is raised where the part is made.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.copies import Remade
from wbc.errors import WbcError, show, unknown_name
from wbc.geometry import so3

JointKind = Literal["fixed", "revolute", "continuous", "prismatic", "planar", "spherical", "floating"]

POSITIONS: dict[JointKind, int] = {
    "fixed": 0,
    "revolute": 1,
    "continuous": 1,
    "prismatic": 1,
    "planar": 3,
    "spherical": 4,
    "floating": 7,
}
"""How many entries of `q` a joint of each kind has."""

VELOCITIES: dict[JointKind, int] = {**POSITIONS, "spherical": 3, "floating": 6}
"""How many entries of `v` a joint of each kind has."""

SYMMETRY = 1e-6
"""How far entries of an inertia may be from those across its diagonal, as a share of its trace: rounding, also that of
numbers in single precision, is mended."""


@dataclass(frozen=True, eq=False)
class Body(Remade):
    """A rigid body.

    Attributes:
        name: unique among the bodies and frames of a model.
        mass: kg; zero for a body that only carries a frame.
        com: centre of mass in the body frame, m, shape (3,).
        inertia: about the centre of mass, in the axes of the body frame, kg m², shape (3, 3); symmetric but for
            rounding, and kept exactly so.
        virtual: stands between two joints of one real body; it has no mass and is not a frame.
        compensation: the share of its weight that something outside the robot carries, a counterweight say; a passive
            force at its centre of mass.
    """

    name: str
    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    virtual: bool = False
    compensation: float = 0.0

    def __post_init__(self) -> None:
        whose = f"body {show(self.name)}"
        _keep(self, "com", constant(self.com, (3,), f"{whose}: its com"))
        _keep(self, "inertia", constant(self.inertia, (3, 3), f"{whose}: its inertia"))
        if not 0.0 <= self.mass < math.inf:
            raise WbcError(f"{whose}: its mass is {show(self.mass)} kg; it must be finite and not negative")
        if not math.isfinite(self.compensation):
            raise WbcError(f"{whose}: the share of its weight that is compensated is {show(self.compensation)}")
        asymmetry = np.abs(self.inertia - self.inertia.T).max()
        if asymmetry > SYMMETRY * abs(np.trace(self.inertia)):
            raise WbcError(f"{whose}: its inertia {show(self.inertia.tolist())} is not symmetric")
        if asymmetry:  # a product of rotations, say
            _keep(self, "inertia", constant((self.inertia + self.inertia.T) / 2, (3, 3), f"{whose}: its inertia"))


@dataclass(frozen=True, eq=False)
class Joint(Remade):
    """A joint between two bodies; its frame is the child's frame when its coordinates are zero.

    Coordinates (in `q`) and velocities (in `v`) by kind:

    - revolute, continuous, prismatic: an angle or a distance about or along `axis`, and its rate;
    - planar: two distances along the axes `plane_axes(axis)` of the joint frame and an angle about `axis`; their rates;
    - spherical: a quaternion w, x, y, z (child → joint frame); the angular velocity in the child frame;
    - floating: a position in the joint frame and a quaternion; the velocity in the joint frame, the angular velocity
      in the child frame.

    Attributes:
        name: unique among the joints of a model.
        kind: one of fixed, revolute, continuous, prismatic, planar, spherical, floating.
        parent: name of the body that carries it.
        child: name of the body that it moves.
        pose: the joint frame in the parent's body frame, shape (4, 4).
        axis: unit vector in the joint frame, shape (3,); for planar joints the normal of the plane.
        lower: least position, rad or m, of a joint with one coordinate; -inf where there is none.
        upper: greatest position, rad or m.
        velocity: greatest speed of each of its velocities, rad/s or m/s.
        effort: greatest torque or force the actuator gives on each of its velocities, N m or N.
        armature: reflected inertia of the rotor, added to the diagonal of the mass matrix, kg m² or kg.
        damping: viscous, N m s/rad or N s/m.
        friction: Coulomb friction, N m or N.
        stiffness: of a spring in the joint, N m/rad or N/m (joints with one coordinate).
        rest: position at which that spring is relaxed, rad or m.
        actuated: whether a motor drives it.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    pose: Array = field(default_factory=lambda: np.eye(4))
    axis: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf
    armature: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    actuated: bool = True

    def __post_init__(self) -> None:
        whose = f"joint {show(self.name)}"
        if self.kind not in POSITIONS:
            raise WbcError(f"{whose}: {unknown_name('joint type', self.kind, POSITIONS)}")
        _keep(self, "pose", constant_transform(self.pose, f"{whose}: its pose"))
        _keep(self, "axis", constant(self.axis, (3,), f"{whose}: its axis"))
        if not math.isclose(float(self.axis @ self.axis), 1.0, abs_tol=1e-9):
            raise WbcError(f"{whose}: axis {show(self.axis.tolist())} is not a unit vector")
        for what in ("lower", "upper", "velocity", "effort", "armature", "damping", "friction", "stiffness", "rest"):
            if math.isnan(getattr(self, what)):
                raise WbcError(f"{whose}: its {what} is not a number")
        for what in ("armature", "damping", "friction", "stiffness"):
            if math.isinf(getattr(self, what)):
                raise WbcError(f"{whose}: its {what} is infinite; lock the joint, or give a number")
        if self.lower > self.upper:
            raise WbcError(f"{whose}: its lower limit {self.lower:g} is above its upper limit {self.upper:g}")

    @property
    def nq(self) -> int:
        """Entries of `q` that are this joint's."""
        return POSITIONS[self.kind]

    @property
    def limited(self) -> bool:
        """Whether it has one coordinate, and a limit of position or speed."""
        return self.nv == 1 and any(map(math.isfinite, (self.lower, self.upper, self.velocity)))

    @property
    def nv(self) -> int:
        """Entries of `v` that are this joint's."""
        return VELOCITIES[self.kind]


@dataclass(frozen=True, eq=False)
class Frame(Remade):
    """A named frame fixed to a body: a tool, a sensor, a contact point.

    Attributes:
        name: unique among the bodies and frames of a model.
        body: the body that carries it.
        pose: the frame in the body frame, shape (4, 4).
    """

    name: str
    body: str
    pose: Array = field(default_factory=lambda: np.eye(4))

    def __post_init__(self) -> None:
        _keep(self, "pose", constant_transform(self.pose, f"frame {show(self.name)}: its pose"))


@dataclass(frozen=True, eq=False)
class Shape(Remade):
    """A primitive shape fixed to a body, for pictures and for contact. No backend needs it.

    Attributes:
        body: the body that carries it.
        kind: "box", "sphere", "cylinder" or "capsule".
        size: box: the three edge lengths; sphere: radius; cylinder, capsule: radius and length (along z), m.
        pose: the shape's centre and axes in the body frame, shape (4, 4).
        color: red, green, blue, alpha in [0, 1].
        collides: whether it is there for contact, else for the eye.
        bits: its collision bits, as MuJoCo's contype and conaffinity.
    """

    body: str
    kind: Literal["box", "sphere", "cylinder", "capsule"]
    size: tuple[float, ...]
    pose: Array = field(default_factory=lambda: np.eye(4))
    color: tuple[float, float, float, float] = (0.7, 0.7, 0.7, 1.0)
    collides: bool = False
    bits: tuple[int, int] = (1, 1)

    def __post_init__(self) -> None:
        _keep(self, "pose", constant_transform(self.pose, f"shape of {show(self.body)}: its pose"))


@dataclass(frozen=True, eq=False)
class Plane(Remade):
    """A plane of the world that is there for contact: all below z = 0 of its axes is solid.

    Attributes:
        pose: in the world, shape (4, 4).
        bits: its collision bits, as MuJoCo's contype and conaffinity.
    """

    pose: Array
    bits: tuple[int, int] = (1, 1)

    def __post_init__(self) -> None:
        _keep(self, "pose", constant_transform(self.pose, "a plane of the world: its pose"))


@dataclass(frozen=True, eq=False)
class Mesh(Remade):
    """Corners of a mesh that is there for contact. It is neither drawn nor simulated; feet are found by it.

    Attributes:
        body: the body that carries it.
        points: in the body frame, m, shape (n, 3).
        bits: its collision bits, as MuJoCo's contype and conaffinity.
    """

    body: str
    points: Array
    bits: tuple[int, int] = (1, 1)

    def __post_init__(self) -> None:
        points = numbers(self.points, f"mesh of {show(self.body)}: its points")
        _keep(self, "points", constant(points, (len(points), 3), f"mesh of {show(self.body)}: its points"))


@dataclass(frozen=True, eq=False)
class Limits:
    """The limits of the joints as arrays.

    Attributes:
        lower: least position by velocity index, rad or m, shape (nv,); -inf for coordinates that have no limit or are
            not scalar.
        upper: greatest position, rad or m, shape (nv,).
        velocity: greatest speed, rad/s or m/s, shape (nv,).
        effort: greatest torque or force of each actuator, N m or N, shape (na,); inf where none is known.
        least: the least one, N m or N, shape (na,): −effort, except for actuators that only pull or only push.
    """

    lower: Array
    upper: Array
    velocity: Array
    effort: Array
    least: Array


def is_transform(pose: Array) -> bool:
    """Whether an array of shape (4, 4) is a homogeneous transform [[R, p], [0, 1]] with a rotation R, within 1e-6."""
    return so3.is_rotation(pose[:3, :3], 1e-6) and bool((pose[3] == [0.0, 0.0, 0.0, 1.0]).all())


def constant(values: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    """A read-only copy of an array of finite numbers.

    Args:
        values: that are handed over.
        shape: that they must have.
        what: they are, as it begins the error.
    """
    kept = numbers(values, what)
    if kept.shape != shape or not np.isfinite(kept).all():
        raise WbcError(f"{what} must be finite numbers of shape {shape}, not {show(values)}")
    kept.flags.writeable = False
    return kept


def direction(values: ArrayLike, what: str) -> Array:
    """A read-only unit vector along what is handed over, however short or long that is.

    Args:
        values: the vector, shape (3,).
        what: it is, as it begins the error.
    """
    given = numbers(values, what)
    if given.shape != (3,) or not np.isfinite(given).all() or not given.any():
        raise WbcError(f"{what} = {show(values)} must be a direction: three finite numbers, not all zero")
    scaled = np.ldexp(given, -int(np.frexp(given)[1][np.abs(given).argmax()]))  # its square neither 0 nor infinite
    unit = scaled / np.linalg.norm(scaled)
    unit.flags.writeable = False
    return np.asarray(unit)


def constant_transform(pose: ArrayLike, what: str) -> Array:
    """A read-only copy of a homogeneous transform.

    Args:
        pose: that is handed over.
        what: it is, as it begins the error.
    """
    kept = constant(pose, (4, 4), what)
    if not is_transform(kept):
        raise WbcError(f"{what} is not a homogeneous transform [[R, p], [0, 1]] with a rotation R")
    return kept


def _keep(part: object, name: str, value: Array) -> None:
    """Sets an attribute of a frozen part while it is made."""
    object.__setattr__(part, name, value)


def plane_axes(normal: Array) -> tuple[Array, Array]:
    """The two directions in which a planar joint moves: unit, at right angles to each other and to `normal`.

    For the normal z they are x and y; in general the first is the world-like axis least aligned with the normal, made
    perpendicular to it, in cyclic order, so that (first, second, normal) is right-handed.

    Args:
        normal: unit vector, shape (3,).
    """
    if normal[2] > 1 - 1e-12:
        first = np.array([1.0, 0.0, 0.0])
    else:
        first = np.eye(3)[int(np.argmin(np.abs(normal)))]
        first = first - normal * (normal @ first)
        first /= np.linalg.norm(first)
    n, f = normal, first
    second = np.array([n[1] * f[2] - n[2] * f[1], n[2] * f[0] - n[0] * f[2], n[0] * f[1] - n[1] * f[0]])
    return first, second
