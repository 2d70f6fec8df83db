"""Poses as homogeneous transforms: T_world_body maps the body's coordinates of a point to the world's.

T = [R p; 0 1], R_world_body the orientation and p the body's origin in the world frame, m (ETH 2.110; Traversaro–
Saccon 12). A displacement ξ is (linear, angular), in m and rad.
"""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.geometry import _check, so3


def homogeneous(R: ArrayLike, p: ArrayLike) -> Array:
    """The transform of a rotation and a translation (ETH 2.110).

    Args:
        R: R_a_b (..., 3, 3).
        p: origin of b in a (..., 3), m; the batches are broadcast against each other.

    Returns:
        T_a_b (..., 4, 4).
    """
    R = _check.matrix(R, 3, "R")
    p = _check.vector(p, 3, "p")
    batch = () if R.ndim == 2 and p.ndim == 1 else np.broadcast_shapes(R.shape[:-2], p.shape[:-1])
    T = np.zeros((*batch, 4, 4))
    T[..., :3, :3] = R
    T[..., :3, 3] = p
    T[..., 3, 3] = 1.0
    return T


def rotation(T: ArrayLike) -> Array:
    """R_a_b (..., 3, 3) of T_a_b (..., 4, 4), a copy."""
    return _check.matrix(T, 4, "T")[..., :3, :3].copy()


def translation(T: ArrayLike) -> Array:
    """The origin of b in a (..., 3), m, of T_a_b (..., 4, 4), a copy."""
    return _check.matrix(T, 4, "T")[..., :3, 3].copy()


def inverse(T: ArrayLike) -> Array:
    """T_b_a = [Rᵀ, -Rᵀp; 0 1] of T_a_b (..., 4, 4) (ETH 2.111)."""
    T = _check.matrix(T, 4, "T")
    back = np.swapaxes(T[..., :3, :3], -1, -2)
    return homogeneous(back, -(back @ T[..., :3, 3:])[..., 0])


def compose(*transforms: ArrayLike) -> Array:
    """The product T_a_b T_b_c ... = T_a_z (ETH 2.112), (..., 4, 4); the identity if there is none."""
    total = np.eye(4)
    for T in transforms:
        total = total @ _check.matrix(T, 4, "T")
    return total


def transform_point(T: ArrayLike, p: ArrayLike) -> Array:
    """R p + r, the coordinates in a of a point given in b (ETH 2.109; Traversaro–Saccon 13).

    Args:
        T: T_a_b (..., 4, 4), with r the origin of b in a.
        p: point in b (..., 3), m; the batches are broadcast against each other.

    Returns:
        The point in a (..., 3), m.
    """
    T = _check.matrix(T, 4, "T")
    return (T[..., :3, :3] @ _check.vector(p, 3, "p")[..., None])[..., 0] + T[..., :3, 3]


def exp6(xi: ArrayLike) -> Array:
    """The exponential of the displacement ξ = (v, φ): [exp φ, Γ(φ) v; 0 1], Γ of `so3.exp_jacobian`.

    It is the pose after a second at the constant twist ξ, whether that is left or right trivialised: T exp6(V_left dt)
    and exp6(V_right dt) T both integrate a twist exactly.

    Args:
        xi: ξ (..., 6), m and rad.

    Returns:
        T (..., 4, 4).
    """
    xi = _check.vector(xi, 6, "xi")
    phi = xi[..., 3:]
    return homogeneous(so3.exp(phi), (so3.exp_jacobian(phi) @ xi[..., :3, None])[..., 0])


def log6(T: ArrayLike) -> Array:
    """The displacement ξ with exp6(ξ) = T, angle in [0, π]; at the half turn see `so3.log`.

    Args:
        T: (..., 4, 4).

    Returns:
        ξ = (Γ(φ)⁻¹ p, φ) (..., 6), m and rad, φ = log R.
    """
    T = _check.matrix(T, 4, "T")
    phi = so3.log(T[..., :3, :3])
    return np.concatenate([(so3.exp_jacobian_inverse(phi) @ T[..., :3, 3:])[..., 0], phi], axis=-1)


def integrate(T: ArrayLike, twist_left: ArrayLike, dt: ArrayLike) -> Array:
    """T exp6(V dt), the pose after dt at a constant twist in the body's frame (the solution of Traversaro–Saccon 36).

    Args:
        T: T_world_body (..., 4, 4).
        twist_left: left-trivialised twist of the body (..., 6), m/s and rad/s.
        dt: s; a number, or a batch (...).

    Returns:
        T_world_body after dt (..., 4, 4).
    """
    T = _check.matrix(T, 4, "T")
    return T @ exp6(_check.vector(twist_left, 6, "twist_left") * _check.numbers(dt, "dt")[..., None])


def interpolate(T0: ArrayLike, T1: ArrayLike, t: ArrayLike) -> Array:
    """T₀ exp6(t log6(T₀⁻¹ T₁)): a share t of the way from T₀ to T₁, at a constant twist, turning the short way.

    Args:
        T0: pose at t = 0 (..., 4, 4).
        T1: pose at t = 1 (..., 4, 4).
        t: a number, or a batch (...); outside [0, 1] it extrapolates.

    Returns:
        T (..., 4, 4).
    """
    T0, T1 = _check.matrix(T0, 4, "T0"), _check.matrix(T1, 4, "T1")
    return integrate(T0, log6(inverse(T0) @ T1), _check.numbers(t, "t"))
