"""Contact impulses under Coulomb friction, by convex problems in second-order cones: pure numerics, no robots.

A step of a simulator asks for impulses p, a block (normal, tangent, tangent) for each contact, and for the velocities
w = G p + b that they leave behind. The convex problem

    minimise ½ pᵀ G p + bᵀ p   such that |p_t| ≤ μ p_n in every block

has the optimality conditions p in the cone, w in the dual cone (w_n ≥ μ |w_t|), p · w = 0: where nothing slides, this
is Coulomb's law and the frictionless, inelastic impact of ETH (3.66)–(3.70). **The trap**: where a contact slides, it
leaves the ground with w_n = μ |w_t| (Anitescu's and Todorov's relaxation): a foot that lands sliding would jump. Adding
s = μ |w_t| to b_n undoes it (de Saxcé's change of variables; Acary, Cadoux, Lemaréchal and Malick 2011), and
`solve_coulomb` finds the s that repeats itself: where nothing slides, after one convex problem; else by Newton's method
on the corrected problem, started from the convex one's answer; should that fail, by convex problems with one s after
the other. Whatever s ≥ 0 it stops at, the impulses take energy: p · (w + s e_n) = 0, so p · w ≤ 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from wbc.arrays import Array, MaskArray

COMPLIANCE = 1e-10
"""What is added to the diagonal of G, as a share of the greatest entry of each block: it picks the least impulses where
several do the same (the corners of a sole), and moves velocities by as little as rounding does."""

_INTERIOR_STEPS = 60
_NEWTON_STEPS = 25
_ATTEMPTS = 6


@dataclass(frozen=True, eq=False)
class Impulses:
    """An answer.

    Attributes:
        impulse: p, shape (3 n,), blocks (normal, tangent, tangent).
        velocity: G p + b, m/s, shape (3 n,).
        residual: of the optimality conditions of the (last) convex problem, m/s, where a block's inertia is one.
        change: the last change of the correction s, 0 where nothing slides.
        iterations: of Newton's method and of the interior point, all together.
        problems: convex problems that were solved.
    """

    impulse: Array
    velocity: Array
    residual: float
    change: float
    iterations: int
    problems: int


class ContactProblem:
    """The convex problem, scaled: x in standard second-order cones, p = D x, A = D G D with blocks of size one.

    Args:
        G: symmetric and positive semidefinite, shape (3 n, 3 n).
        friction: coefficient of each block, shape (n,); zero leaves the tangents free.
    """

    def __init__(self, G: Array, friction: Array) -> None:
        self.count = len(friction)
        shape = np.ones((self.count, 3))
        shape[:, 1:] = friction[:, None]
        inverse_inertia = np.diagonal(G).reshape(-1, 3)
        size = (inverse_inertia * shape**2).max(axis=1)
        self.scale = (shape / np.sqrt(np.where(size > 0, size, 1.0))[:, None]).ravel()
        self.A = G * self.scale * self.scale[:, None]
        # the same in all directions of p; a tangent without friction, which has no share in p, gets some all the same
        added = np.repeat(inverse_inertia.max(axis=1), 3) * self.scale**2
        self.A.flat[:: 3 * self.count + 1] += COMPLIANCE * np.where(added > 0, added, 1.0)
        self._factor: Array | None = None
        self._blocks = np.arange(self.count)

    def solve(self, b: Array, start: Array | None, tolerance: float) -> tuple[Array, float, int]:
        """x, the residual, and the iterations it took.

        Args:
            b: velocities without impulses, shape (3 n,).
            start: x to start from, or None.
            tolerance: of the residual.
        """
        c = b * self.scale
        if self._factor is None:
            self._factor = scipy.linalg.lapack.dpotrf(self.A, lower=1)[0]
        x = -scipy.linalg.lapack.dpotrs(self._factor, c, lower=1)[0]
        blocks = x.reshape(-1, 3)
        if ((blocks[:, 0] >= 0) & (blocks[:, 0] ** 2 >= blocks[:, 1] ** 2 + blocks[:, 2] ** 2)).all():
            return x, float(np.abs(self.A @ x + c).max()), 1  # everything sticks
        x, residual, taken = self._newton(c, np.zeros(len(b)) if start is None else start, tolerance)
        if residual > tolerance:
            inner, steps = self._interior_point(c)
            polished, after, more = self._newton(c, inner, tolerance)
            taken += steps + more
            if after < residual:
                x, residual = polished, after
        return x, residual, taken

    def correct(self, b: Array, start: Array, tolerance: float) -> tuple[Array, float, int]:
        """As `solve`, with the correction s = μ |w_t| as part of the problem: no longer convex, so it may fail."""
        return self._newton(b * self.scale, start, tolerance, coulomb=True)

    def _newton(self, c: Array, x: Array, tolerance: float, coulomb: bool = False) -> tuple[Array, float, int]:
        """Semismooth Newton on x = Π(x − z), z = A x + c, from a start that must be near; the best point it saw.

        With `coulomb`, z_0 is z_0 + |z_rest|.
        """
        best, least, taken = x, np.inf, 0
        n = len(c)
        while taken < _NEWTON_STEPS:
            taken += 1
            z = (self.A @ x + c).reshape(-1, 3)
            rates = self.A.reshape(-1, 3, n)  # dz / dx
            if coulomb:
                speed = np.sqrt((z[:, 1:] ** 2).sum(axis=1))
                direction = z[:, 1:] / np.maximum(speed, 1e-300)[:, None]
                z[:, 0] += speed
                rates = rates.copy()
                rates[:, 0] += np.matmul(direction[:, None, :], rates[:, 1:])[:, 0]
            projected, slope = project(x - z.ravel())
            gap = x - projected
            residual = float(np.abs(gap).max())
            if residual < least:
                best, least = x, residual
            if residual <= tolerance or not residual < 1e12:
                break
            # (1 − S + S dz/dx) dx = −gap with S block-diagonal
            J = np.matmul(slope, rates).reshape(n, n)
            J.reshape(self.count, 3, self.count, 3)[self._blocks, :, self._blocks, :] -= slope
            J.flat[:: n + 1] += 1.0
            x = x + scipy.linalg.lapack.dgesv(J, -gap)[2]
        return best, least, taken

    def _interior_point(self, c: Array) -> tuple[Array, int]:
        """Mehrotra's method with Nesterov–Todd scaling; needs no start."""
        A, count = self.A, self.count
        x = np.zeros((count, 3))
        x[:, 0] = 1.0
        z = x * max(1.0, float(np.abs(c).max()))
        one = x.copy()
        best, least, taken = x, np.inf, 0
        while taken < _INTERIOR_STEPS:
            taken += 1
            r = A @ x.ravel() + c - z.ravel()
            mean = float((x * z).sum()) / count
            residual = float(np.abs(x.ravel() - project(x.ravel() - A @ x.ravel() - c)[0]).max())
            if residual < least:
                best, least = x, residual
            edge = min(_depth(x), _depth(z))
            if residual < 1e-14 or not edge > 1e-15:  # closer to the cones' edges than rounding allows
                break
            W, W_inverse = _scaling(x, z)
            lam = _apply(W, z)
            H = A.copy()
            metric = W_inverse @ W_inverse
            for number in range(count):
                rows = slice(3 * number, 3 * number + 3)
                H[rows, rows] += metric[number]
            try:
                factor = scipy.linalg.cho_factor(H, lower=True, check_finite=False)
            except np.linalg.LinAlgError:
                break
            aim = -_product(lam, lam)
            for corrector in (False, True):
                right = _apply(W_inverse, _quotient(lam, aim)).ravel() - r
                dx = scipy.linalg.cho_solve(factor, right, check_finite=False)
                dz = (A @ dx + r).reshape(-1, 3)
                dx = dx.reshape(-1, 3)
                step = min(1.0, 0.99 * min(_longest(x, dx), _longest(z, dz)))
                if not corrector:
                    center = (float(((x + step * dx) * (z + step * dz)).sum()) / count / mean) ** 3
                    aim = aim - _product(_apply(W_inverse, dx), _apply(W, dz)) + max(center, 1e-8) * mean * one
            x, z = x + step * dx, z + step * dz
            if not step > 1e-9:
                break
        return best.ravel(), taken


