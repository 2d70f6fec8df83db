"""The Boltzmann–Hamel equations: dynamics in velocities v = S(x) ẋ that are no rates of the coordinates x (From 12).

With a kinetic energy ½ v · M v, M constant, and forces τ that do work on v they are M v̇ + C v = τ, and C is made of the
momentum M v, of S and of its derivatives. `Group.velocity_transform` is the S of From's coordinates, exponential ones;
`wbc.geometry.euler.rates_to_angular_velocity` in the body's frame is that of Euler angles. Where both have an inverse,
both give the same C: coordinates fall out, and so do their singularities.
"""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.errors import WbcError, show
from wbc.model.parts import constant


def transform_rate(dS: ArrayLike, rates: ArrayLike) -> Array:
    """Ṡ_ij = Σ_m ∂S_ij/∂x_m ẋ_m, the transpose of (From 41).

    Args:
        dS: ∂S_ij/∂x_k as entry [i, j, k] (m, m, m).
        rates: ẋ (m,).

    Returns:
        (m, m).
    """
    derivative, moving = _slope(dS, rates)
    return np.asarray(derivative @ moving)


def velocity_slope(dS: ArrayLike, rates: ArrayLike) -> Array:
    """∂(S ẋ)_i/∂x_j = Σ_m ∂S_im/∂x_j ẋ_m with the rates held (From 43; its transpose is 44).

    Args:
        dS: ∂S_ij/∂x_k as entry [i, j, k] (m, m, m).
        rates: ẋ (m,).

    Returns:
        (m, m).
    """
    derivative, moving = _slope(dS, rates)
    return np.asarray(np.einsum("imj,m->ij", derivative, moving))


def gamma_parts(S: ArrayLike, dS: ArrayLike) -> tuple[Array, Array]:
    """S⁻ᵀ Ṡᵀ and −S⁻ᵀ ∂ᵀ(S ẋ)/∂x as functions of the velocities: Σ γ_k,1 v_k and Σ γ_k,2 v_k (From 42, 45).

    Args:
        S: v = S ẋ (m, m), not singular.
        dS: ∂S_ij/∂x_k as entry [i, j, k] (m, m, m).

    Returns:
        γ_1 and γ_2, (m, m, m) each; the entry [k, i, j] is (γ_k)_ij.
    """
    m = np.atleast_1d(numbers(S, "S")).shape[-1]
    matrix, derivative = constant(S, (m, m), "S"), constant(dS, (m, m, m), "dS")
    if np.linalg.cond(matrix) > 1e12:
        raise WbcError(f"S = {show(matrix.tolist())} is singular: so are these coordinates, here")
    inverse = np.linalg.inv(matrix)
    first = np.einsum("li,jlm,mk->kij", inverse, derivative, inverse, optimize=True)
    second = -np.einsum("li,jml,mk->kij", inverse, derivative, inverse, optimize=True)
    return np.asarray(first), np.asarray(second)


def gamma(S: ArrayLike, dS: ArrayLike) -> Array:
    """Hamel's coefficients, (γ_k)_ij = Σ_lm S⁻¹_li (∂S_jl/∂x_m - ∂S_jm/∂x_l) S⁻¹_mk (From 46, 47).

    Args:
        S: v = S ẋ (m, m), not singular.
        dS: ∂S_ij/∂x_k as entry [i, j, k] (m, m, m).

    Returns:
        (m, m, m), the entry [k, i, j] is (γ_k)_ij.
    """
    first, second = gamma_parts(S, dS)
    return first + second


def coriolis_matrix(S: ArrayLike, dS: ArrayLike, momentum: ArrayLike) -> Array:
    """C_ij = Σ_lms S⁻¹_li (∂S_sl/∂x_m - ∂S_sm/∂x_l) S⁻¹_mj (M v)_s (From 54); where S = 1, (From 57).

    Args:
        S: v = S ẋ (m, m), not singular.
        dS: ∂S_ij/∂x_k as entry [i, j, k] (m, m, m).
        momentum: M v (m,).

    Returns:
        C (m, m), of M v̇ + C v = τ.
    """
    coefficients = gamma(S, dS)
    return np.asarray(np.einsum("jis,s->ij", coefficients, constant(momentum, (len(coefficients),), "momentum")))


def _slope(dS: ArrayLike, rates: ArrayLike) -> tuple[Array, Array]:
    m = np.atleast_1d(numbers(rates, "rates")).shape[-1]
    return constant(dS, (m, m, m), "dS"), constant(rates, (m,), "rates")
