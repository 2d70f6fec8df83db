"""How the distances of a robot's pairs change: with Jacobians, and with the drift of the moving normals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wbc.arrays import Array, IntArray, MaskArray
from wbc.collision.engine import Witnesses
from wbc.collision.features import PER_PAIR, features, shape_of
from wbc.collision.geometry import CollisionGeometry
from wbc.compiled import kernel
from wbc.copies import Independent
from wbc.dynamics.base import Dynamics

STEP = 2e-4
"""Time over which drifts are looked at, s."""

JUMP = 0.01
"""Nearest points that move so far on their bodies while a drift is looked at are others, m."""

_DIAGONAL = np.arange(3)


class Rates(NamedTuple):
    """Distances that are small, and how they change: d' = J v + rate of what moves by itself; d'' = J v̇ + drift.

    Attributes:
        distance: m, shape (n,).
        jacobian: shape (n, nv).
        rate: d', m/s, shape (n,), with what moves by itself.
        drift: d'' when v̇ is zero, m/s², shape (n,).
        key: which pair, and which points of it: pair · `PER_PAIR` + a number, 0 for the nearest points, shape (n,).
        inside: how far the pair is within the horizon, m, shape (n,).
        witnesses: the points themselves.
    """

    distance: Array
    jacobian: Array
    rate: Array
    drift: Array
    key: IntArray
    inside: Array
    witnesses: Witnesses


class Horizon(NamedTuple):
    """How near a pair has to be to be looked at closely: the nearer it is, and the faster it comes.

    Attributes:
        base: m, for what is at rest.
        time: m more for each m/s at which it comes nearer, s.
        braking: with which it can be stopped, m/s².
        flat: how far within the horizon a pair has to be to be looked at by its corners as well, m.
    """

    base: float
    time: float = 0.0
    braking: float = 1e12
    flat: float = 0.0

    def reach(self, closing: Array) -> Array:
        """For speeds at which pairs come nearer, m/s; those that part are at rest."""
        speed = np.maximum(closing, 0.0)
        found: Array = self.base + speed * (self.time + speed * (0.5 / self.braking))
        return found


class Proximity(Independent):
    """Looks at the pairs of a geometry tick by tick. Only those that may be near are looked at closely.

    Args:
        geometry: shapes and pairs; it may change.

    Attributes:
        exact: by pair, whether corners and edges are those of the shapes: those of cylinders only lie on them now.
    """

    def __init__(self, geometry: CollisionGeometry) -> None:
        self.geometry = geometry
        self._version = -1
        self.per_pair = PER_PAIR

    def _lay_out(self) -> None:
        """What stays the same until shapes or pairs change."""
        geometry = self.geometry
        solids = list(geometry.solids.values())
        self._solids, self._shapes = solids, tuple(map(shape_of, solids))
        self.pairs = geometry.pairs
        self._first, self._second = geometry.indices()
        self._bodies = tuple(dict.fromkeys(solid.body for solid in solids))
        self._on = np.array([self._bodies.index(solid.body) for solid in solids], dtype=np.intp)
        self._local = np.array([solid.pose for solid in solids]).reshape(-1, 4, 4)
        planes = np.array([solid.kind == "plane" for solid in solids], dtype=bool)
        self._is_plane = planes.astype(np.int8)
        radii = np.array([0.0 if plane else solid.radius for plane, solid in zip(planes, solids, strict=True)])
        self._radii = radii
        self._reach = radii[self._first] + radii[self._second]
        over = np.flatnonzero(planes[self._first] | planes[self._second])
        plane_first = planes[self._first[over]]
        self._over = over
        self._planes = np.where(plane_first, self._first[over], self._second[over])
        self._above = np.where(plane_first, self._second[over], self._first[over])
        self._order = {solid.name: number for number, solid in enumerate(solids)}
        cornered = np.array([solid.kind in ("box", "capsule", "cylinder", "convex") for solid in solids], dtype=bool)
        round_ = np.array([solid.kind == "sphere" for solid in solids], dtype=bool)
        # a ball's nearest points never jump
        self._cornered = (cornered[self._first] | cornered[self._second]) & ~(
            round_[self._first] | round_[self._second]
        )
        self._cornered = self._cornered.tolist()
        curved = np.array([solid.kind == "cylinder" for solid in solids], dtype=bool)
        self.exact = ~(curved[self._first] | curved[self._second])
        self._version = geometry.version

    def look(self, robot: Dynamics, horizon: Horizon, step: float = STEP) -> Rates:
        """The pairs that may soon be too near, and how their distances change.

        Args:
            robot: updated.
            horizon: says how near is too near.
            step: time over which drifts are looked at, s.
        """
        if self._version != self.geometry.version:
            self._lay_out()
        motion = robot.frames_motion(self._bodies)
        count, on = len(self._bodies), self._on
        body_poses, V = motion.poses[on], motion.velocity.reshape(count, 6)[on]
        poses, origins = body_poses @ self._local, body_poses[:, :3, 3].copy()
        for name, (pose, twist) in self.geometry.moved.items():
            number = self._order[name]
            poses[number], V[number], origins[number] = pose, twist, pose[:3, 3]
        pair, within = self._close(poses, origins, V, horizon)
        one, other = self._first[pair], self._second[pair]
        engine = self.geometry.engine
        seen = engine.measure(poses, one, other, within)
        kept = np.flatnonzero(seen.distance < within)
        pair, one, other = pair[kept], one[kept], other[kept]
        seen = Witnesses(*[part[kept] for part in seen])
        rate = _closing(seen, one, other, V, origins)
        inside = horizon.reach(-rate) - seen.distance
        kept = np.flatnonzero(inside > 0.0)
        if len(kept) < len(pair):
            pair, one, other, inside = pair[kept], one[kept], other[kept], inside[kept]
            seen = Witnesses(*[part[kept] for part in seen])
        key, mains = pair * PER_PAIR, (one, other)
        if not len(pair):
            return Rates(seen.distance, np.zeros((0, robot.nv)), rate[:0], rate[:0], key, inside, seen)
        flat = [row for row in np.flatnonzero(inside > horizon.flat).tolist() if self._cornered[pair[row]]]
        found = None
        if flat:
            which = pair[flat], one[flat], other[flat]
            found = features(self._solids, self._shapes, poses, which, seen.normal[flat])
        if found is not None:
            seen = seen.and_also(found.measure(engine, poses))
            key = np.concatenate([key, found.keys])
            within_pair = np.empty(len(self.pairs))
            within_pair[pair] = inside
            inside = within_pair[key // PER_PAIR]
            one, other = np.concatenate([one, found.first]), np.concatenate([other, found.second])
        # the same a moment later, with v̇ zero
        bias = motion.bias.reshape(count, 6)[on]
        later, V_later, origins_later, turn = _carried(poses, origins, V, bias, step)
        again = engine.measure(later, *mains)
        if found is not None:
            again = again.and_also(found.carried(poses, later, turn).measure(engine, later))
        J = motion.jacobian.reshape(count, 6, robot.nv)
        now, then = (seen, V, origins), (again, V_later, origins_later)
        rate, drift, rows = _rates(now, then, one, other, on, J, step)
        hard = np.flatnonzero(drift[: len(mains[0])] < -horizon.braking)
        if len(hard):  # nearest points go from corner to corner of a fine mesh: the rate has a step there, and no slope
            next_poses, V_next, origins_next, _ = _carried(poses, origins, V, bias, 2.0 * step)
            further = _closing(
                engine.measure(next_poses, one[hard], other[hard]), one[hard], other[hard], V_next, origins_next
            )
            slope = (further - rate[hard]) / step - drift[hard]
            drift[hard] = np.clip(slope, drift[hard], 0.0)
        return Rates(seen.distance, rows, rate, drift, key, inside, seen)

    def _close(self, poses: Array, origins: Array, V: Array, horizon: Horizon) -> tuple[IntArray, Array]:
        """Pairs whose balls are near enough for how fast they may come together, and how near that is."""
        first, second, centers = self._first, self._second, poses[:, :3, 3]
        if kernel is not None:
            within, near = np.empty(len(first)), np.empty(len(first), dtype=np.int8)
            given = np.array([horizon.base, horizon.time, horizon.braking])
            kernel.pairs_close(poses, origins, V, self._radii, self._is_plane, first, second, given, within, near)
            pair = np.flatnonzero(near)
            return pair, within[pair]
        parts = V.reshape(-1, 2, 3)
        speed = np.sqrt(np.einsum("nki,nki->nk", parts, parts))
        arm = centers - origins
        fast = speed[:, 0] + speed[:, 1] * (np.sqrt(np.einsum("ni,ni->n", arm, arm)) + self._radii)
        within = horizon.reach(fast[first] + fast[second])
        way, reach = centers[first] - centers[second], self._reach + within
        close = np.einsum("ni,ni->n", way, way) < reach * reach
        if len(self._over):
            up = poses[self._planes, :3, 2]
            height = np.einsum("ni,ni->n", centers[self._above] - centers[self._planes], up)
            close[self._over] = height < reach[self._over]
        pair = np.flatnonzero(close)
        return pair, within[pair]

    def names(self, key: IntArray) -> list[str]:
        """What is measured, by the keys of `Rates`: the names of two shapes."""
        found = []
        for number in key.tolist():
            one, other = self.pairs[number // PER_PAIR]
            found.append(f"{one} and {other}" + (f" (corner {number % PER_PAIR})" if number % PER_PAIR else ""))
        return found


def _cross(a: Array, b: Array) -> Array:
    """Products of vectors, row by row; np.cross takes five times as long on few of them."""
    ax, ay, az = a.T
    bx, by, bz = b.T
    found = np.empty(a.shape)
    found[:, 0] = ay * bz - az * by
    found[:, 1] = az * bx - ax * bz
    found[:, 2] = ax * by - ay * bx
    return found


def _closing(seen: Witnesses, one: IntArray, other: IntArray, V: Array, origins: Array) -> Array:
    """How fast distances grow: n · (velocity of the second points − that of the first), from the twists of bodies."""
    if kernel is not None:
        rate = np.empty(len(one))
        kernel.pairs_closing(seen.normal, seen.first, seen.second, one, other, V, origins, rate)
        return rate
    arm, its = seen.first - origins[one], seen.second - origins[other]
    apart = V[other, :3] - V[one, :3] + _cross(V[other, 3:], its) - _cross(V[one, 3:], arm)
    return np.asarray(np.einsum("ni,ni->n", seen.normal, apart))


def _rates(
    now: tuple[Witnesses, Array, Array],
    then: tuple[Witnesses, Array, Array],
    one: IntArray,
    other: IntArray,
    on: IntArray,
    J: Array,
    step: float,
) -> tuple[Array, Array, Array]:
    """How fast distances grow, how that changes with v̇ zero, and its Jacobian.

    Args:
        now: nearest points, twists of the solids, origins of their bodies.
        then: a moment later, with v̇ zero.
        one: the first solid of each row.
        other: the second.
        on: the bodies that solids are on.
        J: Jacobians of these, shape (bodies, 6, nv).
        step: how much later, s.
    """
    (seen, V, origins), (again, V_later, origins_later) = now, then
    if kernel is not None:
        rate, drift, rows = np.empty(len(one)), np.empty(len(one)), np.empty((len(one), J.shape[2]))
        points = seen.normal, seen.first, seen.second, again.normal, again.first, again.second
        moved = V, origins, V_later, origins_later
        kernel.pairs_rates(*points, one, other, on, *moved, J, step, JUMP, rate, drift, rows)
        return rate, drift, rows
    rate = _closing(seen, one, other, V, origins)
    drift = (_closing(again, one, other, V_later, origins_later) - rate) / step
    arms = seen.first - origins[one], seen.second - origins[other]
    # nearest points that jumped: the distance has a kink there, and no second derivative
    drift[_jumped(seen, again, V[one], V[other], arms, step)] = 0.0
    return rate, drift, _rows(seen.normal, arms[1], J[on[other]]) - _rows(seen.normal, arms[0], J[on[one]])


def _jumped(seen: Witnesses, later: Witnesses, V: Array, W: Array, arms: tuple[Array, Array], step: float) -> MaskArray:
    """Where nearest points are elsewhere on their bodies a moment later."""
    far = np.zeros(len(V))
    for was, now, twist, arm in ((seen.first, later.first, V, arms[0]), (seen.second, later.second, W, arms[1])):
        way = now - was - step * (twist[:, :3] + _cross(twist[:, 3:], arm))
        far = np.maximum(far, np.einsum("ni,ni->n", way, way))
    jumped: MaskArray = far > JUMP * JUMP
    return jumped


def _rows(normal: Array, arm: Array, J: Array) -> Array:
    """nᵀ of the Jacobians of points at arms from frames, shape (n, nv)."""
    both = np.concatenate([normal, _cross(arm, normal)], axis=1)
    return np.asarray((both[:, None, :] @ J)[:, 0])


def _carried(poses: Array, origins: Array, V: Array, bias: Array, t: float) -> tuple[Array, Array, Array, Array]:
    """Poses, twists and origins after a short time, when v̇ is zero; and how far each has turned."""
    if kernel is not None:
        later, V_later, moved, turn = (
            np.empty(poses.shape),
            np.empty(V.shape),
            np.empty(origins.shape),
            np.empty((len(V), 3, 3)),
        )
        kernel.bodies_carried(poses, origins, V, bias, t, later, V_later, moved, turn)
        return later, V_later, moved, turn
    later = poses.copy()
    omega = V[:, 3:] * t + bias[:, 3:] * (t * t / 2)
    arm = poses[:, :3, 3] - origins
    R = poses[:, :3, :3]
    # exp of small rotations, to the third order
    K = np.zeros((len(poses), 3, 3))
    K[:, 0, 1], K[:, 0, 2], K[:, 1, 2] = -omega[:, 2], omega[:, 1], -omega[:, 0]
    K -= K.transpose(0, 2, 1)
    square = K @ K
    turn = K + 0.5 * square + (K @ square) / 6.0
    turn[:, _DIAGONAL, _DIAGONAL] += 1.0
    later[:, :3, :3] = turn @ R
    moved = origins + V[:, :3] * t + bias[:, :3] * (t * t / 2)
    later[:, :3, 3] = moved + (turn @ arm[:, :, None])[:, :, 0]
    return later, V + bias * t, moved, turn
