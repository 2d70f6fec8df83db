"""The feedback law of a task with a target: the right-hand side of its rows."""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array
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
) -> Array:
    """Acceleration − bias + kd (rate − J v) + kp (wanted − place), shape (rows,): what J v̇ is to be.

    What is not given is zero, and J one. It takes one call of the kernel, where there is one.

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
    """
    if kernel is not None:
        found = np.empty(len(v) if J is None else len(J))
        try:
            kernel.law(found, acceleration, bias, rate, J, v, kd, wanted, place, kp)
            return found
        except (TypeError, ValueError, BufferError):
            pass  # some array is of another layout or type
    off = np.multiply(kd, -(v if J is None else J.dot(v)) if rate is None else rate - (v if J is None else J.dot(v)))
    if acceleration is not None:
        off = off + acceleration
    if bias is not None:
        off = off - bias
    if wanted is not None:
        off = off + kp * (wanted if place is None else wanted - place)
    elif place is not None:
        off = off - kp * place
    return np.asarray(off, dtype=float)
