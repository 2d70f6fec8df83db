"""Solves a tick with the compiled kernel: physics is eliminated and levels are searched in one call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.compiled import kernel
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.level_solving import LevelSolving
from wbc.control.program import Part, Program
from wbc.control.solving import Outcome, Solving, UnsoundRowsError
from wbc.control.tolerance import force_tolerance
from wbc.errors import WbcError
from wbc.solvers.base import Solver
from wbc.solvers.hierarchical.engine import LONG

OPTIMAL, STOPPED, UNSOUND = 0, 2, 3
"""Status numbers of the kernel; 1 is relaxed."""


def solving_for(program: Program, equation: MotionEquation, solver: Solver, levels: int, effort: Array) -> Solving:
    """How a solver is asked: in the compiled tick, where it says where its levels go there, or with levels by hand.

    Args:
        program: the tasks.
        equation: physics in any state.
        solver: whom to ask.
        levels: how many there are.
        effort: what each actuator gives, shape (na,). It counts where a task keeps torques within it: a stack without
            one may ask for more.
    """
    effort = effort if program.bounds_torques else np.zeros(len(effort))
    planned = solver.plan_levels(levels)
    if planned is None:
        return LevelSolving(program, solver, levels, effort)
    return CompiledSolving(program, equation, planned, solver, effort)


class CompiledSolving(Solving):
    """By the compiled kernel: elimination, levels and search in one call.

    Args:
        program: the tasks.
        equation: physics in any state.
        levels: where each level of the program goes, and the factor of its weights: see `Solver.plan_levels`.
        solver: in whose place it solves, and whose options hold.
        effort: what each actuator gives, shape (na,).
    """

    keeps_physics = True

    def __init__(
        self,
        program: Program,
        equation: MotionEquation,
        levels: list[tuple[int, float]],
        solver: Solver,
        effort: Array,
    ) -> None:
        layout = program.layout
        self._levels = levels
        self._merges = any(level != index or factor != 1.0 for index, (level, factor) in enumerate(levels))
        actuated = tuple(int(index) for index in equation.actuated)
        self._sizes = layout.nv, layout.nf, layout.nf - layout.nc, actuated
        self._lengths = equation.lengths
        self._scale, self._solver, self._effort = equation.scale, solver, np.array(effort, dtype=float)
        self._tolerance = 0.5 * force_tolerance(equation.scale)
        self._soften = self._solver_options("soften", 0.0)
        self._plans: dict[tuple[object, ...], Any] = {}
        self._plan: Any = None
        self._n = layout.n

    def _solver_options(self, name: str, otherwise: Any) -> Any:  # noqa: ANN401  a number, or whether
        return getattr(self._solver, name, otherwise)

    def _plan_for(self, parts: Sequence[Part]) -> None:
        """Takes the plan for such parts; it is laid out where there is none."""
        shapes = tuple(
            (self._levels[part.entry.rank][0], len(part.lower), *(_kind(block) for block in part.blocks))
            for part in parts
        )
        if shapes not in self._plans:
            self._plans[shapes] = self._planned(shapes)
        self._plan = self._plans[shapes]

    def _planned(self, shapes: tuple[Any, ...]) -> Any:  # noqa: ANN401  a type of the kernel
        assert kernel is not None
        count = 1 + max(level for level, _ in self._levels)
        options = self._solver_options("max_iterations", 1000), self._solver_options("rank_tolerance", 1e-9)
        plan = kernel.TickPlan(*self._sizes, self._scale, count, shapes, *options)
        plan.lengths(self._lengths)
        plan.soften(self._soften, 1)
        plan.efforts(self._effort)
        return plan

    def solve(self, equation: MotionEquation, parts: Sequence[Part], seconds: float) -> Outcome:
        """See `Solving`."""
        if self._merges:
            factors = self._levels
            parts = tuple([part._replace(weight=part.weight * factors[part.entry.rank][1]) for part in parts])
        x, began = np.empty(self._n), perf_counter()
        try:
            found = self._call(equation, parts, seconds, x)
        except (ValueError, TypeError, IndexError):
            found = self._call_anew(equation, parts, seconds, x)
        if found[0] == STOPPED and self._soften and LONG < found[1] < self._solver_options("max_iterations", 1000):
            seconds = min(seconds, getattr(self._solver, "deadline", math.inf))
            found = self._call_strictly(equation, parts, seconds - (perf_counter() - began), x, found)
        status, steps, _, row = found
        if status == UNSOUND:
            raise UnsoundRowsError(f"row {row} has a number that is not finite")
        yielding = self._plan.softened()
        return Outcome(x, "optimal" if status == OPTIMAL else "relaxed", steps, status == STOPPED, yielding=yielding)

    def _call(self, equation: MotionEquation, parts: Sequence[Part], seconds: float, x: Array) -> Any:  # noqa: ANN401
        if self._plan is None:
            raise ValueError("there is no plan yet")
        solver = self._solver
        if not getattr(solver, "warm_start", True):
            self._plan.forget()
        seconds = min(seconds, getattr(solver, "deadline", math.inf))
        it = equation
        return self._plan.solve(
            it.M, it.h, it.J, it.loops, it.loop_bias, parts, seconds, self._tolerance, x, it.velocity
        )

    def _call_strictly(
        self,
        equation: MotionEquation,
        parts: Sequence[Part],
        seconds: float,
        x: Array,
        found: Any,  # noqa: ANN401  what the kernel gave
    ) -> Any:  # noqa: ANN401
        """Once more without soft directions: limits beside them made the search give up, not the time."""
        if not seconds > 0.0:
            return found
        strict = np.empty(self._n)
        self._plan.soften(0.0, 1)
        try:
            again = self._call(equation, parts, seconds, strict)
        finally:
            self._plan.soften(self._soften, 1)
        if again[0] >= STOPPED:
            return found
        x[:] = strict
        return again[0], found[1] + again[1], *again[2:]

    def _call_anew(self, equation: MotionEquation, parts: Sequence[Part], seconds: float, x: Array) -> Any:  # noqa: ANN401
        """Once more: a task was switched, has other rows than at the last tick, or gave integers for numbers."""
        try:
            self._plan_for(parts)
            return self._call(equation, parts, seconds, x)
        except (ValueError, TypeError, IndexError):
            parts = tuple([_as_kernel_wants(part) for part in parts])
        try:
            return self._call(equation, parts, seconds, x)
        except (ValueError, TypeError, IndexError) as error:
            raise UnsoundRowsError(str(error)) from None

    def forget(self) -> None:
        """See `Solving`."""
        for plan in self._plans.values():
            plan.forget()

    def __getstate__(self) -> dict[str, Any]:
        """A copy has plans of its own, which remember the same."""
        memories = {shapes: plan.memory() for shapes, plan in self._plans.items()}
        current = next((shapes for shapes, plan in self._plans.items() if plan is self._plan), None)
        return self.__dict__ | {"_plans": memories, "_plan": current}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if kernel is None:
            raise WbcError("a controller that uses the compiled kernel was copied to a process without it")
        self._plans = {}
        for shapes, memory in state["_plans"].items():
            self._plans[shapes] = self._planned(shapes)
            self._plans[shapes].recall(memory)
        self._plan = self._plans.get(state["_plan"])


def _as_kernel_wants(part: Part) -> Part:
    """The same rows as arrays of floats, and of indices, contiguous and aligned."""
    blocks = [
        None if block is None else np.require(block, np.int64 if np.ndim(block) == 1 else float, ["C", "A"])
        for block in part.blocks
    ]
    lower = np.require(part.lower, float, ["C", "A"])
    upper = lower if part.equation else np.require(part.upper, float, ["C", "A"])
    weights = None if part.weights is None else np.require(part.weights, float, ["C", "A"])
    return Part(lower, upper, weights, part.weight, blocks[0], blocks[1], blocks[2], part.entry)


def _kind(block: Any) -> int:  # noqa: ANN401  a block, or whatever a task gave for one
    """As the kernel counts: nothing, a matrix, indices."""
    return 0 if block is None else 1 if getattr(block, "ndim", 0) == 2 else 2
