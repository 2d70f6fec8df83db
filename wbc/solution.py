"""What a tick came to: torques, accelerations, forces, and the evidence for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from wbc.arrays import Array
from wbc.certificate import Certificate, certify
from wbc.problem import Variables

if TYPE_CHECKING:
    from wbc.assembly import Part
    from wbc.dynamics.base import Dynamics
    from wbc.solvers.answer import Answer
    from wbc.stack import Stack

Status = Literal["optimal", "relaxed", "failed"]


class Times(NamedTuple):
    """Where the time of a tick went, s.

    Attributes:
        backend: the robot's state, mass matrix, bias and contact Jacobians.
        tasks: the rows of the tasks, with the Jacobians that they ask for.
        solver: elimination and solver.
        total: the whole tick.
    """

    backend: float
    tasks: float
    solver: float
    total: float


class Active(NamedTuple):
    """An inequality at its bound, or beyond it.

    Attributes:
        task: whose it is.
        row: the joint, the axis, or the contact and facet it is about.
        side: the bound that is met.
        level: the priority of the task.
        violation: how far beyond the bound it is, in the row's unit; 0 where it holds.
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
        residual: by task, A x − b, or what is beyond the bounds, in the rows' units.
        cost: root of the sum of the weighted squared residuals.
    """

    residual: Mapping[str, Array]
    cost: float


class Solution:
    """The answer of a tick.

    Torques, accelerations, forces and status are there at once; `levels`, `active`, `certificate` and `explain()` are
    computed when they are asked for.

    Attributes:
        q: the configuration it is for, shape (nq,).
        v: the velocity it is for, shape (nv,).
        status: "optimal": all inequalities hold and every level is as well met as the ones above allow; "relaxed": some
            inequality could not hold (`violated` says which), or the solver was stopped (`interrupted`); "failed":
            the solver gave nothing, and the torque is a fallback: gravity compensation and damping, within limits.
        iterations: inner steps, QPs or levels that the solver took.
        interrupted: whether the solver stopped at its bound on iterations or time.
        late: whether the tick took longer than its deadline.
        time: where the time went.
    """

    def __init__(
        self,
        *,
        robot: Dynamics,
        variables: Variables,
        parts: list[Part],
        x: Array,
        answer: Answer | None,
        stack: Stack,
    ) -> None:
        self._robot, self._variables, self._parts, self._answer, self._stack = robot, variables, parts, answer, stack
        self._x, self._ceilings = x, variables.ceilings
        x.flags.writeable = False
        self.q, self.v = robot.q, robot.v
        self.iterations = 0 if answer is None else answer.iterations
        self.interrupted = answer is not None and answer.status == "iteration-limit"
        self.status: Status
        if answer is None:
            self.status = "failed"
        elif answer.status in ("relaxed", "violated", "iteration-limit"):
            self.status = "relaxed"
        else:
            self.status = "optimal"
        self.late = False
        self.time = Times(0.0, 0.0, 0.0, 0.0)

    @property
    def acceleration(self) -> Array:
        """v̇ that the torques are expected to bring about, shape (nv,)."""
        return self._x[self._variables.acceleration]

    @property
    def torque(self) -> Array:
        """τ of the actuators, N m or N, shape (na,)."""
        return self._x[self._variables.torque]

    @cached_property
    def forces(self) -> dict[str, Array]:
        """The force, shape (3,), or wrench at the frame's origin, shape (6,), expected at each contact, N and N m.

        It acts on the robot and is in world axes. Open contacts have zeros.
        """
        found = {}
        twin = (
            self._state() if any(contact.size != contact.rows for contact in self._variables.contacts) else self._robot
        )
        for contact in self._stack.contacts:
            where = self._variables.force_of(contact.name)
            if where is None:
                found[contact.name] = np.zeros(contact.rows)
            else:
                found[contact.name] = contact.wrench(twin, self._x[self._variables.force][where]).copy()
        return found

    @cached_property
    def normal_forces(self) -> dict[str, float]:
        """The normal force expected at each closed contact, N."""
        f = self._x[self._variables.force]
        found = {}
        for contact in self._variables.contacts:
            where = self._variables.force_of(contact.name)
            found[contact.name] = float(contact.normals(self._robot).dot(f[where]))
        return found

    def _state(self) -> Dynamics:
        """A robot in the state that this is about; the controller's own has moved on."""
        twin = self._robot.copy()
        twin.update(self.q, self.v)
        return twin

    @cached_property
    def _table(self) -> list[tuple[Part, Array, Array]]:
        """Each task's part, its A x, and its residual."""
        variables, x = self._variables, self._x
        blocks = x[variables.acceleration], x[variables.force], x[variables.torque]
        found = []
        for part in self._parts:
            value = np.zeros(len(part.lower))
            for block, values in zip((part.rows.acceleration, part.rows.force, part.rows.torque), blocks, strict=True):
                if block is not None:
                    value += values[block] if block.ndim == 1 else block @ values
            found.append((part, value, value - np.clip(value, part.lower, part.upper)))
        return found

    @cached_property
    def levels(self) -> tuple[LevelReport, ...]:
        """How well each level was met, by task, highest priority first."""
        reports = []
        for level, tasks in enumerate(self._stack.levels):
            residuals: dict[str, Array] = {task.name: self._physics() for task in tasks if task.physics}
            cost = 0.0
            for part, _, residual in self._table:
                if part.level == level:
                    residuals[part.task.name] = residual
                    weights = 1.0 if part.rows.weights is None else part.rows.weights
                    cost += part.task.weight * float(np.sum(weights * residual**2))
            reports.append(LevelReport(residuals, cost**0.5))
        return tuple(reports)

    def _physics(self) -> Array:
        """M v̇ + h − Sᵀ τ − Jᵀ f, shape (nv,)."""
        twin, variables, x = self._state(), self._variables, self._x
        residual = twin.mass_matrix @ self.acceleration + twin.bias
        residual[twin.actuated] -= self.torque
        if variables.nf:
            residual -= variables.contact_jacobian(twin).T @ x[variables.force]
        return residual

    @cached_property
    def active(self) -> tuple[Active, ...]:
        """The inequalities at or beyond their bounds, highest priority first."""
        found = []
        twin: Dynamics | None = None
        for part, value, residual in self._table:
            if part.equation:
                continue
            size = 1.0 + np.abs(value)
            low = (value <= part.lower + 1e-7 * size) & (part.lower < part.upper)
            high = (value >= part.upper - 1e-7 * size) & (part.lower < part.upper)
            for row in np.flatnonzero(low | high):
                twin = twin or self._state()
                names = part.task.row_names(twin, self._variables)
                beyond = float(abs(residual[row]))
                side: Literal["lower", "upper"] = "lower" if low[row] else "upper"
                violation = beyond if beyond > 1e-6 * size[row] else 0.0
                found.append(Active(part.task.name, names[row], side, part.level, violation))
        return tuple(found)

    @property
    def violated(self) -> tuple[Active, ...]:
        """The inequalities that do not hold, highest priority first."""
        return tuple(active for active in self.active if active.violation)

    @cached_property
    def certificate(self) -> Certificate:
        """Whether the answer is what it claims: physics, cones and limits, checked from the state anew."""
        sides = next((part.task.sides for part in self._parts if hasattr(part.task, "sides")), 4)
        return certify(self._state(), self._variables, self._x, self._physics(), sides, self._ceilings)

    def explain(self) -> str:
        """What came of each level, and who holds whom back, as text for a person."""
        from wbc.explanation import Blame, Outcome, explain  # few ticks are explained

        if self.status == "failed":
            return "failed: the torque is gravity compensation with damping, within the limits"
        head = "optimal: every inequality holds, every task is met as well as the ones above it allow"
        if self.status == "relaxed":
            head = "relaxed: not every inequality could hold"
        if self.interrupted:
            head = "relaxed: the solver was stopped at its bound on iterations or time; this is its best point so far"
        twin, variables = self._state(), self._variables
        outcomes = [
            Outcome(part, value, residual, part.task.row_names(twin, variables))
            for part, value, residual in self._table
        ]
        ignored = self._answer is not None and self._answer.status == "violated"
        return explain(
            head,
            [[task.name for task in tasks if task.physics] for tasks in self._stack.levels],
            outcomes,
            [f"{it.task}, {it.row}, by {it.violation:.3g} at its {it.side} bound" for it in self.violated],
            Blame(twin, variables, outcomes, ignored),
        )

    def __repr__(self) -> str:
        return f"<Solution {self.status}, torque {np.array2string(self.torque, precision=1, threshold=8)}>"
