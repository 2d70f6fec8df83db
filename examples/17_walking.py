"""A humanoid walks to a velocity command: in place, forward, round a bend, and it stops.

`tasks.locomotion.Walk` decides where the feet land and how the centre of mass goes over them; its stack is an ordinary
one, and the controller finds the torques.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import wbc
from tasks.locomotion import Walk
from wbc.simulation import Realism, Scene, make_plant

COMMANDS = (  # until (s), forward (m/s), left (m/s), turning (rad/s)
    (2.5, 0.3, 0.0, 0.0),
    (4.5, 0.2, 0.0, 0.3),
    (6.0, 0.0, 0.0, 0.0),
)


def scene(
    backend: str = "auto",
    solver: str = "elastic-qp",
    simulator: str = "mujoco",
    commands: Sequence[tuple[float, float, float, float]] = COMMANDS,
    realism: Realism | None = None,
) -> Scene:
    """The humanoid, its walk and a plan of commands."""
    robot = wbc.load("humanoid", backend)
    walk = Walk(robot)
    controller = wbc.Controller(robot, walk.stack(), solver)

    def targets(t: float, controller: wbc.Controller) -> None:
        walk.command = next((command[1:] for command in commands if t < command[0]), (0.0, 0.0, 0.0))
        walk(t, controller)

    return Scene(controller, make_plant(robot, simulator, realism=realism), commands[-1][0], targets)


def main(duration: float | None = None, out: str = "out") -> None:
    """Runs it, says how it went, and draws the way of the centre of mass, the feet and their forces."""
    made = scene()
    log = made.run(duration)
    robot = made.controller.robot
    com, feet = [], {foot: [] for foot in log.feet}
    for q, v in zip(log.q[::10], log.v[::10], strict=True):
        robot.update(q, v)
        com.append(robot.com[:2])
        for foot in log.feet:
            feet[foot].append(robot.pose(foot)[:3, 3])
    path = np.array(com)
    print(log.summary())
    print(f"the centre of mass went {np.linalg.norm(np.diff(path, axis=0), axis=1).sum():.2f} m")

    figure = Figure(figsize=(10, 6.5), layout="constrained")
    upper, lower = figure.subplots(2, 1, height_ratios=(1.2, 1))
    for number, (foot, places) in enumerate(feet.items()):
        down = log.measured[::10, log.feet.index(foot), 2] > 50.0
        places = np.array(places)
        upper.plot(*places[:, :2].T, f"C{number}", lw=0.8, alpha=0.6)
        upper.plot(*places[down, :2].T, f"C{number}s", ms=4, label=foot)
    upper.plot(*path.T, "k", lw=1.2, label="centre of mass")
    upper.set(xlabel="forward, m", ylabel="left, m", title="where the feet stood, and the way of the centre of mass")
    upper.set_aspect("equal", adjustable="datalim")
    upper.legend(loc="upper left")
    lower.plot(log.time, log.measured[:, :, 2], label=log.feet)
    lower.set(xlabel="s", ylabel="N", title="measured force on the feet", ylim=(0, 1500))
    lower.legend(loc="upper right")
    Path(out).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(out) / "17_walking.png", dpi=90)


if __name__ == "__main__":
    main()
