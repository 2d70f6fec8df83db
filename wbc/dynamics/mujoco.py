"""The MuJoCo backend: MuJoCo's kinematics and rigid-body dynamics, without its contacts and its integration."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.compiled import kernel
from wbc.dynamics.backend import Place
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, show
from wbc.geometry import pose as poses
from wbc.geometry import quaternion, so3
from wbc.model.model import Model
from wbc.model.tree import Tree

try:
    import mujoco
except ImportError as error:
    raise WbcError(f"the MuJoCo backend needs MuJoCo: pip install 'wbc[mujoco]' ({error})") from None

_VERSION = tuple(int(part) for part in re.findall(r"\d+", mujoco.__version__)[:3])
if _VERSION < (3, 3, 1):  # whose mj_jacDot is wrong
    raise WbcError(
        f"the MuJoCo backend needs MuJoCo 3.3.1 or newer, not {mujoco.__version__}: pip install 'wbc[mujoco]'"
    )

# In older versions of MuJoCo one function has another name, and another takes the matrix out of the data.
_make_mass_matrix = getattr(mujoco, "mj_makeM", None) or mujoco.mj_crb
_TAKES_MATRIX = _VERSION < (3, 10)

FEATHER = 1e-13
"""Mass (kg) and inertia (kg m²) given to massless links, which MuJoCo does not let move; far below notice."""


class MujocoDynamics(Dynamics):
    """A robot's dynamics by MuJoCo.

    Args:
        model: the robot.
        tree: the model's tree, where it was made already.
        simulated: the `mujoco.MjModel` that `model` was read from; None: one is made from `model`. With one, the
            passive forces are MuJoCo's own (springs of all kinds, tendons, fluids, gravity compensation, also where
            the motors give it), Coulomb friction added, and the inertia of its tendons belongs to M and h.
    """

    name = "mujoco"

    def __init__(self, model: Model, tree: Tree | None = None, simulated: Any = None) -> None:  # noqa: ANN401
        super().__init__(model, tree, complete=simulated is not None)
        self._foreign = simulated is not None
        self._mj = _build(self._tree) if simulated is None else simulated
        self._body_of = self._bodies()
        self._carries = self._carriers()
        self._start()

    def _start(self) -> None:
        self._data = mujoco.MjData(self._mj)
        moving = self._mj.body_weldid != 0
        self._masses = np.where(moving, self._mj.body_mass, 0.0)
        self._lifted_by_motors = self._mj.jnt_actgravcomp[self._mj.dof_jntid].astype(bool)
        self._has_forces = False
        bodies = np.zeros((2, self._mj.nbody, 6))
        self._moving = np.zeros((self.nv, 6)), bodies[0], bodies[1]
        self._is_current = False
        self._has_readers = kernel is not None

    def _given(self) -> tuple[Any, ...]:
        return self.model, None, self._mj if self._foreign else None

    def _fork(self) -> MujocoDynamics:
        twin = MujocoDynamics.__new__(MujocoDynamics)
        Dynamics.__init__(twin, self.model, self._tree, complete=self._foreign)
        twin._mj, twin._foreign = self._mj, self._foreign  # never written to
        twin._body_of, twin._carries = self._body_of, self._carries
        twin._start()
        return twin

    def _carriers(self) -> Array:
        """1 where a velocity moves a body, shape (bodies, nv)."""
        carries = np.zeros((self._mj.nbody, self.nv))
        for body in range(1, self._mj.nbody):
            start, count = self._mj.body_dofadr[body], self._mj.body_dofnum[body]
            carries[body] = carries[self._mj.body_parentid[body]]
            if count:
                carries[body, start : start + count] = 1.0
        return carries

    def _bodies(self) -> dict[int, tuple[int, Array]]:
        """For each node of the tree the body in MuJoCo and the node's pose in it."""
        if not self._foreign:
            return {number: (number, np.eye(4)) for number in range(len(self._tree.nodes))}
        from wbc.model.mujoco import body_names

        found: dict[int, tuple[int, Array]] = {}
        for number, name in enumerate(body_names(self._mj)):
            node, pose = self._tree.places[name]
            found.setdefault(node, (number, poses.inverse(pose)))
        return found

    def _update(self, q: Array, v: Array) -> None:
        m, d = self._mj, self._data
        d.qpos[:], d.qvel[:] = q, v
        self._has_forces = self._is_current = False
        if m.ntendon:  # tendons can have inertia
            mujoco.mj_fwdPosition(m, d)
        else:
            mujoco.mj_kinematics(m, d)
            mujoco.mj_comPos(m, d)
            _make_mass_matrix(m, d)
        mujoco.mj_comVel(m, d)

    def _reader(self, places: list[Place]) -> Any:  # noqa: ANN401
        return _Reader(self, places) if self._has_readers else None

    def _motion_now(self) -> tuple[Array, Array, Array]:
        """Screws of the joints, twists of the bodies and their rates for v̇ = 0, linear first, shapes (n, 6).

        They are about the centre of mass of each tree of bodies, in memory that stays where it is.
        """
        if not self._is_current:
            d = self._data
            rates = self._carries @ (d.cdof_dot * self._v[:, None])
            for into, source in zip(self._moving, (d.cdof, d.cvel, rates), strict=True):
                into[:, :3], into[:, 3:] = source[:, 3:], source[:, :3]
            self._is_current = True
        return self._moving

    def _with_forces(self) -> Any:  # noqa: ANN401
        """The data with MuJoCo's own passive and bias forces; contacts are computed on the way and not used."""
        if not self._has_forces:
            mujoco.mj_fwdPosition(self._mj, self._data)
            mujoco.mj_fwdVelocity(self._mj, self._data)
            self._has_forces = True
        return self._data

    # --- frames ----------------------------------------------------------------------------------------------------

    def _place(self, node: int, pose: Array) -> Place:
        if node not in self._body_of:
            raise WbcError(f"MuJoCo has no body for {show(self._tree.nodes[node].name)}, which is between two joints")
        body, offset = self._body_of[node]
        return Place(node, pose, (body, offset @ pose))

    def _pose(self, place: Place) -> Array:
        body, offset = place.handle
        world = np.eye(4)
        world[:3, :3] = self._data.xmat[body].reshape(3, 3)
        world[:3, 3] = self._data.xpos[body]
        pose: Array = world @ offset
        return pose

    def _origin(self, place: Place) -> tuple[int, Array]:
        """The body of a frame, and the frame's origin in the world."""
        body, offset = place.handle
        point: Array = self._data.xmat[body].reshape(3, 3) @ offset[:3, 3] + self._data.xpos[body]
        return body, point

    def _jacobian(self, place: Place) -> Array:
        body, point = self._origin(place)
        J = np.zeros((6, self.nv))
        mujoco.mj_jac(self._mj, self._data, J[:3], J[3:], point, body)
        return J

    def _jacobian_derivative(self, place: Place) -> Array:
        body, point = self._origin(place)
        J = np.zeros((6, self.nv))
        mujoco.mj_jacDot(self._mj, self._data, J[:3], J[3:], point, body)
        return J

    def _jacobian_bias(self, place: Place) -> Array:
        bias: Array = self._jacobian_derivative(place) @ self._v
        return bias

    # --- whole body ------------------------------------------------------------------------------------------------

    def _mass_matrix(self) -> Array:
        M = np.zeros((self.nv, self.nv))
        if _TAKES_MATRIX:
            mujoco.mj_fullM(self._mj, M, self._data.qM)
        else:
            mujoco.mj_fullM(self._mj, self._data, M)
        return M

    def _nonlinear(self) -> Array:
        if self._mj.ntendon:  # which the function below knows nothing of
            return np.array(self._with_forces().qfrc_bias)
        forces = np.zeros(self.nv)
        mujoco.mj_rne(self._mj, self._data, 0, forces)
        return forces

    def _passive_force(self, q: Array, v: Array) -> Array:
        if not self._foreign:
            return super()._passive_force(q, v)
        data = self._with_forces()
        forces: Array = data.qfrc_passive - self._passive.rubbing(v)
        return forces + np.where(self._lifted_by_motors, data.qfrc_gravcomp, 0.0)

    def _spring_energy(self) -> float:
        if not self._foreign:
            return super()._spring_energy()
        m, data = self._mj, self._with_forces()
        mujoco.mj_energyPos(m, data)  # of springs, and of the weight of all bodies
        return float(data.energy[0] + m.body_mass @ data.xipos @ self.model.gravity)

    def _com(self) -> Array:
        com: Array = self._masses @ self._data.xipos / self._masses.sum()
        return com

    def _momentum_matrix(self) -> Array:
        A = np.zeros((6, self.nv))
        mujoco.mj_jacSubtreeCom(self._mj, self._data, A[:3], 0)
        A[:3] *= self._mj.body_subtreemass[0]
        angular = np.zeros((3, self.nv))
        mujoco.mj_angmomMat(self._mj, self._data, angular, 0)
        # MuJoCo's is about the centre of all bodies, also of those that are fixed to the world
        A[3:] = angular + so3.skew(self._data.subtree_com[0] - self.com) @ A[:3]
        return A

    def _momentum_bias(self) -> Array:
        # MuJoCo's twists and inertias are in world axes about the centre of mass of each tree of bodies, angular first
        d, n = self._data, self._mj.nbody
        V, A = d.cvel, self._carries @ (d.cdof_dot * self._v[:, None])  # twists, and their rates for v̇ = 0
        omega, u, alpha, a = V[:, :3], V[:, 3:], A[:, :3], A[:, 3:]
        inertia, moment, mass = d.cinert[:, _INERTIA].reshape(-1, 3, 3), d.cinert[:, 6:9], d.cinert[:, 9:]
        products = _cross(np.concatenate([omega, moment]), np.concatenate([moment, u]))
        linear = mass * u + products[:n]
        angular = (inertia @ omega[:, :, None])[:, :, 0] + products[n:]
        products = _cross(
            np.concatenate([alpha, omega, moment, omega, u]), np.concatenate([moment, linear, a, angular, linear])
        )
        force = mass * a + products[:n] + products[n : 2 * n]
        torque = (inertia @ alpha[:, :, None])[:, :, 0] + products[2 * n :].reshape(3, n, 3).sum(axis=0)
        about_com = torque + _cross(d.subtree_com[self._mj.body_rootid] - self.com, force)
        return np.concatenate([force.sum(axis=0), about_com.sum(axis=0)])

    def _inverse_dynamics(self, q: Array, v: Array, vdot: Array) -> Array:
        self._update(q, v)
        if self._mj.ntendon:
            return self._mass_matrix() @ vdot + self._nonlinear()
        self._data.qacc[:] = vdot
        forces = np.zeros(self.nv)
        mujoco.mj_rne(self._mj, self._data, 1, forces)
        total: Array = forces + self.model.armature * vdot  # which MuJoCo leaves out here, but not of M
        return total


