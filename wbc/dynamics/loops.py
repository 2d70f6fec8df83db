"""Closed loops in a state: how far open they are, and the Jacobian of that.

Each loop of a model is an exact constraint φ(q) = 0, so that J v = 0 and J v̇ + J̇v = 0 with J = ∂φ/∂q. The forces that
hold it are Jᵀ λ. Redundant loops are normal, as a planar linkage in space: what a J without full rank can't tell apart
is left out of it, and its forces are those of least norm.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import lapack

from wbc.arrays import Array, IntArray
from wbc.errors import WbcError
from wbc.geometry import so3
from wbc.model.loops import JointCoupling, LoopClosure, loop_row_names
from wbc.model.model import Model
from wbc.singular_values import least_squares, svd

if TYPE_CHECKING:
    from wbc.dynamics.backend import FramesMotion, Place
    from wbc.dynamics.base import Dynamics

REDUNDANT = 1e-6
"""A direction whose singular value is below this share of the greatest is held by other rows already. Axes that are
parallel to the digits of a file must count as parallel."""

CLEAR = 1e-3
"""Rows of which each has more than this share to itself are independent without a closer look."""

ROUNDED = 2e-7
"""A gap below this share of the longest row of J, m, is the rounding of a file whose linkage is not quite flat. What
carries it turns it by too little for a row of its own: it stays as it stands in the world, as MuJoCo takes it. From
twice this share on it turns with its frame b."""

NOTHING = 1e-9
"""A row with less than this share in what is held is taken out."""

RANK = 1e-9
"""Below this share of the greatest singular value is nothing but rounding: redundant directions are gone already."""

STEPS, HALVINGS = 200, 30
"""Newton steps that closing the loops takes at most, and how often one of them is halved."""

LONGEST = 0.3
"""Greatest change of a coordinate in such a step, rad or m."""

CLOSED, OPEN = 1e-13, 1e-4
"""A loop is closed where its gap is less than the first, m or rad. Where it can't be brought there, the second is taken
for the rounding of lengths in a file."""


class LoopMotion(NamedTuple):
    """The motion of closed loops in a state, one row per equation.

    Attributes:
        gap: φ(q), how far open they are, m and rad, shape (rows,).
        J: the Jacobian of φ, without what other rows hold already, shape (rows, nv).
        bias: J̇v, shape (rows,).
    """

    gap: Array
    J: Array
    bias: Array


class Loops:
    """The loops of a model, laid out.

    Args:
        model: whose they are.

    Attributes:
        rows: how many equations they are.
        slices: the rows of each loop, by its name.
        names: of the rows.
    """

    def __init__(self, model: Model) -> None:
        self.slices: dict[str, slice] = {}
        start = 0
        for loop in model.loops:
            self.slices[loop.name] = slice(start, start + loop.rows)
            start += loop.rows
        self.rows, self._nv = start, model.nv
        self.names = loop_row_names(model.loops)
        self._closures = [loop for loop in model.loops if isinstance(loop, LoopClosure)]
        self._frames = tuple(f"{loop.name}: {end}" for end in "ab" for loop in self._closures)
        self._picked, self._at, self._turned = self._axes_of_closures()
        self._couplings = _Couplings(model, self.slices)

    def _axes_of_closures(self) -> tuple[IntArray, IntArray, list[tuple[int, LoopClosure]]]:
        """Which of six rows for each closure are held, and where they stand; and those that need axes that turn."""
        picked: list[int] = []
        at: list[int] = []
        turned = []
        for number, loop in enumerate(self._closures):
            kinds = {axis[:-1] for axis in loop.held}
            if loop.rows != 3 * len(kinds):
                turned.append((number, loop))
            order = ("x", "y", "z", "rx", "ry", "rz")
            picked += [6 * number + order.index(axis) for axis in loop.held]
            at += range(self.slices[loop.name].start, self.slices[loop.name].stop)
        return np.array(picked, dtype=np.intp), np.array(at, dtype=np.intp), turned

    def motion(self, robot: Dynamics) -> LoopMotion:
        """Their motion in a robot's present state."""
        gap, J, bias = np.zeros(self.rows), np.zeros((self.rows, self._nv)), np.zeros(self.rows)
        self._couplings.add(robot.q, robot.v, gap, J, bias)
        if self._closures:
            longest = math.sqrt(float((J * J).sum(axis=1).max()))
            for where, part in zip((gap, J, bias), self._closed(robot, longest), strict=True):
                where[self._at] = part[self._picked]
        J, bias = _independent(J, bias)
        return LoopMotion(gap, J, bias)

    def _closed(self, robot: Dynamics, longest: float) -> tuple[Array, Array, Array]:
        """Gap, Jacobian and bias of all closures, six rows each; the longest other row of J tells what is rounding."""
        if self._frames[0] not in robot._places:
            self._place(robot)
        count = len(self._closures)
        moved = robot.frames_motion(self._frames)
        poses, J6, bias6 = moved.poses, moved.jacobian, moved.bias
        J, bias = J6[: 6 * count] - J6[6 * count :], bias6[: 6 * count] - bias6[6 * count :]
        gap = np.zeros((count, 6))
        gap[:, :3] = poses[:count, :3, 3] - poses[count:, :3, 3]
        longest = max(longest, math.sqrt(float((J * J).sum(axis=1).max()))) or 1.0  # nothing moves these frames
        share = np.clip(np.sqrt((gap * gap).sum(axis=1)) / (ROUNDED * longest) - 1.0, 0.0, 1.0)
        if share.any():
            _carry_along(gap[:, :3], share, moved, J.reshape(count, 6, -1), bias.reshape(count, 6))
        for number, loop in enumerate(self._closures):
            if loop.held[-1][0] == "r":
                gap[number, 3:] = so3.log(poses[number, :3, :3] @ poses[count + number, :3, :3].T)
        for number, loop in self._turned:
            rows = slice(6 * number, 6 * number + 6)
            gap[number], J[rows], bias[rows] = _seen_from_b(loop, number, moved, J[rows], bias[rows])
        return gap.ravel(), J, bias

    def _place(self, robot: Dynamics) -> None:
        """Tells a robot where the loops close; these frames are not among those that it lists."""
        count = len(self._closures)
        for number, loop in enumerate(self._closures):
            ends = zip((loop.a, loop.b), loop.poses, (number, count + number), strict=True)
            for frame, pose, index in ends:
                place: Place = robot._find(frame)
                robot._places[self._frames[index]] = robot._place(place.node, place.pose @ pose)


