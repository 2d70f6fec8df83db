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
    bounds = [part for part in parts if part.force is not None and part.acceleration is None and part.torque is None]
    bounds = [part for part in bounds if not part.equation]
    if not bounds:
        return force
    rows = np.vstack([_matrix(part, tick) for part in bounds])
    lower = np.concatenate([part.lower for part in bounds])
    upper = np.concatenate([part.upper for part in bounds])
    nearly = NEARLY * (1.0 + float(np.abs(force).max(initial=0.0)))
    if _beyond(rows @ force, lower, upper) <= nearly:
        return force
    found = force.copy()
    for contact, ceiling in zip(tick.contacts, tick.ceilings, strict=True):
        at = tick.force_of(contact.name)
        if at is None:
            continue
        own = np.flatnonzero(rows[:, at].any(axis=1))
        inner = _inner(robot, contact, found[at], ceiling)
        share = _share(rows[own], lower[own], upper[own], found, at, inner, nearly)
        found[at] = inner + share * (found[at] - inner)
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
    most = min(contact.maximum, ceiling)
    size = float(np.clip(contact.normals(robot) @ force, min(contact.minimum, most), most))
    return size * contact.pressure(robot)


def _share(rows: Array, lower: Array, upper: Array, force: Array, at: slice, inner: Array, nearly: float) -> float:
    """How far from the inner force to its own a contact may go; 1 where the inner one breaks bounds itself."""
    rest = rows @ force - rows[:, at] @ force[at]
    start, end = rest + rows[:, at] @ inner, rest + rows[:, at] @ force[at]
    if _beyond(start, lower, upper) > nearly:
        return 1.0
    shares = np.ones(len(rows))
    np.divide(upper - start, end - start, out=shares, where=end > upper)
    np.divide(start - lower, start - end, out=shares, where=end < lower)
    return float(np.clip(shares, 0.0, 1.0).min(initial=1.0))
