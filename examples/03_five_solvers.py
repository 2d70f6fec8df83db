"""One stack, five solvers: a quadruped sways sideways faster than the friction of its feet allows.

Three of the solvers know inequalities and give up part of the motion; the two classical projections don't, ask the feet
for forces that the floor won't give, slip and fall. What each of them asked for is in the certificate of every tick.
"""

import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import tasks
import wbc
from wbc.simulation import Scene, make_plant

SOLVERS = ("hierarchical-qp", "sequential-qp", "weighted-qp", "nullspace", "operational-space")
FRICTION, SWAY, HZ = 0.3, 0.042, 1.2  # of feet and floor; m; Hz: at its peak 0.24 g


def scene(backend="auto", solver="elastic-qp", simulator="mujoco"):
    """The same stack for every solver."""
    robot = wbc.load("quadruped", backend)
    robot.update(robot.model.nominal)
    home = robot.pose("base").copy()

    def sway(t):
        ramp, w = min(t, 1.0), 2 * np.pi * HZ
        T, twist, acceleration = home.copy(), np.zeros(6), np.zeros(6)
        T[1, 3] += ramp * SWAY * np.sin(w * t)
        twist[1] = SWAY * (ramp * w * np.cos(w * t) + (t < 1) * np.sin(w * t))
        acceleration[1] = SWAY * (-ramp * w**2 * np.sin(w * t) + (t < 1) * 2 * w * np.cos(w * t))
        return T, twist, acceleration

    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / (tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion())
        / tasks.EndEffectorAcceleration("base", sway, wbc.Gains(3.0))
        / tasks.JointAcceleration(gains=wbc.Gains(1.5))
        / tasks.TorqueMinimization(),
        contacts=[wbc.PointContact(foot, FRICTION) for foot in robot.model.feet],
    )
    slippery = make_plant(robot, simulator, friction=FRICTION)  # a floor other than the default
    return Scene(wbc.Controller(robot, stack, solver), slippery, 4.0)


def main(duration=None, out="out"):
    """Runs all five and compares."""
    figure, axes = plt.subplots(len(SOLVERS), 3, figsize=(13, 9), layout="constrained", sharex=True, sharey="col")
    figures = {}
    for index, solver in enumerate(SOLVERS):
        with warnings.catch_warnings(record=True) as said:  # the projections say what they ignore, once, by name
            warnings.simplefilter("always", wbc.WbcWarning)
            run = scene(solver=solver)
        log, robot = run.run(duration), run.controller.robot
        feet = np.array([robot.update(q) or [robot.pose(foot)[:2, 3] for foot in robot.model.feet] for q in log.q])
        slip = 1e3 * np.linalg.norm(feet - feet[0], axis=2).max(axis=1)
        wanted = np.array([run.controller.stack["base"].target(t)[0][1, 3] for t in log.time])
        figures[solver] = {"cone": log.cone_margin.min(), "slip": slip.max(), "tick": 1e3 * np.median(log.tick_time)}
        print(
            f"{solver:>17}: least cone margin {log.cone_margin.min():7.2f} N, feet slip by {slip.max():6.1f} mm, "
            f"tick {1e3 * np.median(log.tick_time):.2f} ms, {log.ended}"
        )
        for warning in said:
            print(f"{'':>19}{str(warning.message).split(':')[0]}")
        row, color = axes[index], f"C{index}"
        row[0].plot(log.time, 1e3 * wanted, "0.6", lw=3, label="wanted")
        row[0].plot(log.time, 1e3 * log.q[:, 1], color, label="base")
        row[1].plot(log.time, log.cone_margin, color)
        row[1].axhspan(-40, 0, color="C3", alpha=0.1, lw=0)
        row[2].plot(log.time, slip, color)
        row[0].set_ylabel(f"{solver}\n{figures[solver]['tick']:.2f} ms a tick")
        for panel in row:
            panel.grid(alpha=0.3)
            if log.ended == "fell":
                panel.axvline(log.time[-1], color="k", ls="--")
        if log.ended == "fell":
            row[0].annotate("fell", (log.time[-1], 60), xytext=(6, 0), textcoords="offset points")
    axes[0, 0].set(title="base, sideways, mm", ylim=(-100, 100))
    axes[0, 1].set(title="least cone margin of the command, N (red: outside)", ylim=(-40, 20))
    axes[0, 2].set(title="feet slipped, mm", ylim=(0, 100))
    for panel in axes[-1]:
        panel.set_xlabel("time, s")
    axes[0, 0].legend(fontsize=8, loc="lower left")
    Path(out).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(out) / f"{Path(__file__).stem}.png", dpi=80)
    return figures


if __name__ == "__main__":
    main()
