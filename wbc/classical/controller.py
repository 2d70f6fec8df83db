"""The base class of classical controllers: a law for torques, with the interface of `wbc.Controller`."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from time import perf_counter

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.classical.task_space import TaskSpace
from wbc.contacts import Contact, as_contacts
from wbc.control.certificate import contact_margins
from wbc.control.checks import check_tasks, usable_solver
from wbc.control.evidence import Times
from wbc.control.fallback import command
from wbc.control.period import Periodic
from wbc.control.program import Program
from wbc.control.solution import Solution
from wbc.control.solving import Outcome
from wbc.control.stack import Stack
from wbc.control.ticker import Ticker
from wbc.control.tolerance import force_tolerance, torque_tolerance
from wbc.control.watch import measured_forces
from wbc.copies import Independent
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, WbcWarning, show
from wbc.solvers import Solver
from wbc.tasking.layout import Layout
from wbc.tasking.tick import Tick
from wbc.threads import Turn, busy, taking


class ClassicalSolution(Solution):
    """The result of a classical law.

    Accelerations and contact forces are those that its torques are expected to bring about while closed contacts stay
    where they are (ETH 3.62, 3.64). `status` is "optimal" if torques and forces are possible, "relaxed" if a torque
    exceeds its limit or a force is outside its cone (a law ignores inequalities: the robot will do something else), and
    "failed" if the law returned no finite numbers. `levels`, `active` and `violated` are about the tasks of the
    stack that judges it, if there is one.
    """

    def explain(self) -> str:
        """The result as text."""
        if self.status == "failed":
            return "failed: the torque is gravity compensation with damping, within the limits"
        found, lines = self.certificate, []
        if found.torque_margin < -found.torque_tolerance:
            lines.append(f"{found.worst_joint}: the commanded torque exceeds its limit by {-found.torque_margin:.3g}")
        if found.cone_margin < -found.cone_tolerance:
            lines.append(f"{found.worst_contact} would need a force {-found.cone_margin:.3g} N outside its cone")
        head = "relaxed: " + "; ".join(lines) if lines else "optimal: torques and contact forces are possible"
        table = [
            f"{level}  {task}: off by {float(np.abs(residual).max(initial=0.0)):.3g} at most"
            for level, report in enumerate(self.levels)
            for task, residual in report.residual.items()
        ]
        return "\n".join([head + self._remarks(), *table])


class ClassicalController(Independent, Periodic, ABC):
    """A controller whose torques come from a law, a formula, and not from a stack of tasks.

    It has the interface of `wbc.Controller`, so it runs wherever one does. Your own is a class with a method `law`.

    Args:
        robot: of `wbc.load`; the controller works on a copy of it.
        contacts: that the robot stands on; closed.
        judged_by: a stack whose tasks judge the result of the law, and whose contacts are used; it does not change the
            torques. It may be the stack of another controller. None: no tasks.
        solver: of the least-squares problems inside the law, where it has any; as for `wbc.Controller`.
        period: between ticks, s; None: as for `wbc.Controller`.

    Attributes:
        robot: its own copy, in the state of the last tick.
        chooses_period: whether no period was given, so that `wbc.run` may choose one.
        stack: what judges it: no tasks, where none was given.
    """

    def __init__(
        self,
        robot: Dynamics,
        contacts: Contact | Iterable[Contact] = (),
        *,
        judged_by: Stack | None = None,
        solver: str | Solver = "nullspace",
        period: float | None = None,
    ) -> None:
        given = as_contacts(contacts)
        if judged_by is not None and given:
            raise WbcError("give contacts= or judged_by=, not both: the stack in judged_by has its own contacts")
        if not isinstance(robot, Dynamics):
            raise WbcError(f"a controller needs a robot of wbc.load, not {show(robot)}")
        if robot.model.loops:
            raise WbcError(
                f"{robot.model.name!r} has closed loops ({robot.model.loops[0].name!r}, ...), for which the formulas "
                "of wbc.classical do not hold; a wbc.Controller keeps them closed"
            )
        if robot.model.actuators:
            raise WbcError(
                f"{robot.model.name!r} has actuators that are not joint motors, which the formulas of "
                "wbc.classical assume; a wbc.Controller handles any actuator"
            )
        self.robot = robot.copy()
        self.stack: Stack = _NoTasks([], given) if judged_by is None else judged_by
        self._set_up(period, friction=True)
        self.solver = usable_solver(solver)
        check_tasks(self.robot, self.stack)
        self._ticker, self._turn = Ticker(self.robot, self.stack), Turn()
        self._programs: dict[Layout, Program] = {}
        if self.carried_by_contacts and self.robot.model.floating and not self.stack.contacts:
            name = self.robot.model.name
            warnings.warn(
                f"{name!r} has a floating base and no contacts: pass contacts=[...]", WbcWarning, stacklevel=3
            )

    carried_by_contacts = False
    """Whether the law counts on contacts to carry a floating base."""

    @abstractmethod
    def law(self, robot: Dynamics, tick: Tick) -> Array:
        """The torques of the actuators in the robot's present state, N m or N, shape (na,).

        Args:
            robot: updated.
            tick: the time, and the closed contacts.
        """

    def expect(self, robot: Dynamics, tick: Tick, torque: Array) -> tuple[Array, Array]:
        """What torques bring about: v̇, shape (nv,), and the contacts' forces on the robot, shape (nf,).

        Closed contacts stay where they are (ETH 3.62, 3.64), unless a law knows better.

        Args:
            robot: updated.
            tick: the closed contacts.
            torque: shape (na,).
        """
        support = self.support(robot, tick)
        return support.acceleration(torque), support.contact_force(torque)

    def support(self, robot: Dynamics, tick: Tick) -> TaskSpace:
        """The closed contacts as seen through the robot's inertia; made once a tick.

        Args:
            robot: updated.
            tick: the closed contacts.
        """
        stamp = robot, robot.updates, tick
        if self._support is None or self._support[0] != stamp:
            self._support = stamp, TaskSpace.of_contacts(robot, tick)
        return self._support[1]

    _support: tuple[tuple[Dynamics, int, Tick], TaskSpace] | None = None

    def reset(self) -> None:
        """Forgets the past: held places and ramps."""
        with taking(self._turn, self):
            self.stack.reset()
            self._ticker.forget()
            self.solver.reset()

    def expect_new_clock(self) -> None:
        """Allows the next tick to have an earlier time than the last one, as at the start of a run.

        Nothing is forgotten: ramps continue.
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
        """See `wbc.Controller`; the time that judging takes is not counted."""
        if not self._turn.take():
            raise busy(self)
        try:
            began = perf_counter()
            robot = self.robot
            felt = measured_forces(measured, self.stack.contacts)
            robot.update(q, v)
            tick = self._ticker.tick(t, self.period)
            known = perf_counter()
            outcome = self._lawful(tick)
            solved = perf_counter()
            program = self._programs.get(tick.layout)
            if program is None:
                program = self._programs[tick.layout] = Program(self.stack, tick.layout)
            parts = program.parts_or_error(robot, tick)
            x = command(robot, tick, outcome)
            solution = ClassicalSolution(robot, tick, parts, outcome, x, self.stack)
            solution._past = self._ticker.watch(tick, parts, (), felt)
            self._ticker.note(solution)
            solution.time = Times(known - began, 0.0, solved - known, solved - began)
            return solution
        finally:
            self._turn.give()

    def errors(self) -> dict[str, Array]:
        """The error of each task with a target in the state of the last tick, by name: see `Task.error`."""
        return self.stack.errors(self.robot, self._ticker.again(self.period))

    def _lawful(self, tick: Tick) -> Outcome:
        """What the law asks for, and what it is expected to bring about."""
        robot, x = self.robot, np.zeros(tick.n)
        try:
            torque = numbers(self.law(robot, tick), f"what {type(self).__name__}.law gave")
            if torque.shape != (robot.na,):
                raise WbcError(f"{type(self).__name__}.law must give {robot.na} torques, not {show(torque)}")
            if not np.isfinite(torque).all():
                return Outcome(x, "failed", reason=ArithmeticError("the law returned torques that are not finite"))
            x[tick.torque] = torque
            x[tick.acceleration], x[tick.force] = self.expect(robot, tick, torque)
        except (ArithmeticError, np.linalg.LinAlgError) as error:  # a hard state ends in the fallback, not here
            return Outcome(x, "failed", reason=error)
        if not np.isfinite(x).all():
            return Outcome(
                x, "failed", reason=ArithmeticError("the accelerations or forces that the law causes are not finite")
            )
        possible = bool((np.abs(torque) <= robot.limits.effort + torque_tolerance(robot)).all())
        margins = contact_margins(robot, tick, x[tick.force], 4)
        possible = possible and min(margins.values(), default=0.0) >= -force_tolerance(robot.mass)
        return Outcome(x, "optimal" if possible else "relaxed", 1, ignored=not possible)

    def _need_all_actuators(self) -> None:
        """Raises a `WbcError` where a velocity has no actuator."""
        robot = self.robot
        if robot.na != robot.nv:
            raise WbcError(
                f"{type(self).__name__} needs an actuator for each of the {robot.nv} velocities of "
                f"{robot.model.name!r}, which has {robot.na}; see wbc.classical.InverseDynamics"
            )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.robot.model.name!r}, {len(self.stack.contacts)} contacts>"

    def __str__(self) -> str:
        judged = f"\njudged by\n{self.stack.describe()}" if len(self.stack) else ""
        return f"{self.robot!r}\n{type(self).__name__}{judged}"


class _NoTasks(Stack):
    """Contacts, and nothing that is asked of the robot."""

    def _check(self) -> None:
        """There are no tasks that something could be wrong with."""
