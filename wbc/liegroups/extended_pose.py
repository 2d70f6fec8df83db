"""SE_K(3): a rotation and K vectors that turn with it, such as the velocity, the position and the footholds of a robot.

An element is the matrix [R, x₁ … x_K; 0, 1] (3 + K square), a tangent ξ = (φ, ρ₁ … ρ_K), each of three numbers. With
K = 1 it is SE(3), with the rotation first. Errors X̂ X⁻¹ = exp(ξ) belong to the frame on the left, the world, as in
`so3`.
"""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.errors import WbcError
from wbc.geometry import so3


def exp(xi: ArrayLike) -> Array:
    """The element [exp φ, Γ(φ) ρ₁ … Γ(φ) ρ_K; 0, 1], Γ of `so3.exp_jacobian`.

    Args:
        xi: ξ (3 + 3 K,).

    Returns:
        X (3 + K, 3 + K).
    """
    xi = _tangent(xi)
    count = len(xi) // 3 - 1
    X = np.eye(3 + count)
    X[:3, :3] = so3.exp(xi[:3])
    X[:3, 3:] = so3.exp_jacobian(xi[:3]) @ xi[3:].reshape(count, 3).T
    return X


def log(X: ArrayLike) -> Array:
    """The tangent ξ with exp(ξ) = X, its rotation by π at most; at the half turn see `so3.log`.

    Args:
        X: (3 + K, 3 + K).

    Returns:
        ξ (3 + 3 K,).
    """
    X = _element(X)
    phi = so3.log(X[:3, :3])
    return np.concatenate([phi, (so3.exp_jacobian_inverse(phi) @ X[:3, 3:]).T.ravel()])


def inverse(X: ArrayLike) -> Array:
    """X⁻¹ = [Rᵀ, −Rᵀ x₁ … −Rᵀ x_K; 0, 1], (3 + K, 3 + K)."""
    X = _element(X)
    back = X.copy()
    back[:3, :3] = X[:3, :3].T
    back[:3, 3:] = -X[:3, :3].T @ X[:3, 3:]
    return back


def adjoint(X: ArrayLike) -> Array:
    """Ad_X (3 + 3 K, 3 + 3 K), with X exp(ξ) X⁻¹ = exp(Ad_X ξ)."""
    X = _element(X)
    size = len(X) - 3
    R, Ad = X[:3, :3], np.zeros((3 + 3 * size, 3 + 3 * size))
    for block in range(size + 1):
        Ad[3 * block : 3 * block + 3, 3 * block : 3 * block + 3] = R
    Ad[3:, :3] = (so3.skew(X[:3, 3:].T) @ R).reshape(3 * size, 3)
    return Ad


def _tangent(xi: ArrayLike) -> Array:
    found = numbers(xi, "xi")
    if found.ndim != 1 or len(found) < 6 or len(found) % 3:
        raise WbcError(f"xi has shape {found.shape}; expected (3 + 3 K,), K of 1 or more")
    return found


def _element(X: ArrayLike) -> Array:
    found = numbers(X, "X")
    if found.ndim != 2 or found.shape[0] != found.shape[1] or len(found) < 4:
        raise WbcError(f"X has shape {found.shape}; expected (3 + K, 3 + K), K of 1 or more")
    return found
