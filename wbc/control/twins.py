"""Robots in the state of a tick that the controller's own robot has left."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wbc.arrays import Array
    from wbc.dynamics.base import Dynamics


class _Last(threading.local):
    """The twin that a thread was given last.

    All questions about one tick share it. If each solution kept its own, a program that keeps its solutions would run
    out of memory: the twin of a humanoid is a hundred times as large as its solution.
    """

    def __init__(self) -> None:
        self.asker: weakref.ref[object] | None = None
        self.twin: Dynamics | None = None

    def forget(self, asker: weakref.ref[object]) -> None:
        """Nobody is left to ask."""
        if self.asker is asker:
            self.asker = self.twin = None


_last = _Last()


def twin_of(asker: object, robot: Dynamics, q: Array, v: Array) -> Dynamics:
    """A copy of a robot in another state, the same one for as long as nobody else asks.

    Args:
        asker: who asks: one solution.
        robot: that is copied; it is not changed.
        q: shape (nq,).
        v: shape (nv,).
    """
    if _last.twin is None or _last.asker is None or _last.asker() is not asker:
        twin = robot.copy()
        twin.update(q, v)
        _last.asker, _last.twin = weakref.ref(asker, _last.forget), twin
    return _last.twin
