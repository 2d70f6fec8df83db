"""M v̇ + h = Sᵀ τ + Jᵀ f: the one place where accelerations, forces and torques are tied together.

τ follows from the actuated rows, τ = M_a v̇ + h_a − J_aᵀ f. The unactuated rows are what is left of physics, with the
equations of closed loops, L v̇ = −L̇ v, whose forces are the last of f: they leave an orthonormal basis of
y = (L v̇, f/s) free, and a solver sees x = x₀ + T z. The force scale s, the robot's mass, makes N
and m/s² comparable; so does L, a length of the robot, with rad/s² (see
`wbc.dynamics.lengths`). The compiled kernel does the same in its own way (`kernel/solver/tick.c`); tests hold the two
together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn

import numpy as np
from scipy.linalg import lapack

from wbc.arrays import Array, ArrayLike, IntArray
from wbc.contacts import Contact
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, show, unknown_name
from wbc.model.names import velocity_names
from wbc.singular_values import least_squares, svd
from wbc.tasking.rows import Rows
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick
from wbc.triangular import triangular_inverse

RANK = 1e-9
"""A direction with less than this share of the greatest singular value is held by other rows already."""

REDUNDANT = 1e-6
"""A direction that loops hold by less than this fraction of the one they hold best is redundant: in a planar linkage in
space it is what rounding and the axes of the file leave."""

SINGULAR = 1e-8
"""A share of the strongest actuator's action below which another one's counts as this much."""

NO_LOOPS: Array = np.zeros(0)
NO_LOOPS.setflags(write=False)

Wrench = ArrayLike | Callable[[float], ArrayLike]
"""A force (3,) or wrench (6,) on a frame, N and N m, world axes; or a function of time that gives one."""


def force_scale(robot: Dynamics) -> float:
    """s, by which forces are divided in the unknowns of a solver: the robot's mass, kg."""
    return max(robot.mass, 1e-9)


