"""Checks of robot, stack, solver and time that controllers of torques and of velocities share."""

from __future__ import annotations

import math
import warnings

import numpy as np

from wbc.control.equation_of_motion import EquationOfMotion
from wbc.control.stack import Stack
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, WbcWarning, show, unknown_name
from wbc.model import LoopClosure, Model
from wbc.model.model import WORLD
from wbc.solvers import Solver, make_solver


def usable_solver(solver: object) -> Solver:
    """The solver of that name, or the object that was given, if it is one."""
    found = make_solver(solver) if isinstance(solver, str) else solver
    if not isinstance(found, Solver):
        hint = f"; make one: {found.__name__}()" if isinstance(found, type) and issubclass(found, Solver) else ""
        raise WbcError(f"solver = {show(solver)} is neither a solver's name nor a wbc.solvers.Solver{hint}")
    return found


def check_actuators(robot: Dynamics) -> None:
    """Raises a `WbcError` if actuators are redundant, because nothing decides how they share a torque.

    Args:
        robot: of the controller.
    """
    if not robot.model.actuators:
        return
    twin = robot.copy()
    twin.update(robot.random(np.random.default_rng(0)))
    G = twin.actuation_matrix
    size = np.linalg.norm(G, axis=1, keepdims=True)
    rank = int(np.linalg.matrix_rank(G / np.where(size > 0.0, size, 1.0), tol=1e-6))
    if rank < robot.na:
        raise WbcError(
            f"{robot.model.name!r} has {robot.na} actuators, of which {rank} are independent; a controller needs "
            "independent actuators"
        )


def finite_time(t: object) -> float:
    """The time of a tick, s."""
    try:
        time = float(t) if isinstance(t, int | float | np.integer | np.floating) else math.nan
    except OverflowError:
        time = math.inf
    if not abs(time) < math.inf:
        raise WbcError(f"t = {show(t)} must be a finite time in s")
    return time


def check_tasks(robot: Dynamics, stack: Stack) -> None:
    """Raises a `WbcError` if a contact or a task names something that the robot does not have; warns if contacts are
    missing, or nothing carries a floating base.
    """
    for contact in stack.contacts:
        for frame in (contact.frame, contact.on):
            if frame is not None and frame not in robot.frames:
                raise WbcError(f"contact {contact.name!r}: {unknown_name('frame', frame, robot.frames)}")
        contact.fit(robot)
    for task in stack:
        task.check(robot, {contact.name: contact for contact in stack.contacts})
    idle = [stack.name_of(task) for task in stack if task.holds_contacts]
    if robot.model.floating and not stack.contacts and (idle or _only_falls(robot.model, stack)):
        lack = f" for {idle[0]!r}" if idle else ": it only falls"
        warnings.warn(
            f"{robot.model.name!r} has a floating base, and the stack has no contacts{lack}; pass them: "
            "wbc.Stack(levels, contacts=[...])",
            WbcWarning,
            stacklevel=3,
        )


def _only_falls(model: Model, stack: Stack) -> bool:
    """Whether nothing can carry a robot without contacts: no thruster, known wrench, counterweight, or loop to the
    world.
    """
    physics = next((task for task in stack if isinstance(task, EquationOfMotion)), None)
    return not (
        physics is None  # a stack of velocities
        or physics.external
        or not model.gravity.any()
        or any(actuator.frame for actuator in model.actuators)
        or any(isinstance(loop, LoopClosure) and WORLD in (loop.a, loop.b) for loop in model.loops)
        or any(body.compensation for body in model.bodies.values())
    )


def warn_of_ignored_inequalities(solver: Solver, names: list[str], stacklevel: int = 3) -> None:
    """Warns of the inequalities that the solver ignores.

    Args:
        solver: that was chosen.
        names: of the tasks that have inequalities.
        stacklevel: of the warning.
    """
    if solver.ignores_inequalities and names:
        warnings.warn(
            f"{type(solver).__name__} ignores inequalities, so those of these tasks have no effect: "
            f"{', '.join(names)}; each solution's certificate says what is violated",
            WbcWarning,
            stacklevel=stacklevel,
        )
