"""ETH's multi-task example (2.9.1): one hand to move, two joints to keep still, three joints to do both with.

First at velocity level, as in the lecture notes, with the solvers alone: levels in, x out. Then at torque level: the
same three ways to set priorities, as stacks of tasks, on a simulated arm whose hand goes round a circle.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import tasks
import wbc
from wbc.simulation import Scene, make_plant
from wbc.solvers import HierarchicalQP

PRINTED = {  # ETH (2.225), (2.230), (2.238)
    "hand alone": [0.069, -0.560, -0.595],
    "same priority": [-0.133, -0.067, -1.132],
    "hand first": [-0.169, -0.085, -1.070],
}
RADIUS, SPEED = 0.25, 1.5  # m, rad/s


def velocities():
    """The three solutions of the example, from levels of rows lower <= A x <= upper."""
    robot = wbc.load("planar_arm")
    robot.update(robot.model.nominal)  # the configuration of the example
    J_hand = robot.jacobian("end_effector")[[0, 2]]  # x and z
    hand = wbc.Level(J_hand, [1.0, 1.0], [1.0, 1.0])
    still = wbc.Level(np.eye(3)[:2], [0.0, 0.0], [0.0, 0.0])  # the first two joints
    both = wbc.Level(np.vstack([J_hand, np.eye(3)[:2]]), [1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0])
    ways = {"hand alone": [hand], "same priority": [both], "hand first": [hand, still]}
    return {way: HierarchicalQP().solve(levels).x for way, levels in ways.items()}


def scene(backend="auto", solver="elastic-qp", simulator="mujoco", way="hand first"):
    """The arm in the simulator; its torques come from the same tasks, now as accelerations."""
    robot = wbc.load("planar_arm", backend)
    robot.update(robot.model.nominal)
    start = robot.pose("end_effector")[:3, 3].copy()

    def circle(t):
        ramp = min(t, 1.0)  # the circle begins at rest: the angle's rate rises over the first second
        angle, rate, change = SPEED * (t - ramp + ramp**2 / 2), SPEED * ramp, SPEED * (t < 1.0)
        c, s = RADIUS * np.cos(angle), RADIUS * np.sin(angle)
        position = start + np.array([c - RADIUS, 0.0, s])
        velocity = np.array([-s * rate, 0.0, c * rate, 0.0, 0.0, 0.0])
        acceleration = np.array([-s * change - c * rate**2, 0.0, c * change - s * rate**2, 0.0, 0.0, 0.0])
        return position, velocity, acceleration

    hand = tasks.EndEffectorAcceleration("end_effector", circle, wbc.Gains(2.0), axes="xz", name="hand")
    # Damping alone: what a joint velocity of zero is at the level of accelerations.
    still = tasks.JointAcceleration(joints=["joint_1", "joint_2"], gains=wbc.Gains(kp=0.0, kd=10.0), name="still")
    rest = tasks.AccelerationMinimization(damping=10.0)
    levels = {"hand alone": hand / rest, "same priority": (hand + still) / rest, "hand first": hand / still / rest}
    stack = wbc.Stack(tasks.EquationOfMotion() / levels[way])
    return Scene(wbc.Controller(robot, stack, solver), make_plant(robot, simulator), 6.0)


def main(duration=None, out="out"):
    """Prints the numbers of the notes beside ours, and draws both halves."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4.2), layout="constrained")
    robot, found, figures = wbc.load("planar_arm"), velocities(), {}
    robot.update(robot.model.nominal)
    joints = np.array([robot.pose(frame)[[0, 2], 3] for frame in ("base", *robot.model.bodies) if frame != "world"])
    left.plot(*joints.T, "o-", color="0.6", linewidth=5, zorder=0)
    for index, (way, x) in enumerate(found.items()):
        color = f"C{index}"
        v_hand = robot.jacobian("end_effector")[[0, 2]] @ x
        print(f"{way:>13}: velocities {x.round(3)}, printed {PRINTED[way]}; hand moves at {v_hand.round(3)}")
        left.quiver(*joints[-1], *v_hand, color=color, angles="xy", scale_units="xy", scale=2.0, label=way, width=0.012)
        middle.bar(np.arange(3) + 0.25 * (index - 1), x, 0.22, color=color, label=way)
        middle.plot(np.arange(3) + 0.25 * (index - 1), PRINTED[way], "k_", markersize=14)
        run = scene(way=way)
        log = run.run(duration)
        hand, twin = [], run.controller.robot
        for t, q in zip(log.time, log.q, strict=True):
            twin.update(q)
            hand.append(np.linalg.norm(twin.pose("end_effector")[:3, 3] - run.controller.stack["hand"].target(t)[0]))
        motion = np.sqrt(np.mean(log.v[:, :2] ** 2))
        figures[way] = (float(np.max(hand)), float(motion))
        moved = f"joints 1, 2 move at {motion:.2f} rad/s rms"
        right.semilogy(log.time, 1e3 * np.array(hand) + 1e-3, color, label=f"{way}: {moved}")
        print(f"{way:>13}: hand off by {1e3 * np.max(hand):.2f} mm at most; {moved}")
    left.set(title="velocity level: the hand should go (1, 1) m/s", xlabel="x, m", ylabel="z, m", aspect="equal")
    left.set(xlim=(-0.6, 3.2), ylim=(-0.1, 2.6))
    left.legend(loc="lower right")
    middle.set(title="joint velocities, rad/s (black: as printed by ETH)", xticks=range(3))
    middle.set_xticklabels(robot.joint_names)
    right.set(title="torque level: hand off its circle, mm", xlabel="time, s")
    right.legend()
    Path(out).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(out) / f"{Path(__file__).stem}.png", dpi=80)
    return figures


if __name__ == "__main__":
    main()