class EquationOfMotion(Task):
    """Torques, forces and accelerations that belong together.

    M v̇ − Jᵀ f − Sᵀ τ = −h + Σ Jₑᵀ wₑ (ETH 3.110; our f acts on the robot). It is never traded against anything,
    whatever the level it is written on.

    Args:
        external: known wrenches from outside on the robot, by the frame they act on: a load that it carries, a measured
            push. Force (3,) or wrench at the frame's origin (6,), world axes, N and N m; or a function of time. May be
            changed while the controller runs: `physics.external["tool"] = [0, 0, -20.0]`.
    """

    def __init__(self, external: Mapping[str, Wrench] | None = None) -> None:
        super().__init__("equation of motion")
        if external is not None and not isinstance(external, Mapping):
            raise WbcError(f"{self.name}: external must be a dict from frames to wrenches, not {show(external)}")
        self.external: dict[str, Wrench] = dict(external or {})

    def __init_subclass__(cls, **options: object) -> NoReturn:
        raise WbcError(
            "the controller solves the one equation of motion, which can't be subclassed; known forces go to "
            "EquationOfMotion(external=...), and rows of your own are a wbc.Task"
        )

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        for frame in self.external:
            if frame not in robot.frames:
                raise WbcError(f"{self.name}: external: {unknown_name('frame', frame, robot.frames)}")

    def external_force(self, robot: Dynamics, time: float) -> Array | None:
        """The generalised force of the known wrenches, shape (nv,); None where there are none.

        Args:
            robot: updated.
            time: s.
        """
        if not self.external:
            return None
        total = np.zeros(robot.nv)
        for frame, wrench in self.external.items():
            total += robot.generalized_force(frame, wrench(time) if callable(wrench) else wrench)
        return total

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; nv rows."""
        return MotionEquation.of(robot, tick).rows()

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return velocity_names(robot.model) + robot.loop_names


class MotionEquation:
    """M v̇ + h = Gᵀ τ + Jᵀ f in a state, with closed loops L v̇ + L̇ v = 0.

    Where each actuator is the motor of a joint, G = S picks rows. Elsewhere (tendons, gears, thrusters) the rows are
    combined so that it does: with Gᵀ = Q₁ R and [Q₁ Q₂] orthogonal, all is multiplied by P = [R⁻¹ Q₁ᵀ; Q₂ᵀ].

    Args:
        M: mass matrix, shape (nv, nv).
        h: bias less the force of known wrenches from outside, shape (nv,).
        J: contact Jacobian with generalised force Jᵀ f, shape (nf, nv); its last rows are L.
        loop_bias: L̇ v, shape (loops,).
        actuated: the velocity of each actuator, shape (na,).
        scale: s, kg.
        lengths: L of each velocity, 1 or m, shape (nv,).
        G: where actuators are not motors of joints, shape (na, nv).

    Attributes:
        M, h, J: as given, or P M, P h, J Pᵀ.
        loops: L; None where there are no loops.
        loop_bias, scale, lengths: as given.
        actuated: the row of each actuator, shape (na,).
        back: P⁻¹; None where P = 1.
    """

    __slots__ = ("J", "M", "actuated", "back", "h", "lengths", "loop_bias", "loops", "scale")

    def __init__(
        self,
        M: Array,
        h: Array,
        J: Array,
        loop_bias: Array,
        actuated: IntArray,
        scale: float,
        lengths: Array,
        G: Array | None = None,
    ) -> None:
        self.loop_bias = loop_bias
        self.loops = J[len(J) - len(loop_bias) :] if loop_bias is not NO_LOOPS else None
        self.back: Array | None = None
        if G is not None:
            P, self.back = _combinations(G)
            M, h, J, actuated = P @ M, P @ h, J @ P.T, np.arange(len(G))
        self.M, self.h, self.J, self.actuated, self.scale, self.lengths = M, h, J, actuated, scale, lengths

    @classmethod
    def of(cls, robot: Dynamics, tick: Tick) -> MotionEquation:
        """That of a robot in its present state, with the contacts and known forces of a tick."""
        h = robot.bias if tick.external is None else robot.bias - tick.external
        layout = tick.layout
        J = layout.kinematics(robot).J_force
        loop_bias = NO_LOOPS
        if layout.nf > layout.nc:
            J, loop_bias = _without_redundant(J, robot.loop_motion.bias)
        G = robot.actuation_matrix if robot.model.actuators else None
        return cls(robot.mass_matrix, h, J, loop_bias, robot.actuated, force_scale(robot), robot.lengths, G)

    @property
    def L(self) -> Array:
        """The Jacobian L of the loops, shape (loops, nv)."""
        return np.zeros((0, len(self.h))) if self.loops is None else self.loops

    def rows(self) -> Rows:
        """M v̇ − Jᵀ f − Gᵀ τ = −h as rows in x, nv of them, then L v̇ = −L̇ v."""
        nv, na, loops = len(self.h), len(self.actuated), len(self.loop_bias)
        acceleration, force, torque = (np.zeros((nv + loops, columns)) for columns in (nv, len(self.J), na))
        acceleration[:nv], acceleration[nv:], force[:nv] = self.M, self.L, -self.J.T
        torque[self.actuated, np.arange(na)] = -1.0
        right = -np.concatenate([self.h, self.loop_bias])
        if self.back is not None:
            for part in (acceleration, force, torque, right):
                part[:nv] = self.back @ part[:nv]
        return Rows.equal(right, acceleration=acceleration, force=force if len(self.J) else None, torque=torque)

    def torque(self, acceleration: Array, force: Array) -> Array:
        """τ = M_a v̇ + h_a − J_aᵀ f, shape (na,)."""
        found: Array = (self.M @ acceleration + self.h - self.J.T @ force)[self.actuated]
        return found

    def moved(self, force: Array, torque: Array) -> Array:
        """X in which the robot moves as torques and contact forces make it; loops have the forces that close them.

        Args:
            force: f, shape (nf,); those of loops do not count.
            torque: τ, shape (na,).
        """
        loops = len(self.loop_bias)
        closed, pushed = force.copy(), -self.h
        if loops:
            closed[len(closed) - loops :] = 0.0
        pushed = pushed + self.J.T @ closed
        pushed[self.actuated] += torque
        if not loops:
            return np.concatenate([np.linalg.solve(self.M, pushed), closed, torque])
        closing = self.J[len(closed) - loops :].T
        moved = np.linalg.solve(self.M, np.column_stack([pushed, closing]))  # by all else, and by each force of a loop
        found = least_squares(self.L @ moved[:, 1:], -self.loop_bias - self.L @ moved[:, 0], RANK)
        closed[len(closed) - loops :] = found
        return np.concatenate([np.linalg.solve(self.M, pushed + closing @ found), closed, torque])

    def loop_residual(self, acceleration: Array) -> Array:
        """L v̇ + L̇ v, shape (loops,)."""
        found: Array = self.L @ acceleration + self.loop_bias
        return found

    def residual(self, acceleration: Array, force: Array, torque: Array) -> Array:
        """M v̇ + h − Gᵀ τ − Jᵀ f, shape (nv,)."""
        found: Array = self.M @ acceleration + self.h - self.J.T @ force
        found[self.actuated] -= torque
        return found if self.back is None else np.asarray(self.back @ found)

    def relative_residual(self, acceleration: Array, force: Array, torque: Array) -> float:
        """The largest entry of the residual, by the largest sum of the sizes of its terms."""
        residual = np.abs(self.residual(acceleration, force, torque)).max(initial=0.0)
        terms = np.abs(self.M) @ np.abs(acceleration) + np.abs(self.h) + np.abs(self.J.T) @ np.abs(force)
        terms[self.actuated] += np.abs(torque)
        return float(residual / max(terms.max(initial=0.0), 1e-300))

    def opening(self, acceleration: Array) -> float:
        """How much more loops could be closed, L v̇ + L̇ v taken back to v̇, by the largest acceleration.

        Rows that depend on each other contradict each other where the measured state is off: that no v̇ can mend.
        """
        if self.loops is None:
            return 0.0
        longest = np.abs(self.loops).max(initial=1e-300)
        pull = self.loop_residual(acceleration).dot(self.loops) / longest
        return float(np.abs(pull).max(initial=0.0) / np.abs(acceleration).max(initial=1.0))

    @property
    def K(self) -> Array:
        """K of K y + h = Sᵀ τ, with y = (L v̇, f / s); shape (nv, nv + nf)."""
        return np.hstack([self.M / self.lengths, -self.scale * self.J.T])

    def basis(self) -> Array:
        """[y₀ Z]: all y = y₀ + Z z that unactuated rows and loops allow, y₀ of least norm and Z orthonormal.

        Returns:
            Shape (nv + nf, 1 + free).
        """
        free = np.ones(len(self.h), dtype=bool)
        free[self.actuated] = False
        E, e = self.K[free] / self.scale, -self.h[free] / self.scale
        if not len(self.loop_bias):
            return _solutions(E, e)
        closing = np.zeros((len(self.loop_bias), E.shape[1]))
        closing[:, : len(self.h)] = self.L / self.lengths
        return _with(_solutions(E, e), closing, -self.loop_bias)

    def expand(self, y: Array) -> Array:
        """X of y: forces in N, torques by the actuated rows; shape (n,)."""
        nv = len(self.h)
        acceleration, force = y[:nv] / self.lengths, self.scale * y[nv:]
        return np.concatenate([acceleration, force, self.torque(acceleration, force)])

    def freedom(self) -> Array:
        """T of x = x₀ + T z for all x that physics allows, shape (n, free)."""
        nv, Z = len(self.h), self.basis()[:, 1:]
        return np.vstack([Z[:nv] / self.lengths[:, None], self.scale * Z[nv:], self.K[self.actuated] @ Z])


def _without_redundant(J: Array, loop_bias: Array) -> tuple[Array, Array]:
    """J and the bias of its last rows, those of loops, without the directions that are redundant.

    Else a force of 1e8 N in such a direction would be taken for a means to move joints.
    """
    L = J[len(J) - len(loop_bias) :]
    U, singular, V = svd(L)
    kept = singular > REDUNDANT * singular.max(initial=0.0)
    if kept.all() and len(kept) == len(L):
        return J, loop_bias
    U = U[:, kept]
    found = J.copy()
    found[len(J) - len(loop_bias) :] = (U * singular[kept]) @ V[kept]
    return found, U @ (U.T @ loop_bias)


def _combinations(G: Array) -> tuple[Array, Array]:
    """P and P⁻¹ of `MotionEquation`; the rows of G are independent.

    Where they are all but dependent, as in a singular position of a parallel mechanism, what the actuators can't do is
    left to them at a great cost: then their limits rule it out.
    """
    na = len(G)
    Q, R = np.linalg.qr(G.T, mode="complete")
    R = R[:na]
    diagonal = R.diagonal()
    least = SINGULAR * np.abs(diagonal).max(initial=1e-300)
    weak = np.abs(diagonal) < least
    if weak.any():
        R = R + np.diag(np.where(weak, np.where(diagonal < 0.0, -least, least) - diagonal, 0.0))
    P = np.vstack([triangular_inverse(R) @ Q[:, :na].T, Q[:, na:].T]) if na else Q.T
    return np.ascontiguousarray(P), np.hstack([Q[:, :na] @ R, Q[:, na:]])


def _solutions(E: Array, e: Array) -> Array:
    """[y₀ Z] with E y₀ = e of least norm and Z an orthonormal basis of the rest; the rows of E are independent."""
    rows, unknowns = E.shape
    C = np.eye(unknowns, 1 + unknowns - rows, 1 - rows, order="F")
    if not rows:
        return np.eye(unknowns, unknowns + 1, 1)
    qr, tau, _, _ = lapack.dgeqrf(E.T)
    C[:rows, 0] = lapack.dtrtrs(qr, e, trans=1)[0]
    found: Array = lapack.dormqr("L", "N", qr, tau, C, 32 * C.shape[1])[0]
    return found


def _with(C: Array, E: Array, e: Array) -> Array:
    """Those of [y₀ Z] that also have E y = e, for rows of any rank; where none has, those with the least |E y − e|.

    What C keeps is kept to rounding, however nearly the rows of E depend on each other and on it.
    """
    y0, Z = C[:, 0], C[:, 1:]
    size = np.sqrt((E * E).sum(axis=1))
    unit = np.where(size > 0.0, size, 1.0)
    _, singular, V = svd((E @ Z) / unit[:, None], full_matrices=True)
    rank = int((singular > RANK * max(1.0, singular.max(initial=0.0))).sum())
    V = V.T
    in_units = E @ (Z @ V[:, :rank])  # of full column rank
    z0 = V[:, :rank] @ least_squares(in_units, e - E @ y0)
    return np.column_stack([y0 + Z @ z0, Z @ V[:, rank:]])
