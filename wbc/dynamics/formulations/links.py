"""A robot as its links: velocities and forces of every body in Cartesian space, and back (Liu–Jain section 6).

Physics engines that keep six velocities for each body, whatever joins them, speak in these; so does who reads off or
applies forces body by body.
"""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array, ArrayLike, IntArray
from wbc.dynamics.base import Dynamics
from wbc.dynamics.formulations.projected import com_jacobian
from wbc.model.parts import constant

_NO_TURN = 1e-9  # a joint velocity whose link turns slower than that against the parent, rad/s, is a translation


class Links:
    """All links of a robot in its present state: ask again after each `update`.

    A link is a body that is not virtual; arrays have a row for each, in the order of `names`. Velocities are (v, ω),
    v that of the link's centre of mass; wrenches are (f, τ); both in the world's axes.

    Args:
        robot: on any backend.

    Attributes:
        names: of the links.
        parents: index of the link that carries each, -1 for the world, shape (m,).
        connectivity: shape (m, m), 1 on the diagonal and -1 at each link's parent; Liu–Jain's D (64) has 3×3 identities
            in its place.
    """

    def __init__(self, robot: Dynamics) -> None:
        self._robot, model = robot, robot.model
        carried = {joint.child: joint for joint in model.joints.values()}
        self.names = tuple(
            joint.child for joint in model.joints.values() if not model.bodies[joint.child].virtual
        )  # joints are depth first, so that parents come before their children
        index = {name: number for number, name in enumerate(self.names)}
        parents: list[int] = []
        self._own: list[IntArray] = []  # the velocities of the joints between a link and its parent
        for name in self.names:
            own: list[int] = []
            body = name
            while body == name or (body in carried and body not in index):
                joint = carried[body]
                start = model.v_index[joint.name]
                own = [*range(start, start + joint.nv), *own]
                body = joint.parent
            parents.append(index.get(body, -1))
            self._own.append(np.array(own, dtype=np.intp))
        self.parents: IntArray = np.array(parents, dtype=np.intp)
        self.connectivity = np.eye(len(parents))
        for link, parent in enumerate(parents):
            if parent >= 0:
                self.connectivity[link, parent] = -1.0
        self.parents.flags.writeable = self.connectivity.flags.writeable = False

    # --- velocities ------------------------------------------------------------------------------------------------

    @property
    def jacobian(self) -> Array:
        """J of every link at its centre of mass (Liu–Jain 58, 60), shape (m, 6, nv)."""
        found = [com_jacobian(self._robot, name) for name in self.names]
        return np.array(found).reshape(len(found), 6, self._robot.nv)

    @property
    def velocity(self) -> Array:
        """J v: the twist of every link, world axes, m/s and rad/s (Liu–Jain 60), shape (m, 6)."""
        return np.asarray(self.jacobian @ self._robot.v)

    def generalized_velocity(self, velocity: ArrayLike) -> Array:
        """J⁺ V: the generalised velocity that fits these links' velocities best (Liu–Jain 61).

        Where J times it is not V, no motion that keeps the links together has these velocities.

        Args:
            velocity: V, of every link, shape (m, 6).

        Returns:
            Shape (nv,).
        """
        V = self._rows(velocity, 6, "velocity")
        return np.asarray(np.linalg.lstsq(self._stacked(), V.ravel(), rcond=None)[0])

    @property
    def relative_jacobian(self) -> Array:
        """Ĵ_ω = Rᵀ D J_ω: of each link's turning against its parent, in the parent's axes (Liu–Jain 50–52, 65).

        Sparse: only the velocities of the joint that carries the link have columns that are not zero.

        Returns:
            Shape (m, 3, nv).
        """
        difference = np.tensordot(self.connectivity, self.jacobian[:, 3:], 1)
        return np.swapaxes(self._parent_axes(), -1, -2) @ difference

    def relative_angular_velocity(self, angular: ArrayLike) -> Array:
        """ω̂ = Rᵀ D ω: each link's angular velocity against its parent, in the parent's axes (Liu–Jain 62–65).

        Args:
            angular: ω of every link, world axes, shape (m, 3).

        Returns:
            Shape (m, 3).
        """
        omega = self._rows(angular, 3, "angular")
        return np.asarray(np.einsum("kji,kj->ki", self._parent_axes(), self.connectivity @ omega))

    def joint_velocity(self, velocity: ArrayLike) -> Array:
        """The generalised velocity joint by joint: small pseudo-inverses instead of a large one (Liu–Jain 66).

        Each joint's turning is read off the relative angular velocity of its link, then its translations off the
        link's linear velocity. It is `generalized_velocity` where V keeps the links together.

        Args:
            velocity: V, of every link, shape (m, 6).

        Returns:
            Shape (nv,).
        """
        V = self._rows(velocity, 6, "velocity")
        relative, turning, J = self.relative_angular_velocity(V[:, 3:]), self.relative_jacobian, self.jacobian
        v = np.zeros(self._robot.nv)
        for link, own in enumerate(self._own):
            turns, slides = self._kinds(turning[link], own)
            v[turns] = np.linalg.pinv(turning[link][:, turns]) @ relative[link]
            v[slides] = np.linalg.pinv(J[link, :3][:, slides]) @ (V[link, :3] - J[link, :3] @ v)
        return v

    # --- forces ----------------------------------------------------------------------------------------------------

    def generalized_force(self, wrenches: ArrayLike, points: ArrayLike | None = None) -> Array:
        """Q = Σ J'_vᵀ f + J_ωᵀ τ: what forces and torques on the links are to the joints (Liu–Jain 67).

        Args:
            wrenches: on every link, shape (m, 6); a torque does not include that of its force about the mass centre.
            points: where each force acts, in its link's frame, m, shape (m, 3); None: at the centres of mass.

        Returns:
            Shape (nv,).
        """
        F, robot = self._rows(wrenches, 6, "wrenches"), self._robot
        if points is None:
            return np.asarray(np.tensordot(F, self.jacobian, 2))
        places = self._rows(points, 3, "points")
        each = [robot.generalized_force(name, F[k], places[k]) for k, name in enumerate(self.names)]
        return np.asarray(sum(each, np.zeros(robot.nv)))

    def body_torques(self, joint_torques: ArrayLike) -> Array:
        """τ' = Dᵀ R τ̂: each joint's torque on its link and back on the parent (Liu–Jain 68).

        With forces f, `generalized_force` of (f, τ') is Liu–Jain (69).

        Args:
            joint_torques: τ̂, on each link from its parent, in the parent's axes, shape (m, 3).

        Returns:
            On every link, world axes, shape (m, 3).
        """
        hinges = self._rows(joint_torques, 3, "joint_torques")
        return np.asarray(self.connectivity.T @ np.einsum("kij,kj->ki", self._parent_axes(), hinges))

    def wrenches(self, force: ArrayLike) -> Array:
        """(Jᵀ)⁺ Q: of all wrenches at the links' centres of mass that are this generalised force, the least (70).

        Args:
            force: Q, shape (nv,).

        Returns:
            Shape (m, 6).
        """
        return np.asarray(np.linalg.lstsq(self._stacked().T, self._force(force), rcond=None)[0]).reshape(-1, 6)

    def joint_torques(self, force: ArrayLike) -> Array:
        """τ̂_k = (Ĵ_ωkᵀ)⁺ Q_k: of each joint the least torque that is its share of Q (Liu–Jain 71).

        The share of a joint that slides is no torque and not among them.

        Args:
            force: Q, shape (nv,).

        Returns:
            On each link from its parent, in the parent's axes, shape (m, 3).
        """
        Q, turning = self._force(force), self.relative_jacobian
        found = np.zeros((len(self.names), 3))
        for link, own in enumerate(self._own):
            turns, _ = self._kinds(turning[link], own)
            found[link] = np.linalg.pinv(turning[link][:, turns].T) @ Q[turns]
        return found

    # --- parts -----------------------------------------------------------------------------------------------------

    def _stacked(self) -> Array:
        """`jacobian` as one matrix, shape (6 m, nv)."""
        return self.jacobian.reshape(6 * len(self.names), self._robot.nv)

    def _parent_axes(self) -> Array:
        """R_world_parent of every link, shape (m, 3, 3)."""
        own = [self._robot.pose(name)[:3, :3] for name in self.names] + [np.eye(3)]  # -1 is the world
        return np.array(own)[self.parents]

    @staticmethod
    def _kinds(turning: Array, own: IntArray) -> tuple[IntArray, IntArray]:
        """Which of a joint's velocities turn its link, and which slide it."""
        turns = np.linalg.norm(turning[:, own], axis=0) > _NO_TURN
        return own[turns], own[~turns]

    def _rows(self, values: ArrayLike, size: int, what: str) -> Array:
        return constant(values, (len(self.names), size), what)

    def _force(self, values: ArrayLike) -> Array:
        return constant(values, (self._robot.nv,), "force")
