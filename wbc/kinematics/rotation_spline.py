"""Splines of rotations, smooth in angular velocity and acceleration."""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError
from wbc.geometry import so3
from wbc.kinematics.vector_spline import Pieces, hermite


def angular_acceleration(phi: Array, rate: Array, bend: Array) -> Array:
    """ω̇ = Γ(φ) φ̈ + Γ̇ φ̇ of R = exp(φ), with ω = Γ(φ) φ̇ (the derivative of ETH 2.106).

    Args:
        phi: φ, rad, shape (..., 3).
        rate: φ̇, shape (..., 3).
        bend: φ̈, shape (..., 3).

    Returns:
        Shape (..., 3), in the axes that φ turns in.
    """
    terms = so3.exp_jacobian(phi) @ bend[..., None] + so3.exp_jacobian_derivative(phi, rate) @ rate[..., None]
    return np.asarray(terms[..., 0])


class RotationSpline:
    """The spline through rotations: R = exp(φ(t)) Rᵢ on the i-th stretch, φ a polynomial of the degree.

    Of degree 3, the angular velocities at the inner knots are those for which the angular acceleration is continuous;
    of degree 5, the angular velocities and accelerations there are those of degree 3, and the accelerations at the ends
    can be told.

    Args:
        knots: s, shape (count,).
        rotations: shape (count, 3, 3); from each to the next it turns the short way.
        degree: 3 or 5.
        velocities: angular, at the ends, world axes, shape (2, 3).
        accelerations: likewise, of degree 5.
    """

    def __init__(self, knots: Array, rotations: Array, degree: int, velocities: Array, accelerations: Array) -> None:
        self._rotations = rotations
        self._turns = so3.boxminus(rotations[1:], rotations[:-1])
        self._T = np.diff(knots)
        self._left, self._right = so3.exp_jacobian(self._turns), so3.exp_jacobian_inverse(self._turns)
        omega = self._smooth(velocities)
        rates = [omega[:-1], np.einsum("sij,sj->si", self._right, omega[1:])]
        zero = np.zeros_like(self._turns)
        ends = [(zero, self._turns), (rates[0], rates[1])]
        coefficients = hermite(self._T, ends)
        if degree == 5:
            start = np.vstack([2.0 * coefficients[:, 2], accelerations[1:]])  # ω̇ = φ̈ where φ = 0
            start[0] = accelerations[0]
            curved = angular_acceleration(self._turns, rates[1], zero)
            bend = np.einsum("sij,sj->si", self._right, start[1:] - curved)
            coefficients = hermite(self._T, [*ends, (start[:-1], bend)])
        self._pieces = Pieces(knots, coefficients)

    def _smooth(self, velocities: Array) -> Array:
        """The angular velocities at all knots, shape (count, 3): of the inner ones by iteration on what is not linear.

        At a knot between stretches l and r, with a velocity ω, ω̇ from the left is that from the right:
        2/T_l Γ_l ω₋ + 4 (1/T_l + 1/T_r) ω + 2/T_r Γ_r⁻¹ ω₊ = 6 Δ_l/T_l² + 6 Δ_r/T_r² − Γ̇ φ̇ at the end of l.
        """
        inner, T = len(self._T) - 1, self._T
        omega = np.vstack([velocities[:1], np.zeros((inner, 3)), velocities[1:]])
        if not inner:
            return omega
        A, b = np.zeros((inner, 3, inner + 2, 3)), np.zeros((inner, 3))
        for k in range(inner):
            A[k, :, k] = 2.0 / T[k] * self._left[k]
            A[k, :, k + 1] = 4.0 * (1.0 / T[k] + 1.0 / T[k + 1]) * np.eye(3)
            A[k, :, k + 2] = 2.0 / T[k + 1] * self._right[k + 1]
            b[k] = 6.0 * (self._turns[k] / T[k] ** 2 + self._turns[k + 1] / T[k + 1] ** 2)
        known = np.einsum("kidj,dj->ki", A[:, :, [0, -1]], velocities)
        inverse = np.linalg.inv(A[:, :, 1:-1].reshape(3 * inner, 3 * inner))
        share = 1.0
        change, before = np.inf, np.inf
        for _ in range(500):
            rates = np.einsum("sij,sj->si", self._right[:-1], omega[1:-1])
            curved = angular_acceleration(self._turns[:-1], rates, np.zeros_like(rates))
            step = inverse.dot((b - known - curved).ravel()).reshape(-1, 3) - omega[1:-1]
            change = float(np.abs(step).max())
            if change < 1e-12 * (1.0 + float(np.abs(omega).max())):
                return omega
            if change > before:
                share *= 0.5  # what is not linear is large: shorter steps
            before = change
            omega[1:-1] += share * step
        if change > 1e-8 * (1.0 + float(np.abs(omega).max())):
            raise WbcError(
                "no smooth spline goes through these rotations in these times: the turns are too large; add more "
                "rotations in between"
            )
        return omega

    def __call__(self, time: float) -> tuple[Array, Array, Array]:
        """Rotation, angular velocity and acceleration (world axes) at a time, s."""
        at, phi, rate, bend = self._pieces(time)
        omega: Array = so3.exp_jacobian(phi).dot(rate)
        return so3.boxplus(self._rotations[at], phi), omega, angular_acceleration(phi, rate, bend)