class _Couplings:
    """The couplings of joints of a model: φ = Σ c q − p(Σ d q).

    Args:
        model: whose they are.
        slices: the row of each.
    """

    def __init__(self, model: Model, slices: dict[str, slice]) -> None:
        couplings = [loop for loop in model.loops if isinstance(loop, JointCoupling)]
        self._rows = [slices[loop.name].start for loop in couplings]
        sides = np.zeros((2, len(couplings), model.nq))
        rates = np.zeros((2, len(couplings), model.nv))
        for number, loop in enumerate(couplings):
            for side, coefficients in enumerate((loop.joints, loop.follows)):
                for joint, coefficient in coefficients.items():
                    sides[side, number, model.q_index[joint]] = coefficient
                    rates[side, number, model.v_index[joint]] = coefficient
        (self._left, self._right), (self._left_rate, self._right_rate) = sides, rates
        p = [np.polynomial.Polynomial(loop.polynomial) for loop in couplings]
        self._polynomials = [(it, it.deriv(), it.deriv(2)) for it in p]

    def add(self, q: Array, v: Array, gap: Array, J: Array, bias: Array) -> None:
        """Writes gap, Jacobian and bias into their rows."""
        if not self._rows:
            return
        s, rate = self._right @ q, self._right_rate @ v
        p, slope, bend = np.array([[it(x) for it in of] for of, x in zip(self._polynomials, s, strict=True)]).T
        gap[self._rows] = self._left @ q - p
        J[self._rows] = self._left_rate - slope[:, None] * self._right_rate
        bias[self._rows] = -bend * rate**2


def _carry_along(r: Array, share: Array, moved: FramesMotion, J: Array, bias: Array) -> None:
    """Takes the motion of the frames b out of that of the gaps r = p_a − p_b: ṙ becomes ṙ − ω_b × r.

    A plant whose loops yield leaves them open a little. What moves a and b together, such as a hip above a loop in the
    shin, then turns r, and a row that other rows hold already would seem to hold the hip.

    Args:
        r: of all closures, world axes, m, shape (n, 3).
        share: of that motion which is taken out, shape (n,).
        moved: how the frames a of all closures, then their frames b, move.
        J: the Jacobians of a less those of b, shape (n, 6, nv); changed.
        bias: likewise, shape (n, 6); changed.
    """
    count = len(r)
    J_b = moved.jacobian[6 * count :].reshape(count, 6, -1)
    alpha = moved.bias[6 * count :].reshape(count, 6)[:, 3:]
    velocity = moved.velocity.reshape(-1, 6)
    omega = velocity[count:, 3:]
    spin = _skew(omega)
    J[:, :3] += share[:, None, None] * (_skew(r) @ J_b[:, 3:])
    turning = spin @ r[..., None]
    drift = (velocity[:count, :3] - velocity[count:, :3])[..., None] - turning
    away: Array = _skew(alpha) @ r[..., None] + spin @ (turning + 2.0 * drift)
    bias[:, :3] -= share[:, None] * away[..., 0]


def _skew(vectors: Array) -> Array:
    """The matrices of cross products with vectors, shape (n, 3, 3) of (n, 3)."""
    found = np.zeros((len(vectors), 3, 3))
    x, y, z = vectors.T
    found[:, 0, 1], found[:, 0, 2], found[:, 1, 2] = -z, y, -x
    found[:, 1, 0], found[:, 2, 0], found[:, 2, 1] = z, -y, x
    return found


