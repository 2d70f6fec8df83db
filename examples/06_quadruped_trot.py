"""A quadruped trots to a velocity command: forward, sideways, turning, all at once.

The gait (`tasks.locomotion.Trot`) decides which feet are in the air and where they land; the controller finds torques
that do it with the feet that are on the ground, within their friction and the motors' limits.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import tasks
import wbc
from tasks import Trot
from wbc.simulation import Realism, Scene, make_plant

COMMANDS = (  # until (s), forward (m/s), left (m/s), turning (rad/s)
    (1.0, 0.0, 0.0, 0.0),
    (4.0, 0.5, 0.0, 0.0),
    (7.0, 0.0, 0.2, 0.0),
    (10.0, 0.0, 0.0, 0.5),
    (13.0, 0.4, 0.1, 0.5),
)


def scene(
    backend: str = "auto",
    solver: str = "elastic-qp",
    simulator: str = "mujoco",
    commands: Sequence[tuple[float, float, float, float]] = COMMANDS,
    realism: Realism | None = None,
) -> Scene:
    """The quadruped, its gait and a plan of commands."""
    robot = wbc.load("quadruped", backend)
    # less friction than the floor has (1.0): a foot that is about to slide is seen before it does
    feet = [wbc.PointContact(foot, friction=0.6) for foot in robot.model.feet]
    trot = Trot(robot)
    first, *others = trot.swings
    swings = first + others[0] + others[1] + others[2]
    # Limits on a level of their own above everything that moves: no tick can break them. Feet in the air above the
    # base: on two feet the base can't follow in all directions, and must not swing the legs about to do so.
    # Torques may pass from zero to their limit in 16 ms: as feet change, the answer has a step.
    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / (tasks.TorqueLimits(rate=5e3) + tasks.FrictionCones())
        / tasks.ContactMotion()
        / swings
        / trot.base
        / tasks.JointAcceleration(gains=wbc.Gains(1.5))
        / tasks.TorqueMinimization(),
        contacts=feet,
    )
    controller = wbc.Controller(robot, stack, solver)

    def targets(t: float, controller: wbc.Controller) -> None:
        trot.command = next((command[1:] for command in commands if t < command[0]), (0.0, 0.0, 0.0))
        trot.update(t, controller)

    plant = make_plant(robot, simulator, realism=realism)
    return Scene(controller, plant, commands[-1][0], targets)


def speeds(log: wbc.Log) -> np.ndarray:
    """Speed forward and to the left, m/s, and yaw rate, rad/s, of each tick, shape (ticks, 3)."""
    w, x, y, z = log.q[:, 3:7].T
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    c, s = np.cos(yaw), np.sin(yaw)
    # the base stays level, so its yaw rate is the z component of its angular velocity
    return np.column_stack([c * log.v[:, 0] + s * log.v[:, 1], c * log.v[:, 1] - s * log.v[:, 0], log.v[:, 5]])


def main(duration: float | None = None, out: str = "out") -> None:
    """Runs it, says how well the commands were met, and draws speeds, feet and path."""
    made = scene()
    log = made.run(duration)
    print(log.summary())
    measured, wanted = speeds(log), np.zeros((len(log), 3))
    since = 0.0
    for until, *command in COMMANDS:
        now = (log.time >= since) & (log.time < until)
        wanted[now] = command
        settled = now & (log.time >= since + 1.0)  # a second to take the command up
        if settled.any():
            mean = measured[settled].mean(axis=0).round(3)
            print(f"until {until:4.1f} s: wanted {command}, mean {mean.tolist()} (m/s, m/s, rad/s)")
        since = until

    figure = Figure(figsize=(9, 6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    for column, name in enumerate(("forward, m/s", "left, m/s", "turning, rad/s")):
        upper.plot(log.time, measured[:, column], f"C{column}", lw=0.8, label=name)
        upper.plot(log.time, wanted[:, column], f"C{column}--", lw=1.5)
    upper.legend(loc="upper left", ncols=3)
    upper.set(ylim=(-0.15, 0.75), ylabel="speed of the base", title="a trot to a velocity command (dashed)")
    for number, foot in enumerate(log.contacts):
        lower.fill_between(log.time, number, number + 0.8 * (log.measured[:, number, 2] > 1.0), lw=0, label=foot)
    lower.set(
        yticks=np.arange(len(log.contacts)) + 0.4, yticklabels=log.contacts, xlabel="s", title="feet on the ground"
    )
    Path(out).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(out) / "06_quadruped_trot.png", dpi=110)


if __name__ == "__main__":
    main()