class _Reader:
    """Reads how frames move out of MuJoCo's memory.

    Args:
        robot: whose they are.
        places: where they are.
    """

    def __init__(self, robot: MujocoDynamics, places: list[Place]) -> None:
        assert kernel is not None
        self._robot = robot
        m, d = robot._mj, robot._data
        screws, twists, rates = robot._motion_now()
        frames: list[tuple[Any, ...]] = []
        for place in places:
            body, offset = place.handle
            if not robot._carries[body].any():
                frames.append((robot._pose(place), (), None))  # nothing moves it
                continue
            columns = tuple(np.flatnonzero(robot._carries[body]).tolist())
            moved = twists[body, :3], twists[body, 3:], rates[body, :3], rates[body, 3:]
            node = d.xpos[body], d.xmat[body].reshape(3, 3), *moved, d.subtree_com[m.body_rootid[body]]
            frames.append((np.ascontiguousarray(offset), columns, node))
        self._frames = kernel.Frames(d, screws.T, False, tuple(frames))

    def motion(self, out: Array) -> None:
        """See the kernel's `Frames`."""
        self._robot._motion_now()
        self._frames.motion(out)

    def points(self, out: Array) -> None:
        """See the kernel's `Frames`."""
        self._robot._motion_now()
        self._frames.points(out)


