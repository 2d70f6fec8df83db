"""Rotation matrices: exp, log, ⊞, ⊟, interpolation, the Jacobian of exp.

`R_world_body` maps coordinates in the body frame to coordinates in the world frame, and a rotation vector belongs to
the frame on the left: exp(φ) R turns R by φ in the world frame. This is Kindr's convention, and that of the rotation
error (ETH 2.251).
"""

from __future__ import annotations

import math

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.errors import WbcError, show
from wbc.geometry import _check, quaternion
from wbc.geometry import _elementwise as ew

_FULL_TURN = 1e-12  # |sin(θ/2)| below which an angle counts as a full turn; sin(π) in floats is 1.2e-16


def skew(v: ArrayLike) -> Array:
    """The matrix v× with (v×) a = v × a (Kindr; ETH 2.73): (..., 3) to (..., 3, 3)."""
    x, y, z = ew.components(_check.vector(v, 3, "v"))
    return ew.join_matrix([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]], like=x)


def unskew(S: ArrayLike) -> Array:
    """The vector whose `skew` is S: (..., 3, 3) to (..., 3). Of any S it reads the antisymmetric part."""
    rows = ew.entries(_check.matrix(S, 3, "S"))
    return ew.join([0.5 * (rows[k][j] - rows[j][k]) for j, k in ((1, 2), (2, 0), (0, 1))])


def exp(phi: ArrayLike) -> Array:
    """The rotation by |φ| about φ: 1 + sin θ/θ φ× + (1 - cos θ)/θ² φ×², θ = |φ| (Kindr 6; ETH 2.48).

    Args:
        phi: rotation vector (..., 3), rad, of any length; accurate through zero.

    Returns:
        R (..., 3, 3).
    """
    x, y, z = ew.components(_check.vector(phi, 3, "phi"))
    angle = ew.hypot(x, y, z)
    return _polynomial(ew.sinc(angle), ew.versine_quotient(angle), x, y, z)


def log(R: ArrayLike) -> Array:
    """The rotation vector of R, of length in [0, π] (Kindr 7; what ETH 2.49–2.50 are for).

    It goes through the quaternion, and is therefore accurate through the identity and through the half turn, where
    ETH (2.50) is 0/0. At a half turn φ and -φ are the same rotation: the one whose largest component is positive is
    returned; an angle below π by more than rounding has one answer.

    Args:
        R: rotation matrix (..., 3, 3), orthogonal up to rounding; not checked.

    Returns:
        φ (..., 3), rad: exp(φ) = R.
    """
    return quaternion.to_rotation_vector(quaternion.from_matrix(R))


def compose(*rotations: ArrayLike) -> Array:
    """The product R_a_b R_b_c ... = R_a_z (ETH 2.31), (..., 3, 3); the identity if there is none."""
    total = np.eye(3)
    for R in rotations:
        total = total @ _check.matrix(R, 3, "R")
    return total


def inverse(R: ArrayLike) -> Array:
    """The inverse rotation, Rᵀ (ETH 2.23), as a copy: (..., 3, 3)."""
    return np.swapaxes(_check.matrix(R, 3, "R"), -1, -2).copy()


def boxplus(R: ArrayLike, phi: ArrayLike) -> Array:
    """R ⊞ φ = exp(φ) R (Kindr 8).

    Args:
        R: R_world_body (..., 3, 3).
        phi: φ (..., 3), rad, in the world frame.

    Returns:
        R_world_body (..., 3, 3).
    """
    return exp(phi) @ _check.matrix(R, 3, "R")


def boxminus(R1: ArrayLike, R2: ArrayLike) -> Array:
    """R₁ ⊟ R₂ = log(R₁ R₂ᵀ) (Kindr 9), the rotation error (ETH 2.251): R₂ ⊞ (R₁ ⊟ R₂) = R₁.

    Args:
        R1: R_world_desired (..., 3, 3).
        R2: R_world_body (..., 3, 3).

    Returns:
        φ (..., 3), rad, in the world frame, the short way from R₂ to R₁; see `log` for the half turn.
    """
    return log(_check.matrix(R1, 3, "R1") @ np.swapaxes(_check.matrix(R2, 3, "R2"), -1, -2))


