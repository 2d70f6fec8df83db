"""Says in words what came of a tick."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from wbc.assembly import Part
    from wbc.solution import Solution

MET = 1e-5
"""A task whose largest residual is below this is met, in the units of its rows."""

SHOWN = 4
"""Names that are listed before the rest are only counted."""


def explain(solution: Solution) -> str:
    """Text for a person: each level's tasks, how well each was met, and who holds whom back."""
    head = {
        "optimal": "optimal: every inequality holds, every task is met as well as the ones above it allow",
        "relaxed": "relaxed: not every inequality could hold",
        "failed": "failed: the torque is gravity compensation with damping, within the limits",
    }[solution.status]
    if solution.interrupted:
        head = "relaxed: the solver was stopped at its bound on iterations or time; this is its best point so far"
    lines = [head]
    if solution.status == "failed":
        return head
    twin = solution._state()
    for level, tasks in enumerate(solution._stack.levels):
        lines += [f"{level}  {task.name}: holds" for task in tasks if task.physics]
        for part, _, residual in solution._table:
            if part.level == level:
                names = part.task.row_names(twin, solution._variables)
                lines.append(f"{level}  {part.task.name}: {_met(part, residual, names)}")
                if np.abs(residual).max(initial=0.0) > MET:
                    lines += [f"     held back by {blocker}" for blocker in _blockers(solution, part, residual, twin)]
    for active in solution.violated:
        lines.append(
            f"could not hold: {active.task}, {active.row}, by {active.violation:.3g} at its {active.side} bound"
        )
    return "\n".join(lines)


def _met(part: Part, residual: np.ndarray, names: list[str]) -> str:
    worst = float(np.abs(residual).max(initial=0.0))
    if worst <= MET:
        return "met" if part.equation else "holds"
    order = np.argsort(-np.abs(residual))
    missed = [f"{names[row]} by {residual[row]:+.3g}" for row in order if abs(residual[row]) > max(MET, 0.05 * worst)]
    return f"missed: {_listed(missed)}"


def _blockers(solution: Solution, part: Part, residual: np.ndarray, twin: object) -> list[str]:
    """The inequalities whose multipliers carry the residual of a task, and else the tasks above it."""
    answer = solution._answer
    found: list[tuple[float, str]] = []
    multipliers = None if answer is None else answer.multipliers.get(part.level - solution._top)
    if multipliers is not None:
        for other in solution._parts:
            if other.equation or other.eliminated or other.level > part.level:
                continue
            pull = np.abs(multipliers[other.where])
            for row in np.flatnonzero(pull > 1e-3 * max(float(np.abs(residual).max()), MET)):
                name = other.task.row_names(twin, solution._variables)[row]  # type: ignore[arg-type]
                found.append((float(pull[row]), f"{other.task.name} ({name})"))
    if not found:
        above = [other.task.name for other in solution._parts if other.level < part.level and other.equation]
        beside = [other.task.name for other in solution._parts if other.level == part.level and other is not part]
        return [_listed(beside + above)] if above or beside else ["itself: its rows contradict each other"]
    return [_listed([name for _, name in sorted(found, reverse=True)])]


def _listed(names: list[str]) -> str:
    rest = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + rest
