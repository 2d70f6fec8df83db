"""Solves the rows of a tick for x: with the compiled kernel, or with a solver of levels."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from time import perf_counter
from typing import Any, Literal, NamedTuple

import numpy as np

from wbc.arrays import Array
from wbc.compiled import kernel
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.program import Part, Program
from wbc.control.tolerance import force_tolerance
from wbc.errors import WbcError, show
from wbc.solvers import Hierarchy
from wbc.solvers.answer import Answer
from wbc.solvers.base import Solver
from wbc.solvers.hierarchical.engine import LONG
from wbc.solvers.level import Motion
from wbc.tasking.layout import Layout

FIXED = 1e-9
"""A row with less than this share left is fixed by physics."""

GRADE = 1e-9
"""A bound may be broken by this share of what its row can be."""

TURNS = 1e-9
"""A smaller share of a row is nothing."""

LEAST = 1e-5
"""A solver is given as much time as this at least, s: it then keeps what must be kept."""

OPTIMAL, STOPPED, UNSOUND = 0, 2, 3
"""Status numbers of the kernel; 1 is relaxed."""

Status = Literal["optimal", "relaxed", "failed"]


class Outcome(NamedTuple):
    """The outcome of a solve.

    Attributes:
        x: the solution, each entry in its unit, shape (n,); whatever was reached, where it failed.
        status: "optimal", "relaxed" or "failed".
        iterations: of the solver.
        interrupted: whether the solver was stopped by its bound on steps or time.
        ignored: whether an inequality is violated because the solver looks at none.
        reason: why it failed.
        yielding: the directions that levels are about to lose, and ask less of: level, row of all tasks' rows that has
            most of it, and how much of its size is left.
        guarded: whether it was solved again within what the actuators give.
        steadied: whether it was solved again with a bound on the change of torques.
        traded: whether levels were traded by weights for a while: see `wbc.control.compromise`.
    """

    x: Array
    status: Status
    iterations: int = 0
    interrupted: bool = False
    ignored: bool = False
    reason: Exception | None = None
    yielding: Sequence[tuple[int, int, float]] = ()
    guarded: bool = False
    steadied: bool = False
    traded: bool = False


class UnsoundRowsError(Exception):
    """A number in a task's rows, or in the robot's dynamics, can't be used."""


class Solving(ABC):
    """How a controller solves its ticks, for one layout of x."""

    keeps_physics = False
    """Whether the equation of motion holds to rounding in whatever it gives, where there are no closed loops."""

    @abstractmethod
    def solve(self, equation: MotionEquation, parts: Sequence[Part], seconds: float) -> Outcome:
        """Solves a tick.

        Args:
            equation: physics.
            parts: the rows of the tasks.
            seconds: that it may take; inf: any.

        Raises:
            UnsoundRowsError: a number can't be used.
        """

    def forget(self) -> None:  # noqa: B027  a solver that is handed levels forgets by itself
        """Forgets what it remembers from tick to tick."""


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


class LevelSolving(Solving):
    """By any solver: physics is eliminated, and the solver is handed levels in what it leaves free.

    Args:
        program: the tasks.
        solver: whom to ask.
        levels: how many there are.
        effort: what each actuator gives, shape (na,).
    """

    def __init__(self, program: Program, solver: Solver, levels: int, effort: Array) -> None:
        self._layout, self._solver, self._count = program.layout, solver, levels
        gives = (effort > 0.0) & np.isfinite(effort)
        self._share = np.where(gives, 1.0 / np.where(gives, effort, 1.0), 0.0)

    def solve(self, equation: MotionEquation, parts: Sequence[Part], seconds: float) -> Outcome:
        """See `Solving`."""
        began = perf_counter()
        nv, nf = self._layout.nv, self._layout.nf
        C = equation.basis()
        A = stacked(parts, self._layout)
        torque = A[:, nv + nf :]
        A_y = (
            np.hstack([A[:, :nv] / equation.lengths, equation.scale * A[:, nv : nv + nf]])
            + torque @ equation.K[equation.actuated]
        )
        shift = torque @ equation.h[equation.actuated] + A_y @ C[:, 0]
        norms = np.sqrt((A_y * A_y).sum(axis=1))
        A_z = A_y @ C[:, 1:]
        # rows that physics has fixed are zero, not rounding: a solver judges rank by the rows it sees
        A_z[np.sqrt((A_z * A_z).sum(axis=1)) < FIXED * norms] = 0.0
        hierarchy = hierarchy_of(parts, self._count, A_z)
        hierarchy.lower -= shift
        hierarchy.upper -= shift
        hierarchy.norms = norms
        units = _units(A_y, equation.lengths, norms)
        hierarchy.yields_from, hierarchy.scales = 1, scales_of(parts, hierarchy, units)
        hierarchy.loads = self._share[:, None] * (equation.K[equation.actuated] @ C[:, 1:])
        velocity = np.zeros(len(C))
        velocity[:nv] = equation.lengths * equation.velocity
        joints = C[:nv, 1:] / equation.lengths[:, None]
        hierarchy.motion = Motion(C[:, 1:].T @ velocity, A_y @ velocity, joints)
        answer = ask(self._solver, hierarchy, max(seconds - (perf_counter() - began), LEAST))
        if isinstance(answer, Exception):
            return Outcome(equation.expand(C[:, 0]), "failed", reason=answer)
        y = C[:, 0] + C[:, 1:] @ answer.x
        x = equation.expand(y)
        allowed = GRADE * (1.0 + float(np.linalg.norm(y))) * norms
        value = A @ x - shift  # of x itself: loops whose forces are huge leave rounding in it that z has not
        off = np.maximum(np.abs(answer.residual), np.maximum(hierarchy.lower - value, value - hierarchy.upper))
        beyond = _bounds_beyond(parts, off, allowed, 0.5 * force_tolerance(equation.scale))
        return outcome_of(answer, x, beyond)


