"""Differences between desired and measured poses."""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array
from wbc.compiled import kernel
from wbc.geometry import so3


def pose_error(desired: Array, measured: Array) -> Array:
    """As `pose_errors`, for one pose.

    Args:
        desired: homogeneous transform, shape (4, 4).
        measured: shape (4, 4).

    Returns:
        Shape (6,), m and rad.
    """
    if kernel is None:
        return pose_errors(desired[None], measured[None])
    error = np.empty(6)
    kernel.pose_errors(np.ascontiguousarray(desired), np.ascontiguousarray(measured), error)
    return error


def pose_errors(desired: Array, measured: Array) -> Array:
    """Desired minus measured for several poses: positions, and log(R_desired R_measuredᵀ) (ETH 2.251).

    Args:
        desired: homogeneous transforms, shape (n, 4, 4).
        measured: shape (n, 4, 4).

    Returns:
        Shape (6 n,): for each pose the difference of positions, m, and the rotation vector, rad, in the world's axes.
    """
    count = len(measured)
    errors = np.empty(6 * count)
    if kernel is not None:
        kernel.pose_errors(desired, measured, errors)
        return errors
    parts = errors.reshape(count, 6)
    parts[:, :3] = desired[:, :3, 3] - measured[:, :3, 3]
    if count:
        parts[:, 3:] = so3.log(desired[:, :3, :3] @ np.swapaxes(measured[:, :3, :3], 1, 2))
    return errors
