"""The forces of a point, and the wrenches of a sole, that a surface with Coulomb friction can bear, as half-spaces."""

from __future__ import annotations

import math

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError
from wbc.model.parts import plane_axes

FRICTIONLESS = 1e-9
"""A coefficient of friction below this is zero."""


def force_cone(normal: Array, friction: float, sides: int, push: bool = False) -> Array:
    """A pyramid of forces inside the cone of friction: |f_t| ≤ μ f_n.

    Facet k is d_k · f ≤ μ cos(π / sides) n · f, with d_k the tangent at the angle 2π k / sides: the edges lie on the
    cone.

    Args:
        normal: unit vector, shape (3,).
        friction: μ.
        sides: of the pyramid, 3 or more.
        push: whether to add a facet that says that the contact only pushes, −n · f ≤ 0 (implied unless μ is zero).

    Returns:
        C with C f ≤ 0, shape (sides, 3) or (sides + 1, 3).
    """
    if sides < 3:
        raise WbcError(f"a friction pyramid needs 3 sides or more, not {sides}")
    first, second = plane_axes(normal)
    angles = 2 * math.pi * np.arange(sides) / sides
    facets = np.outer(np.cos(angles), first) + np.outer(np.sin(angles), second)
    facets -= friction * math.cos(math.pi / sides) * normal
    return np.vstack([facets, -normal]) if push else facets


def wrench_cone(corners: Array, normal: Array, friction: float, sides: int) -> Array:
    """The wrenches that forces at the corners of a sole can add up to, each in its friction pyramid.

    The edges of the corners' pyramids generate the cone; its cross-section at unit normal force is a polytope in five
    dimensions, whose facets are found by its convex hull. They bound the centre of pressure to the polygon, the
    horizontal force by friction, and the yaw moment by what friction leaves.

    Args:
        corners: in the sole's frame, m, shape (n, 3), not on a line.
        normal: unit vector in the sole's frame, shape (3,).
        friction: μ.
        sides: of each corner's pyramid.

    Returns:
        C with C w ≤ 0 for w = (force, torque at the frame's origin) in the frame's axes, shape (facets, 6).
    """
    from scipy.spatial import ConvexHull, QhullError  # heavy to import, and used when a contact is made only

    first, second = plane_axes(normal)
    turn = np.vstack([first, second, normal])  # frame axes → (tangent, tangent, normal)
    points = corners @ turn.T
    # the torque is taken about a point in the plane of the corners, where it has the simplest facets
    centre = points.mean(axis=0)
    arms = points - centre
    if friction < FRICTIONLESS:
        section = _smooth_section(arms)
    else:
        angles = 2 * math.pi * np.arange(sides) / sides + math.pi / sides  # the edges lie between the facets
        edges = np.column_stack([friction * np.cos(angles), friction * np.sin(angles), np.ones(sides)])
        wrenches = np.array([np.concatenate([edge, np.cross(arm, edge)]) for arm in arms for edge in edges])
        lengths = np.array([friction, friction, *np.maximum(np.abs(wrenches[:, 3:]).max(axis=0), 1e-9)])
        section_points = np.delete(wrenches, 2, axis=1) / lengths  # a round polytope: qhull's tolerances are absolute
        try:
            equations = ConvexHull(section_points).equations
        except QhullError as error:
            raise WbcError(f"the corners of the contact span no surface: {str(error).splitlines()[0]}") from None
        # qhull cuts a facet into simplices: one of each facet, as it is, for forces of 1e3 N show rounding
        facets = equations[np.unique(np.round(equations, 9), axis=0, return_index=True)[1]]
        section = np.zeros((len(facets), 6))
        section[:, [0, 1, 3, 4, 5]] = facets[:, :5] / lengths
        section[:, 2] = facets[:, 5]
    # back to the frame: torque about its origin, w_c = (f, t − c × f)
    shift = np.eye(6)
    shift[3:, :3] = -np.array([[0, -centre[2], centre[1]], [centre[2], 0, -centre[0]], [-centre[1], centre[0], 0]])
    axes = np.kron(np.eye(2), turn)
    C: Array = section @ shift @ axes
    C /= np.linalg.norm(C[:, :3], axis=1, keepdims=True).clip(1e-3)
    return C


def _smooth_section(arms: Array) -> Array:
    """Facets without friction: no tangential force, no yaw moment, and a centre of pressure in the polygon."""
    from scipy.spatial import ConvexHull

    rows = [sign * np.eye(6)[axis] for axis in (0, 1, 5) for sign in (1.0, -1.0)]
    for a, b, offset in ConvexHull(arms[:, :2]).equations:  # a x + b y + offset ≤ 0 with x = −t_y / f_n, y = t_x / f_n
        rows.append(np.array([0.0, 0.0, offset, b, -a, 0.0]))
    return np.array(rows)
