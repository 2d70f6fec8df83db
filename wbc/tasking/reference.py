"""The output of a trajectory optimiser: q, v, v̇, forces and torques over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, show


class Reference:
    """A motion over time with its torques and forces, interpolated between its knots.

    Between knots, q moves with a constant velocity that leads to the next one, the others change linearly; before and
    after, the motion is at rest at its ends.

    Args:
        robot: whose motion it is.
        times: of the knots, s, rising, shape (n,).
        q: configurations, shape (n, nq).
        v: velocities, shape (n, nv); None: from one configuration to the next.
        vdot: accelerations, shape (n, nv), or (n - 1, nv) for those between the knots; None: from v.
        torque: feed-forward of the actuators, shape (n, na), or (n - 1, na); None: none.
        forces: by contact, shape (n, 3) or (n, 6), or n - 1 of them, world axes; on the robot.

    Attributes:
        times: of the knots, s.
        duration: of the motion, s.
    """

    def __init__(
        self,
        robot: Dynamics,
        times: ArrayLike,
        q: ArrayLike,
        v: ArrayLike | None = None,
        vdot: ArrayLike | None = None,
        torque: ArrayLike | None = None,
        forces: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        self.model = robot.model
        self._robot = robot
        self.times = numbers(times, "reference: times")
        n = len(self.times) if self.times.ndim == 1 else 0
        if n < 2 or not np.isfinite(self.times).all() or not (np.diff(self.times) > 0).all():
            raise WbcError(f"reference: times must be two or more rising numbers, not {show(times)}")
        self.q = self._checked(q, "q", (n, robot.nq))
        for k in range(n):
            robot.integrate(self.q[k], np.zeros(robot.nv))  # names a quaternion that is none
        step = np.diff(self.times)[:, None]
        if v is None:
            between = np.array([robot.difference(a, b) for a, b in zip(self.q, self.q[1:], strict=False)]) / step
            found = np.vstack([between[:1], (between[1:] + between[:-1]) / 2, between[-1:]])
        else:
            found = self._checked(v, "v", (n, robot.nv))
        self.v = found
        self.vdot = self._knots(vdot, "vdot", n, robot.nv)
        if self.vdot is None:
            self.vdot = np.gradient(self.v, self.times, axis=0)
        self.torque = self._knots(torque, "torque", n, robot.na)
        self.forces: dict[str, Array] = {}
        for name, force in (forces or {}).items():
            given = numbers(force, f"reference: force of {name!r}")
            width = given.shape[1] if given.ndim == 2 else 0
            if width not in (3, 6):
                raise WbcError(f"reference: force of {name!r} must have shape (n, 3) or (n, 6), not {given.shape}")
            kept = self._knots(given, f"force of {name!r}", n, width)
            assert kept is not None
            self.forces[name] = kept

    @classmethod
    def from_pinocchio(
        cls,
        robot: Dynamics,
        times: ArrayLike,
        xs: Any,  # noqa: ANN401  a list of arrays, as Crocoddyl and aligator have it
        us: Any = None,  # noqa: ANN401  likewise
    ) -> Reference:
        """Makes a reference from the output of an optimiser on Pinocchio: states x = (q, v) and controls u = τ.

        A floating base there has its quaternion as x, y, z, w and its velocity in its own axes; joints must be in the
        order of the robot.

        Args:
            robot: whose motion it is.
            times: of the states, s, shape (n,).
            xs: states, n of shape (nq + nv,), such as `solver.xs` of Crocoddyl or `results.xs` of aligator.
            us: torques, n or n - 1 of shape (na,), such as `solver.us`; None: none.
        """
        x = numbers([np.asarray(state, dtype=float) for state in xs], "reference: xs")
        if x.ndim != 2 or x.shape[1] != robot.nq + robot.nv:
            raise WbcError(f"reference: xs must be states of {robot.nq} + {robot.nv} numbers, not of shape {x.shape}")
        q, v = x[:, : robot.nq].copy(), x[:, robot.nq :].copy()
        if robot.model.floating:
            q[:, 3:7] = q[:, [6, 3, 4, 5]]
            for k in range(len(q)):
                R = _rotation(q[k, 3:7])
                v[k, :3] = R @ v[k, :3]
        torque = None if us is None else [np.asarray(control, dtype=float) for control in us]
        return cls(robot, times, q, v, torque=torque)

    def _checked(self, values: ArrayLike, what: str, shape: tuple[int, int]) -> Array:
        given = numbers(values, f"reference: {what}")
        if given.shape != shape or not np.isfinite(given).all():
            raise WbcError(f"reference: {what} must be finite numbers of shape {shape}, not of shape {given.shape}")
        return given

    def _knots(self, values: ArrayLike | None, what: str, n: int, width: int) -> Array | None:
        """Values at the knots; those between them are held to the next one."""
        if values is None:
            return None
        given = numbers(values, f"reference: {what}")
        if given.shape == (n - 1, width):
            given = np.vstack([given, given[-1:]])
        return self._checked(given, what, (n, width))

    @property
    def duration(self) -> float:
        """Of the motion, s."""
        return float(self.times[-1] - self.times[0])

    def at(self, time: float) -> tuple[Array, Array, Array]:
        """q, v and v̇ at a time.

        Args:
            time: s.
        """
        k, share = self._where(time)
        if share is None:
            return self.q[k].copy(), np.zeros_like(self.v[k]), np.zeros_like(self.v[k])
        step = self._robot.difference(self.q[k], self.q[k + 1])
        assert self.vdot is not None
        return (
            self._robot.integrate(self.q[k], step, share),
            self._between(self.v, k, share),
            self._between(self.vdot, k, share),
        )

    def torque_at(self, time: float) -> Array | None:
        """The torques at a time, shape (na,); None where there are none."""
        return None if self.torque is None else self._read(self.torque, time)

    def force_at(self, contact: str, time: float) -> Array:
        """The force of a contact at a time, shape (3,) or (6,)."""
        return self._read(self.forces[contact], time)

    def _read(self, values: Array, time: float) -> Array:
        k, share = self._where(time)
        return values[k].copy() if share is None else self._between(values, k, share)

    @staticmethod
    def _between(values: Array, k: int, share: float) -> Array:
        found: Array = (1.0 - share) * values[k] + share * values[k + 1]
        return found

    def _where(self, time: float) -> tuple[int, float | None]:
        """The knot before a time, and the share of the way to the next; None outside of the motion."""
        if time < self.times[0]:
            return 0, None
        if time > self.times[-1]:
            return len(self.times) - 1, None
        k = min(int(np.searchsorted(self.times, time, side="right")) - 1, len(self.times) - 2)
        return k, float((time - self.times[k]) / (self.times[k + 1] - self.times[k]))

    def __repr__(self) -> str:
        beside = [what for what, there in (("torques", self.torque is not None), ("forces", self.forces)) if there]
        more = f", with {' and '.join(beside)}" if beside else ""
        return f"<Reference of {self.model.name!r}: {len(self.times)} knots, {self.duration:g} s{more}>"


def _rotation(quaternion: Array) -> Array:
    from wbc.geometry import quaternion as quaternions

    return np.asarray(quaternions.to_matrix(quaternion))
