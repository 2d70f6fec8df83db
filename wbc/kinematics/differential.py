"""Differential kinematics: it turns a configuration into velocities (ETH 2.9.1, 2.9.2, 2.10.5).

It is `Controller` without forces: the rows of tasks are in x = v, and nothing is eliminated. Stacks, priorities,
weights, fades, contacts, solvers and the evidence of solutions are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.control.checks import check_tasks, usable_solver, warn_of_ignored_inequalities
from wbc.control.discrete import warn_of_unstable_gains
from wbc.control.evidence import Times
from wbc.control.level_solving import ask, hierarchy_of, outcome_of, stacked
from wbc.control.program import Part, Program, row_counts
from wbc.control.solving import Outcome, UnsoundRowsError
from wbc.control.stack import Stack
from wbc.control.ticker import Ticker
from wbc.copies import Independent
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, number, show
from wbc.kinematics.velocity_solution import VelocitySolution
from wbc.simulation.log import STATUSES, Log
from wbc.simulation.recorder import Recorder
from wbc.simulation.signals import TerminatedError, terminable
from wbc.solvers import Solver
from wbc.tasking.layout import Layout
from wbc.tasking.tick import Tick
from wbc.threads import Turn, busy, taking

RANK = 1e-9
"""Below this share of the greatest singular value is nothing but rounding."""


class DifferentialKinematics(Independent):
    """Computes velocities that make a robot carry out a stack of velocity tasks.

    A level is the least-squares problem of its tasks, with equal priority and their weights (ETH 2.214, 2.215); levels
    below it use what it leaves free (ETH 2.219, 2.220). What all leave free is least |v|. With `tasks.ContactVelocity`
    on top, all motion is one that the contacts allow: u = N_c (J_t N_c)⁺ w_t (ETH 2.276).

    Args:
        robot: of `wbc.load`; it works on a copy.
        stack: of velocity tasks. It may be changed while it runs: weights, targets, contacts.
        solver: see `Controller`; "elastic-qp" and "operational-space" have no meaning for velocities.
        period: between ticks, s; position limits need it, and `run` integrates over it.

    Attributes:
        robot: its own copy, in the state of the last tick.
        stack: the stack, as given.
        solver: the solver object.
        period: between ticks, s.
    """

    def __init__(
        self,
        robot: Dynamics,
        stack: Stack,
        solver: str | Solver = "hierarchical-qp",
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
        if self.solver.dynamically_consistent:
            raise WbcError(f"{type(self.solver).__name__} is for torques; for velocities use 'nullspace'")
        if self.solver.yields:
            raise WbcError(f"{type(self.solver).__name__} bounds accelerations; for velocities use 'hierarchical-qp'")
        check_tasks(self.robot, stack)
        self._ticker, self._turn = Ticker(self.robot, stack, kinematic=True), Turn()
        self._programs: dict[Layout, Program] = {}
        warn_of_ignored_inequalities(self.solver, [stack.name_of(task) for task in stack if task.bounds_only])

    def reset(self) -> None:
        """Forgets the past: held places, ramps, the solver's last active set."""
        with taking(self._turn, self):
            self.stack.reset()
            self._ticker.forget()
            self.solver.reset()

    def expect_new_clock(self) -> None:
        """Allows the next tick to have an earlier time than the last one, as at the start of a run.

        Nothing is forgotten: ramps continue.
        """
        self._ticker.expect_new_clock()

    def step(self, q: ArrayLike, v: ArrayLike | None = None, t: float | None = None) -> VelocitySolution:
        """One tick. The same input twice gives the same output.

        Args:
            q: configuration, shape (nq,).
            v: velocity now, shape (nv,): for limits of acceleration; None: at rest.
            t: time, s; moving targets and fades are functions of it. None: one period after the last tick.

        Raises:
            WbcError: q, v or t is invalid. A difficult state never raises.
        """
        if not self._turn.take():
            raise busy(self)
        try:
            began = perf_counter()
            robot = self.robot
            robot.update(q, v)
            tick = self._ticker.tick(t, self.period)
            known = perf_counter()
            program = self._programs.get(tick.layout)
            if program is None:
                program = Program(self.stack, tick.layout)
                if not self._programs:
                    warn_of_unstable_gains(self.stack, tick.period)
                    if self.solver.ignores_inequalities:
                        warn_of_ignored_inequalities(self.solver, program.undeclared(robot, tick))
                self._programs[tick.layout] = program
            parts = program.parts_or_error(robot, tick)
            built = perf_counter()
            outcome = self._solve(program, tick, parts)
            solved = perf_counter()
            solution = VelocitySolution(robot, tick, parts, outcome, outcome.x, self.stack)
            self._ticker.note(None)
            ended = perf_counter()
            solution.time = Times(known - began, built - known, solved - built, ended - began)
            return solution
        finally:
            self._turn.give()

    def _solve(self, program: Program, tick: Tick, parts: Sequence[Part]) -> Outcome:
        """The rows as levels, for the solver: there is no physics to eliminate, but closed loops."""
        none = np.zeros(self.robot.nv)
        base, free = self._moving_loops(tick.period)
        try:
            A = stacked(parts, tick.layout)
            levels = hierarchy_of(parts, program.levels, A if free is None else _within(A, free))
            if free is not None:
                shift = A @ base
                levels.lower -= shift
                levels.upper -= shift
            answer = ask(self.solver, levels, math.inf)
        except UnsoundRowsError as error:
            program.check(self.robot, tick)  # names the task whose rows can't be used, if it was one
            return Outcome(none, "failed", reason=error)
        if isinstance(answer, Exception):
            return Outcome(none, "failed", reason=answer)
        return outcome_of(answer, answer.x.copy() if free is None else base + free @ answer.x)

    def _moving_loops(self, period: float) -> tuple[Array, Array | None]:
        """The velocity that closes what is open of the robot's loops in a tick, and a basis of those that keep them so.

        Returns:
            Shapes (nv,) and (nv, free); None for the basis where the robot has no loops.
        """
        robot = self.robot
        if not robot.model.loops:
            return np.zeros(robot.nv), None
        gap, J, _ = robot.loop_motion
        U, singular, V = np.linalg.svd(J)
        rank = int((singular > RANK * singular.max(initial=0.0)).sum())
        wanted = (U[:, :rank].T @ gap) / singular[:rank]
        return -V[:rank].T @ wanted / period, V[rank:].T

    def run(
        self,
        q: ArrayLike,
        duration: float,
        *,
        targets: Callable[[float, DifferentialKinematics], None] | None = None,
        until: Callable[[float, VelocitySolution], bool] | None = None,
        record: str | Path | None = None,
    ) -> Log:
        """Closes the loop without a plant: the configuration integrates the velocities, q ← q ⊞ v T.

        Args:
            q: to start from, shape (nq,).
            duration: s.
            targets: called before each tick with the time and this object, to set targets, contacts, weights.
            until: called after each tick with the time and the solution; true ends the run.
            record: file to write the log to during the run.

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
        self.expect_new_clock()
        try:
            with terminable():
                for tick in range(max(round(duration / self.period), 1)):
                    t = tick * self.period
                    if targets is not None:
                        targets(t, self)
                    solution = self.step(now, v, t)
                    costs = [level.cost for level in solution.levels]
                    status = STATUSES.index(solution.status)
                    row = np.r_[t, now, v, none, costs, np.inf, np.inf, status, solution.time.total]
                    recorder.add(row, t, self.errors())
                    v = solution.velocity
                    now = robot.integrate(now, v, self.period)
                    if until is not None and until(t, solution):
                        ended = "stopped"
                        break
        except KeyboardInterrupt:
            ended = "interrupted"
        except TerminatedError as end:
            recorder.close(f"ended by {end.signal}")
            raise
        except BaseException as error:  # of the tick, or of somebody's callback: what was recorded is kept
            recorder.close(f"{type(error).__name__}: {error}")
            raise
        return recorder.close(ended)

    def errors(self) -> dict[str, Array]:
        """The error of each task with a target in the state of the last tick, by name: see `Task.error`."""
        return self.stack.errors(self.robot, self._ticker.again(self.period))

    def __repr__(self) -> str:
        solver = type(self.solver).__name__
        return f"<DifferentialKinematics of {self.robot.model.name!r} by {solver}: {self.stack!r}>"

    def __str__(self) -> str:
        counts = row_counts(self.stack, self.robot, self._ticker.again(self.period)) if self._ticker.began else None
        return f"{self.robot!r}\n{self.stack.describe(counts)}\nsolver: {type(self.solver).__name__}"


def _within(A: Array, free: Array) -> Array:
    """Rows in the motions that closed loops leave free; what they have fixed is zero, not rounding."""
    rows: Array = A @ free
    rows[np.linalg.norm(rows, axis=1) < RANK * np.linalg.norm(A, axis=1)] = 0.0
    return rows
