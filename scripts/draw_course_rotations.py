"""Draws the pictures of the course's first page: docs/pictures/course_euler_*.png, course_rotation_errors.png.

usage: python scripts/draw_course_rotations.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from wbc.arrays import Array
from wbc.geometry import angle_axis, convert, euler, quaternion, so3

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
COLORS = ("#c0392b", "#27ae60", "#2e6da4")  # of x, y and z


def triad(axes: Any, R: Array, faint: bool = False) -> None:  # noqa: ANN401
    """Draws a frame as three arrows from the origin."""
    for axis, color, name in zip(R.T, COLORS, "xyz", strict=True):
        width, alpha = (1.2, 0.35) if faint else (2.4, 1.0)
        axes.quiver(0, 0, 0, *axis, color=color, linewidth=width, alpha=alpha, arrow_length_ratio=0.12)
        if not faint:
            axes.text(*(1.18 * axis), name, color=color, ha="center", va="center", fontsize=11)


def euler_angles() -> None:
    """Three turns of 50°, 25° and 30°, in two sequences: not the same frame."""
    angles = np.radians([50.0, 25.0, 30.0])
    figure = plt.figure(figsize=(12, 6))
    for row, sequence in enumerate(("zyx", "xyz")):
        for turns in range(4):
            axes = figure.add_subplot(2, 4, 4 * row + turns + 1, projection="3d")
            after = np.where(np.arange(3) < turns, angles, 0.0)
            before = np.where(np.arange(3) < turns - 1, angles, 0.0)
            triad(axes, euler.to_matrix(before, sequence) if turns else np.eye(3), faint=True)
            triad(axes, euler.to_matrix(after, sequence))
            degrees = np.degrees(angles)
            title = f"{sequence}: the start" if not turns else f"{degrees[turns - 1]:.0f}° about {sequence[turns - 1]}"
            axes.set_title(title + "'" * max(turns - 1, 0), fontsize=11, y=1.06)
            axes.set(xlim=(-0.8, 0.8), ylim=(-0.8, 0.8), zlim=(-0.6, 1.0))
            axes.view_init(elev=22, azim=30)
            axes.set_box_aspect((1, 1, 1), zoom=1.2)
            axes.set_axis_off()
    figure.subplots_adjust(left=0, right=1, bottom=0, top=0.92, wspace=0, hspace=0.14)
    save(figure, "course_euler_angles")


def euler_singularity() -> None:
    """A frame turns steadily about one axis; yaw, pitch and roll do not."""
    time = np.linspace(0.0, np.pi, 4001)
    figure, panels = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    for miss, color in ((20.0, "#9bbfdd"), (5.0, "#2e6da4"), (1.0, "#c0392b")):
        # the x axis rises at 1 rad/s and passes the vertical at a distance of so many degrees
        R = so3.integrate(so3.elementary_z(np.radians(miss)), np.array([0.0, -1.0, 0.0]), time)
        angles = euler.from_matrix(R, "zyx")
        rates = euler.angular_velocity_to_rates(angles, "zyx") @ [0.0, -1.0, 0.0]
        panels[1].semilogy(time, np.linalg.norm(rates, axis=1), color=color, label=f"missed by {miss:g}°")
        if miss == 5.0:
            for values, name, line in zip(angles.T, ("yaw z", "pitch y", "roll x"), COLORS[::-1], strict=True):
                panels[0].plot(time, np.degrees(values), color=line, label=name)
            q = convert(R, "matrix", "quaternion")
            for k in range(1, len(q)):  # the sign is free: the nearer one
                q[k] *= np.sign(q[k] @ q[k - 1])
            for values, name in zip(q.T, "wxyz", strict=True):
                panels[2].plot(time, values, label=name)
    panels[0].set(title="angles, vertical missed by 5°", ylabel="degrees", xlabel="time, s")
    panels[1].set(title="how fast the angles must change", ylabel="rad/s", xlabel="time, s")
    panels[1].axhline(1.0, color="black", linewidth=0.8, linestyle=":", label="the frame itself")
    panels[2].set(title="the same motion as a quaternion", xlabel="time, s")
    for panel in panels:
        panel.grid(alpha=0.3)
        panel.legend(fontsize=9)
    save(figure, "course_euler_singularity")


def printed_angle_axis(R: Array) -> Array:
    """ETH (2.49) and (2.50) as they are printed; where they divide by zero, NaN."""
    angle = np.arccos(np.clip((np.trace(R) - 1) / 2, -1.0, 1.0))
    vee = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine = np.sin(angle)
    return np.array([angle, *(vee / (2 * sine))]) if angle and sine > 1e-15 else np.full(4, np.nan)


def printed_quaternion(R: Array) -> Array:
    """ETH (2.55) as it is printed."""
    a, b, c = np.diag(R)
    sums = np.sqrt(np.maximum([a + b + c + 1, a - b - c + 1, b - c - a + 1, c - a - b + 1], 0.0))
    vee = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return 0.5 * sums * [1.0, *np.where(vee >= 0, 1.0, -1.0)]


def rotation_errors() -> None:
    """How wrong angle and axis or a quaternion are that were read out of a matrix, near 0 and near the half turn."""
    axis = np.array([2.0, -3.0, 6.0]) / 7
    distances = np.logspace(-14, 0, 140)
    figure, panels = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained", sharey=True)
    ways = (
        ("angle, axis by (2.49), (2.50)", printed_angle_axis, "#c0392b", "-"),
        ("quaternion by (2.55)", printed_quaternion, "#e59866", "-"),
        ("angle_axis.from_matrix", angle_axis.from_matrix, "#2e6da4", "-"),
        ("quaternion.from_matrix", quaternion.from_matrix, "#27ae60", "--"),
    )
    for panel, angles, where in zip(panels, (distances, np.pi - distances), ("0", "π"), strict=True):
        for name, way, color, style in ways:
            errors = []
            for angle in angles:
                true = np.array([angle, *axis])
                right = angle_axis.to_quaternion(true) if "quaternion" in name else true
                found = way(so3.exp(angle * axis))
                other = -found if "quaternion" in name else found  # q and -q are the same rotation
                errors.append(min(np.abs(found - right).max(), np.abs(other - right).max()))
            panel.loglog(distances, np.clip(errors, 1e-17, 10.0), color=color, linestyle=style, label=name)
        panel.set(title=f"near {where}", xlabel=f"distance of the angle from {where}, rad")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("largest error")
    panels[0].legend(fontsize=9)
    save(figure, "course_rotation_errors")


def save(figure: Any, name: str) -> None:  # noqa: ANN401
    """Writes a picture and says so."""
    path = PICTURES / f"{name}.png"
    figure.savefig(path, dpi=80)
    print(f"wrote {path}")


if __name__ == "__main__":
    euler_angles()
    euler_singularity()
    rotation_errors()
