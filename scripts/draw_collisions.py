"""Draws an arm that goes round what is in its way: docs/pictures/collisions.png, or the file that is named.

usage: python scripts/draw_collisions.py [FILE]

Left without the task, right with it: what may collide, some poses of a run in MuJoCo, and the way of the tool.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from wbc.application.drawing import draw_geometry
from wbc.scenes.apart import arm_among_obstacles
from wbc.simulation.mujoco import MujocoSimulator

SEED = 1
"""Of the scene that is drawn."""


def main(path: Path) -> None:
    """Runs the scene twice, and draws both."""
    figure = plt.figure(figsize=(11, 5.2))
    for number, avoid in enumerate((False, True)):
        scene = arm_among_obstacles(SEED, avoid)
        seen = scene.robot.copy()
        outcome = scene.run(1.5)
        seen.update(worst_posture(avoid))
        axes = figure.add_subplot(1, 2, number + 1, projection="3d")
        draw_geometry(axes, scene.geometry, seen)
        axes.plot(*outcome.path[:, 0].T, color="black", linewidth=1.5, zorder=30)
        axes.scatter(*scene.targets["tool"], color="seagreen", s=60, zorder=40)
        axes.view_init(elev=22, azim=-60)
        axes.set_title(
            f"{'with' if avoid else 'without'} CollisionAvoidance: nearest {outcome.least * 1e3:.1f} mm\n"
            f"{outcome.pair[0]} and {outcome.pair[1]}",
            fontsize=10,
        )
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)
    print(f"wrote {path}")


def worst_posture(avoid: bool) -> np.ndarray:
    """The configuration in which the nearest pair is nearest."""
    scene = arm_among_obstacles(SEED, avoid)
    plant, seen, least = MujocoSimulator(scene.robot), scene.robot.copy(), np.inf
    found = plant.state[0]
    for tick in range(1500):
        plant.apply(scene.controller.step(*plant.state, tick * 1e-3).torque)
        plant.step()
        if tick % 10 == 0:
            seen.update(*plant.state)
            distance = scene.geometry.nearest(seen)[0].distance
            if distance < least:
                least, found = distance, plant.state[0]
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "pictures" / "collisions.png")
