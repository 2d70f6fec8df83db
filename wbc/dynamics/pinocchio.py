"""The Pinocchio backend.

Pinocchio's own floating base has both parts of its velocity in the base frame. Here the base is a translation joint and
a spherical joint instead, whose velocity is just ours (linear in the world, angular in the body): no conversion is
needed but the order of the quaternion's entries.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wbc.arrays import Array, IntArray
from wbc.compiled import kernel
from wbc.dynamics.backend import Place
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError
from wbc.model.model import Model
from wbc.model.tree import Tree

try:
    import pinocchio as pin
except ImportError as error:
    raise WbcError(f"the Pinocchio backend needs Pinocchio: pip install 'wbc[pinocchio]' ({error})") from None

ALIGNED = pin.LOCAL_WORLD_ALIGNED


class _Handle(NamedTuple):
    """A frame as Pinocchio's functions want it.

    Attributes:
        pose: of the frame in its node.
        origin: its translation, shape (3,).
        node: the node's pose in the world: not a copy, it moves with the robot.
    """

    pose: Any
    origin: Array
    node: Any


class PinocchioDynamics(Dynamics):
    """A robot's dynamics by Pinocchio."""

    name = "pinocchio"

    def __init__(self, model: Model, tree: Tree | None = None) -> None:
        super().__init__(model, tree)
        self._pin, self._order = _build(self._tree)
        self._start()

    def _start(self) -> None:
        try:
            self._data: Any = self._pin.createData()
        except MemoryError:
            raise WbcError(
                f"Pinocchio needs more memory for {self.nv} velocities than this machine has; use backend='numpy'"
            ) from None
        self._com_now = self._data.com[0]  # no copy: it moves with the robot
        self._still = np.zeros(self.nv)
        self._terms = _Terms(self._data, self.nv)
        self._nodes: dict[int, tuple[tuple[int, ...], tuple[Array, ...] | None]] = {}
        self._has_readers = kernel is not None and self._terms.kept
        self._read_terms = self._terms_reader()

    def _fork(self) -> PinocchioDynamics:
        twin = PinocchioDynamics.__new__(PinocchioDynamics)
        Dynamics.__init__(twin, self.model, self._tree)
        twin._pin, twin._order = self._pin, self._order  # never written to
        twin._start()
        return twin

    def _update(self, q: Array, v: Array) -> None:
        # leaves the accelerations of all joints for v̇ = 0 behind, too
        self._q_pin = q[self._order]
        pin.computeAllTerms(self._pin, self._data, self._q_pin, v)

    def _place(self, node: int, pose: Array) -> Place:
        handle = _Handle(pin.SE3(np.ascontiguousarray(pose)), pose[:3, 3].copy(), self._data.oMi[node])
        return Place(node, pose, handle)

    def _pose(self, place: Place) -> Array:
        pose: Array = (place.handle.node * place.handle.pose).homogeneous
        return pose

    def _columns(self, matrix: Any) -> Array:  # noqa: ANN401
        """A copy of a matrix with a column for each velocity: Pinocchio hands out one column alone as a vector."""
        return np.array(matrix).reshape(6, self.nv)

    def _jacobian(self, place: Place) -> Array:
        if place.node == 0:
            return np.zeros((6, self.nv))
        return self._columns(pin.getFrameJacobian(self._pin, self._data, place.node, place.handle.pose, ALIGNED))

    def _jacobian_bias(self, place: Place) -> Array:
        if place.node == 0:
            return np.zeros(6)
        data, pose = self._data, place.handle.pose
        bias: Array = pin.getFrameClassicalAcceleration(self._pin, data, place.node, pose, ALIGNED).vector
        return bias.copy()

    def _point(self, place: Place) -> tuple[Array, Array, Array]:
        node = place.node
        if node == 0:
            return super()._point(place)
        data = self._data
        pose, origin, moved = place.handle
        J = pin.getFrameJacobian(self._pin, data, node, pose, ALIGNED)[:3]
        bias = pin.getFrameClassicalAcceleration(self._pin, data, node, pose, ALIGNED).linear
        return J if J.ndim == 2 else J[:, None], moved.act(origin), bias

    def _jacobian_derivative(self, place: Place) -> Array:
        if place.node == 0:
            return np.zeros((6, self.nv))
        # The rates of the joints' screws at the world's origin, moved to the frame's, which itself moves.
        data = self._data
        pin.computeJointJacobiansTimeVariation(self._pin, data, self._q_pin, self._v)
        at_origin = pin.getJointJacobianTimeVariation(self._pin, data, place.node, pin.WORLD)
        p, velocity = self._pose(place)[:3, 3], self._jacobian(place) @ self._v
        angular = self._jacobian(place)[3:]
        derivative = self._columns(at_origin)
        derivative[:3] += np.cross(derivative[3:].T, p).T + np.cross(angular.T, velocity[:3]).T
        return derivative

    def _reader(self, places: list[Place]) -> Any:  # noqa: ANN401
        if kernel is None or not self._has_readers:
            return None
        for place in places:
            if place.node not in self._nodes:
                self._nodes[place.node] = self._node(place.node)  # Pinocchio takes long to hand out its memory
        frames = tuple((np.ascontiguousarray(place.pose), *self._nodes[place.node]) for place in places)
        return kernel.Frames(self._data, self._terms.J, True, frames)

    def _terms_reader(self) -> Any:  # noqa: ANN401
        if kernel is None or not self._has_readers or not self.mass:
            return None
        terms, passive = self._terms, self._passive.for_kernel()
        return kernel.Terms(
            self._data, self.nq, self.mass, terms.M, terms.nle, self._com_now, terms.Ag, terms.dAg, passive
        )

    def _node(self, node: int) -> tuple[tuple[int, ...], tuple[Array, ...] | None]:
        """The velocities that move a node, and Pinocchio's memory of its motion; None where nothing moves it."""
        if node == 0:
            return (), None
        nodes, above = self._tree.nodes, node
        columns: list[int] = []
        while above > 0:
            columns += range(nodes[above].v_index, nodes[above].v_index + nodes[above].nv)
            above = nodes[above].parent
        placement, velocity, rate = self._data.oMi[node], self._data.v[node], self._data.a[node]
        motion = velocity.linear, velocity.angular, rate.linear, rate.angular
        return tuple(columns), (placement.translation, placement.rotation, *motion, np.zeros(3))

    def _compiled(self, name: str) -> Array | None:
        """M, h, or something of the centre of mass by the kernel, which reads all of them at once."""
        if self._read_terms is None:
            return None
        self._known.update(self._whole(self._read_terms))
        return self._known[name]

    def _mass_matrix(self) -> Array:
        found = self._compiled("mass_matrix")
        return self._terms.M.copy() if found is None else found

    def _nonlinear(self) -> Array:
        return self._terms.nle.copy()

    def _bias(self) -> Array:
        found = self._compiled("bias")
        return super()._bias() if found is None else found

    def _com(self) -> Array:
        found = self._compiled("com")
        return np.array(self._com_now) if found is None else found

    def _com_jacobian(self) -> Array:
        found = self._compiled("com_jacobian")
        return self._terms.Jcom.copy() if found is None else found

    def _com_bias(self) -> Array:
        found = self._compiled("com_bias")
        return self.momentum_bias[:3] / self.mass if found is None else found

    def _momentum_matrix(self) -> Array:
        return self._terms.Ag.copy()

    def _momentum_bias(self) -> Array:
        bias: Array = self._terms.dAg.dot(self._v)
        return bias

    def _inverse_dynamics(self, q: Array, v: Array, vdot: Array) -> Array:
        return np.array(pin.rnea(self._pin, self._data, q[self._order], v, vdot))

    def _free_accelerations(self, force: Array) -> Array:
        # the algorithm subtracts Coriolis and gravity forces itself; it leaves its data in disorder: not ours, then
        total = force + self._data.nle
        vdot = np.array(pin.aba(self._pin, self._pin.createData(), self._q_pin, self._v, total))
        if not np.isfinite(vdot).all():
            raise self._singular()
        return vdot


