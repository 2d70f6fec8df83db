"""What a dynamics backend fills in, and the state that all of them keep.

A backend is a subclass of `wbc.dynamics.base.Dynamics` that fills in the methods below whose names begin with an
underscore, on the nodes of a `Tree`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.dynamics.passive import PassiveForces
from wbc.errors import WbcError
from wbc.model.model import Model
from wbc.model.space import ConfigurationSpace
from wbc.model.tree import Tree


@dataclass(frozen=True, eq=False)
class Place:
    """Where a frame is: its node, and its pose in the node's frame.

    Attributes:
        node: index in the tree.
        pose: shape (4, 4).
        handle: whatever the backend needs to find it again.
    """

    node: int
    pose: Array
    handle: Any = None


class Backend(ABC):
    """A robot in a state, and the hooks by which a backend computes what `Dynamics` gives its users.

    Args:
        model: the robot.
        tree: the model's tree, where it was made already.

    Attributes:
        model: the robot as plain data; shared between copies.
        updates: how often it was updated: a stamp for whoever keeps what was computed from it.
    """

    name = ""
    """What the backend is called in `wbc.load`."""

    def __init__(self, model: Model, tree: Tree | None = None) -> None:
        self.model = model
        self.nq, self.nv, self.na = model.nq, model.nv, model.na
        self._tree = Tree(model) if tree is None else tree
        self._space = ConfigurationSpace(model)
        self._added: dict[str, tuple[int, Array]] = {}
        self._places: dict[str, Place] = {}
        self._sets: dict[tuple[str, ...], list[Place]] = {}
        self._passive = PassiveForces(model)
        self._q = self._space.neutral()
        self._v = np.zeros(self.nv)
        self._known: dict[str, Array] = {}
        self.updates = 0
        self._spare: Any = None

    # --- what a backend fills in ---------------------------------------------------------------------------------

    @abstractmethod
    def _update(self, q: Array, v: Array) -> None:
        """Takes over a checked state."""

    @abstractmethod
    def _place(self, node: int, pose: Array) -> Place:
        """What the backend needs to find a frame: called once for each."""

    @abstractmethod
    def _pose(self, place: Place) -> Array:
        """Pose of a frame in the world, shape (4, 4)."""

    @abstractmethod
    def _jacobian(self, place: Place) -> Array:
        """Mixed Jacobian of a frame, shape (6, nv)."""

    @abstractmethod
    def _jacobian_bias(self, place: Place) -> Array:
        """J̇v of the mixed Jacobian, shape (6,)."""

    @abstractmethod
    def _jacobian_derivative(self, place: Place) -> Array:
        """J̇ of the mixed Jacobian, shape (6, nv)."""

    @abstractmethod
    def _mass_matrix(self) -> Array:
        """M with armature, shape (nv, nv)."""

    @abstractmethod
    def _nonlinear(self) -> Array:
        """Coriolis, centrifugal and gravity forces without the passive joint forces, shape (nv,)."""

    @abstractmethod
    def _com(self) -> Array:
        """Centre of mass in the world, shape (3,)."""

    @abstractmethod
    def _momentum_matrix(self) -> Array:
        """A with momentum = A v, about the centre of mass, world axes, linear first, shape (6, nv)."""

    @abstractmethod
    def _momentum_bias(self) -> Array:
        """Ȧ v, shape (6,)."""

    @abstractmethod
    def _inverse_dynamics(self, q: Array, v: Array, vdot: Array) -> Array:
        """M v̇ plus what `_nonlinear` is, from scratch; may disturb the state."""

    @abstractmethod
    def _fork(self) -> Any:  # noqa: ANN401  a robot of the subclass itself
        """A second robot of the same backend, sharing nothing that changes."""

    def _passive_force(self, q: Array, v: Array) -> Array:
        """Forces of the joints by themselves in a state: the present one, or that of the last `_inverse_dynamics`."""
        return self._passive.force(q, v)

    def _spring_energy(self) -> float:
        """What is stored in springs in the present state, J."""
        return self._passive.energy(self._q)

    # --- state -----------------------------------------------------------------------------------------------------

    def update(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Puts the robot in a state; what it says from then on is about that state.

        Args:
            q: configuration, shape (nq,).
            v: velocity, shape (nv,); None: at rest.
        """
        checked = self._space.configuration(q)
        velocity = np.zeros(self.nv) if v is None else self._space.velocity(v)
        self._known = {}
        checked.setflags(write=False)  # not writeable; in half the time of the flag by its name
        velocity.setflags(write=False)
        self._q, self._v = checked, velocity
        self._update(checked, velocity)
        self.updates += 1

    def _get(self, name: str, compute: Callable[[], Array]) -> Array:
        """A quantity of this state: computed at the first call, read-only from then on."""
        found = self._known.get(name)
        if found is None:
            if not self.updates:
                raise WbcError(f"{self.model.name!r} has no state yet: call update(q, v) before asking for {name}")
            found = compute()
            found.setflags(write=False)
            self._known[name] = found
        return found

    def _get_of_mass(self, name: str, compute: Callable[[], Array]) -> Array:
        """As `_get`, for what there is no answer to where nothing moves that has a mass."""
        if not self.model.mass:
            raise WbcError(f"{self.model.name!r} has no {name}: nothing with a mass moves")
        return self._get(name, compute)

    @property
    def q(self) -> Array:
        """The configuration of the last update, shape (nq,)."""
        return self._q if self.updates else self._get("q", self.model.neutral)

    @property
    def v(self) -> Array:
        """The velocity of the last update, shape (nv,)."""
        return self._v if self.updates else self._get("v", self.model.neutral)
