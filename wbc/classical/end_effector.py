"""Control of an end effector by its own dynamics: motion, or motion and force (ETH 3.9)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.classical.controller import ClassicalController
from wbc.classical.motion import motion_rows
from wbc.classical.task_space import TaskSpace
from wbc.contacts import Contact
from wbc.control.stack import Stack
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, show, unknown_name
from wbc.geometry import so3
from wbc.tasking.target import Moving, Target
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick


class Selection(NamedTuple):
    """The directions for motion and those for force; the two matrices add up to the identity.

    Attributes:
        motion: S_M, a selection of directions in world axes, dimensionless, shape (6, 6).
        force: S_F, likewise for forces, world axes, shape (6, 6).
    """

    motion: Array
    force: Array


def selection_matrices(
    position: ArrayLike = (1, 1, 1), rotation: ArrayLike = (1, 1, 1), axes: ArrayLike | None = None
) -> Selection:
    """S_M = blockdiag(Cᵀ Σ_p C, Cᵀ Σ_r C) and S_F = 1 − S_M (ETH 3.98, 3.99).

    Args:
        position: the diagonal of Σ_p, shape (3,): 1 where the frame moves freely along the axis, 0 where it pushes.
        rotation: the diagonal of Σ_r, shape (3,): likewise about the axis.
        axes: C, world → contact, shape (3, 3); None: the world's axes.
    """
    C = np.eye(3) if axes is None else numbers(axes, "axes")
    if C.shape != (3, 3) or not so3.is_rotation(C, 1e-6):
        raise WbcError(f"axes must be a rotation matrix, world → contact, not {show(axes)}")
    S_M = np.zeros((6, 6))
    for block, given, what in ((slice(0, 3), position, "position"), (slice(3, 6), rotation, "rotation")):
        sigma = numbers(given, what)
        if sigma.shape != (3,) or not np.isin(sigma, (0.0, 1.0)).all():
            raise WbcError(f"{what} must be three numbers, each 0 (force) or 1 (motion), not {show(given)}")
        S_M[block, block] = C.T @ np.diag(sigma) @ C
    return Selection(S_M, np.eye(6) - S_M)


class TaskSpaceControl(ClassicalController):
    """Controls the motion of an end effector by its own dynamics: τ = Jᵀ (Λ ẇ* + μ + p) (ETH 3.90).

    What the motion leaves free of a redundant robot gets no torque, not even against gravity, unless there is a
    posture: another law, whose torque is taken where it does not act at the end effector, Nᵀ τ₀. With one that
    compensates h, such as `ComputedTorque`, the whole is ETH (3.96): Jᵀ Λ (ẇ* − J̇q̇) + b + g, and what the posture asks.

    Args:
        robot: of `wbc.load`, with an actuator for every velocity.
        motion: a task on accelerations, such as `tasks.EndEffectorAcceleration`: it has the target, the gains, and
            ẇ* = kp e + kd ė (ETH 3.91); its rows may be of any number of axes, of several tools, of the centre of mass.
        posture: another classical controller of the same robot, or None.
        contacts: see `ClassicalController`.
        judged_by: see `ClassicalController`.
        period: see `ClassicalController`.
    """

    def __init__(
        self,
        robot: Dynamics,
        motion: Task,
        posture: ClassicalController | None = None,
        *,
        contacts: Contact | Iterable[Contact] = (),
        judged_by: Stack | None = None,
        period: float | None = None,
    ) -> None:
        super().__init__(robot, contacts, judged_by=judged_by, period=period)
        self._need_all_actuators()
        if posture is not None and not isinstance(posture, ClassicalController):
            raise WbcError(f"posture must be another classical controller, such as ComputedTorque, not {posture!r}")
        if not isinstance(motion, Task):
            raise WbcError(f"motion must be a task such as tasks.EndEffectorAcceleration, not {show(motion)}")
        motion.check(self.robot, {contact.name: contact for contact in self.stack.contacts})
        self.motion, self.posture = motion, posture

    def reset(self) -> None:
        """See `wbc.Controller`."""
        super().reset()
        self.motion.reset()
        if self.posture is not None:
            self.posture.reset()

    def law(self, robot: Dynamics, tick: Tick) -> Array:
        """See `ClassicalController`."""
        J, b, _ = motion_rows(self.motion, robot, tick)
        space = TaskSpace(robot, J, np.zeros(len(b)))  # the rows are J q̈ = ẇ* − J̇q̇: the bias is in b
        return self._torque(robot, tick, space, space.force(b))

    def _torque(self, robot: Dynamics, tick: Tick, space: TaskSpace, force: Array) -> Array:
        """Jᵀ F, and what of the posture's torque does not act at the end effector."""
        total = space.jacobian.T @ force
        if self.posture is not None:
            other = np.zeros(robot.nv)
            other[robot.actuated] = self.posture.law(robot, tick)
            total = total + space.split(other)
        return np.asarray(total[robot.actuated])


