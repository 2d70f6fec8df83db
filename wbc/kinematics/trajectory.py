"""Paths for tasks to follow: functions of time that return value, velocity and acceleration.

Values are vectors (a position, joints), rotations or poses. As targets of tasks (`wbc.tasking.target.Moving`) they give
what these expect: for vectors of n entries rates of n entries, for rotations and poses six, linear then angular, world
axes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.errors import WbcError, number, show
from wbc.geometry import so3
from wbc.kinematics.rotation_spline import RotationSpline
from wbc.kinematics.vector_spline import VectorSpline

SHORTEST, LONGEST = 1e-9, 1e9
"""What a path or a part of one may take, s."""


def minimum_jerk(share: float) -> tuple[float, float, float]:
    """10 s³ − 15 s⁴ + 6 s⁵ and its two derivatives: from 0 to 1 at rest with least jerk; s is held in [0, 1]."""
    s = min(max(number(share, "share", low=-np.inf), 0.0), 1.0)
    return (10 - 15 * s + 6 * s * s) * s**3, 30 * (s * (1 - s)) ** 2, 60 * s * (1 - s) * (1 - 2 * s)


class MinimumJerk:
    """The path of least jerk from one value to another, at rest at both ends and outside of the interval.

    A rotation turns about one axis, the short way: R = exp(share · log(R₁ R₀ᵀ)) R₀.

    Args:
        start: vector (n,), rotation (3, 3) or pose (4, 4).
        goal: of the same kind.
        duration: s.
        begin: s.
    """

    def __init__(self, start: ArrayLike, goal: ArrayLike, duration: float, begin: float = 0.0) -> None:
        values = _values([start, goal], "start and goal")
        self.duration = number(duration, "duration, s,", SHORTEST, LONGEST)
        self.begin = number(begin, "begin, s,", -LONGEST, LONGEST)
        self._vectors, self._rotations = _split(values)
        self._start = values[0]
        self._turn = np.zeros(3) if self._rotations is None else so3.boxminus(self._rotations[1], self._rotations[0])

    def __call__(self, time: float) -> tuple[Array, Array, Array]:
        """Value, velocity and acceleration at a time, s."""
        share, rate, bend = minimum_jerk((_time(time) - self.begin) / self.duration)
        rate, bend = rate / self.duration, bend / self.duration**2
        linear = angular = None
        if self._vectors is not None:
            start, way = self._vectors[0], self._vectors[1] - self._vectors[0]
            linear = start + share * way, rate * way, bend * way
        if self._rotations is not None:
            turned = so3.boxplus(self._rotations[0], share * self._turn)
            angular = turned, rate * self._turn, bend * self._turn
        return _joined(linear, angular)


class Spline:
    """A spline through values at given times, with continuous velocity and acceleration; at rest before and after.

    Vectors: the polynomial spline of the degree. Rotations: on each stretch φ(t) of R = exp(φ) Rᵢ is a polynomial of
    the degree; at the inner knots angular velocity and acceleration are those of the smooth spline of degree 3.

    Args:
        times: of the values, s, increasing, two or more.
        values: vectors, rotations or poses, as many.
        degree: 3 is the smoothest; with 5 the acceleration at both ends is given too, and zero unless told.
        velocities: at the first and the last time; None: at rest. Vectors: shape (n,) each, else (3,) or (6,).
        accelerations: likewise, of degree 5.
    """

    def __init__(
        self,
        times: ArrayLike,
        values: Sequence[ArrayLike],
        degree: int = 5,
        velocities: tuple[ArrayLike, ArrayLike] | None = None,
        accelerations: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> None:
        given, knots = _values(values, "values"), numbers(times, "times")
        if knots.shape != (len(given),) or len(given) < 2 or not (np.diff(knots) >= SHORTEST).all():
            raise WbcError(f"times must be {max(len(given), 2)} increasing numbers, one a value, not {show(times)}")
        if not (np.abs(knots) <= LONGEST).all():
            raise WbcError(f"times must be finite, {LONGEST:g} s at the most, not {show(times)}")
        if degree not in (3, 5):
            raise WbcError(f"degree = {show(degree)} must be 3 or 5")
        if degree == 3 and accelerations is not None:
            raise WbcError("a spline of degree 3 has no free accelerations at its ends; take degree 5")
        vectors, rotations = _split(given)
        sizes = (0 if vectors is None else vectors.shape[1]), (0 if rotations is None else 3)
        v, a = _ends(velocities, sum(sizes), "velocities"), _ends(accelerations, sum(sizes), "accelerations")
        n = sizes[0]
        self._linear = None if vectors is None else VectorSpline(knots, vectors, degree, v[:, :n], a[:, :n])
        self._angular = None if rotations is None else RotationSpline(knots, rotations, degree, v[:, n:], a[:, n:])
        self.begin, self.duration = float(knots[0]), float(knots[-1] - knots[0])

    def __call__(self, time: float) -> tuple[Array, Array, Array]:
        """Value, velocity and acceleration at a time, s."""
        time = _time(time)
        linear = None if self._linear is None else self._linear(time)
        angular = None if self._angular is None else self._angular(time)
        return _joined(linear, angular)


def _time(time: float) -> float:
    """A time that a path is asked for; infinite ones are before and after it."""
    found = numbers(time, "time")
    if found.ndim or np.isnan(found):
        raise WbcError(f"time = {show(time)} must be a number of seconds")
    return float(found)


def _values(values: Sequence[ArrayLike], what: str) -> Array:
    """Vectors, rotations or poses of one kind, checked; shape (count, …)."""
    if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str) or not len(values):
        raise WbcError(f"{what} must be a list of vectors, rotations or poses, not {show(values)}")
    arrays = [numbers(value, what) for value in values]
    shape = arrays[0].shape
    if any(array.shape != shape for array in arrays) or not (len(shape) == 1 or shape in ((3, 3), (4, 4))):
        raise WbcError(f"{what} must be vectors, rotations (3, 3) or poses (4, 4) of one kind, not {show(values)}")
    stacked = np.stack(arrays)
    if not np.isfinite(stacked).all():
        raise WbcError(f"{what} must be finite, not {show(values)}")
    if len(shape) == 2 and not so3.is_rotation(stacked[:, :3, :3], 1e-6):
        raise WbcError(f"{what}: a rotation is not a rotation matrix, to 1e-6")
    return stacked


def _split(values: Array) -> tuple[Array | None, Array | None]:
    """Vectors and rotations of values."""
    if values.ndim == 2:
        return values, None
    if values.shape[1] == 3:
        return None, values
    return values[:, :3, 3], values[:, :3, :3]


def _ends(given: tuple[ArrayLike, ArrayLike] | None, size: int, what: str) -> Array:
    """Rates at the two ends, shape (2, size)."""
    ends = np.zeros((2, size)) if given is None else numbers(given, what)
    if ends.shape != (2, size) or not np.isfinite(ends).all():
        raise WbcError(
            f"{what} must be two of {size} finite numbers, at the first time and the last, not {show(given)}"
        )
    return ends


def _joined(
    linear: tuple[Array, Array, Array] | None, angular: tuple[Array, Array, Array] | None
) -> tuple[Array, Array, Array]:
    """What a task expects of a vector, a rotation or a pose."""
    if angular is None:
        assert linear is not None
        return linear
    zero = np.zeros(3)
    position, velocity, acceleration = (zero, zero, zero) if linear is None else linear
    value = angular[0]
    if linear is not None:
        value = np.eye(4)
        value[:3, :3], value[:3, 3] = angular[0], position
    return value, np.concatenate([velocity, angular[1]]), np.concatenate([acceleration, angular[2]])
