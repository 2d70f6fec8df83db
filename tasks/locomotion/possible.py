"""Steps that can be made: what a planner gave, as far as it is possible, and what was wrong about the rest."""

from __future__ import annotations

import numpy as np

from tasks.locomotion.footsteps import CommandedSteps, Footstep, FootstepPlanner, ListedSteps, Moment, turn
from wbc.errors import show

FARTHER = 1.25, 0.05
"""A step can't be made that is farther from its nominal place beside the other feet than so many times the reach of a
leg, and so much more, m: a push, or a way to make up for, takes part of that.
"""


def possible_steps(planner: FootstepPlanner, usual: CommandedSteps, moment: Moment) -> tuple[list[Footstep], str]:
    """A step for each landing, and what the planner gave that could not be taken, in words; empty where there is none.

    Where the planner has no step, or one that can't be made, the foot is put where the usual planner puts it.

    Args:
        planner: that is asked.
        usual: that is asked where this one has nothing.
        moment: now.
    """
    given, found, trouble = list(planner.steps(moment)), list[Footstep](), ""
    listed = isinstance(planner, ListedSteps)
    who = "the list of footsteps" if listed else f"the planner {type(planner).__name__!r}"
    instead, last = usual.steps(moment), dict(moment.feet)
    for number, (_, foot) in enumerate(moment.landings()):
        step = given[number] if number < len(given) else None
        wrong = _wrong(step, foot, usual, moment, last)
        if wrong:
            trouble = trouble or f"{who} {wrong}"
        taken = instead[number] if wrong or not isinstance(step, Footstep) else step
        last[foot] = taken
        found.append(taken)
    return found, trouble


def _wrong(step: object, foot: str, usual: CommandedSteps, moment: Moment, last: dict[str, Footstep]) -> str:
    """What is wrong about a step; empty where it can be made."""
    if step is None:
        return f"has no step for {foot!r}"
    if not isinstance(step, Footstep):
        return f"gives {show(step)} for {foot!r}, which is no Footstep"
    if step.foot != foot:
        return f"gives a step of {step.foot!r}, but {foot!r} lands then"
    if not np.isfinite([*step.position, step.yaw, *step.normal]).all():
        return f"gives a step of {foot!r} that is not finite"
    far, most = _stride(step, usual, moment, last), FARTHER[0] * max(usual.reach) + FARTHER[1]
    if far > most:
        return (
            f"has a step of {foot!r} that is {far:.2f} m from its place beside the other feet; they reach {most:.2f} m"
        )
    return ""


def _stride(step: Footstep, usual: CommandedSteps, moment: Moment, last: dict[str, Footstep]) -> float:
    """How far a step is from its nominal place beside the other feet, where they are then, m."""
    R = turn(moment.heading)[:2, :2]
    others = [other for other in last.values() if other.foot != step.foot]
    ways = [
        step.position[:2] - other.position[:2] - R @ (usual.places[step.foot] - usual.places[other.foot])
        for other in others
    ]
    return float(np.hypot(*np.mean(ways, axis=0))) if ways else 0.0
