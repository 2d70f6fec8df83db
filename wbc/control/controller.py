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

from wbc.arrays import Array, ArrayLike
from wbc.control.certificate import judged
from wbc.control.checks import check_actuators, check_tasks, usable_solver, warn_of_ignored_inequalities
from wbc.control.command_limits import ActuatorLimits, Clip
from wbc.control.compiled_solving import solving_for
from wbc.control.discrete import warn_of_unstable_gains
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.evidence import Times
from wbc.control.fallback import command
from wbc.control.metric import LeastTorqueByInverseMass
from wbc.control.period import Periodic
from wbc.control.program import Part, Program, row_counts
from wbc.control.pulls import Pulls
from wbc.control.reserve import Reserve
from wbc.control.series import with_rigid_springs
from wbc.control.solution import Solution
from wbc.control.solving import LEAST, Outcome, Solving, UnsoundRowsError
from wbc.control.stack import Stack
from wbc.control.ticker import Ticker
from wbc.control.watch import measured_forces
from wbc.copies import Independent
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, number, show
from wbc.solvers.base import Solver
from wbc.tasking.layout import Layout
from wbc.tasking.tick import Tick
from wbc.threads import Turn, busy, taking

RESERVE = 3e-4
"""Time reserved before a deadline for the work after the solver, s; more where earlier ticks took longer."""

IDLE = 0.1
"""A tick that waited for more than this share of its deadline, for another program say, tells nothing of how long
anything takes."""


class Controller(Independent, Periodic):
    """Computes joint torques that make a robot carry out a stack of tasks.

    Args:
        robot: of `wbc.load`; the controller works on a copy of it.
        stack: tasks and contacts. Weights, targets and contacts may be changed while the controller runs.
        solver: how conflicts are resolved: "elastic-qp" (strict, with bounded pulls), "hierarchical-qp" (strict),
            "sequential-qp", "nullspace", "weighted-qp", "operational-space", or a `wbc.solvers.Solver`.
        period: between ticks, s; tasks with a discrete-time limit (joint limits, torque rates) need it. None: a
            millisecond, or in `wbc.run` the multiple of the plant's timestep that is nearest to it.
        deadline: time limit of a tick, s. When it is reached the solver returns its best point; if the tick still
            overran, `solution.late` is True. None: no limit, except in `wbc.run`, which sets the period.
        friction: whether to compensate the Coulomb friction of the joints, as far as their inertia and the period allow
            (see `Periodic`); for joints at rest, in the direction in which they are asked to move.
        actuator_limits: whether torques are kept within what the actuators give, whatever the stack and the solver: as
            bounds above all tasks, and by a clip if the solver ignores inequalities. False returns the solver's answer
            as it is, to compare solvers on stacks without limits; the certificate names the violation.
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
        actuator_limits: as given.
        measured: the measured forces of the last tick, by contact; empty if there were none.
    """

    def __init__(
        self,
        robot: Dynamics,
        stack: Stack,
        solver: str | Solver = "elastic-qp",
        *,
        period: float | None = None,
        deadline: float | None = None,
        friction: bool = True,
        actuator_limits: bool = True,
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
        self._laid: dict[Layout, tuple[Program, Solving]] = {}
        self._last: Solving | None = None
        self._pulls = Pulls(self.robot)
        self._checked: set[str] = set()
        self._ending = Reserve(RESERVE)
        if not isinstance(actuator_limits, bool):
            raise WbcError(f"actuator_limits = {show(actuator_limits)} must be True or False")
        self.actuator_limits, self._clip = actuator_limits, Clip(self.robot)
        self.measured: Mapping[str, Array] = {}
        bounds = [stack.name_of(task) for task in stack if task.bounds_only]
        warn_of_ignored_inequalities(self.solver, bounds)

    def reset(self) -> None:
        """Forgets the past: held places, ramps, the last torque, the solver's last active set."""
        with taking(self._turn, self):
            self.stack.reset()
            self._ticker.forget()
            self.solver.reset()
            self._last = None
            for _, solving in self._laid.values():
                solving.forget()

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
            if self._last is not laid[1]:  # other contacts: pulls continue
                laid[1].adopt({} if self._last is None else self._last.pulls())
                self._last = laid[1]
            outcome = self._solve(laid, tick, equation, parts, self._left(began))
            solved = perf_counter()
            if self.actuator_limits and outcome.status != "failed":
                outcome = self._clip(robot, tick, equation, outcome, parts)
            if outcome.interrupted or equation.loops is not None or not laid[1].keeps_physics:
                outcome = judged(outcome, tick, equation)
            solution = Solution(robot, tick, parts, outcome, command(robot, tick, outcome), self.stack)
            solution._past = self._ticker.watch(tick, parts, outcome.pulls, felt)
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

    def _lay_out(self, tick: Tick, equation: MotionEquation) -> tuple[Program, Solving]:
        """For contacts that are closed together for the first time."""
        solver = self.solver
        below = [LeastTorqueByInverseMass()] if solver.dynamically_consistent else []
        box = ActuatorLimits() if self.actuator_limits and not solver.ignores_inequalities else None
        program = Program(self.stack, tick.layout, below, box, solver.yields, self._checked)
        if not self._laid:
            warn_of_unstable_gains(self.stack, tick.period, stacklevel=4)
            if solver.ignores_inequalities:
                warn_of_ignored_inequalities(solver, program.undeclared(self.robot, tick), stacklevel=4)
        self._laid[tick.layout] = program, solving_for(program, equation, solver, self._pulls)
        return self._laid[tick.layout]

    def _solve(
        self,
        laid: tuple[Program, Solving],
        tick: Tick,
        equation: MotionEquation,
        parts: tuple[Part, ...],
        seconds: float,
    ) -> Outcome:
        """Solves within the time left; rows that can't be used fail the tick."""
        program, solving = laid
        try:
            outcome = solving.solve(equation, parts, tick, seconds)
            if not math.isfinite(outcome.x.dot(outcome.x)):
                raise UnsoundRowsError("the robot's dynamics have a number that is not finite")
        except UnsoundRowsError as error:
            program.check(self.robot, tick)  # names the task whose rows can't be used, if it was one
            return Outcome(np.zeros(tick.n), "failed", reason=error)
        return outcome

    def _left(self, began: float) -> float:
        """The time that a solver may take, s, with some time left for the work after it."""
        if self.deadline is None:
            return math.inf
        return max(self.deadline - self._ending.before(self.deadline) - (perf_counter() - began), LEAST)

    def errors(self) -> dict[str, Array]:
        """The error of each task with a target in the state of the last tick, by name: see `Task.error`."""
        return self.stack.errors(self.robot, self._ticker.again(self.period))

    def __repr__(self) -> str:
        return f"<Controller of {self.robot.model.name!r} by {type(self.solver).__name__}: {self.stack!r}>"

    def __str__(self) -> str:
        counts = row_counts(self.stack, self.robot, self._ticker.again(self.period)) if self._ticker.began else None
        solver, engine = type(self.solver).__name__, self.solver.engine
        how = f" ({engine})" if engine else ""
        return f"{self.robot!r}\n{self.stack.describe(counts)}\nsolver: {solver}{how}"
