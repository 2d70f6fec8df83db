"""Makes pictures of a live run, on a thread that is not the run's."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.simulation.scene import Scene
from wbc.web.gaps import Gap, Gaps
from wbc.web.knobs import WEIGHT
from wbc.web.live import Live
from wbc.web.picture import Picture, Scenery, Touch, limits, lines
from wbc.web.shapes import surfaces

EXPLAINED = 0.4
"""From one explanation to the next, s of the clock: each takes a millisecond or more."""


def scenery(live: Live) -> Scenery:
    """The constant part of a live run.

    Args:
        live: that has not begun.
    """
    robot, stack = live.scene.robot, live.stack
    for contact in stack.contacts:
        contact.fit(robot)
    names, least, most = limits(robot.model) if isinstance(live.scene, Scene) else ((), np.zeros(0), np.zeros(0))
    return Scenery(
        robot.model.name,
        robot.copy(),
        tuple(surfaces(robot.model)),
        tuple(Touch.of(contact) for contact in stack.contacts),
        tuple(live.measured),
        names,
        least,
        most,
        len(stack),
        lines(stack, live.knobs()),
        live.frames,
    )


class Taker:
    """Makes pictures of what is in the slot of a live run.

    Args:
        live: that runs on another thread; it is only read.
    """

    def __init__(self, live: Live) -> None:
        self._live = live
        self._explained, self._explanation = -EXPLAINED, ""
        self._last: object = None
        self._robot = live.scene.robot.copy()
        self._gaps = Gaps.of(self._robot, live.stack)
        self._shown_stack = live.stack

    def take(self, anyway: bool = False) -> Picture | None:
        """A picture of the newest tick; None where there is none, or nothing is new.

        Args:
            anyway: whether to make one though nothing is new.
        """
        live = self._live
        look, slowest = live.slot.take()
        state = (look, live.mode, live.notice)
        if look is None or (not anyway and self._last == state):
            return None
        new, self._last = self._last != state, state
        clock = perf_counter()
        solution: Any = look.solution
        if clock - self._explained >= EXPLAINED or (new and live.mode != "running"):
            self._explained, self._explanation = clock, solution.explain()
        stack = live.stack
        if stack is not self._shown_stack:  # it began anew
            self._shown_stack, self._gaps = stack, Gaps.of(self._robot, stack)
        return Picture(
            look.time,
            np.array(solution.q),
            np.array(getattr(solution, "torque", ())),  # there are none where velocities move it
            {name: np.array(force) for name, force in getattr(solution, "forces", {}).items()},
            {frame: np.array(force) for frame, force in look.measured.items()},
            np.array([level.cost for level in solution.levels]),
            slowest or solution.time.total,
            solution.status,
            live.mode,
            {name: stack[name].weight for name in stack.names},
            {name: stack.presence(name) for name in stack.names},
            {n: {knob.name: knob.value for knob in found if knob.name != WEIGHT} for n, found in live.knobs().items()},
            {name: target for name in stack.names if (target := _target(stack[name])) is not None},
            tuple((push.frame, tuple(push.force[:3])) for push in live.pushes),
            str(getattr(solution, "health", "")),
            self._explanation,
            live.notice,
            self._near(solution.q),
            () if self._gaps is None else self._gaps.obstacles(),
        )

    def _near(self, q: Array) -> tuple[Gap, ...]:
        if self._gaps is None:
            return ()
        self._robot.update(q)
        return self._gaps.look(self._robot)


def _target(task: Any) -> Any:  # noqa: ANN401  a task of any kind
    """A target that stands still, as an array; None where there is none."""
    target = getattr(task, "target", None)
    return np.array(target) if isinstance(target, np.ndarray) else None
