"""Draws the pictures of the tasks' pages from the blocks on them: docs/pictures/task_*.png.

usage: python scripts/draw_tasks.py [NAME ...]

A block that leaves `log` and `shown` is drawn: the robot at the beginning and at the end, with the way of `frame`, and
what `shown` names over time, the error of a task or the "forces" at the contacts; or what it has: numbers over time by
their words, and limits.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import wbc
from wbc.application.drawing import draw

DOCS = Path(__file__).parents[1] / "docs"


def main() -> None:
    """Runs the blocks and draws what they leave."""
    for page in sorted((DOCS / "tasks").glob("*.md")):
        if len(sys.argv) > 1 and page.stem not in sys.argv[1:]:
            continue
        names: dict[str, Any] = {}
        for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block, page.name, "exec"), names)
        if "shown" in names:
            picture(page.stem, names)
            print(f"task_{page.stem}.png")


def picture(name: str, names: dict[str, Any]) -> None:
    """One picture.

    Args:
        name: of the task.
        names: what its block leaves.
    """
    robot, log, shown = names["robot"].copy(), names["log"], names["shown"]
    figure = plt.figure(figsize=(10, 3.4), layout="constrained")
    spaces = figure.add_gridspec(1, 3, width_ratios=(1, 1, 1.7))
    for column, (tick, word) in enumerate(((0, "first"), (-1, "last"))):
        axes = figure.add_subplot(spaces[column], projection="3d")
        draw(axes, robot, log.q[tick])
        axes.view_init(elev=14, azim=-52)
        axes.set_title(f"{word} tick, {log.time[tick]:.2g} s", fontsize=9)
        if "frame" in names:
            axes.plot(*way(robot, log.q, names["frame"]).T, color="C3", lw=1.5, zorder=9)
    axes = figure.add_subplot(spaces[2])
    if isinstance(shown, dict):
        for word, numbers in shown.items():
            if np.ndim(numbers):
                axes.plot(log.time, numbers, lw=1.2, label=word)
            else:
                axes.axhline(numbers, color="k", ls="--", lw=1.0, label=f"{word}: {numbers:.3g}")
        axes.legend(fontsize=7)
    elif shown == "forces":
        for number, contact in enumerate(log.contacts):
            axes.plot(log.time, log.forces[:, number, 2], label=contact)
        axes.set(ylabel="vertical force, N")
        axes.legend(fontsize=8)
    else:
        errors, task = log.errors[shown].T, names["stack"][shown]
        rows = getattr(task, "axes", None) or task.row_names(robot, wbc.Tick(robot, names["stack"].contacts))
        for row, error in zip(rows, errors, strict=False):
            axes.plot(log.time, error, lw=1.2, label=row)
        axes.set(ylabel=f"{shown}: desired − measured")
        axes.legend(fontsize=7)
    axes.set(xlabel="time, s", title=name)
    axes.grid(alpha=0.3)
    figure.savefig(DOCS / "pictures" / f"task_{name}.png", dpi=70)
    plt.close(figure)


def way(robot: Any, places: np.ndarray, frame: str) -> np.ndarray:  # noqa: ANN401
    """Where a frame was, shape (some, 3), m."""
    points = []
    for q in places[:: max(1, len(places) // 100)]:
        robot.update(q)
        points.append(robot.pose(frame)[:3, 3].copy())
    return np.array(points)


if __name__ == "__main__":
    main()
