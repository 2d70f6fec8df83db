"""What the actuators give, above all that a stack asks: limits that contradict each other ask for no more than that."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wbc.arrays import Array
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.program import Entry, Part, Program
from wbc.control.solving import CompiledSolving, LevelSolving, Outcome, Solving
from wbc.dynamics.base import Dynamics
from wbc.solvers.base import Solver
from wbc.tasking.rows import Rows
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick


class ActuatorLimits(Task):
    """Torques stay within what the actuators give."""

    inequality = True

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row an actuator."""
        effort = robot.limits.effort
        return Rows.between(-effort, effort, torque=np.arange(robot.na))


class Guard:
    """Solves a tick again where an answer asked for more than the actuators give: their limits on a level above all.

    Physics and these limits can always hold together, so what comes out is consistent, and as near to the stack as the
    actuators allow. It costs nothing in a tick that stays within them.

    Args:
        program: the tasks.
        equation: physics in any state.
        solver: that was asked first.
        robot: whose actuators they are.
    """

    def __init__(self, program: Program, equation: MotionEquation, solver: Solver, robot: Dynamics) -> None:
        self._effort = robot.limits.effort
        self._inverse = 1.0 / np.maximum(self._effort, 1e-300)
        task = ActuatorLimits("actuators")
        rows = task.rows(robot, Tick.of(program.layout))
        entry = Entry(task, task.name, -1, 0)
        self._limits = Part(rows.lower, rows.upper, None, 1.0, None, None, rows.torque, entry)
        self._shifted: dict[Entry, Entry] = {}
        under = solver.under(1)
        levels = under.plan_levels(program.levels + 1)
        self._solving: Solving
        if levels is None:
            self._solving = LevelSolving(program, under, levels=program.levels + 1)
        else:
            self._solving = CompiledSolving(program, equation, levels, under)

    def beyond(self, torque: Array) -> float:
        """How far the worst torque is beyond what its actuator gives, N m or N; 0 where all are within."""
        share = torque * self._inverse
        if share.dot(share) <= 1.0:  # most often all shares together are less than one actuator's: one look is enough
            return 0.0
        return float((np.abs(torque) - self._effort).max(initial=0.0))

    def solve(self, equation: MotionEquation, parts: Sequence[Part], seconds: float) -> Outcome:
        """As `Solving.solve`, within the actuators' limits."""
        outcome = self._solving.solve(equation, (self._limits, *[self._below(part) for part in parts]), seconds)
        return outcome._replace(guarded=True)

    def clip(self, torque: Array) -> None:
        """Takes off, in place, what rounding has left beyond the limits."""
        np.clip(torque, -self._effort, self._effort, out=torque)

    def _below(self, part: Part) -> Part:
        """The same rows a level further down."""
        entry = part.entry
        shifted = self._shifted.get(entry)
        if shifted is None:
            shifted = self._shifted[entry] = Entry(entry.task, entry.name, entry.level, entry.rank + 1)
        return part._replace(entry=shifted)