def interpolate(R0: ArrayLike, R1: ArrayLike, t: ArrayLike) -> Array:
    """R₀ ⊞ t (R₁ ⊟ R₀) (Kindr 12): the short way at a constant angular velocity.

    Args:
        R0: rotation at t = 0 (..., 3, 3).
        R1: rotation at t = 1 (..., 3, 3).
        t: a number, or a batch (...); outside [0, 1] it extrapolates.

    Returns:
        R (..., 3, 3).
    """
    R0, R1 = _check.matrix(R0, 3, "R0"), _check.matrix(R1, 3, "R1")
    return boxplus(R0, boxminus(R1, R0) * _check.numbers(t, "t")[..., None])


def integrate(R: ArrayLike, omega_world: ArrayLike, dt: ArrayLike) -> Array:
    """R ⊞ ω dt (Kindr 10): exact for a constant ω. Its inverse is ω = (R₁ ⊟ R₀)/dt (Kindr 11).

    Args:
        R: R_world_body (..., 3, 3).
        omega_world: angular velocity of the body (..., 3), rad/s, in the world frame.
        dt: s; a number, or a batch (...).

    Returns:
        R_world_body after dt (..., 3, 3).
    """
    return boxplus(R, _check.vector(omega_world, 3, "omega_world") * _check.numbers(dt, "dt")[..., None])


def exp_jacobian(phi: ArrayLike) -> Array:
    """Kindr's Γ(φ) = 1 + (1 - cos θ)/θ² φ× + (θ - sin θ)/θ³ φ×², θ = |φ| (ETH 2.106).

    exp(φ + δ) = exp(Γ(φ) δ) exp(φ) to first order: the Jacobian with the increment in the world frame (the left
    Jacobian). The one in the body frame is Γ(-φ) = Γ(φ)ᵀ. Singular at the full turns θ = 2π, 4π, ...

    Args:
        phi: rotation vector (..., 3), rad; accurate through zero.

    Returns:
        Γ (..., 3, 3): ω_world = Γ(φ) φ̇.
    """
    x, y, z = ew.components(_check.vector(phi, 3, "phi"))
    angle = ew.hypot(x, y, z)
    return _polynomial(ew.versine_quotient(angle), ew.sine_remainder_quotient(angle), x, y, z)


def exp_jacobian_derivative(phi: ArrayLike, rates: ArrayLike) -> Array:
    """Γ̇, the time derivative of `exp_jacobian`: ω̇_world = Γ(φ) φ̈ + Γ̇ φ̇.

    With b = (1 - cos θ)/θ² and c = (θ - sin θ)/θ³ it is ḃ φ× + b φ̇× + ċ φ×² + c (φ̇× φ× + φ× φ̇×).

    Args:
        phi: rotation vector φ (..., 3), rad; accurate through zero.
        rates: φ̇ (..., 3), rad/s.

    Returns:
        Γ̇ (..., 3, 3), rad/s.
    """
    vector, rate = _check.vector(phi, 3, "phi"), _check.vector(rates, 3, "rates")
    x, y, z = ew.components(vector)
    angle = ew.hypot(x, y, z)
    growth = np.sum(vector * rate, axis=-1)  # θ θ̇
    b, c = ew.versine_quotient(angle), ew.sine_remainder_quotient(angle)
    coefficients = (ew.versine_slope(angle) * growth, b, ew.sine_remainder_slope(angle) * growth, c)
    b_rate, b, c_rate, c = (np.asarray(value)[..., None, None] for value in coefficients)
    S, S_rate = skew(vector), skew(rate)
    return np.asarray(b_rate * S + b * S_rate + c_rate * (S @ S) + c * (S_rate @ S + S @ S_rate))


