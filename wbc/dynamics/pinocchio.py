"""The Pinocchio backend.

Pinocchio's own floating base has both parts of its velocity in the base frame. Here the base is a translation joint and
a spherical joint instead, whose velocity is just ours (linear in the world, angular in the body): no conversion is
needed but the order of the quaternion's entries.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wbc.arrays import Array, IntArray
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
        self._data: Any = self._pin.createData()
        self._com_now, self._com_rate = self._data.com[0], self._data.acom[0]  # no copies: they move with the robot
        self._still = np.zeros(self.nv)
        self._has_accelerations = False

    def _fork(self) -> PinocchioDynamics:
        twin = PinocchioDynamics.__new__(PinocchioDynamics)
        Dynamics.__init__(twin, self.model, self._tree)
        twin._pin, twin._order = self._pin, self._order  # never written to
        twin._start()
        return twin

    def _update(self, q: Array, v: Array) -> None:
        self._q_pin = q[self._order]
        self._has_accelerations = False
        pin.computeAllTerms(self._pin, self._data, self._q_pin, v)

    def _with_bias_accelerations(self) -> Any:  # noqa: ANN401  pinocchio has no types
        """The data with the accelerations of all joints for v̇ = 0."""
        if not self._has_accelerations:
            pin.forwardKinematics(self._pin, self._data, self._q_pin, self._v, self._still)
            self._has_accelerations = True
        return self._data

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
        data = self._with_bias_accelerations()
        bias: Array = pin.getFrameClassicalAcceleration(self._pin, data, place.node, place.handle.pose, ALIGNED).vector
        return bias.copy()

    def _point(self, place: Place) -> tuple[Array, Array, Array]:
        node = place.node
        if node == 0:
            return super()._point(place)
        data = self._data if self._has_accelerations else self._with_bias_accelerations()
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

    def _mass_matrix(self) -> Array:
        return np.array(self._data.M)

    def _nonlinear(self) -> Array:
        return np.array(self._data.nle)

    def _com(self) -> Array:
        return np.array(self._com_now)

    def _com_jacobian(self) -> Array:
        return np.array(self._data.Jcom).reshape(3, self.nv)

    def _com_bias(self) -> Array:
        data = self._with_bias_accelerations()
        pin.centerOfMass(self._pin, data, pin.ACCELERATION, False)
        return np.array(self._com_rate)

    def _momentum_matrix(self) -> Array:
        return self._columns(self._data.Ag)

    def _momentum_bias(self) -> Array:
        rate = pin.computeCentroidalMomentumTimeVariation(self._pin, self._data, self._q_pin, self._v, self._still)
        self._has_accelerations = True
        bias: Array = rate.vector.copy()
        return bias

    def _inverse_dynamics(self, q: Array, v: Array, vdot: Array) -> Array:
        return np.array(pin.rnea(self._pin, self._data, q[self._order], v, vdot))

    def _accelerations(self, force: Array) -> Array:
        # the algorithm subtracts Coriolis and gravity forces itself; it leaves its data in disorder: not ours, then
        total = force + self._data.nle
        vdot = np.array(pin.aba(self._pin, self._pin.createData(), self._q_pin, self._v, total))
        if not np.isfinite(vdot).all():
            raise self._singular()
        return vdot


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
