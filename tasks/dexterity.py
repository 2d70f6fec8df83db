"""Manipulability (how well a frame can be moved): increased, or kept above a floor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tasks.axes import AXES, picked
from tasks.barrier import Heights, Kept
from tasks.limbs import way
from wbc.arrays import Array
from wbc.contacts import Contact
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, number, unknown_name
from wbc.kinematics.hessian import jacobian_hessian
from wbc.tasking.gains import rate_gain
from wbc.tasking.rows import Rows
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick

STEP = 1e-5
"""Time step of the finite difference for the drift, s."""

LEAST = 1e-12
"""Smallest singular value of J Jᵀ, as a share of the largest, at which there is a gradient."""


def manipulability(robot: Dynamics, frame: str, rows: list[int]) -> tuple[float, Array]:
    """W = √det(J Jᵀ), and its gradient ∂w/∂q_k = w tr((J Jᵀ)⁻¹ ∂J/∂q_k Jᵀ), shape (nv,).

    Args:
        robot: updated.
        frame: its name.
        rows: of its mixed Jacobian.
    """
    J = robot.jacobian(frame)[rows]
    eigenvalues, U = np.linalg.eigh(J @ J.T)
    most = max(float(eigenvalues[-1]), 1e-100)  # of a frame that nothing moves as well: its gradient is 0
    kept = np.maximum(eigenvalues, LEAST * most)
    w = float(np.sqrt(kept.prod()))
    inverse = (U / kept) @ U.T
    gradient = w * np.einsum("ij,kjm,im->k", inverse, jacobian_hessian(robot, frame)[:, rows], J)
    return w, np.asarray(gradient)


class OnDexterity:
    """A frame and the axes in which its manipulability is measured.

    Args:
        frame: its name.
        axes: "position", "orientation", "pose", or names out of x, y, z, rx, ry, rz.
        whose: for messages.
    """

    def __init__(self, frame: str, axes: str | Iterable[str], whose: str) -> None:
        words = {"pose": AXES, "position": AXES[:3], "orientation": AXES[3:]}
        self.frame, self._whose = frame, whose
        self.rows = [AXES.index(axis) for axis in picked(axes, whose, words=words)]

    def check(self, robot: Dynamics) -> None:
        """Raises a `WbcError` if the frame is not there, or has too few joints."""
        if self.frame not in robot.frames:
            raise WbcError(f"{self._whose}: {unknown_name('frame', self.frame, robot.frames)}")
        moving = sum(robot.model.joints[joint].nv for joint in way(robot, self.frame))
        if moving < len(self.rows):
            raise WbcError(
                f"{self._whose}: {self.frame!r} is moved by {moving} of the {len(self.rows)} joints that its "
                f"manipulability in {len(self.rows)} axes takes: it is always 0; name fewer axes, or another frame"
            )

    def at(self, robot: Dynamics) -> tuple[float, Array]:
        """Manipulability and its gradient."""
        return manipulability(robot, self.frame, self.rows)


class Manipulability(Task):
    """Moves the robot to where a frame can be moved best: along the gradient of w = √det(J Jᵀ).

    One row n·v̇ = k |∇w| − d n·v, with n the direction of the gradient. Put it below the robot's other tasks.

    Args:
        frame: its name.
        axes: "position", "orientation", "pose", or names out of x, y, z, rx, ry, rz.
        gain: k: acceleration for a gradient of 1, by w's unit.
        damping: d, 1/s.
        name: see `Task`.
        weight: see `Task`.
    """

    def __init__(
        self,
        frame: str,
        axes: str | Iterable[str] = "position",
        gain: float = 20.0,
        damping: float = 5.0,
        *,
        name: str | None = None,
        weight: float = 1.0,
    ) -> None:
        super().__init__(f"manipulability of {frame}" if name is None else name, weight)
        self._on = OnDexterity(frame, axes, self.name)
        self.gain = number(gain, f"{self.name}: gain")
        self.damping = rate_gain(damping, self.name, 1)

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        self._on.check(robot)

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; one row."""
        _, gradient = self._on.at(robot)
        size = float(np.linalg.norm(gradient))
        n = gradient / size if size > 0.0 else gradient
        b = self.gain * size - self.damping * float(n @ robot.v)
        return Rows.equal(np.atleast_1d(b), acceleration=n[None])

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"manipulability of {self._on.frame}"]


class ManipulabilityFloor(Kept):
    """Keeps a frame's manipulability above a floor: h = w − floor ≥ 0, w = √det(J Jᵀ).

    Args:
        frame: its name.
        floor: in w's unit, which depends on the axes: m³ for a position.
        axes: see `Manipulability`.
        speed: greatest speed at which w may fall, of the floor per s.
        braking: how hard that is braked, of the floor per s².
        return_hz: frequency of the motion that leads it back.
        name: see `Task`.
        weight: see `Task`.
    """

    def __init__(
        self,
        frame: str,
        floor: float,
        axes: str | Iterable[str] = "position",
        *,
        speed: float = 5.0,
        braking: float = 20.0,
        return_hz: float = 2.0,
        name: str | None = None,
        weight: float = 1.0,
    ) -> None:
        name = f"manipulability floor of {frame}" if name is None else name
        super().__init__(speed, braking, return_hz, 0.05, None, 1e-3, name, weight)
        self._on = OnDexterity(frame, axes, name)
        self.floor = number(floor, f"{name}: floor", above=True)
        self._twin: Dynamics | None = None

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        self._on.check(robot)

    def heights(self, robot: Dynamics, tick: Tick) -> Heights:
        """See `Kept`; as shares of the floor."""
        w, gradient = self._on.at(robot)
        if self._twin is None or self._twin.model is not robot.model:
            self._twin = robot.copy()
        rates = []
        for side in (-STEP, STEP):
            self._twin.update(robot.integrate(robot.q, robot.v, side), robot.v)
            rates.append(float(self._on.at(self._twin)[1] @ robot.v))
        drift = (rates[1] - rates[0]) / (2 * STEP * self.floor)
        g = gradient / self.floor
        return Heights(np.array([w / self.floor - 1.0]), g[None], np.array([g @ robot.v]), np.array([drift]))

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"manipulability of {self._on.frame}"]