def exp_jacobian_inverse(phi: ArrayLike) -> Array:
    """Γ(φ)⁻¹ = 1 - φ×/2 + (1 - θ/2 cot(θ/2))/θ² φ×², θ = |φ| (ETH 2.107), the derivative of log.

    Its entries grow without bound towards the full turns θ = 2π, 4π, ...; there (|sin(θ/2)| < 1e-12) the pseudo-inverse
    n nᵀ is returned, n = φ/θ: the smallest rates that give what can be given of ω.

    Args:
        phi: rotation vector (..., 3), rad; accurate through zero.

    Returns:
        Γ⁻¹ (..., 3, 3): φ̇ = Γ(φ)⁻¹ ω_world. In the body frame it is Γ(-φ)⁻¹.
    """
    x, y, z = ew.components(_check.vector(phi, 3, "phi"))
    angle = ew.hypot(x, y, z)
    full_turn = (angle > 1.0) & (abs(ew.sin(0.5 * angle)) < _FULL_TURN)
    # φ×²/θ² is n nᵀ - 1.
    nearby = ew.where(full_turn, math.pi, angle)
    b = ew.where(full_turn, 1.0 / ew.where(full_turn, angle, 1.0) ** 2, ew.cotangent_remainder_quotient(nearby))
    return _polynomial(ew.where(full_turn, 0.0, -0.5), b, x, y, z)


def elementary_x(angle: ArrayLike) -> Array:
    """C_x(φ), the rotation about x (ETH 2.26): angle (...), rad, to (..., 3, 3)."""
    return elementary(0, angle)


def elementary_y(angle: ArrayLike) -> Array:
    """C_y(φ), the rotation about y (ETH 2.27): angle (...), rad, to (..., 3, 3)."""
    return elementary(1, angle)


def elementary_z(angle: ArrayLike) -> Array:
    """C_z(φ), the rotation about z (ETH 2.28): angle (...), rad, to (..., 3, 3)."""
    return elementary(2, angle)


def elementary(axis: int, angle: ArrayLike) -> Array:
    """The rotation about one axis of the frame (ETH 2.26–2.28).

    Args:
        axis: 0, 1 or 2 for x, y or z.
        angle: (...), rad.

    Returns:
        C_axis(angle) (..., 3, 3).
    """
    if axis not in (0, 1, 2):
        raise WbcError(f"axis is {show(axis)}; expected 0, 1 or 2 for x, y or z")
    t = _check.scalar(angle, "angle")
    c, s = ew.cos(t), ew.sin(t)
    if axis == 0:
        rows = [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]
    elif axis == 1:
        rows = [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]
    else:
        rows = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
    return ew.join_matrix(rows, like=c)


def is_rotation(R: ArrayLike, tolerance: float = 1e-9) -> bool:
    """Whether every matrix (..., 3, 3) has RᵀR = 1 (ETH 2.23) entry by entry within `tolerance`, and det R > 0."""
    R = _check.matrix(R, 3, "R")
    if R.ndim == 2:  # a target is looked at in each tick; numpy takes four times as long on one matrix
        (a, b, c), (d, e, f), (g, h, i) = R.tolist()
        lengths = a * a + d * d + g * g, b * b + e * e + h * h, c * c + f * f + i * i
        products = a * b + d * e + g * h, a * c + d * f + g * i, b * c + e * f + h * i
        off = max(*(abs(length - 1.0) for length in lengths), *(abs(product) for product in products))
        return bool(off <= tolerance and a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) > 0.0)
    gram = np.swapaxes(R, -1, -2) @ R
    return bool(np.all(np.abs(gram - np.eye(3)) <= tolerance) and np.all(np.linalg.det(R) > 0.0))


def _polynomial(a: ew.Number, b: ew.Number, x: ew.Number, y: ew.Number, z: ew.Number) -> Array:
    """1 + a φ× + b φ×² for φ = (x, y, z): the form that exp, Γ and Γ⁻¹ share."""
    bx, by, bz = b * x, b * y, b * z
    return ew.join_matrix(
        [
            [1.0 - (by * y + bz * z), bx * y - a * z, bx * z + a * y],
            [bx * y + a * z, 1.0 - (bx * x + bz * z), by * z - a * x],
            [bx * z - a * y, by * z + a * x, 1.0 - (bx * x + by * y)],
        ]
    )
