"""Twists V = (v, ω): linear first, then angular, m/s and rad/s (Traversaro–Saccon, section 5).

The twist of a body b with respect to the world a is written in one of three frames:

- left (trivialised): in b, V = (Rᵀ ṗ, ω in b's axes) (20);
- right (trivialised): in a, V = (ṗ - ω × p, ω in a's axes) (25): v is the velocity of the point of the body that
  passes the world's origin;
- mixed: at b's origin in a's axes, V = (ṗ, ω in a's axes) (35): what the rest of this library speaks.

`left_to_mixed` and its five siblings give the matrix for a pose T_world_body; for a Jacobian multiply it from the
left (75).
"""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.geometry import _check, pose, so3


def transform(T: ArrayLike) -> Array:
    """ᴬX_B = [R, p×R; 0, R] (27), with V in a = ᴬX_B V in b (33), whatever body moves against whatever other.

    Args:
        T: T_a_b (..., 4, 4).

    Returns:
        X_a_b (..., 6, 6). The inverse is `transform` of the inverse pose.
    """
    T = _check.matrix(T, 4, "T")
    R = T[..., :3, :3]
    X = np.zeros((*T.shape[:-2], 6, 6))
    X[..., :3, :3] = R
    X[..., 3:, 3:] = R
    X[..., :3, 3:] = so3.skew(T[..., :3, 3]) @ R
    return X


def cross(V: ArrayLike) -> Array:
    """V× = [ω×, v×; 0, ω×] (38), with d/dt ᴬX_B = ᴬX_B (V_left ×) (37).

    Args:
        V: twist (..., 6).

    Returns:
        The matrix (..., 6, 6) that crosses a twist with V; V× V = 0.
    """
    V = _check.vector(V, 6, "V")
    out = np.zeros((*V.shape[:-1], 6, 6))
    out[..., :3, :3] = out[..., 3:, 3:] = so3.skew(V[..., 3:])
    out[..., :3, 3:] = so3.skew(V[..., :3])
    return out


def hat(V: ArrayLike) -> Array:
    """V^ = [ω×, v; 0, 0] (7), with dT/dt = T V_left^ = V_right^ T (21, 26): (..., 6) to (..., 4, 4)."""
    V = _check.vector(V, 6, "V")
    out = np.zeros((*V.shape[:-1], 4, 4))
    out[..., :3, :3] = so3.skew(V[..., 3:])
    out[..., :3, 3] = V[..., :3]
    return out


def vee(S: ArrayLike) -> Array:
    """The inverse of `hat` (8): (..., 4, 4) to (..., 6)."""
    S = _check.matrix(S, 4, "S")
    return np.concatenate([S[..., :3, 3], so3.unskew(S[..., :3, :3])], axis=-1)


def left_to_right(T: ArrayLike) -> Array:
    """ᴬX_B (28) for T_world_body (..., 4, 4): (..., 6, 6)."""
    return transform(T)


def right_to_left(T: ArrayLike) -> Array:
    """ᴮX_A, the inverse of `left_to_right`, for T_world_body (..., 4, 4): (..., 6, 6)."""
    return transform(pose.inverse(T))


def left_to_mixed(T: ArrayLike) -> Array:
    """diag(R, R) (35) for T_world_body (..., 4, 4): (..., 6, 6)."""
    return transform(_turned(T))


def mixed_to_left(T: ArrayLike) -> Array:
    """diag(Rᵀ, Rᵀ), the inverse of `left_to_mixed`, for T_world_body (..., 4, 4): (..., 6, 6)."""
    return np.swapaxes(left_to_mixed(T), -1, -2).copy()


def mixed_to_right(T: ArrayLike) -> Array:
    """[1, p×; 0, 1], from b's origin to the world's in the world's axes, for T_world_body (..., 4, 4): (..., 6, 6)."""
    return transform(_shifted(T, 1.0))


def right_to_mixed(T: ArrayLike) -> Array:
    """[1, -p×; 0, 1], the inverse of `mixed_to_right`, for T_world_body (..., 4, 4): (..., 6, 6)."""
    return transform(_shifted(T, -1.0))


def _turned(T: ArrayLike) -> Array:
    """The pose of b seen from the mixed frame, which has b's origin and the world's axes."""
    return pose.homogeneous(pose.rotation(T), np.zeros(3))


def _shifted(T: ArrayLike, sign: float) -> Array:
    """The pose of the mixed frame in the world (sign 1) or of the world in the mixed frame (sign -1)."""
    return pose.homogeneous(np.eye(3), sign * pose.translation(T))