def solve_convex(G: Array, b: Array, friction: Array, start: Array | None = None, tolerance: float = 1e-10) -> Impulses:
    """The impulses of the convex problem alone, with its trap.

    Args:
        G: inverse inertia seen by the contacts, J M⁻¹ Jᵀ, shape (3 n, 3 n), blocks (normal, tangent, tangent).
        b: velocities without impulses, shape (3 n,).
        friction: coefficients, shape (n,).
        start: impulses to start from, shape (3 n,).
        tolerance: of the residual.
    """
    return _solve(G, b, friction, start, tolerance, 0)


def solve_coulomb(
    G: Array,
    b: Array,
    friction: Array,
    start: Array | None = None,
    tolerance: float = 1e-10,
    corrections: int = 20,
) -> Impulses:
    """The impulses under Coulomb's law: the convex problem with b_n corrected by s = μ |w_t|.

    Args:
        G: as for `solve_convex`.
        b: velocities without impulses, shape (3 n,).
        friction: coefficients, shape (n,).
        start: impulses to start from, shape (3 n,).
        tolerance: of the residual; corrections by convex problems stop when s changes by a hundred times that.
        corrections: by convex problems, at most; 0 is `solve_convex`.
    """
    return _solve(G, b, friction, start, tolerance, corrections)


