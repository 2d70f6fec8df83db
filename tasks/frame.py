"""Tasks on the pose of a frame: by acceleration, or as an impedance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np
import scipy.linalg

from tasks.axes import AXES, picked
from tasks.motion import Motion, motion
from wbc.arrays import Array, ArrayLike, as_slice, numbers
from wbc.contacts import Contact
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, show, unknown_name
from wbc.geometry import so3
from wbc.geometry.pose_error import pose_error
from wbc.tasking.gains import Gains
from wbc.tasking.law import law
from wbc.tasking.rows import Rows
from wbc.tasking.target import Aimed, Moving, Target
from wbc.tasking.tick import Tick


class OnFrame(Aimed):
    """A task on the pose, the position or the orientation of a frame."""

    def __init__(
        self,
        frame: str,
        target: ArrayLike | Moving | None,
        axes: str | Iterable[str],
        axes_in: Literal["world", "frame"] | ArrayLike,
        offset: ArrayLike | None,
        relative_to: str | None,
        velocity: ArrayLike | None,
        acceleration: ArrayLike | None,
        name: str,
        weight: float,
        tolerance: ArrayLike | None,
    ) -> None:
        super().__init__(name, weight, tolerance)
        self.frame, self.relative_to = frame, relative_to
        words = {"pose": AXES, "position": AXES[:3], "orientation": AXES[3:]}
        self.axes = picked(axes, name, words=words)
        rows = np.array([AXES.index(axis) for axis in self.axes], dtype=np.intp)
        rotates, shifts = rows.max() > 2, rows.min() < 3
        self._picked = as_slice(rows)
        self._axes_in = self._check_axes_in(axes_in)
        self._in_world = isinstance(self._axes_in, str) and self._axes_in == "world"
        # all six in the axes in which a frame is seen: nothing to turn or to pick, as for most poses
        self._as_seen = list(rows) == list(range(6)) and self._in_world
        self._offset = None if offset is None else self._check_offset(offset)
        shapes: tuple[tuple[int, ...], ...] = ((4, 4),)
        if not rotates:
            shapes = ((3,), (4, 4))
        elif not shifts:
            shapes = ((3, 3), (4, 4))
        elif target is not None and not callable(target) and np.shape(target) in ((3,), (3, 3)):
            asked, word = np.shape(target), "position" if np.ndim(target) == 1 else "orientation"
            raise WbcError(
                f"{name}: target of shape {asked} is not a pose, (4, 4); for the {word} alone, give axes={word!r}"
            )
        self._target = Target(target, shapes, 6, velocity, acceleration, name, _turns if rotates else None)

    def _check_axes_in(self, axes_in: object) -> Literal["world", "frame"] | Array:
        if isinstance(axes_in, str):
            if axes_in not in ("world", "frame"):
                raise unknown_name("axes_in", axes_in, ("world", "frame"))
            return "world" if axes_in == "world" else "frame"
        R = numbers(axes_in, f"{self.name}: axes_in")
        if R.shape != (3, 3) or not so3.is_rotation(R, 1e-6):
            raise WbcError(f"{self.name}: axes_in must be 'world', 'frame' or a rotation matrix, not {show(axes_in)}")
        return R

    def _check_offset(self, offset: ArrayLike) -> Array:
        given = numbers(offset, f"{self.name}: offset")
        if given.shape == (3,):
            pose = np.eye(4)
            pose[:3, 3] = given
            given = pose
        if given.shape != (4, 4) or not so3.is_rotation(given[:3, :3], 1e-6) or not np.isfinite(given).all():
            raise WbcError(
                f"{self.name}: offset must be a point, shape (3,), or a pose, shape (4, 4), not {show(offset)}"
            )
        return given

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        for frame in (self.frame, self.relative_to):
            if frame is not None and frame not in robot.frames:
                raise WbcError(f"{self.name}: {unknown_name('frame', frame, robot.frames)}")

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"{axis} of {self.frame}" for axis in self.axes]

    def error(self, robot: Dynamics, tick: Tick) -> Array:
        """Desired − measured in the task's axes, m and rad, shape (rows,)."""
        seen = motion(robot, self.frame, self._offset, self.relative_to)
        error, _, _ = self._wanted(seen, tick.time)
        return self._turned(seen, error)

    def _deviation(self, seen: Motion, time: float) -> tuple[Array, Array, Array]:
        """Error, error rate and desired acceleration: six entries each, in the axes of `seen`.

        The rate of the rotation error is taken as the difference of the angular velocities.
        """
        error, velocity, acceleration = self._wanted(seen, time)
        return error, velocity - seen.velocity, acceleration

    def _wanted(self, seen: Motion, time: float) -> tuple[Array, Array, Array]:
        """Error, desired velocity and desired acceleration: six entries each, in the axes of `seen`.

        The rotation error is log(R* Rᵀ) (ETH 2.251).
        """
        wanted, velocity, acceleration = self._target.at(time, seen.pose)
        shape = wanted.shape
        if shape == (3,):
            error = np.zeros(6)
            error[:3] = wanted - seen.position
        elif shape == (3, 3):
            error = np.zeros(6)
            error[3:] = so3.log(wanted @ seen.rotation.T)
        else:
            error = pose_error(wanted, seen.pose)
        return error, velocity, acceleration

    def _turned(self, seen: Motion, rows: Array) -> Array:
        """The rows that are controlled, out of six in the axes of the task."""
        if self._in_world:
            return rows[self._picked]
        W = seen.rotation if isinstance(self._axes_in, str) else self._axes_in
        turned = np.concatenate([W.T @ rows[:3], W.T @ rows[3:]])
        return turned[self._picked]

    @property
    def purpose(self) -> str:
        """See `Task`."""
        against = f" against {self.relative_to}" if self.relative_to else ""
        return f"{', '.join(self.axes)} of {self.frame}{against} {self._aim}"


