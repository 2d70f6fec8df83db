"""The weights and gains of a stack's tasks, and how far each is in force, as they change over time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from wbc.control.ramps import Ramps
from wbc.errors import number
from wbc.tasking.feedback import Feedback, between, feedback, same, set_feedback
from wbc.tasking.task import Task

What = Literal["weight", "presence", "gains"]


class Schedule:
    """Fades weights and gains, and switches tasks.

    Args:
        tasks: of the stack, by their names in it.
    """

    def __init__(self, tasks: Mapping[str, Task]) -> None:
        self._tasks = tasks
        self._ramps: Ramps[tuple[What, str]] = Ramps()
        self._start: dict[tuple[What, str], float] = {}
        self._presence: dict[str, float] = {}
        self._gains: dict[str, tuple[Feedback, Feedback]] = {}  # where they come from, and where they go to
        self._held: set[tuple[What, str]] = set()

    @property
    def partial(self) -> bool:
        """Whether any task is, wholly or partly, switched off."""
        return bool(self._presence)

    @property
    def moving(self) -> bool:
        """Whether anything is under way."""
        return bool(self._ramps)

    def presence(self, name: str) -> float:
        """How far a task is in force: 1 fully, 0 not at all."""
        return self._presence.get(name, 1.0)

    def hold(self, name: str, what: What) -> None:
        """Reserves a weight, a presence or gains for calls with `by_hand`; other requests are ignored. So a person who
        moves a switch wins against a scene that sets it in every tick.

        Args:
            name: of the task.
            what: is reserved.
        """
        self._held.add((what, name))

    def change(self, name: str, what: What, target: float, duration: float, *, by_hand: bool = False) -> None:
        """Changes a weight or a presence from the next tick on; see `Stack.fade` and `Stack.switch_off`."""
        if (what, name) in self._held and not by_hand:
            return
        target = number(target, f"the {what} of {name!r}", high=1e12)
        duration = number(duration, f"the duration for {name!r}, s,", high=1e9)
        key: tuple[What, str] = (what, name)
        now = self._tasks[name].weight if what == "weight" else self.presence(name)
        running = self._ramps.under_way(key)
        if (now == target) if running is None else (running.target, running.duration) == (target, duration):
            return  # there, or asked for again, as in every tick: a fade goes on and does not begin again
        self._ramps.begin(key, target, duration)
        self._start[key] = now

    def change_gains(self, name: str, gains: Feedback, duration: float, *, by_hand: bool = False) -> None:
        """Changes the gains of a task from the next tick on; see `Stack.fade_gains`."""
        key: tuple[What, str] = ("gains", name)
        if key in self._held and not by_hand:
            return
        duration = number(duration, f"the duration for {name!r}, s,", high=1e9)
        running, now = self._ramps.under_way(key), feedback(self._tasks[name])
        if now is None:
            return
        wanted = now if running is None else self._gains[name][1]
        if same(wanted, gains) and (running is None or running.duration == duration):
            return  # see `change`
        self._ramps.begin(key, 1.0, duration)
        self._gains[name] = now, gains

    def advance(self, time: float, whose: object = None) -> None:
        """Carries all on to a time: the same time twice gives the same.

        Args:
            time: s; inf ends what is under way.
            whose: see `Ramps.advance`.
        """
        if not self._ramps:
            return
        for key, ramp in self._ramps.advance(time, whose):
            what, name = key
            if what == "gains":
                set_feedback(self._tasks[name], between(*self._gains[name], ramp.share))
                continue
            value = ramp.between(self._start[key], ramp.target)
            if what == "weight":
                self._tasks[name].weight = value
                continue
            if value > 0.0 and self.presence(name) == 0.0:
                self._tasks[name].reset()  # a place to hold is the one where the task comes back
            self._presence[name] = value
            if value == 1.0:
                del self._presence[name]

    def shift(self, by: float) -> None:
        """See `Ramps.shift`."""
        self._ramps.shift(by)

    def finish(self) -> None:
        """Ends what is under way where it leads to."""
        self.advance(math.inf)
