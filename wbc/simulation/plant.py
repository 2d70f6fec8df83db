"""What a controller acts on: a simulated robot, or a real one behind the same methods."""

from __future__ import annotations

from abc import ABC, abstractmethod

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
        """q, shape (nq,), and v, shape (nv,): copies."""

    @abstractmethod
    def apply(self, torque: ArrayLike) -> None:
        """Sets the torques of the actuators, N m or N, shape (na,), until they are set again."""

    @abstractmethod
    def push(self, frame: str, wrench: ArrayLike) -> None:
        """Sets an external force, shape (3,), or wrench at the frame's origin, shape (6,), world axes, until it is set
        again.
        """

    @abstractmethod
    def step(self) -> None:
        """Goes on by one timestep."""

    @property
    @abstractmethod
    def contact_forces(self) -> dict[str, Array]:
        """The force on each of the model's feet, N, world axes, shape (3,) each, as a force sensor would measure it."""

    @property
    def trouble(self) -> str:
        """What went wrong in the plant itself, such as an instability; empty while nothing did."""
        return ""
