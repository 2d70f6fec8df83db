"""The base of dynamics backends: the methods that they implement, and the state that they share.

A backend is a subclass of `wbc.dynamics.base.Dynamics` that fills in the methods below whose names begin with an
underscore, on the nodes of a `Tree`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.dynamics.compensation import Compensation
from wbc.dynamics.loops import LoopMotion, Loops
from wbc.dynamics.passive import PassiveForces
from wbc.dynamics.transmission import Transmission
from wbc.errors import WbcError, show
from wbc.model.model import Model
from wbc.model.space import ConfigurationSpace
from wbc.model.tree import Tree


@dataclass(frozen=True, eq=False)
class Place:
    """The place of a frame: its node, and its pose in the node's frame.

    Attributes:
        node: index in the tree.
        pose: in the frame of the node, shape (4, 4).
        handle: whatever the backend needs to find it again.
    """

    node: int
    pose: Array
    handle: Any = None


class FramesMotion(NamedTuple):
    """The motion of several frames, one after another, in the world's axes. Read-only.

    Attributes:
        poses: T_world_frame, m, shape (n, 4, 4).
        jacobian: mixed Jacobians, shape (6 n, nv).
        bias: their J̇v, shape (6 n,).
        velocity: twists, m/s and rad/s, shape (6 n,).
    """

    poses: Array
    jacobian: Array
    bias: Array
    velocity: Array


OneMotion: TypeAlias = tuple[Array, Array, Array, Array]
"""Pose, Jacobian, bias and velocity of one frame."""


class FrameSet:
    """Several frames that are computed together: their constant data.

    Args:
        frames: their names.
        places: where they are.
        reader: `wbc._kernel.Frames` for them; None: they are computed in Python.
        nv: number of velocities.

    Attributes:
        places: where they are.
        reader: what computes them all in one call.
        where: by name, which of them a frame is, and its rows among six for each.
        motion_size, point_size: how many numbers the reader writes.
    """

    def __init__(self, frames: tuple[str, ...], places: list[Place], reader: Any, nv: int) -> None:  # noqa: ANN401
        self.places, self.reader = places, reader
        self.where = {frame: (number, slice(6 * number, 6 * number + 6)) for number, frame in enumerate(frames)}
        count = len(places)
        self._shapes = (count, 4, 4), (6 * count, nv), (3 * count, nv)
        self.motion_size, self.point_size = count * (6 * nv + 28), count * (3 * nv + 6)
        self._motion_ends = [count * width for width in (6 * nv, 6 * nv + 16, 6 * nv + 22)]
        self._point_ends = [count * width for width in (3 * nv, 3 * nv + 3)]

    def motion(self) -> FramesMotion:
        """The present motion of the frames, in fresh memory."""
        block: Array = np.empty(self.motion_size)
        self.reader.motion(block)
        block.setflags(write=False)
        i, j, k = self._motion_ends
        poses, J, _ = self._shapes
        return FramesMotion(block[i:j].reshape(poses), block[:i].reshape(J), block[j:k], block[k:])

    def points(self) -> tuple[Array, Array, Array]:
        """The present motion of the frames' origins, in fresh memory."""
        block: Array = np.empty(self.point_size)
        self.reader.points(block)
        i, j = self._point_ends
        return block[i:j], block[:i].reshape(self._shapes[2]), block[j:]


