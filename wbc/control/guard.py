"""Torque limits above the whole stack: no controller commands more than the actuators give."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wbc.arrays import Array
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.inserted import InsertedLevel
from wbc.control.program import Part, Program
from wbc.control.solving import Outcome
from wbc.control.tolerance import SHARE
from wbc.dynamics.base import Dynamics
from wbc.model.names import actuator_names
from wbc.solvers import HierarchicalQP, WeightedQP
from wbc.solvers.base import Solver
from wbc.tasking.rows import Rows
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick


class ActuatorLimits(Task):
    """Keeps torques within the actuators' limits."""

    inequality = True
    bounds_torques = True

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row an actuator."""
        return Rows.between(robot.limits.least, robot.limits.effort, torque=np.arange(robot.na))

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return actuator_names(robot.model)


class Guard:
    """Solves a tick again, with the actuators' limits on a level above all others, if an answer exceeds them.

    The equation of motion and these limits can always hold together, so the result is consistent and as near to the
    stack as the actuators allow. A tick within the limits costs nothing. `HierarchicalQP` and `WeightedQP` are asked
    again; in place of another solver, `HierarchicalQP` is used, which keeps its first level exactly. If the solver
    ignores inequalities, the guard considers no others than these, so that its answer continues the solver's without a
    jump.

    Args:
        program: the tasks.
        solver: that was asked first.
        robot: whose actuators they are.
    """

    def __init__(self, program: Program, solver: Solver, robot: Dynamics) -> None:
        self._effort, self._blocks = robot.limits.effort, tuple(program.layout.blocks.values())
        self._least = robot.limits.least
        self._even = bool((self._least == -self._effort).all())
        self._floor = self._least - SHARE * np.minimum(self._effort, np.maximum(-self._least, 1.0))
        self._inverse = 1.0 / np.maximum(self._effort, 1e-300)
        task = ActuatorLimits("actuators")
        self._limits = task.rows(robot, Tick.of(program.layout))
        self._alone = solver.ignores_inequalities
        self._made_of = program, solver, task
        self._level: InsertedLevel | None = None

    def exceeded(self, torque: Array) -> bool:
        """Whether a torque exceeds its limit by more than rounding; an excess within rounding is clipped in place."""
        share = torque * self._inverse
        # most often all together are less than one actuator's; then Python's max, as numpy's own is for larger arrays
        if self._even and (share.dot(share) < 0.99 or max(map(abs, share.tolist())) < 1.0 - SHARE):
            return False
        if share.max(initial=0.0) > 1.0 + SHARE or (torque < self._floor).any():
            return True
        np.minimum(torque, self._effort, out=torque)
        np.maximum(torque, self._least, out=torque)
        return False

    def solve(
        self, equation: MotionEquation, parts: Sequence[Part], seconds: float
    ) -> tuple[Outcome, tuple[Part, ...]]:
        """As `Solving.solve`, within the actuators' limits; and the rows that were solved, with these limits first."""
        level = self._level or self._lay_out(equation)
        first, *below = told = level.among(parts, self._limits)
        asked = (first, *[_without_inequalities(part) for part in below]) if self._alone else told
        outcome = level.solve(equation, asked, seconds)._replace(guarded=True, ignored=self._alone)
        acceleration, force, torque = (outcome.x[where] for where in self._blocks)
        np.clip(torque, self._least, self._effort, out=torque)  # of large numbers, rounding is more than a little
        if not equation.relative_residual(acceleration, force, torque) < SHARE:
            reason = ArithmeticError("no torque within what the actuators give was found")
            outcome = outcome._replace(status="failed", reason=reason)
        if self._alone and outcome.status == "optimal":  # the solver that was asked for gave another answer
            outcome = outcome._replace(status="relaxed")
        return outcome, told

    def _lay_out(self, equation: MotionEquation) -> InsertedLevel:
        """The level, once it is needed: few sets of contacts ever ask for too much."""
        program, solver, task = self._made_of
        keeps = isinstance(solver, HierarchicalQP | WeightedQP)  # its first level, exactly, whatever there is below it
        under = solver.under(1) if keeps else HierarchicalQP(soften=0.0)
        self._level = InsertedLevel(program, equation, under, task, 0, self._effort)
        return self._level

    def forget(self) -> None:
        """Forgets what it remembers from tick to tick."""
        if self._level is not None:
            self._level.forget()


def _without_inequalities(part: Part) -> Part:
    """The same rows, of which only equations are bounded."""
    if part.equation:
        return part
    equal = part.lower == part.upper
    return part._replace(
        lower=np.where(equal, part.lower, -np.inf),
        upper=np.where(equal, part.upper, np.inf),
    )
