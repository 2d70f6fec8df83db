"""The controller: it turns a state into joint torques. Read this file first.

A tick: the robot is set to its state; ramps advance, and the moment is frozen in a `Tick`; every task of the stack
gives its rows in x = (v̇, f, τ) (`program`); the equation of motion and the rows are solved, level by level
(`solving`); the solution holds the result.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from time import perf_counter, thread_time

import numpy as np

from wbc import compiled
from wbc.arrays import Array, ArrayLike
from wbc.control.certificate import judged
from wbc.control.checks import check_actuators, check_tasks, usable_solver, warn_of_ignored_inequalities
from wbc.control.compiled_solving import solving_for
from wbc.control.discrete import warn_of_unstable_gains
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.evidence import Times
from wbc.control.fallback import command
from wbc.control.guard import Guard
from wbc.control.metric import LeastTorqueByInverseMass
from wbc.control.period import Periodic
from wbc.control.program import Part, Program, row_counts
from wbc.control.reserve import Reserve
from wbc.control.series import with_rigid_springs
from wbc.control.shortened import shortened
from wbc.control.solution import Solution
from wbc.control.solving import LEAST, Outcome, Solving, UnsoundRowsError
from wbc.control.stack import Stack
from wbc.control.steadied import STEADYING, Asked, SteadyTicks
from wbc.control.steadiness import Steadiness
from wbc.control.ticker import Ticker
from wbc.control.watch import measured_forces
from wbc.copies import Independent
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, number, show
from wbc.solvers import HierarchicalQP
from wbc.solvers.base import Solver
from wbc.tasking.layout import Layout
from wbc.tasking.tick import Tick
from wbc.threads import Turn, busy, taking

RESERVE = 3e-4
"""Time reserved before a deadline for the work after the solver, s; more where earlier ticks took longer."""

IDLE = 0.1
"""A tick that waited for more than this share of its deadline, for another program say, tells nothing of how long
anything takes."""

GUARDING = 4e-4
"""Time reserved before a deadline for the guard, s, if the solver ignores inequalities: the guard then has much to
do. More where it took longer."""


class Controller(Independent, Periodic):
    """Computes joint torques that make a robot carry out a stack of tasks.

    Args:
        robot: of `wbc.load`; the controller works on a copy of it.
        stack: tasks and contacts. Weights, targets and contacts may be changed while the controller runs.
        solver: how conflicts are resolved: "hierarchical-qp", "sequential-qp", "nullspace", "weighted-qp",
            "operational-space", or a `wbc.solvers.Solver`.
        period: between ticks, s; tasks with a discrete-time limit (joint limits, torque rates) need it. None: a
            millisecond, or in `wbc.run` the multiple of the plant's timestep that is nearest to it.
        deadline: time limit of a tick, s. When it is reached the solver returns its best point; if the tick still
            overran, `solution.late` is True. None: no limit, except in `wbc.run`, which sets the period.
        friction: whether to compensate the Coulomb friction of the joints, as far as their inertia and the period allow
            (see `Periodic`); for joints at rest, in the direction in which they are asked to move.
        guard: whether to keep torques within the actuators' limits, whatever the stack and the solver: a tick that
            exceeds them is solved again with these limits above all levels. False returns the solver's answer as it is,
            to compare solvers on stacks without limits; the certificate names the violation.
        rise: shortest time in which a torque may go from zero to its limit, s. A tick in which one changes faster is
            solved again with that bound, below the limits at the top of the stack and above all else, contacts too. The
            bound applies if the state continues the one before, also to ticks that are cut short, and not for solvers
            that ignore inequalities. A torque that brakes may change six times faster, because late brakes sustain a
            swing. Beside limits of torques and forces it always holds; limits of joints on top of the stack may need
            more. While a robot walks, or its sensors are noisy, it is loosened after 0.15 s at the bound, until all may
            change as fast as brakes: noise would keep torques there for ever, and the robot would fall. Where nothing
            but noise moves the torques of an arm, they may change sixteen times faster. None: no bound.
        trade: how long contacts must have been the same before levels below limits and contacts may be traded by
            weights, s: where torques alternate at that bound, until the strict answer is smooth again (see
            `wbc.control.compromise`). It calms a robot whose limits take directions from strict levels. Steps of a walk
            are shorter: a robot that walks or is pushed as it walks stands better on strict levels. Where the noise of
            sensors makes torques alternate, levels stay strict, too. None: they are never traded.
        springs: whether to treat springs of joints without motors as rigid if contacts load them and their frequency is
            above 8 Hz (see `wbc.control.series`): accelerations are then those of the robot without them. False: forces
            follow from the springs' deflection.

    Attributes:
        robot: its own copy, in the state of the last tick; rigid springs are loops of its model.
        stack: the stack, as given.
        solver: the solver object.
        period: between ticks, s.
        chooses_period: whether no period was given, so that `wbc.run` may choose one.
        deadline: s, or None.
        guard: as given.
        rise: as given.
        trade: as given.
        measured: the measured forces of the last tick, by contact; empty if there were none.
    """

    def __init__(
        self,
        robot: Dynamics,
        stack: Stack,
        solver: str | Solver = "hierarchical-qp",
        *,
        period: float | None = None,
        deadline: float | None = None,
        friction: bool = True,
        guard: bool = True,
        rise: float | None = 0.05,
        trade: float | None = 1.0,
        springs: bool = True,
    ) -> None:
        if not isinstance(robot, Dynamics):
            raise WbcError(f"a controller needs a robot of wbc.load, not {show(robot)}")
        if not isinstance(stack, Stack):
            raise WbcError(
                f"a controller needs a wbc.Stack, not {show(stack)}; wrap the tasks: wbc.Stack(tasks, contacts)"
            )
        if stack.kinematic:
            raise WbcError(
                f"{stack!r} asks for velocities: give it to wbc.kinematics.DifferentialKinematics, or make a stack of "
                "accelerations and forces"
            )
        if not isinstance(springs, bool):
            raise WbcError(f"springs = {show(springs)} must be True or False")
        self.robot = with_rigid_springs(robot, stack.contacts) if springs else robot.copy()
        self.stack = stack
        self._set_up(period, friction)
        self.deadline = None if deadline is None else number(deadline, "the deadline, s,", above=True)
        self.solver = usable_solver(solver)
        check_actuators(self.robot)
        check_tasks(self.robot, stack)
        self._ticker, self._turn = Ticker(self.robot, stack, rubs=friction), Turn()
        self._laid: dict[Layout, tuple[Program, Solving, Guard]] = {}
        self._checked: set[str] = set()
        self._ending, self._guarding = Reserve(RESERVE), Reserve(GUARDING)
        if not isinstance(guard, bool):
            raise WbcError(f"guard = {show(guard)} must be True or False")
        self.guard = guard
        self.rise = None if rise is None else number(rise, "the rise of torques, s,", high=1e6, above=True)
        bound = None if self.solver.ignores_inequalities else self.rise
        self._steadiness = None if bound is None else Steadiness(self.robot, bound)
        self._steady = None
        if self._steadiness is not None:
            self._steady = SteadyTicks(self.robot, self.solver, self._steadiness, self._ticker)
        self.trade = None if trade is None else number(trade, "trade, the time after a change of contacts, s,", low=0.0)
        self.measured: Mapping[str, Array] = {}
        self._exact = isinstance(self.solver, HierarchicalQP)
        bounds = [stack.name_of(task) for task in stack if task.bounds_only]
        warn_of_ignored_inequalities(self.solver, bounds)

    def reset(self) -> None:
        """Forgets the past: held places, ramps, the last torque, the solver's last active set."""
        with taking(self._turn, self):
            self.stack.reset()
            self._ticker.forget()
            self.solver.reset()
            if self._steady is not None:
                self._steady.forget()
            for _, solving, guard in self._laid.values():
                solving.forget()
                guard.forget()

    def expect_new_clock(self) -> None:
        """Allows the next tick to have an earlier time than the last one, as at the start of a run. Nothing is
        forgotten: ramps continue.
        """
        self._ticker.expect_new_clock()

    def step(
        self,
        q: ArrayLike,
        v: ArrayLike,
        t: float | None = None,
        *,
        measured: Mapping[str, ArrayLike] | None = None,
    ) -> Solution:
        """One tick. The same input twice gives the same output.

        Args:
            q: configuration, shape (nq,).
            v: velocity, shape (nv,).
            t: time, s; moving targets, ramps and fades are functions of it. None: one period after the last tick.
            measured: forces on the robot at contacts, by their names, since the last tick, world axes, N: shape (3,),
                or a wrench, shape (6,). `solution.health` compares them with what was commanded; torques do not depend
                on them.

        Returns:
            The torques and everything known about them.

        Raises:
            WbcError: q, v, t or a measured force is invalid. A difficult state never raises.
        """
        if not self._turn.take():
            raise busy(self)
        try:
            began, worked = perf_counter(), 0.0 if self.deadline is None else thread_time()
            robot = self.robot
            felt = None if measured is None else measured_forces(measured, self.stack.contacts)
            self.measured = felt or {}  # gaits read what feet feel
            robot.update(q, v)
            tick = self._ticker.tick(t, self.period)
            equation = MotionEquation.of(robot, tick)
            known = perf_counter()
            known_layout = tick.layout in self._laid
            laid = self._laid[tick.layout] if known_layout else self._lay_out(tick, equation)
            parts = laid[0].parts_or_error(robot, tick)
            built = perf_counter()
            outcome, parts = self._solve(laid, tick, equation, parts, began)
            if outcome.interrupted or equation.loops is not None or not laid[1].keeps_physics:
                outcome = judged(outcome, tick, equation)
            solved = perf_counter()
            solution = Solution(robot, tick, parts, outcome, command(robot, tick, outcome), self.stack)
            solution._past = self._ticker.watch(tick, parts, outcome.yielding, outcome.steadied, felt)
            self._ticker.note(solution)
            ended = perf_counter()
            solution.time = Times(known - began, built - known, solved - built, ended - began)
            if self.deadline is not None:
                solution.late = ended - began > self.deadline
                # what is laid out for the first time takes longer, and tells nothing of other ticks
                if known_layout and ended - began - (thread_time() - worked) < IDLE * self.deadline:
                    self._ending.note(ended - min(solved, began + self.deadline - self._ending.seconds))
            return solution
        finally:
            self._turn.give()

    def _lay_out(self, tick: Tick, equation: MotionEquation) -> tuple[Program, Solving, Guard]:
        """For contacts that are closed together for the first time."""
        below = [LeastTorqueByInverseMass()] if self.solver.dynamically_consistent else []
        program = Program(self.stack, tick.layout, below, self._checked)
        if not self._laid:
            warn_of_unstable_gains(self.stack, tick.period, stacklevel=4)
            if self.solver.ignores_inequalities:
                warn_of_ignored_inequalities(self.solver, program.undeclared(self.robot, tick), stacklevel=4)
        solving = solving_for(program, equation, self.solver, program.levels, self.robot.limits.effort)
        self._laid[tick.layout] = program, solving, Guard(program, self.solver, self.robot)
        return self._laid[tick.layout]

    def _solve(
        self,
        laid: tuple[Program, Solving, Guard],
        tick: Tick,
        equation: MotionEquation,
        parts: tuple[Part, ...],
        began: float,
    ) -> tuple[Outcome, tuple[Part, ...]]:
        """Solves within the time left and within the actuators' limits; returns the outcome and the rows that were
        solved.
        """
        program, solving, guard = laid
        steady, wanted = self._steady, parts
        try:
            if steady is not None and self._exact and steady.expects(tick):
                at_once = steady.at_once(self._asked(laid, tick, equation, parts, began), self.trade)
                if at_once is not None:
                    return at_once
            guarding = self.guard and self.solver.ignores_inequalities
            outcome = solving.solve(equation, parts, self._left(began, self._guarding.seconds if guarding else 0.0))
            if outcome.interrupted and outcome.status != "failed" and self._left(began) < STEADYING:
                return self._shortened(outcome, tick, equation, parts), parts
            if self.guard and outcome.status != "failed" and guard.exceeded(outcome.x[tick.torque]):
                worked = thread_time()
                guarded, all_parts = guard.solve(equation, parts, self._left(began))
                self._guarding.note(thread_time() - worked)
                if guarded.interrupted:
                    return self._shortened(outcome, tick, equation, parts), parts
                outcome, parts = guarded, all_parts
            if steady is not None and outcome.status != "failed" and steady.exceeded(tick, outcome):
                again = steady.again(self._asked(laid, tick, equation, wanted, began))
                if again is None:
                    return self._shortened(outcome, tick, equation, parts), parts
                outcome, parts = again
            if outcome.interrupted and outcome.status != "failed":
                outcome = self._shortened(outcome, tick, equation, parts)
            if math.isfinite(outcome.x.dot(outcome.x)) or outcome.status == "failed":
                return outcome, parts
            raise UnsoundRowsError("the robot's dynamics have a number that is not finite")
        except UnsoundRowsError as error:
            program.check(self.robot, tick)  # names the task whose rows can't be used, if it was one
            return Outcome(np.zeros(tick.n), "failed", reason=error), parts

    def _asked(
        self,
        laid: tuple[Program, Solving, Guard],
        tick: Tick,
        equation: MotionEquation,
        parts: tuple[Part, ...],
        began: float,
    ) -> Asked:
        """What is asked in a tick, for those that solve it with a bound on torque rates."""
        program, solving, guard = laid
        guards = guard if self.guard else None
        return Asked(program, solving, guards, tick, equation, parts, lambda: self._left(began))

    def _shortened(self, outcome: Outcome, tick: Tick, equation: MotionEquation, parts: tuple[Part, ...]) -> Outcome:
        """An answer that there was no time for, within what may be commanded all the same."""
        return shortened(self.robot, tick, equation, outcome, self._steadiness, self.guard, parts)

    def _left(self, began: float, more: float = 0.0) -> float:
        """The time that a solver may take, s, with some time left for the work after it, and more."""
        if self.deadline is None:
            return math.inf
        kept = self._ending.before(self.deadline) + more
        return max(self.deadline - kept - (perf_counter() - began), LEAST)

    def errors(self) -> dict[str, Array]:
        """The error of each task with a target in the state of the last tick, by name: see `Task.error`."""
        return self.stack.errors(self.robot, self._ticker.again(self.period))

    def __repr__(self) -> str:
        return f"<Controller of {self.robot.model.name!r} by {type(self.solver).__name__}: {self.stack!r}>"

    def __str__(self) -> str:
        counts = row_counts(self.stack, self.robot, self._ticker.again(self.period)) if self._ticker.began else None
        solver, how = type(self.solver).__name__, ""
        if hasattr(self.solver, "compiled"):  # it has two twins, and says which one it is to be
            how = " (compiled)" if compiled.kernel is not None and self.solver.compiled is not False else " (numpy)"
        return f"{self.robot!r}\n{self.stack.describe(counts)}\nsolver: {solver}{how}"
