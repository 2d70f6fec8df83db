"""The feedback law of a task with a target: the right-hand side of its rows."""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array, IntArray
from wbc.compiled import kernel


def law(
    *,
    v: Array,
    kd: float | Array,
    kp: float | Array,
    J: Array | None = None,
    bias: Array | None = None,
    place: Array | None = None,
    wanted: Array | None = None,
    rate: Array | None = None,
    acceleration: Array | None = None,
    speed: float | None = None,
    groups: IntArray | None = None,
) -> Array:
    """Acceleration − bias + kd (rate − J v) + kp (wanted − place), shape (rows,): what J v̇ is to be.

    What is not given is zero, and J one. It takes one call of the kernel, where there is one. With a speed, the demand
    kp (wanted − place) is bounded: see `approach`.

    Args:
        v: velocities, shape (nv,); with no J shape (rows,).
        kd: gain, 1/s, or one a row.
        kp: gain, 1/s², or one a row.
        J: shape (rows, nv).
        bias: J̇ v, shape (rows,).
        place: where it is, shape (rows,).
        wanted: where it is to be, shape (rows,).
        rate: how fast it is to move, shape (rows,).
        acceleration: feed-forward, shape (rows,).
        speed: see `Gains`; None: any.
        groups: see `approach`.
    """
    if kernel is not None:
        found = np.empty(len(v) if J is None else len(J))
        try:
            if speed is None:
                kernel.law(found, acceleration, bias, rate, J, v, kd, wanted, place, kp)
            else:
                kernel.law(found, acceleration, bias, rate, J, v, kd, wanted, place, kp, speed, groups)
            return found
        except (TypeError, ValueError, BufferError):
            pass  # some array is of another layout or type
    off = np.multiply(kd, -(v if J is None else J.dot(v)) if rate is None else rate - (v if J is None else J.dot(v)))
    if acceleration is not None:
        off = off + acceleration
    if bias is not None:
        off = off - bias
    if wanted is not None:
        demand = np.multiply(kp, wanted if place is None else wanted - place)
    elif place is not None:
        demand = np.multiply(kp, -place)
    else:
        return np.asarray(off, dtype=float)
    if speed is not None:
        demand = demand * approach(demand, kd, speed, groups)
    return np.asarray(off + demand, dtype=float)


def approach(demand: Array, kd: float | Array, speed: float, groups: IntArray | None = None) -> Array:
    """Factor of each row's demand kp · error, min(1, 1 / |demand / (kd speed)|), shape (rows,); below 1 it is bounded.

    Args:
        demand: kp · error, m/s² or rad/s², shape (rows,).
        kd: gain, 1/s, or one a row.
        speed: m/s or rad/s.
        groups: a number for each row, shape (rows,): rows of one number are bounded together, by their norm; None: each
            by itself.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(demand == 0.0, 0.0, np.abs(demand) / np.multiply(kd, speed))
    if groups is not None:
        size = np.sqrt(np.where(groups[:, None] == groups, size * size, 0.0).sum(axis=1))
    return np.asarray(1.0 / np.maximum(size, 1.0))
