"""The groups in which a rigid body may move: SE(3) and its subgroups, each given by the twists that it allows.

Twists are left-trivialised, (linear, angular) in the body's frame, as `wbc.geometry.twist` has them and as From writes
them: (u, v, w, p, q, r).
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import scipy.linalg

from wbc.arrays import Array, ArrayLike, numbers
from wbc.errors import WbcError, show, unknown_name
from wbc.geometry import pose, twist
from wbc.model.parts import constant

GROUPS = {
    "SE(3)": (0, 1, 2, 3, 4, 5),
    "X(z)": (0, 1, 2, 5),
    "R3": (0, 1, 2),
    "SE(2)": (0, 1, 5),
    "SO(3)": (3, 4, 5),
    "R2": (0, 1),
    "SO(2)": (5,),
    "R": (0,),
}
"""The groups that have a name, with the entries of a twist that they allow (From, table 1).

X(z) is Schönflies's group: any translation, rotation about z. SE(2) and R2 move in the x-y plane, SO(2) turns about z,
R moves along x: axes of the body.
"""

_CLOSED = 1e-9  # of the twists of a group, relative to them: what counts as rounding


class Group:
    """A group of rigid motions, given by its selection matrix.

    Attributes:
        name: for messages.
        selection: H (6, m), a twist is H v (From 58); read-only. A single column makes a screw, of any pitch.
        dimension: m.
        structure: (m, m, m), `structure[k]` is the matrix `cross` of the k-th unit vector; read-only.

    Args:
        name: any.
        selection: columns that are independent, and closed: the bracket of two is a combination of all.
    """

    def __init__(self, name: str, selection: ArrayLike) -> None:
        self.name = name
        shape = numbers(selection, f"group {show(name)}: its selection matrix").shape
        if len(shape) != 2 or shape[0] != 6 or not 1 <= shape[1] <= 6:
            raise WbcError(
                f"group {show(name)}: its selection matrix has shape {shape}; expected (6, m), m from 1 to 6"
            )
        self.selection = H = constant(selection, shape, f"group {show(name)}: its selection matrix")
        self.dimension = m = H.shape[1]
        if np.linalg.matrix_rank(H) < m:
            raise WbcError(f"group {show(name)}: the columns of its selection matrix are not independent")
        self._inverse = np.linalg.pinv(H)  # Hᵀ, as From has it, where the columns are unit vectors
        for i, j in combinations(range(m), 2):
            bracket = twist.cross(H[:, i]) @ H[:, j]
            if not np.allclose(H @ self._inverse @ bracket, bracket, rtol=0, atol=_CLOSED * np.abs(H).max() ** 2):
                raise WbcError(
                    f"{show(name)} is not a group: columns {i} and {j} of its selection matrix have the bracket "
                    f"{show(bracket.tolist())}, which is no combination of its columns"
                )
        self.structure = constant(self._inverse @ twist.cross(H.T) @ H, (m, m, m), "structure")

    @staticmethod
    def named(name: str) -> Group:
        """One of `GROUPS`."""
        if not isinstance(name, str) or name not in GROUPS:
            raise unknown_name("group", name, GROUPS)
        return _named(name)

    def twist(self, v: ArrayLike) -> Array:
        """The left twist H v (6,) of the velocities v (m,) (From 58)."""
        return np.asarray(self.selection @ self.vector(v, "v"))

    def vector(self, values: ArrayLike, what: str) -> Array:
        """A checked, read-only copy of m numbers: velocities, coordinates φ, momenta or forces."""
        return constant(values, (self.dimension,), f"{what} on {self.name}")

    def hat(self, v: ArrayLike) -> Array:
        """v^ (4, 4), the element of the Lie algebra: Ṫ = T v^ (From, table 1)."""
        return twist.hat(self.twist(v))

    def cross(self, v: ArrayLike) -> Array:
        """ad_v (m, m), with ad_v w = [v, w] (From 8, 102): linear in v, so a sum over the unit vectors."""
        return np.asarray(np.tensordot(self.vector(v, "v"), self.structure, 1))

    def momentum_cross(self, p: ArrayLike) -> Array:
        """ad~_p (m, m), with ad~_p v = -ad_vᵀ p: the same product as a matrix times v (From 73, 98, 111).

        Args:
            p: momenta or forces on the m velocities (m,).
        """
        return np.asarray(-np.einsum("kij,i->jk", self.structure, self.vector(p, "p")))

    def exp(self, phi: ArrayLike) -> Array:
        """The motion e^φ^ (4, 4) by the coordinates φ (m,), m and rad (From 59)."""
        return pose.exp6(self.selection @ self.vector(phi, "phi"))

    def log(self, T: ArrayLike) -> Array:
        """The coordinates φ (m,) with `exp(phi)` = T, a rotation by π at most; at the half turn see `so3.log`.

        Args:
            T: a motion of the group (4, 4).
        """
        xi = pose.log6(constant(T, (4, 4), "T"))
        phi = np.asarray(self._inverse @ xi)
        if np.abs(self.selection @ phi - xi).max() > _CLOSED * max(1.0, np.abs(xi).max()):
            raise WbcError(f"T is not a motion of {self.name}: its twist is {show(xi.tolist())}")
        return phi

    def transform(self, T: ArrayLike) -> Array:
        """Ad_T (m, m), from velocities in b to velocities in a: what `twist.transform` is to the group's twists.

        Args:
            T: T_a_b (4, 4), a motion of the group.
        """
        return self._restrict(twist.transform(constant(T, (4, 4), "T")))

    def velocity_map(self, T: ArrayLike) -> Array:
        """B (m, m) with B v = (linear velocity in the world, angular velocity in the body), as a robot's base has it.

        Args:
            T: T_world_body (4, 4), in the group; the inverse pose gives the inverse of B.
        """
        turned = np.eye(6)
        turned[:3, :3] = constant(T, (4, 4), "T")[:3, :3]
        return self._restrict(turned)

    def velocity_transform(self, phi: ArrayLike) -> Array:
        """S(φ) = 1 - ad_φ/2 + ad_φ²/6 - ... (From 29), with v = S(φ) φ̇ for T = T₀ e^φ^ (From 28).

        Singular at full turns, as every map of m numbers to rotations is somewhere; φ is meant to be small.

        Args:
            phi: φ (m,), m and rad.

        Returns:
            S (m, m): on SO(3) it is `so3.exp_jacobian(-phi)`.
        """
        return _series(-self.cross(phi))

    def velocity_transform_derivative(self, phi: ArrayLike) -> Array:
        """∂S_ij/∂φ_k as entry [i, j, k] (m, m, m), exactly; at φ = 0 it is that of -ad_φ/2 (From 112).

        The derivative of a function of a matrix A along E stands above the diagonal of the function of [A, E; 0, A].
        """
        m, A = self.dimension, -self.cross(phi)
        zero = np.zeros((m, m))
        blocks = [_series(np.block([[A, -E], [zero, A]]))[:m, m:] for E in self.structure]
        return np.stack(blocks, axis=-1)

    def _restrict(self, X: Array) -> Array:
        """H⁺ X H, where X leads from twists of the group to twists of the group."""
        moved = X @ self.selection
        inside = np.asarray(self._inverse @ moved)
        if np.abs(self.selection @ inside - moved).max() > _CLOSED * max(1.0, np.abs(moved).max()):
            raise WbcError(f"T does not belong to {self.name}: it leads from its twists to others")
        return inside

    def __repr__(self) -> str:
        return f"Group({self.name!r}, dimension {self.dimension})"


@cache
def _named(name: str) -> Group:
    return Group(name, np.eye(6)[:, GROUPS[name]])


def _series(A: Array) -> Array:
    """Σ Aⁿ/(n+1)!: what stands above the diagonal of the exponential of [A, 1; 0, 0]."""
    n = len(A)
    return np.asarray(scipy.linalg.expm(np.block([[A, np.eye(n)], [np.zeros((n, 2 * n))]]))[:n, n:])
