"""A convex shape that is fixed to a body."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.errors import WbcError, show, unknown_name
from wbc.model.parts import constant, constant_transform

SolidKind = Literal["sphere", "capsule", "box", "cylinder", "plane", "convex"]

SIZES: dict[str, int] = {"sphere": 1, "capsule": 2, "box": 3, "cylinder": 2, "plane": 0, "convex": 0}
"""How many numbers the size of each kind has."""

FLAT = 1e-6
"""A hull that is thinner than this, in m, has no inside."""


@dataclass(frozen=True, eq=False)
class Solid:
    """A convex shape fixed to a body, or to the world.

    Attributes:
        name: unique in a geometry.
        body: the frame that carries it; "world" for what surrounds the robot.
        kind: "sphere", "capsule", "box", "cylinder", "plane" or "convex".
        size: sphere: radius; capsule, cylinder: radius and length (along z); box: the three edge lengths, m; plane and
            convex: nothing.
        pose: its centre and axes in the body's frame, shape (4, 4). All that is below z = 0 of a plane is solid.
        points: of a convex shape, the corners of its hull in its own axes, m, shape (n, 3).
        bits: what it is, and what it meets, as MuJoCo's contype and conaffinity.
    """

    name: str
    body: str
    kind: SolidKind
    size: tuple[float, ...] = ()
    pose: Array = field(default_factory=lambda: np.eye(4))
    points: Array | None = None
    bits: tuple[int, int] = (1, 1)

    def __post_init__(self) -> None:
        whose = f"shape {show(self.name)}"
        if self.kind not in get_args(SolidKind):
            raise WbcError(f"{whose}: {unknown_name('kind of shape', self.kind, get_args(SolidKind))}")
        count = SIZES[self.kind]
        size = tuple(numbers(self.size, f"{whose}: its size").ravel().tolist())
        if len(size) != count or not all(0.0 < entry < math.inf for entry in size):
            raise WbcError(f"{whose}: the size of a {self.kind} is {count} positive numbers, m, not {show(self.size)}")
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "pose", constant_transform(self.pose, f"{whose}: its pose"))
        if self.kind == "convex":
            object.__setattr__(self, "points", hull(self.points, whose))

    @property
    def radius(self) -> float:
        """Of the ball about its centre that it is in, m; infinite for a plane."""
        match self.kind:
            case "sphere":
                return self.size[0]
            case "capsule":
                return self.size[0] + self.size[1] / 2
            case "cylinder":
                return math.hypot(self.size[0], self.size[1] / 2)
            case "box":
                return math.hypot(*self.size) / 2
            case "convex":
                assert self.points is not None
                return float(np.linalg.norm(self.points, axis=1).max())
        return math.inf

    def __repr__(self) -> str:
        size = " × ".join(f"{entry:.3g}" for entry in self.size)
        if self.points is not None:
            size = f"{len(self.points)} corners"
        return f"<{self.kind}{' of ' if size else ''}{size}: {self.name!r} on {self.body!r}>"


def hull(points: ArrayLike | None, whose: str) -> Array:
    """The corners of the hull of points, read-only, shape (n, 3).

    Args:
        points: shape (n, 3).
        whose: the shape, for messages.
    """
    from scipy.spatial import ConvexHull, QhullError

    given = numbers(points, f"{whose}: its points")
    if given.ndim != 2 or given.shape[1] != 3 or len(given) < 4 or not np.isfinite(given).all():
        raise WbcError(f"{whose}: a convex shape needs four finite points or more, shape (n, 3), not {show(points)}")
    try:
        found = ConvexHull(given)
    except QhullError:
        raise WbcError(f"{whose}: its points lie in a plane; a convex shape needs a volume") from None
    return constant(given[np.sort(found.vertices)], (len(found.vertices), 3), f"{whose}: its points")


def covering(solid: Solid) -> Solid:
    """A capsule or a box, whichever is smaller, that contains a cylinder or a convex shape; others as they are.

    Args:
        solid: of any kind.
    """
    if solid.kind == "cylinder":
        radius, length = solid.size
        half, axes, middle = np.array([radius, radius, length / 2]), np.eye(3), np.zeros(3)
        around = radius
    elif solid.kind == "convex":
        assert solid.points is not None
        _, _, axes = np.linalg.svd(solid.points - solid.points.mean(axis=0), full_matrices=False)
        axes = axes[[2, 1, 0]].T  # the longest one along z
        if np.linalg.det(axes) < 0:
            axes[:, 0] *= -1.0
        own = solid.points @ axes
        low, high = own.min(axis=0), own.max(axis=0)
        half, middle = np.maximum((high - low) / 2, FLAT), axes @ ((high + low) / 2)
        off = np.linalg.norm(own[:, :2] - ((high + low) / 2)[:2], axis=1)
        around = float(off.max())
        above = np.abs(own[:, 2] - (high[2] + low[2]) / 2) - np.sqrt(around**2 - off**2)
        length = 2 * max(float(above.max()), FLAT)
    else:
        return solid
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = axes, middle
    pose = solid.pose @ pose
    if math.pi * around**2 * (length + 4 / 3 * around) < 8 * float(half.prod()):
        return Solid(solid.name, solid.body, "capsule", (around, length), pose, bits=solid.bits)
    return Solid(solid.name, solid.body, "box", tuple((2 * half).tolist()), pose, bits=solid.bits)
