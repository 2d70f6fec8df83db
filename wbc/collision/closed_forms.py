"""Nearest points in closed form, for many pairs at once: of segments, of segments and boxes.

A sphere is a segment of no length with a radius, a capsule a segment with one. The nearest points of two boxes are
those of the edges of one and the other box: one of the two has its point on an edge.
"""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array, IntArray

PARALLEL = 1e-12
"""Squared sines of angles below this are none."""


def dot(a: Array, b: Array) -> Array:
    """Of vectors, row by row, shape (n,)."""
    return np.asarray(np.einsum("...i,...i->...", a, b))


def segments(p0: Array, d0: Array, p1: Array, d1: Array) -> tuple[Array, Array]:
    """The nearest points of segments p + s d with s in [0, 1].

    Args:
        p0: start of the first ones, m, shape (n, 3).
        d0: from there to their end.
        p1: start of the second ones.
        d1: from there to their end.

    Returns:
        The points on the first and on the second ones, shape (n, 3) each.
    """
    r = p0 - p1
    a, b, e = dot(d0, d0), dot(d0, d1), dot(d1, d1)
    c, f = dot(d0, r), dot(d1, r)
    # shares of lengths that are zero are zero; of parallel ones, the middle of what lies side by side
    safe_a, safe_e = np.where(a > 0, a, 1.0), np.where(e > 0, e, 1.0)
    across = a * e - b * b
    slanted = across > PARALLEL * a * e
    ends = np.clip(np.stack([(-c) / safe_a, (b - c) / safe_a]), 0.0, 1.0)
    s = np.where(slanted, np.clip((b * f - c * e) / np.where(slanted, across, 1.0), 0.0, 1.0), ends.mean(axis=0))
    t = np.clip((b * s + f) / safe_e, 0.0, 1.0)
    s = np.where(slanted | (e == 0), np.clip((b * t - c) / safe_a, 0.0, 1.0), s)
    return p0 + s[:, None] * d0, p1 + t[:, None] * d1


def segments_and_boxes(p: Array, d: Array, half: Array) -> tuple[Array, Array]:
    """The nearest points of segments and boxes that lie apart, in the boxes' axes; the same point where they overlap.

    The way from the box to p + t d grows with t as a piecewise linear function says, whose pieces end where the segment
    passes the planes of the box's faces. Where the segment is parallel to a face: the middle of what is nearest.

    Args:
        p: start of the segments, m, shape (n, 3).
        d: from there to their end, shape (n, 3).
        half: of the edges of the boxes, shape (n, 3).

    Returns:
        The points on the segments and in the boxes, shape (n, 3) each.
    """
    count = len(p)
    moving = d != 0.0
    rate = np.where(moving, d, 1.0)
    ends = np.zeros((count, 8))
    ends[:, 1] = 1.0
    ends[:, 2:5] = np.where(moving, np.clip((half - p) / rate, 0.0, 1.0), 0.0)
    ends[:, 5:] = np.where(moving, np.clip((-half - p) / rate, 0.0, 1.0), 0.0)
    ends.sort(axis=1)
    at = p[:, None] + ends[:, :, None] * d[:, None]
    slope = np.einsum("nki,ni->nk", at - np.clip(at, -half[:, None], half[:, None]), d)
    tiny = 1e-14 * np.maximum(dot(d, d), 1e-300)[:, None]
    rows = np.arange(count)
    falling, rising = slope < -tiny, slope > tiny
    last = falling.sum(axis=1) - 1  # they come first
    first = 8 - rising.sum(axis=1)
    low = _crossing(ends, slope, last, rows)
    high = np.where(first > 7, 1.0, _crossing(ends, slope, np.maximum(first - 1, 0), rows))
    high = np.where(first == 0, 0.0, high)
    low = np.where(last < 0, 0.0, low)
    t = (low + np.maximum(high, low)) / 2
    on_segment = p + t[:, None] * d
    return on_segment, np.clip(on_segment, -half, half)


def _crossing(ends: Array, slope: Array, piece: IntArray, rows: IntArray) -> Array:
    """Where a slope is zero in the piece that begins at an index; at its end where it is zero there already."""
    start, stop = np.clip(piece, 0, 7), np.clip(piece + 1, 0, 7)
    y0, y1, t0, t1 = slope[rows, start], slope[rows, stop], ends[rows, start], ends[rows, stop]
    change = y1 - y0
    share = np.where(change > 0, -y0 / np.where(change > 0, change, 1.0), 1.0)
    return np.asarray(t0 + np.clip(share, 0.0, 1.0) * (t1 - t0))


def depths(p: Array, d: Array, half: Array) -> tuple[Array, Array, Array, Array]:
    """How deep segments are in boxes that they pass through, in the boxes' axes: by separating axes.

    Args:
        p: start of the segments, m, shape (n, 3).
        d: from there to their end, shape (n, 3).
        half: of the edges of the boxes, shape (n, 3).

    Returns:
        Distance (negative), shape (n,); normal from the segment to the box, and the points on both, shape (n, 3) each.
    """
    count = len(p)
    axes = np.zeros((count, 6, 3))
    axes[:, :3] = np.eye(3)
    axes[:, 3:] = np.cross(d[:, None], np.eye(3))
    size = np.linalg.norm(axes, axis=2)
    usable = size > 1e-9 * np.maximum(1.0, np.linalg.norm(d, axis=1))[:, None]
    axes /= np.where(usable, size, 1.0)[:, :, None]
    reach = np.einsum("nki,ni->nk", np.abs(axes), half)
    start, change = np.einsum("nki,ni->nk", axes, p), np.einsum("nki,ni->nk", axes, d)
    low, high = start + np.minimum(change, 0.0), start + np.maximum(change, 0.0)
    # how far apart they are along each axis, to either side of the box
    apart = np.stack([low - reach, -high - reach], axis=2)
    apart[~usable] = -np.inf
    best = apart.reshape(count, 12).argmax(axis=1)
    rows, axis, side = np.arange(count), best // 2, 1.0 - 2.0 * (best % 2)
    out = axes[rows, axis] * side[:, None]  # from the box to the segment
    distance = apart.reshape(count, 12)[rows, best]
    slope = dot(out, d)
    level = np.abs(slope) <= 1e-9 * np.maximum(np.linalg.norm(d, axis=1), 1e-9)
    t = np.where(level, 0.5, np.where(slope < 0, 1.0, 0.0))
    crossing = axis > 2
    if crossing.any():  # the nearest points of the segment's line and of the edge that it passes
        edge = np.eye(3)[axis[crossing] - 3]
        corner = np.where(edge > 0, 0.0, np.sign(out[crossing]) * half[crossing])
        across = d[crossing] * (1.0 - edge)
        t[crossing] = np.clip(dot(corner - p[crossing], across) / np.maximum(dot(across, across), 1e-300), 0.0, 1.0)
    on_segment = p + t[:, None] * d
    return distance, -out, on_segment, on_segment - distance[:, None] * out
