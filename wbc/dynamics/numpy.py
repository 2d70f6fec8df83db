"""The numpy backend: needs nothing but numpy, and can be read.

Every rigid part has a homogeneous transform W, and its twist V about one common point, in world axes, is the 4×4 matrix
V̂ with Ẇ = V̂ W (Traversaro–Saccon 2.4). In that form mass is the 4×4 matrix P = ∫ [r; 1][r; 1]ᵀ dm, and
what is a page of cross products becomes products of small matrices, done for all parts at once:

- a twist is the sum of the joints' screws S towards the base: V = Σ S v (Liu–Jain's velocity recursion, unrolled);
- a screw fixed in a part moves with it: dŜ/dt = V̂ Ŝ − Ŝ V̂, hence the part of the acceleration that v̇ has no share in;
- the acceleration of a point of a part is (Â + V̂²)[r; 1], hence its inertial force and moment are those of (Â + V̂²) P;
- M = Sᵀ (composite inertia) S between joints of which one carries the other, zero elsewhere (ETH 3.43 by subtrees).

The common point is the base's origin, so that a robot far from the world's origin loses no digits.

The compiled kernel, where there is one, does the same part by part, in a twentieth of the time.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from wbc.arrays import Array, IntArray
from wbc.compiled import kernel
from wbc.dynamics.backend import Place
from wbc.dynamics.base import Dynamics
from wbc.dynamics.formulations.recursive import recursive_newton_euler
from wbc.dynamics.passive import PassiveForces
from wbc.geometry import quaternion, so3
from wbc.model.model import Model
from wbc.model.tree import Node, Tree

# A twist (linear, angular) as the 16 entries of its 4×4 matrix [[ω̂, v], [0, 0]], and back.
HAT = np.zeros((6, 16))
for _axis in range(3):
    HAT[_axis, 4 * _axis + 3] = 1.0
    _first, _second = (_axis + 1) % 3, (_axis + 2) % 3
    HAT[3 + _axis, 4 * _second + _first], HAT[3 + _axis, 4 * _first + _second] = 1.0, -1.0
VEE = HAT.T * np.array([1.0, 1.0, 1.0, 0.5, 0.5, 0.5])

# The wrench (force, moment) in the 16 entries of Γ = ∫ r̈ [r; 1]ᵀ dm: its last column, and Γ[k, j] − Γ[j, k].
WRENCH = HAT.T.copy()


class NumpyDynamics(Dynamics):
    """A robot's dynamics in numpy, all rigid parts at once."""

    name = "numpy"

    def __init__(self, model: Model, tree: Tree | None = None) -> None:
        super().__init__(model, tree)
        self._layout = _Layout(self._tree)
        self._start()

    def _start(self) -> None:
        self._compiled = None if kernel is None or not self.mass else _Compiled(self._tree, self._passive)
        self._has_readers = self._compiled is not None
        self._reset()

    def _reset(self) -> None:
        self._stale = True
        self._twists: Array | None = None
        self._accelerations_of_parts: tuple[Array, Array] | None = None
        self._inertias: tuple[Array, Array] | None = None

    def _update(self, q: Array, v: Array) -> None:
        if self._compiled is None:
            self._reset()
            self._place_parts()
            return
        if not self._stale:
            self._reset()
        self._compiled.tree.update(q, v)

    def _place_parts(self) -> None:
        """Where all parts are; with the kernel, only for what it does not give."""
        if self._stale:
            self._world = self._layout.transforms(self._q)
            self._origin = self._world[self._layout.base, :3, 3].copy()
            self._screws = self._layout.screws(self._world, self._origin)
            self._stale = False

    def _reader(self, places: list[Place]) -> Any:  # noqa: ANN401
        return None if self._compiled is None else self._compiled.reader(places)

    # --- motion of all parts ---------------------------------------------------------------------------------------

    def _velocities(self) -> Array:
        """The twists of all parts about the common point, shape (parts, 6)."""
        if self._twists is None:
            self._twists = self._layout.carries @ (self._screws * self._v).T
        return self._twists

    def _screw_rates(self) -> Array:
        """dŜ/dt of all screws, shape (nv, 4, 4)."""
        V = (self._velocities() @ HAT).reshape(-1, 4, 4)[self._layout.part_of]
        S = (self._screws.T @ HAT).reshape(-1, 4, 4)
        rates: Array = V @ S - S @ V
        return rates

    def _bias_accelerations(self) -> tuple[Array, Array]:
        """For v̇ = 0: dV/dt of all parts, shape (parts, 6), and Â + V̂², shape (parts, 4, 4)."""
        if self._accelerations_of_parts is None:
            layout = self._layout
            rates = self._screw_rates().reshape(-1, 16) @ VEE
            A = layout.carries @ (rates * self._v[:, None])
            V = (self._velocities() @ HAT).reshape(-1, 4, 4)
            self._accelerations_of_parts = A, (A @ HAT).reshape(-1, 4, 4) + V @ V
        return self._accelerations_of_parts

    def _masses(self) -> tuple[Array, Array]:
        """P of all parts, and of each with all that it carries, about the common point; shapes (parts, 4, 4)."""
        if self._inertias is None:
            W = self._world.copy()
            W[:, :3, 3] -= self._origin
            P = W @ self._layout.masses @ W.transpose(0, 2, 1)
            self._inertias = P, (self._layout.subtree @ P.reshape(-1, 16)).reshape(-1, 4, 4)
        return self._inertias

    def _composite_momenta(self) -> Array:
        """The momentum, about the common point, of all that a joint carries, for unit velocity; shape (6, nv)."""
        S = (self._screws.T @ HAT).reshape(-1, 4, 4)
        composite = self._masses()[1][self._layout.part_of]
        momenta: Array = ((S @ composite).reshape(-1, 16) @ WRENCH).T
        return momenta

    # --- frames ----------------------------------------------------------------------------------------------------

    def _place(self, node: int, pose: Array) -> Place:
        return Place(node, pose, self._layout.index[node])

    def _pose(self, place: Place) -> Array:
        pose: Array = self._world[place.handle] @ place.pose
        return pose

    def _arm(self, place: Place) -> Array:
        """From the common point to a frame's origin, world axes."""
        W = self._world[place.handle]
        arm: Array = W[:3, :3] @ place.pose[:3, 3] + W[:3, 3] - self._origin
        return arm

    def _jacobian(self, place: Place) -> Array:
        J: Array = self._screws * self._layout.carries[place.handle]
        J[:3] -= so3.skew(self._arm(place)) @ J[3:]
        return J

    def _jacobian_bias(self, place: Place) -> Array:
        A, B = self._bias_accelerations()
        bias: Array = A[place.handle].copy()
        bias[:3] = B[place.handle][:3, :3] @ self._arm(place) + B[place.handle][:3, 3]
        return bias

    def _points(self, places: list[Place]) -> tuple[Array, Array, Array]:
        if not places:
            return super()._points(places)
        parts = [place.handle for place in places]
        W, offsets = self._world[parts], np.array([place.pose[:3, 3] for place in places])
        positions = (W[:, :3, :3] @ offsets[:, :, None])[:, :, 0] + W[:, :3, 3]
        arms = positions - self._origin
        J = self._screws * self._layout.carries[parts][:, None, :]
        B = self._bias_accelerations()[1][parts]
        bias = (B[:, :3, :3] @ arms[:, :, None])[:, :, 0] + B[:, :3, 3]
        return positions.ravel(), (J[:, :3] - so3.skew(arms) @ J[:, 3:]).reshape(-1, self.nv), bias.ravel()

    def _jacobian_derivative(self, place: Place) -> Array:
        self._place_parts()
        rates: Array = (self._screw_rates().reshape(-1, 16) @ VEE).T * self._layout.carries[place.handle]
        arm, J = self._arm(place), self._screws * self._layout.carries[place.handle]
        twist = self._velocities()[place.handle]
        arm_rate = twist[:3] + so3.skew(twist[3:]) @ arm
        rates[:3] -= so3.skew(arm) @ rates[3:] + so3.skew(arm_rate) @ J[3:]
        return rates

    # --- whole body ------------------------------------------------------------------------------------------------

    def _by_kernel(self, name: str) -> Array:
        """A whole-body quantity, and others that the kernel gives with it."""
        assert self._compiled is not None
        if name.startswith("momentum"):
            self._known.update(self._compiled.momentum())
        else:
            self._known.update(self._whole(self._compiled.tree))
        return self._known[name]

    def _bias(self) -> Array:
        return super()._bias() if self._compiled is None else self._by_kernel("bias")

    def _com_jacobian(self) -> Array:
        return super()._com_jacobian() if self._compiled is None else self._by_kernel("com_jacobian")

    def _com_bias(self) -> Array:
        return super()._com_bias() if self._compiled is None else self._by_kernel("com_bias")

    def _mass_matrix(self) -> Array:
        if self._compiled is not None:
            return self._by_kernel("mass_matrix")
        upper = (self._screws.T @ self._composite_momenta()) * self._layout.above
        M: Array = upper + (upper * self._layout.strictly_above).T
        M[self._layout.diagonal] += self._layout.armature
        return M

    def _nonlinear(self) -> Array:
        P = self._masses()[0]
        B = self._bias_accelerations()[1].copy()
        B[:, :3, 3] -= self.model.gravity
        wrenches = (B @ P).reshape(-1, 16) @ WRENCH
        carried = self._layout.carries.T @ wrenches  # on all that each joint carries
        forces: Array = (self._screws * carried.T).sum(axis=0)
        return forces

    def _com(self) -> Array:
        if self._compiled is not None:
            return self._by_kernel("com")
        total = self._masses()[1][0]
        com: Array = total[:3, 3] / total[3, 3] + self._origin
        return com

    def _momentum_matrix(self) -> Array:
        if self._compiled is not None:
            return self._by_kernel("momentum_matrix")
        momenta = self._composite_momenta()
        momenta[3:] -= so3.skew(self.com - self._origin) @ momenta[:3]
        return momenta

    def _momentum_bias(self) -> Array:
        if self._compiled is not None:
            return self._by_kernel("momentum_bias")
        rates: Array = (self._bias_accelerations()[1] @ self._masses()[0]).sum(axis=0).reshape(16) @ WRENCH
        rates[3:] -= so3.skew(self.com - self._origin) @ rates[:3]
        return rates

    def _inverse_dynamics(self, q: Array, v: Array, vdot: Array) -> Array:
        return recursive_newton_euler(self._tree, q, v, vdot) + self._layout.armature * vdot

    def _fork(self) -> NumpyDynamics:
        twin = NumpyDynamics.__new__(NumpyDynamics)
        Dynamics.__init__(twin, self.model, self._tree)
        twin._layout = self._layout
        twin._start()
        return twin


