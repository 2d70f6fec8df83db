"""Collision avoidance: bodies keep apart from each other and from their surroundings."""

from __future__ import annotations

from collections.abc import Mapping
from warnings import warn

import numpy as np

from tasks.barrier import Heights, Kept
from wbc.arrays import Array, IntArray, MaskArray
from wbc.collision import CollisionGeometry, Horizon, Proximity, Rates
from wbc.contacts import Contact
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, WbcWarning, number, show
from wbc.tasking.rows import Rows
from wbc.tasking.tick import Tick

FREE = 0.065
"""Distance beyond the margin within which a pair at rest gets rows, m."""

FADE = 0.055
"""The last part of that distance, over which bounds are loosened until they have no effect: rows appear and vanish
without a jump, m."""

FLAT = 0.045
"""How far within the horizon a pair is when its corners are looked at as well, m."""

RAMP = 0.01
"""Over so much more, rows of corners come into force, m."""

SAME = 1e-7
"""The nearest points of a pair whose distance is that of a corner but for this need no row of their own, m."""

MOST_ROWS = 10_000
"""More than a solver could take in any time."""


class CollisionAvoidance(Kept):
    """Keeps the shapes of the robot apart from each other and from those of the world, by a margin.

    For each pair that may soon be too near, a row n·(J₂ − J₁) v̇ ≥ −a − drift: J₁ and J₂ the Jacobians of the nearest
    points, n the normal between them, and the drift with the motion of both. Where two shapes lie nearly flat on each
    other, their corners have rows of their own: the nearest points jump, the corners do not. The approach of two shapes
    is bounded as for `JointLimits`: it can always be stopped at `braking`.

    The number of rows is fixed. Where more pairs are near than there are rows, the nearest have them; rows that are not
    needed bound nothing.

    Args:
        geometry: shapes and pairs of the controller's robot; it may be changed while the controller runs. Or a robot:
            the shapes of its file are used.
        margin: kept between all pairs, m; by parts of the robot that are never so far apart, half of their least
            distance.
        speed: greatest speed at which a near pair may approach, m/s.
        braking: deceleration of that approach, m/s²: what the robot can do in all its states.
        rows: how many there are; None: three for each pair, 60 at the most.
        return_hz: frequency of the critically damped motion that separates a pair within its margin, Hz.
        approach: time constant with which a pair approaches the speed from which it can still be stopped, s.
        greatest: greatest acceleration that is ever demanded, m/s²; None: ten times `braking`.
        name: see `Task`.
        weight: see `Task`.
    """

    def __init__(
        self,
        geometry: CollisionGeometry | Dynamics,
        margin: float = 0.02,
        speed: float = 1.5,
        braking: float = 5.0,
        *,
        rows: int | None = None,
        return_hz: float = 3.0,
        approach: float = 0.05,
        greatest: float | None = None,
        name: str = "collision avoidance",
        weight: float = 1.0,
    ) -> None:
        super().__init__(speed, braking, return_hz, approach, greatest, 1e-3, name, weight)
        if isinstance(geometry, Dynamics):
            geometry = CollisionGeometry(geometry)
        if not isinstance(geometry, CollisionGeometry):
            raise WbcError(f"{name}: give a wbc.CollisionGeometry or a robot, not {show(geometry)}")
        self.geometry = geometry
        self.margin = number(margin, f"{name}: margin", high=10.0)
        if rows is not None and (not isinstance(rows, int) or isinstance(rows, bool) or not 1 <= rows <= MOST_ROWS):
            raise WbcError(f"{name}: rows = {show(rows)} must be a number of rows, 1 to {MOST_ROWS}")
        self._most = rows
        self._proximity = Proximity(geometry)
        self._horizon = Horizon(self.margin + FREE, 2.0 * self.stopping.approach, self.braking, FLAT)
        self._seen: tuple[int, int, float, Rates] | None = None
        self._whose: Dynamics | None = None
        self._margins: tuple[int, float, Array] | None = None

    @property
    def count(self) -> int:
        """How many rows there are."""
        return max(1, min(60, 3 * len(self.geometry.pairs))) if self._most is None else self._most

    def look(self, robot: Dynamics, tick: Tick) -> Rates:
        """The pairs that may soon be too near, of the present state; looked at once.

        Args:
            robot: updated.
            tick: the time.
        """
        known = self._seen
        stamp = robot.updates, self.geometry.version, tick.time
        if known is None or self._whose is not robot or known[:3] != stamp or self.geometry.moved:
            known = self._seen = *stamp, self._proximity.look(robot, self._horizon)
            self._whose = robot
        return known[3]

    def heights(self, robot: Dynamics, tick: Tick) -> Heights:
        """See `Kept`: of the pairs that may soon be too near, which are not as many in every state."""
        seen = self.look(robot, tick)
        return Heights(seen.distance - self._margin_of(seen), seen.jacobian, seen.rate, seen.drift)

    def margins(self) -> Array:
        """The margin of each pair, m: less than `margin` for parts of the robot that are never so far apart."""
        known, wanted = self._margins, (self.geometry.version, self.margin)
        if known is None or known[:2] != wanted:
            known = self._margins = *wanted, self.geometry.room(self.margin)
        return known[2]

    def _margin_of(self, seen: Rates) -> Array:
        """The margin of each row, m."""
        return self.margins()[seen.key // self._proximity.per_pair]

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`."""
        seen, count = self.look(robot, tick), self.count
        A, lower = np.zeros((count, robot.nv)), np.full(count, -np.inf)
        if len(seen.key):
            h = self.heights(robot, tick)
            bound = self._bounds(seen, h.value, tick.period)
            chosen, slots = _slots(seen, bound, count)
            h = Heights(*[part[chosen] for part in h])
            A[slots], lower[slots] = h.jacobian, self._least(h, bound[chosen], tick.period)
        return Rows(lower, np.full(count, np.inf), acceleration=A)

    def _bounds(self, seen: Rates, height: Array, period: float) -> Array:
        """How hard each distance may be accelerated to fall; infinite where it is beyond the horizon."""
        most = self.stopping.most(height, -seen.rate, self.speed, period)
        left = self._horizon.reach(-seen.rate) - seen.distance
        loose = np.maximum(FADE - left, 0.0) / np.maximum(left, 1e-9)
        points = seen.key % self._proximity.per_pair
        corner = points > 0
        if corner.any():
            late = seen.inside[corner] - FLAT
            loose[corner] += np.maximum(RAMP - late, 0.0) / np.maximum(late, 1e-9)
            loose[self._doubled(seen, corner)] = np.inf
        loose[left <= 0.0] = np.inf
        return np.asarray(most + self.braking * loose)

    def _doubled(self, seen: Rates, corner: MaskArray) -> IntArray:
        """Pairs well within the horizon whose nearest points are at a corner, which has a row of its own."""
        pair = seen.key // self._proximity.per_pair
        mains = np.flatnonzero(~corner & (seen.inside > FLAT + RAMP) & self._proximity.exact[pair])
        nearest = np.full(int(pair.max()) + 1, np.inf)
        np.minimum.at(nearest, pair[corner], seen.distance[corner])
        found: IntArray = mains[nearest[pair[mains]] <= seen.distance[mains] + SAME]
        return found

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        seen, names = self.look(robot, tick), ["no pair near"] * self.count
        if len(seen.key):
            chosen, slots = _slots(seen, self._bounds(seen, self.heights(robot, tick).value, tick.period), self.count)
            for slot, pair in zip(slots.tolist(), self._proximity.names(seen.key[chosen]), strict=True):
                names[slot] = pair
        return names

    def error(self, robot: Dynamics, tick: Tick) -> Array:
        """See `Task`: how far the nearest pair is within the margin, m."""
        value = self.heights(robot, tick).value
        return np.array([max(-float(value.min(initial=0.0)), 0.0)])

    def remarks(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        seen = self.look(robot, tick)
        found = []
        margin = self._margin_of(seen)
        near = np.flatnonzero((seen.distance < margin) & (seen.key % self._proximity.per_pair == 0))
        for row, pair in zip(near.tolist(), self._proximity.names(seen.key[near]), strict=True):
            d = seen.distance[row]
            state = f"overlap by {-d * 1e3:.3g} mm" if d < 0 else f"are {d * 1e3:.3g} mm apart"
            found.append(f"{pair} {state}, within the margin of {margin[row] * 1e3:.3g} mm, and are moved apart")
        return found

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        for solid in self.geometry.solids.values():
            if solid.body not in robot.frames:
                raise WbcError(
                    f"{self.name}: shape {solid.name!r} is on {solid.body!r}, which "
                    f"{robot.model.name!r} does not have: make the geometry of the controller's robot"
                )
        if not self.geometry.pairs:
            raise WbcError(f"{self.name}: its geometry has no pairs: {robot.model.name!r} has no shapes that can meet")
        margins = self.margins()
        tight = np.flatnonzero(margins < self.margin).tolist()
        if tight:
            told = [f"{' and '.join(self.geometry.pairs[k])} (now {1e3 * margins[k]:.2g} mm)" for k in tight[:3]]
            more = f" and {len(tight) - 3} more pairs" if len(tight) > 3 else ""
            warn(
                f"{self.name}: parts that are never {1e3 * self.margin:.3g} mm apart keep half of what they have: "
                f"{', '.join(told)}{more}",
                WbcWarning,
                stacklevel=2,
            )

    @property
    def purpose(self) -> str:
        """See `Task`."""
        return f"{len(self.geometry.pairs)} pairs of shapes stay {self.margin:g} m apart"


def _slots(seen: Rates, bound: Array, count: int) -> tuple[IntArray, IntArray]:
    """Which of what is seen has a row, and which row: most often the same one in the next tick.

    A row is the number of the pair and point modulo the rows, or the next one that is free: a solver that begins with
    what was active in the tick before finds it in its place.
    """
    chosen = np.flatnonzero(np.isfinite(bound))
    if len(chosen) > count:
        chosen = np.sort(chosen[np.argsort(bound[chosen], kind="stable")[:count]])
    wanted = (seen.key[chosen] * 7 % count).tolist()
    taken: set[int] = set()
    for k, slot in enumerate(wanted):
        while slot in taken:
            slot = (slot + 1) % count
        taken.add(slot)
        wanted[k] = slot
    return chosen, np.array(wanted, dtype=np.intp)
