"""Soft ground: a spring and a damper under every point, cut to the cone of friction (ETH 3.58).

On the robot, with the penetration r and along the plane the stretch ξ of a spring that slides where the cone ends:

    f_n = −k r − d ṙ,   f_t = −k ξ − d ṡ,   |f_t| ≤ μ f_n,   f_n ≥ 0

An implicit step takes them at its end, f = −k (r + dt ṙ⁺) − d ṙ⁺, which makes them part of its contact problem: with
p = dt f and w = ṙ⁺ it is w + p / (dt (d + dt k)) + k r / (d + dt k) = 0 inside the cone. So 1 / (dt (d + dt k)) is
added to the diagonal of G, and k r / (d + dt k) to the velocities without impulses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wbc.arrays import Array


@dataclass(frozen=True, eq=False)
class Springs:
    """Under every point.

    Attributes:
        stiffness: k, N/m.
        damping: d, N s/m.
        friction: μ of each point, shape (n,).
    """

    stiffness: float
    damping: float
    friction: Array

    def energy(self, gaps: Array, stretch: Array) -> float:
        """What is stored in them, J.

        Args:
            gaps: of the points, m, shape (n,).
            stretch: of the tangential springs, m, shape (n, 2).
        """
        depth = np.minimum(gaps, 0.0)
        return 0.5 * self.stiffness * float((depth**2).sum() + (stretch**2).sum())

    def softness(self, dt: float) -> float:
        """What an implicit step adds to the diagonal of G, 1/kg."""
        return 1.0 / (dt * (self.damping + dt * self.stiffness))

    def offset(self, gaps: Array, stretch: Array, dt: float) -> Array:
        """What an implicit step adds to the velocities without impulses, m/s, shape (n, 3)."""
        return np.column_stack([gaps, stretch]) * (self.stiffness / (self.damping + dt * self.stiffness))

    def stretched(self, stretch: Array, impulse: Array, dt: float) -> Array:
        """The stretch after an implicit step: k ξ⁺ + d (ξ⁺ − ξ) / dt = −f, shape (n, 2).

        Args:
            stretch: before, m, shape (n, 2).
            impulse: along the plane, N s, shape (n, 2).
            dt: s.
        """
        return np.asarray((self.damping * stretch - impulse) / (self.damping + dt * self.stiffness))

    def push(self, gaps: Array, speeds: Array, stretch: Array) -> tuple[Array, Array, Array]:
        """The forces now.

        Args:
            gaps: of the points, m, shape (n,).
            speeds: normal and along the plane, m/s, shape (n, 3).
            stretch: of the tangential springs, m, shape (n, 2).

        Returns:
            Forces, N, shape (n, 3); the stretch as far as the cone allows, m, and its rate, m/s, shapes (n, 2).
        """
        k, d, slip = self.stiffness, self.damping, speeds[:, 1:]
        f = np.empty_like(speeds)
        f[:, 0] = np.where(gaps < 0.0, np.maximum(-k * gaps - d * speeds[:, 0], 0.0), 0.0)
        bound = self.friction * f[:, 0]
        stretch = stretch * _cut(stretch, bound / k)
        wanted = -k * stretch - d * slip
        cut = _cut(wanted, bound)
        f[:, 1:] = cut * wanted
        rate = -(f[:, 1:] + k * stretch) / d if d else np.where(cut < 1.0, 0.0, slip)
        return f, stretch, rate


def _cut(vectors: Array, lengths: Array) -> Array:
    """Factors that make vectors no longer than that, shape (n, 1)."""
    size = np.sqrt((vectors * vectors).sum(axis=1))
    return np.asarray(np.minimum(1.0, lengths / np.maximum(size, 1e-12))[:, None])
