"""A log as pictures, and a page that goes through it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import perf_counter

import numpy as np

from wbc.arrays import Array
from wbc.copies import Unique
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError
from wbc.simulation.log import Log
from wbc.web.gaps import Gap, Gaps
from wbc.web.picture import Picture, Scenery, Touch, limits
from wbc.web.shapes import surfaces

EVERY = 1.0 / 30
"""From picture to picture, s of the clock."""

DRAWN = 1500
"""Points of a plot at the most; of times of ticks the slowest are kept."""


def scenery(log: Log, robot: Dynamics) -> Scenery:
    """The constant part of a replay.

    Args:
        log: of a run.
        robot: that ran.
    """
    if not len(log):
        raise WbcError("the log has no ticks")
    model = robot.model
    sizes, asked = (robot.nq, robot.nv, robot.na), (log.q.shape[1], log.v.shape[1], log.torque.shape[1])
    if sizes[:2] != asked[:2] or asked[2] not in (0, sizes[2]):
        raise WbcError(
            f"the log is of a robot {log.robot!r} with (nq, nv, na) = {asked}, and {model.name!r} has {sizes}; "
            "say which one it was: --robot FILE, with --floating or --fixed"
        )
    names, least, most = limits(model)
    touches = tuple(
        Touch(name, cone.frame, cone.friction, cone.normal, cone.on or None)
        for name, cone in log.cones.items()
        if cone.frame in model.frame_names
    ) or tuple(Touch(name, name, None) for name in log.contacts if name in model.frame_names)
    moves = bool(asked[2])
    return Scenery(
        f"{log.robot}, {log.ended or 'the file is incomplete'}",
        robot.copy(),
        tuple(surfaces(model)),
        touches,
        tuple(frame for frame in log.feet if frame in model.frame_names),
        names if moves else (),
        least,
        most,
        log.cost.shape[1],
        times=log.time,
    )


def picture(log: Log, tick: int, gaps: tuple[Gap, ...] = ()) -> Picture:
    """A tick of a log.

    Args:
        log: of a run.
        tick: its number.
        gaps: shapes that are near each other then.
    """
    time = float(log.time[tick])
    told = [
        f"{name}: {', '.join(f'{value:+.3g}' for value in error[tick])}"
        for name, error in log.errors.items()
        if error.shape[1]
    ]
    worries = [f"from {worry.first:.3g} s on: {worry.text}" for worry in log.worries if worry.first <= time]
    return Picture(
        time,
        log.true_q[tick],
        log.torque[tick],
        {name: log.forces[tick, number] for number, name in enumerate(log.contacts)},
        {name: log.measured[tick, number] for number, name in enumerate(log.feet)},
        log.cost[tick],
        float(log.tick_time[tick]),
        log.status[tick],
        "replay",
        health="\n".join(worries) or "health: good up to here",
        explanation="\n".join(["errors of tasks, desired minus measured:", *told]) if told else "",
        gaps=gaps,
    )


def condensed(log: Log) -> tuple[Array, Array, Array, Array]:
    """Times, torques, costs and times of ticks for a plot; where ticks are many, some, and the slowest.

    Args:
        log: of a run.
    """
    step = max(1, -(-len(log) // DRAWN))
    at = np.arange(0, len(log), step)
    return log.time[at], log.torque[at], log.cost[at], np.maximum.reduceat(log.tick_time, at)


class Replay(Unique):
    """A page on a log; `run` shows it until it is ended.

    Args:
        log: of a run.
        robot: that ran.
        host: address that the page is bound to.
        port: of the page; the next free one is taken where it is in use.

    Attributes:
        address: of the page, for a browser.
        tick: that is shown.
    """

    held = "a web server"

    def __init__(self, log: Log, robot: Dynamics, host: str = "127.0.0.1", port: int = 8080) -> None:
        from wbc.web.page import Page

        self._log, self.tick = log, 0
        self._asked = threading.Event()
        self._page = Page(scenery(log, robot), self._anew, host, port, self.go)
        self.address = self._page.address
        self._page.plots.draw(*condensed(log))
        self._robot, self._gaps = robot.copy(), Gaps.of(robot)
        self._show()

    def _anew(self, message: object) -> None:
        """A browser came or went: what is shown is sent once more."""
        self._asked.set()

    def go(self, tick: int) -> None:
        """Shows a tick.

        Args:
            tick: its number.
        """
        self.tick = min(max(tick, 0), len(self._log) - 1)
        self._asked.set()

    def run(self, until: Callable[[], bool] = lambda: False) -> None:
        """Shows what is asked for until it is ended: by Ctrl-C, say.

        Args:
            until: asked again and again; true ends it.
        """
        timeline = self._page.timeline
        assert timeline is not None
        before = perf_counter()
        while not until():
            asked = self._asked.wait(EVERY)
            self._asked.clear()
            now = perf_counter()
            timeline.advance(now - before)
            before = now
            if asked or self._asked.is_set():
                self._show()
            if asked and (rest := EVERY - (perf_counter() - now)) > 0:
                threading.Event().wait(rest)

    def _show(self) -> None:
        """Shows the tick that is asked for."""
        self._robot.update(self._log.true_q[self.tick])
        gaps = () if self._gaps is None else self._gaps.look(self._robot)
        self._page.show(picture(self._log, self.tick, gaps))

    def close(self) -> None:
        """Takes the page away."""
        self._page.close()