class _Terms:
    """What `computeAllTerms` leaves in Pinocchio's data, by its names there.

    Pinocchio hands out one column alone as a vector: here a matrix is always one.

    Args:
        data: Pinocchio's.
        nv: number of velocities.

    Attributes:
        kept: whether Pinocchio hands out its own memory, which is then looked up only once.
    """

    def __init__(self, data: Any, nv: int) -> None:  # noqa: ANN401  pinocchio has no types
        self._data = data
        self._shapes = {"M": (nv, nv), "nle": (nv,), "J": (6, nv), "Jcom": (3, nv), "Ag": (6, nv), "dAg": (6, nv)}
        self.kept = all(_same_memory(getattr(data, name), getattr(data, name)) for name in self._shapes) and all(
            _same_memory(getattr(things[0], part), getattr(things[0], part))
            for things, parts in (
                (data.oMi, ("translation", "rotation")),
                (data.v, ("linear", "angular")),
                (data.a, ("linear", "angular")),
            )
            for part in parts
        )
        if self.kept:
            for name in self._shapes:
                setattr(self, name, getattr(self, name))

    def __getattr__(self, name: str) -> Array:
        try:
            shape = self._shapes[name]
        except KeyError:
            raise AttributeError(name) from None
        found: Array = getattr(self._data, name).reshape(shape, order="F")
        return found.T if name == "M" else found  # symmetric: so its rows are contiguous


def _same_memory(first: Array, second: Array) -> bool:
    """Whether two arrays are one piece of memory."""
    pointers = [array.__array_interface__["data"][0] for array in (first, second)]
    return first.dtype == float and not first.flags.owndata and pointers[0] == pointers[1]


def _build(tree: Tree) -> tuple[Any, IntArray]:
    """Pinocchio's model of a robot, and for each entry of its configuration the entry of ours."""
    model = pin.Model()
    model.gravity = pin.Motion(tree.model.gravity, np.zeros(3))
    order: list[int] = []
    armature: list[float] = []
    for number, node in enumerate(tree.nodes[1:], start=1):
        joint = {
            "revolute": lambda node=node: pin.JointModelRevoluteUnaligned(node.axis),
            "prismatic": lambda node=node: pin.JointModelPrismaticUnaligned(node.axis),
            "translation": lambda node=node: pin.JointModelTranslation(),
            "spherical": lambda node=node: pin.JointModelSpherical(),
        }[node.kind]()
        added = model.addJoint(node.parent, joint, pin.SE3(np.ascontiguousarray(node.pose)), f"{number}: {node.name}")
        if added != number:
            raise AssertionError("Pinocchio numbers joints in the order in which they are added")
        try:
            inertia = pin.Inertia(node.mass, node.com, node.inertia)
        except RuntimeError as error:
            raise WbcError(f"Pinocchio refuses link {node.name!r} of {tree.model.name!r}: {error}") from None
        model.appendBodyToJoint(added, inertia, pin.SE3.Identity())
        entries = list(range(node.q_index, node.q_index + node.nq))
        order += entries[1:] + entries[:1] if node.kind == "spherical" else entries
        armature += tree.model.armature[node.v_index : node.v_index + node.nv].tolist()
    model.armature = np.array(armature)
    return model, np.array(order, dtype=np.intp)
