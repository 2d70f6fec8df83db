"""A quadruped that stands, is taken over, and trots: what the benchmarks of hardware and estimation run."""

from __future__ import annotations

import math

import numpy as np

import tasks
import wbc
from tasks import Trot
from wbc.control.protocol import TorqueController
from wbc.estimation import BaseEstimator
from wbc.geometry import quaternion
from wbc.realtime import State

SETTLE = 1.5
"""When it begins to step, s: behind the ramp."""


class Trotting:
    """A controller that trots, and what steers it.

    Args:
        backend: see `wbc.load`.

    Attributes:
        controller: of the quadruped.
    """

    def __init__(self, backend: str = "auto") -> None:
        robot = wbc.load("quadruped", backend)
        self._trot = Trot(robot, settle=SETTLE)
        first, *others = self._trot.swings
        stack = wbc.Stack(
            tasks.EquationOfMotion()
            / (tasks.TorqueLimits() + tasks.FrictionCones())
            / tasks.ContactMotion()
            / sum(others, start=first)
            / self._trot.base
            / tasks.JointAcceleration(gains=wbc.Gains(1.5))
            / tasks.TorqueMinimization(),
            contacts=[wbc.PointContact(foot, friction=0.5) for foot in robot.model.feet],
        )
        self.controller = wbc.Controller(robot, stack)

    def steer(self, t: float, controller: TorqueController) -> None:
        """Forward at 0.4 m/s, with a bend now and then; it stands still before.

        Args:
            t: s.
            controller: its own.
        """
        turning = 0.3 * math.sin(2 * math.pi * t / 20.0)
        self._trot.command = (0.4, 0.0, turning) if t > SETTLE else (0.0, 0.0, 0.0)
        self._trot.update(t, controller)


class Judged(BaseEstimator):
    """An estimator that keeps the truth, which the states tell and it does not look at, beside what it estimated.

    Args:
        robot: see `BaseEstimator`.
        states: that it keeps, at most: memory that is asked for in a tick makes that one late.
        options: see `BaseEstimator`.
    """

    def __init__(self, robot: wbc.Dynamics, states: int = 200_000, **options: object) -> None:
        super().__init__(robot, **options)  # type: ignore[arg-type]
        self._kept, self._count = np.zeros((states, 26)), 0

    def estimate(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """See `BaseEstimator`."""
        q, v = super().estimate(state)
        assert state.base is not None
        if self._count < len(self._kept):
            row = self._kept[self._count]
            row[:7], row[7:13], row[13:20], row[20:] = q[:7], v[:6], *state.base
            self._count += 1
        return q, v

    @property
    def off(self) -> np.ndarray:
        """Of each state: error of the position (3), m, of the heading and the tilt, rad, of the velocity in the axes of
        the base (3), m/s; then the true position (3).
        """
        return np.array([_off(*np.split(row, (7, 13, 20))) for row in self._kept[: self._count]])

    def verdict(self, seconds: float = math.inf) -> str:
        """Drift, and errors of velocity and tilt, in a line.

        Args:
            seconds: from the first state on, at 1 kHz.
        """
        off = self.off[: round(min(1e3 * seconds, self._count))]
        way = float(np.linalg.norm(np.diff(off[::100, 8:10], axis=0), axis=1).sum())
        end = off[-1]
        speed = np.sqrt((off[:, 5:8] ** 2).mean(axis=0))
        return (
            f"way {way:.2f} m; drift at the end {100 * np.linalg.norm(end[:2]) / way:.2f} % of it, "
            f"{100 * abs(end[2]) / way:.2f} % in height, heading {np.degrees(end[3]):.2f} deg; "
            f"tilt {np.degrees(np.sqrt((off[:, 4] ** 2).mean())):.2f} deg (rms), {np.degrees(off[:, 4].max()):.2f} at "
            f"the most; velocity {', '.join(f'{1e3 * part:.1f}' for part in speed)} mm/s (rms); {self.slips} slips"
        )


def _off(q: np.ndarray, v: np.ndarray, true_q: np.ndarray, true_v: np.ndarray) -> np.ndarray:
    """A row of `Judged.off`."""
    one, two = quaternion.to_matrix(q[3:7]), quaternion.to_matrix(true_q[3:7])
    heading = math.atan2(one[1, 0], one[0, 0]) - math.atan2(two[1, 0], two[0, 0])
    heading = (heading + math.pi) % (2 * math.pi) - math.pi
    tilt = math.acos(min(1.0, float(one[2] @ two[2])))
    speed = one.T @ v[:3] - two.T @ true_v[:3]
    return np.concatenate([q[:3] - true_q[:3], [heading, tilt], speed, true_q[:3]])
