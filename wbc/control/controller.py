"""The controller: a state in, joint torques out. Read this file first.

A tick: the robot is put in its state, every task of the stack gives its rows in x = (v̇, f, τ), what the equation of
motion fixes is eliminated, a solver resolves the conflicts level by level, and the solution says what came of it.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.control.assembly import Assembly, Part
from wbc.control.fallback import fallback_torque
from wbc.control.metric import LeastTorqueByInverseMass
from wbc.control.preparation import answer_of, check_tasks, finite_time, usable_solver, warn_of_ignored_inequalities
from wbc.control.reduction import Reduction
from wbc.control.solution import Solution, Times
from wbc.control.stack import Stack
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, number, show
from wbc.solvers.answer import Answer
from wbc.tasking.problem import Variables
from wbc.tasking.task import Task

ONE = np.ones(1)
"""What the first column of X is multiplied by: x = x₀ + T z = X [1; z]."""


class Controller:
    """Computes joint torques that make a robot do what a stack says.

    Args:
        robot: of `wbc.load`; the controller works on a copy of it.
        stack: what to do. It may be changed while the controller runs: weights, targets, contacts.
        solver: how conflicts are resolved: "hierarchical-qp", "sequential-qp", "nullspace", "weighted-qp",
            "operational-space", or an object with a `solve(levels)`.
        period: between ticks, s; tasks with a discrete-time limit (joint limits, torque rates) need it.
        deadline: s that a tick may take; the solver stops in time and returns its best point so far, and a tick that is
            late all the same says so. None: no bound.

    Attributes:
        robot: its own copy, in the state of the last tick.
        stack: what it was given.
        solver: the solver object.
        period: between ticks, s.
    """

    _solution: type[Solution] = Solution
    """What a tick hands back."""

    def __init__(
        self,
        robot: Dynamics,
        stack: Stack,
        solver: str | Any = "hierarchical-qp",  # noqa: ANN401  anything with a solve(levels)
        *,
        period: float = 1e-3,
        deadline: float | None = None,
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
        self.robot, self.stack = robot.copy(), stack
        self.period = number(period, "the control period, s,", high=1e3, above=True)
        self.deadline = None if deadline is None else number(deadline, "the deadline, s,", above=True)
        self.solver = usable_solver(solver)
        # Operational-space control is the same problem with one level more: least torque by the inverse mass matrix.
        metric = [(LeastTorqueByInverseMass(),)] if getattr(self.solver, "dynamically_consistent", False) else []
        self._levels: list[tuple[Task, ...]] = [*stack.levels, *metric]
        check_tasks(self.robot, stack)
        self._before: tuple[float, Array | None] = (-np.inf, None)  # time and torque of the last tick
        self._earlier: Array | None = None  # the torque of the last tick at another time
        self._last: Solution | None = None
        self._layouts: dict[tuple[str, ...], tuple[Variables, Assembly]] = {}
        self._lay_out()
        self._warn_of_ignored_inequalities()

    def _lay_out(self) -> None:
        """For other contacts than before: other variables, kept for the next time that these contacts are closed."""
        closed = self.stack.support.closed
        names = tuple(contact.name for contact in closed)
        if names not in self._layouts:
            variables = Variables(self.robot, closed)
            reduction = Reduction(self.robot, variables)
            strict = not getattr(self.solver, "trades_priorities", False)
            self._layouts[names] = variables, Assembly(self._levels, self.stack, reduction, variables, strict)
        self._variables, self._assembly = self._layouts[names]

    def reset(self) -> None:
        """Forgets the past: places that are held, ramps, the last torque, the solver's last active set."""
        self.stack.reset()
        self._before, self._earlier, self._last = (-np.inf, None), None, None
        if hasattr(self.solver, "reset"):
            self.solver.reset()

    def step(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Solution:
        """One tick. The same input twice gives the same output.

        Args:
            q: configuration, shape (nq,).
            v: velocity, shape (nv,).
            t: time, s; targets that move, ramps and fades are functions of it.

        Returns:
            The torques and all that is known about them.

        Raises:
            WbcError: q, v or t is not what it should be. A hard state raises nothing.
        """
        began = perf_counter()
        robot, support = self.robot, self.stack.support
        robot.update(q, v)
        time = finite_time(t)
        if time != self._before[0]:
            self._earlier = self._before[1]
        self.stack.advance(time)
        support.advance(time, robot, self._borne)
        if self._variables.contacts is not support.closed:  # another controller of this stack may have been first
            self._lay_out()
        variables = self._variables
        variables.time, variables.period, variables.last_torque = time, self.period, self._earlier
        variables.ceilings = support.ceilings
        variables.anchors = support.anchors
        M, h, Jc = robot.mass_matrix, robot.bias, variables.contact_jacobian(robot)
        known = perf_counter()
        try:
            parts = self._assembly.parts(robot)
            built = perf_counter()
            X, answer = self._solve(parts, M, h, Jc, began)
        except (WbcError, ValueError, TypeError, AttributeError, IndexError):
            self._assembly.check(robot)  # names the task whose rows can't be used, if it was one
            raise
        solved = perf_counter()
        x = X[:, 0] if answer is None else X.dot(np.concatenate((ONE, answer.x)))
        failed = answer is None or answer.status == "failed" or not abs(float(x.dot(x))) < np.inf
        if failed:
            self._assembly.check(robot)
            x = x.copy() if np.isfinite(x).all() else np.zeros(variables.n)
            x[variables.torque] = fallback_torque(robot, Jc)
        solution = self._solution(
            robot=robot,
            variables=variables,
            parts=parts,
            x=x,
            answer=None if failed else answer,
            stack=self.stack,
        )
        self._before = (time, solution.torque)
        self._last = solution
        ended = perf_counter()
        solution.time = Times(known - began, built - known, solved - built, ended - began)
        solution.late = self.deadline is not None and ended - began > self.deadline
        return solution

    def errors(self) -> dict[str, Array]:
        """How far each task with a target is from it in the state of the last tick, by name: see `Task.error`."""
        return self.stack.errors(self.robot, self._variables)

    def _borne(self) -> dict[str, float]:
        """The normal force of each contact at the last tick, N."""
        return {} if self._last is None else self._last.normal_forces

    def _solve(self, parts: list[Part], M: Array, h: Array, Jc: Array, began: float) -> tuple[Array, Answer | None]:
        """Eliminates and solves; the first equations are eliminated too, where no inequality is in the way."""
        assembly = self._assembly
        for depth in range(assembly.depth, -1, -1):
            reduced = assembly.reduce(parts, M, h, Jc, depth)
            if reduced is None:
                assembly.depth = assembly.greatest = depth - 1
                continue
            X, levels = reduced
            if self.deadline is not None:  # a second solve has what the first one left
                self._bound(self.deadline - (perf_counter() - began))
            answer = answer_of(self.solver, levels)
            if answer is None:
                break
            if assembly.holds(answer):
                assembly.learn(parts, depth, answer)
                break
        return X, answer

    def _bound(self, seconds: float) -> None:
        """Tells the solver how long it may take; what comes after it takes a fifth of a millisecond."""
        if hasattr(self.solver, "deadline"):
            self.solver.deadline = max(seconds - 2e-4, 1e-5)

    def _warn_of_ignored_inequalities(self) -> None:
        """Says once, by name, which inequalities the solver will not see."""
        warn_of_ignored_inequalities(self.solver, self.stack, stacklevel=4)

    def __repr__(self) -> str:
        return f"<Controller of {self.robot.model.name!r} by {type(self.solver).__name__}: {self.stack!r}>"

    def __str__(self) -> str:
        counts = None
        if self.robot.updates:
            counts = {part.task.name: part.counts() for part in self._assembly.parts(self.robot)}
        return f"{self.robot!r}\n{self.stack.describe(counts)}\nsolver: {type(self.solver).__name__}"
