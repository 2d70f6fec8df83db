"""A task of your own: the hand points at something, wherever it is.

`tasks` has no such task, and it takes ten lines: what is to be zero, how fast it changes, and the rows that make it
behave like a damped spring. Everything else - priorities, limits, explanations - it has from the stack it is put into.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import tasks
import wbc
from wbc.application.drawing import draw
from wbc.geometry import so3
from wbc.simulation import Scene, make_plant

LAMP = np.array([0.7, 0.1, 0.05])  # what the tool points at, m
CENTER, SIZE = np.array([0.5, 0.0, 0.45]), np.array([0.0, 0.22, 0.08])  # of the figure of eight that it flies


class PointAt(wbc.Task):
    """The z axis of a frame points at a place."""

    def __init__(self, frame, place, gains=None):
        super().__init__(f"{frame} points")
        self.frame, self.place, self.gains = frame, np.array(place), gains or wbc.Gains(2.0)

    def aim(self, robot):
        """The rotation that would bring the axis to the place, as a vector in the world; and the direction there."""
        T = robot.pose(self.frame)
        way = self.place - T[:3, 3]
        way /= np.linalg.norm(way)
        return np.cross(T[:3, 2], way), way

    def rows(self, robot, tick):
        """Two rows: the turning about the direction to the place stays free."""
        (error, way), T = self.aim(robot), robot.pose(self.frame)
        distance = np.linalg.norm(self.place - T[:3, 3])
        across = T[:3, :2].T  # the frame's x and y axes: what is left of a rotation without that about its own z axis
        # The axis should turn with ω = way x (rate of way), which is -way x v / distance for a tool that moves with v.
        turn = np.hstack([so3.skew(way) / distance, np.eye(3)])  # relative to that: its own ω, less the one wanted
        J = across @ turn @ robot.jacobian(self.frame)
        drift = across @ turn @ robot.jacobian_bias(self.frame)
        wanted = self.gains.kp * across @ error - self.gains.kd * J @ robot.v
        return wbc.Rows.equal(wanted - drift, acceleration=J)

    def error(self, robot, tick):
        """For logs: what the rows are about, about the frame's x and y axes."""
        return robot.pose(self.frame)[:3, :2].T @ self.aim(robot)[0]

    def row_names(self, robot, tick):
        """For explanations: `solution.explain()` speaks of these."""
        return [f"pointing about {axis}" for axis in "xy"]


def eight(t):
    """The tool's path: position, velocity, acceleration."""
    w = np.pi / 3
    phase, rate = np.array([0.0, w * t, 2 * w * t]), np.array([0.0, w, 2 * w])
    move = SIZE * np.sin(phase), SIZE * rate * np.cos(phase), -SIZE * rate**2 * np.sin(phase)
    return CENTER + move[0], np.append(move[1], np.zeros(3)), np.append(move[2], np.zeros(3))


def scene(backend="auto", solver="elastic-qp", simulator="mujoco", pointing=True):
    """The arm flies a figure of eight, with or without the task."""
    robot = wbc.load("arm", backend)
    point, posture = PointAt("tool", LAMP), tasks.JointAcceleration(robot.model.nominal, gains=wbc.Gains(1.0))
    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / (tasks.TorqueLimits() + tasks.JointLimits())
        / tasks.EndEffectorAcceleration("tool", eight, wbc.Gains(2.0), axes="position")
        / (point / posture if pointing else posture)
    )
    return Scene(wbc.Controller(robot, stack, solver), make_plant(robot, simulator), 7.0)


def main(duration=None, out="out"):
    """Flies both ways, and measures where the tool points."""
    figure = plt.figure(figsize=(14, 5))
    right = figure.add_axes((0.68, 0.12, 0.3, 0.78))
    figures = {}
    for column, pointing in enumerate((False, True)):
        run = scene(pointing=pointing)
        log, robot = run.run(duration), run.controller.robot
        angles, tool = [], []
        for q in log.q:
            robot.update(q)
            T = robot.pose("tool")
            tool.append(T[:3, 3])
            way = LAMP - T[:3, 3]
            angles.append(np.degrees(np.arccos(np.clip(T[:3, 2] @ way / np.linalg.norm(way), -1, 1))))
        late = log.time > min(2.0, log.time[-1] / 2)
        off = 1e3 * np.linalg.norm(np.array(tool) - [eight(t)[0] for t in log.time], axis=1)[late].max()
        name = "with the task" if pointing else "without"
        figures[name] = (float(np.max(np.array(angles)[late])), float(off))
        print(f"{name}: tool points {figures[name][0]:.2f}° past the lamp at most, and is off its path by {off:.2f} mm")
        axes = figure.add_axes((0.32 * column, 0.0, 0.32, 0.92), projection="3d", title=name)
        draw(axes, robot, q)
        axes.plot(*np.array(tool).T, "C1", zorder=10)
        axes.plot(*np.transpose([tool[-1], tool[-1] + np.linalg.norm(way) * T[:3, 2]]), "C3", zorder=10)
        axes.plot(*LAMP[:, None], "o", color="gold", markeredgecolor="k", markersize=12, zorder=11)
        axes.set(xlim=(-0.2, 0.8), ylim=(-0.5, 0.5), zlim=(0, 1))  # the lamp too
        axes.view_init(elev=18, azim=-60)
        right.plot(log.time, angles, label=name)
    right.set(title="angle between the tool's axis and the lamp, degrees", xlabel="time, s")
    right.legend()
    Path(out).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(out) / f"{Path(__file__).stem}.png", dpi=80)
    return figures


if __name__ == "__main__":
    main()
