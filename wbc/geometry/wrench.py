"""Wrenches F = (f, τ): force first, then torque, N and N m (Traversaro–Saccon, section 6).

They are dual to twists: F · V is a power and the same in every frame (60). So every matrix here is the inverse
transpose of its namesake in `twist`, where the three frames (left, right, mixed) are explained.
"""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.geometry import _check, pose, so3, twist


def transform(T: ArrayLike) -> Array:
    """ₐXᴮ = [R, 0; p×R, R] = (ᴮX_A)ᵀ (59), with F in a = ₐXᴮ F in b (58).

    Args:
        T: T_a_b (..., 4, 4).

    Returns:
        (..., 6, 6).
    """
    T = _check.matrix(T, 4, "T")
    R = T[..., :3, :3]
    X = np.zeros((*T.shape[:-2], 6, 6))
    X[..., :3, :3] = R
    X[..., 3:, 3:] = R
    X[..., 3:, :3] = so3.skew(T[..., :3, 3]) @ R
    return X


def cross(V: ArrayLike) -> Array:
    """V ×̄* = [ω×, 0; v×, ω×] = -(V×)ᵀ (62), with d/dt ₐXᴮ = ₐXᴮ (V_left ×̄*) (61).

    Args:
        V: twist (..., 6), m/s and rad/s.

    Returns:
        The matrix (..., 6, 6) that crosses a wrench (or a momentum) with V.
    """
    return -np.swapaxes(twist.cross(V), -1, -2)


def power(F: ArrayLike, V: ArrayLike) -> Array:
    """F · V = f · v + τ · ω (60), W.

    Args:
        F: wrench (..., 6).
        V: twist (..., 6), in the same frame; the batches are broadcast against each other.

    Returns:
        (...).
    """
    return np.asarray(np.sum(_check.vector(F, 6, "F") * _check.vector(V, 6, "V"), axis=-1))


def left_to_right(T: ArrayLike) -> Array:
    """ₐXᴮ (59) for T_world_body (..., 4, 4): (..., 6, 6)."""
    return transform(T)


def right_to_left(T: ArrayLike) -> Array:
    """The inverse of `left_to_right`, for T_world_body (..., 4, 4): (..., 6, 6)."""
    return transform(pose.inverse(T))


def left_to_mixed(T: ArrayLike) -> Array:
    """diag(R, R) for T_world_body (..., 4, 4): (..., 6, 6). The same as of twists, whose inverse is its transpose."""
    return twist.left_to_mixed(T)


def mixed_to_left(T: ArrayLike) -> Array:
    """diag(Rᵀ, Rᵀ), the inverse of `left_to_mixed`, for T_world_body (..., 4, 4): (..., 6, 6)."""
    return twist.mixed_to_left(T)


def mixed_to_right(T: ArrayLike) -> Array:
    """[1, 0; p×, 1], from b's origin to the world's in the world's axes, for T_world_body (..., 4, 4): (..., 6, 6)."""
    return np.swapaxes(twist.right_to_mixed(T), -1, -2).copy()


def right_to_mixed(T: ArrayLike) -> Array:
    """[1, 0; -p×, 1], the inverse of `mixed_to_right`, for T_world_body (..., 4, 4): (..., 6, 6)."""
    return np.swapaxes(twist.mixed_to_right(T), -1, -2).copy()
