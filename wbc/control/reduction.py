"""Eliminates from x = (v̇, f, τ) what the equation of motion fixes, and the equations that come first.

τ follows from the actuated rows of the equation of motion, τ = M_a v̇ + h_a − J_aᵀ f; the unactuated rows, and the first
equations of the stack (that contacts do not move), leave an orthonormal basis of y = (v̇, f/s) free. Solvers then see
x = x₀ + T z with few unknowns: 12 for a standing quadruped, not 42. The force scale s, the robot's mass, makes N and
m/s² comparable.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from wbc.arrays import Array, IntArray, as_slice
from wbc.dynamics.base import Dynamics
from wbc.tasking.problem import Rows, Variables

DEPENDENT = 1e-7
"""A row whose part across the rows before it is below this share of the largest such part is dependent on them."""


class _Room:
    """Arrays that are written anew in every tick, for a number of equations.

    Attributes:
        E: the equations as columns, shape (y, equations).
        e: their right-hand sides.
        C: [0 0; 0 1], what Q is applied to, but for its first column.
        X: the result, shape (n, 1 + free).
    """

    __slots__ = ("C", "E", "X", "e")

    def __init__(self, n: int, ny: int, total: int) -> None:
        free = max(ny - total, 0)
        self.E: Array = np.zeros((ny, total), order="F")
        self.e: Array = np.zeros(total)
        self.C: Array = np.eye(ny, 1 + free, 1 - total, order="F") if total <= ny else np.zeros((0, 0))
        self.X: Array = np.empty((n, 1 + free))


class Reduction:
    """The elimination for one layout of variables.

    Args:
        robot: whose equation of motion it is.
        variables: the layout of x.
    """

    def __init__(self, robot: Dynamics, variables: Variables) -> None:
        self._variables = variables
        self._scale = max(robot.mass, 1e-9)
        self._actuated = robot.actuated
        unactuated = np.ones(robot.nv, dtype=bool)
        unactuated[robot.actuated] = False
        self._unactuated: IntArray = np.flatnonzero(unactuated)
        # a block of consecutive joints (the usual case) is a slice: a view, not a copy
        self._a, self._u = as_slice(self._actuated), as_slice(self._unactuated)
        self._ny = variables.nv + variables.nf
        self._K: Array = np.empty((variables.nv, self._ny), order="F")
        self._room: dict[int, _Room] = {}

    def solve(self, M: Array, h: Array, Jc: Array, equations: list[Rows], ordered: bool = False) -> Array | None:
        """Eliminates the equation of motion, and equations beside it.

        Args:
            M: mass matrix, shape (nv, nv).
            h: bias, shape (nv,).
            Jc: contact Jacobian with generalized force Jcᵀ f, shape (nf, nv).
            equations: rows whose bounds meet; they hold exactly where they can, else as well as they can.
            ordered: whether some are of less priority than others: they are solved together only if all can hold.

        Returns:
            X = [x₀ T], shape (n, 1 + free): x = x₀ + T z, with orthonormal columns of T in y. Overwritten by the next
            call. None where `ordered` equations depend on each other.
        """
        nv, ny, s = self._variables.nv, self._ny, self._scale
        K = self._K  # the equation of motion in y: K y + h = Sᵀ τ
        K[:, :nv] = M.T  # symmetric: the same, in the order in which K is laid out
        np.multiply(Jc.T, -s, out=K[:, nv:])
        count = len(self._unactuated)
        total = count + sum([len(rows) for rows in equations])
        room = self._room.get(total)
        if room is None:
            room = self._room[total] = _Room(self._variables.n, ny, total)
        if total == 0:
            return self._expand(K, h, np.eye(ny, ny + 1, 1), room.X)
        E, e = room.E, room.e
        if count:  # divided by the mass, so that all rows are of one size
            np.multiply(K[self._u].T, 1.0 / s, out=E[:, :count])
            np.multiply(h[self._u], -1.0 / s, out=e[:count])
        start = count
        for rows in equations:
            stop = start + len(rows)
            e[start:stop] = rows.lower
            self._put(E[:, start:stop], e[start:stop], rows, K, h)
            start = stop
        C = _independent(room) if total <= ny else None
        if C is None:
            if ordered:
                return None
            C = _sequential(E, e, count)
            return self._expand(K, h, C, np.empty((self._variables.n, C.shape[1])))
        return self._expand(K, h, C, room.X)

    def size(self, rows: Rows) -> float:
        """The mean square of the norms of rows in y, before the elimination; of the last call's state."""
        found, count = 0.0, max(len(rows.lower), 1)
        for block, scale in ((rows.acceleration, 1.0), (rows.force, self._scale**2)):
            if block is not None:
                found += scale * (1.0 if block.ndim == 1 else float(np.vdot(block, block)) / count)
        if rows.torque is not None:
            entries = 1.0 if rows.torque.ndim == 1 else float(np.vdot(rows.torque, rows.torque)) / count
            found += entries * float(np.vdot(self._K, self._K)) / max(len(self._K), 1)
        return found

    def _put(self, E: Array, e: Array, rows: Rows, K: Array, h: Array) -> None:
        """Writes rows in y, as columns."""
        nv, s = self._variables.nv, self._scale
        for block, where, factor in ((rows.acceleration, slice(0, nv), 1.0), (rows.force, slice(nv, None), s)):
            if block is None:
                E[where] = 0.0
            elif block.ndim == 1:
                E[where] = 0.0
                E[block + where.start, np.arange(len(rows))] = factor
            elif factor == 1.0:
                E[where] = block.T
            else:
                np.multiply(block.T, factor, out=E[where])
        if rows.torque is not None:
            pick = rows.torque if rows.torque.ndim == 2 else np.eye(self._variables.na)[rows.torque]
            E += (pick @ K[self._a]).T
            e -= pick @ h[self._a]

    def _expand(self, K: Array, h: Array, C: Array, X: Array) -> Array:
        """From y = C [1; z] to x, into X: forces in N, torques by the equation of motion."""
        nv, nf = self._variables.nv, self._variables.nf
        X[:nv] = C[:nv]
        if nf:
            np.multiply(C[nv:], self._scale, out=X[nv : nv + nf])
        torques = X[nv + nf :]
        np.dot(K[self._a], C, out=torques)
        torques[:, 0] += h[self._a]
        return X


