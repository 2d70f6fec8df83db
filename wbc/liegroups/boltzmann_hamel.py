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


def gamma(S: ArrayLike, dS: ArrayLike) -> Array:
    """Hamel's coefficients, (γ_k)_ij = Σ_lm S⁻¹_li (∂S_jl/∂x_m - ∂S_jm/∂x_l) S⁻¹_mk (From 46, 47).

    Args:
        S: v = S ẋ (m, m), not singular.
        dS: ∂S_ij/∂x_k as entry [i, j, k] (m, m, m).

    Returns:
        (m, m, m), the entry [k, i, j] is (γ_k)_ij.
    """
    m = np.atleast_1d(numbers(S, "S")).shape[-1]
    matrix, derivative = constant(S, (m, m), "S"), constant(dS, (m, m, m), "dS")
    if np.linalg.cond(matrix) > 1e12:
        raise WbcError(f"S = {show(matrix.tolist())} is singular: so are these coordinates, here")
    inverse = np.linalg.inv(matrix)
    curl = derivative - derivative.transpose(0, 2, 1)
    return np.asarray(np.einsum("li,jlm,mk->kij", inverse, curl, inverse, optimize=True))


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
