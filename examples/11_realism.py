"""The controller's model is wrong, the loop is late, the sensors are noisy: what still holds.

The same quadruped, stack and sideways push as ever; between controller and robot comes one fault after the other, and
then several at once. Feedback covers for a model that is wrong; noise costs the motors, not the balance; and what comes
too late for its gains makes the robot fall, which softer gains do not.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import tasks
import wbc
from wbc.simulation import Noise, Push, Realism, Scene, make_plant

QUIET = Noise(3e-4, 0.02, 1e-3, 2e-3, 0.01, 0.01)  # encoders and a state estimator as good as today's
LOUD = Noise(2e-3, 0.15, 5e-3, 1e-2, 0.05, 0.05)
FAULTS = {  # mass of the robot against its model, friction of the floor, delay and lag of the torques (s), noise
    "nothing": {},
    "mass +10 %": {"mass": 1.1},
    "mass +30 %": {"mass": 1.3},
    "friction 0.25": {"friction": 0.25},  # 0.6 is what the controller counts on
    "delay 5 ms": {"delay": 0.005},
    "delay 50 ms": {"delay": 0.05},
    "delay 50 ms, base gains 1 Hz": {"delay": 0.05, "hz": 1.0},
    "lag 5 ms": {"lag": 0.005},
    "noise": {"noise": QUIET},
    "much noise": {"noise": LOUD},
    "all, moderate": {"mass": 1.1, "friction": 0.5, "delay": 0.002, "lag": 0.002, "noise": QUIET},
    "all, base gains 1.5 Hz": {"mass": 1.1, "friction": 0.5, "delay": 0.002, "lag": 0.002, "noise": QUIET, "hz": 1.5},
}


LINE = 40  # mm between the lines of the picture


def scene(backend="auto", solver="elastic-qp", simulator="mujoco", hz=3.0, **fault):
    """Standing, and a push to the left with 20 % of the weight; `hz` is that of the gains of the base."""
    robot = wbc.load("quadruped", backend)
    robot.update(robot.model.nominal)
    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / (tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion(wbc.Gains(kp=0.0, kd=20.0)))
        / tasks.EndEffectorAcceleration("base", robot.pose("base"), wbc.Gains(hz))
        / tasks.JointAcceleration(gains=wbc.Gains(1.5))
        / tasks.TorqueMinimization(),
        contacts=[wbc.PointContact(foot, friction=0.6) for foot in robot.model.feet],
    )
    plant = make_plant(robot, simulator, realism=Realism(**fault))
    push = Push("base", (0.0, 0.2 * 9.81 * robot.mass, 0.0), 1.0, 0.2)
    return Scene(wbc.Controller(robot, stack, solver), plant, 3.0, None, [push])


def main(duration=None, out="out"):
    """Runs all faults."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 5.5), layout="constrained")
    figures = {}
    for row, (name, fault) in enumerate(FAULTS.items()):
        run = scene(**fault)
        log = run.run(duration)
        base = 1e3 * (log.true_q[:, :3] - run.controller.robot.model.nominal[:3])
        shake = np.abs(np.diff(log.torque[len(log) // 10 :], axis=0)).mean()  # what a motor has to go through
        worst, end = np.linalg.norm(base, axis=1).max(), np.linalg.norm(base[-1])
        figures[name] = {"ended": log.ended, "worst": worst, "end": end, "shake": shake}
        print(f"{name:>22}: {log.ended}; base off by {worst:.1f} mm at most, {end:.1f} mm at the end", end="; ")
        print(f"torques jump by {shake:.3f} N m a tick")
        color = f"C{row % 10}"
        stands, most = log.ended == "finished", LINE * 0.9
        inside = np.flatnonzero(base[:, 1] > most)[:1] if not stands else []
        drawn = slice(0, inside[0] if len(inside) else None)  # a robot that falls leaves the picture
        left.plot(log.time[drawn], base[drawn, 1] - LINE * row, color)
        if not stands:
            left.plot(log.time[drawn][-1], base[drawn, 1][-1] - LINE * row, "x", color=color, markersize=9)
            left.annotate(" falls", (log.time[drawn][-1] + 0.05, -LINE * row + LINE / 3), color=color)
        for axes, value in ((middle, worst), (right, shake)):
            if stands:
                axes.plot([0, value], [-row, -row], color="0.8", linewidth=1)
                axes.plot(value, -row, "o", color=color)
            axes.annotate(
                f"{value:.2g}" if stands else log.ended,
                (value if stands else 0, -row),
                (8, 0),
                textcoords="offset points",
                va="center",
                color="k" if stands else color,
            )
    left.axvspan(1.0, 1.2, color="0.9")
    left.set(xlabel="time, s", yticks=-LINE * np.arange(len(FAULTS)), ylim=(-LINE * (len(FAULTS) - 0.4), LINE))
    left.set_title(f"base, sideways; {LINE} mm from line to line", fontsize=11)
    left.set_yticklabels(FAULTS)
    for axes in (middle, right):
        axes.set(yticks=[], ylim=(-len(FAULTS) + 0.6, 1))
    middle.set_title("base: greatest distance from its place, mm", fontsize=11)
    middle.set_xlim(0, 45)
    right.set_title("mean change of a torque per tick, N m", fontsize=11)
    right.set(xscale="symlog", xlim=(0, 30))
    right.set_xscale("symlog", linthresh=0.01)
    Path(out).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(out) / f"{Path(__file__).stem}.png", dpi=80)
    return figures


if __name__ == "__main__":
    main()
