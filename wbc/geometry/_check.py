"""Conversion of arguments to arrays of floats. All errors about wrong shapes and names are made here."""

from __future__ import annotations

from typing import Any

from wbc import arrays
from wbc.arrays import Array, ArrayLike
from wbc.errors import WbcError, unknown_name

FRAMES = ("world", "body")
"""The frames in which an angular velocity can be expressed."""


def numbers(value: ArrayLike, name: str) -> Array:
    """The argument `name` as an array of floats of any shape; not a copy where it is one already."""
    return arrays.numbers(value, name, copy=False)


def scalar(value: ArrayLike, name: str) -> Any:  # noqa: ANN401
    """The argument `name` as a float where it is one number, else as an array of floats."""
    array = numbers(value, name)
    return array if array.ndim else array.item()


def vector(value: ArrayLike, size: int, name: str) -> Array:
    """The argument `name` as an array (..., size)."""
    array = numbers(value, name)
    if array.shape[-1:] != (size,):
        raise WbcError(f"{name} has shape {array.shape}; expected ({size},) or a batch (..., {size})")
    return array


def matrix(value: ArrayLike, size: int, name: str) -> Array:
    """The argument `name` as an array (..., size, size)."""
    array = numbers(value, name)
    if array.shape[-2:] != (size, size):
        raise WbcError(f"{name} has shape {array.shape}; expected ({size}, {size}) or a batch (..., {size}, {size})")
    return array


def is_body(frame: str) -> bool:
    """True for "body", false for "world"; any other name is an error."""
    if frame not in FRAMES:
        raise unknown_name("frame", frame, FRAMES)
    return frame == "body"
