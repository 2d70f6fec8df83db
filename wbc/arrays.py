"""The array types of the annotations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from wbc.errors import WbcError, show

if TYPE_CHECKING:
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[np.float64]
    """An array of floats; its shape, unit and frame are in the docstring of the function that takes or returns it."""

    IntArray: TypeAlias = npt.NDArray[np.intp]
    """An array of indices."""

    SideArray: TypeAlias = npt.NDArray[np.int8]
    """An array of sides: -1 lower, +1 upper, 0 neither."""

    MaskArray: TypeAlias = npt.NDArray[np.bool_]
    """An array of booleans."""

    ArrayLike: TypeAlias = npt.ArrayLike
    """Anything that numpy turns into an array."""
else:  # numpy.typing takes a twentieth of the time that importing wbc takes
    Array = IntArray = SideArray = MaskArray = np.ndarray
    ArrayLike = object


FLOAT = np.dtype(float)


def numbers(values: object, what: str, *, copy: bool = True) -> Array:
    """An array of real numbers from user input: the one place that converts and checks it.

    Args:
        values: whatever was given.
        what: it is, as it begins the error.
        copy: False: not a copy, where it is an array of numbers already.

    Raises:
        WbcError: it is not an array of numbers, or it is complex or masked, so that something would be lost.
    """
    if type(values) is np.ndarray and values.dtype is FLOAT:
        return values.copy() if copy else values
    try:
        given = np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        raise WbcError(f"{what} = {show(values)} is not an array of numbers") from None
    if given.dtype.kind not in "fiub":
        if given.dtype.kind == "c":
            raise WbcError(f"{what} = {show(values)} is complex; give real numbers, such as its .real")
        hint = "; its entries are objects: give its .astype(float)" if isinstance(values, np.ndarray) else ""
        raise WbcError(f"{what} = {show(values)} is not an array of numbers{hint}")
    if isinstance(values, np.ma.MaskedArray):
        raise WbcError(f"{what} = {show(values)} is a masked array; give a plain array, such as its .data")
    return np.array(given, dtype=float) if copy else np.asarray(given, dtype=float)


def finite(values: Array) -> bool:
    """Whether all numbers are finite: np.isfinite(values).all() takes four times as long on few of them."""
    flat = values.ravel()
    return math.isfinite(flat.dot(flat)) or bool(np.isfinite(values).all())  # squares of finite ones may not be


def cross(a: Array, b: Array) -> Array:
    """The product a × b of two vectors, shape (3,); np.cross takes ten times as long on one pair."""
    a0, a1, a2 = a.tolist()
    b0, b1, b2 = b.tolist()
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def as_slice(indices: IntArray) -> slice | IntArray:
    """Indices as a slice, where they are consecutive or none: what it picks is then a view, not a copy."""
    if not len(indices):
        return slice(0, 0)
    if (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices
