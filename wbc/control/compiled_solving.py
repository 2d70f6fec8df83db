"""Solves a tick with the compiled kernel: physics is eliminated and levels are searched in one call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.compiled import kernel
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.kernel_plan import KernelPlan
from wbc.control.level_solving import LevelSolving
from wbc.control.program import Part, Program
from wbc.control.pulls import Pulls, posture_rank
from wbc.control.solving import Outcome, Solving, Status, UnsoundRowsError
from wbc.control.tolerance import force_tolerance
from wbc.errors import WbcError
from wbc.solvers.base import Solver
from wbc.tasking.tick import Tick

OPTIMAL, STOPPED, UNSOUND = 0, 2, 3
"""Status numbers of the kernel; 1 is relaxed."""


def solving_for(program: Program, equation: MotionEquation, solver: Solver, pulls: Pulls) -> Solving:
    """The compiled tick, if the solver tells how it does its work; else the solver is handed levels.

    Args:
        program: the tasks.
        equation: physics in any state.
        solver: of the controller.
        pulls: bounds how hard levels pull.
    """
    plan = solver.compiled_plan(program.levels, program.exact, program.levels - 1)
    if plan is None:
        return LevelSolving(program, solver, pulls)
    return CompiledSolving(program, equation, solver, pulls)


class CompiledSolving(Solving):
    """By the compiled kernel: elimination, levels and search in one call.

    Args:
        program: the tasks.
        equation: physics in any state.
        solver: in whose place it solves.
        pulls: bounds how hard levels pull.
    """

    keeps_physics = True

    def __init__(self, program: Program, equation: MotionEquation, solver: Solver, pulls: Pulls) -> None:
        layout = program.layout
        self._program, self._solver, self._pulls = program, solver, pulls
        self._counts = program.levels, program.exact
        actuated = tuple(int(index) for index in equation.actuated)
        self._sizes = layout.nv, layout.nf, layout.nf - layout.nc, actuated
        self._lengths, self._scale = equation.lengths, equation.scale
        self._tolerance = 0.5 * force_tolerance(equation.scale)
        self._plans: dict[tuple[object, ...], KernelPlan] = {}
        self._current: KernelPlan | None = None
        self._adopted: dict[str, Array] = {}  # until the first plan is laid out
        self._time = math.nan
        self._n = layout.n

    def solve(self, equation: MotionEquation, parts: Sequence[Part], tick: Tick, seconds: float) -> Outcome:
        """See `Solving`."""
        x, again = np.empty(self._n), tick.time == self._time
        try:
            answer = self._call(equation, parts, tick, seconds, x, again)
        except (ValueError, TypeError, IndexError):
            answer = self._call_anew(equation, parts, tick, seconds, x, again)
        self._time = tick.time
        status, steps, _, row, worst = answer
        if status == UNSOUND:
            raise UnsoundRowsError(f"row {row} has a number that is not finite")
        assert self._current is not None
        found: Status = "optimal" if status == OPTIMAL else "relaxed"
        return Outcome(x, found, steps, status == STOPPED, pulls=self._current.loads() if worst > 1.0 else ())

    def _call(
        self, it: MotionEquation, parts: Sequence[Part], tick: Tick, seconds: float, x: Array, again: bool
    ) -> Any:  # noqa: ANN401
        current = self._current
        if current is None:
            raise ValueError("there is no plan yet")
        if not self._solver.warm_start:
            current.plan.forget_set()
        if current.elastic is not None:
            current.bound(self._pulls.bound(current.postures, tick.period))
        parts, seconds = current.weighted(parts), min(seconds, self._solver.deadline)
        return current.plan.solve(it.M, it.h, it.J, it.loops, it.loop_bias, parts, seconds, self._tolerance, x, again)

    def _call_anew(
        self, equation: MotionEquation, parts: Sequence[Part], tick: Tick, seconds: float, x: Array, again: bool
    ) -> Any:  # noqa: ANN401
        """Once more: a task was switched, has other rows than at the last tick, or gave integers for numbers."""
        try:
            self._plan_for(parts)
            return self._call(equation, parts, tick, seconds, x, again)
        except (ValueError, TypeError, IndexError):
            parts = tuple([_as_kernel_wants(part) for part in parts])
        try:
            return self._call(equation, parts, tick, seconds, x, again)
        except (ValueError, TypeError, IndexError) as error:
            raise UnsoundRowsError(str(error)) from None

    def _plan_for(self, parts: Sequence[Part]) -> None:
        """Takes the plan for such parts; it is laid out if there is none. Pulls of tasks that stay continue."""
        posture = posture_rank(parts, self._counts[0])
        shapes = tuple(
            (part.entry.name, part.entry.rank, len(part.lower), *(_kind(block) for block in part.blocks))
            for part in parts
        )
        key = posture, shapes
        if key not in self._plans:
            self._plans[key] = self._lay_out(posture, shapes)
        before, self._current = self._current, self._plans[key]
        if before is not self._current:
            self._current.adopt(self._adopted if before is None else before.pulls())

    def _lay_out(self, posture: int, shapes: tuple[Any, ...]) -> KernelPlan:
        assert kernel is not None
        levels, exact = self._counts
        planned = self._solver.compiled_plan(levels, exact, posture)
        assert planned is not None  # else it would not be compiled
        tiers = 0 if planned.elastic is None else posture + 1 - exact
        parts = tuple(
            (planned.places[rank], rows, *kinds, rank - exact + 1 if exact <= rank < exact + tiers else 0)
            for _, rank, rows, *kinds in shapes
        )
        options = planned.max_iterations, planned.rank_tolerance
        plan = kernel.TickPlan(*self._sizes, self._scale, 1 + max(planned.places), parts, *options, tiers)
        plan.lengths(self._lengths)
        postures = self._program.tasks_at(posture)
        return KernelPlan(
            plan, planned, slice(exact, exact + tiers), postures, [(name, rows) for name, _, rows, *_ in shapes]
        )

    def pulls(self) -> dict[str, Array]:
        """See `Solving`."""
        return {} if self._current is None else self._current.pulls()

    def adopt(self, pulls: dict[str, Array]) -> None:
        """See `Solving`."""
        if self._current is None:
            self._adopted = pulls
        else:
            self._current.adopt(pulls)

    def forget(self) -> None:
        """See `Solving`."""
        self._time, self._adopted = math.nan, {}
        for known in self._plans.values():
            known.plan.forget()

    def __getstate__(self) -> dict[str, Any]:
        """A copy has plans of its own, which remember the same."""
        memories = {key: known.plan.memory() for key, known in self._plans.items()}
        current = next((key for key, known in self._plans.items() if known is self._current), None)
        return self.__dict__ | {"_plans": memories, "_current": current}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if kernel is None:
            raise WbcError("a controller that uses the compiled kernel was copied to a process without it")
        self._plans = {}
        for key, memory in state["_plans"].items():
            self._plans[key] = self._lay_out(*key)
            self._plans[key].plan.recall(memory)
        self._current = self._plans.get(state["_current"])


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
