"""Draws the picture of the course's page on base velocities: docs/pictures/course_base_twists.png.

usage: python scripts/draw_course_base_velocities.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from wbc.geometry import pose, so3, twist

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "course_base_twists.png"
START, VELOCITY, SPIN = np.array([-1.5, 0.6, 0.0]), np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 2.0])


def main() -> None:
    """A body flies straight and spins: its path, and the linear part of its twist in three representations."""
    time = np.linspace(0.0, 3.0, 301)
    poses = pose.homogeneous(so3.exp(time[:, None] * SPIN), START + time[:, None] * VELOCITY)
    mixed = np.broadcast_to(np.concatenate([VELOCITY, SPIN]), (len(time), 6))
    twists = {
        "mixed: the velocity of its origin": mixed,
        "left: the same, in its own axes": (twist.mixed_to_left(poses) @ mixed[..., None])[..., 0],
        "right: of its point at the world's origin": (twist.mixed_to_right(poses) @ mixed[..., None])[..., 0],
    }
    figure, panels = plt.subplots(1, 4, figsize=(15, 3.6), layout="constrained", width_ratios=(1.35, 1, 1, 1))
    path = panels[0]
    path.plot(*poses[:, :2, 3].T, color="grey", linewidth=0.8)
    for T in poses[::50]:
        for axis, color in ((0, "#c0392b"), (1, "#27ae60")):
            path.arrow(*T[:2, 3], *(0.3 * T[:2, axis]), color=color, width=0.012, head_width=0.06)
    path.plot(0, 0, "k+", markersize=12)
    path.annotate("the world's origin", (0.06, -0.16), fontsize=9)
    path.set(title="1 m/s along x, 2 rad/s about z", xlabel="x, m", ylabel="y, m", xlim=(-1.9, 2.0), ylim=(-0.5, 1.3))
    path.set_aspect("equal")
    for panel, (title, values) in zip(panels[1:], twists.items(), strict=True):
        for axis, (name, color) in enumerate(zip("xy", ("#c0392b", "#27ae60"), strict=True)):
            panel.plot(time, values[:, axis], color=color, label=f"v{name}")
        panel.set(title=title, xlabel="time, s", ylim=(-3.5, 3.5))
        panel.title.set_fontsize(10)
        panel.legend(fontsize=9, loc="upper right")
    panels[1].set_ylabel("m/s")
    for panel in panels:
        panel.grid(alpha=0.3)
    figure.savefig(PICTURE, dpi=80)
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
