"""The result of a tick, for torques or velocities: how well each task was met, and which inequalities were active."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import get_ident
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from wbc.arrays import Array
from wbc.control.equation_of_motion import EquationOfMotion
from wbc.control.solving import Outcome, Status
from wbc.control.tolerance import SHARE, force_tolerance, load_unit
from wbc.control.twins import twin_of
from wbc.copies import Independent
from wbc.tasking.tick import Tick

if TYPE_CHECKING:
    from wbc.control.program import Part
    from wbc.control.stack import Stack
    from wbc.dynamics.base import Dynamics


class Times(NamedTuple):
    """The time that the parts of a tick took, s.

    Attributes:
        backend: the robot's state, mass matrix, bias and contact Jacobians, s.
        tasks: the rows of the tasks, with their Jacobians, s.
        solver: elimination and solver, s.
        total: the whole tick, s.
    """

    backend: float
    tasks: float
    solver: float
    total: float


class Active(NamedTuple):
    """An inequality at its bound, or beyond it.

    Attributes:
        task: the task that it belongs to.
        row: name of the row: a joint, an axis, or a contact.
        side: "lower" or "upper": the bound that is reached.
        level: the priority of the task.
        violation: amount beyond the bound, in the row's unit; 0 if it holds.
    """

    task: str
    row: str
    side: Literal["lower", "upper"]
    level: int
    violation: float

    def __str__(self) -> str:
        beyond = f", beyond it by {self.violation:.3g}" if self.violation else ""
        return f"{self.task}: {self.row} at its {self.side} bound{beyond}"


@dataclass(frozen=True, eq=False)
class LevelReport:
    """How well the tasks of one priority were met.

    Attributes:
        residual: by task: A x − b (achieved minus wanted, the opposite sign of `Task.error`), or the amount beyond the
            bound for inequalities; in the rows' units, shape (rows,) each.
        cost: square root of the sum of the weighted squared residuals, in the rows' units.
    """

    residual: Mapping[str, Array]
    cost: float


class Evidence(Independent, ABC):
    """The answer of a tick, and everything known about it: the base class of solutions for torques and for velocities.

    x and status are stored; `levels`, `active` and `explain()` are computed on first use.

    Attributes:
        q: the configuration, shape (nq,).
        v: the velocity, shape (nv,).
        status: "optimal": all inequalities hold, and every level is met as well as the higher levels allow; "relaxed":
            some inequality does not hold (see `violated`), or the solver was stopped (see `interrupted`); "failed": the
            solver returned nothing, and x is a fallback.
        reason: the exception of a tick that failed; None otherwise.
        iterations: inner steps, QPs or levels that the solver took.
        interrupted: whether the solver stopped at its bound on iterations or time.
        late: whether the tick took longer than its deadline.
        time: the time that each part of the tick took, s.
    """

    _failure = "failed"
    """The first line of `explain()` for a failed tick."""

    def __init__(
        self, robot: Dynamics, tick: Tick, parts: Sequence[Part], outcome: Outcome, x: Array, stack: Stack
    ) -> None:
        self._robot, self._tick, self._parts, self._stack = robot, tick, parts, stack
        self._stamp, self._thread = robot.updates, get_ident()
        x.setflags(write=False)  # not writeable; in half the time of the flag by its name
        self._x, self._ignored = x, outcome.ignored
        self.q, self.v = robot.q, robot.v
        self.status: Status = outcome.status
        self.iterations, self.interrupted, self.reason = outcome.iterations, outcome.interrupted, outcome.reason
        self._pulls, self._clipped = outcome.pulls, outcome.clipped
        self.late = False
        self.time: Times  # told by the controller, when the tick is over

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._x.setflags(write=False)  # a copied array may be written to
        self.q.setflags(write=False)
        self.v.setflags(write=False)
        self._thread = get_ident()

    def _state(self) -> Dynamics:
        """A robot in the state of this solution. It is the controller's own robot while that is in the same state, but
        only in the thread that steps the controller: for another thread its state may change at any moment.
        """
        if self._thread == get_ident() and self._robot.updates == self._stamp:
            return self._robot
        return twin_of(self, self._robot, self.q, self.v)

    @cached_property
    def _table(self) -> list[tuple[Part, Array, Array]]:
        """Each task's part, its A x, and its residual."""
        found = []
        for part in self._parts:
            value = part.value(self._x, self._tick.layout)
            nearest = part.lower if part.equation else np.minimum(np.maximum(value, part.lower), part.upper)
            found.append((part, value, value - nearest))
        return found

    def _names(self, part: Part) -> list[str]:
        """The name of each row of a task."""
        return part.entry.task.row_names(self._state(), self._tick)

    @cached_property
    def levels(self) -> tuple[LevelReport, ...]:
        """How well each level was met, by task, highest priority first."""
        reports = []
        for level, tasks in enumerate(self._stack.levels):
            residuals: dict[str, Array] = {
                task.name: self._physics() for task in tasks if isinstance(task, EquationOfMotion)
            }
            cost = 0.0
            for part, _, residual in self._table:
                if part.entry.level == level:
                    residuals[part.entry.name] = residual
                    squares = residual**2 if part.weights is None else part.weights * residual**2
                    cost += part.weight * float(squares.sum())
            reports.append(LevelReport(residuals, cost**0.5))
        return tuple(reports)

    @abstractmethod
    def _physics(self) -> Array:
        """The residual of the equation of motion."""

    @abstractmethod
    def _free(self, robot: Dynamics) -> Array:
        """T, with x = x₀ + T z for all x that physics allows, shape (n, free)."""

    @cached_property
    def active(self) -> tuple[Active, ...]:
        """The inequalities at or beyond their bounds, highest priority first."""
        found = []
        for part, value, residual in self._table:
            if part.equation:
                continue
            size = load_unit(self._robot, part.acceleration, part.torque) + np.abs(value)
            allowed = np.maximum(self._rounding(part, size), part.entry.slack)
            violations = np.where(np.abs(residual) > allowed, np.abs(residual), 0.0)
            tells = (part.lower < part.upper) | (violations > 0.0)  # one without room is always at its bound
            low, high = value <= part.lower + 1e-7 * size, value >= part.upper - 1e-7 * size
            for row in np.flatnonzero((low | high) & tells):
                names = self._names(part)
                side: Literal["lower", "upper"] = "lower" if low[row] else "upper"
                violation = float(violations[row])
                found.append(Active(part.entry.name, names[row], side, part.entry.level, violation))
        return tuple(found)

    def _rounding(self, part: Part, size: Array) -> Array:
        """By how much the rows of bounds may be broken, shape (rows,): as solvers judge, by the largest unknown.

        An arm that leans on something while it is straight has forces of 1e11 N.
        """
        mass, tick = max(self._robot.mass, 1e-9), self._tick
        largest = float(np.abs(self._x[tick.force]).max(initial=0.0))
        if part.force is not None or part.torque is not None:
            return np.maximum(1e-6 * size, max(force_tolerance(mass), 1e-15 * largest))
        block = part.acceleration
        norm = 1.0 if block is None or block.ndim == 1 else np.sqrt((block * block).sum(axis=1))
        fastest = max(float(np.abs(self._x[tick.acceleration]).max(initial=0.0)), largest / mass)
        found: Array = np.maximum(1e-6 * size, SHARE * norm * fastest)
        return found

    @cached_property
    def yielding(self) -> tuple[tuple[str, str, float], ...]:
        """The tasks whose pull is at its bound: task, worst row, and the residual of that row, in its unit."""
        found = []
        for part, _, residual in self._table:
            rank = part.entry.rank
            if rank < len(self._pulls) and self._pulls[rank] > 1.0 and residual.any():
                worst = int(np.abs(residual).argmax())
                found.append((part.entry.name, self._names(part)[worst], float(residual[worst])))
        return tuple(found)

    def _remarks(self) -> str:
        """Further lines about the tick as a whole."""
        return ""

    @property
    def violated(self) -> tuple[Active, ...]:
        """The inequalities that do not hold, highest priority first."""
        return tuple(active for active in self.active if active.violation)

    def explain(self) -> str:
        """The result of each level and the reason for each missed task, as text."""
        from wbc.control.explanation import Blame, Result, explain, told_once, unit_of_load  # few ticks are explained

        if self.status == "failed":
            return self._failure if self.reason is None else f"{self._failure}; the solver: {self.reason}"
        head = "optimal: every inequality holds; tasks marked 'missed' gave way to higher levels"
        if self.status == "relaxed":
            head = "relaxed: at least one inequality could not hold"
            if self._ignored:
                why = "and at least one does not hold" if self.violated else "and asked for too much torque"
                head = f"relaxed: this solver ignores inequalities, {why}"
        if self.interrupted:
            head = "relaxed: the solver reached its limit on steps or time; this is its best point"
        if self._clipped:
            head += "\ntorques were clipped to what the actuators give: the robot moves otherwise than its tasks ask"
        head += self._remarks()
        for part in self._parts:
            for remark in part.entry.task.remarks(self._state(), self._tick):
                head += f"\n{part.entry.name}: {remark}"
        asked = {part.entry.name: part.entry.task for part in self._parts}

        def unit(task: str, row: str) -> str:
            return unit_of_load(asked[task], row, self._robot.model.joints)

        outcomes = []
        for part, value, residual in self._table:
            names = self._names(part)
            outcomes.append(Result(part, value, residual, names, [unit(part.entry.name, row) for row in names]))
        for task, row, missed in self.yielding:
            head += f"\n{task} yields: it pulls as hard as it may, and misses {row} by {abs(missed):.3g}"
        return explain(
            head,
            [
                [self._stack.name_of(task) for task in tasks if isinstance(task, EquationOfMotion)]
                for tasks in self._stack.levels
            ],
            outcomes,
            told_once(self.violated, unit),
            Blame(
                self._free(self._state()), self._tick.layout, outcomes, self._ignored, self.interrupted, self._clipped
            ),
        )
