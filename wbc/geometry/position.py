"""Cylindrical and spherical coordinates of a position, and the relation of their rates to velocity (ETH 2.3–2.17).

Cylindrical: (ρ, θ, z), spherical: (r, θ, φ), with θ the azimuth from x towards y and φ the polar angle from z. Read
out of a position, θ is in [-π, π] and φ in [0, π]; an angle that the position does not determine (θ on the z axis,
φ at the origin) is 0. There the maps from velocity to rates are singular, and their pseudo-inverses are returned:
the rate of the undetermined angle is 0. For Cartesian coordinates the maps are the identity (ETH 2.12).
"""

from __future__ import annotations

from wbc.arrays import Array, ArrayLike
from wbc.geometry import _check
from wbc.geometry import _elementwise as ew


def cylindrical_to_cartesian(chi: ArrayLike) -> Array:
    """(ρ cos θ, ρ sin θ, z) (ETH 2.6): (ρ, θ, z) (..., 3), m and rad, to r (..., 3), m."""
    rho, theta, z = ew.components(_check.vector(chi, 3, "chi"))
    return ew.join([rho * ew.cos(theta), rho * ew.sin(theta), z])


def cartesian_to_cylindrical(r: ArrayLike) -> Array:
    """The inverse of ETH (2.6), with ρ >= 0: r (..., 3), m, to (ρ, θ, z) (..., 3), m and rad. θ = 0 on the z axis."""
    x, y, z = ew.components(_check.vector(r, 3, "r"))
    return ew.join([ew.hypot(x, y), ew.atan2(y, x), z])


def spherical_to_cartesian(chi: ArrayLike) -> Array:
    """(r cos θ sin φ, r sin θ sin φ, r cos φ) (ETH 2.8): (r, θ, φ) (..., 3), m and rad, to r (..., 3), m."""
    radius, theta, phi = ew.components(_check.vector(chi, 3, "chi"))
    rho = radius * ew.sin(phi)
    return ew.join([rho * ew.cos(theta), rho * ew.sin(theta), radius * ew.cos(phi)])


def cartesian_to_spherical(r: ArrayLike) -> Array:
    """The inverse of ETH (2.8), with r >= 0: r (..., 3), m, to (r, θ, φ) (..., 3), m and rad.

    θ = 0 on the z axis, φ = 0 at the origin.
    """
    x, y, z = ew.components(_check.vector(r, 3, "r"))
    return ew.join([ew.hypot(x, y, z), ew.atan2(y, x), ew.atan2(ew.hypot(x, y), z)])


def cylindrical_rates_to_velocity(chi: ArrayLike) -> Array:
    """E_Pz of ṙ = E_Pz (ρ̇, θ̇, ż) (ETH 2.15).

    Args:
        chi: (ρ, θ, z) (..., 3), m and rad.

    Returns:
        E_Pz (..., 3, 3), singular on the z axis.
    """
    rho, theta, _ = ew.components(_check.vector(chi, 3, "chi"))
    c, s = ew.cos(theta), ew.sin(theta)
    return ew.join_matrix([[c, -rho * s, 0.0], [s, rho * c, 0.0], [0.0, 0.0, 1.0]])


def velocity_to_cylindrical_rates(chi: ArrayLike) -> Array:
    """E_Pz⁻¹ of (ρ̇, θ̇, ż) = E_Pz⁻¹ ṙ (ETH 2.14).

    Args:
        chi: (ρ, θ, z) (..., 3), m and rad.

    Returns:
        E_Pz⁻¹ (..., 3, 3); where ρ = 0 the row of θ̇ is 0.
    """
    rho, theta, _ = ew.components(_check.vector(chi, 3, "chi"))
    c, s, inverse = ew.cos(theta), ew.sin(theta), _inverse(rho)
    return ew.join_matrix([[c, s, 0.0], [-s * inverse, c * inverse, 0.0], [0.0, 0.0, 1.0]])


def spherical_rates_to_velocity(chi: ArrayLike) -> Array:
    """E_Ps of ṙ = E_Ps (ṙ, θ̇, φ̇) (ETH 2.16).

    Args:
        chi: (r, θ, φ) (..., 3), m and rad.

    Returns:
        E_Ps (..., 3, 3), singular on the z axis.
    """
    r, theta, phi = ew.components(_check.vector(chi, 3, "chi"))
    c, s, cp, sp = ew.cos(theta), ew.sin(theta), ew.cos(phi), ew.sin(phi)
    return ew.join_matrix(
        [[c * sp, -r * sp * s, r * cp * c], [sp * s, r * c * sp, r * cp * s], [cp, 0.0, -r * sp]],
    )


def velocity_to_spherical_rates(chi: ArrayLike) -> Array:
    """E_Ps⁻¹ of (ṙ, θ̇, φ̇) = E_Ps⁻¹ ṙ (ETH 2.17).

    Args:
        chi: (r, θ, φ) (..., 3), m and rad.

    Returns:
        E_Ps⁻¹ (..., 3, 3); where r sin φ = 0 (sin φ below 1e-12) the row of θ̇ is 0, where r = 0 that of φ̇ too.
    """
    r, theta, phi = ew.components(_check.vector(chi, 3, "chi"))
    c, s, cp, sp = ew.cos(theta), ew.sin(theta), ew.cos(phi), ew.sin(phi)
    # φ = π in floats leaves sin φ = 1e-16: that is the axis, not a distance from it.
    inverse = _inverse(r)
    across = inverse * _inverse(ew.where(abs(sp) < 1e-12, 0.0, sp))
    return ew.join_matrix(
        [
            [c * sp, sp * s, cp],
            [-s * across, c * across, 0.0],
            [cp * c * inverse, cp * s * inverse, -sp * inverse],
        ],
    )


def _inverse(x: ew.Number) -> ew.Number:
    """1/x, and 0 where x is 0 or so small that the inverse overflows."""
    zero = abs(x) < 1e-300
    return ew.where(zero, 0.0, 1.0 / ew.where(zero, 1.0, x))
