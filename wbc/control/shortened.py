"""What is commanded in a tick that was cut short."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wbc.control.equation_of_motion import MotionEquation
from wbc.control.kept_forces import forces_within
from wbc.control.program import Part
from wbc.control.solving import Outcome
from wbc.control.steadiness import Steadiness
from wbc.dynamics.base import Dynamics
from wbc.tasking.tick import Tick


def shortened(
    robot: Dynamics,
    tick: Tick,
    equation: MotionEquation,
    outcome: Outcome,
    steadiness: Steadiness | None,
    guarded: bool,
    parts: Sequence[Part],
) -> Outcome:
    """An answer that there was no time for, brought within what the actuators give and the bound on its rates.

    Contact forces are inside their cones, and physics holds: the robot moves otherwise than its tasks want, its feet
    too.

    Args:
        robot: in the state of the tick.
        tick: the moment.
        equation: physics.
        outcome: what was found.
        steadiness: the bound on the rates of torques; None: there is none.
        guarded: whether torques are kept within what the actuators give.
        parts: the rows of the tasks.
    """
    torque = kept = outcome.x[tick.torque]
    found = outcome.x[tick.force]
    force = forces_within(robot, tick, parts, found)
    if steadiness is not None and steadiness.bounds(robot, tick):
        rows = steadiness.task.rows(robot, tick)
        kept = np.clip(kept, rows.lower, rows.upper)
    guards = False
    if guarded:
        kept, before = np.clip(kept, robot.limits.least, robot.limits.effort), kept
        guards = not np.array_equal(kept, before)
    if np.array_equal(kept, torque) and force is found:
        return outcome
    x = equation.moved(force, kept)
    return outcome._replace(x=x, status="relaxed", interrupted=True, guarded=guards)