def _turns(target: Array) -> bool:
    """Whether a target's rotation is one."""
    return so3.is_rotation(target[:3, :3], 1e-6)


class EndEffectorAcceleration(OnFrame):
    """Moves a frame to a pose, or along a path.

    J v̇ = ẇ* − J̇v (ETH 3.111) with ẇ* = acceleration + kd (velocity − w) + kp error (ETH 3.91); the rotation error is
    log(R* Rᵀ).

    Args:
        frame: its name.
        target: a pose (4, 4), a position (3,) where only positions are controlled, a rotation (3, 3) where only
            rotations are; or a function of time that gives one, or one with velocity and acceleration (6 each, linear
            first); None: where the frame is at the first tick. In the axes of the world, or of `relative_to`.
        gains: in 1/s² and 1/s; numbers, or one for each controlled axis; None: 2 Hz, critically damped. Their speed
            bounds the norm of the linear rows, m/s, and that of the angular rows, rad/s.
        axes: "pose", "position", "orientation", or names out of x, y, z, rx, ry, rz: "xy", ("z", "ry").
        axes_in: the axes that these names mean: "world" (or those of `relative_to`), "frame", or a rotation matrix,
            axes → world.
        offset: a point (3,) or a pose (4, 4) in the frame that is controlled instead of its origin: a tool.
        relative_to: the frame of the robot relative to which motion is controlled; None: the world.
        velocity: feed-forward beside a constant target, shape (6,).
        acceleration: feed-forward, shape (6,).
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`.
    """

    bounds_approach = True

    def __init__(
        self,
        frame: str,
        target: ArrayLike | Moving | None = None,
        gains: Gains | None = None,
        *,
        axes: str | Iterable[str] = "pose",
        axes_in: Literal["world", "frame"] | ArrayLike = "world",
        offset: ArrayLike | None = None,
        relative_to: str | None = None,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        name: str | None = None,
        weight: float = 1.0,
        tolerance: ArrayLike | None = None,
    ) -> None:
        name = str(frame) if name is None else name
        super().__init__(
            frame, target, axes, axes_in, offset, relative_to, velocity, acceleration, name, weight, tolerance
        )
        self.gains = Gains.of(gains, Gains(2.0), name, bounds_approach=self.bounds_approach)
        self.gains.check(len(self.axes), name)
        self.approach_groups = np.array([axis in AXES[3:] for axis in self.axes], dtype=np.intp)

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row an axis."""
        seen = motion(robot, self.frame, self._offset, self.relative_to)
        error, velocity, acceleration = self._wanted(seen, tick.time)
        parts = seen.jacobian, seen.bias, error, velocity, acceleration
        if not self._as_seen:
            parts = tuple([self._turned(seen, part) for part in parts])  # type: ignore[assignment]
        J, bias, e, rate, feed = parts
        kd, kp, speed, groups = self.gains.kd, self.gains.kp, self.gains.speed, self.approach_groups
        b = law(
            v=robot.v,
            J=J,
            bias=bias,
            kd=kd,
            kp=kp,
            wanted=e,
            rate=rate,
            acceleration=feed,
            speed=speed,
            groups=groups,
        )
        return Rows.equal(b, acceleration=J)


class CartesianImpedance(OnFrame):
    """Makes a frame yield to forces like a spring and a damper around its target.

    Without forces from outside J v̇ = ẇ* − J̇v + Λ⁻¹ (D (w* − w) + K error), with Λ⁻¹ the frame's own inverse inertia
    J M⁻¹ Jᵀ (ETH 3.87), or the inverse of a desired inertia: a force on the frame then feels K, D and that inertia.
    With the own inertia of a fixed base, τ = Jᵀ (Λ (ẇ* − J̇v) + D (w* − w) + K error) + h.

    Args:
        frame: its name.
        stiffness: K, N/m and N m/rad: a number, one for each controlled axis, or a matrix.
        damping: D, N s/m and N m s/rad, likewise.
        target: see `EndEffectorAcceleration`.
        inertia: kg and kg m²: a number, one for each axis, or a matrix; None: the frame's own.
        axes: see `EndEffectorAcceleration`.
        axes_in: see `EndEffectorAcceleration`.
        offset: see `EndEffectorAcceleration`.
        relative_to: see `EndEffectorAcceleration`.
        velocity: see `EndEffectorAcceleration`.
        acceleration: see `EndEffectorAcceleration`.
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`.
    """

    def __init__(
        self,
        frame: str,
        stiffness: ArrayLike,
        damping: ArrayLike,
        target: ArrayLike | Moving | None = None,
        *,
        inertia: ArrayLike | None = None,
        axes: str | Iterable[str] = "pose",
        axes_in: Literal["world", "frame"] | ArrayLike = "world",
        offset: ArrayLike | None = None,
        relative_to: str | None = None,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        name: str | None = None,
        weight: float = 1.0,
        tolerance: ArrayLike | None = None,
    ) -> None:
        name = f"impedance of {frame}" if name is None else name
        super().__init__(
            frame, target, axes, axes_in, offset, relative_to, velocity, acceleration, name, weight, tolerance
        )
        self.stiffness, self.damping = self._square(stiffness, "stiffness"), self._square(damping, "damping")
        self._mobility = None if inertia is None else np.linalg.inv(self._square(inertia, "inertia", positive=True))

    def _square(self, values: ArrayLike, what: str, positive: bool = False) -> Array:
        """A number, a diagonal or a matrix as a symmetric matrix with no negative eigenvalue."""
        count, given = len(self.axes), numbers(values, f"{self.name}: {what}")
        matrix = (
            given
            if given.ndim == 2
            else np.diag(np.broadcast_to(given, (count,)))
            if given.size in (1, count)
            else None
        )
        if matrix is None or matrix.shape != (count, count) or not np.isfinite(matrix).all():
            raise WbcError(f"{self.name}: {what} must be a number, {count} numbers or a matrix, not {show(values)}")
        least = float(np.linalg.eigvalsh((matrix + matrix.T) / 2)[0])
        if least < 0 or (positive and least == 0) or not np.allclose(matrix, matrix.T):
            raise WbcError(f"{self.name}: {what} must be symmetric and not negative, not {show(values)}")
        return matrix

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row an axis."""
        seen = motion(robot, self.frame, self._offset, self.relative_to)
        error, rate, acceleration = self._deviation(seen, tick.time)
        J = self._turned(seen, seen.jacobian)
        force = self.stiffness @ self._turned(seen, error) + self.damping @ self._turned(seen, rate)
        mobility = self._mobility
        if mobility is None:
            mobility = J @ scipy.linalg.solve(robot.mass_matrix, J.T, assume_a="pos", check_finite=False)
        return Rows.equal(self._turned(seen, acceleration - seen.bias) + mobility @ force, acceleration=J)
