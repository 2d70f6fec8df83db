"""Draws the pictures of the course's pages on kinematics into docs/pictures.

usage: python scripts/draw_course_kinematics.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import tasks
import wbc
from wbc import kinematics
from wbc.application.drawing import draw
from wbc.geometry import so3


def jacobian_columns(path: Path) -> None:
    """The planar arm, and for each joint where it would move the hand."""
    robot = wbc.load("planar_arm", "numpy")
    robot.update([0.5, 0.7, 0.6])
    places = np.array([robot.pose(f)[[0, 2], 3] for f in ("base", "link_1", "link_2", "link_3", "end_effector")])
    J = robot.jacobian("end_effector")[[0, 2]]
    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    axes.plot(*places.T, "o-", color="0.6", linewidth=6, zorder=1)
    for k in range(3):
        color = f"C{k}"
        axes.plot(*np.array([places[k + 1], places[-1]]).T, "--", color=color, zorder=2)
        axes.quiver(*places[-1], *J[:, k], color=color, angles="xy", scale_units="xy", scale=2.0, width=0.008, zorder=3)
        axes.annotate(f"joint {k + 1}", places[k + 1], (-58, -4), textcoords="offset points", color=color, fontsize=12)
        tip = places[-1] + J[:, k] / 2.0
        axes.annotate(
            f"column {k + 1}",
            tip,
            ((6, -6), (-24, -20), (-66, -6))[k],
            textcoords="offset points",
            color=color,
            fontsize=12,
        )
    axes.set(aspect="equal", xlim=(-1.0, 4.0), ylim=(-0.2, 3.4), xlabel="x, m", ylabel="z, m")
    axes.set_title("each joint turns the hand about itself: n × r (arrows at half their length)")
    figure.savefig(path / "course_jacobian_columns.png", dpi=80)


def singularity(path: Path) -> None:
    """Joint speed and error of the plain and the damped inverse as the arm stretches out."""
    robot, out = wbc.load("arm", "numpy"), np.array([0.0, 0, 1, 0, 0, 0])
    bends = np.logspace(-3, 0, 120)
    dampings = (0.0, 0.02, 0.05, 0.1)
    speed, missed = np.zeros((len(dampings), len(bends))), np.zeros((len(dampings), len(bends)))
    for k, bend in enumerate(bends):
        q = np.zeros(7)
        q[1], q[3], q[5] = 0.3 * bend, bend, bend
        robot.update(q)
        J = robot.jacobian("tool")
        for d, damping in enumerate(dampings):
            inverse = kinematics.damped_pseudo_inverse(J, damping) if damping else kinematics.pseudo_inverse(J)
            v = inverse @ out
            speed[d, k], missed[d, k] = np.linalg.norm(v), np.linalg.norm(J @ v - out)
    figure, (left, right, sketch) = plt.subplots(1, 3, figsize=(14, 4), layout="constrained")
    for d, damping in enumerate(dampings):
        label = f"λ = {damping:g}" if damping else "not damped"
        left.loglog(bends, speed[d], color=f"C{d}", label=label)
        if damping:
            left.axhline(1.0 / (2.0 * damping), color=f"C{d}", ls=":", lw=1)
        right.semilogx(bends, missed[d], color=f"C{d}", label=label)
    left.annotate("dotted: the bound |w| / 2λ", (0.42, 0.05), xycoords="axes fraction", fontsize=9)
    left.set(title="asked: the hand, 1 m/s outwards", ylabel="joint speed, rad/s", xlabel="joints bent by, rad")
    right.set(title="what comes of it", ylabel="missed, m/s", xlabel="joints bent by, rad")
    left.legend()
    for bend, color in ((1e-2, "C3"), (0.5, "C0")):
        q = np.zeros(7)
        q[1], q[3], q[5] = 0.3 * bend, bend, bend
        robot.update(q)
        names = [name for name in robot.frames if name.startswith("link")] + ["tool"]
        places = np.array([robot.pose(name)[[0, 2], 3] for name in names])
        sketch.plot(*places.T, "o-", color=color, label=f"bent by {bend:g} rad")
    sketch.set(aspect="equal", xlabel="x, m", ylabel="z, m", title="the arm, nearly and not nearly stretched")
    sketch.legend(fontsize=8)
    figure.savefig(path / "course_singularity.png", dpi=80)


def support(path: Path) -> None:
    """The quadruped: nominal, leaning on four feet, standing on three with its centre of mass over them."""
    robot = wbc.load("quadruped")
    robot.update(robot.model.nominal)
    lean = robot.pose("base").copy()
    lean[:3, :3], lean[:3, 3] = so3.exp([0.1, 0.12, 0.1]), lean[:3, 3] + [0.04, 0.02, -0.08]
    places = [robot.pose(foot)[:3, 3] for foot in robot.model.feet]
    over, up = np.mean(places[1:], axis=0), places[0] + [0.08, 0.0, 0.08]
    held = tasks.VelocityLimits() / tasks.ContactVelocity()
    leaning = held / tasks.EndEffectorVelocity("base", lean) / tasks.JointVelocity()
    com = tasks.CenterOfMassVelocity([*over[:2], robot.com[2]])
    swing = tasks.EndEffectorVelocity("LF_foot", up, axes="position", name="swing")
    lifting = tasks.VelocityLimits() / tasks.ContactVelocity() / com / swing / tasks.JointVelocity()
    shown = {"as it stands": robot.model.nominal}
    for title, levels, lifted in (("leaning on four feet", leaning, ()), ("standing on three", lifting, ("LF_foot",))):
        stack = wbc.Stack(levels, contacts=[wbc.PointContact(foot) for foot in robot.model.feet])
        stack.open_contact(lifted)
        shown[title] = kinematics.DifferentialKinematics(robot, stack).run(robot.model.nominal, 2.0).q[-1]
    figure = plt.figure(figsize=(13, 3.9))
    for column, (title, q) in enumerate(shown.items()):
        axes = figure.add_axes((column / 3, 0.0, 1 / 3, 0.9), projection="3d")
        draw(axes, robot, q)
        robot.update(q)
        axes.plot(*robot.com[:2], 0.002, "o", color="C3", zorder=10)
        standing = [foot for foot in robot.model.feet if title != "standing on three" or foot != "LF_foot"]
        ground = np.array([robot.pose(foot)[:2, 3] for foot in standing])
        ring = ground[np.argsort(np.arctan2(*(ground - ground.mean(axis=0)).T))]
        axes.plot(*np.vstack([ring, ring[:1]]).T, 0.003, color="C2", lw=2, zorder=9)
        if len(standing) == 3:
            axes.text(*(robot.pose("LF_foot")[:3, 3] + [0.0, -0.12, 0.05]), "in the air", color="C0", zorder=11)
        axes.view_init(elev=20, azim=55)
        figure.text((column + 0.5) / 3, 0.92, title, ha="center", fontsize=12)
    figure.text(0.5, 0.84, "red: the ground below the centre of mass; green: the support polygon", ha="center")
    figure.savefig(path / "course_support.png", dpi=80)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    jacobian_columns(folder)
    singularity(folder)
    support(folder)