_KINDS = {"revolute": 0, "prismatic": 1, "translation": 2, "spherical": 3}


class _Compiled:
    """The tree in the compiled kernel, and the memory that it writes the motion of all nodes to.

    Args:
        tree: the robot's.
        passive: its passive forces.

    Attributes:
        tree: of the kernel.
    """

    def __init__(self, tree: Tree, passive: PassiveForces) -> None:
        assert kernel is not None
        model, self._nodes = tree.model, tree.nodes
        self._motion = np.zeros((len(tree.nodes), 24))
        self._screws, self._origin = np.zeros((model.nv, 6)), np.zeros(3)
        nodes = tuple(
            (
                node.parent,
                _KINDS[node.kind],
                node.pose[:3, :3],
                node.pose[:3, 3],
                node.axis,
                node.q_index,
                node.v_index,
                node.mass,
                node.com,
                node.inertia,
            )
            for node in tree.nodes[1:]
        )
        memory = self._motion, self._screws, self._origin
        forces = passive.for_kernel()
        self.tree = kernel.Tree(model.nq, model.nv, nodes, model.armature, model.gravity, forces, *memory)

    def reader(self, places: list[Place]) -> Any:  # noqa: ANN401  a type of the kernel
        """What reads how frames move."""
        assert kernel is not None
        frames = tuple((np.ascontiguousarray(place.pose), *self._node(place.node)) for place in places)
        return kernel.Frames(None, self._screws.T, False, frames)

    def _node(self, node: int) -> tuple[tuple[int, ...], tuple[Array, ...] | None]:
        """The velocities that move a node, and where its motion is written; None where nothing moves it."""
        columns: list[int] = []
        above = node
        while above > 0:
            columns += range(self._nodes[above].v_index, self._nodes[above].v_index + self._nodes[above].nv)
            above = self._nodes[above].parent
        if node == 0:
            return (), None
        row = self._motion[node]
        motion = row[9:12], row[:9].reshape(3, 3), row[12:15], row[15:18], row[18:21], row[21:]
        return tuple(columns), (*motion, self._origin)

    def momentum(self) -> dict[str, Array]:
        """The momentum's matrix and bias."""
        nv = len(self._screws)
        block: Array = np.empty(6 * nv + 6)
        self.tree.momentum(block)
        block.setflags(write=False)
        return {"momentum_matrix": block[: 6 * nv].reshape(6, nv), "momentum_bias": block[6 * nv :]}


