"""Ticks that are solved with a bound on the change of torques: at once where it is expected to bind, or once more."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from wbc.control.compromise import Compromise
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.guard import Guard
from wbc.control.program import Part, Program
from wbc.control.solving import Outcome, Solving
from wbc.control.steadiness import Steadiness, SteadySolving
from wbc.control.ticker import Ticker
from wbc.copies import Independent
from wbc.dynamics.base import Dynamics
from wbc.solvers.base import Solver
from wbc.tasking.layout import Layout
from wbc.tasking.tick import Tick

STEADYING = 1e-4
"""With less time left in a tick than this, s, it is not solved again."""

STANDS = 1.0
"""A robot whose contacts have been the same for so long, s, stands; one that walks has others sooner."""

Found = tuple[Outcome, tuple[Part, ...]]
"""The outcome of a tick, and the rows that were solved."""


class Asked(NamedTuple):
    """What is asked in a tick.

    Attributes:
        program: its tasks.
        solving: how it is solved without the bound.
        guard: says whether torques are within what the actuators give; None: they need not be.
        tick: the moment.
        equation: physics.
        parts: the rows of the tasks.
        left: gives the time that a solver may take, s.
    """

    program: Program
    solving: Solving
    guard: Guard | None
    tick: Tick
    equation: MotionEquation
    parts: tuple[Part, ...]
    left: Callable[[], float]

    def usable(self, outcome: Outcome) -> bool:
        """Whether an answer can be commanded as it is."""
        if outcome.interrupted or outcome.status == "failed" or not math.isfinite(outcome.x.dot(outcome.x)):
            return False
        return self.guard is None or not self.guard.exceeded(outcome.x[self.tick.torque])


class SteadyTicks(Independent):
    """Solves the ticks of a controller with a bound on the change of torques.

    Args:
        robot: the controller's own.
        solver: of the stack.
        bound: on the change of torques.
        ticker: of the controller.
    """

    def __init__(self, robot: Dynamics, solver: Solver, bound: Steadiness, ticker: Ticker) -> None:
        self._robot, self._solver, self._bound, self._ticker = robot, solver, bound, ticker
        self._compromise = Compromise()
        self._solvings: dict[tuple[Layout, int | None], SteadySolving] = {}

    def forget(self) -> None:
        """Forgets the ticks before."""
        self._bound.forget()
        self._compromise.forget()
        for solving in self._solvings.values():
            solving.forget()

    def expects(self, tick: Tick) -> bool:
        """Whether the tick may have to be solved otherwise than without the bound: nearly none has.

        Args:
            tick: the moment.
        """
        bound = self._bound
        return bound.pressed or bound.stepped(tick) or self._compromise.share > 0.0 or bound.is_wide(tick.time)

    def at_once(self, asked: Asked, trade: float | None) -> Found | None:
        """The tick with the bound, where that is expected to bind; None: solve it without the bound first.

        An exact solver gives the same answer with an inactive bound as without one.

        Args:
            asked: the tick.
            trade: levels may be traded so long after a change of contacts, s; None: never.
        """
        bound, robot = self._bound, self._robot
        if bound.pressed or self._compromise.share or bound.is_wide(asked.tick.time):
            self._look(asked.tick)
            traded = None if trade is None else self._traded(asked, trade)
            if traded is not None:
                return traded
        if not bound.expected(robot, asked.tick):
            return None
        bound.pressed = False
        solving = self._solving(asked)
        outcome, parts = solving.solve(robot, asked.tick, asked.equation, asked.parts, asked.left())
        if not asked.usable(outcome):
            return None
        bound.pressed = bound.binds(robot, asked.tick, outcome.x[asked.tick.torque])
        return (outcome, parts) if bound.pressed else (solving.without(outcome), asked.parts)

    def exceeded(self, tick: Tick, outcome: Outcome) -> bool:
        """Whether the torques of an answer change too fast."""
        return self._bound.exceeded(self._robot, tick, outcome.x[tick.torque])

    def again(self, asked: Asked) -> Found | None:
        """The tick with the bound, which its answer without it exceeds; None: there is no time for it."""
        left = asked.left()
        if left < STEADYING:
            return None
        found = self._solving(asked).solve(self._robot, asked.tick, asked.equation, asked.parts, left)
        if not asked.usable(found[0]):
            return None
        self._bound.pressed = True
        self._bound.binds(self._robot, asked.tick, found[0].x[asked.tick.torque])
        return found

    def _look(self, tick: Tick) -> None:
        """Begins a tick after one at the bound, and says whether the bound may be loosened: a robot that stands, and
        whose sensors are not noisy, keeps it. For an arm whose sensors are, it is wide at once.
        """
        compromise, ticker = self._compromise, self._ticker
        compromise.at(tick.time, tick.layout, ticker.innovation(), tick.period, ticker.expected_change)
        if compromise.surely_noisy and not compromise.share and not tick.layout.contacts:
            self._bound.widen(tick.time)
        self._bound.loosens = compromise.noisy or ticker.unchanged_for < STANDS

    def _traded(self, asked: Asked, trade: float) -> Found | None:
        """What is asked with levels that are traded, and the bound on the rates of torques; None: they are not traded.

        Where strict levels are about to take over again it is a mixture of both answers: physics, limits and the bound
        hold in it, as they hold in each.
        """
        compromise, bound, robot, tick = self._compromise, self._bound, self._robot, asked.tick
        if not compromise.share:
            swings = bound.expected(robot, tick) and bound.swings(tick.time)
            settled = self._ticker.unchanged_for >= trade
            if not (swings and settled and compromise.begins(bound.pressed_for)):
                return None
        elif not bound.bounds(robot, tick):
            compromise.end()
            return None
        solving = self._solving(asked, compromise.step)
        outcome, parts = solving.solve(robot, tick, asked.equation, asked.parts, asked.left())
        if not asked.usable(outcome):
            compromise.end()
            return None
        bound.pressed = False
        outcome = outcome._replace(traded=True)
        compromise.note(bound.reaches(robot, tick, outcome.x[tick.torque]), bound.passed)
        if not compromise.looks:
            return outcome, parts
        strict = asked.solving.solve(asked.equation, asked.parts, asked.left())
        if not asked.usable(strict):
            compromise.begin_anew()
            return outcome, parts
        share = compromise.look(strict.x[tick.torque], bound.task.most, bound.passed)
        x = share * outcome.x + (1.0 - share) * strict.x
        if share == 1.0 or bound.breaks(robot, tick, x[tick.torque]):
            if share < 1.0:
                compromise.begin_anew()
            return outcome, parts
        worse = outcome if outcome.status != "optimal" else strict
        return outcome._replace(x=x, status=worse.status), parts

    def _solving(self, asked: Asked, step: int | None = None) -> SteadySolving:
        """For contacts that are closed together; strict, or with levels that are traded so far."""
        key = asked.tick.layout, step
        if key not in self._solvings:
            solver = self._solver if step is None else self._compromise.solvers[step]
            kept = None if step is None else asked.program.leading_needs
            effort = self._robot.limits.effort
            made = SteadySolving(asked.program, asked.equation, solver, self._bound.task, effort, kept)
            self._solvings[key] = made
        return self._solvings[key]
