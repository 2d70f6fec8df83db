"""Closed loops in the tree of bodies: frames that stay together, joints that move together.

Either is an exact constraint φ(q) = 0. Plain data; `wbc.dynamics.loops` computes with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.copies import Remade
from wbc.errors import WbcError, show, unknown_name
from wbc.model.parts import constant_transform

if TYPE_CHECKING:
    from wbc.model.model import Model

LOOP_AXES = ("x", "y", "z", "rx", "ry", "rz")
"""The axes that a closure can hold: positions along, and rotations about, the axes of the second frame."""


@dataclass(frozen=True, eq=False)
class LoopClosure(Remade):
    """Two frames of a robot that stay together: the joint at which a closed loop was cut open to get a tree.

    Attributes:
        a: a frame of the robot, by its name.
        b: another one; "world" is the ground.
        axes: what of `a` can't move against `b`, in the axes of `b`: "xyz", a ball joint; ("x", "y", "z", "rx", "ry"),
            a hinge about z; None: all six, as if welded. With one rotation alone the loop is taken to be planar.
        pose_a: where the loop closes, in the frame `a`: shape (4, 4), or (3,) for a mere offset, m.
        pose_b: where it closes, in the frame `b`, shape (4, 4).
        name: of the loop; empty: made of the names of the frames.
    """

    a: str
    b: str
    axes: str | Iterable[str] | None = "xyz"
    pose_a: ArrayLike = field(default_factory=lambda: np.eye(4))
    pose_b: ArrayLike = field(default_factory=lambda: np.eye(4))
    name: str = ""

    def __post_init__(self) -> None:
        for frame in (self.a, self.b):
            if not isinstance(frame, str) or not frame:
                raise WbcError(f"a loop closes between two frames; give their names, not {show(frame)}")
        if self.a == self.b:
            raise WbcError(f"frame {self.a!r} can't close a loop with itself")
        if not self.name:
            object.__setattr__(self, "name", f"{self.a} to {self.b}")
        whose = f"loop {self.name!r}"
        object.__setattr__(self, "axes", _axes(self.axes, whose))
        for which in ("pose_a", "pose_b"):
            object.__setattr__(self, which, _pose(getattr(self, which), f"{whose}: its {which}"))

    @property
    def held(self) -> tuple[str, ...]:
        """The axes by name."""
        return tuple(self.axes or ())

    @property
    def rows(self) -> int:
        """The number of its equations."""
        return len(self.held)

    @property
    def poses(self) -> tuple[Array, Array]:
        """Where it closes in either frame, shapes (4, 4)."""
        return np.asarray(self.pose_a), np.asarray(self.pose_b)


@dataclass(frozen=True, eq=False)
class JointCoupling(Remade):
    """Joints that move together, as by gears, a belt or a tendon: Σ c q = p(Σ d q), p a polynomial.

    Attributes:
        joints: the coefficient c of each joint on the left, by its name; joints with one coordinate.
        follows: the coefficient d of each joint on the right; empty: p is its first coefficient.
        polynomial: coefficients of p, the constant first, rad or m.
        name: of the coupling; empty: made of the names of the joints.
    """

    joints: Mapping[str, float]
    follows: Mapping[str, float] = field(default_factory=dict)
    polynomial: Sequence[float] = (0.0, 1.0)
    name: str = ""

    def __post_init__(self) -> None:
        if not self.joints:
            raise WbcError("a coupling of joints names at least one joint")
        if not self.name:
            text = " and ".join(self.joints)
            object.__setattr__(self, "name", f"{text} by {' and '.join(self.follows)}" if self.follows else text)
        whose = f"coupling {self.name!r}"
        for which in ("joints", "follows"):
            given = getattr(self, which)
            if not isinstance(given, Mapping):
                raise WbcError(f"{whose}: {which} must be a dict from joints to coefficients, not {show(given)}")
            values = {joint: float(numbers(c, f"{whose}: coefficient of {joint!r}")) for joint, c in given.items()}
            if not np.isfinite(list(values.values())).all():
                raise WbcError(f"{whose}: the coefficients of {which} must be finite: {show(values)}")
            object.__setattr__(self, which, MappingProxyType(values))
        coefficients = numbers(self.polynomial, f"{whose}: polynomial")
        if coefficients.ndim != 1 or not len(coefficients) or not np.isfinite(coefficients).all():
            raise WbcError(f"{whose}: the polynomial must be finite coefficients, not {show(self.polynomial)}")
        object.__setattr__(self, "polynomial", tuple(coefficients.tolist()))
        twice = [joint for joint in self.joints if joint in self.follows]
        if twice:
            raise WbcError(f"{whose}: {show(twice)} stand on both sides")

    rows = 1


Loop = LoopClosure | JointCoupling
"""Either kind of constraint."""


def loop_row_names(loops: Iterable[Loop]) -> list[str]:
    """The name of each equation and its force: an axis of a closure, or a coupling."""
    names = []
    for loop in loops:
        if isinstance(loop, LoopClosure):
            names += [f"{axis} of {loop.name}" for axis in loop.held]
        else:
            names.append(loop.name)
    return names


def tied_joints(model: Model) -> list[set[str]]:
    """By loop of a model, the joints that it ties to each other: those round it, or those that are coupled."""
    carrying, found = {joint.child: joint for joint in model.joints.values()}, []
    for loop in model.loops:
        if isinstance(loop, JointCoupling):
            found.append({*loop.joints, *loop.follows})
            continue
        ways: list[set[str]] = []
        for end in (loop.a, loop.b):
            body, way = model.frames[end].body if end in model.frames else end, set()
            while body in carrying:
                way.add(carrying[body].name)
                body = carrying[body].parent
            ways.append(way)
        found.append(ways[0] ^ ways[1])
    return found


def moved_joints(model: Model) -> list[str]:
    """The joints that an actuator drives, or that loops tie to others: neither moves what swings freely."""
    tied = set[str]().union(*tied_joints(model))
    return [name for name in model.joints if name in tied or model.drives(name)]


def _axes(axes: str | Iterable[str] | None, whose: str) -> tuple[str, ...]:
    """The axes in their order, each once."""
    if axes is None:
        return LOOP_AXES
    chosen = (axes,) if isinstance(axes, str) and axes in LOOP_AXES else tuple(axes)
    for axis in chosen:
        if axis not in LOOP_AXES:
            raise WbcError(f"{whose}: {unknown_name('axis', axis, LOOP_AXES)}")
    if not chosen:
        raise WbcError(f"{whose}: it holds no axis; name at least one of {', '.join(LOOP_AXES)}")
    return tuple(axis for axis in LOOP_AXES if axis in chosen)


def _pose(pose: ArrayLike, what: str) -> Array:
    """A read-only transform; an offset of shape (3,) is one without a rotation."""
    given = numbers(pose, what)
    if given.shape == (3,):
        offset, given = given, np.eye(4)
        given[:3, 3] = offset
    return constant_transform(given, what)
