"""Angle and axis, (θ, nx, ny, nz) with |n| = 1 (ETH 2.46).

(θ, n), (-θ, -n) and (θ + 2π, n) are the same rotation; what is read out of a matrix or a quaternion has θ in [0, π].
At θ = 0 the axis is arbitrary, and (1, 0, 0) is returned (Kindr); at θ = π its sign is, see `quaternion.from_matrix`.
"""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.errors import WbcError
from wbc.geometry import _check, quaternion
from wbc.geometry import _elementwise as ew

_SINGULAR = 1e-12  # |sin(θ/2)| below which there is no rotation that the axis could belong to
_NO_AXIS = 1e-290  # below it the components are subnormal and too coarse to give a direction


def to_quaternion(angle_axis: ArrayLike) -> Array:
    """The quaternion (cos(θ/2), n sin(θ/2)) (Kindr; ETH 2.52): (..., 4) to (..., 4)."""
    t, x, y, z = _parts(angle_axis)
    s = ew.sin(0.5 * t)
    return ew.join([ew.cos(0.5 * t), s * x, s * y, s * z])


def from_quaternion(q: ArrayLike) -> Array:
    """The angle θ = 2 atan2(|q̌|, |q₀|) in [0, π] and the axis ± q̌/|q̌| (Kindr), (1, 0, 0) where q̌ = 0.

    Args:
        q: quaternion (..., 4); neither its length nor its sign matters, but for the axis at θ = π.

    Returns:
        (θ, n) (..., 4), rad.
    """
    w, x, y, z = ew.components(_check.vector(q, 4, "q"))
    length = ew.hypot(x, y, z)
    none = length < _NO_AXIS
    scale = ew.where(w < 0.0, -1.0, 1.0) / ew.where(none, 1.0, length)
    angle = ew.where(none, 0.0, 2.0 * ew.atan2(length, abs(w)))
    axis = [ew.where(none, other, scale * value) for other, value in zip((1.0, 0.0, 0.0), (x, y, z), strict=True)]
    return ew.join([angle, *axis])


def to_matrix(angle_axis: ArrayLike) -> Array:
    """The rotation matrix (ETH 2.48): (..., 4) to R_world_body (..., 3, 3)."""
    return quaternion.to_matrix(to_quaternion(angle_axis))


def from_matrix(R: ArrayLike) -> Array:
    """The angle in [0, π] and the axis of R_world_body (..., 3, 3) (what ETH 2.49–2.50 are for), (..., 4).

    Through the quaternion, so that it is accurate at 0 and at π, where ETH (2.50) is 0/0.
    """
    return from_quaternion(quaternion.from_matrix(R))


def rates_to_angular_velocity(angle_axis: ArrayLike, frame: str = "world") -> Array:
    """E of ω = E (θ̇, ṅ): [n, sin θ 1 ± (1 - cos θ) n×], + in the world frame, - in the body's (Kindr; ETH 2.102).

    Args:
        angle_axis: (θ, n) (..., 4), rad.
        frame: "world" or "body", the frame of ω.

    Returns:
        E (..., 3, 4).
    """
    t, x, y, z = _parts(angle_axis)
    half = ew.sin(0.5 * t)
    s, v = ew.sin(t), (-2.0 if _check.is_body(frame) else 2.0) * half * half
    return ew.join_matrix([[x, s, -v * z, v * y], [y, v * z, s, -v * x], [z, -v * y, v * x, s]], like=s)


def angular_velocity_to_rates(angle_axis: ArrayLike, frame: str = "world") -> Array:
    """E⁻¹ of (θ̇, ṅ) = E⁻¹ ω: nᵀ above -cot(θ/2)/2 n×² ∓ n×/2, - in the world frame, + in the body's (ETH 2.103).

    E E⁻¹ = 1, and n · ṅ = 0. Singular at θ = 0, 2π, ..., where any axis will do: there (|sin(θ/2)| < 1e-12) nᵀ above
    zeros is returned, the pseudo-inverse of E. The axis then stands still, and an ω across it is lost.

    Args:
        angle_axis: (θ, n) (..., 4), rad.
        frame: "world" or "body", the frame of ω.

    Returns:
        E⁻¹ (..., 4, 3).
    """
    t, x, y, z = _parts(angle_axis)
    half = ew.sin(0.5 * t)
    singular = abs(half) < _SINGULAR
    c = ew.where(singular, 0.0, 0.5 * ew.cos(0.5 * t) / ew.where(singular, 1.0, half))
    h = ew.where(singular, 0.0, -0.5 if _check.is_body(frame) else 0.5)
    return ew.join_matrix(
        [
            [x, y, z],
            [c * (y * y + z * z), h * z - c * x * y, -h * y - c * x * z],
            [-h * z - c * x * y, c * (x * x + z * z), h * x - c * y * z],
            [h * y - c * x * z, -h * x - c * y * z, c * (x * x + y * y)],
        ]
    )


def _parts(angle_axis: ArrayLike) -> tuple[ew.Number, ew.Number, ew.Number, ew.Number]:
    """The angle and the components of the axis, whose length is checked: it would count as angle elsewhere."""
    t, x, y, z = ew.components(_check.vector(angle_axis, 4, "angle_axis"))
    excess = abs(x * x + y * y + z * z - 1.0)
    if excess > 1e-6 if isinstance(excess, float) else np.any(excess > 1e-6):
        raise WbcError("the axis of angle_axis (θ, nx, ny, nz) is not of unit length; expected |n| = 1 within 5e-7")
    return t, x, y, z
