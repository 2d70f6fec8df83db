"""Plots of a page: torques against their limits, what is left of each level, times of ticks."""

from __future__ import annotations

from collections import deque
from time import perf_counter
from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.web.picture import Picture, Scenery

KEPT = 300
"""Pictures that a plot shows."""

EVERY = 0.25
"""From one drawing to the next, s of the clock: a browser has other things to do."""

COLORS = ("#2b6cb0", "#c05621", "#2f855a", "#b83280", "#6b46c1", "#00838f", "#9b2c2c", "#744210", "#4a5568", "#d69e2e")

SMALLEST = 1e-6
"""A residual that is less is drawn as this."""


class Plots:
    """The plots of a page, in the folder that is open when it is made.

    Args:
        gui: viser's.
        scenery: what is shown.
    """

    def __init__(self, gui: Any, scenery: Scenery) -> None:  # noqa: ANN401  of viser
        self._rows: deque[tuple[float, Array, Array, float]] = deque(maxlen=KEPT)
        self._drawn = 0.0
        self._least, self._most = scenery.least, scenery.most
        bounded = np.isfinite(scenery.most)
        unit = "share of the limit" if bounded.any() else "N m"
        self._scales = np.where(bounded, np.where(scenery.most > 0, scenery.most, 1.0), 1.0)
        self._torque: Any = None
        if scenery.actuators:
            self._torque = self._add(gui, f"torques, {unit}", scenery.actuators)
        levels = [f"level {k}" for k in range(scenery.levels)]
        self._cost: Any = self._add(gui, "residual of each level, powers of ten", levels)
        self._tick: Any = self._add(gui, "slowest tick, ms", ["controller.step"])

    @staticmethod
    def _add(gui: Any, title: str, names: Any) -> Any:  # noqa: ANN401  of viser
        lines = [{"label": name, "stroke": COLORS[k % len(COLORS)], "width": 1.5} for k, name in enumerate(names)]
        series = ({"label": "time, s"}, *lines)
        scales: dict[str, Any] = {"x": {"time": False}}
        few = len(series) <= 9
        data = (np.array([0.0, 1.0]), *(np.zeros(2) for _ in names))
        return gui.add_uplot(data, series, title=title, scales=scales, height=210, legend={"show": few})

    def add(self, picture: Picture) -> None:
        """Takes a moment, and draws where the last drawing is old enough.

        Args:
            picture: one that is before the last one begins the plots anew.
        """
        if self._rows and picture.time < self._rows[-1][0]:
            self._rows.clear()
        if self._rows and picture.time == self._rows[-1][0]:
            return
        self._rows.append((picture.time, picture.torque, picture.costs, picture.tick))
        clock = perf_counter()
        if clock - self._drawn >= EVERY and len(self._rows) > 1:
            self._drawn = clock
            times, torques, costs, ticks = (np.array(part) for part in zip(*self._rows, strict=True))
            self.draw(times, torques, costs, ticks)

    def draw(self, times: Array, torques: Array, costs: Array, ticks: Array) -> None:
        """Draws what is handed over.

        Args:
            times: s, shape (n,).
            torques: shape (n, na).
            costs: of levels, shape (n, levels).
            ticks: s, shape (n,).
        """
        if self._torque is not None:
            self._torque.data = (times, *(torques / self._scales).T)
        self._cost.data = (times, *np.log10(np.maximum(costs, SMALLEST)).T)
        self._tick.data = (times, 1e3 * ticks)