def _units(A: Array, lengths: Array, norms: Array) -> Array:
    """In what rows of y are measured: 1 / L where there is nothing in them but what turns, else 1; shape (rows,)."""
    turns = np.flatnonzero(lengths != 1.0)
    if not len(turns):
        return np.ones(len(A))
    parts = np.abs(A) > TURNS * norms[:, None]
    moves = np.delete(parts, turns, axis=1).any(axis=1)
    return np.where(parts.any(axis=1) & ~moves, 1.0 / lengths[turns[0]], 1.0)


def _bounds_beyond(parts: Sequence[Part], off: Array, allowed: Array, tolerance: float) -> bool:
    """Whether a bound that a solver does not see as one is broken: a force or torque by more than a tolerance, N and
    N m; a bound of no width, which is an equation to the solver, by more than what its row is allowed. `off`: by how
    much each row is off its bounds.
    """
    start = 0
    for part in sorted(parts, key=lambda part: part.entry.rank):
        stop = start + len(part.lower)
        if not part.equation:
            residual = off[start:stop]
            load = part.force is not None or part.torque is not None
            if load and residual.max(initial=0.0) > tolerance:
                return True
            if ((residual > allowed[start:stop]) & (part.lower == part.upper)).any():
                return True
        start = stop
    return False


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


def stacked(parts: Sequence[Part], layout: Layout) -> Array:
    """The rows of all parts in x, shape (rows, n).

    Raises:
        UnsoundRowsError: a shape is wrong, or a lower bound is above its upper one: a solver that trusts its rows does
            not see that.
    """
    for part in parts:
        if not part.equation and not (part.lower <= part.upper).all():
            raise UnsoundRowsError(f"a lower bound of {part.entry.name} is above its upper one")
    try:
        return np.vstack([np.zeros((0, layout.n)), *[part.matrix(layout) for part in parts]])
    except (ValueError, IndexError) as error:
        raise UnsoundRowsError(str(error)) from None


def hierarchy_of(parts: Sequence[Part], levels: int, A: Array) -> Hierarchy:
    """The rows of parts as levels for a solver; within a level in the order of the tasks.

    Args:
        parts: of a tick, highest priority first.
        levels: how many there are.
        A: the rows in the solver's unknowns, part after part.
    """
    sizes = [0] * levels
    for part in parts:
        sizes[part.entry.rank] += len(part.lower)
    hierarchy = Hierarchy(sizes, A.shape[1])
    hierarchy.A = np.ascontiguousarray(A)
    if parts:
        hierarchy.lower = np.concatenate([part.lower for part in parts]).astype(float)
        hierarchy.upper = np.concatenate([part.upper for part in parts]).astype(float)
        if any(part.weights is not None or part.weight != 1.0 for part in parts):
            hierarchy.weights = np.concatenate(
                [part.weight * (np.ones(len(part.lower)) if part.weights is None else part.weights) for part in parts]
            )
    return hierarchy


def scales_of(parts: Sequence[Part], hierarchy: Hierarchy, units: Array) -> Array:
    """What is left of a direction is measured by these: the mean size of the rows of each part, each in its own unit.

    Args:
        parts: of a tick.
        hierarchy: their rows, with the weights.
        units: of the rows, shape (rows,).
    """
    norms = hierarchy.scaled_norms()
    assert norms is not None
    scales, start = np.zeros(len(norms)), 0
    for part in parts:
        at = slice(start, start + len(part.lower))
        start = at.stop
        if len(part.lower):
            scales[at] = np.sqrt(np.mean((norms[at] / units[at]) ** 2)) * units[at]
    return scales


def ask(solver: Solver, hierarchy: Hierarchy, seconds: float) -> Answer | Exception:
    """What a solver says to levels; the exception, where a hard state was too much for it."""
    try:
        answer = solver.solve(hierarchy, validate=False, seconds=seconds)
    except WbcError as error:  # of `Hierarchy.check`: some number is none
        raise UnsoundRowsError(str(error)) from error
    except (ArithmeticError, np.linalg.LinAlgError, ValueError) as error:
        return error
    if not isinstance(answer, Answer):
        raise WbcError(f"{type(solver).__name__}.solve gave {show(answer)}, not a wbc.solvers.Answer")
    if answer.status == "failed" or not math.isfinite(float(answer.x.dot(answer.x))):
        reason = answer.reason
        return reason if reason is not None else ArithmeticError(f"{type(solver).__name__} gave no answer")
    return answer


def outcome_of(answer: Answer, x: Array, beyond: bool = False) -> Outcome:
    """What an answer comes to.

    Args:
        answer: of a solver.
        x: what it means.
        beyond: whether it breaks a bound, whatever its status says.
    """
    kept = answer.status == "optimal" and not beyond
    return Outcome(
        x,
        "optimal" if kept else "relaxed",
        answer.iterations,
        answer.status == "iteration-limit",
        answer.status == "violated",
        yielding=tuple(answer.yielding),
    )