class HybridControl(TaskSpaceControl):
    """Controls an end effector's motion along some axes and its force along the others.

    τ = Jᵀ (Λ S_M ẇ* + S_F F_c + μ + p) (ETH 3.97), where F_c is what the robot exerts on its environment. Here it is
    given as the force on the robot, as everywhere in `wbc`, f = −F_c: pressing down on a table is positive along z.

    Args:
        robot: of `wbc.load`, with an actuator for every velocity.
        frame: the end effector.
        motion: a task whose rows are the frame's six in world axes, such as `tasks.EndEffectorAcceleration(frame)`.
        force: f on the robot at the frame's origin, world axes, N and N m, shape (6,); or a function of time.
        selection: which directions are which; see `selection_matrices`.
        posture: see `TaskSpaceControl`.
        contact: what the frame pushes on; it tells the force in the solution and has its cone judged. None: no contact.
        judged_by: see `ClassicalController`; it has the contacts then.
        period: see `ClassicalController`.
    """

    def __init__(
        self,
        robot: Dynamics,
        frame: str,
        motion: Task,
        force: ArrayLike | Moving,
        selection: Selection,
        posture: ClassicalController | None = None,
        *,
        contact: Contact | None = None,
        judged_by: Stack | None = None,
        period: float | None = None,
    ) -> None:
        contacts = () if contact is None else (contact,)
        super().__init__(robot, motion, posture, contacts=contacts, judged_by=judged_by, period=period)
        if frame not in self.robot.frames:
            raise unknown_name("frame", frame, self.robot.frames)
        others = [contact.name for contact in self.stack.contacts if contact.frame != frame]
        if others:
            raise WbcError(f"hybrid control of {frame!r} allows no contact except its own; remove {', '.join(others)}")
        if not isinstance(selection, Selection):
            raise WbcError(f"the selection must come from wbc.classical.selection_matrices, not {show(selection)}")
        if force is None:
            raise WbcError("a force has no default target; give six numbers")
        if not isinstance(selection, Selection):
            raise WbcError(f"the selection must be the result of selection_matrices(...), not {show(selection)}")
        self.frame, self.selection = frame, selection
        self._force = Target(force, ((6,),), 6, whose=f"force on {frame}")

    def law(self, robot: Dynamics, tick: Tick) -> Array:
        """See `ClassicalController`."""
        A, b, _ = motion_rows(self.motion, robot, tick)
        space = TaskSpace.of_frame(robot, self.frame)
        if A.shape != space.jacobian.shape or not np.allclose(A, space.jacobian, atol=1e-9):
            raise WbcError(
                f"the motion of hybrid control must have the six rows of {self.frame!r} in world axes; "
                f"task {self.motion.name!r} has others"
            )
        wanted = self.selection.motion @ (b + space.bias)  # S_M ẇ*
        return self._torque(robot, tick, space, space.force(wanted) - self._pushed(tick))

    def _pushed(self, tick: Tick) -> Array:
        """S_F f, on the robot, shape (6,)."""
        return np.asarray(self.selection.force @ self._force.at(tick.time, np.zeros(6))[0])

    def expect(self, robot: Dynamics, tick: Tick, torque: Array) -> tuple[Array, Array]:
        """See `ClassicalController`: the contact slides as the motion says, and pushes back as it is pushed."""
        force, total = np.zeros(tick.nf), -robot.bias
        total[robot.actuated] += torque
        for contact in tick.contacts:  # a point bears no moments; a sole spreads them over its corners
            to_wrench = contact.spread(robot, np.eye(contact.rows)).T
            pushed = self._pushed(tick)[: contact.rows]
            force[tick.force_of(contact.name)] = np.linalg.lstsq(to_wrench, pushed, rcond=None)[0]
        return robot._accelerations(total + tick.contact_jacobian(robot).T @ force), force