def _independent(room: _Room) -> Array | None:
    """[y₀ Z] with Eᵀ y₀ = e of least norm and Z a basis of the rest, by one QR; None where rows are dependent."""
    E, e, total = room.E, room.e, len(room.e)
    qr, tau, _, _ = lapack.dgeqrf(E, lwork=32 * total)
    diagonal = np.abs(qr.diagonal())
    if not diagonal[diagonal.argmin()] > DEPENDENT * diagonal[diagonal.argmax()]:
        return None
    C = room.C.copy(order="F")
    C[:total, 0] = lapack.dtrtrs(qr, e, trans=1)[0]
    result: Array = lapack.dormqr("L", "N", qr, tau, C, 32 * C.shape[1], overwrite_c=1)[0]
    return result


def _sequential(E: Array, e: Array, physics: int) -> Array:
    """The same where rows are dependent: the first ones exactly, the others in what these leave free, least squares."""
    C = np.eye(E.shape[0], E.shape[0] + 1, 1)
    for part in (slice(0, physics), slice(physics, None)):
        A, b = E[:, part].T, e[part]
        if not len(b):
            continue
        norms = np.linalg.norm(A, axis=1)
        scale = 1.0 / np.where(norms > 0.0, norms, 1.0)
        y, Z = C[:, 0], C[:, 1:]
        B, rest = (A @ Z) * scale[:, None], (b - A @ y) * scale
        qr, _, tau, _, _ = lapack.dgeqp3(np.asfortranarray(B.T))
        rank = int((np.abs(qr.diagonal()) > DEPENDENT).sum())
        Q = np.eye(Z.shape[1], order="F")
        Q = lapack.dormqr("L", "N", qr[:, : len(tau)], tau, Q, 32 * Z.shape[1])[0]
        across = B @ Q[:, :rank] / scale[:, None]  # least squares in the rows' own units
        w = np.linalg.lstsq(across, rest / scale, rcond=None)[0] if rank else np.zeros(0)
        C = np.column_stack([y + Z @ (Q[:, :rank] @ w), Z @ Q[:, rank:]])
    return C
