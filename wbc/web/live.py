"""A run that can be looked at and touched: what is asked of it is done between two ticks, on its own thread."""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from time import perf_counter, sleep
from typing import Any, Literal

import numpy as np

from wbc.arrays import Array
from wbc.control.protocol import TorqueController
from wbc.control.stack import Stack
from wbc.copies import Unique
from wbc.errors import WbcError, show, unknown_name
from wbc.kinematics import DifferentialKinematics, KinematicScene
from wbc.simulation.log import Log
from wbc.simulation.loop import Push, run
from wbc.simulation.scene import Scene
from wbc.tasking.feedback import Feedback, feedback, fitting
from wbc.web.commands import Aim, Command, Go, Pace, Shove, Switch, Turn
from wbc.web.knobs import WEIGHT, Knob, knobs, turned
from wbc.web.slot import Look, Slot

FADE = 0.5
"""Over which a knob or a switch of a task gets to where it was put, s of simulated time."""

BEHIND = 0.1
"""A run that is later than this, s of the clock, goes on from there and does not hurry to catch up."""

Mode = Literal["running", "paused", "ended"]


class Live(Unique):
    """A scene that runs at a pace, and does what it is asked while it runs.

    `ask` is for any thread, all else for the one that runs it. A task's switch, weight, gains or target that was set by
    hand stays: what the scene sets in its ticks is passed over until it begins anew.

    Args:
        scene: a controller on a plant, or kinematics that move a robot.
        speed: simulated seconds in one of the clock's; inf: as fast as it goes.

    Attributes:
        scene: that runs.
        slot: where each tick is left.
        mode: "running", "paused", or "ended".
        speed: see above.
        again: whether it was asked to begin anew.
        notice: the last thing that could not be done, and why; empty while all could.
    """

    held = "what threads share"

    def __init__(self, scene: Scene | KinematicScene, speed: float = 1.0) -> None:
        if not isinstance(scene, Scene | KinematicScene):
            raise WbcError(
                "a live page shows a controller on a plant (wbc.simulation.Scene) or a wbc.kinematics.KinematicScene; "
                f"not {show(scene)}"
            )
        self.slot, self.speed, self.notice = Slot(), speed, ""
        self._asked: SimpleQueue[Command] = SimpleQueue()
        self.take(scene)

    def take(self, scene: Scene | KinematicScene) -> None:
        """Takes a scene that has not run yet, in place of the one before; what was set by hand is forgotten.

        Args:
            scene: of the same kind as the one before.
        """
        self.slot.clear()
        self.scene = scene
        self.mode: Mode = "running"
        self.again = self._over = self._one = False
        self._now, self._pushes = 0.0, list[Push]()
        self._wanted: dict[str, dict[str, float]] = {}
        found = ((name, feedback(self.stack[name])) for name in self.stack.names)
        self._origin: dict[str, Feedback] = {name: gains for name, gains in found if gains is not None}
        self._clock, self._began = math.nan, 0.0
        self._aims: dict[str, Array] = {}

    @property
    def stack(self) -> Stack:
        """The stack of the scene's controller or kinematics."""
        return self._mover.stack

    @property
    def _mover(self) -> TorqueController | DifferentialKinematics:
        return self.scene.controller if isinstance(self.scene, Scene) else self.scene.kinematics

    @property
    def frames(self) -> tuple[str, ...]:
        """Frames that can be pushed; none without a plant."""
        return tuple(self.scene.plant.frames) if isinstance(self.scene, Scene) else ()

    @property
    def measured(self) -> dict[str, Array]:
        """Contact forces of the plant by frame, N, world axes, shape (3,) each."""
        return self.scene.plant.contact_forces if isinstance(self.scene, Scene) else {}

    def knobs(self) -> dict[str, list[Knob]]:
        """The knobs of each task, with their present values."""
        return {name: knobs(self.stack[name], self._origin.get(name)) for name in self.stack.names}

    def ask(self, command: Command) -> None:
        """Asks for something, which is done before the next tick. It may be called from any thread.

        Args:
            command: one of `wbc.web.commands`.
        """
        self._asked.put(command)

    def run(
        self,
        duration: float | None = None,
        period: float | None = None,
        record: str | Path | None = None,
        until: Callable[[float, Any], bool] | None = None,
    ) -> Log:
        """Runs the scene to its end, or until it is asked to end or to begin anew.

        Args:
            duration: s; None: what the scene takes.
            period: of the control, s; None: the controller's.
            record: file to write the log to.
            until: called after each tick with the time and the solution; true ends the run.
        """
        scene = self.scene

        def after(now: float, solution: Any) -> bool:  # noqa: ANN401  as `wbc.run` has it
            self.slot.put(Look(now, solution, self.measured))
            done = until is not None and until(now, solution)
            self._between(now)
            return done or self._over

        if isinstance(scene, KinematicScene):
            twin = copy.copy(scene)  # it moves the same kinematics
            twin.targets = self._before
            log = twin.run(duration, period, record, until=after)
            self.mode = "ended"
            return log
        log = run(
            scene.controller,
            scene.plant,
            scene.duration if duration is None else duration,
            period,
            deadline=math.inf,
            targets=self._before,
            disturbances=self._pushing,
            record=record,
            until=after,
        )
        self.mode = "ended"
        return log

    def wait(self, seconds: float) -> bool:
        """After the end: waits for a while, and does what is asked; whether it should go on waiting.

        Args:
            seconds: of the clock.
        """
        self.slot.resting = True
        with contextlib.suppress(Empty):
            self._do(self._asked.get(timeout=seconds))
        self.slot.resting = False
        return not self._over

    # --- on the thread of the run ----------------------------------------------------------------------------------

    def _before(self, now: float, controller: Any) -> None:  # noqa: ANN401  of the kind that the scene has
        """Before a tick: the scene's own targets, then those that a person set."""
        self._now = now
        if self.scene.targets is not None:
            self.scene.targets(now, controller)
        for name, target in self._aims.items():
            controller.stack[name].target = target  # `_aim` looked

    def _pushing(self, now: float) -> Iterator[Push]:
        """All pushes, the scene's and those of a person."""
        yield from self.scene.disturbances
        self._pushes = [push for push in self._pushes if push.start + push.duration > now]
        yield from self._pushes

    @property
    def pushes(self) -> list[Push]:
        """The pushes that act now."""
        return [push for push in self._pushing(self._now) if push.start <= self._now < push.start + push.duration]

    def _between(self, now: float) -> None:
        """Between two ticks: does what was asked, waits while it is paused, and for the clock."""
        self._do_all()
        if self._one:
            self._one, self.mode = False, "paused"
        while self.mode == "paused" and not self._over and not self._one:
            self._clock = math.nan  # a pause is not to be caught up
            self.wait(0.05)
        if math.isinf(self.speed) or self._over:
            return
        clock = perf_counter()
        due = self._clock + (now - self._began) / self.speed
        if math.isnan(self._clock) or clock - due > BEHIND:
            self._clock, self._began = clock, now
        elif due > clock:
            self.slot.resting = True
            sleep(due - clock)
            self.slot.resting = False

    def _do_all(self) -> None:
        while True:
            try:
                self._do(self._asked.get_nowait())
            except Empty:
                return

    def _do(self, command: Command) -> None:
        """Does one thing; what can't be done is told, and changes nothing."""
        try:
            match command:
                case Go():
                    self._go(command.where)
                case Pace():
                    self.speed, self._clock = command.speed, math.nan
                case Shove():
                    if not self.frames:
                        raise WbcError("nothing can be pushed: the robot moves at the velocities that it is told")
                    if command.frame not in self.frames:
                        raise unknown_name("frame to push", command.frame, self.frames)
                    later = self._now + self._mover.period  # it is the next tick that it begins at
                    self._pushes.append(Push(command.frame, command.force, 0.5 * (self._now + later), command.duration))
                case Switch():
                    self._change(command.task, "presence", float(command.on))
                case Turn():
                    self._turn(command)
                case Aim():
                    self._aim(command)
        except WbcError as error:
            self.notice = str(error)
        else:
            self.notice = ""

    def _go(self, where: str) -> None:
        if where in ("reset", "end"):
            self._over, self.again = True, where == "reset"
        elif where == "pause":
            self.mode = "paused"
        elif self.mode != "ended":
            self.mode, self._one = "running", where == "step"

    def _change(self, name: str, what: Literal["weight", "presence"], value: float) -> None:
        self._check(name)
        self.stack.schedule.hold(name, what)
        self.stack.schedule.change(name, what, value, FADE, by_hand=True)

    def _check(self, name: str) -> None:
        if not knobs(self.stack[name]):
            raise WbcError(f"{name!r} can't be switched or weighted: physics always holds")

    def _turn(self, command: Turn) -> None:
        """Leads a knob to where it was put."""
        task = self.stack[command.task]
        known = [knob.name for knob in knobs(task, self._origin.get(command.task))]
        if command.knob not in known:
            raise unknown_name(f"knob of {command.task!r}", command.knob, known)
        if command.knob == WEIGHT:
            self._change(command.task, "weight", command.value)
            return
        wanted = {**self._wanted.get(command.task, {}), command.knob: command.value}
        gains = turned(self._origin[command.task], wanted)
        if not isinstance(gains, tuple):
            gains = fitting(task, command.task, gains)
        self._wanted[command.task] = wanted
        self.stack.schedule.hold(command.task, "gains")
        self.stack.schedule.change_gains(command.task, gains, FADE, by_hand=True)

    def _aim(self, command: Aim) -> None:
        """Sets a target now, and again after the scene has set its own."""
        task = self.stack[command.task]
        if not hasattr(type(task), "target"):
            raise WbcError(f"{command.task!r} has no target that can be set")
        task.target = np.array(command.target)  # type: ignore[attr-defined]  # looked at above
        self._aims[command.task] = np.array(command.target)
