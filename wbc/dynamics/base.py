"""The interface of a robot's dynamics, the same for every backend; `backend.py` has what a backend fills in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import scipy.linalg

from wbc.arrays import Array, ArrayLike, IntArray, numbers
from wbc.dynamics.backend import Backend, FrameSet, FramesMotion, OneMotion, Place
from wbc.dynamics.lengths import lengths_of
from wbc.dynamics.loops import LoopMotion, closed, held, projected
from wbc.errors import WbcError, show, unknown_name
from wbc.geometry import so3
from wbc.model.loops import Loop
from wbc.model.parts import Limits, is_transform

Representation = Literal["mixed", "left", "right"]
"""Representations of a twist: in the world's axes at the frame's origin, in the frame's axes, or at the world's
origin."""


class Dynamics(Backend):
    """A robot in a state: give it `update(q, v)`, then ask.

    Quantities are computed when they are first asked for after an update, and once. Arrays that describe the state are
    read-only and never change later. Conventions are those of the table in the README: `v` holds the velocity of the
    base in the world, its angular velocity in the base frame, and joint rates; `M v̇ + h = Sᵀ τ + Jᵀ f`.

    Args:
        model: the robot.
        tree: the model's tree, where it was made already.

    Attributes:
        model: the robot as plain data; shared between copies.
        updates: number of updates: a stamp for cached results.
    """

    # --- frames ----------------------------------------------------------------------------------------------------

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of all frames: bodies, the model's frames, and those added to this robot."""
        return (*self.model.frame_names, *self._added)

    def add_frame(self, name: str, parent: str, pose: ArrayLike) -> None:
        """Adds a frame to this robot (not to its model, nor to its copies made before): a tool, a contact point.

        Args:
            name: of the new frame.
            parent: the frame that it is fixed to.
            pose: of the new frame in the parent frame: shape (4, 4), or (3,) for a mere offset.
        """
        if not isinstance(name, str) or not name:
            raise WbcError(f"a frame's name must be a non-empty text, not {show(name)}")
        if name in self.frames:
            raise WbcError(f"a frame {name!r} exists already")
        given = numbers(pose, f"the pose of frame {name!r}")
        if given.shape == (3,):
            given, offset = np.eye(4), given
            given[:3, 3] = offset
        if given.shape != (4, 4) or not np.isfinite(given).all():
            raise WbcError(f"the pose of frame {name!r} must be finite, of shape (4, 4) or (3,), not {show(given)}")
        if not is_transform(given):
            raise WbcError(
                f"the pose of frame {name!r} is not a homogeneous transform [[R, p], [0, 1]] with a rotation R"
            )
        place = self._find(parent)
        self._added[name] = place.node, place.pose @ given

    def _find(self, frame: str) -> Place:
        """Where a frame is, by name."""
        try:
            place = self._places.get(frame)
        except TypeError:  # a list, say
            place = None
        if place is None:
            if not isinstance(frame, str):
                raise WbcError(f"frame must be one name (a text), not {show(frame)}")
            found = self._added.get(frame)
            if found is None:
                if frame not in self.model.frames and frame not in self.model.bodies:
                    raise unknown_name("frame", frame, self.frames)
                found = self._tree.place(frame)
            place = self._places[frame] = self._place(*found)
        return place

    def pose(self, frame: str) -> Array:
        """The pose of a frame in the world, a homogeneous transform of shape (4, 4)."""
        moved = self._of_frame(frame)
        if moved is not None:
            return moved[0]
        place = self._find(frame)
        return self._get(f"pose of {frame}", lambda: self._pose(place))

    def frame_motion(self, frame: str) -> OneMotion:
        """Pose, mixed Jacobian, its bias and the twist of a frame in one call, as their own methods give them.

        Args:
            frame: its name.

        Returns:
            Shapes (4, 4), (6, nv), (6,) and (6,).
        """
        found = self._of_frame(frame)
        if found is not None:
            return found
        return self.pose(frame), self.jacobian(frame), self.jacobian_bias(frame), self.twist(frame)

    def twist(self, frame: str) -> Array:
        """The velocity of a frame: linear of its origin, then angular, world axes, m/s and rad/s, shape (6,)."""
        moved = self._of_frame(frame)
        if moved is not None:
            return moved[3]
        return self._get(f"twist of {frame}", lambda: self.jacobian(frame) @ self._v)

    def jacobian(self, frame: str, representation: Representation = "mixed") -> Array:
        """J with twist = J v.

        Args:
            frame: name of the frame.
            representation: "mixed": world axes at the frame's origin, whose linear rows give the velocity of that
                origin; "left": in the frame's own axes; "right": at the world's origin (Traversaro–Saccon 75).

        Returns:
            Shape (6, nv), linear rows first.
        """
        moved = self._of_frame(frame)
        if moved is None:
            place = self._find(frame)
            mixed = self._get(f"Jacobian of {frame}", lambda: self._jacobian(place))
        else:
            mixed = moved[1]
        if representation == "mixed":
            return mixed
        return self._get(
            f"{representation} Jacobian of {frame}", lambda: self._from_mixed(frame, representation)[0] @ mixed
        )

    def jacobian_bias(self, frame: str) -> Array:
        """J̇v of the mixed Jacobian: what the acceleration of the frame is when v̇ is zero (ETH 3.81).

        The second derivative of the position of the frame's origin is J v̇ + J̇v (the classical acceleration).

        Returns:
            Shape (6,), m/s² and rad/s².
        """
        moved = self._of_frame(frame)
        if moved is not None:
            return moved[2]
        place = self._find(frame)
        return self._get(f"Jacobian bias of {frame}", lambda: self._jacobian_bias(place))

    def jacobian_derivative(self, frame: str, representation: Representation = "mixed") -> Array:
        """J̇, the time derivative of `jacobian(frame, representation)` (Kindr appendix III, Traversaro–Saccon 75).

        Returns:
            Shape (6, nv).
        """
        place = self._find(frame)
        mixed = self._get(f"Jacobian derivative of {frame}", lambda: self._jacobian_derivative(place))
        if representation == "mixed":
            return mixed

        def transformed() -> Array:
            X, X_dot = self._from_mixed(frame, representation)
            return X @ mixed + X_dot @ self.jacobian(frame)

        return self._get(f"{representation} Jacobian derivative of {frame}", transformed)

    def points(self, frames: tuple[str, ...]) -> tuple[Array, Array, Array]:
        """Positions of the origins of several frames, and Jacobian and bias of their velocities, in one call.

        Args:
            frames: their names.

        Returns:
            Position, m, shape (3 n,); J, shape (3 n, nv); J̇v, shape (3 n,); world axes, frame after frame. Not shared.
        """
        chosen = self._sets.get(frames) or self._set(frames)
        return self._points(chosen.places) if chosen.reader is None else chosen.points()

    def _points(self, places: list[Place]) -> tuple[Array, Array, Array]:
        """See `points`; a backend may compute it faster."""
        if not places:
            return np.zeros(0), np.zeros((0, self.nv)), np.zeros(0)
        J, position, bias = zip(*[self._point(place) for place in places], strict=True)
        return np.concatenate(position), np.concatenate(J), np.concatenate(bias)

    def frames_motion(self, frames: tuple[str, ...]) -> FramesMotion:
        """Poses, Jacobians, biases and velocities of several frames, in one call.

        With the compiled kernel it costs little more than one of them. What `pose`, `twist`, `jacobian` and
        `jacobian_bias` say about these frames in the same state is then taken from it.

        Args:
            frames: their names.
        """
        found = self._motions.get(frames)
        if found is None:
            chosen = self._sets.get(frames) or self._set(frames)
            found = self._motions[frames] = self._motion_in_python(frames) if chosen.reader is None else chosen.motion()
        return found

    def _motion_in_python(self, frames: tuple[str, ...]) -> FramesMotion:
        """See `frames_motion`, without the kernel."""
        count = len(frames)
        found = FramesMotion(
            np.array([self.pose(frame) for frame in frames]).reshape(count, 4, 4),
            np.array([self.jacobian(frame) for frame in frames]).reshape(6 * count, self.nv),
            np.array([self.jacobian_bias(frame) for frame in frames]).reshape(6 * count),
            np.array([self.twist(frame) for frame in frames]).reshape(6 * count),
        )
        for array in found:
            array.setflags(write=False)
        return found

    def _set(self, frames: tuple[str, ...]) -> FrameSet:
        """Several frames, remembered by their tuple."""
        places = [self._find(frame) for frame in frames]
        self._check_updated("frames")
        chosen = self._sets[frames] = FrameSet(frames, places, self._reader(places), self.nv)
        return chosen

    def _of_frame(self, frame: str) -> OneMotion | None:
        """How a frame moves, out of a set that was computed; None where there is no kernel to compute sets."""
        if not self._has_readers:
            return None
        try:
            found = self._moved.get(frame)
        except TypeError:  # a list, say: `_find` says what is wrong
            return None
        if found is None:
            frames: tuple[str, ...] = (frame,)
            for others in self._motions:
                if frame in others:
                    frames = others
                    break
            poses, J, bias, velocity = self.frames_motion(frames)
            number, rows = self._sets[frames].where[frame]
            found = self._moved[frame] = poses[number], J[rows], bias[rows], velocity[rows]
        return found

    def _point(self, place: Place) -> tuple[Array, Array, Array]:
        """Linear Jacobian, position and bias of a frame's origin; a backend may have them more cheaply."""
        return self._jacobian(place)[:3], self._pose(place)[:3, 3], self._jacobian_bias(place)[:3]

    def _com_jacobian(self) -> Array:
        """Jacobian of the centre of mass, shape (3, nv); a backend may have it more cheaply."""
        return self.momentum_matrix[:3] / self.mass

    def _com_bias(self) -> Array:
        """J̇v of the centre of mass, shape (3,); a backend may have it more cheaply."""
        return self.momentum_bias[:3] / self.mass

    def _from_mixed(self, frame: str, representation: str) -> tuple[Array, Array]:
        """The transform of a mixed twist to another representation, and its time derivative. Shapes (6, 6)."""
        pose, velocity = self.pose(frame), self.twist(frame)
        R, p = pose[:3, :3], pose[:3, 3]
        X, X_dot = np.zeros((6, 6)), np.zeros((6, 6))
        if representation == "left":
            X[:3, :3] = X[3:, 3:] = R.T
            X_dot[:3, :3] = X_dot[3:, 3:] = -R.T @ so3.skew(velocity[3:])
        elif representation == "right":
            X[:3, :3] = X[3:, 3:] = np.eye(3)
            X[:3, 3:] = so3.skew(p)
            X_dot[:3, 3:] = so3.skew(velocity[:3])
        else:
            raise unknown_name("representation", representation, ("mixed", "left", "right"))
        return X, X_dot

    # --- whole-body quantities -------------------------------------------------------------------------------------

    @property
    def mass_matrix(self) -> Array:
        """M, symmetric and positive definite, with the armature of the joints; kg, kg m and kg m², shape (nv, nv)."""
        found = self._known.get("mass_matrix")  # most often it is there: the rest is not called
        return self._get("mass_matrix", self._mass_matrix) if found is None else found

    @property
    def bias(self) -> Array:
        """h: Coriolis, centrifugal and gravity forces minus the passive joint forces; N and N m, shape (nv,)."""
        found = self._known.get("bias")
        return self._get("bias", self._bias) if found is None else found

    @property
    def gravity_force(self) -> Array:
        """H at rest without springs: the generalised force that carries the robot's weight, N m and N, shape (nv,).

        Weight that something outside carries (`Body.compensation`) is not in it.
        """
        return self._get("gravity_force", self._gravity_force)

    def _gravity_force(self) -> Array:
        if not self.mass:
            return np.zeros(self.nv)
        weight: Array = -self.momentum_matrix[:3].T @ self.model.gravity
        return weight if self._compensation is None else weight - self._compensation.force(self)

    @property
    def passive_force(self) -> Array:
        """Forces of dampers, Coulomb friction and springs in the joints, and of counterweights; N and N m, shape (nv,).

        On the MuJoCo backend, those of a `mujoco.MjModel`'s tendons and fluids too.
        """
        return self._get("passive_force", lambda: self._passive_force(self._q, self._v))

    @property
    def com(self) -> Array:
        """The centre of mass of the moving bodies in the world, m; shape (3,)."""
        found = self._known.get("com")
        return self._get_of_mass("com", self._com) if found is None else found

    @property
    def com_velocity(self) -> Array:
        """The velocity of the centre of mass, world axes, m/s; shape (3,)."""
        return self._get_of_mass("com_velocity", lambda: self.com_jacobian @ self._v)

    @property
    def com_jacobian(self) -> Array:
        """J with com_velocity = J v; shape (3, nv)."""
        found = self._known.get("com_jacobian")
        return self._get_of_mass("com_jacobian", self._com_jacobian) if found is None else found

    @property
    def com_bias(self) -> Array:
        """The acceleration of the centre of mass when v̇ is zero, world axes, m/s²; shape (3,)."""
        found = self._known.get("com_bias")
        return self._get_of_mass("com_bias", self._com_bias) if found is None else found

    @property
    def momentum(self) -> Array:
        """Linear, then angular momentum about the centre of mass, world axes, N s and N m s; shape (6,)."""
        return self._get_of_mass("momentum", lambda: self.momentum_matrix @ self._v)

    @property
    def momentum_matrix(self) -> Array:
        """A with momentum = A v (without the rotors that `armature` stands for), kg, kg m and kg m²;
        shape (6, nv).
        """
        found = self._known.get("momentum_matrix")
        return self._get_of_mass("momentum_matrix", self._momentum_matrix) if found is None else found

    @property
    def momentum_bias(self) -> Array:
        """Ȧ v: the rate of the momentum when v̇ is zero, N and N m; shape (6,)."""
        found = self._known.get("momentum_bias")
        return self._get_of_mass("momentum_bias", self._momentum_bias) if found is None else found

    @property
    def kinetic_energy(self) -> float:
        """½ vᵀ M v, with the rotors that `armature` stands for, J."""
        return 0.5 * float(self._v @ self.mass_matrix @ self._v)

    @property
    def potential_energy(self) -> float:
        """Potential energy of gravity and counterweights (zero at the world's origin) and of the springs in the joints,
        J.
        """
        weight = -self.mass * float(self.com @ self.model.gravity) if self.mass else 0.0
        if self._compensation is not None:
            weight += self._compensation.energy(self)
        return weight + self._spring_energy()

    def generalized_force(self, frame: str, force: ArrayLike, point: ArrayLike | None = None) -> Array:
        """Jᵀ f: the generalised force of a Cartesian force or wrench on a frame (Liu–Jain 69–71).

        Args:
            frame: that the force acts on.
            force: on the robot, world axes: a force, shape (3,), or a force and a torque, shape (6,).
            point: where it acts, in the frame, m, shape (3,); None: at the frame's origin.

        Returns:
            Shape (nv,).
        """
        wrench = _wrench(force, f"force on {frame!r}")
        if point is not None:
            arm = self.pose(frame)[:3, :3] @ _vector(point, 3, f"point on {frame!r}")
            wrench[3:] += so3.skew(arm) @ wrench[:3]
        return wrench @ self.jacobian(frame)

    # --- closed loops ----------------------------------------------------------------------------------------------

    @property
    def loop_motion(self) -> LoopMotion:
        """Gap φ(q), Jacobian and bias of the closed loops: J v = 0 and J v̇ + J̇v = 0. Read-only."""
        known = self._loop_motion
        if known is None or known[0] != self.updates:
            self._check_updated("its loops")
            found = self._loops.motion(self)
            for array in found:
                array.setflags(write=False)
            known = self._loop_motion = self.updates, found
        return known[1]

    @property
    def loop_names(self) -> list[str]:
        """The name of each equation of the closed loops, and of its force: an axis of a closure, or a coupling."""
        return list(self._loops.names)

    @property
    def loop_rows(self) -> dict[str, slice]:
        """Which equations each loop is, by its name."""
        return dict(self._loops.slices)

    def close_loops(self, q: ArrayLike) -> Array:
        """The configuration in which all loops are closed that Newton's method finds from `q`; shape (nq,).

        The state is not touched.

        Args:
            q: to start from, shape (nq,).
        """
        checked = self._space.configuration(q)
        return closed(self._scratch(), checked) if self._loops.rows else checked

    def project_velocity(self, q: ArrayLike, v: ArrayLike) -> Array:
        """The velocity that keeps the loops closed and is nearest to `v`: the difference has least kinetic energy.

        It is `v` after an impulse of the loops. The state is not changed.

        Args:
            q: shape (nq,).
            v: shape (nv,).

        Returns:
            Shape (nv,).
        """
        checked = self._space.velocity(v)
        if not self._loops.rows:
            return checked
        robot = self._scratch()
        robot.update(q)
        return projected(robot, checked)

    # --- dynamics as functions -------------------------------------------------------------------------------------

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Array:
        """M v̇ + h: the generalised force that makes the robot accelerate with `vdot`. The state is not touched.

        Args:
            q: shape (nq,).
            v: shape (nv,).
            vdot: shape (nv,).

        Returns:
            Shape (nv,); with a floating base the first six must come from contacts.
        """
        q, v = self._space.configuration(q), self._space.velocity(v)
        scratch = self._scratch()
        force = scratch._inverse_dynamics(q, v, self._space.velocity(vdot, "vdot"))
        if self._compensation is not None:
            scratch.update(q, v)  # the forces depend on where the bodies are
        return force - scratch._passive_force(q, v)

    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, forces: Mapping[str, ArrayLike] | None = None
    ) -> Array:
        """v̇ = M⁻¹ (Sᵀ τ + Σ Jᵀ f − h + J_cᵀ λ), λ what keeps the loops closed: J_c v̇ + J̇_c v = 0.

        The state is not touched.

        Args:
            q: shape (nq,).
            v: shape (nv,).
            tau: of the actuators, shape (na,).
            forces: by frame, on the robot at the frame's origin, world axes: a force (3,) or a wrench (6,).

        Returns:
            Shape (nv,).
        """
        robot = self._scratch()
        torque = _vector(tau, self.na, "tau")
        robot.update(q, v)
        total = robot.actuator_force(torque)
        if forces is not None and not isinstance(forces, Mapping):
            raise WbcError(f"forces must be a dict from frame names to forces, not {show(forces)}")
        for frame, force in (forces or {}).items():
            total += robot.generalized_force(frame, force)
        return robot._accelerations(total - robot.bias)

    def _accelerations(self, force: Array) -> Array:
        """M⁻¹ (force + J_cᵀ λ) in the present state, with what closed loops ask for."""
        free = self._free_accelerations(force)
        if not self._loops.rows:
            return free
        _, J, bias = self.loop_motion
        L, z = held(self, J, -(J @ free + bias))
        return np.asarray(free + scipy.linalg.solve_triangular(L, z, lower=True, trans=1, check_finite=False))

    def _free_accelerations(self, force: Array) -> Array:
        """M⁻¹ force in the present state, by Cholesky factorisation; a backend may have it more cheaply."""
        try:
            factor = scipy.linalg.cho_factor(self.mass_matrix, check_finite=False)
        except np.linalg.LinAlgError:
            raise self._singular() from None
        return np.asarray(scipy.linalg.cho_solve(factor, force, check_finite=False), dtype=float)

    def _singular(self) -> WbcError:
        return WbcError(f"the mass matrix of {self.model.name!r} is singular: some part that moves has no mass")

    def _scratch(self) -> Dynamics:
        """A robot to compute on without touching this one's state."""
        if self._spare is None:
            self._spare = self._fork()
        spare: Dynamics = self._spare
        spare._added = self._added
        spare.friction_speed = self.friction_speed
        return spare

    @property
    def friction_speed(self) -> Array:
        """Speed over which the Coulomb friction in h turns from one direction to the other, rad/s or m/s, shape (nv,).

        0.01 by default. Set it to a number, or one for each velocity; inf switches friction off. It applies to this
        robot, and to copies made later.
        """
        return self._passive.speed.copy()

    @friction_speed.setter
    def friction_speed(self, speed: ArrayLike) -> None:
        given = numbers(speed, "friction_speed")
        if given.shape not in ((), (self.nv,)) or not (given > 0).all():
            raise WbcError(f"friction_speed must be a positive number, or {self.nv} of them, not {show(speed)}")
        self._passive.speed[:] = given
        self._known.pop("bias", None)
        self._known.pop("passive_force", None)

    # --- the configuration manifold --------------------------------------------------------------------------------

    def integrate(self, q: ArrayLike, v: ArrayLike, dt: float = 1.0) -> Array:
        """The configuration after moving from `q` with the constant velocity `v` for `dt` seconds; shape (nq,)."""
        return self._space.integrate(q, v, dt)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """The velocity that leads from `q0` to `q1` in one second; shape (nv,)."""
        return self._space.difference(q0, q1)

    def neutral(self) -> Array:
        """The configuration with all coordinates zero and unit quaternions; shape (nq,)."""
        return self._space.neutral()

    def random(self, rng: np.random.Generator) -> Array:
        """A random configuration: joints within their limits, any base rotation; shape (nq,)."""
        return self._space.random(rng)

    # --- what the robot is -----------------------------------------------------------------------------------------

    @property
    def actuated(self) -> IntArray:
        """The index in `v` of each motor of a joint; shape (na,), or less where there are other actuators."""
        return self.model.actuated

    @property
    def actuation_matrix(self) -> Array:
        """G with the generalised force Gᵀ τ of what the actuators give, dimensionless or m, shape
        (na, nv); S where all are motors.
        """
        if self._transmission.constant:
            return self._transmission.matrix(self)
        return self._get("actuation_matrix", lambda: self._transmission.matrix(self))

    def actuator_force(self, tau: Array) -> Array:
        """Gᵀ τ, shape (nv,).

        Args:
            tau: what the actuators give, shape (na,).
        """
        return self._transmission.force(self, tau)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints that move, in the order of `q` and `v`, without the floating base."""
        return self.model.joint_names

    @property
    def limits(self) -> Limits:
        """Position, velocity and effort limits as arrays."""
        return self.model.limits

    @property
    def mass(self) -> float:
        """Mass of all moving bodies, kg."""
        return self.model.mass

    @property
    def lengths(self) -> Array:
        """By which velocities are compared: 1, or a length of the robot where they turn, m, shape (nv,); read-only.

        See `wbc.dynamics.lengths`.
        """
        if self._lengths is None:
            self._lengths = lengths_of(self._scratch())
        return self._lengths

    def copy(self) -> Dynamics:
        """An independent robot in the same state, with the same added frames; the model is shared."""
        twin: Dynamics = self._fork()
        twin._added, twin._lengths = dict(self._added), self._lengths
        twin.friction_speed = self.friction_speed
        if self.updates:
            twin.update(self._q, self._v)
            twin.updates = self.updates  # what was computed from this state, and copied along, is of this state still
        return twin

    __copy__ = copy

    def with_loops(self, *loops: Loop) -> Dynamics:
        """A copy with more closed loops; it has no state yet.

        Args:
            loops: `wbc.LoopClosure` and `wbc.JointCoupling` objects.
        """
        twin: Dynamics = type(self)(self.model.with_loops(*loops), *self._given()[1:])
        twin._added = dict(self._added)
        twin.friction_speed = self.friction_speed
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        state = (self._q, self._v, self.updates) if self.updates else None
        return _made_anew, (type(self), self._given(), dict(self._added), state)

    def __deepcopy__(self, memo: dict[int, object]) -> Dynamics:
        return self.copy()

    def __repr__(self) -> str:
        return f"<{self.model.name!r} on {self.name}: nq={self.nq}, nv={self.nv}, na={self.na}, {self.mass:.3g} kg>"


def _made_anew(
    kind: type[Dynamics], given: tuple[Any, ...], added: dict[str, Any], state: tuple[Array, Array, int] | None
) -> Dynamics:
    """A robot out of what `Dynamics.__reduce__` tells of one."""
    robot = kind(*given)
    robot._added = added
    if state is not None:
        q, v, updates = state
        robot.update(q, v)
        robot.updates = updates
    return robot


def _vector(values: ArrayLike, size: int, name: str) -> Array:
    """A checked copy of a vector of that size."""
    checked = _finite(values, name)
    if checked.shape != (size,):
        raise WbcError(f"{name} must be {size} finite numbers, not {show(values)}")
    return checked


def _finite(values: ArrayLike, name: str) -> Array:
    """A copy of whatever can be made an array of finite numbers."""
    checked = numbers(values, name)
    if not np.isfinite(checked).all():
        raise WbcError(f"{name} = {show(values)} is not finite")
    return checked


def _wrench(values: ArrayLike, name: str) -> Array:
    """A checked force or wrench as a wrench."""
    checked = _finite(values, name)
    if checked.shape == (3,):
        return np.concatenate([checked, np.zeros(3)])
    if checked.shape != (6,):
        raise WbcError(f"{name} must be 3 or 6 finite numbers, not {show(values)}")
    return checked
