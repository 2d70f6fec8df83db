"""Which pushes the packaged humanoid and quadruped hold while they walk: a map over direction and moment of a cycle.

    python -m benchmarks.pushes humanoid --picture docs/pictures/pushes_humanoid.png    # about six minutes

A cycle is walked once; from moments that are spread over it each push is tried on a copy of robot, controller and
simulator, for 0.2 s, and looked at for 2 s. The map shows the greatest of the impulses up to which all were held.
"""

from __future__ import annotations

import argparse
import copy
import math
from pathlib import Path

import numpy as np

from benchmarks.walking import PERIOD, PUSHES, go, made

SIZES = {"humanoid": (10.0, 20.0, 30.0), "quadruped": (15.0, 30.0, 45.0)}
DIRECTIONS = np.arange(0.0, 360.0, 45.0)
START = 2.0


def measured(kind: str, moments: int, sizes: tuple[float, ...]) -> np.ndarray:
    """The greatest impulse that was held, N s, shape (moments, directions); 0 where none was.

    Args:
        kind: "humanoid" or "quadruped".
        moments: of a cycle.
        sizes: impulses, N s, ascending.
    """
    frame, _, command = PUSHES[kind]
    walk, controller, plant = made(kind, command)
    found, start = go(walk, controller, plant, 0.0, START), START
    held = np.zeros((moments, len(DIRECTIONS)))
    for moment in range(moments):
        felt = found.felt
        for column, degrees in enumerate(np.radians(DIRECTIONS)):
            way = np.array([math.cos(degrees), math.sin(degrees), 0.0])
            for size in sizes:
                tried = go(*copy.deepcopy((walk, controller, plant)), start, 2.0, (frame, way * size / 0.2), felt)
                if tried.ended != "walks":
                    break
                held[moment, column] = size
        print(f"{kind} at {moment / moments:.2f} of a cycle: {held[moment].astype(int).tolist()} N s", flush=True)
        step = round(walk.schedule.period / moments / PERIOD) * PERIOD
        found = go(walk, controller, plant, start, step, felt=felt)
        start += step
    return held


def draw(kind: str, held: np.ndarray, sizes: tuple[float, ...], path: Path) -> None:
    """Draws the map, and beside it by direction the least and the mean over a cycle.

    Args:
        kind: for the title.
        held: of `measured`.
        sizes: the impulses that were tried, N s.
        path: of a PNG.
    """
    from matplotlib import pyplot as plt
    from matplotlib.colors import BoundaryNorm

    figure = plt.figure(figsize=(9.5, 3.8), layout="constrained")
    flat, polar = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="polar")
    edges = [-sizes[0] / 2, *((np.array([0.0, *sizes[:-1]]) + sizes) / 2), sizes[-1] * 1.2]
    image = flat.imshow(held, aspect="auto", cmap="viridis", norm=BoundaryNorm(edges, 256))
    flat.set_xticks(range(len(DIRECTIONS)), [f"{degrees:.0f}°" for degrees in DIRECTIONS])
    flat.set_yticks(range(len(held)), [f"{moment / len(held):.2f}" for moment in range(len(held))])
    flat.set_xlabel("direction of the push (0° forward, 90° to the left)")
    flat.set_ylabel("share of the cycle")
    bar = figure.colorbar(image, ax=flat, ticks=[0.0, *sizes])
    bar.set_label("held up to, N s")
    angles = np.radians(np.append(DIRECTIONS, DIRECTIONS[0]))
    for values, label, style in ((held.mean(axis=0), "mean", "-"), (held.min(axis=0), "least", "--")):
        polar.plot(angles, np.append(values, values[0]), style, label=label)
    polar.set_theta_zero_location("N")
    polar.set_ylim(0.0, sizes[-1] * 1.05)
    polar.set_yticks(list(sizes))
    polar.legend(loc="lower left", bbox_to_anchor=(0.95, 0.9))
    figure.suptitle(f"{kind}: pushes of 0.2 s while it walks, N s")
    figure.savefig(path, dpi=110)


def main() -> None:
    """Prints the map, and draws it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robot", choices=sorted(SIZES))
    parser.add_argument("--moments", type=int, default=6, help="of a cycle")
    parser.add_argument("--picture", type=Path, help="PNG to draw")
    given = parser.parse_args()
    sizes = SIZES[given.robot]
    held = measured(given.robot, given.moments, sizes)
    for size in sizes:
        print(f"{given.robot}: {size:g} N s: {int((held >= size).sum())} of {held.size} held")
    if given.picture is not None:
        draw(given.robot, held, sizes, given.picture)


if __name__ == "__main__":
    main()
