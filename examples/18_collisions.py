"""An arm carries its tool past a pillar and lets a ball by that flies at it, and comes to where it was sent.

`tasks.CollisionAvoidance` keeps all pairs of bodies apart that can meet: those of the arm with itself, with what stands
around it, and with what moves. Its rows are inequalities, on the level of the limits; the tool has what they leave.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

import tasks
import wbc
from wbc.simulation import Scene, make_plant

MARGIN = 0.02  # m, between all pairs
PLACES = np.array([[0.45, 0.35, 0.45], [0.45, -0.35, 0.45]])  # where the tool is sent in turn, m
LEG = 2.0  # from one place to the other, s
PILLAR, RADIUS, HEIGHT = np.array([0.44, -0.15]), 0.05, 0.47  # where it stands, how thick and how high it is, m
BALL = 0.07  # radius, m
FLIGHT = np.array([[0.5, -1.2, 0.5], [0.0, 0.6, 0.0]])  # place at the start, m, and velocity, m/s


def ball(t):
    """Where the ball is, m: it flies past the second place while the tool is there, and on to the first one."""
    return FLIGHT[0] + FLIGHT[1] * max(t - LEG, 0.0)


def surroundings(robot):
    """The shapes of the arm and of what is around it, with the pairs that can meet."""
    geometry = wbc.CollisionGeometry(robot)
    geometry.add_capsule("pillar", RADIUS, HEIGHT - RADIUS, (*PILLAR, (HEIGHT - RADIUS) / 2))
    geometry.add_sphere("ball", BALL, ball(0.0))
    return geometry


def scene(backend: str = "auto", solver: str = "elastic-qp", simulator: str = "mujoco", avoid: bool = True) -> Scene:
    """The arm, its surroundings, and where the tool is to go; without `avoid` it goes straight there."""
    robot = wbc.load("arm", backend)
    geometry = surroundings(robot)
    limits = tasks.TorqueLimits() / tasks.JointLimits()
    if avoid:
        limits = tasks.TorqueLimits() / (
            tasks.JointLimits() + tasks.CollisionAvoidance(geometry, MARGIN, speed=1.0, braking=5.0)
        )
    reach = tasks.EndEffectorAcceleration("tool", PLACES[0], wbc.Gains(1.0), axes="position")
    stack = wbc.Stack(tasks.EquationOfMotion() / limits / (reach + tasks.JointAcceleration(weight=1e-3)))

    def targets(t: float, controller: wbc.Controller) -> None:
        reach.target = PLACES[int(t // LEG) % 2]
        geometry.move("ball", ball(t), twist=(*(FLIGHT[1] if t >= LEG else np.zeros(3)), 0, 0, 0))

    return Scene(wbc.Controller(robot, stack, solver), make_plant(robot, simulator), 4 * LEG, targets)


def distances(robot, log):
    """From the log: the nearest pair's distance, m, and where the tool was, m, for each tenth tick."""
    geometry, nearest, tool = surroundings(robot), [], []
    for t, q in zip(log.time[::10], log.q[::10], strict=True):
        robot.update(q)
        geometry.move("ball", ball(t))
        nearest.append(geometry.nearest(robot)[0].distance)
        tool.append(robot.pose("tool")[:3, 3].copy())
    return np.array(nearest), np.array(tool)


def main(duration: float | None = None, out: str = "out") -> None:
    """Runs it with and without the task, says how near bodies came, and draws both."""
    figure = Figure(figsize=(14, 4.5), layout="constrained")
    *ways, over_time = figure.subplots(1, 3, width_ratios=(1, 1.2, 2))
    for avoid, color, words in ((False, "C3", "without"), (True, "C0", "with")):
        made = scene(avoid=avoid)
        log = made.run(duration)
        nearest, tool = distances(made.controller.robot, log)
        print(f"{words} the task: the nearest pair comes to {1e3 * nearest.min():.1f} mm; {log.ended}")
        ways[0].plot(*tool[:, :2].T, color, label=f"tool, {words} the task")
        ways[1].plot(*tool[:, 1:].T, color)
        over_time.plot(log.time[::10], 1e3 * nearest, color, label=f"{words} the task")
    ways[0].add_patch(Circle(PILLAR, RADIUS, color="0.7"))
    ways[1].add_patch(Rectangle((PILLAR[1] - RADIUS, 0.3), 2 * RADIUS, HEIGHT - RADIUS - 0.3, color="0.7"))
    ways[1].add_patch(Circle((PILLAR[1], HEIGHT - RADIUS), RADIUS, color="0.7"))
    ways[0].set(xlabel="x, m", ylabel="y, m", title="from above")
    ways[1].set(xlabel="y, m", ylabel="z, m", title="from the side; grey: the pillar")
    for number, axes in enumerate(ways):
        axes.plot(*PLACES[:, number : number + 2].T, "k+", ms=10)
        axes.set_aspect("equal", adjustable="box")
    ways[0].legend(loc="upper left", fontsize=8)
    over_time.axhline(1e3 * MARGIN, color="0.5", ls="--", lw=1, label="margin")
    over_time.axhline(0.0, color="k", lw=1)
    over_time.set(xlabel="s", ylabel="mm", title="distance of the nearest pair; below 0: inside each other")
    over_time.legend(loc="best", fontsize=8)
    Path(out).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(out) / "18_collisions.png", dpi=90)


if __name__ == "__main__":
    main()
