"""Differential kinematics: a configuration in, velocities out (ETH 2.9.1, 2.9.2, 2.10.5).

It is `Controller` without forces: the rows of tasks are in x = v, and nothing is eliminated. Stacks, priorities,
weights, fades, contacts, solvers and the evidence of solutions are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from wbc.arrays import ArrayLike, numbers
from wbc.control.assembly import Assembly
from wbc.control.evidence import Times
from wbc.control.preparation import answer_of, check_tasks, finite_time, usable_solver, warn_of_ignored_inequalities
from wbc.control.stack import Stack
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, number, show
from wbc.kinematics.velocity_solution import VelocitySolution, VelocityVariables
from wbc.simulation.log import STATUSES, Log, Recorder


class DifferentialKinematics:
    """Computes velocities that make a robot do what a stack of velocity tasks says.

    A level is the least-squares problem of its tasks, with equal priority and their weights (ETH 2.214, 2.215); levels
    below it use what it leaves free (ETH 2.219, 2.220). What all leave free is least |v|. With `tasks.ContactVelocity`
    on top, all motion is one that the contacts allow: u = N_c (J_t N_c)⁺ w_t (ETH 2.276).

    Args:
        robot: of `wbc.load`; it works on a copy.
        stack: of velocity tasks. It may be changed while it runs: weights, targets, contacts.
        solver: see `Controller`; "operational-space" has no meaning for velocities.
        period: between ticks, s; position limits need it, and `run` integrates over it.

    Attributes:
        robot: its own copy, in the state of the last tick.
        stack: what it was given.
        solver: the solver object.
        period: between ticks, s.
    """

    def __init__(
        self,
        robot: Dynamics,
        stack: Stack,
        solver: str | Any = "hierarchical-qp",  # noqa: ANN401  anything with a solve(levels)
        *,
        period: float = 1e-2,
    ) -> None:
        if not isinstance(robot, Dynamics):
            raise WbcError(f"differential kinematics needs a robot of wbc.load, not {show(robot)}")
        if not isinstance(stack, Stack):
            raise WbcError(
                f"differential kinematics needs a wbc.Stack, not {show(stack)}; wrap the tasks: wbc.Stack(…)"
            )
        if not stack.kinematic:
            raise WbcError(
                f"{stack!r} has no task that asks for a velocity, such as tasks.EndEffectorVelocity; it is one for a "
                "wbc.Controller"
            )
        self.robot, self.stack = robot.copy(), stack
        self.period = number(period, "the period, s,", high=1e3, above=True)
        self.solver = usable_solver(solver)
        if getattr(self.solver, "dynamically_consistent", False):
            raise WbcError(f"{type(self.solver).__name__} is about torques; for velocities take 'nullspace'")
        check_tasks(self.robot, stack)
        self._all = np.eye(self.robot.nv, self.robot.nv + 1, 1)  # x = [0 1] [1; x]
        self._lay_out()
        warn_of_ignored_inequalities(self.solver, stack)

    def _lay_out(self) -> None:
        """For other contacts than before."""
        self._variables = VelocityVariables(self.robot, self.stack.support.closed)
        strict = not getattr(self.solver, "trades_priorities", False)
        self._assembly = Assembly(self.stack.levels, self.stack, None, self._variables, strict)

    def reset(self) -> None:
        """Forgets the past: places that are held, ramps, the solver's last active set."""
        self.stack.reset()
        if hasattr(self.solver, "reset"):
            self.solver.reset()

    def step(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> VelocitySolution:
        """One tick. The same input twice gives the same output.

        Args:
            q: configuration, shape (nq,).
            v: velocity now, shape (nv,): for limits of acceleration; None: at rest.
            t: time, s; targets that move and fades are functions of it.

        Raises:
            WbcError: q, v or t is not what it should be. A hard state raises nothing.
        """
        began = perf_counter()
        robot, support = self.robot, self.stack.support
        robot.update(q, v)
        time = finite_time(t)
        self.stack.advance(time)
        support.advance(time, robot, dict)
        if self._variables.contacts is not support.closed:
            self._lay_out()
        variables = self._variables
        variables.time, variables.period, variables.anchors = time, self.period, support.anchors
        known = perf_counter()
        try:
            parts = self._assembly.parts(robot)
            built = perf_counter()
            answer = answer_of(self.solver, self._assembly.levels(parts, self._all))
        except (WbcError, ValueError, TypeError, AttributeError, IndexError):
            self._assembly.check(robot)  # names the task whose rows can't be used, if it was one
            raise
        solved = perf_counter()
        failed = answer is None or answer.status == "failed" or not abs(float(answer.x.dot(answer.x))) < np.inf
        if failed:
            self._assembly.check(robot)
        x = np.zeros(robot.nv) if answer is None or failed else answer.x.copy()
        solution = VelocitySolution(
            robot=robot, variables=variables, parts=parts, x=x, answer=None if failed else answer, stack=self.stack
        )
        ended = perf_counter()
        solution.time = Times(known - began, built - known, solved - built, ended - began)
        return solution

    def run(
        self,
        q: ArrayLike,
        duration: float,
        *,
        targets: Callable[[float, DifferentialKinematics], None] | None = None,
        until: Callable[[float, VelocitySolution], bool] | None = None,
        record: str | Path | None = None,
    ) -> Log:
        """Closes the loop by itself: the robot is where its velocities led it, q ← q ⊞ v T.

        Args:
            q: to start from, shape (nq,).
            duration: s.
            targets: called before each tick with the time and this object, to set targets, contacts, weights.
            until: called after each tick with the time and the solution; true ends the run.
            record: file to write the log to as it goes.

        Returns:
            The log; without torques and forces, which are zero in it.
        """
        robot, contacts = self.robot, tuple(contact.name for contact in self.stack.contacts)
        duration = number(duration, "duration, s,", high=1e9, above=True)
        sizes = (robot.nq, robot.nv, robot.na, len(self.stack))
        path = None if record is None else Path(record)
        recorder = Recorder(robot.model.name, contacts, (), sizes, path=path)
        now, v, ended = numbers(q, "q"), np.zeros(robot.nv), "finished"
        none = np.zeros(robot.na + 3 * len(contacts))
        try:
            for tick in range(max(round(duration / self.period), 1)):
                t = tick * self.period
                if targets is not None:
                    targets(t, self)
                solution = self.step(now, v, t)
                costs = [level.cost for level in solution.levels]
                status = STATUSES.index(solution.status)
                row = np.r_[t, now, v, none, costs, np.inf, np.inf, status, solution.time.total]
                recorder.add(row, t, self.stack.errors(robot, self._variables))
                v = solution.velocity
                now = robot.integrate(now, v, self.period)
                if until is not None and until(t, solution):
                    ended = "stopped"
                    break
        except KeyboardInterrupt:
            ended = "interrupted"
        except BaseException as error:  # of the tick, or of somebody's callback: what was recorded is kept
            recorder.close(f"{type(error).__name__}: {error}")
            raise
        return recorder.close(ended)

    def __repr__(self) -> str:
        solver = type(self.solver).__name__
        return f"<DifferentialKinematics of {self.robot.model.name!r} by {solver}: {self.stack!r}>"

    def __str__(self) -> str:
        counts = None
        if self.robot.updates:
            counts = {part.task.name: part.counts() for part in self._assembly.parts(self.robot)}
        return f"{self.robot!r}\n{self.stack.describe(counts)}\nsolver: {type(self.solver).__name__}"
