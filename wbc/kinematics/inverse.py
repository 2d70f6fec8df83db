"""Numerical inverse kinematics: it turns a pose into a configuration (ETH 2.9.3, algorithm 1)."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import lapack

from wbc.arrays import Array, ArrayLike, MaskArray, as_slice, numbers
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, number, show, unknown_name
from wbc.geometry import so3
from wbc.kinematics.parameterisation import end_effector_coordinates, twist_to_rates
from wbc.model.loops import tied_joints

Method = Literal["damped", "pseudo-inverse", "transpose"]
METHODS = ("damped", "pseudo-inverse", "transpose")

GREATEST = 1.0
"""No joint moves farther in one step, rad or m: the linearisation would not know."""

PATIENCE, PROGRESS = 6, 0.96
"""A start from which the squared error has not come down to this share for so many steps is given up."""

FLOOR = 1e-12
"""Of λ², relative to |J|² as it usually is: what keeps a singular matrix solvable."""

FREE_RESTARTS = 5
"""Restarts of the search without limits, which tells whether these are the reason that a target was not reached."""

STUCK = 1e-2
"""Where the gradient is below this share of what it could be, no motion of the joints brings the frame nearer."""


@dataclass(frozen=True, eq=False)
class InverseSolution:
    """The result of inverse kinematics.

    Attributes:
        q: the configuration, m and rad, shape (nq,): the solution, or the nearest one found.
        solved: whether both errors are within the tolerance.
        position_error: distance of the frame from its target, m; 0 if the target has no position.
        rotation_error: angle between the frame and its target, rad; 0 if the target has no rotation.
        reason: why it ended: "reached", or the reason for the remaining error.
        iterations: steps from all starts together.
        starts: how many starts were tried.
        path: the configurations of the last start, m and rad, shape (steps, nq), if recorded.
    """

    q: Array
    solved: bool
    position_error: float
    rotation_error: float
    reason: str
    iterations: int
    starts: int
    path: Array

    def __str__(self) -> str:
        if self.solved:
            starts = "one start" if self.starts == 1 else f"{self.starts} starts"
            return f"reached in {self.iterations} steps from {starts}"
        return f"{self.position_error:.3g} m and {self.rotation_error:.3g} rad off: {self.reason}"


class InverseKinematics:
    """Finds configurations that bring a frame to a target, within joint limits.

    A step from q is k J⁺ e, with e the position error and the rotation vector of the relative rotation (ETH 2.251,
    2.255), and J⁺ one of

    - "damped": Jᵀ(JJᵀ + λ²1)⁻¹ (ETH 2.207) with λ² = damping · |e|²: slow and safe far away, quadratic at the end;
    - "pseudo-inverse": Jᵀ(JJᵀ)⁻¹ (ETH 2.205, 2.243);
    - "transpose": α Jᵀ (ETH 2.244) with the α that makes the linearised error least.

    A joint that is at its limit and would go beyond is left out of the step. Where the error stays, it is tried again
    from a random configuration. The base of a floating robot stays where it is: to move it, or to reach with several
    frames, let `DifferentialKinematics` run.

    Args:
        robot: of `wbc.load`; it works on a copy.
        frame: to bring to a target.
        joints: names of those that may move, of one coordinate each; None: all that move the frame.
        method: see above.
        scale: k, at most 1.
        damping: of "damped": λ² as a share of |e|².
        tolerance: m and rad.
        iterations: at most, from one start.
        restarts: at most, from random configurations, after the first start.
        coordinates: names of position and rotation coordinates (see `end_effector_coordinates`): steps are then as in
            algorithm 1 as printed, with χ* − χ as error and the analytical Jacobian; None: as above.
    """

    def __init__(
        self,
        robot: Dynamics,
        frame: str,
        *,
        joints: Iterable[str] | None = None,
        method: Method = "damped",
        scale: float = 1.0,
        damping: float = 0.03,
        tolerance: float = 1e-6,
        iterations: int = 100,
        restarts: int = 50,
        coordinates: tuple[str, str] | None = None,
    ) -> None:
        if not isinstance(robot, Dynamics):
            raise WbcError(f"inverse kinematics needs a robot of wbc.load, not {show(robot)}")
        self.robot, self.frame = robot.copy(), frame
        if method not in METHODS:
            raise unknown_name("method", method, METHODS)
        self.method = method
        self.scale = number(scale, "scale", high=1.0, above=True)
        self.damping = number(damping, "damping")
        self.tolerance = number(tolerance, "tolerance", above=True)
        self.iterations, self.restarts = _whole(iterations, "iterations", 1), _whole(restarts, "restarts", 0)
        self.coordinates = coordinates
        if coordinates is not None:
            if isinstance(coordinates, str) or np.shape(coordinates) != (2,):
                raise WbcError(f"coordinates = {show(coordinates)} must be two names, of a position and of a rotation")
            end_effector_coordinates(np.eye(4), *coordinates)  # raises where a name is unknown
        self._find_joints(joints)

    def _find_joints(self, names: Iterable[str] | None) -> None:
        """Where the joints that may move stand in q and v."""
        model = self.robot.model
        if names is not None and (isinstance(names, str) or not isinstance(names, Iterable)):
            raise WbcError(f"joints must be a list of names, not {show(names)}")
        moves = np.zeros(model.nv)
        for seed in range(2):
            self.robot.update(self.robot.random(np.random.default_rng(seed)))
            moves += (self.robot.jacobian(self.frame) ** 2).sum(axis=0)
        self._floor = FLOOR * float(moves.sum())
        if names is None:
            found = [joint for joint in model.joints.values() if joint.nv == 1 and moves[model.v_index[joint.name]] > 0]
        else:
            found = [model.joint(name) for name in names]
            odd = [joint.name for joint in found if joint.nv != 1]
            if odd:
                raise WbcError(f"joints {odd} have several coordinates; choose joints with one")
        if not found or not self._floor:
            raise WbcError(f"no joint with one coordinate moves {self.frame!r}")
        ties = set[str]().union(*tied_joints(model))
        tied = [joint.name for joint in found if joint.name in ties]
        if tied:
            raise WbcError(
                f"joints {tied} are in closed loops, which it does not keep closed: name others with joints=, "
                "or follow the target with wbc.kinematics.DifferentialKinematics, which does"
            )
        self.joints = tuple(joint.name for joint in found)
        self._q = as_slice(np.array([model.q_index[name] for name in self.joints], dtype=np.intp))
        self._v = as_slice(np.array([model.v_index[name] for name in self.joints], dtype=np.intp))
        self._lower, self._upper = model.limits.lower[self._v], model.limits.upper[self._v]
        # for a quick look whether any joint may be at a limit: |q − middle| < half
        bounded = np.isfinite(self._lower) & np.isfinite(self._upper)
        lower, upper = np.where(bounded, self._lower, 0.0), np.where(bounded, self._upper, 0.0)
        none = np.isinf(self._lower) & np.isinf(self._upper)
        self._middle, self._half = (lower + upper) / 2, np.where(none, np.inf, (1.0 - 1e-9) * (upper - lower) / 2)

    def solve(
        self, target: ArrayLike, q0: ArrayLike | None = None, *, seed: int = 0, record: bool = False
    ) -> InverseSolution:
        """Brings the frame to a target.

        Args:
            target: in the world: a pose (4, 4), a position (3,) or a rotation (3, 3).
            q0: to start from, shape (nq,); joints beyond a limit start at it. None: the nominal configuration.
            seed: of the random starts; the same gives the same.
            record: whether to keep the path from the last start.
        """
        T, rows = _target(target)
        rng = np.random.default_rng(_whole(seed, "seed", 0))
        q = numbers(self.robot.model.nominal if q0 is None else q0, "q0")
        self.robot.update(q)  # raises where q0 is not what it should be
        q[self._q] = np.clip(q[self._q], self._lower, self._upper)
        best, nearest, iterations, path = q, np.inf, 0, [q]
        start = 0
        for start in range(self.restarts + 1):
            if start:
                q = q.copy()
                q[self._q] = self.robot.random(rng)[self._q]
            path = [q]
            found, error, steps, solved = self._descend(T, rows, q, path if record else None)
            iterations += steps
            if error < nearest:
                best, nearest = found, error
            if solved:
                break
        else:
            best, steps, solved = self._settle(T, rows, best)
            iterations += steps
        e, J = self._linearised(T, rows, best)
        position, rotation = _sizes(e, rows)
        reason = "reached" if solved else self._why(target, e, J, best)
        return InverseSolution(
            best, solved, position, rotation, reason, iterations, start + 1, np.array(path) if record else np.array([q])
        )

    def _descend(self, T: Array, rows: slice, q: Array, path: list[Array] | None) -> tuple[Array, float, int, bool]:
        """From one start: the nearest configuration, its error, the steps taken, and whether it is a solution."""
        best, nearest, mark, waited = q, np.inf, np.inf, 0
        enough = 2.0 * self.tolerance**2
        for step in range(self.iterations):
            e, J = self._linearised(T, rows, q)
            square = float(e.dot(e))
            if square < nearest:
                best, nearest = q, square
            if square < enough and max(_sizes(e, rows)) < self.tolerance:
                return q, square**0.5, step, True
            if square < PROGRESS * mark:
                mark, waited = square, 0
            else:
                waited += 1
                if waited > PATIENCE / self.scale:
                    return best, nearest**0.5, step, False
            if self.coordinates is not None:
                e, J = self._in_coordinates(T, rows, q, J)
            q = self._moved(q, self._step(e, J, q[self._q]))
            if path is not None:
                path.append(q)
        e, _ = self._linearised(T, rows, q)
        if max(_sizes(e, rows)) < self.tolerance:
            return q, float(e.dot(e)) ** 0.5, self.iterations, True
        return best, nearest**0.5, self.iterations, False

    def _settle(self, T: Array, rows: slice, q: Array) -> tuple[Array, int, bool]:
        """Goes as near as it gets, by damped steps that never go farther away: where a target is out of reach, others
        overshoot. Gives the configuration, the steps taken, and whether it is a solution.
        """
        e, J = self._linearised(T, rows, q)
        square = float(e.dot(e))
        damping = max(self.damping, 1e-3) * square
        for step in range(2 * self.iterations):
            if max(_sizes(e, rows)) < self.tolerance:
                return q, step, True
            tried = self._moved(q, self._damped(e, self._free(e, J, q[self._q]), damping))
            e_tried, J_tried = self._linearised(T, rows, tried)
            square_tried = float(e_tried.dot(e_tried))
            if square_tried < square:
                q, e, J, damping, square = tried, e_tried, J_tried, damping / 3.0, square_tried
            else:
                damping *= 4.0
            if not 1e-12 < damping < 1e12:
                break
        return q, step + 1, max(_sizes(e, rows)) < self.tolerance

    def _moved(self, q: Array, step: Array) -> Array:
        """The configuration after a step of the joints that may move, within their limits."""
        q = q.copy()
        q[self._q] = np.minimum(np.maximum(q[self._q] + step, self._lower), self._upper)
        return q

    def _linearised(self, T: Array, rows: slice, q: Array) -> tuple[Array, Array]:
        """Error of the frame, m and rad, and the Jacobian of its motion in the joints that may move."""
        robot = self.robot
        robot.update(q)
        pose = robot.pose(self.frame)
        e = np.zeros(6)
        if rows.start == 0:
            e[:3] = T[:3, 3] - pose[:3, 3]
        if rows.stop == 6:
            e[3:] = so3.log(T[:3, :3].dot(pose[:3, :3].T))
        return e[rows], robot.jacobian(self.frame)[rows, self._v]

    def _in_coordinates(self, T: Array, rows: slice, q: Array, J: Array) -> tuple[Array, Array]:
        """χ* − χ and the analytical Jacobian (ETH 2.242), of what is asked for."""
        assert self.coordinates is not None
        chi = end_effector_coordinates(self.robot.pose(self.frame), *self.coordinates)
        wanted = end_effector_coordinates(T, *self.coordinates)
        inverse = twist_to_rates(chi, *self.coordinates)
        here = slice(0 if rows.start == 0 else 3, len(chi) if rows.stop == 6 else 3)
        return (wanted - chi)[here], inverse[here, rows] @ J

    def _blocked(self, e: Array, J: Array, joints: Array) -> MaskArray:
        """Joints that are at a limit and would go beyond it to bring the frame nearer."""
        g = e.dot(J)
        blocked: MaskArray = ((joints <= self._lower) & (g < 0)) | ((joints >= self._upper) & (g > 0))
        return blocked

    def _step(self, e: Array, J: Array, joints: Array) -> Array:
        """The change of the joints, shape (joints,)."""
        J = self._free(e, J, joints)
        if self.method == "transpose":
            g = e.dot(J)
            image = J.dot(g)
            step: Array = g * (g.dot(g) / max(float(image.dot(image)), 1e-300))
        else:
            step = self._damped(e, J, self.damping * float(e.dot(e)) if self.method == "damped" else 0.0)
        step *= self.scale
        if not float(step.dot(step)) <= GREATEST**2:
            longest = float(np.abs(step).max())
            step = step * min(GREATEST / longest, 1.0) if longest < np.inf else np.zeros(len(joints))
        return step

    def _free(self, e: Array, J: Array, joints: Array) -> Array:
        """J without the joints that are blocked."""
        if (np.abs(joints - self._middle) < self._half).all():
            return J
        free: Array = J * ~self._blocked(e, J, joints)
        return free

    def _damped(self, e: Array, J: Array, square: float) -> Array:
        """Jᵀ (J Jᵀ + λ² 1)⁻¹ e by one Cholesky factorisation."""
        A = J.dot(J.T)
        A.ravel()[:: len(e) + 1] += square + self._floor
        step: Array = lapack.dposv(A, e)[1].dot(J)
        return step

    def _why(self, target: ArrayLike, e: Array, J: Array, q: Array) -> str:
        """What holds the frame back in the nearest configuration."""
        joints = q[self._q]
        blocked = self._blocked(e, J, joints)
        pull, possible = np.linalg.norm(e.dot(J * ~blocked)), np.linalg.norm(e) * np.linalg.norm(J)
        if pull > STUCK * possible:
            return f"not converged after {self.iterations} steps: allow more iterations or restarts"
        if blocked.any():
            if not self._without_limits().solve(target, q).solved:
                return "out of reach: no motion of the joints brings it there, even beyond their limits"
            held = [
                f"{name} at its {'upper' if joint >= upper else 'lower'} limit"
                for name, joint, upper, is_blocked in zip(self.joints, joints, self._upper, blocked, strict=True)
                if is_blocked
            ]
            return f"joint limits hold it: {', '.join(held)}"
        return "out of reach: no motion of the joints brings it nearer"

    def _without_limits(self) -> InverseKinematics:
        """The same for joints without limits, from few starts. It shares the robot, which is put in each state anew."""
        free = copy.copy(self)
        free.restarts = min(self.restarts, FREE_RESTARTS)
        free._lower, free._upper = np.full(len(self.joints), -np.inf), np.full(len(self.joints), np.inf)
        free._middle, free._half = np.zeros(len(self.joints)), np.full(len(self.joints), np.inf)
        return free


def inverse_kinematics(
    robot: Dynamics,
    frame: str,
    target: ArrayLike,
    q0: ArrayLike | None = None,
    **options: object,
) -> InverseSolution:
    """The configuration that brings a frame to a target.

    It is `InverseKinematics(robot, frame, **options).solve(target, q0)`.

    Args:
        robot: of `wbc.load`; it is not touched.
        frame: its name.
        target: a pose (4, 4), a position (3,) or a rotation (3, 3), in the world.
        q0: to start from; None: the robot's nominal configuration.
        **options: of `InverseKinematics`; for many targets, make one of these and keep it.
    """
    return InverseKinematics(robot, frame, **options).solve(target, q0)  # type: ignore[arg-type]


def _target(target: ArrayLike) -> tuple[Array, slice]:
    """A target as a pose, and which rows of the error it asks for."""
    given, T = numbers(target, "target"), np.eye(4)
    if given.shape == (3,):
        T[:3, 3], rows = given, slice(0, 3)
    elif given.shape == (3, 3):
        T[:3, :3], rows = given, slice(3, 6)
    elif given.shape == (4, 4):
        T, rows = given, slice(0, 6)
    else:
        raise WbcError(f"target must be a pose (4, 4), a position (3,) or a rotation (3, 3), not {show(target)}")
    if not np.isfinite(T).all() or not so3.is_rotation(T[:3, :3], 1e-6):
        raise WbcError(f"target must be finite, its rotation a rotation matrix to 1e-6, not {show(target)}")
    return T, rows


def _sizes(e: Array, rows: slice) -> tuple[float, float]:
    """Position and rotation error, m and rad; 0 for what is not asked for."""
    values = e.tolist()
    squares = [value * value for value in values]
    if len(values) == 6:
        return sum(squares[:3]) ** 0.5, sum(squares[3:]) ** 0.5
    size = sum(squares) ** 0.5
    return (size, 0.0) if rows.start == 0 else (0.0, size)


def _whole(value: object, what: str, low: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < low:
        raise WbcError(f"{what} = {show(value)} must be a whole number, {low} or more")
    return value