def _solve(G: Array, b: Array, friction: Array, start: Array | None, tolerance: float, corrections: int) -> Impulses:
    problem = ContactProblem(G, friction)
    x = None if start is None else start / np.where(problem.scale > 0, problem.scale, 1.0)
    s, solved, total = np.zeros(problem.count), 0, 0
    while True:
        shifted = b.copy()
        shifted[::3] += s
        x, residual, taken = problem.solve(shifted, x, tolerance)
        solved, total = solved + 1, total + taken
        wanted = _correction(problem, G, b, x, friction)
        change = float(np.abs(wanted - s).max()) if corrections else 0.0
        if change > 100 * tolerance and solved <= _ATTEMPTS:
            trial, missed, taken = problem.correct(b, x, tolerance)
            total += taken
            if missed <= tolerance:
                x, residual, change = trial, missed, 0.0
        if change <= 100 * tolerance or solved > corrections:
            break
        s = wanted
    p = problem.scale * x
    return Impulses(p, G @ p + b, residual, change, total, solved)


def _correction(problem: ContactProblem, G: Array, b: Array, x: Array, friction: Array) -> Array:
    """The s = μ |w_t| of the blocks that bear something, shape (n,)."""
    p = problem.scale * x
    slip = (G @ p + b).reshape(-1, 3)[:, 1:]
    return np.asarray(friction * np.sqrt((slip * slip).sum(axis=1)) * (p[::3] > 0))


# --- second-order cones, blocks (first, rest) of three, all at once --------------------------------------------------


