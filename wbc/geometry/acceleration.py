"""Accelerations (linear, angular) of a body b with respect to the world a, m/s² and rad/s² (Traversaro–Saccon 5.4).

In a frame c, which may move, there are two six-vectors, and at the mixed frame a third name for one of them:

- apparent: the derivative of the numbers, d/dt (V in c) (44);
- intrinsic ("spatial"): ᶜX_B d/dt (V in b), a vector that changes frame like a twist (47); for c = b (left) and
  c = a (right) it is the same as the apparent one (46);
- classical: the apparent one of the mixed frame, (p̈, ω̇ in the world's axes) (52). Control means this one: `J v̇ + J̇v`.

All functions take and give vectors; V and A are in the frame that the argument's name ends in.
"""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.geometry import _check, twist
from wbc.geometry import _elementwise as ew


def left_to_apparent(T_c_b: ArrayLike, A_left: ArrayLike, V_left: ArrayLike, V_c_b_left: ArrayLike) -> Array:
    """The apparent acceleration in c, ᶜX_B (ᴮV_CB × ᴮV_AB + ᴮV̇_AB) (45).

    Args:
        T_c_b: pose of the body in the frame c (..., 4, 4).
        A_left: d/dt V_left (..., 6).
        V_left: left twist of the body with respect to the world (..., 6).
        V_c_b_left: left twist of the body with respect to c (..., 6).

    Returns:
        d/dt (V in c) (..., 6).
    """
    T, A, V = _check.matrix(T_c_b, 4, "T_c_b"), _check.vector(A_left, 6, "A_left"), _check.vector(V_left, 6, "V_left")
    return _apply(twist.transform(T), _crossed(_check.vector(V_c_b_left, 6, "V_c_b_left"), V) + A)


def left_to_intrinsic(T_c_b: ArrayLike, A_left: ArrayLike) -> Array:
    """The intrinsic acceleration in c, ᶜX_B ᴮV̇_AB (47); for T_world_body it is the right acceleration (46).

    Args:
        T_c_b: pose of the body in the frame c (..., 4, 4).
        A_left: d/dt V_left (..., 6).

    Returns:
        (..., 6).
    """
    return _apply(twist.transform(_check.matrix(T_c_b, 4, "T_c_b")), _check.vector(A_left, 6, "A_left"))


def apparent_to_intrinsic(A_c: ArrayLike, V_a_c_c: ArrayLike, V_c: ArrayLike) -> Array:
    """ᶜa_AB = ᶜV̇_AB + ᶜV_AC × ᶜV_AB (49), component by component (50), (51).

    Args:
        A_c: apparent acceleration of the body, d/dt (V in c) (..., 6).
        V_a_c_c: twist of the frame c itself with respect to the world, in c (..., 6).
        V_c: twist of the body, in c (..., 6).

    Returns:
        The intrinsic acceleration in c (..., 6).
    """
    A, V, W = _check.vector(A_c, 6, "A_c"), _check.vector(V_c, 6, "V_c"), _check.vector(V_a_c_c, 6, "V_a_c_c")
    return np.asarray(A + _crossed(W, V))


def intrinsic_to_apparent(A_c: ArrayLike, V_a_c_c: ArrayLike, V_c: ArrayLike) -> Array:
    """ᶜV̇_AB = ᶜa_AB - ᶜV_AC × ᶜV_AB (49), the inverse of `apparent_to_intrinsic`, with the same arguments."""
    A, V, W = _check.vector(A_c, 6, "A_c"), _check.vector(V_c, 6, "V_c"), _check.vector(V_a_c_c, 6, "V_a_c_c")
    return np.asarray(A - _crossed(W, V))


def intrinsic_to_classical(A_mixed: ArrayLike, V_mixed: ArrayLike) -> Array:
    """(a - v × ω, α) (53)–(55): from the intrinsic acceleration in the mixed frame to (p̈, ω̇).

    Args:
        A_mixed: intrinsic acceleration (a, α) in the mixed frame (..., 6).
        V_mixed: mixed twist (v, ω) (..., 6).

    Returns:
        (p̈, ω̇) (..., 6), in the world's axes.
    """
    return _check.vector(A_mixed, 6, "A_mixed") + _turning(_check.vector(V_mixed, 6, "V_mixed"))


def classical_to_intrinsic(A_mixed: ArrayLike, V_mixed: ArrayLike) -> Array:
    """(p̈ + v × ω, ω̇), the inverse of `intrinsic_to_classical`, with (p̈, ω̇) for `A_mixed`."""
    return _check.vector(A_mixed, 6, "A_mixed") - _turning(_check.vector(V_mixed, 6, "V_mixed"))


def left_to_classical(T: ArrayLike, A_left: ArrayLike, V_left: ArrayLike) -> Array:
    """(R (v̇ + ω × v), R ω̇): (45) for the mixed frame, straight from the body's.

    Args:
        T: T_world_body (..., 4, 4); only the rotation matters.
        A_left: (v̇, ω̇) = d/dt V_left (..., 6).
        V_left: left twist (v, ω) (..., 6).

    Returns:
        (p̈, ω̇) (..., 6), in the world's axes.
    """
    A, V = _check.vector(A_left, 6, "A_left"), _check.vector(V_left, 6, "V_left")
    return _apply(twist.left_to_mixed(T), A + _turning(V))


def classical_to_left(T: ArrayLike, A_mixed: ArrayLike, V_mixed: ArrayLike) -> Array:
    """The inverse of `left_to_classical`.

    Args:
        T: T_world_body (..., 4, 4); only the rotation matters.
        A_mixed: (p̈, ω̇) (..., 6), in the world's axes.
        V_mixed: mixed twist (..., 6).

    Returns:
        d/dt V_left (..., 6).
    """
    return _apply(twist.mixed_to_left(T), classical_to_intrinsic(A_mixed, V_mixed))


def _apply(X: Array, V: Array) -> Array:
    return np.asarray((X @ V[..., None])[..., 0])


def _crossed(U: Array, V: Array) -> Array:
    """U × V of two twists."""
    return _apply(twist.cross(U), V)


def _turning(V: Array) -> Array:
    """(ω × v, 0) of a twist (v, ω)."""
    x, y, z, a, b, c = ew.components(V)
    return ew.join([b * z - c * y, c * x - a * z, a * y - b * x, 0.0, 0.0, 0.0])