class _Layout:
    """Constant data: the tree of parts, sorted by depth, and every joint's constants.

    Attributes:
        index: by node of the tree, the part.
        part_of: by velocity, the part that it moves, shape (nv,).
        carries: 1 where a velocity moves a part, shape (parts, nv).
        subtree: 1 where a part carries another or is it, shape (parts, parts).
        above: 1 where the first velocity's part carries the second's, or both are of one part, shape (nv, nv).
        strictly_above: the same without those of one part.
        masses: P of each part about its own origin in its own axes, shape (parts, 4, 4).
        base: the part whose origin is the common point.
    """

    def __init__(self, tree: Tree) -> None:
        nodes, model = tree.nodes, tree.model
        depth = [0] * len(nodes)
        for number, node in enumerate(nodes[1:], start=1):
            depth[number] = depth[node.parent] + 1
        order = sorted(range(len(nodes)), key=lambda number: depth[number])
        self.index = [order.index(number) for number in range(len(nodes))]
        sorted_nodes = [nodes[number] for number in order]
        count, nv = len(nodes), model.nv

        parents = np.array([self.index[max(node.parent, 0)] for node in sorted_nodes], dtype=np.intp)
        depths = np.array([depth[number] for number in order])
        bounds = np.searchsorted(depths, np.arange(1, depths.max() + 2)).tolist()
        self._levels = [(slice(first, last), parents[first:last]) for first, last in pairwise(bounds)]
        self.base = min(1, count - 1)

        self.subtree = np.eye(count)
        for part in range(count - 1, 0, -1):
            self.subtree[parents[part]] += self.subtree[part]
        self.part_of: IntArray = np.zeros(nv, dtype=np.intp)
        for part, node in enumerate(sorted_nodes[1:], start=1):
            self.part_of[node.v_index : node.v_index + node.nv] = part
        self.carries = np.ascontiguousarray(self.subtree[self.part_of].T)
        self.above = np.ascontiguousarray(self.subtree[np.ix_(self.part_of, self.part_of)])
        self.strictly_above = self.above * (self.part_of[:, None] != self.part_of)
        self.diagonal = np.diag_indices(nv)
        self.armature = model.armature

        self.masses = np.zeros((count, 4, 4))
        for part, node in enumerate(sorted_nodes):
            if part:  # what is fixed to the world moves nothing and weighs nothing
                about_com = np.trace(node.inertia) / 2 * np.eye(3) - node.inertia
                self.masses[part, :3, :3] = about_com + node.mass * np.outer(node.com, node.com)
                self.masses[part, :3, 3] = self.masses[part, 3, :3] = node.mass * node.com
                self.masses[part, 3, 3] = node.mass

        self._lay_out_joints(sorted_nodes, nv)

    def _lay_out_joints(self, nodes: list[Node], nv: int) -> None:
        """Constants from which the joints' transforms and screws are made."""
        self._fixed = np.array([node.pose for node in nodes])
        self._axes = np.zeros((nv, 3))
        self._linear = np.zeros(nv, dtype=bool)
        moved_by: dict[str, list[int]] = {"revolute": [], "prismatic": [], "translation": [], "spherical": []}
        for part, node in enumerate(nodes[1:], start=1):
            where = slice(node.v_index, node.v_index + node.nv)
            self._axes[where] = np.eye(3) if node.nv == 3 else node.axis
            self._linear[where] = node.kind in ("prismatic", "translation")
            moved_by[node.kind].append(part)
        turning, sliding = moved_by["revolute"], moved_by["prismatic"]
        self._turning = np.array(turning, dtype=np.intp)
        self._turning_q = np.array([nodes[part].q_index for part in turning], dtype=np.intp)
        a = np.array([nodes[part].axis for part in turning]).reshape(-1, 3)
        R0 = self._fixed[self._turning, :3, :3]
        along = a[:, :, None] * a[:, None, :]
        # R0 exp(angle a) = R0 a aᵀ + cos(angle) R0 (1 − a aᵀ) + sin(angle) R0 â
        self._turn_constant, self._turn_cosine = R0 @ along, R0 @ (np.eye(3) - along)
        self._turn_sine = R0 @ so3.skew(a)
        self._sliding = np.array(sliding, dtype=np.intp)
        self._sliding_q = np.array([nodes[part].q_index for part in sliding], dtype=np.intp)
        self._slide = np.array([nodes[part].pose[:3, :3] @ nodes[part].axis for part in sliding]).reshape(-1, 3)
        self._drifting = [(part, nodes[part].q_index) for part in moved_by["translation"]]
        self._spinning = [(part, nodes[part].q_index) for part in moved_by["spherical"]]
        self._angular_mask = (~self._linear).astype(float)

    def transforms(self, q: Array) -> Array:
        """The transforms of all parts to the world, shape (parts, 4, 4)."""
        W = self._fixed.copy()
        if len(self._turning):
            angle = q[self._turning_q, None, None]
            W[self._turning, :3, :3] = (
                self._turn_constant + np.cos(angle) * self._turn_cosine + np.sin(angle) * self._turn_sine
            )
        if len(self._sliding):
            W[self._sliding, :3, 3] += q[self._sliding_q, None] * self._slide
        for part, start in self._drifting:
            W[part, :3, 3] += W[part, :3, :3] @ q[start : start + 3]
        for part, start in self._spinning:
            W[part, :3, :3] = W[part, :3, :3] @ quaternion.to_matrix(q[start : start + 4])
        for level, parents in self._levels:
            W[level] = W[parents] @ W[level]
        return W

    def screws(self, W: Array, origin: Array) -> Array:
        """The twist about `origin` that a unit of each velocity gives to what it moves, shape (6, nv)."""
        frames = W[self.part_of]
        axes = (frames[:, :3, :3] @ self._axes[:, :, None])[:, :, 0].T
        arm = (frames[:, :3, 3] - origin).T
        screws = np.empty((6, axes.shape[1]))
        screws[3:] = axes * self._angular_mask
        screws[:3] = arm[_NEXT] * axes[_LAST] - arm[_LAST] * axes[_NEXT]
        if self._linear.any():
            screws[:3] = np.where(self._linear, axes, screws[:3])
        return screws


_NEXT, _LAST = [1, 2, 0], [2, 0, 1]
