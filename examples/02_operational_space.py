"""A 7-joint arm reaches with operational-space control (ETH 3.9.2), and moves its elbow behind the tool's back.

The tool's pose takes six of the seven joints. What is left is a rotation of the elbow about the line from shoulder to
wrist: a posture on the next level of priority uses it, and the tool does not notice.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import tasks
import wbc
from wbc.application.drawing import draw
from wbc.simulation import Scene, make_plant

MOVES = ((0.5, [0.05, 0.25, 0.10]), (2.5, [-0.05, -0.20, 0.20]), (4.5, [0.0, 0.0, 0.0]))  # s; m from the start
SWING = 6.5  # s, when the elbow begins to swing


def smooth(s):
    """From 0 to 1 with its first two derivatives, of least jerk."""
    s = np.clip(s, 0.0, 1.0)
    return (10 - 15 * s + 6 * s**2) * s**3, 30 * s**2 * (1 - s) ** 2, 60 * s * (1 - s) * (1 - 2 * s)


def scene(backend="auto", solver="operational-space", simulator="mujoco"):
    """Three reaches of 1.5 s each, then the elbow swings with the tool at rest."""
    robot = wbc.load("arm", backend)
    robot.update(robot.model.nominal)
    start = robot.pose("tool").copy()

    def reach(t):
        pose, twist, acceleration, last = start.copy(), np.zeros(6), np.zeros(6), np.zeros(3)
        for begin, place in MOVES:
            way = np.subtract(place, last)
            share, rate, change = smooth((t - begin) / 1.5)
            pose[:3, 3] += share * way
            twist[:3] += rate / 1.5 * way
            acceleration[:3] += change / 1.5**2 * way
            last = place
        return pose, twist, acceleration

    def elbow(t):  # joint 3 turns about the upper arm
        return [0.8 * np.sin(np.pi * (t - SWING)) if t > SWING else 0.0]

    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / tasks.EndEffectorAcceleration("tool", reach, wbc.Gains(4.0))
        / tasks.JointAcceleration(elbow, ["joint_3"], wbc.Gains(2.0), name="elbow")
    )
    return Scene(wbc.Controller(robot, stack, solver), make_plant(robot, simulator), 9.0)


def main(duration=None, out="out"):
    """Runs it, and shows that the tool and the elbow keep out of each other's way."""
    run = scene()
    log, robot = run.run(duration), run.controller.robot
    wanted = run.controller.stack["tool"].target
    off, elbow, tool = [], [], []
    for t, q in zip(log.time, log.q, strict=True):
        robot.update(q)
        tool.append(robot.pose("tool")[:3, 3])
        off.append(1e3 * np.linalg.norm(tool[-1] - wanted(t)[0][:3, 3]))
        elbow.append(robot.pose("link_4")[:3, 3])
    tool, elbow = np.array(tool), np.array(elbow)
    print(f"tool off its path: {max(off):.2f} mm at most, {np.sqrt(np.mean(np.square(off))):.2f} mm rms")
    late = log.time > SWING
    if late.any():
        travel = [1e3 * np.ptp(points[late], axis=0).max() for points in (elbow, tool)]
        print(f"while the elbow swings by {travel[0]:.0f} mm, the tool moves by {travel[1]:.2f} mm")

    figure = plt.figure(figsize=(14, 4.6))
    swing = np.where(late | ~late.any(), elbow[:, 1], np.nan)  # a run that is cut short may not come to the swing
    moments = {"reaching": len(log) // 4, "elbow left": np.nanargmax(swing), "elbow right": np.nanargmin(swing)}
    for column, (title, moment) in enumerate(moments.items()):
        axes = figure.add_axes((0.20 * column, 0.0, 0.2, 0.92), projection="3d")
        draw(axes, robot, log.q[moment])
        axes.plot(*tool.T, "C1", zorder=10)
        axes.view_init(elev=14, azim=-20)
        axes.set_title(f"{title}, t = {log.time[moment]:.1f} s")
    upper = figure.add_axes((0.66, 0.56, 0.32, 0.36))
    upper.plot(log.time, off)
    upper.set(ylabel="mm", title="tool off its path")
    lower = figure.add_axes((0.66, 0.1, 0.32, 0.36), sharex=upper)
    lower.plot(log.time, 1e3 * (elbow[:, 1] - elbow[0, 1]), "C2", label="elbow")
    lower.plot(log.time, 1e3 * (tool[:, 1] - tool[0, 1]), "C1", label="tool")
    lower.set(xlabel="time, s", ylabel="mm", title="sideways")
    lower.legend()
    Path(out).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(out) / f"{Path(__file__).stem}.png", dpi=80)
    return {"tool, mm": max(off)}


if __name__ == "__main__":
    main()
