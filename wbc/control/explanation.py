"""Explains the result of a tick in words, and why tasks are missed.

A missed task pulls with the gradient of its cost, Aᵀ W r. If the solution is optimal, the rows above it balance that
pull: equations with any multipliers, active inequalities with multipliers of one sign. The multipliers are found from
the rows themselves, whatever the solver was, by a least-squares fit in the directions that physics leaves free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from wbc.arrays import Array
from wbc.singular_values import least_squares, svd

if TYPE_CHECKING:
    from wbc.control.evidence import Active
    from wbc.control.program import Part
    from wbc.model.parts import Joint
    from wbc.tasking.layout import Layout
    from wbc.tasking.task import Task

MET = 1e-5
"""A task whose largest residual is below this is met, in the units of its rows."""

SHOWN = 4
"""Number of names that are listed; the rest are counted."""

SHARE = 1e-2
"""Rows that balance less than this share of a pull are not named; a pull with less than this share left is
explained."""

Name = TypeVar("Name", str, tuple[str, str])


class Result(NamedTuple):
    """The result of a task's rows.

    Attributes:
        part: the task's rows.
        value: A x, in the rows' units, shape (rows,).
        residual: A x − b, or what is beyond the bounds, in the rows' units, shape (rows,).
        names: of the rows.
        units: of the residual, where they are known: one of each row, or none.
    """

    part: Part
    value: Array
    residual: Array
    names: Sequence[str]
    units: Sequence[str] = ()

    @property
    def met(self) -> bool:
        """Whether all rows hold."""
        if self.part.equation or not self.part.entry.slack:
            return not float(np.abs(self.residual).max(initial=0.0)) > MET
        allowed = np.where(self.part.lower == self.part.upper, MET, self.part.entry.slack)
        return bool((np.abs(self.residual) <= allowed).all())

    @property
    def bounds_alone(self) -> bool:
        """Whether no row that is missed is an equation."""
        missed = np.abs(self.residual) > MET
        return bool((self.part.lower < self.part.upper)[missed].all())

    def __str__(self) -> str:
        if self.met:
            return "met" if self.part.equation else "holds"
        size = np.abs(self.residual)
        worst = dict[str, str]()  # of rows of one name, as the facets of a cone, the worst
        for row in np.argsort(-size, kind="stable").tolist():
            if size[row] > max(MET, 0.05 * size.max()):
                unit = self.units[row] if self.units else ""
                worst.setdefault(self.names[row], f"{self.names[row]} by {self.residual[row]:+.3g} {unit}".rstrip())
        return f"missed: {_listed(list(worst.values()))}"


class Blame:
    """Finds what holds a missed task back.

    Args:
        free: T, with x = x₀ + T z for all x that physics allows, shape (n, free).
        tick: the layout of x.
        outcomes: of all tasks but physics.
        ignores_inequalities: whether the solver did, so that none of the stack holds anything.
        stopped: whether the solver reached its limit on steps or time.
        clipped: whether torques were clipped to the actuators' limits after the solve.
    """

    def __init__(
        self,
        free: Array,
        layout: Layout,
        outcomes: Sequence[Result],
        ignores_inequalities: bool,
        stopped: bool = False,
        clipped: bool = False,
    ) -> None:
        self._outcomes, self._ignores = outcomes, ignores_inequalities
        self._stopped, self._clipped = stopped, clipped
        self._rows = [outcome.part.matrix(layout) @ free for outcome in outcomes]

    def of(self, mine: Result) -> str:
        """Names what holds a task back: inequalities before tasks, the strongest first.

        Args:
            mine: one of the outcomes, not met.
        """
        if self._ignored(mine) and mine.bounds_alone:
            return "nothing: this solver ignores inequalities"
        if self._clipped:
            return "the actuators: torques were clipped to their limits"
        at = next(index for index, outcome in enumerate(self._outcomes) if outcome is mine)
        pull = self._pull(at)
        size = float(np.linalg.norm(pull))
        if not self._weights(at).any():
            return "nothing: its weight is 0"
        gross = np.linalg.norm(self._rows[at], axis=1) @ np.abs(self._weighted(at))
        if not size > 1e-6 * gross:
            return "its own rows, which contradict each other" if gross > 0.0 else "physics: no force can change it"
        limits, tasks, left = self._above(mine.part.entry.level, pull)
        beside = []
        if left > SHARE * size:
            for index, other in enumerate(self._outcomes):
                if other.part.entry.level == mine.part.entry.level and other is not mine and not other.met:
                    beside.append((float(np.linalg.norm(self._pull(index))), other.part.entry.name))
        least, rows_of = SHARE * size, dict[str, list[str]]()
        for task, row in _strongest(limits, least):
            rows_of.setdefault(task, []).append(row)
        names = [f"{task} ({_listed(rows)})" for task, rows in rows_of.items()]
        names += _strongest(tasks, least) + _strongest(beside, least)
        if names:
            return ", ".join(names)
        if self._stopped:
            return "nothing: the solver was stopped before it was met"
        return "lower levels, which this solver trades against it"

    def _ignored(self, outcome: Result) -> bool:
        """Whether the bounds of a task did nothing: all but those of the guard, which stand above the stack."""
        return self._ignores and outcome.part.entry.level >= 0

    def _weights(self, index: int) -> Array:
        part = self._outcomes[index].part
        weights = np.ones(len(part.lower)) if part.weights is None else part.weights
        weighted: Array = part.weight * weights
        return weighted

    def _weighted(self, index: int) -> Array:
        return self._weights(index) * self._outcomes[index].residual

    def _pull(self, index: int) -> Array:
        """−Aᵀ W r in z: the direction in which the task pulls."""
        pull: Array = -self._rows[index].T @ self._weighted(index)
        return pull

    def _above(
        self, level: int, pull: Array
    ) -> tuple[list[tuple[float, tuple[str, str]]], list[tuple[float, str]], float]:
        """Limits (task and row) and tasks of higher priority that hold against a pull, and how much; and what is left
        of it.
        """
        equations: list[tuple[str, Array]] = []
        limits: list[tuple[tuple[str, str], Array]] = []  # rows as they may not grow
        for outcome, rows in zip(self._outcomes, self._rows, strict=True):
            part = outcome.part
            if part.entry.level >= level:
                continue
            name = part.entry.name
            equal = part.lower == part.upper
            if equal.any():
                equations.append((name, rows[equal]))
            if self._ignored(outcome):
                continue
            room = 1e-6 * (1.0 + np.abs(outcome.value))
            for row in np.flatnonzero(~equal).tolist():
                if outcome.value[row] >= part.upper[row] - room[row]:
                    limits.append(((name, outcome.names[row]), rows[row]))
                elif outcome.value[row] <= part.lower[row] + room[row]:
                    limits.append(((name, outcome.names[row]), -rows[row]))
        E = np.vstack([rows for _, rows in equations]).T if equations else np.zeros((len(pull), 0))
        basis, singular, _ = svd(E)
        basis = basis[:, singular > 1e-9 * singular.max(initial=0.0)]
        rest, held = pull - basis @ (basis.T @ pull), []
        if limits and np.linalg.norm(rest) > SHARE * np.linalg.norm(pull):
            from scipy.optimize import nnls  # heavy to import, and explanations are rare

            C = np.column_stack([row for _, row in limits])
            across = C - basis @ (basis.T @ C)
            shares, _ = nnls(across, rest, maxiter=100 * len(limits))
            rest = rest - across @ shares
            held = [(float(np.linalg.norm(c) * s), name) for (name, _), c, s in zip(limits, C.T, shares, strict=True)]
            pull = pull - C @ shares
        shares = least_squares(E, pull, 1e-9)
        above, start = [], 0
        for name, rows in equations:
            stop = start + len(rows)
            above.append((float(np.linalg.norm(rows.T @ shares[start:stop])), name))
            start = stop
        return held, above, float(np.linalg.norm(rest))


def explain(
    head: str,
    levels: Iterable[Iterable[str]],
    outcomes: Sequence[Result],
    violated: Iterable[str],
    blame: Blame,
) -> str:
    """The text of `explain()`: each level's tasks, how well each was met, and what holds it back.

    Args:
        head: what came of the tick as a whole.
        levels: the names of the tasks of each level that are physics.
        outcomes: of the others.
        violated: the inequalities that do not hold.
        blame: of these outcomes.
    """
    lines = [head]
    for level, physics in enumerate(levels):
        lines += [f"{level}  {name}: holds" for name in physics]
        for outcome in outcomes:
            if outcome.part.entry.level == level:
                lines.append(f"{level}  {outcome.part.entry.name}: {outcome}")
                if not outcome.met:
                    lines.append(f"     held back by {blame.of(outcome)}")
    return "\n".join([*lines, *(f"does not hold: {text}" for text in violated)])


def unit_of_load(task: Task, row: str, joints: Mapping[str, Joint]) -> str:
    """The unit of a row of a task that bounds forces or torques; empty for other tasks.

    Args:
        task: of a stack.
        row: its name.
        joints: of the robot, by name.
    """
    if task.bounds_contacts or not task.bounds_torques:
        return "N" if task.bounds_contacts else ""
    return "N" if row in joints and joints[row].kind == "prismatic" else "N m"


def told_once(violated: Iterable[Active], unit: Callable[[str, str], str]) -> list[str]:
    """Inequalities that do not hold, in words: of rows of one name, as the facets of a cone, the worst.

    Args:
        violated: of a solution.
        unit: of a task's row, by their names.
    """
    worst = dict[tuple[str, str, str], float]()
    for it in violated:
        key = it.task, it.row, it.side
        worst[key] = max(worst.get(key, 0.0), it.violation)
    return [
        f"{task}, {row}, by {most:.3g} {unit(task, row)}".rstrip() + f" at its {side} bound"
        for (task, row, side), most in worst.items()
    ]


def _strongest(found: list[tuple[float, Name]], least: float) -> list[Name]:
    """Names by falling strength, each once with all its strength."""
    total: dict[Name, float] = {}
    for strength, name in found:
        total[name] = total.get(name, 0.0) + strength
    return [name for name in sorted(total, key=lambda name: -total[name]) if total[name] > least]


def _listed(names: list[str]) -> str:
    rest = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + rest
