"""The rotation vector φ = θ n (ETH 2.47): the maps of `so3`, under the names that every parameterisation has.

φ and φ (1 + 2π/|φ|) are the same rotation; what is read out of a matrix or a quaternion has |φ| <= π.
"""

from __future__ import annotations

from wbc.arrays import Array, ArrayLike
from wbc.geometry import _check, quaternion, so3


def to_matrix(phi: ArrayLike) -> Array:
    """`so3.exp`: φ (..., 3), rad, to R_world_body (..., 3, 3)."""
    return so3.exp(phi)


def from_matrix(R: ArrayLike) -> Array:
    """`so3.log`: R_world_body (..., 3, 3) to φ (..., 3), rad, |φ| <= π; see there for the half turn."""
    return so3.log(R)


def to_quaternion(phi: ArrayLike) -> Array:
    """`quaternion.from_rotation_vector`: φ (..., 3), rad, to q (..., 4)."""
    return quaternion.from_rotation_vector(phi)


def from_quaternion(q: ArrayLike) -> Array:
    """`quaternion.to_rotation_vector`: q (..., 4) to φ (..., 3), rad, |φ| <= π."""
    return quaternion.to_rotation_vector(q)


def rates_to_angular_velocity(phi: ArrayLike, frame: str = "world") -> Array:
    """E of ω = E φ̇: Γ(φ) in the world frame (ETH 2.106), Γ(-φ) = Γ(φ)ᵀ in the body frame (Kindr).

    Args:
        phi: φ (..., 3), rad.
        frame: "world" or "body", the frame of ω.

    Returns:
        E (..., 3, 3), singular at |φ| = 2π, 4π, ...
    """
    return so3.exp_jacobian(_signed(phi, frame))


def rates_to_angular_velocity_derivative(phi: ArrayLike, rates: ArrayLike, frame: str = "world") -> Array:
    """Ė, the time derivative of `rates_to_angular_velocity`: ω̇ = E φ̈ + Ė φ̇, by component in `frame`.

    Args:
        phi: φ (..., 3), rad.
        rates: φ̇ (..., 3), rad/s.
        frame: "world" or "body", the frame of ω.

    Returns:
        Ė (..., 3, 3), rad/s.
    """
    return so3.exp_jacobian_derivative(_signed(phi, frame), _signed(rates, frame, "rates"))


def angular_velocity_to_rates(phi: ArrayLike, frame: str = "world") -> Array:
    """E⁻¹ of φ̇ = E⁻¹ ω: Γ(φ)⁻¹ in the world frame (ETH 2.107), Γ(-φ)⁻¹ in the body frame (Kindr).

    Args:
        phi: φ (..., 3), rad.
        frame: "world" or "body", the frame of ω.

    Returns:
        E⁻¹ (..., 3, 3); at |φ| = 2π, 4π, ..., where E is singular, its pseudo-inverse: see `so3.exp_jacobian_inverse`.
    """
    return so3.exp_jacobian_inverse(_signed(phi, frame))


def _signed(phi: ArrayLike, frame: str, name: str = "phi") -> Array:
    vector = _check.vector(phi, 3, name)
    return -vector if _check.is_body(frame) else vector
