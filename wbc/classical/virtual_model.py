"""Virtual model control: joint torques that imitate springs, dampers and forces on the robot (ETH 3.11)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.classical.controller import ClassicalController
from wbc.contacts import Contact
from wbc.control.stack import Stack
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, show, unknown_name
from wbc.geometry import so3
from wbc.solvers import Level, make_solver
from wbc.tasking.target import Moving, Target, Targeted
from wbc.tasking.tick import Tick


class VirtualForce(ABC):
    """A virtual force on a frame of the robot.

    Args:
        frame: its name.
    """

    def __init__(self, frame: str) -> None:
        self.frame = frame

    @abstractmethod
    def wrench(self, robot: Dynamics, time: float) -> Array:
        """Force and torque on the robot at the frame's origin, world axes, N and N m, shape (6,).

        Args:
            robot: updated.
            time: s.
        """

    def reset(self) -> None:  # noqa: B027  most remember nothing
        """Forgets what it remembers of earlier ticks."""


class ConstantForce(VirtualForce):
    """A force that is given.

    Args:
        frame: see `VirtualForce`.
        wrench: on the robot, world axes, N and N m, shape (6,); or a function of time.
    """

    def __init__(self, frame: str, wrench: ArrayLike | Moving) -> None:
        super().__init__(frame)
        if wrench is None:
            raise WbcError(f"the virtual force on {frame!r} needs six numbers")
        self._target = Target(wrench, ((6,),), 6, whose=f"virtual force on {frame}")

    def wrench(self, robot: Dynamics, time: float) -> Array:
        """See `VirtualForce`."""
        return self._target.at(time, np.zeros(6))[0]


def _turns(T: Array) -> bool:
    """Whether the upper left of a pose is a rotation."""
    return so3.is_rotation(T[:3, :3], 1e-6)


class VirtualSpring(Targeted, VirtualForce):
    """A spring and a damper between a frame and a pose: F = K (r* − r, log(R* Rᵀ)) + D (w* − w).

    Args:
        frame: see `VirtualForce`.
        stiffness: K, N/m and N m/rad: a number, or six, world axes, linear first.
        damping: D, N s/m and N m s/rad: likewise.
        target: a pose, shape (4, 4), or a function of time that gives one, or one with velocity and acceleration (which
            is not used); None: where the frame is at the first tick. May be set at any time.
    """

    def __init__(
        self, frame: str, stiffness: ArrayLike, damping: ArrayLike, target: ArrayLike | Moving | None = None
    ) -> None:
        super().__init__(frame)
        whose = f"virtual spring at {frame}"
        self.stiffness, self.damping = (
            _six(values, f"{whose}: {what}") for values, what in ((stiffness, "stiffness"), (damping, "damping"))
        )
        self._target = Target(target, ((4, 4),), 6, whose=whose, turns=_turns)

    def reset(self) -> None:
        """See `VirtualForce`; without a target it holds what it finds next."""
        self._target.release()

    def wrench(self, robot: Dynamics, time: float) -> Array:
        """See `VirtualForce`."""
        pose = robot.pose(self.frame)
        wanted, velocity, _ = self._target.at(time, pose)
        error = np.concatenate([wanted[:3, 3] - pose[:3, 3], so3.log(wanted[:3, :3] @ pose[:3, :3].T)])
        return np.asarray(self.stiffness * error + self.damping * (velocity - robot.twist(self.frame)))


class VirtualModelControl(ClassicalController):
    """Torques that imitate virtual forces, supported by the contacts, without inertia (ETH 3.116–3.121).

    The contacts carry what gravity and the virtual forces ask of the base: Σ f = Σ F_v − Σ F_g, and so for the moments
    (ETH 3.117, 3.118, 3.120); the joints the rest: τ = −Σ J_gᵀ F_g + Σ J_vᵀ F_v − Σ J_cᵀ f (ETH 3.121). f is the force
    on the robot, −F_c of the lecture notes.

    Args:
        robot: of `wbc.load`.
        virtual: forces and springs; one, or several.
        contacts: see `ClassicalController`.
        distribution: how the contacts share: "least-squares", the least forces (ETH 3.120); or a solver (by name, as of
            the controller, or an object): within friction and force bounds first, then as asked as well as can be, then
            the least forces.
        judged_by: see `ClassicalController`.
        period: see `ClassicalController`.
    """

    carried_by_contacts = True

    def __init__(
        self,
        robot: Dynamics,
        virtual: VirtualForce | Iterable[VirtualForce],
        contacts: Contact | Iterable[Contact] = (),
        *,
        distribution: str | Any = "least-squares",  # noqa: ANN401  anything with a solve(levels)
        judged_by: Stack | None = None,
        period: float | None = None,
    ) -> None:
        squares = isinstance(distribution, str) and distribution == "least-squares"
        solver = "nullspace" if squares else distribution
        super().__init__(robot, contacts, judged_by=judged_by, solver=solver, period=period)
        given = (virtual,) if isinstance(virtual, VirtualForce) or not isinstance(virtual, Iterable) else tuple(virtual)
        self.virtual: tuple[VirtualForce, ...] = given
        for force in given:
            if not isinstance(force, VirtualForce):
                raise WbcError(f"virtual forces must be VirtualSpring or ConstantForce objects, not {show(force)}")
            if force.frame not in self.robot.frames:
                raise unknown_name("frame", force.frame, self.robot.frames)
        self._cones = not squares

    def reset(self) -> None:
        """See `wbc.Controller`."""
        super().reset()
        for force in self.virtual:
            force.reset()

    def demand(self, robot: Dynamics, tick: Tick) -> Array:
        """−Σ J_gᵀ F_g + Σ J_vᵀ F_v: what contacts and joints must do together, generalised, shape (nv,).

        Args:
            robot: updated.
            tick: the time.
        """
        total = robot.gravity_force.copy()
        for force in self.virtual:
            total += robot.generalized_force(force.frame, force.wrench(robot, tick.time))
        return total

    def law(self, robot: Dynamics, tick: Tick) -> Array:
        """See `ClassicalController`."""
        demand = self.demand(robot, tick)
        force = distribute(robot, tick, demand, self.solver if self._cones else None)
        return np.asarray((demand - tick.contact_jacobian(robot).T @ force)[robot.actuated])


def distribute(
    robot: Dynamics,
    tick: Tick,
    demand: ArrayLike,
    solver: Any = None,  # noqa: ANN401  a name, or anything with a solve(levels)
) -> Array:
    """Contact forces f, on the robot, that give the base what is asked: (Jᵀ f)_base = demand_base (ETH 3.120).

    Args:
        robot: updated.
        tick: the closed contacts, and how much each may bear.
        demand: generalised force, shape (nv,); only its unactuated entries count.
        solver: that keeps forces within friction and bounds; None: the least forces, wherever they point.

    Returns:
        Shape (nf,).
    """
    asked = numbers(demand, "demand")
    if asked.shape != (robot.nv,) or not np.isfinite(asked).all():
        raise WbcError(f"demand must be {robot.nv} finite numbers, not {show(demand)}")
    base = np.ones(robot.nv, dtype=bool)
    base[robot.actuated] = False
    A, b, nf = tick.contact_jacobian(robot).T[base], asked[base], tick.nf
    if not nf:
        return np.zeros(0)
    none = np.zeros(nf)
    levels = [Level(A, b, b, name="balance"), Level(np.eye(nf), none, none, name="least forces")]
    if solver is not None:
        rows, low, high = [], [], []
        for contact, ceiling in zip(tick.contacts, tick.ceilings, strict=True):
            where = tick.force_of(contact.name)
            for C, least, most in (
                (contact.cone(robot, 4), -np.inf, 0.0),
                (contact.normals(robot)[None], min(contact.minimum, ceiling), ceiling),
            ):
                block = np.zeros((len(C), nf))
                block[:, where] = C
                rows.append(block)
                low.append(np.full(len(C), least))
                high.append(np.full(len(C), most))
        levels.insert(0, Level(np.concatenate(rows), np.concatenate(low), np.concatenate(high), name="friction"))
    chosen = solver if solver is not None else "nullspace"
    return (make_solver(chosen) if isinstance(chosen, str) else chosen).solve(levels).x.copy()


def _six(values: ArrayLike, what: str) -> Array:
    """A number or six as six that are not negative."""
    given = numbers(values, what)
    if given.shape not in ((), (6,)) or not ((given >= 0) & (given < np.inf)).all():
        raise WbcError(f"{what} must be a number or six, zero or more, not {show(values)}")
    return np.broadcast_to(given, (6,)).copy()
