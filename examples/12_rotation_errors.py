"""Four ways to say how far a rotation is from another, and where each leads a hand (ETH examples 2.9.7 and 2.9.8).

A wrist of three joints turns a hand from A to B by inverse kinematics in small steps. The error is the difference of
Euler angles, in two orders, the difference of rotation vectors, or the rotation vector of the difference rotation: the
last alone goes the shortest way.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import wbc
from wbc.geometry import so3
from wbc.kinematics import InverseKinematics
from wbc.model import Body, Joint, Model

START, GOAL = np.array([-0.7, 0.0, 1.5]), np.array([0.7, 1.5, -0.5])  # rad, about z, y and x
ERRORS = {  # what is subtracted from what
    "Euler angles ZYX": ("cartesian", "euler-zyx"),
    "Euler angles XYZ": ("cartesian", "euler-xyz"),
    "rotation vectors": ("cartesian", "rotation-vector"),
    "relative rotation": None,
}
STEP = 0.01  # k: steps so small that each way is followed


def wrist():
    """Three joints about z, y and x, one after the other."""
    names = ["world", "yaw", "pitch", "hand"]
    axes = {"z": [0.0, 0, 1], "y": [0.0, 1, 0], "x": [1.0, 0, 0]}
    joints = [
        Joint(f"q_{axis}", "continuous", parent, child, axis=np.array(axes[axis]))
        for axis, parent, child in zip(axes, names, names[1:], strict=False)
    ]
    return wbc.load(Model("wrist", [Body(name) for name in names[1:]], joints), "numpy")


def paths():
    """For each error the rotations that the hand goes through, shape (steps, 3, 3)."""
    robot, found = wrist(), {}
    robot.update(GOAL)
    goal = robot.pose("hand")[:3, :3]
    for name, coordinates in ERRORS.items():
        search = InverseKinematics(
            robot,
            "hand",
            method="pseudo-inverse",
            scale=STEP,
            coordinates=coordinates,
            tolerance=1e-3,
            iterations=2000,
            restarts=0,
        )
        solution = search.solve(goal, START, record=True)
        rotations = []
        for q in solution.path:
            robot.update(q)
            rotations.append(robot.pose("hand")[:3, :3])
        found[name] = np.array(rotations)
    return found


def main(duration=None, out="out"):
    """Prints how far each way is, and draws the ways of the hand's x axis on the sphere."""
    found = paths()
    figure = plt.figure(figsize=(14, 5.2))
    sphere = figure.add_axes((0.0, 0.0, 0.46, 0.95), projection="3d")
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 49), np.linspace(0, np.pi, 25))
    ball = 0.98 * np.array([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])
    sphere.computed_zorder = False  # the ways are drawn over the sphere
    sphere.plot_wireframe(*ball, color="0.85", linewidth=0.5)
    right = figure.add_axes((0.54, 0.12, 0.44, 0.76))
    lengths = {}
    for index, (name, R) in enumerate(found.items()):
        steps = np.linalg.norm(so3.boxminus(R[1:], R[:-1]), axis=1)
        left = np.linalg.norm(so3.boxminus(R[-1], R), axis=1)
        lengths[name] = float(steps.sum())
        label = f"{name}: {np.degrees(lengths[name]):.0f}°"
        print(f"{name:>18}: turns by {np.degrees(lengths[name]):6.1f}° in {len(R) - 1} steps")
        sphere.plot(*R[:, :, 0].T, color=f"C{index}", linewidth=2.5, label=label)
        right.plot(np.degrees(np.append(0.0, np.cumsum(steps))), np.degrees(left), color=f"C{index}", label=label)
    for R, color, name in ((found["relative rotation"][0], "k", "A"), (found["relative rotation"][-1], "0.45", "B")):
        sphere.plot(*np.array([np.zeros(3), R[:, 0]]).T, color=color, linewidth=2)
        sphere.text(*1.12 * R[:, 0], name, color=color, fontsize=14)
    sphere.set_box_aspect((1, 1, 1), zoom=1.3)
    sphere.view_init(elev=24, azim=35)
    sphere.set_axis_off()
    sphere.set_title("the way of the hand's x axis from A to B")
    right.set(xlabel="turned so far, degrees", ylabel="still to turn the short way, degrees")
    right.set_title("an error that is not the relative rotation leads a longer way round")
    right.legend(title="error")
    Path(out).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(out) / f"{Path(__file__).stem}.png", dpi=80)
    return lengths


if __name__ == "__main__":
    main()
