"""A robot in violent motion, and what its tasks measure along it, by finite differences of positions alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation

import wbc
from wbc.dynamics import Dynamics

STEP = 4e-4

CLOSE = {"atol": 2e-5, "rtol": 2e-6}
"""Of second differences with Richardson's extrapolation, for accelerations of some 100 m/s² and rad/s²."""


class Moving:
    """A robot at q, moving with v (several rad/s) and v̇."""

    def __init__(self, name: str, seed: int, backend: str = "numpy") -> None:
        rng = np.random.default_rng(seed)
        self.robot: Dynamics = wbc.load(name, backend)
        self.rng = rng
        self.q = self.robot.random(rng)
        self.v, self.vdot = rng.normal(size=self.robot.nv) * 2.5, rng.normal(size=self.robot.nv) * 10
        self.robot.update(self.q, self.v)

    def at(self, t: float) -> None:
        """Carries the robot to another time (t² is exact, and odd errors cancel in a second difference)."""
        self.robot.update(self.robot.integrate(self.q, self.v + self.vdot * t / 2, t), self.v + self.vdot * t)

    def rates(self, way: Callable[[], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """First and second time derivative of a displacement that is zero now."""
        first, second = [], []
        for step in (STEP, STEP / 2):
            self.at(step)
            ahead = np.asarray(way())
            self.at(-step)
            behind = np.asarray(way())
            first.append((ahead - behind) / (2 * step))
            second.append((ahead + behind) / step**2)
        self.at(0.0)
        return (4 * first[1] - first[0]) / 3, (4 * second[1] - second[0]) / 3

    def pose(self, frame: str, offset: np.ndarray | None = None, seen_from: str | None = None) -> np.ndarray:
        """Where a frame is."""
        pose = self.robot.pose(frame) if offset is None else self.robot.pose(frame) @ offset
        return pose if seen_from is None else np.linalg.inv(self.robot.pose(seen_from)) @ pose

    def frame_rates(self, *of: object) -> tuple[np.ndarray, np.ndarray]:
        """Velocity and acceleration of `pose(*of)`: linear, then angular, in the axes of what it is seen from."""
        start = self.pose(*of)  # type: ignore[arg-type]

        def way() -> np.ndarray:
            now = self.pose(*of)  # type: ignore[arg-type]
            return np.r_[now[:3, 3] - start[:3, 3], rotvec(now[:3, :3] @ start[:3, :3].T)]

        return self.rates(way)


def rotvec(R: np.ndarray) -> np.ndarray:
    """log(R) by scipy, not by our own."""
    return np.asarray(Rotation.from_matrix(R).as_rotvec())


def pose_near(rng: np.random.Generator, pose: np.ndarray, far: float = 0.5) -> np.ndarray:
    """A pose some way off another."""
    found = np.eye(4)
    found[:3, :3] = Rotation.from_rotvec(rng.normal(size=3) * far).as_matrix() @ pose[:3, :3]
    found[:3, 3] = pose[:3, 3] + rng.normal(size=3) * far
    return found


def residual(task: wbc.Task, moving: Moving, contacts: tuple[wbc.Contact, ...] = (), time: float = 0.0) -> np.ndarray:
    """A x − b of a task of equations, in the motion's own v̇."""
    tick = wbc.Tick(moving.robot, contacts, time=time)
    A, b = task.matrices(moving.robot, tick)
    assert not A[:, moving.robot.nv :].any()
    return np.asarray(A[:, : moving.robot.nv] @ moving.vdot - b)
