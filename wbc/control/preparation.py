"""What controllers of torques and of velocities share: checks of robot, stack and solver, and what a solver says."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from wbc.control.stack import Stack
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, WbcWarning, show, unknown_name
from wbc.solvers import Hierarchy, make_solver
from wbc.solvers.answer import Answer


def usable_solver(solver: str | Any) -> Any:  # noqa: ANN401  anything with a solve(levels)
    """The solver of that name, or the object that was given, if it is one."""
    found = make_solver(solver) if isinstance(solver, str) else solver
    if not callable(getattr(found, "solve", None)):
        raise WbcError(f"solver = {show(solver)} has no solve(levels)")
    return found


def answer_of(solver: Any, levels: Hierarchy) -> Answer | None:  # noqa: ANN401  as above
    """What a solver says to levels; None where a hard state was too much for it: that ends in a fallback."""
    try:
        answer = solver.solve(levels, validate=False)
    except (ArithmeticError, np.linalg.LinAlgError, ValueError):
        return None
    if not isinstance(answer, Answer):
        raise WbcError(f"{type(solver).__name__}.solve gave {show(answer)}, not a wbc.solvers.Answer")
    return answer


def finite_time(t: object) -> float:
    """The time of a tick, s."""
    time = float(t) if isinstance(t, int | float | np.number) else np.nan
    if not abs(time) < np.inf:
        raise WbcError(f"t = {show(t)} must be a finite time in s")
    return time


def check_tasks(robot: Dynamics, stack: Stack) -> None:
    """Raises a `WbcError` where a contact or a task is for what the robot has not; warns where contacts are missing."""
    for contact in stack.contacts:
        for frame in (contact.frame, contact.on):
            if frame is not None and frame not in robot.frames:
                raise WbcError(f"contact {contact.name!r}: {unknown_name('frame', frame, robot.frames)}")
    for task in stack:
        task.check(robot, {contact.name: contact for contact in stack.contacts})
    idle = [task.name for task in stack if task.holds_contacts]
    if idle and robot.model.floating and not stack.contacts:
        warnings.warn(
            f"{robot.model.name!r} flies: {idle[0]!r} has no contacts to hold; wbc.Stack(levels, contacts=[...]) has",
            WbcWarning,
            stacklevel=3,
        )


def warn_of_ignored_inequalities(solver: object, stack: Stack, stacklevel: int = 3) -> None:
    """Says once, by name, which inequalities the solver will not see."""
    if not getattr(solver, "ignores_inequalities", False):
        return
    names = [task.name for task in stack if task.inequality or task.tolerance is not None]
    if names:
        warnings.warn(
            f"{type(solver).__name__} ignores inequalities, so these tasks have no effect: {', '.join(names)}; "
            "the certificate of each solution says what is violated",
            WbcWarning,
            stacklevel=stacklevel,
        )
