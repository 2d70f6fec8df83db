"""Plans of a walk: where feet land, how the centre of mass goes over them, and what a push changes about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tasks.locomotion.adaptation import StepAdaptation
from tasks.locomotion.footsteps import CommandedSteps, Footstep, FootstepPlanner, Moment
from tasks.locomotion.pendulum import CenterPlanner, Piece, Plan
from tasks.locomotion.possible import possible_steps
from tasks.locomotion.pushes import PushEstimate
from tasks.locomotion.swing import Swing
from tasks.locomotion.tracking import nearest
from wbc.arrays import Array

SPARE = 0.5
"""Share of the line between two feet that is counted on after a push, for the next swing."""

HURRY = 0.02, 0.02
"""Where the divergent component is farther outside of all feet than the first, m, the next foot is lifted in as
much time as the second, s: standing on is of no use.
"""

SOONER = 0.04
"""A plan makes a step sooner or later than the one before by no more than this, s: legs must not jerk."""


class Parts(NamedTuple):
    """What plans are made by.

    Attributes:
        planner: of footsteps.
        usual: planner of the steps that this one has not.
        center: planner of the centre of mass.
        adaptation: of steps.
        push: what is known of pushes.
        points: whether feet are points.
        fit: what of a step the hip has room for.
    """

    planner: FootstepPlanner
    usual: CommandedSteps
    center: CenterPlanner
    adaptation: StepAdaptation
    push: PushEstimate
    points: bool
    fit: Callable[[Footstep], Footstep]


class Swinging(NamedTuple):
    """The swing of a foot in the air, as far as plans need it.

    Attributes:
        swing: its path.
        left: time until it is to land, s.
        whole: of such a swing by the schedule, s.
        frozen: time before landing from which on its place is fixed, s.
    """

    swing: Swing
    left: float
    whole: float
    frozen: float


class Planning:
    """Makes a plan again and again.

    Attributes:
        plan: of the centre of mass; None: there is none yet.
        steps: that are planned.
        shift: of the present steps because of a push, world, m, shape (2,).
        trouble: what the planner gave that could not be taken, in words; empty where there is nothing.
    """

    def __init__(self) -> None:
        self.plan: Plan | None = None
        self.steps: list[Footstep] = []
        self.shift, self.trouble = np.zeros(2), ""

    def stand(self, moment: float, feet: Mapping[str, Footstep], omega: float) -> None:
        """Plans to stand.

        Args:
            moment: s.
            feet: on the ground.
            omega: rate with which the robot falls, 1/s.
        """
        middle = np.mean([step.position[:2] for step in feet.values()], axis=0)
        self.plan, self.steps = Plan(moment, [Piece(middle, middle, 1.0)], omega), []

    def step(
        self, parts: Parts, moment: Moment, support: Array, swings: Mapping[str, Swinging], remaining: float
    ) -> float:
        """Plans to step.

        Args:
            parts: the planners.
            moment: now.
            support: corners of what the feet stand on, counter-clockwise, m, shape (n, 2).
            swings: by foot that swings; the first of them says when the step lands.
            remaining: of the present interval of the schedule, s.

        Returns:
            What is to remain of it instead, s.
        """
        zmp = None if self.plan is None else self.plan.at(moment.time)[1]
        nominal, self.trouble = possible_steps(parts.planner, parts.usual, moment)
        self.plan = plan = parts.center.plan(moment, nominal, zmp)
        coming = {step.foot: step for step in reversed(nominal) if step.foot in swings}
        foot, first = next(iter(swings.items()), ("", None))
        if first is not None and foot in coming and first.left > first.frozen:
            rooms = [parts.planner.room(moment, parts.fit(step)) for step in coming.values()]
            room = np.max([low for low, _ in rooms], axis=0), np.min([high for _, high in rooms], axis=0)
            pushed = np.append(moment.omega * parts.push.ahead(first.left, moment.omega), 0.0)
            seen, later = replace(moment, com_velocity=moment.com_velocity + pushed), _later(parts, moment, nominal)
            changed = parts.adaptation.react(
                seen, plan, coming[foot], first.swing, first.left, first.whole, support, room, later
            )
            self.shift = np.zeros(2) if changed is None else changed.shift
            remaining += 0.0 if changed is None else min(max(changed.left - first.left, -SOONER), SOONER)
        elif first is None and not moment.ahead[0].air:
            outside = nearest(support, moment.divergent) - moment.divergent
            if np.hypot(*outside) > HURRY[0]:
                remaining = min(remaining, HURRY[1])
        self.steps = nominal
        if self.shift.any():
            self.steps = [step.shifted(self.shift) for step in nominal]
            self.plan = parts.center.plan(moment, self.steps, zmp)
        return remaining


def _later(parts: Parts, moment: Moment, steps: Sequence[Footstep]) -> Array | None:
    """How far a zero-moment point can leave its plan in the next swing, where two points stand in it.

    Returns:
        Half of the part of the line between them that is counted on, m, world axes, shape (2, 1).
    """
    if not parts.points or not parts.push.recent:
        return None
    since, ahead = 0.0, moment.ahead
    for interval in ahead[1:]:
        since += interval.duration
        if interval.air and not set(interval.air) & set(ahead[0].air):
            break
    else:
        return None
    where = {**moment.feet, **{step.foot: step for step in reversed(steps)}}
    stands = [where[foot].position[:2] for foot in moment.feet if foot not in interval.air]
    if len(stands) != 2:
        return None
    share = parts.push.recent * SPARE * (1 - math.exp(-moment.omega * since))
    return np.asarray(share / 2 * (stands[0] - stands[1])[:, None])
