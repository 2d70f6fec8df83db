"""Unit quaternions (w, x, y, z), Hamilton, as `q_world_body`: they rotate body coordinates into world coordinates.

q and -q are the same rotation. Functions that make a quaternion from a matrix return the one with w >= 0; those that
read a rotation out of one take either and go the short way round. There is no singularity.
"""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.errors import WbcError
from wbc.geometry import _check
from wbc.geometry import _elementwise as ew


def to_matrix(q: ArrayLike) -> Array:
    """The rotation matrix, 1 + 2 q₀ q̌× + 2 q̌×² for |q| = 1 (Kindr; ETH 2.54).

    Args:
        q: quaternion (..., 4). Its length is divided out, so that the matrix is orthogonal whatever rounding did to q.

    Returns:
        R_world_body (..., 3, 3).
    """
    w, x, y, z = ew.components(_check.vector(q, 4, "q"))
    s = 2.0 / _square(w, x, y, z)
    sx, sy, sz = s * x, s * y, s * z
    return ew.join_matrix(
        [
            [1.0 - (sy * y + sz * z), sx * y - sz * w, sx * z + sy * w],
            [sx * y + sz * w, 1.0 - (sx * x + sz * z), sy * z - sx * w],
            [sx * z - sy * w, sy * z + sx * w, 1.0 - (sx * x + sy * y)],
        ]
    )


def from_matrix(R: ArrayLike) -> Array:
    """The quaternion with w >= 0 of a rotation matrix (what ETH 2.55 is for).

    The sixteen sums below are 4 q qᵀ; its row with the largest diagonal entry is a multiple of q, and that entry is at
    least 1, so nothing cancels at any angle. (ETH 2.55 takes roots of differences and signs of differences: the first
    lose half the digits near zero, the second are undefined at the half turn.) At a half turn, where w = 0, the
    largest component is positive.

    Args:
        R: R_world_body (..., 3, 3), orthogonal up to rounding; this is not checked (`so3.is_rotation` does).

    Returns:
        q (..., 4), of unit length.
    """
    (a, b, c), (d, e, f), (g, h, i) = ew.entries(_check.matrix(R, 3, "R"))
    wx, wy, wz, xy, xz, yz = h - f, c - g, d - b, b + d, c + g, f + h
    diagonal = [1.0 + a + e + i, 1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i]
    rows = [
        [diagonal[0], wx, wy, wz],
        [wx, diagonal[1], xy, xz],
        [wy, xy, diagonal[2], yz],
        [wz, xz, yz, diagonal[3]],
    ]
    if isinstance(a, float):
        row = rows[diagonal.index(max(diagonal))]
        length = ew.hypot(ew.hypot(row[0], row[1]), row[2], row[3])
        scale = -1.0 / length if row[0] < 0.0 else 1.0 / length
        return np.array([scale * value for value in row])
    largest = np.argmax(np.stack(diagonal, axis=-1), axis=-1)[..., None, None]
    q: Array = np.take_along_axis(ew.join_matrix(rows), largest, axis=-2)[..., 0, :]
    q = np.where(q[..., :1] < 0.0, -q, q)
    return np.asarray(q / np.linalg.norm(q, axis=-1, keepdims=True))


def from_rotation_vector(phi: ArrayLike) -> Array:
    """The exponential map: (cos(θ/2), φ/θ sin(θ/2)), θ = |φ| (ETH 2.52).

    Continuous in φ and accurate through φ = 0; w is negative where π < θ < 3π.

    Args:
        phi: rotation vector (..., 3), rad.

    Returns:
        q (..., 4).
    """
    x, y, z = ew.components(_check.vector(phi, 3, "phi"))
    half = 0.5 * ew.hypot(x, y, z)
    s = 0.5 * ew.sinc(half)
    return ew.join([ew.cos(half), s * x, s * y, s * z])