_INERTIA = [0, 3, 4, 3, 1, 5, 4, 5, 2]
"""Where the entries of an inertia's matrix stand in MuJoCo's ten numbers."""

_NEXT, _LAST = [1, 2, 0], [2, 0, 1]


def _cross(a: Array, b: Array) -> Array:
    """Products a × b of many vectors, shape (n, 3); np.cross takes several times as long."""
    product: Array = a[:, _NEXT] * b[:, _LAST] - a[:, _LAST] * b[:, _NEXT]
    return product


def robot_spec(tree: Tree) -> tuple[Any, list[Any]]:
    """MuJoCo's description of a robot, and its bodies: one for each node, numbered alike.

    A joint is called "velocity 7" by the index in v of its first velocity. There are no shapes, actuators or passive
    forces in it.

    Args:
        tree: the robot.
    """
    spec = mujoco.MjSpec()
    spec.option.gravity = tree.model.gravity
    spec.compiler.fusestatic = False
    bodies = [spec.worldbody]
    kinds = {"revolute": mujoco.mjtJoint.mjJNT_HINGE, "spherical": mujoco.mjtJoint.mjJNT_BALL}
    for number, node in enumerate(tree.nodes[1:], start=1):
        body = bodies[node.parent].add_body(name=f"{number}: {node.name}")
        bodies.append(body)
        body.pos, body.quat = node.pose[:3, 3], quaternion.from_matrix(node.pose[:3, :3])
        body.explicitinertial = True
        body.mass, body.ipos = max(node.mass, FEATHER), node.com
        moments, axes = np.linalg.eigh(node.inertia)
        axes = axes * np.linalg.det(axes)  # a rotation, not a reflection
        body.inertia, body.iquat = np.maximum(moments, FEATHER), quaternion.from_matrix(axes)
        for offset, axis in enumerate(np.eye(3) if node.kind == "translation" else [node.axis]):
            name = f"velocity {node.v_index + offset}"
            joint = body.add_joint(type=kinds.get(node.kind, mujoco.mjtJoint.mjJNT_SLIDE), name=name)
            if node.kind != "spherical":
                joint.axis = axis
            joint.armature = tree.model.armature[node.v_index]
    return spec, bodies


def _build(tree: Tree) -> Any:  # noqa: ANN401  mujoco is not typed for a strict checker
    """MuJoCo's model of a robot."""
    try:
        return robot_spec(tree)[0].compile()
    except ValueError as error:
        raise WbcError(f"MuJoCo refuses {tree.model.name!r}: {' '.join(str(error).split())}") from None
