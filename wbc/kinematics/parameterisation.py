"""End-effector coordinates χ = (χ_P, χ_R), and their analytical Jacobians (ETH 2.8.2–2.8.6).

Coordinates have names: "cartesian", "cylindrical" or "spherical" for the position, and for the rotation any name of
`wbc.geometry.convert`, of which "matrix" stands for the nine entries of R, row by row. The twist w of a frame (mixed:
linear, angular, world axes) and the rates of its coordinates are tied by w = E(χ) χ̇ (ETH 2.191), hence J₀ = E J_A
(ETH 2.192), J_A = E⁻¹ J₀.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, show, unknown_name
from wbc.geometry import angle_axis, convert, euler, position, quaternion, rotation_vector, so3

_Map = Callable[[ArrayLike], Array]


class _Kind(NamedTuple):
    """How one kind of coordinates is read and how its rates map."""

    size: int
    read: _Map  # from a position, or a rotation matrix
    to_velocity: _Map  # E
    to_rates: _Map  # E⁻¹


def _constant(matrix: Array) -> _Map:
    return lambda _: matrix.copy()


def _matrix_to_velocity(chi: ArrayLike) -> Array:
    """E of ω = E vec(Ċ): Ċ = ω× C, hence ω = ½ Σ cₖ × ċₖ over the columns of C (ETH 2.72)."""
    columns = np.reshape(numbers(chi, "chi"), (3, 3)).T
    E = np.empty((3, 3, 3))  # ω, row of C, column of C
    for k, c in enumerate(columns):
        E[:, :, k] = 0.5 * so3.skew(c)
    return E.reshape(3, 9)


def _matrix_to_rates(chi: ArrayLike) -> Array:
    """E⁻¹ of vec(Ċ) = E⁻¹ ω: ċₖ = ω × cₖ."""
    columns = np.reshape(numbers(chi, "chi"), (3, 3)).T
    E = np.empty((3, 3, 3))  # row of C, column of C, ω
    for k, c in enumerate(columns):
        E[:, k] = -so3.skew(c)
    return E.reshape(9, 3)


_POSITIONS: dict[str, _Kind] = {
    "cartesian": _Kind(3, partial(numbers, what="r"), _constant(np.eye(3)), _constant(np.eye(3))),
    "cylindrical": _Kind(
        3,
        position.cartesian_to_cylindrical,
        position.cylindrical_rates_to_velocity,
        position.velocity_to_cylindrical_rates,
    ),
    "spherical": _Kind(
        3, position.cartesian_to_spherical, position.spherical_rates_to_velocity, position.velocity_to_spherical_rates
    ),
}
_ROTATIONS: dict[str, _Kind] = {
    "matrix": _Kind(9, lambda R: numbers(R, "R").reshape(9), _matrix_to_velocity, _matrix_to_rates),
    **{
        name: _Kind(size, partial(convert, source="matrix", target=name), E, inverse)
        for name, size, E, inverse in (
            ("quaternion", 4, quaternion.rates_to_angular_velocity, quaternion.angular_velocity_to_rates),
            ("angle-axis", 4, angle_axis.rates_to_angular_velocity, angle_axis.angular_velocity_to_rates),
            (
                "rotation-vector",
                3,
                rotation_vector.rates_to_angular_velocity,
                rotation_vector.angular_velocity_to_rates,
            ),
        )
    },
    **{
        f"euler-{name}": _Kind(
            3,
            partial(convert, source="matrix", target=f"euler-{name}"),
            partial(euler.rates_to_angular_velocity, sequence=name),
            partial(euler.angular_velocity_to_rates, sequence=name),
        )
        for name in euler.SEQUENCES
    },
}
POSITIONS, ROTATIONS = tuple(_POSITIONS), tuple(_ROTATIONS)
"""The names of the coordinates."""


def end_effector_coordinates(pose: ArrayLike, position: str = "cartesian", rotation: str = "rotation-vector") -> Array:
    """χ = (χ_P, χ_R) of a pose (ETH 2.133, 2.134); of `robot.pose(frame)` it is the forward kinematics (ETH 2.137).

    Args:
        pose: shape (4, 4).
        position: "cartesian", "cylindrical" or "spherical".
        rotation: a name of `wbc.geometry.convert`.

    Returns:
        Shape (m,), m and rad: 3 for the position, and 3, 4 or 9 for the rotation.
    """
    first, second = _kinds(position, rotation)
    T = numbers(pose, "pose")
    if T.shape != (4, 4) or not np.isfinite(T).all():
        raise WbcError(f"pose must be finite, of shape (4, 4), not {show(pose)}")
    return np.concatenate([first.read(T[:3, 3]), second.read(T[:3, :3])])


def rates_to_twist(chi: ArrayLike, position: str = "cartesian", rotation: str = "rotation-vector") -> Array:
    """E_e of w = E_e χ̇ (ETH 2.191): diag(E_P, E_R), shape (6, m); the arguments are those of `twist_to_rates`."""
    return _maps(chi, position, rotation, inverse=False)


def twist_to_rates(chi: ArrayLike, position: str = "cartesian", rotation: str = "rotation-vector") -> Array:
    """E_e⁻¹ of χ̇ = E_e⁻¹ w (ETH 2.191), and its pseudo-inverse where the coordinates are singular.

    Args:
        chi: χ, shape (m,), as `end_effector_coordinates` gives it.
        position: "cartesian", "cylindrical" or "spherical".
        rotation: a name of `wbc.geometry.convert`.

    Returns:
        Shape (m, 6).
    """
    return _maps(chi, position, rotation, inverse=True)


def analytical_jacobian(
    robot: Dynamics, frame: str, position: str = "cartesian", rotation: str = "rotation-vector"
) -> Array:
    """J_A of χ̇ = J_A v (ETH 2.147, 2.148, 2.189), from the geometric Jacobian: J_A = E_e⁻¹ J₀ (ETH 2.192).

    With a floating base its columns belong to `v`, not to the rates of `q`.

    Args:
        robot: updated.
        frame: its name.
        position: "cartesian", "cylindrical" or "spherical".
        rotation: a name of `wbc.geometry.convert`.

    Returns:
        Shape (m, nv).
    """
    chi = end_effector_coordinates(robot.pose(frame), position, rotation)
    analytical: Array = twist_to_rates(chi, position, rotation) @ robot.jacobian(frame)
    return analytical


def _kinds(position: str, rotation: str) -> tuple[_Kind, _Kind]:
    if position not in _POSITIONS:
        raise unknown_name("position coordinates", position, POSITIONS)
    if rotation not in _ROTATIONS:
        raise unknown_name("rotation coordinates", rotation, ROTATIONS)
    return _POSITIONS[position], _ROTATIONS[rotation]


def _maps(chi: ArrayLike, position: str, rotation: str, inverse: bool) -> Array:
    first, second = _kinds(position, rotation)
    given = numbers(chi, "chi")
    m = first.size + second.size
    if given.shape != (m,) or not np.isfinite(given).all():
        raise WbcError(f"chi must be {m} finite numbers for {position} and {rotation} coordinates, not {show(chi)}")
    blocks = (
        (first.to_rates(given[:3]), second.to_rates(given[3:]))
        if inverse
        else (first.to_velocity(given[:3]), second.to_velocity(given[3:]))
    )
    E = np.zeros((m, 6) if inverse else (6, m))
    E[:3, :3] = blocks[0]
    E[3:, 3:] = blocks[1]
    return E
