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

ORDER = ("planar_arm", "arm", "quadruped", "humanoid")


def main(path: Path) -> None:
    """Draws all robots in their nominal configurations."""
    figure = plt.figure(figsize=(14, 4.2))
    for column, name in enumerate(ORDER):
        robot = wbc.load(name, "numpy")
        axes = figure.add_axes((0.25 * column, 0.0, 0.25, 0.9), projection="3d")
        draw(axes, robot)
        axes.view_init(elev=16, azim=-52)
        joints = f"{robot.na} joints, {robot.mass:.0f} kg"
        figure.text(0.25 * column + 0.125, 0.93, f"{name}  ({joints})", ha="center", fontsize=12)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=80)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "pictures" / "robots.png")
