"""The panels beside the stage: the run, the tasks, why, and the timeline of a log."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, Literal

import numpy as np

from wbc.arrays import Array
from wbc.web.commands import Command, Go, Pace, Shove, Switch, Turn
from wbc.web.gaps import Gap
from wbc.web.knobs import WEIGHT
from wbc.web.picture import Line, Picture, Scenery
from wbc.web.stage import SHOWN, Stage

DIRECTIONS = {
    "forward": (1.0, 0.0, 0.0),
    "back": (-1.0, 0.0, 0.0),
    "left": (0.0, 1.0, 0.0),
    "right": (0.0, -1.0, 0.0),
    "up": (0.0, 0.0, 1.0),
    "down": (0.0, 0.0, -1.0),
}
"""Directions of pushes, world axes."""

BUTTONS: dict[str, Literal["pause", "on", "step", "reset", "end"]] = {
    "Pause": "pause",
    "Go on": "on",
    "Step": "step",
    "Reset": "reset",
    "End": "end",
}
"""What a run is asked for."""

SPEEDS = ("1/20", "1/10", "1/4", "1/2", "1")
"""Speeds of the simulation, as shares of real time."""

GRACE = 1.5
"""Time after a person moved a slider during which the run does not move it, s of the clock."""

Send = Callable[[Command], None]


def add_view(gui: Any, stage: Stage) -> None:  # noqa: ANN401  of viser
    """What is shown beside the robot.

    Args:
        gui: viser's.
        stage: that shows it.
    """
    with gui.add_folder("Show", expand_by_default=False):
        for name in SHOWN:
            box = gui.add_checkbox(name, stage.shown[name])
            box.on_update(lambda event, name=name: stage.shown.update({name: event.target.value}))


class RunPanel:
    """Pause, step, slow motion, reset, pushes; how it goes.

    Args:
        gui: viser's.
        scenery: what is shown.
        stage: for the force of clicks.
        send: where commands go.
    """

    def __init__(self, gui: Any, scenery: Scenery, stage: Stage, send: Send) -> None:  # noqa: ANN401  of viser
        self._status: Any = gui.add_markdown("…")
        gui.add_button_group("", tuple(BUTTONS)).on_click(lambda event: send(Go(BUTTONS[event.target.value])))
        speed = gui.add_dropdown("speed", SPEEDS, initial_value="1")
        speed.on_update(lambda event: send(Pace(_share(event.target.value))))
        if scenery.pushable:
            with gui.add_folder("Push"):
                self._add_push(gui, scenery, stage, send)
        add_view(gui, stage)

    @staticmethod
    def _add_push(gui: Any, scenery: Scenery, stage: Stage, send: Send) -> None:  # noqa: ANN401  of viser
        bodies = scenery.pushable
        root = scenery.robot.model.root
        body = gui.add_dropdown("body", bodies, initial_value=root if root in bodies else bodies[0])
        force = gui.add_slider("force, N", 0.0, _round(2.0 * scenery.weight), 0.1, _round(stage.force))
        duration = gui.add_slider("duration, s", 0.01, 1.0, 0.01, stage.duration)
        way = gui.add_dropdown("direction", tuple(DIRECTIONS), initial_value="left")

        force.on_update(lambda event: setattr(stage, "force", event.target.value))
        duration.on_update(lambda event: setattr(stage, "duration", event.target.value))

        def push(_: Any) -> None:  # noqa: ANN401  of viser
            vector = stage.force * np.array(DIRECTIONS[way.value])
            send(Shove(body.value, tuple(map(float, vector)), stage.duration))

        gui.add_button("Push").on_click(push)
        gui.add_markdown("A click on the robot pushes it where you look.")

    def show(self, picture: Picture) -> None:
        """Says how it goes.

        Args:
            picture: the newest.
        """
        told = [f"**{picture.time:.2f} s** · {picture.mode} · {picture.status} · {1e3 * picture.tick:.2f} ms a tick"]
        told += [nearest(picture.gaps[0])] if picture.gaps else []
        if picture.notice:
            told.append(f"can't: {_plain(picture.notice)}")
        _tell(self._status, "\n\n".join(told))


class TaskPanel:
    """Each task with its switch, its weight and its gains.

    Args:
        gui: viser's.
        lines: the tasks.
        send: where commands go.
    """

    def __init__(self, gui: Any, lines: tuple[Line, ...], send: Send) -> None:  # noqa: ANN401  of viser
        self._boxes: dict[str, Any] = {}
        self._sliders: dict[tuple[str, str], Any] = {}
        self._touched: dict[object, float] = {}
        for line in lines:
            if not line.knobs:
                continue
            with gui.add_folder(f"{line.level}  {line.name}", expand_by_default=False):
                gui.add_markdown(_plain(line.purpose))
                box = gui.add_checkbox("on", True)
                box.on_update(lambda event, name=line.name: self._switch(event, name, send))
                self._boxes[line.name] = box
                for knob in line.knobs:
                    start = float(min(max(knob.value, 0.0), knob.high))
                    slider = gui.add_slider(knob.name, 0.0, float(knob.high), 0.01, start)
                    slider.on_update(lambda event, name=line.name, knob=knob.name: self._turn(event, name, knob, send))
                    self._sliders[line.name, knob.name] = slider

    def _switch(self, event: Any, name: str, send: Send) -> None:  # noqa: ANN401  of viser
        if event.client is not None:  # else it was set here
            self._touched[name] = perf_counter()
            send(Switch(name, event.target.value))

    def _turn(self, event: Any, name: str, knob: str, send: Send) -> None:  # noqa: ANN401  of viser
        if event.client is not None:
            self._touched[name, knob] = perf_counter()
            send(Turn(name, knob, float(event.target.value)))

    def show(self, picture: Picture) -> None:
        """Moves switches and sliders to where they are in the controller, but those that somebody moves.

        Args:
            picture: the newest.
        """
        clock = perf_counter()
        for name, box in self._boxes.items():
            on = picture.presence.get(name, 1.0) > 0.0
            if box.value != on and self._left_alone(name, clock):
                box.value = on
        for (name, knob), slider in self._sliders.items():
            value = picture.weights.get(name) if knob == WEIGHT else picture.knobs.get(name, {}).get(knob)
            if value is None or not self._left_alone((name, knob), clock):
                continue
            value = round(min(max(value, slider.min), slider.max), 2)
            if abs(slider.value - value) > 0.005:
                slider.value = value

    def _left_alone(self, key: object, clock: float) -> bool:
        return clock - self._touched.get(key, -GRACE) >= GRACE


class WhyPanel:
    """What `explain()` and `health` say.

    Args:
        gui: viser's.
    """

    def __init__(self, gui: Any) -> None:  # noqa: ANN401  of viser
        self._health: Any = gui.add_markdown("")
        self._why: Any = gui.add_markdown("")

    def show(self, picture: Picture) -> None:
        """Shows what is said.

        Args:
            picture: the newest.
        """
        _tell(self._health, f"**{_plain(picture.health)}**" if picture.health else "")
        if picture.explanation is not None:
            _tell(self._why, _plain(picture.explanation))


class Timeline:
    """The times of a log: a slider, and a player.

    Args:
        gui: viser's.
        times: of the ticks, s.
        stage: that shows them.
        go: called with the number of a tick.
    """

    def __init__(self, gui: Any, times: Array, stage: Stage, go: Callable[[int], None]) -> None:  # noqa: ANN401
        self._times, self._go = np.asarray(times, dtype=float), go
        self._status: Any = gui.add_markdown("…")
        self.playing = False
        first, last = float(self._times[0]), float(self._times[-1])
        self._slider: Any = gui.add_slider("time, s", first, max(last, first + 1e-3), 1e-3, first)
        self._slider.on_update(self._moved)
        self._play: Any = gui.add_button("Play")
        self._play.on_click(lambda _: self.toggle())
        speed = gui.add_dropdown("speed", SPEEDS, initial_value="1")
        speed.on_update(lambda event: setattr(self, "speed", _share(event.target.value)))
        self.speed = 1.0
        add_view(gui, stage)

    def _moved(self, event: Any) -> None:  # noqa: ANN401  of viser
        if event.client is not None:
            self._go(self._tick(event.target.value))

    def _tick(self, time: float) -> int:
        return min(int(np.searchsorted(self._times, time - 1e-9)), len(self._times) - 1)

    def toggle(self) -> None:
        """Plays, or stops; at the end it begins anew."""
        self.playing = not self.playing
        self._play.label = "Stop" if self.playing else "Play"
        if self.playing and self._slider.value >= self._times[-1] - 1e-9:
            self._slider.value = float(self._times[0])

    def advance(self, seconds: float) -> None:
        """Goes on, while it plays.

        Args:
            seconds: of the clock since the last call.
        """
        if not self.playing:
            return
        time = min(self._slider.value + self.speed * seconds, float(self._times[-1]))
        self._slider.value = time
        self._go(self._tick(time))
        if time >= self._times[-1]:
            self.toggle()

    def show(self, picture: Picture) -> None:
        """Says how it went.

        Args:
            picture: that is shown.
        """
        told = [f"**{picture.time:.3f} s** · {picture.status} · {1e3 * picture.tick:.2f} ms a tick"]
        told += [nearest(picture.gaps[0])] if picture.gaps else []
        _tell(self._status, "\n\n".join(told))


def nearest(gap: Gap) -> str:
    """A distance in words.

    Args:
        gap: of the nearest pair.
    """
    kept = f" (margin {1e3 * gap.margin:.0f} mm)" if gap.margin else ""
    return f"nearest: {_plain(' and '.join(gap.names))}, {round(1e3 * gap.distance)} mm{kept}"


def _tell(handle: Any, text: str) -> None:  # noqa: ANN401  of viser
    """Changes a text where it is another."""
    if handle.content != text:
        handle.content = text


def _plain(text: str) -> str:
    """Text that markdown leaves as it is, with its lines and what they are indented by."""
    told = []
    for line in text.splitlines():
        bare = line.lstrip(" ")
        marked = "".join(f"\\{letter}" if letter in "\\`*_{}[]<>#|~+-." else letter for letter in bare)
        told.append("\u00a0" * 2 * (len(line) - len(bare)) + marked)
    return "  \n".join(told)


def _share(words: str) -> float:
    """1/4 as a number."""
    above, _, below = words.partition("/")
    return float(above) / float(below or 1)


def _round(value: float) -> float:
    """For the end of a slider."""
    return float(f"{value:.3g}")
