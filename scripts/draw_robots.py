"""Draws the packaged robots side by side: docs/pictures/robots.png, or the file that is named.

usage: python scripts/draw_robots.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import wbc
from wbc.application.drawing import draw

ORDER = ("planar_arm", "arm", "quadruped", "humanoid", "diffdrive", "omni", "wheeled_quadruped")
ACROSS = 4


def main(path: Path) -> None:
    """Draws all robots in their nominal configurations."""
    rows = -(-len(ORDER) // ACROSS)
    figure = plt.figure(figsize=(14, 4.2 * rows))
    for number, name in enumerate(ORDER):
        row, column = divmod(number, ACROSS)
        robot, bottom = wbc.load(name, "numpy"), (rows - 1 - row) / rows
        axes = figure.add_axes((column / ACROSS, bottom, 1 / ACROSS, 0.9 / rows), projection="3d")
        draw(axes, robot)
        axes.view_init(elev=16, azim=-52)
        joints = f"{robot.na} joints, {robot.mass:.0f} kg"
        figure.text((column + 0.5) / ACROSS, bottom + 0.93 / rows, f"{name}  ({joints})", ha="center", fontsize=12)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=80)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "pictures" / "robots.png")
