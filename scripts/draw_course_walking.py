"""Draws the picture of the course's page on walking: docs/pictures/course_walking.png.

usage: python scripts/draw_course_walking.py
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from tasks.locomotion import Piece, StepAdaptation
from tasks.locomotion.pendulum import before, carried

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "course_walking.png"
OMEGA, SINGLE, DOUBLE, DT = float(np.sqrt(9.81 / 0.9)), 0.35, 0.1, 1e-3
STEP, WIDTH = 0.2, 0.2
ROOM = np.array([-0.4, -0.08]), np.array([0.4, 0.3])


def footholds(first: np.ndarray, side: float, count: int) -> list[np.ndarray]:
    """Feet in turn, each a step ahead of the last one."""
    return [first + np.array([k * STEP, side * WIDTH * (k % 2)]) for k in range(count)]


def plan(feet: list[np.ndarray], left: float) -> list[Piece]:
    """On the first foot for what is left, then from foot to foot."""
    path = [Piece(feet[0], feet[0], left)]
    for one, two in pairwise(feet):
        path += [Piece(one, two, DOUBLE), Piece(two, two, SINGLE)]
    return path


def walk(push: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pendulum over six steps, pushed in the second; centre of mass, divergent component, feet."""
    stand, side = np.array([0.0, -WIDTH / 2]), 1.0
    xi = carried(plan(footholds(stand, side, 5), SINGLE), OMEGA)
    com = xi - np.array([0.07, 0.02])
    adaptation, seen, feet = StepAdaptation(heedless=(0.0, 0.0)), [], [stand]
    for number in range(6):
        left, shift = SINGLE, np.zeros(2)
        while left > 0:
            if number == 1 and 0.15 < left < 0.25:
                xi = xi + push * DT / 0.1 / OMEGA
            nominal = plan(footholds(stand, side, 5), left)
            needed = (carried(nominal, OMEGA) - stand) * np.exp(OMEGA * left)
            if left > 0.05:
                room = (ROOM[0], ROOM[1]) if side > 0 else (ROOM[0] * [1, 0] - [0, 0.3], ROOM[1] * [1, 0] + [0, 0.08])
                times = min(0.08, left), left + 0.05
                found = adaptation.adapt(xi - stand, needed, 0.85, OMEGA, left, times, room)
                if found is not None and np.linalg.norm(found.shift) > 2e-3:
                    shift, left = found.shift, found.left
            com = com + DT * OMEGA * (xi - com)
            xi = xi + DT * OMEGA * (xi - stand)
            seen.append([*com, *xi])
            left -= DT
        landed = footholds(stand, side, 2)[1] + shift
        ahead = plan(footholds(landed, -side, 5), SINGLE)
        wanted = before(carried(ahead, OMEGA), Piece(stand, landed, DOUBLE), OMEGA)
        for k in range(round(DOUBLE / DT)):  # what is left is made up for by the zero-moment point between the feet
            zmp = stand + (landed - stand) * (k * DT / DOUBLE) + 2.0 * (xi - wanted) * (number > 0) * 0.5
            com = com + DT * OMEGA * (xi - com)
            xi = xi + DT * OMEGA * (xi - zmp)
            wanted = wanted + DT * OMEGA * (wanted - stand - (landed - stand) * (k * DT / DOUBLE))
            seen.append([*com, *xi])
        stand, side = landed, -side
        feet.append(stand)
    found = np.array(seen)
    return found[:, :2], found[:, 2:], np.array(feet)


def main() -> None:
    """Draws the walk as it is planned, pushed to the left, and pushed forward."""
    figure, panels = plt.subplots(3, 1, figsize=(9, 7.5), layout="constrained")
    cases = (
        ("as planned", (0.0, 0.0)),
        ("pushed to the left, 0.25 m/s", (0.0, 0.25)),
        ("pushed forward, 0.4 m/s", (0.4, 0.0)),
    )
    for panel, (title, push) in zip(panels, cases, strict=True):
        com, xi, feet = walk(np.array(push))
        for foot in feet:
            panel.add_patch(plt.Rectangle(foot - [0.11, 0.05], 0.22, 0.1, facecolor="0.88", edgecolor="0.5"))
        panel.plot(*xi.T, color="#c0392b", linewidth=1.2, label="divergent component")
        panel.plot(*com.T, color="#2c5f9e", linewidth=1.6, label="centre of mass")
        panel.set(title=title, ylabel="m", xlim=(-0.2, 1.45))
        panel.set_aspect("equal")
        panel.grid(alpha=0.3)
    panels[0].legend(fontsize=9, loc="upper left")
    panels[-1].set_xlabel("m")
    figure.savefig(PICTURE, dpi=90)
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
