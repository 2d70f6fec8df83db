"""Any parameterisation of a rotation into any other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from wbc.arrays import Array, ArrayLike
from wbc.errors import unknown_name
from wbc.geometry import _check, angle_axis, euler, quaternion, rotation_vector

_Map: TypeAlias = Callable[[ArrayLike], Array]


def _rotation_matrix(R: ArrayLike) -> Array:
    return _check.matrix(R, 3, "R").copy()


def _quaternion(q: ArrayLike) -> Array:
    return _check.vector(q, 4, "q").copy()


_TO_MATRIX: dict[str, _Map] = {
    "matrix": _rotation_matrix,
    "quaternion": quaternion.to_matrix,
    "angle-axis": angle_axis.to_matrix,
    "rotation-vector": rotation_vector.to_matrix,
    **{f"euler-{name}": partial(euler.to_matrix, sequence=name) for name in euler.SEQUENCES},
}
_FROM_MATRIX: dict[str, _Map] = {
    "matrix": _rotation_matrix,
    "quaternion": quaternion.from_matrix,
    "angle-axis": angle_axis.from_matrix,
    "rotation-vector": rotation_vector.from_matrix,
    **{f"euler-{name}": partial(euler.from_matrix, sequence=name) for name in euler.SEQUENCES},
}
# Among these three a matrix between would drown a component that is small beside the others.
_TO_QUATERNION: dict[str, _Map] = {
    "quaternion": _quaternion,
    "angle-axis": angle_axis.to_quaternion,
    "rotation-vector": rotation_vector.to_quaternion,
}
_FROM_QUATERNION: dict[str, _Map] = {
    "quaternion": _quaternion,
    "angle-axis": angle_axis.from_quaternion,
    "rotation-vector": rotation_vector.from_quaternion,
}

PARAMETERISATIONS = tuple(_TO_MATRIX)
"""The names that `convert` takes."""


def convert(value: ArrayLike, source: str, target: str) -> Array:
    """A rotation in another parameterisation.

    What is returned where the target has more than one answer stands in its module: at the half turn of a quaternion,
    rotation vector or angle and axis, at the singularities of Euler angles. Source and target may be the same: then
    the rotation is brought into the target's ranges, but a matrix or quaternion is copied as it is.

    Args:
        value: the rotation, (..., 3, 3) for "matrix", (..., 4) for "quaternion" and "angle-axis", else (..., 3); rad.
        source: the parameterisation of `value`: "matrix", "quaternion", "angle-axis", "rotation-vector", "euler-zyx",
            "euler-xyz", "euler-zyz" or "euler-zxz".
        target: the parameterisation to return, one of the same names.

    Returns:
        The rotation in the parameterisation `target`, a new array.
    """
    for name in (source, target):
        if name not in _TO_MATRIX:
            raise unknown_name("parameterisation", name, PARAMETERISATIONS)
    if source in _TO_QUATERNION and target in _TO_QUATERNION:
        return _FROM_QUATERNION[target](_TO_QUATERNION[source](value))
    return _FROM_MATRIX[target](_TO_MATRIX[source](value))
