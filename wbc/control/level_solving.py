"""Solves a tick with any solver of levels: physics is eliminated here, the solver is handed what it leaves free."""

from __future__ import annotations

import math
from collections.abc import Sequence
from time import perf_counter

import numpy as np

from wbc.arrays import Array
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.program import Part, Program
from wbc.control.pulls import Pulls, posture_rank
from wbc.control.solving import LEAST, Outcome, Solving, UnsoundRowsError
from wbc.control.tolerance import force_tolerance
from wbc.errors import WbcError, show
from wbc.solvers import Hierarchy
from wbc.solvers.answer import Answer
from wbc.solvers.base import Solver
from wbc.solvers.level import Elasticity
from wbc.tasking.layout import Layout
from wbc.tasking.tick import Tick

FIXED = 1e-9
"""A row with less than this share left is fixed by physics."""

GRADE = 1e-9
"""A bound may be broken by this share of what its row can be."""


class LevelSolving(Solving):
    """By any solver: physics is eliminated, and the solver is handed levels in what it leaves free.

    Args:
        program: the tasks.
        solver: which gets the levels.
        pulls: bounds how hard levels pull.
    """

    def __init__(self, program: Program, solver: Solver, pulls: Pulls) -> None:
        self._program, self._layout, self._solver, self._pulls = program, program.layout, solver, pulls
        self._count, self._exact = program.levels, program.exact

    def solve(self, equation: MotionEquation, parts: Sequence[Part], tick: Tick, seconds: float) -> Outcome:
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
        hierarchy.exact = self._exact
        posture = posture_rank(parts, self._count)
        pull = self._pulls.bound(self._program.tasks_at(posture), tick.period)
        rows = tuple((part.entry.name, len(part.lower)) for part in parts)
        hierarchy.elasticity = Elasticity(posture, pull, tick.time, rows)
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
            if load and residual.max(initial=0.0) > max(tolerance, part.entry.slack):
                return True
            if ((residual > allowed[start:stop]) & (part.lower == part.upper)).any():
                return True
        start = stop
    return False


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
        pulls=() if answer.pulls is None else tuple(answer.pulls.tolist()),
    )
