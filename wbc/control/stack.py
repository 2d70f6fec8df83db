"""Tasks in order of priority, and the contacts that the robot stands on."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence

from wbc.arrays import Array
from wbc.contacts import Contact
from wbc.control.support import ROUNDING, Support
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, WbcWarning, number, show, unknown_name
from wbc.tasking.levels import Levels, as_levels
from wbc.tasking.problem import Variables
from wbc.tasking.task import Task


class Stack:
    """What a robot should do: tasks in strict priority, on contacts.

    Args:
        levels: what `+` and `/` make of tasks, a task, or a list of lists of tasks; the highest priority first.
        contacts: that the robot may stand on; all are closed at the start.

    Attributes:
        levels: the tasks of each level.
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
                    raise WbcError(f"a stack is made of tasks, or of a list of lists of tasks; {show(level)} is none")
                members = [list(level)] if isinstance(level, list | tuple) else as_levels(level)
                if len(members) > 1:
                    raise WbcError(f"a level of a list holds tasks of one priority, not {level!r}")
                given += members
        else:
            raise WbcError(f"a stack is made of tasks, or of a list of lists of tasks, not of {show(levels)}")
        self.levels: tuple[tuple[Task, ...], ...] = tuple(tuple(level) for level in given)
        self._named: dict[str, Task] = {}
        self._fades: dict[str, tuple[float, float, float | None, float]] = {}
        self._presence: dict[str, float] = {}
        self._collect()
        self.support = Support(contacts)
        self._check()

    def _collect(self) -> None:
        """Names every task; a task that is there twice is an error, two of the same name get numbers."""
        seen: set[int] = set()
        for task in self:
            if not isinstance(task, Task):
                raise WbcError(f"a stack is made of tasks; {show(task)} is none")
            if not hasattr(task, "name"):
                kind = type(task).__name__
                raise WbcError(f"a {kind} has no name: its __init__ must call super().__init__(name)")
            if id(task) in seen:
                raise WbcError(f"task {task.name!r} is in the stack twice")
            seen.add(id(task))
            if task.name in self._named:
                number = 2
                while f"{task.name} {number}" in self._named:
                    number += 1
                task.name = f"{task.name} {number}"
            self._named[task.name] = task

    def _check(self) -> None:
        if self.kinematic:
            dynamic = [task.name for task in self if not task.kinematic]
            if dynamic:
                kinematic = next(task.name for task in self if task.kinematic)
                raise WbcError(
                    f"{kinematic!r} asks for a velocity and {dynamic[0]!r} does not; a stack is for a "
                    "wbc.Controller or for wbc.kinematics.DifferentialKinematics, not for both"
                )
            self._check_contacts("tasks.ContactVelocity()")
            return
        if sum(task.physics for task in self) > 1:
            raise WbcError("the stack has two equations of motion; one robot has one")
        if not any(task.physics for task in self):
            raise WbcError(
                "the stack has no equation of motion; without it nothing ties torques to accelerations: put "
                "tasks.EquationOfMotion() on top"
            )
        self._check_contacts("tasks.ContactMotion()")

    def _check_contacts(self, proposal: str) -> None:
        """Warns where nothing holds the contacts still, or something above it may move them."""
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
            soft = [task.name for task in above if not (task.physics or task.inequality or task.tolerance is not None)]
            if soft:
                trouble = f"the task that holds the contacts still ({names}) is below {soft[0]!r}, which may move them"
        if trouble:
            warnings.warn(trouble, WbcWarning, stacklevel=4)

    def __iter__(self) -> Iterator[Task]:
        return (task for level in self.levels for task in level)

    def __len__(self) -> int:
        return len(self.levels)

    def __getitem__(self, name: str) -> Task:
        """A task by its name."""
        found = self._named.get(name)
        if found is None:
            raise unknown_name("task", name, self._named)
        return found

    def errors(self, robot: Dynamics, variables: Variables) -> dict[str, Array]:
        """How far each task with a target is from it, by name: see `Task.error`.

        Args:
            robot: updated.
            variables: the time.
        """
        found = ((task.name, task.error(robot, variables)) for task in self)
        return {name: error for name, error in found if error is not None}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all tasks, highest priority first."""
        return tuple(self._named)

    @property
    def kinematic(self) -> bool:
        """Whether its tasks ask for velocities, for `wbc.kinematics.DifferentialKinematics`, not for accelerations."""
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
        self._fade(name, "weight", weight, duration)

    def switch_off(self, name: str, duration: float = 0.0) -> None:
        """Takes a task out, from the next tick on.

        Over the duration it gets a tolerance that grows from none to any (its weight won't do: on a level of its own a
        task of any weight is met in full). Solvers that ignore inequalities take it out at once.

        Args:
            name: of the task.
            duration: s; 0 is at once.
        """
        self._fade(name, "presence", 0.0, duration)

    def switch_on(self, name: str, duration: float = 0.0) -> None:
        """Puts a task back, the way that `switch_off` takes it out. Without a target it holds what it finds then.

        Args:
            name: of the task.
            duration: s; 0 is at once.
        """
        self._fade(name, "presence", 1.0, duration)

    @property
    def fading(self) -> bool:
        """Whether any task is, wholly or partly, switched off."""
        return bool(self._presence)

    def presence(self, name: str) -> float:
        """How far a task is in force: 1 fully, 0 not at all."""
        return self._presence.get(name, 1.0)

    def _fade(self, name: str, what: str, target: float, duration: float) -> None:
        task = self[name]
        if task.physics:
            raise WbcError(f"{name!r} can't be switched or weighted: physics holds always")
        target = number(target, f"the {what} of {name!r}", high=1e12)
        duration = number(duration, f"the duration for {name!r}, s,", high=1e9)
        start = task.weight if what == "weight" else self.presence(name)
        under_way = self._fades.get(f"{what} {name}")
        if (start == target) if under_way is None else (under_way[1], under_way[3]) == (target, duration):
            return  # there, or asked for again, as in every tick: a fade goes on and does not begin again
        self._fades[f"{what} {name}"] = (start, float(target), None, float(duration))

    def advance(self, time: float) -> None:
        """Carries fades on to a time; the controller calls it at every tick.

        Args:
            time: s; the same time twice gives the same weights.
        """
        for key, (start, target, since, duration) in list(self._fades.items()):
            began = time if since is None and time < math.inf else since
            elapsed = math.inf if began is None else time - began
            share = 1.0 if elapsed >= duration - ROUNDING else max(elapsed / duration, 0.0)
            value = target if share == 1.0 else start + share * (target - start)
            what, _, name = key.partition(" ")
            if what == "weight":
                self[name].weight = value
            else:
                if value > 0.0 and self.presence(name) == 0.0:
                    self[name].reset()  # a place to hold is the one where the task comes back
                self._presence[name] = value
                if value == 1.0:
                    del self._presence[name]
            if share == 1.0:
                del self._fades[key]
            else:
                self._fades[key] = (start, target, began, duration)

    def close_contact(self, contacts: str | Iterable[str], duration: float = 0.0) -> None:
        """Closes contacts where they are: their forces may rise from none over the duration (s). See `Support.close`.

        Args:
            contacts: a name, or several that close together.
            duration: s; 0 is at once.
        """
        self.support.close(contacts, duration)

    def open_contact(self, contacts: str | Iterable[str], duration: float = 0.0) -> None:
        """Opens contacts: their forces go to zero over the duration (s) first. See `Support.open`.

        What then moves the foot is up to the tasks: for torques without a jump, one of them should hold it by then,
        such as an `EndEffectorAcceleration` without a target that is switched on now.

        Args:
            contacts: a name, or several that open together.
            duration: s; 0 is at once.
        """
        self.support.open(contacts, duration)

    def reset(self) -> None:
        """Forgets what tasks and contacts remember: places that are held; fades and ramps end where they lead to."""
        for task in self:
            task.reset()
        self.support.reset()
        self.advance(math.inf)

    def __repr__(self) -> str:
        return f"Stack({Levels(self.levels)!r}, {len(self.contacts)} contacts)"

    def __str__(self) -> str:
        return self.describe()

    def describe(self, rows: Mapping[str, tuple[int, int]] | None = None) -> str:
        """The levels as text, a task a line.

        Args:
            rows: by task, how many equations and inequalities it has now (the controller knows).
        """
        lines = []
        for priority, level in enumerate(self.levels):
            for position, task in enumerate(level):
                head = f"{priority}" if position == 0 else ""
                counts = ""
                if rows and task.name in rows:
                    equations, inequalities = rows[task.name]
                    parts = [f"{equations} =" if equations else "", f"{inequalities} ≤" if inequalities else ""]
                    counts = ", ".join(part for part in parts if part) or "no rows"
                state = "" if self.presence(task.name) == 1.0 else f" ({self.presence(task.name):.0%} on)"
                lines.append(f"{head:>2}  {task.name:<32} {counts:<14} weight {task.weight:g}{state}  {task.purpose}")
        closed = [f"{contact.name} {self.support.activation(contact.name):.0%}" for contact in self.contacts]
        return "\n".join([*lines, f"contacts: {', '.join(closed) or 'none'}"])
