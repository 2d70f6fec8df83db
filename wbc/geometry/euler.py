"""Euler angles (α, β, γ): three turns about the named axes, each of the frame that the turn before has made.

R = C_first(α) C_second(β) C_third(γ), for the sequences "zyx" (yaw, pitch, roll), "xyz", "zyz" and "zxz". One
implementation serves all: with i, j the first two axes, k the remaining one and ε = ±1 the sign of the permutation
(i, j, k), the sequences with three axes (Tait–Bryan) differ from those with two (proper) in two entries.

Read out of a matrix, α and γ are in [-π, π], and β in [-π/2, π/2] (Tait–Bryan) or [0, π] (proper). At a singularity
(gimbal lock: β = ±π/2, or β = 0 and π) only α + γ or α - γ is determined: α is 0 there, and γ carries the whole turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.errors import unknown_name
from wbc.geometry import _check, so3
from wbc.geometry import _elementwise as ew

SEQUENCES = ("zyx", "xyz", "zyz", "zxz")
"""The names of the sequences: the axes in the order of the angles."""

_LOCKED = 1e-15  # cos β (Tait–Bryan) or sin β (proper) of rounding alone: the matrix no longer says what α is
_SINGULAR = 1e-12  # the same for the rates: below it E is taken as singular


class _Axes(NamedTuple):
    i: int
    j: int
    k: int  # the axis that is neither i nor j
    sign: float  # of the permutation (i, j, k)
    proper: bool  # the third turn is about i, not k


def _axes(names: str) -> _Axes:
    i, j, last = ("xyz".index(name) for name in names)
    return _Axes(i, j, 3 - i - j, 1.0 if (j - i) % 3 == 1 else -1.0, last == i)


_FORWARD = {name: _axes(name) for name in SEQUENCES}
_REVERSED = {name: _axes(name[::-1]) for name in SEQUENCES}


def to_matrix(angles: ArrayLike, sequence: str) -> Array:
    """The rotation matrix (ETH 2.33, 2.37, 2.41, 2.44).

    Args:
        angles: (α, β, γ) (..., 3), rad, in the order of the sequence.
        sequence: "zyx", "xyz", "zyz" or "zxz".

    Returns:
        R_world_body (..., 3, 3).
    """
    i, j, k, _, proper = _named(sequence, _FORWARD)
    a, b, c = ew.components(_check.vector(angles, 3, "angles"))
    return so3.elementary(i, a) @ so3.elementary(j, b) @ so3.elementary(i if proper else k, c)


def from_matrix(R: ArrayLike, sequence: str) -> Array:
    """The angles of a rotation matrix (ETH 2.35, 2.39, 2.42, 2.45), through the singularities.

    α is read first and taken out of the matrix, and β and γ are read from what is left. So `to_matrix` of the result
    is R to rounding also next to a singularity, where α and γ are each poorly determined. (The seed reads γ from R
    directly: there its error and that of α add up instead of cancelling.)

    Args:
        R: R_world_body (..., 3, 3), orthogonal up to rounding; not checked.
        sequence: "zyx", "xyz", "zyz" or "zxz".

    Returns:
        (α, β, γ) (..., 3), rad, in the ranges above; α = 0 where cos β (sin β if proper) is below 1e-15.
    """
    i, j, k, e, proper = _named(sequence, _FORWARD)
    rows = ew.entries(_check.matrix(R, 3, "R"))
    y, x = (rows[j][i], -e * rows[k][i]) if proper else (-e * rows[j][k], rows[k][k])
    locked = ew.hypot(x, y) < _LOCKED
    a = ew.where(locked, 0.0, ew.atan2(y, x))
    c, s = ew.cos(a), e * ew.sin(a)
    # Rows j and k of C_i(α)ᵀ R = C_j(β) C_last(γ); row i is that of R.
    row_j = [c * rows[j][n] + s * rows[k][n] for n in range(3)]
    row_k = [c * rows[k][n] - s * rows[j][n] for n in range(3)]
    # The sizes are signed by rounding where α is locked; without the sign β stays in its range.
    if proper:
        b = ew.atan2(abs(row_k[i]), rows[i][i])
        return ew.join([a, b, ew.atan2(-e * row_j[k], row_j[j])])
    b = ew.atan2(e * rows[i][k], abs(row_k[k]))
    return ew.join([a, b, ew.atan2(e * row_j[i], row_j[j])])


def rates_to_angular_velocity(angles: ArrayLike, sequence: str, frame: str = "world") -> Array:
    """E of ω = E (α̇, β̇, γ̇) (ETH 2.86, 2.88, 2.90, 2.92; in the body frame Kindr): its columns are the three axes.

    Args:
        angles: (α, β, γ) (..., 3), rad.
        sequence: "zyx", "xyz", "zyz" or "zxz".
        frame: "world" or "body", the frame of ω.

    Returns:
        E (..., 3, 3); |det E| is |cos β| (Tait–Bryan) or |sin β| (proper).
    """
    (i, j, k, _, _), (c, s, p, r) = _geometry(angles, sequence, frame)
    columns = [[0.0] * 3 for _ in range(3)]
    columns[0][i] = 1.0
    columns[1][j], columns[1][k] = c, s
    columns[2][i], columns[2][j], columns[2][k] = p, -s * r, c * r
    if _check.is_body(frame):
        columns.reverse()
    return ew.join_matrix([list(row) for row in zip(*columns, strict=True)], like=c)


def rates_to_angular_velocity_derivative(
    angles: ArrayLike, rates: ArrayLike, sequence: str, frame: str = "world"
) -> Array:
    """Ė, the time derivative of `rates_to_angular_velocity`: ω̇ = E χ̈ + Ė χ̇, by component in `frame`.

    The columns of E are axes. In the world frame each turns with the turns before it, seen from the body each turns
    back with the turns after it; its rate is the cross product.

    Args:
        angles: χ = (α, β, γ) (..., 3), rad.
        rates: χ̇ (..., 3), rad/s.
        sequence: "zyx", "xyz", "zyz" or "zxz".
        frame: "world" or "body", the frame of ω.

    Returns:
        Ė (..., 3, 3), rad/s.
    """
    E = rates_to_angular_velocity(angles, sequence, frame)
    turns = E * _check.vector(rates, 3, "rates")[..., None, :]
    so_far = np.cumsum(turns, axis=-1)
    turning = so_far - np.sum(turns, axis=-1, keepdims=True) if _check.is_body(frame) else so_far - turns
    return np.cross(turning, E, axis=-2)


def angular_velocity_to_rates(angles: ArrayLike, sequence: str, frame: str = "world") -> Array:
    """E⁻¹ of (α̇, β̇, γ̇) = E⁻¹ ω (ETH 2.87, 2.89, 2.91, 2.93; in the body frame Kindr).

    At a singularity, where the first axis and the third coincide (|det E| < 1e-12), the pseudo-inverse of E is
    returned: the smallest rates that give what can be given of ω. The first and the third angle share the turn, and
    ω about the direction that no rate reaches is lost.

    Args:
        angles: (α, β, γ) (..., 3), rad.
        sequence: "zyx", "xyz", "zyz" or "zxz".
        frame: "world" or "body", the frame of ω.

    Returns:
        E⁻¹ (..., 3, 3).
    """
    (i, j, k, _, _), (c, s, p, r) = _geometry(angles, sequence, frame)
    singular = abs(r) < _SINGULAR
    share = ew.where(singular, 0.5, 1.0)
    inverse = ew.where(singular, 0.0, 1.0 / ew.where(singular, 1.0, r))
    rows = [[0.0] * 3 for _ in range(3)]
    # ω has the component α̇ + p γ̇ along i, and (β̇, r γ̇) along the second axis and the one across it in the j-k plane.
    rows[0][i], rows[0][j], rows[0][k] = share, p * s * inverse, -p * c * inverse
    rows[1][j], rows[1][k] = c, s
    rows[2][i], rows[2][j], rows[2][k] = ew.where(singular, 0.5 * p, 0.0), -s * inverse, c * inverse
    if _check.is_body(frame):
        rows.reverse()
    return ew.join_matrix(rows, like=c)


def _geometry(angles: ArrayLike, sequence: str, frame: str) -> tuple[_Axes, tuple[ew.Number, ...]]:
    """The axes, and what E is made of: cos α, ε sin α, and the third axis' components p along i and r across.

    ω in the body frame is minus ω of the inverse rotation in the world frame, C_third(-γ) C_second(-β) C_first(-α): the
    same E for the reversed sequence, with the order of its columns reversed.
    """
    a, b, c = ew.components(_check.vector(angles, 3, "angles"))
    if _check.is_body(frame):
        axes, a, b = _named(sequence, _REVERSED), -c, -b
    else:
        axes = _named(sequence, _FORWARD)
    e, cos_b, sin_b = axes.sign, ew.cos(b), axes.sign * ew.sin(b)
    p, r = (cos_b, -sin_b) if axes.proper else (sin_b, cos_b)
    return axes, (ew.cos(a), e * ew.sin(a), p, r)


def _named(sequence: str, table: dict[str, _Axes]) -> _Axes:
    if sequence not in table:
        raise unknown_name("Euler sequence", sequence, SEQUENCES)
    return table[sequence]
