"""Tasks in order of priority, and the contacts that the robot stands on."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from wbc.arrays import Array, ArrayLike
from wbc.contacts import Contact
from wbc.control.equation_of_motion import EquationOfMotion
from wbc.control.schedule import Schedule, What
from wbc.control.support import Support
from wbc.copies import Independent
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, WbcWarning, show, unknown_name
from wbc.tasking.feedback import fitting
from wbc.tasking.gains import Gains
from wbc.tasking.levels import Levels, as_levels
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick


class Stack(Independent):
    """Tasks in strict priority, and the contacts of the robot.

    It is declarative. The parts that change while a controller runs are in `schedule` (weights, switched tasks) and
    `support` (contacts); `fade`, `switch_off`, `open_contact` and their opposites change these.

    Args:
        levels: tasks joined by `+` and `/`, one task, or a list of lists of tasks; the highest priority first.
        contacts: contacts that the robot may stand on; all are closed at the start.

    Attributes:
        levels: the tasks of each level.
        schedule: the tasks' weights, and how far each is in force.
        support: which contacts are closed, and how far.
    """

    def __init__(
        self, levels: Task | Levels | Sequence[Task | Sequence[Task]], contacts: Contact | Iterable[Contact] = ()
    ) -> None:
        if isinstance(levels, Task | Levels):
            given = as_levels(levels)
        elif isinstance(levels, list | tuple):
            given = []
            for level in levels:
                if not isinstance(level, Task | Levels | list | tuple):
                    raise WbcError(f"a stack is made of tasks, or of a list of lists of tasks, not of {show(level)}")
                members = [list(level)] if isinstance(level, list | tuple) else as_levels(level)
                if len(members) > 1:
                    raise WbcError(f"each inner list holds tasks of one priority, not {level!r}")
                given += members
        else:
            raise WbcError(f"a stack is made of tasks, or of a list of lists of tasks, not of {show(levels)}")
        self.levels: tuple[tuple[Task, ...], ...] = tuple(tuple(level) for level in given)
        self._named: dict[str, Task] = {}
        self._names: dict[int, str] = {}
        self._collect()
        self.schedule = Schedule(self._named)
        self.support = Support(contacts)
        self._check()

    def _collect(self) -> None:
        """Gives every task a unique name in this stack; a task that appears twice is an error."""
        for task in self:
            if not isinstance(task, Task):
                raise WbcError(f"a stack is made of tasks, not of {show(task)}")
            if not hasattr(task, "name"):
                kind = type(task).__name__
                raise WbcError(f"a {kind} has no name: its __init__ must call super().__init__(name)")
            if id(task) in self._names:
                raise WbcError(f"task {task.name!r} is in the stack twice")
            name, number = task.name, 2
            while name in self._named:
                name, number = f"{task.name} {number}", number + 1
            self._named[name] = task
            self._names[id(task)] = name

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._names = {id(task): name for name, task in self._named.items()}  # the tasks of a copy are others

    def name_of(self, task: Task) -> str:
        """What a task is called in this stack: its name, with a number where an earlier task has the same."""
        return self._names[id(task)]

    def _check(self) -> None:
        if self.kinematic:
            dynamic = [task.name for task in self if not task.kinematic]
            if dynamic:
                kinematic = next(task.name for task in self if task.kinematic)
                raise WbcError(
                    f"{kinematic!r} asks for a velocity and {dynamic[0]!r} for accelerations or forces; a stack is for "
                    "a wbc.Controller or for wbc.kinematics.DifferentialKinematics, not for both"
                )
            self._check_contacts("tasks.ContactVelocity()")
            return
        physics = [task for task in self if isinstance(task, EquationOfMotion)]
        if len(physics) > 1:
            raise WbcError("the stack has two equations of motion; a robot has one")
        if not physics:
            raise WbcError(
                "the stack has no equation of motion; it ties torques to accelerations: put "
                "tasks.EquationOfMotion() on top"
            )
        self._check_contacts("tasks.ContactMotion()")

    def _check_contacts(self, proposal: str) -> None:
        """Warns if no task holds the contacts still, or if a higher task may move them."""
        if not self.contacts:
            return
        names = ", ".join(contact.name for contact in self.contacts)
        holding = [level for level, members in enumerate(self.levels) if any(task.holds_contacts for task in members)]
        held = holding[0] if holding else None
        trouble = ""
        if held is None:
            trouble = f"no task holds the contacts still ({names}): add {proposal} on a high level"
        else:
            above = [task for level in self.levels[:held] for task in level]
            soft = [
                self.name_of(task) for task in above if not (isinstance(task, EquationOfMotion) or task.bounds_only)
            ]
            if soft:
                trouble = f"the task that holds the contacts still ({names}) is below {soft[0]!r}, which may move them"
        if trouble:
            warnings.warn(trouble, WbcWarning, stacklevel=4)
        if not self.kinematic:
            self._check_forces(names)

    def _check_forces(self, names: str) -> None:
        """Warns if no task bounds the contacts' forces: feet would pull on the ground, and the status would be
        "optimal".
        """
        if not any(task.bounds_contacts for task in self):
            warnings.warn(
                f"no task bounds the forces of the contacts ({names}), so they may pull and slide: add "
                "tasks.FrictionCones() on a high level",
                WbcWarning,
                stacklevel=5,
            )

    def __iter__(self) -> Iterator[Task]:
        return (task for level in self.levels for task in level)

    def __len__(self) -> int:
        return len(self.levels)

    def __getitem__(self, name: str) -> Task:
        """A task by its name."""
        found = self._named.get(name) if isinstance(name, str) else None
        if found is None:
            raise unknown_name("task", name, self._named)
        return found

    def errors(self, robot: Dynamics, tick: Tick) -> dict[str, Array]:
        """The error of each task with a target, by name: see `Task.error`.

        Args:
            robot: updated.
            tick: the time.
        """
        found = ((name, task.error(robot, tick)) for name, task in self._named.items())
        return {name: error for name, error in found if error is not None}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all tasks, highest priority first."""
        return tuple(self._named)

    @property
    def kinematic(self) -> bool:
        """Whether its tasks ask for velocities (for `wbc.kinematics.DifferentialKinematics`) and not for
        accelerations.
        """
        return any(task.kinematic for task in self)

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """All contacts, closed or open."""
        return self.support.contacts

    # --- changes while running -------------------------------------------------------------------------------------

    def fade(self, name: str, weight: float, duration: float = 0.5) -> None:
        """Changes the weight of a task smoothly, from the next tick on.

        Args:
            name: of the task.
            weight: to reach.
            duration: s; 0 is at once.
        """
        self._change(name, "weight", weight, duration)

    def fade_gains(self, name: str, gains: Gains | ArrayLike, duration: float = 0.5) -> None:
        """Changes the gains of a task smoothly, from the next tick on: kp, kd and 1 / speed go straight to their new
        values.

        Args:
            name: of the task.
            gains: to reach; for a task with a rate gain, such as `BaseVelocity`, a number, 1/s, or one an axis. An
                impedance takes kp as its stiffness and kd as its damping.
            duration: s; 0 is at once.
        """
        self.schedule.change_gains(name, fitting(self[name], name, gains), duration)

    def switch_off(self, name: str, duration: float = 0.0) -> None:
        """Takes a task out, from the next tick on.

        Over the duration its tolerance grows from zero until the task has no effect. (A weight can't fade a task that
        is alone on its level: it is met in full whatever its weight.) Solvers that ignore inequalities take it out at
        once.

        Args:
            name: of the task.
            duration: s; 0 is at once.
        """
        self._change(name, "presence", 0.0, duration)

    def switch_on(self, name: str, duration: float = 0.0) -> None:
        """Puts a task back, as `switch_off` takes it out. A task without a target holds what it finds then.

        Args:
            name: of the task.
            duration: s; 0 is at once.
        """
        self._change(name, "presence", 1.0, duration)

    def presence(self, name: str) -> float:
        """The degree to which a task is in force: 1 fully, 0 not at all."""
        return self.schedule.presence(name)

    def _change(self, name: str, what: What, target: float, duration: float) -> None:
        if isinstance(self[name], EquationOfMotion):
            raise WbcError(f"{name!r} can't be switched or weighted: physics always holds")
        self.schedule.change(name, what, target, duration)

    def close_contact(self, contacts: str | Iterable[str], duration: float = 0.0) -> None:
        """Closes contacts where they are: their forces may rise from none over the duration (s). See `Support.close`.

        Args:
            contacts: a name, or several that close together.
            duration: s; 0 is at once.
        """
        self.support.close(contacts, duration)

    def open_contact(self, contacts: str | Iterable[str], duration: float = 0.0) -> None:
        """Opens contacts: their forces go to zero over the duration (s) first. See `Support.open`.

        After that, tasks move the foot. For torques without a jump, one of them should hold it by then, such as an
        `EndEffectorAcceleration` without a target that is switched on now.

        Args:
            contacts: a name, or several that open together.
            duration: s; 0 is at once.
        """
        self.support.open(contacts, duration)

    def reset(self) -> None:
        """Forgets what tasks and contacts remember, such as held places; fades and ramps jump to their ends."""
        for task in self:
            task.reset()
        self.support.reset()
        self.schedule.finish()

    def __repr__(self) -> str:
        return f"Stack({Levels(self.levels)!r}, {len(self.contacts)} contacts)"

    def __str__(self) -> str:
        return self.describe()

    def describe(self, rows: Mapping[str, tuple[int, int]] | None = None) -> str:
        """The levels as text, one line per task.

        Args:
            rows: by task, how many equations and inequalities it has now (the controller knows).
        """
        lines = []
        for priority, level in enumerate(self.levels):
            for position, task in enumerate(level):
                name = self.name_of(task)
                head = f"{priority}" if position == 0 else ""
                counts = ""
                if rows and name in rows:
                    equations, inequalities = rows[name]
                    parts = [f"{equations} =" if equations else "", f"{inequalities} ≤" if inequalities else ""]
                    counts = ", ".join(part for part in parts if part) or "no rows"
                state = "" if self.presence(name) == 1.0 else f" ({self.presence(name):.0%} on)"
                lines.append(f"{head:>2}  {name:<32} {counts:<14} weight {task.weight:g}{state}  {task.purpose}")
        closed = [f"{contact.name} {self.support.activation(contact.name):.0%}" for contact in self.contacts]
        return "\n".join([*lines, f"contacts: {', '.join(closed) or 'none'}"])
