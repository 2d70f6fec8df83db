"""Draws the pictures of the course's pages on dynamics and control: docs/pictures/course_*.png.

usage: python scripts/draw_course_dynamics.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import wbc
from wbc import classical
from wbc.application.drawing import draw

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
SCALE = 500.0
"""Newtons that an arrow of a metre stands for."""
CONE = 80.0
"""Height of the drawn friction cones, N."""


def landing() -> None:
    """The share of the energy that a landing costs, from crouched to stretched legs."""
    robot = wbc.load("quadruped")
    feet = [wbc.PointContact(foot) for foot in robot.model.feet]
    knees = [number for number, name in enumerate(robot.joint_names) if "K" in name]
    hips = [number for number, name in enumerate(robot.joint_names) if "HFE" in name]
    bends, shares, left = np.linspace(0.0, 2.2, 60), [], []
    for bend in bends:
        q, v = np.array(robot.model.nominal), np.zeros(18)
        for joints, size in ((knees, bend), (hips, bend / 2)):
            at = 7 + np.array(joints)
            q[at] = np.sign(q[at]) * size
        v[2] = -1.0
        robot.update(q, v)
        hit = classical.impact(classical.TaskSpace.of_contacts(robot, feet))
        shares.append(100 * hit.energy_loss / robot.kinetic_energy)
        left.append(-hit.velocity[2])
    figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    axes.plot(np.degrees(bends), shares, label="energy lost, %")
    axes.plot(np.degrees(bends), 100 * np.array(left), label="speed left of the base, %")
    axes.set(xlabel="knees bent, degrees", ylim=(0, 105), title="a quadruped lands on four feet")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(PICTURES / "course_landing.png", dpi=80)


def joint_control() -> None:
    """A step of all joints under PD, with gravity compensation, and under computed torque."""
    robot = wbc.load("arm")
    target = robot.model.nominal + 0.2
    gains = wbc.Gains(kp=[300, 300, 200, 200, 50, 50, 20], kd=[40, 40, 30, 30, 5, 5, 2])
    laws = {
        "PD (3.73)": classical.JointPD(robot, target, gains, gravity=False),
        "PD and gravity (3.75)": classical.JointPD(robot, target, gains),
        "computed torque (3.76), 2 Hz": classical.ComputedTorque(robot, target, wbc.Gains(2.0)),
    }
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.2), layout="constrained", sharey=True)
    for panel, (name, law) in zip(axes, laws.items(), strict=True):
        log = wbc.run(law, wbc.Simulator(robot), 1.5)
        panel.plot(log.time, np.degrees(target - log.q), label=[f"joint {k + 1}" for k in range(robot.nv)])
        panel.set(title=name, xlabel="time, s")
        panel.grid(alpha=0.3)
        if name == "PD (3.73)":
            robot.update(log.q[-1])
            for k, sag in enumerate(np.degrees(robot.gravity_force / gains.kp)):
                panel.plot(log.time[-1], sag, "x", color=f"C{k}", ms=9, mew=2)
            panel.annotate("crosses: g(q) / kp, as (3.74) predicts", (0.35, 0.9), xycoords="axes fraction", fontsize=9)
    axes[0].set_ylabel("joint errors, degrees")
    axes[2].legend(fontsize=8)
    figure.savefig(PICTURES / "course_joint_control.png", dpi=80)


def end_effector_inertia() -> None:
    """Ellipses of the mass that is felt at the tip of a planar arm, by direction."""
    robot = wbc.load("planar_arm")
    figure, panels = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained")
    circle = np.array([np.cos(np.linspace(0, 2 * np.pi, 100)), np.sin(np.linspace(0, 2 * np.pi, 100))])
    links = [name for name in robot.frames if name.startswith("link")]
    scale = 0.15  # m of the picture for a kg
    for axes, angles in zip(panels, ([0.4, 1.2, 0.6], [0.4, 0.7, 0.4], [0.4, 0.3, 0.2]), strict=True):
        robot.update(angles)
        joints = np.array([*(robot.pose(link)[[0, 2], 3] for link in links), robot.pose("end_effector")[[0, 2], 3]])
        space = classical.TaskSpace(robot, robot.jacobian("end_effector")[[0, 2]], np.zeros(2))
        axes.plot(*joints.T, "o-", color="0.6", lw=3)
        axes.plot(*(joints[-1] + scale * (space.inertia @ circle).T).T, color="C3", lw=1.5)
        masses, ways = np.linalg.eigh(space.inertia)
        for mass, way, color in zip(masses, ways.T, ("C0", "C1"), strict=True):
            ends = joints[-1] + scale * mass * np.outer([-1, 1], way)
            axes.plot(*ends.T, color=color, lw=2, label=f"{mass:.2g} kg along this")
        axes.set(aspect="equal", xlabel="x, m", title=f"joints at {angles} rad")
        axes.legend(loc="upper left", fontsize=9)
        axes.grid(alpha=0.3)
        axes.set(xlim=(-0.6, 3.4), ylim=(0.6, 4.6))
    panels[0].set_ylabel("z, m; a kg is drawn as 0.15 m")
    figure.suptitle("the mass that is felt at the tip of three links of 1 kg: force for 1 m/s², by direction")
    figure.savefig(PICTURES / "course_end_effector_inertia.png", dpi=80)


def virtual_model() -> None:
    """Contact forces under a virtual sideways pull, least squares and within friction."""
    robot = wbc.load("quadruped")
    robot.update(robot.model.nominal)
    feet = [wbc.PointContact(foot, friction=0.4) for foot in robot.model.feet]
    tick = wbc.Tick(robot, feet)
    figure = plt.figure(figsize=(13, 5.2))
    pull = np.array([0.0, 200.0, 0.0])
    ways = {"pseudo-inverse (3.120)": "least-squares", "in the cones": "hierarchical-qp"}
    for column, (title, distribution) in enumerate(ways.items()):
        force = classical.ConstantForce("base", [*pull, 0, 0, 0])
        law = classical.VirtualModelControl(robot, force, feet, distribution=distribution)
        solver = None if distribution == "least-squares" else law.solver
        f = classical.distribute(robot, tick, law.demand(robot, tick), solver).reshape(4, 3)
        axes = figure.add_axes((0.5 * column, -0.12, 0.5, 1.2), projection="3d")
        draw(axes, robot, robot.q)
        turn = np.linspace(0.0, 2 * np.pi, 37)
        rim = np.stack([0.4 * np.cos(turn), 0.4 * np.sin(turn), np.ones_like(turn)]) * CONE
        for contact, push in zip(feet, f, strict=True):
            sliding = np.linalg.norm(push[:2]) > 0.4 * push[2] + 1e-6
            color = "C3" if sliding else "C2"
            foot = robot.pose(contact.frame)[:3, 3]
            axes.plot(*(foot[:, None] + rim / SCALE), color="0.35", lw=1, zorder=9)
            for edge in rim.T[::6]:
                axes.plot(*np.stack([foot, foot + edge / SCALE], axis=1), color="0.35", lw=0.7, zorder=9)
            axes.quiver(*foot, *push / SCALE, color=color, lw=3, zorder=10)
        axes.quiver(*robot.pose("base")[:3, 3], *pull / SCALE, color="C0", lw=3, zorder=10)
        axes.set(xlim=(-0.35, 0.35), ylim=(-0.35, 0.45), zlim=(-0.1, 0.55))
        axes.set_box_aspect((0.7, 0.8, 0.65), zoom=1.15)
        axes.view_init(elev=10, azim=-15)
        words = f"{title}: {f[:, 1].sum():.0f} N sideways of 200 N"
        figure.text(0.25 + 0.5 * column, 0.94, words, ha="center", fontsize=12)
    words = "blue: the virtual force; green: forces on feet inside their friction cones; red: outside"
    words += f" (grey cones: {CONE:.0f} N high, μ = 0.4)"
    figure.text(0.5, 0.03, words, ha="center", fontsize=10)
    figure.savefig(PICTURES / "course_virtual_model.png", dpi=80)


if __name__ == "__main__":
    landing()
    joint_control()
    end_effector_inertia()
    virtual_model()
