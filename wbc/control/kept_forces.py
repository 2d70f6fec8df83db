"""Contact forces, brought inside their cones where a tick was cut short before they were."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wbc.arrays import Array
from wbc.contacts import Contact
from wbc.control.program import Part
from wbc.dynamics.base import Dynamics
from wbc.tasking.tick import Tick

NEARLY = 1e-10
"""A force beyond a bound by less than this share is within it."""


def forces_within(robot: Dynamics, tick: Tick, parts: Sequence[Part], force: Array) -> Array:
    """The forces of each contact, moved towards a normal force amid it until the bounds on forces hold.

    Where such a force keeps the bounds itself, all of them hold then: they are convex. A contact where it does not, for
    it slides say, is left as it is.

    Args:
        robot: in the state of the tick.
        tick: the moment.
        parts: the rows of the tasks; those that bound contact forces alone count.
        force: f, N and N m, shape (nf,).

    Returns:
        f, shape (nf,): the same array where nothing is beyond a bound.
    """
    bounds = [
        part
        for part in parts
        if part.force is not None and part.acceleration is None and part.torque is None and not part.equation
    ]
    if not bounds:
        return force
    rows, lower, upper = _matrix(bounds[0], tick), bounds[0].lower, bounds[0].upper
    if len(bounds) > 1:
        rows = np.vstack([_matrix(part, tick) for part in bounds])
        lower, upper = (np.concatenate([getattr(part, side) for part in bounds]) for side in ("lower", "upper"))
    value = rows @ force
    nearly = NEARLY * (1.0 + float(np.abs(force[: tick.layout.nc]).max(initial=0.0)))  # loops may have any
    if _beyond(value, lower, upper) <= nearly:
        return force
    inner, whose = force.copy(), np.zeros((len(force), len(tick.contacts)))
    for index, (contact, ceiling) in enumerate(zip(tick.contacts, tick.ceilings, strict=True)):
        at = tick.force_of(contact.name)
        inner[at], whose[at, index] = _inner(robot, contact, force[at], ceiling), 1.0
    start = rows @ inner
    share, change = np.ones(len(rows)), value - start
    np.divide(upper - start, change, out=share, where=(value > upper) & (change != 0.0))
    np.divide(lower - start, change, out=share, where=(value < lower) & (change != 0.0))
    outside = np.maximum(lower - start, start - upper) > nearly  # no share of this way mends that
    share = np.where(outside, 1.0, np.clip(share, 0.0, 1.0))
    of_each = np.where(np.abs(rows) @ whose > 0.0, share[:, None], 1.0).min(axis=0)
    for way in (whose @ of_each, np.full(len(force), of_each.min(initial=1.0))):  # rows may bound several contacts
        found: Array = inner + way * (force - inner)
        if _beyond(rows @ found, lower, upper) <= nearly:
            break
    return found


def _matrix(part: Part, tick: Tick) -> Array:
    """The columns of f, shape (rows, nf)."""
    assert part.force is not None
    if part.force.ndim == 2:
        return np.asarray(part.force, dtype=float)
    matrix = np.zeros((len(part.lower), tick.nf))
    matrix[np.arange(len(matrix)), part.force] = 1.0
    return matrix


def _beyond(value: Array, lower: Array, upper: Array) -> float:
    return float(np.maximum(lower - value, value - upper).max(initial=0.0))


def _inner(robot: Dynamics, contact: Contact, force: Array, ceiling: float) -> Array:
    """The normal force of a contact, amid it, and no less or more than it may be; shape (size,)."""
    pressure, most = contact.pressure(robot), min(contact.maximum, ceiling)
    size = float(contact.normals(robot) @ force)
    return min(max(size, min(contact.minimum, most)), most) * pressure