class Backend(ABC):
    """A robot in a state, and the hooks by which a backend computes what `Dynamics` gives its users.

    Args:
        model: the robot.
        tree: the model's tree, where it was made already.
        complete: whether the backend has the forces that the model leaves out.

    Attributes:
        model: the robot as plain data; shared between copies.
        updates: number of updates: a stamp for cached results.
    """

    name = ""
    """The name of the backend in `wbc.load`."""

    def __init__(self, model: Model, tree: Tree | None = None, complete: bool = False) -> None:
        if model.left_out and not complete:
            raise WbcError(
                f"{model.name!r} has forces that the backend {show(self.name)} does not compute: "
                f'{", ".join(model.left_out)}; load it with backend="mujoco", or without them: '
                f"ignore={list(model.left_out)}"
            )
        self.model = model
        self.nq, self.nv, self.na = model.nq, model.nv, model.na
        self._tree = Tree(model) if tree is None else tree
        self._space = ConfigurationSpace(model)
        self._added: dict[str, tuple[int, Array]] = {}
        self._places: dict[str, Place] = {}
        self._sets: dict[tuple[str, ...], FrameSet] = {}
        self._passive = PassiveForces(model)
        self._compensation = Compensation.of(model, self._tree)
        self._loops = Loops(model)
        self._transmission = Transmission(model, self._tree)
        self._loop_motion: tuple[int, LoopMotion] | None = None
        self._q = self._space.neutral()
        self._v = np.zeros(self.nv)
        self._known: dict[str, Array] = {}
        self._motions: dict[tuple[str, ...], FramesMotion] = {}
        self._moved: dict[str, OneMotion] = {}
        self.updates = 0
        self._spare: Any = None
        self._lengths: Array | None = None

    # --- what a backend fills in ---------------------------------------------------------------------------------

    @abstractmethod
    def _update(self, q: Array, v: Array) -> None:
        """Takes over a checked state."""

    @abstractmethod
    def _place(self, node: int, pose: Array) -> Place:
        """The backend's handle of a frame; called once for each frame."""

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

    def _given(self) -> tuple[Any, ...]:
        """The arguments of `__init__` that make the same robot in another process."""
        return (self.model,)

    @abstractmethod
    def _fork(self) -> Any:  # noqa: ANN401  a robot of the subclass itself
        """A second robot of the same backend, sharing nothing that changes."""

    _has_readers = False
    """Whether `_reader` gives what computes several frames at once."""

    def _reader(self, places: list[Place]) -> Any:  # noqa: ANN401  a type of the kernel
        """A `wbc._kernel.Frames` that finds how frames move in the present state; None: there is none."""
        return None

    def _whole(self, terms: Any) -> dict[str, Array]:  # noqa: ANN401  a type of the kernel
        """M, h and the motion of the centre of mass as the kernel writes them in one call, read-only."""
        nv = self.nv
        block = np.empty(nv * (nv + 4) + 6)
        terms.read(self._q, self._v, block)
        i = nv * nv
        j = i + nv
        if self._compensation is not None:
            block[i:j] -= self._compensation.force(self)
        block.setflags(write=False)
        k = j + 3 * nv
        return {
            "mass_matrix": block[:i].reshape(nv, nv),
            "bias": block[i:j],
            "com_jacobian": block[j:k].reshape(3, nv),
            "com": block[k : k + 3],
            "com_bias": block[k + 3 :],
        }

    def _bias(self) -> Array:
        """The bias h, shape (nv,); a backend may have it more cheaply."""
        return self._nonlinear() - self._get("passive_force", lambda: self._passive_force(self._q, self._v))

    def _passive_force(self, q: Array, v: Array) -> Array:
        """Passive forces in a state: the present one, or that of the last `_inverse_dynamics`."""
        force = self._passive.force(q, v)
        return force if self._compensation is None else force + self._compensation.force(self)

    def _spring_energy(self) -> float:
        """The energy stored in springs in the present state, J."""
        return self._passive.energy(self._q)

    @abstractmethod
    def _points(self, places: list[Place]) -> tuple[Array, Array, Array]:
        """Position, Jacobian and bias of the origins of frames, shapes (3 n,), (3 n, nv) and (3 n,)."""

    def _frame_set(self, nodes: list[int], poses: list[Array]) -> FrameSet:
        """Frames without names, in the nodes that carry them; the robot must have been updated."""
        places = [self._place(node, pose) for node, pose in zip(nodes, poses, strict=True)]
        return FrameSet(tuple(map(str, range(len(places)))), places, self._reader(places), self.nv)

    # --- state -----------------------------------------------------------------------------------------------------

    def update(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Sets the robot's state; all quantities then describe that state.

        Args:
            q: configuration, shape (nq,).
            v: velocity, shape (nv,); None: at rest.
        """
        checked, velocity = self._space.state(q, v)
        self._known, self._moved, self._motions = {}, {}, {}
        self._q, self._v = checked, velocity
        self._update(checked, velocity)
        self.updates += 1

    def _check_updated(self, name: str) -> None:
        if not self.updates:
            raise WbcError(f"{self.model.name!r} has no state yet: call update(q, v) before asking for {name}")

    def _get(self, name: str, compute: Callable[[], Array]) -> Array:
        """A quantity of this state: computed at the first call, read-only afterwards."""
        found = self._known.get(name)
        if found is None:
            self._check_updated(name)
            found = compute()
            found.setflags(write=False)
            self._known[name] = found
        return found

    def _get_of_mass(self, name: str, compute: Callable[[], Array]) -> Array:
        """As `_get`, for quantities that are undefined if no part with a mass moves."""
        if not self.model.mass:
            raise WbcError(f"{self.model.name!r} has no {name}: no part with a mass moves")
        return self._get(name, compute)

    @property
    def q(self) -> Array:
        """The configuration of the last update, m and rad, shape (nq,)."""
        return self._q if self.updates else self._get("q", self.model.neutral)

    @property
    def v(self) -> Array:
        """The velocity of the last update, m/s and rad/s, shape (nv,)."""
        return self._v if self.updates else self._get("v", self.model.neutral)
