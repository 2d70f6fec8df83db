"""A plant: a simulated robot, or a real one with the same methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.model.model import Model


class Plant(ABC):
    """A robot that takes torques and gives states.

    Attributes:
        model: the robot's layout of q, v and τ.
        timestep: of one step, s.
    """

    model: Model
    timestep: float

    @abstractmethod
    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Puts the plant in a state, at time zero, with no wrench applied; None: the nominal one, at rest."""

    @property
    @abstractmethod
    def time(self) -> float:
        """Since the last reset, s."""

    @property
    @abstractmethod
    def state(self) -> tuple[Array, Array]:
        """q, m and rad, shape (nq,), and v, m/s and rad/s, shape (nv,): copies."""

    @property
    def true_state(self) -> tuple[Array, Array]:
        """q, shape (nq,), and v, shape (nv,), without sensor errors, if the plant knows them; otherwise `state`
        itself.
        """
        return self.state

    def softness(self, frame: str) -> tuple[tuple[float, float], tuple[float, ...]] | None:
        """MuJoCo's `solref` and `solimp` of the contact that a frame is nearest to; None where there is no such law.

        Args:
            frame: of a contact.
        """
        return None

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of what can be pushed and measured: bodies and frames."""
        return self.model.frame_names

    @abstractmethod
    def apply(self, torque: ArrayLike) -> None:
        """Sets the torques of the actuators, N m or N, shape (na,), until they are set again."""

    @property
    def torque(self) -> Array:
        """The torques that the actuators exerted in the last step, N m or N, shape (na,); NaN if the plant can't
        tell.
        """
        return np.full(self.model.na, np.nan)

    @abstractmethod
    def push(self, frame: str, wrench: ArrayLike) -> None:
        """Sets an external force, shape (3,), or wrench at the frame's origin, shape (6,), world axes, until it is set
        again.
        """

    @abstractmethod
    def step(self) -> None:
        """Advances by one timestep."""

    @property
    @abstractmethod
    def contact_forces(self) -> dict[str, Array]:
        """The forces that are measured, by frame, N, world axes, shape (3,) each: on the model's feet, and on what was
        given to `measure`.
        """

    def measure(self, frames: Iterable[str]) -> None:  # noqa: B027  a plant may have the sensors that it has
        """Puts force sensors at frames, besides those that are there.

        A sensor feels what touches its rigid part nearer to it than to the others. A plant that can't have more
        sensors leaves it.

        Args:
            frames: of `frames`.
        """

    @property
    def trouble(self) -> str:
        """A problem of the plant itself, such as an instability; empty if there is none."""
        return ""
