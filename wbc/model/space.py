"""The configuration manifold of a robot: integration along a velocity, the way back, random and checked points."""

from __future__ import annotations

import math

import numpy as np

from wbc.arrays import Array, ArrayLike, IntArray, numbers
from wbc.compiled import kernel
from wbc.errors import WbcError, show
from wbc.geometry import quaternion
from wbc.model.model import Model

QUATERNION_TOLERANCE = 1e-3
"""A quaternion whose norm is this far from one is normalised; farther, it is refused."""

FEW = 3
"""Up to this many quaternions are faster one by one than all at once."""


class ConfigurationSpace:
    """Operations on `q` and `v` that need only the layout of the joints, the same for every backend.

    Args:
        model: whose joints give the layout.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.nq, self.nv = model.nq, model.nv
        scalar_q: list[int] = []
        scalar_v: list[int] = []
        starts_q: list[int] = []
        starts_v: list[int] = []
        for joint in model.joints.values():
            q, v = model.q_index[joint.name], model.v_index[joint.name]
            plain = {"spherical": 0, "floating": 3}.get(joint.kind, joint.nv)
            scalar_q += range(q, q + plain)
            scalar_v += range(v, v + plain)
            if joint.kind in ("spherical", "floating"):
                starts_q.append(q + plain)
                starts_v.append(v + plain)
        self._scalar_q: IntArray = np.array(scalar_q, dtype=np.intp)
        self._scalar_v: IntArray = np.array(scalar_v, dtype=np.intp)
        self._starts = starts_q
        self._quaternions: IntArray = np.add.outer(starts_q, np.arange(4)).astype(np.intp).reshape(-1, 4)
        self._angular: IntArray = np.add.outer(starts_v, np.arange(3)).astype(np.intp).reshape(-1, 3)
        self._position_of_velocity = np.full(self.nv, -1, dtype=np.intp)
        self._position_of_velocity[self._scalar_v] = self._scalar_q
        self._at_rest = np.zeros(self.nv)
        self._states = kernel and kernel.States(self.nq, self.nv, tuple(starts_q), QUATERNION_TOLERANCE)

    def __reduce__(self) -> tuple[type[ConfigurationSpace], tuple[Model]]:
        return type(self), (self.model,)

    @property
    def position_of_velocity(self) -> IntArray:
        """For each entry of `v` the entry of `q` that it is the rate of, -1 for angular velocities. Shape (nv,)."""
        return self._position_of_velocity.copy()

    def state(self, q: ArrayLike, v: ArrayLike | None) -> tuple[Array, Array]:
        """Checked copies of `q` and `v`, read-only: see `configuration` and `velocity`.

        Args:
            q: shape (nq,).
            v: shape (nv,); None: at rest.
        """
        if v is None:
            v = self._at_rest
        if self._states is not None and type(q) is np.ndarray and type(v) is np.ndarray:  # a masked array is neither
            both = np.empty(self.nq + self.nv)
            if self._states.take(q, v, both):
                both.setflags(write=False)
                return both[: self.nq], both[self.nq :]
        # in Python, which knows what is wrong
        checked, velocity = self.configuration(q), self.velocity(v)
        checked.setflags(write=False)  # in half the time of the flag by its name
        velocity.setflags(write=False)
        return checked, velocity

    def configuration(self, q: ArrayLike, name: str = "q") -> Array:
        """A checked copy of `q`: its size, finite numbers, unit quaternions.

        A quaternion whose norm is within `QUATERNION_TOLERANCE` of one is normalised; others are refused.

        Args:
            q: shape (nq,).
            name: what to call it in an error.
        """
        checked = self._vector(q, self.nq, name)
        for start in self._starts:
            w, x, y, z = checked[start : start + 4].tolist()
            norm = math.sqrt(w * w + x * x + y * y + z * z)
            error = abs(norm - 1.0)
            if error > 1e-15:
                if error > QUATERNION_TOLERANCE:
                    raise WbcError(
                        f"{name}[{start}:{start + 4}] = {show([w, x, y, z])} is a quaternion (w, x, y, z) of norm "
                        f"{norm:.6g}; it must be 1 within {QUATERNION_TOLERANCE:g} (normalise it)"
                    )
                checked[start : start + 4] /= norm
        return checked

    def velocity(self, v: ArrayLike, name: str = "v") -> Array:
        """A checked copy of `v`: its size, finite numbers.

        Args:
            v: shape (nv,).
            name: what to call it in an error.
        """
        return self._vector(v, self.nv, name)

    def _vector(self, values: ArrayLike, size: int, name: str) -> Array:
        checked = numbers(values, name)
        if checked.shape != (size,):
            sizes = f"nq = {self.nq}, nv = {self.nv}"
            raise WbcError(f"{name} has shape {checked.shape}; {self.model.name!r} needs ({size},) ({sizes})")
        with np.errstate(over="ignore"):  # it is told by name
            square = checked.dot(checked)
        if not math.isfinite(square):  # one product instead of a test of each entry
            bad = np.flatnonzero(~(np.abs(checked) < 1e150))
            what = "too large to compute with" if np.isfinite(checked).all() else "not finite"
            raise WbcError(f"{name} is {what} at {show(bad.tolist())}: {show(checked[bad].tolist())}")
        return checked

    def neutral(self) -> Array:
        """The configuration at the origin, shape (nq,)."""
        return self.model.neutral()

    def random(self, rng: np.random.Generator) -> Array:
        """A configuration drawn at random: joints uniform within their limits, rotations uniform over all rotations.

        Joints without limits are uniform within ±π (m or rad), positions of a floating base within ±1 m.

        Args:
            rng: the source of randomness; the same seed gives the same configuration.
        """
        if not isinstance(rng, np.random.Generator):
            raise WbcError(f"rng is a generator such as numpy.random.default_rng(0), not {show(rng)}")
        q = self.neutral()
        limits = self.model.limits
        lower, upper = limits.lower[self._scalar_v], limits.upper[self._scalar_v]
        free = np.isinf(lower) & np.isinf(upper)
        lower = np.where(free, -np.pi, np.where(np.isinf(lower), upper - 2 * np.pi, lower))
        upper = np.where(free, np.pi, np.where(np.isinf(upper), lower + 2 * np.pi, upper))
        q[self._scalar_q] = rng.uniform(lower, upper)
        for joint in self.model.joints.values():
            if joint.kind == "floating":
                start = self.model.q_index[joint.name]
                q[start : start + 3] = rng.uniform(-1.0, 1.0, 3)
        if self._starts:
            drawn = rng.normal(size=(len(self._starts), 4))
            q[self._quaternions] = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        return q

    def integrate(self, q: ArrayLike, v: ArrayLike, dt: float = 1.0) -> Array:
        """The configuration after moving with the constant velocity `v` for `dt` seconds.

        Quaternions follow `q ⊗ exp(ω dt)` with ω in the body (Kindr, discrete integration) and stay unit.

        Args:
            q: shape (nq,).
            v: shape (nv,).
            dt: s; may be negative.
        """
        start, velocity = self.configuration(q), self.velocity(v)
        try:
            seconds = float(dt)
        except (TypeError, ValueError):
            raise WbcError(f"dt = {show(dt)} is not a number of seconds") from None
        with np.errstate(over="ignore", invalid="ignore"):  # that is an error below
            moved = velocity * seconds
            size = moved.dot(moved)
        if not math.isfinite(size):
            raise WbcError(f"dt = {show(dt)} is not a finite time for this velocity")
        start[self._scalar_q] += moved[self._scalar_v]
        if len(self._starts) <= FEW:  # one by one, each in plain numbers
            for where, angular in zip(self._quaternions, self._angular, strict=True):
                one = quaternion.multiply(start[where], quaternion.from_rotation_vector(moved[angular]))
                start[where] = one / math.sqrt(one.dot(one))
            return start
        turned = quaternion.multiply(start[self._quaternions], quaternion.from_rotation_vector(moved[self._angular]))
        start[self._quaternions] = turned / np.linalg.norm(turned, axis=1, keepdims=True)
        return start

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """The velocity that leads from `q0` to `q1` in one second, the shortest way round: integrate's inverse.

        Args:
            q0: shape (nq,).
            q1: shape (nq,).

        Returns:
            Shape (nv,); angular parts in the body frame.
        """
        first, second = self.configuration(q0, "q0"), self.configuration(q1, "q1")
        v = np.zeros(self.nv)
        v[self._scalar_v] = second[self._scalar_q] - first[self._scalar_q]
        if self._starts:
            turn = quaternion.multiply(quaternion.inverse(first[self._quaternions]), second[self._quaternions])
            v[self._angular] = quaternion.to_rotation_vector(turn)
        return v