def to_rotation_vector(q: ArrayLike) -> Array:
    """The logarithm: the rotation vector of length in [0, π], 2 atan2(|q̌|, |q₀|) q̌ / (± |q̌|).

    The arc tangent of both parts is accurate everywhere; Kindr's arc cosine of q₀ loses half the digits near zero.
    At a half turn (q₀ = 0) both ± are right, and q̌ itself gives the sign.

    Args:
        q: quaternion (..., 4); its length does not matter.

    Returns:
        φ (..., 3), rad.
    """
    w, x, y, z = ew.components(_check.vector(q, 4, "q"))
    _square(w, x, y, z)
    length = ew.hypot(x, y, z)
    sign = ew.where(w < 0.0, -1.0, 1.0)
    # Where the length is zero so is the vector: the scale does not matter but must be finite.
    safe = ew.where(length == 0.0, 1.0, length)
    scale = 2.0 * sign * ew.atan2(length, sign * w) / safe
    return ew.join([scale * x, scale * y, scale * z])


def multiply(q: ArrayLike, p: ArrayLike) -> Array:
    """The product q ⊗ p, which composes: q_a_c = q_a_b ⊗ q_b_c (Kindr; ETH 2.57).

    Args:
        q: quaternion (..., 4).
        p: quaternion (..., 4).

    Returns:
        q ⊗ p (..., 4); the batches are broadcast against each other.
    """
    a, b, c, d = ew.components(_check.vector(q, 4, "q"))
    w, x, y, z = ew.components(_check.vector(p, 4, "p"))
    return ew.join(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ]
    )


def inverse(q: ArrayLike) -> Array:
    """The inverse rotation of a unit quaternion, its conjugate (q₀, -q̌) (Kindr; ETH 2.56), (..., 4)."""
    conjugate: Array = _check.vector(q, 4, "q") * np.array([1.0, -1.0, -1.0, -1.0])
    return conjugate


def normalize(q: ArrayLike) -> Array:
    """The quaternion of unit length in the direction of q, (..., 4); the sign is kept."""
    w, x, y, z = ew.components(_check.vector(q, 4, "q"))
    s = 1.0 / _square(w, x, y, z) ** 0.5
    return ew.join([s * w, s * x, s * y, s * z])


def rotate(q: ArrayLike, v: ArrayLike) -> Array:
    """The vector rotated, q ⊗ (0, v) ⊗ q⁻¹ (ETH 2.63), as v + 2 (q₀ q̌×v + q̌×(q̌×v)).

    Args:
        q: q_world_body (..., 4); its length is divided out.
        v: vector (..., 3) in the body frame, any unit.

    Returns:
        The vector in the world frame, (..., 3).
    """
    w, x, y, z = ew.components(_check.vector(q, 4, "q"))
    a, b, c = ew.components(_check.vector(v, 3, "v"))
    s = 2.0 / _square(w, x, y, z)
    d, e, f = s * (y * c - z * b), s * (z * a - x * c), s * (x * b - y * a)
    return ew.join([a + w * d + y * f - z * e, b + w * e + z * d - x * f, c + w * f + x * e - y * d])


def left_matrix(q: ArrayLike) -> Array:
    """Kindr's Q(q), the M_l of ETH (2.58): q ⊗ p = Q(q) p. (..., 4, 4)."""
    w, x, y, z = ew.components(_check.vector(q, 4, "q"))
    return ew.join_matrix([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])


def right_matrix(q: ArrayLike) -> Array:
    """Kindr's Q̄(q), the M_r of ETH (2.60): p ⊗ q = Q̄(q) p. (..., 4, 4)."""
    w, x, y, z = ew.components(_check.vector(q, 4, "q"))
    return ew.join_matrix([[w, -x, -y, -z], [x, w, z, -y], [y, -z, w, x], [z, y, -x, w]])


def rate_matrix(q: ArrayLike, frame: str = "world") -> Array:
    """Kindr's H(q) = [-q̌, q₀ 1 + q̌×] for the world frame (ETH 2.96), H̄(q) = [-q̌, q₀ 1 - q̌×] for the body's.

    Args:
        q: q_world_body (..., 4).
        frame: "world" or "body", the frame of the angular velocity.

    Returns:
        H or H̄ (..., 3, 4): its rows are orthonormal, and orthogonal to q.
    """
    s = -1.0 if _check.is_body(frame) else 1.0
    w, x, y, z = ew.components(_check.vector(q, 4, "q"))
    return ew.join_matrix([[-x, w, -s * z, s * y], [-y, s * z, w, -s * x], [-z, -s * y, s * x, w]])