def project(u: Array) -> tuple[Array, Array]:
    """The nearest points of the cones |u_1, u_2| ≤ u_0, shape (3 n,), and the derivative, shape (n, 3, 3)."""
    blocks = u.reshape(-1, 3)
    first, rest = blocks[:, 0], blocks[:, 1:]
    length = np.sqrt((rest * rest).sum(axis=1))
    inside: MaskArray = length <= first
    outside: MaskArray = ~inside & (length > -first)  # but for the polar cone, where the nearest point is zero
    safe = np.where(length > 0, length, 1.0)
    direction, ratio = rest / safe[:, None], np.clip(first / safe, -1.0, 1.0)
    projected = blocks * inside[:, None]
    half = 0.5 * (1 + ratio) * outside
    projected[:, 0] += half * length
    projected[:, 1:] += half[:, None] * rest
    slope = np.zeros((len(blocks), 3, 3))
    slope[:, 0, 0] = 0.5
    slope[:, 0, 1:] = slope[:, 1:, 0] = 0.5 * direction
    slope[:, 1:, 1:] = -(0.5 * ratio)[:, None, None] * direction[:, :, None] * direction[:, None, :]
    slope[:, 1, 1] += 0.5 * (1 + ratio)
    slope[:, 2, 2] += 0.5 * (1 + ratio)
    slope *= outside[:, None, None]
    slope[inside] = np.eye(3)
    return projected.ravel(), slope


def _apply(matrices: Array, blocks: Array) -> Array:
    """Each matrix times its block."""
    return np.asarray(np.matmul(matrices, blocks[:, :, None])[:, :, 0])


def _product(a: Array, b: Array) -> Array:
    """The Jordan product: (a · b, a_0 b_rest + b_0 a_rest)."""
    result = a[:, :1] * b + b[:, :1] * a
    result[:, 0] = (a * b).sum(axis=1)
    return result


def _quotient(a: Array, b: Array) -> Array:
    """The y whose Jordan product with a is b."""
    size = _norm_squared(a)
    first = (a[:, 0] * b[:, 0] - (a[:, 1:] * b[:, 1:]).sum(axis=1)) / size
    return np.column_stack([first, (b[:, 1:] - first[:, None] * a[:, 1:]) / a[:, :1]])


def _norm_squared(a: Array) -> Array:
    """a_0² − |a_rest|², positive inside the cone."""
    length = np.sqrt((a[:, 1:] ** 2).sum(axis=1))
    return np.asarray(np.maximum((a[:, 0] - length) * (a[:, 0] + length), 1e-300))


def _depth(a: Array) -> float:
    """How far inside their cones the blocks are, relative to their size; the least."""
    return float(((a[:, 0] - np.sqrt((a[:, 1:] ** 2).sum(axis=1))) / np.abs(a[:, 0])).min())


def _scaling(x: Array, z: Array) -> tuple[Array, Array]:
    """The Nesterov–Todd scalings W with W z = W⁻¹ x, and their inverses, shapes (n, 3, 3)."""
    size_x, size_z = np.sqrt(_norm_squared(x)), np.sqrt(_norm_squared(z))
    x, z = x / size_x[:, None], z / size_z[:, None]
    mirrored = z * [1.0, -1.0, -1.0]
    w = (x + mirrored) / np.sqrt(2 * (1 + (x * z).sum(axis=1)))[:, None]
    rest = w[:, 1:]
    W = np.empty((len(x), 3, 3))
    W[:, 0, 0] = w[:, 0]
    W[:, 0, 1:] = W[:, 1:, 0] = rest
    W[:, 1:, 1:] = np.eye(2) + rest[:, :, None] * rest[:, None, :] / (1 + w[:, 0])[:, None, None]
    inverse = W.copy()
    inverse[:, 0, 1:] *= -1
    inverse[:, 1:, 0] *= -1
    size = np.sqrt(size_x / size_z)[:, None, None]
    return W * size, inverse / size


def _longest(x: Array, d: Array) -> float:
    """The longest step along d that stays in all cones."""
    a = d[:, 0] ** 2 - (d[:, 1:] ** 2).sum(axis=1)
    b = x[:, 0] * d[:, 0] - (x[:, 1:] * d[:, 1:]).sum(axis=1)
    c = _norm_squared(x)
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    # roots of a t² + 2 b t + c = 0 as c / (−b ± root), which is safe where a vanishes
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = np.stack([c / (root - b), c / (-root - b)])
    real = (b * b - a * c >= 0) & (roots > 0)
    return float(np.where(real, roots, np.inf).min())
