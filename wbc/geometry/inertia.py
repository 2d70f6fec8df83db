"""The 6×6 inertia of a rigid body, in the order (linear, angular) (Traversaro–Saccon 67–69).

M maps a twist to a momentum, (m/s, rad/s) to (kg m/s, kg m²/s), both in the frame of M, and ½ V · M V is the kinetic
energy, J. In one frame the inertias of the parts add up.
"""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.geometry import _check, pose, so3, twist, wrench


def spatial(mass: ArrayLike, com: ArrayLike, inertia_about_com: ArrayLike) -> Array:
    """[m 1, -m c×; m c×, I_c - m c× c×] (68), (69).

    Args:
        mass: m, kg; a number, or a batch (...).
        com: c, centre of mass in the body frame (..., 3), m.
        inertia_about_com: I_c (..., 3, 3), kg m², about the centre of mass in the axes of the body frame.

    Returns:
        M (..., 6, 6), at the origin of the body frame and in its axes.
    """
    m = _check.numbers(mass, "mass")
    center = _check.vector(com, 3, "com")
    central = _check.matrix(inertia_about_com, 3, "inertia_about_com")
    M = np.zeros((*np.broadcast_shapes(m.shape, center.shape[:-1], central.shape[:-2]), 6, 6))
    c = so3.skew(center)
    first = m[..., None, None] * c
    M[..., :3, :3] = m[..., None, None] * np.eye(3)
    M[..., :3, 3:] = -first
    M[..., 3:, :3] = first
    M[..., 3:, 3:] = central - first @ c
    return M


def decompose(M: ArrayLike) -> tuple[Array, Array, Array]:
    """The mass, the centre of mass and the inertia about it: the inverse of `spatial`.

    Args:
        M: (..., 6, 6) in the body frame.

    Returns:
        Mass (...), kg; centre of mass in the body frame (..., 3), m, zero where the mass is; and inertia about it
        in the axes of the body frame (..., 3, 3), kg m².
    """
    M = _check.matrix(M, 6, "M")
    mass = M[..., 0, 0].copy()
    first = so3.unskew(M[..., 3:, :3])
    center = first / np.where(mass == 0.0, 1.0, mass)[..., None]
    return mass, center, M[..., 3:, 3:] + so3.skew(first) @ so3.skew(center)


def change_frame(M: ArrayLike, T: ArrayLike) -> Array:
    """ₐXᴮ M ᴮX_A (68): the inertia of the same body with respect to another frame.

    Args:
        M: inertia in the frame b (..., 6, 6).
        T: T_a_b (..., 4, 4).

    Returns:
        The inertia in the frame a (..., 6, 6).
    """
    return wrench.transform(T) @ _check.matrix(M, 6, "M") @ twist.transform(pose.inverse(T))