def rates_to_angular_velocity(q: ArrayLike, frame: str = "world") -> Array:
    """E of ω = E q̇: 2 H in the world frame (ETH 2.98), 2 H̄ in the body frame (Kindr).

    Args:
        q: q_world_body (..., 4), of unit length.
        frame: "world" or "body", the frame of ω.

    Returns:
        E (..., 3, 4).
    """
    return 2.0 * rate_matrix(q, frame)


def angular_velocity_to_rates(q: ArrayLike, frame: str = "world") -> Array:
    """E⁻¹ of q̇ = E⁻¹ ω: Hᵀ/2 in the world frame (ETH 2.99), H̄ᵀ/2 in the body frame (Kindr). Never singular.

    Args:
        q: q_world_body (..., 4).
        frame: "world" or "body", the frame of ω.

    Returns:
        E⁻¹ (..., 4, 3): E E⁻¹ = 1₃, and q · E⁻¹ω = 0.
    """
    return 0.5 * np.swapaxes(rate_matrix(q, frame), -1, -2)


def integrate(q: ArrayLike, omega: ArrayLike, dt: ArrayLike, frame: str = "body") -> Array:
    """The orientation after dt at a constant angular velocity (Kindr, discrete integration): exact, not one Euler step.

    Args:
        q: q_world_body (..., 4).
        omega: ω (..., 3), rad/s, in `frame`.
        dt: s; a number, or a batch (...).
        frame: "body": q ⊗ exp(ω dt); "world": exp(ω dt) ⊗ q.

    Returns:
        q_world_body (..., 4), normalised so that errors do not add up.
    """
    q = _check.vector(q, 4, "q")
    step = from_rotation_vector(_check.vector(omega, 3, "omega") * _check.numbers(dt, "dt")[..., None])
    return normalize(multiply(q, step) if _check.is_body(frame) else multiply(step, q))


def difference(q0: ArrayLike, q1: ArrayLike, frame: str = "body") -> Array:
    """The rotation vector that leads from q0 to q1 the short way: it takes `integrate` to ± q1.

    Args:
        q0: q_world_body at the start (..., 4).
        q1: q_world_body at the end (..., 4).
        frame: "body": log(q0⁻¹ ⊗ q1); "world": log(q1 ⊗ q0⁻¹), Kindr's q1 ⊟ q0.

    Returns:
        φ (..., 3), rad, in `frame`, of length at most π.
    """
    back, q1 = inverse(_check.vector(q0, 4, "q0")), _check.vector(q1, 4, "q1")
    return to_rotation_vector(multiply(back, q1) if _check.is_body(frame) else multiply(q1, back))


def interpolate(q0: ArrayLike, q1: ArrayLike, t: ArrayLike) -> Array:
    """The orientation a share t of the short way from q0 to q1 (Kindr 12), at a constant angular velocity.

    Args:
        q0: q_world_body at t = 0 (..., 4).
        q1: q_world_body at t = 1 (..., 4).
        t: a number, or a batch (...); outside [0, 1] it extrapolates.

    Returns:
        q_world_body (..., 4), in the hemisphere of q0: at t = 1 it is q1 or -q1.
    """
    return integrate(q0, difference(q0, q1), _check.numbers(t, "t"))


def _square(w: ew.Number, x: ew.Number, y: ew.Number, z: ew.Number) -> ew.Number:
    """|q|²; a quaternion that is zero has no direction and is an error."""
    square = w * w + x * x + y * y + z * z
    if square < 1e-200 if isinstance(square, float) else np.any(square < 1e-200):
        raise WbcError("q is the zero quaternion, which is no rotation; expected unit length")
    return square