def _seen_from_b(
    loop: LoopClosure, number: int, moved: FramesMotion, J: Array, bias: Array
) -> tuple[Array, Array, Array]:
    """Gap, Jacobian and bias of a closure in the axes of its frame b, as seen from there.

    Args:
        loop: the closure.
        number: of the closure.
        moved: how the frames a of all closures, then their frames b, move.
        J: the Jacobian of a less that of b, carried along with b, shape (6, nv).
        bias: likewise, shape (6,).
    """
    count = len(moved.poses) // 2
    pose_a, pose_b = moved.poses[number], moved.poses[count + number]
    R_b = pose_b[:3, :3]
    omega_a, omega_b = (moved.velocity[6 * k : 6 * k + 6][3:] for k in (number, count + number))
    r = pose_a[:3, 3] - pose_b[:3, 3]
    bias = bias.copy()
    bias[3:] -= np.cross(omega_b, omega_a - omega_b)
    turn = R_b.T @ pose_a[:3, :3]
    gap = np.concatenate([R_b.T @ r, so3.log(turn)])
    free = [axis for axis in range(3) if ("rx", "ry", "rz")[axis] not in loop.held]
    if len(free) == 1:  # it turns freely about one axis, which the two frames share: that is what is measured
        axis = np.eye(3)[free[0]]
        gap[3:] = np.cross(axis, turn @ axis)
    turned = np.kron(np.eye(2), R_b.T)
    return gap, turned @ J, turned @ bias


def closed(robot: Dynamics, q: Array) -> Array:
    """A configuration near `q` in which all loops are closed, by Newton's method with steps of least norm.

    Args:
        robot: to compute with; it is moved.
        q: to start from, shape (nq,).

    Raises:
        WbcError: it found none.
    """
    robot.update(q)
    gap, J, _ = robot.loop_motion
    for _ in range(STEPS):
        if np.abs(gap).max(initial=0.0) < CLOSED:
            return robot.q.copy()
        U, singular, V = svd(J)
        kept = singular > REDUNDANT * singular[0]
        step = V[kept].T @ ((U[:, kept].T @ gap) / singular[kept])
        step *= -min(1.0, LONGEST / max(float(np.abs(step).max(initial=0.0)), 1e-300))
        q, before = robot.q, float(gap @ gap)
        for _ in range(HALVINGS):
            robot.update(robot.integrate(q, step))
            gap, J, _ = robot.loop_motion
            if gap @ gap < before:
                break
            step = step / 2
        else:  # it is as near as rounding, or the loop's geometry, lets it come
            robot.update(q)
            gap, J, _ = robot.loop_motion
            break
    if np.abs(gap).max(initial=0.0) < OPEN:
        return robot.q.copy()
    worst = robot.loop_names[int(np.abs(gap).argmax())]
    raise WbcError(
        f"the loops of {robot.model.name!r} do not close from this configuration: {worst} stays open by "
        f"{np.abs(gap).max():.3g}; start from one that is nearer to closed"
    )


def projected(robot: Dynamics, v: Array) -> Array:
    """The velocity with closed loops that is nearest to `v` in the metric of the mass matrix, shape (nv,).

    Args:
        robot: in a configuration; its velocity does not matter.
        v: shape (nv,).
    """
    J = robot.loop_motion.J
    L, z = held(robot, J, -J @ v)
    return np.asarray(v + lapack.dtrtrs(L, z, lower=1, trans=1)[0])


def held(robot: Dynamics, J: Array, wanted: Array) -> tuple[Array, Array]:
    """The Cholesky factor L of M, and the shortest z with J L⁻ᵀ z = `wanted`: L⁻ᵀ z is M⁻¹ Jᵀ λ with what λ it takes.

    Args:
        robot: in a state.
        J: of the loops, of any rank, shape (rows, nv).
        wanted: shape (rows,).
    """
    L, failed = lapack.dpotrf(robot.mass_matrix, lower=1)
    if failed:
        raise robot._singular()
    Y = lapack.dtrtrs(L, J.T, lower=1)[0]
    return L, least_squares(Y.T, wanted, RANK)


def _independent(J: Array, bias: Array) -> tuple[Array, Array]:
    """Rows without the directions that others hold already, to rounding; the same rows, where all are independent."""
    if len(J) < 2:
        return J, bias
    size = np.sqrt((J * J).sum(axis=1))
    if size.min() > REDUNDANT * size.max():  # else a row is but rounding, as across the plane of a planar linkage
        unit = J / size[:, None]
        L, failed = lapack.dpotrf(unit @ unit.T, lower=1)
        if not failed and L.diagonal().min() > CLEAR:
            return J, bias
    U, singular, V = svd(J)
    kept = singular > REDUNDANT * singular[0]
    U = U[:, kept]
    U[np.sqrt((U * U).sum(axis=1)) < NOTHING] = 0.0  # rank is judged row by row: rounding must be no row
    return (U * singular[kept]) @ V[kept], U @ (U.T @ bias)
