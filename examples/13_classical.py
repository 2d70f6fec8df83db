"""Classical controllers beside a stack: a quadruped sways its base, and is pushed, under four controllers.

The laws of the lecture notes know physics as well as the stack does, but no inequality: inverse dynamics on contacts
(ETH 3.100) is the stack's twin until a foot would have to slide. Virtual model control (ETH 3.116-3.121) is
quasi-static, so it lags behind a fast motion; its forces can be kept in the cones of friction.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import tasks
import wbc
from wbc import classical
from wbc.simulation import Push, Scene, make_plant

FRICTION, SWAY, HZ = 0.4, 0.04, 0.9  # of feet and floor; m; Hz
PUSH = 3.2  # s, when it begins


def path(home):
    """The base goes round a horizontal ellipse, from rest to rest in three seconds."""

    def at(t):
        w, fade, rate, bend = 2 * np.pi * HZ, 0.0, 0.0, 0.0
        if 0.0 < t < 3.0:
            u = 2 * np.pi * t / 3.0
            fade, rate, bend = 0.5 - 0.5 * np.cos(u), np.pi / 3 * np.sin(u), 2 * (np.pi / 3) ** 2 * np.cos(u)
        T, twist, acceleration = home.copy(), np.zeros(6), np.zeros(6)
        for axis, size, wave, slope in ((0, SWAY / 2, np.cos, -1), (1, SWAY, np.sin, 1)):
            x, dx = wave(w * t), slope * w * (np.sin if wave is np.cos else np.cos)(w * t)
            T[axis, 3] += size * fade * x
            twist[axis] = size * (rate * x + fade * dx)
            acceleration[axis] = size * (bend * x + 2 * rate * dx - fade * w**2 * x)
        return T, twist, acceleration

    return at


def scene(backend="auto", solver="elastic-qp", simulator="mujoco", controller="stack"):
    """One of the four controllers; `wbc compare` shows what the three laws would have done where the stack was."""
    robot = wbc.load("quadruped", backend)
    robot.update(robot.model.nominal)
    at = path(robot.pose("base").copy())
    base = tasks.EndEffectorAcceleration("base", at, wbc.Gains(3.0))
    posture = tasks.JointAcceleration(gains=wbc.Gains(1.5))
    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / (tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion(wbc.Gains(kp=0.0, kd=20.0)))
        / base
        / posture
        / tasks.TorqueMinimization(),
        contacts=[wbc.PointContact(foot, FRICTION) for foot in robot.model.feet],
    )
    m, w = robot.mass, 2 * np.pi * 3.0  # springs of the same 3 Hz as the stack's, for the whole mass
    stiffness, damping = np.array([1, 1, 1, 0.05, 0.1, 0.1]) * m * w**2, np.array([1, 1, 1, 0.05, 0.1, 0.1]) * m * 2 * w
    laws = {"inverse dynamics": classical.InverseDynamics(robot, base / posture, judged_by=stack)}
    for name, way in (("virtual model", "least-squares"), ("virtual model, cones", "hierarchical-qp")):
        spring = classical.VirtualSpring("base", stiffness, damping, at)
        laws[name] = classical.VirtualModelControl(robot, spring, distribution=way, judged_by=stack)
    chosen = wbc.Controller(robot, stack, solver) if controller == "stack" else laws[controller]
    push = Push("base", (0.0, 0.45 * 9.81 * robot.mass, 0.0), PUSH, 0.12)
    plant = make_plant(robot, simulator, friction=FRICTION)
    return Scene(chosen, plant, 5.0, disturbances=(push,), beside=laws)


def main(duration=None, out="out"):
    """Runs all four and compares."""
    figure, axes = plt.subplots(4, 2, figsize=(13, 8.5), layout="constrained", sharex=True, sharey="col")
    figures = {}
    for index, name in enumerate(["stack", *scene().beside]):
        run = scene(controller=name)
        log, robot = run.run(duration), run.controller.robot
        wanted = np.array([path(np.zeros((4, 4)))(t)[0][:2, 3] for t in log.time]) + log.q[0, :2]
        off = 1e3 * np.linalg.norm(log.q[:, :2] - wanted, axis=1)
        feet = np.array([robot.update(q) or [robot.pose(foot)[:2, 3] for foot in robot.model.feet] for q in log.q])
        slip = 1e3 * np.linalg.norm(feet - feet[0], axis=2).max(axis=1)
        moving = log.time < 3.0
        figures[name] = {
            "path, mm rms": float(np.sqrt(np.mean(off[moving] ** 2))),
            "push, mm": float(off[~moving].max(initial=0.0)),
            "slip, mm": float(slip.max()),
            "outside cones, % of ticks": float(100 * (log.cone_margin < -1e-6).mean()),
            "tick, ms": float(1e3 * np.median(log.tick_time)),
        }
        print(f"{name:>20}: " + ", ".join(f"{what} {value:.2f}" for what, value in figures[name].items()), log.ended)
        base, margin = axes[index]
        base.plot(log.time, off, f"C{index}")
        margin.plot(log.time, log.cone_margin, f"C{index}")
        margin.fill_between(log.time, log.cone_margin, 0, where=log.cone_margin < 0, color="C3", alpha=0.3)
        if log.ended != "finished":
            for panel in (base, margin):
                panel.axvline(log.time[-1], color="k", linestyle=":")
            base.annotate(f" {log.ended}", (log.time[-1], 50))
        words = f"on the path {figures[name]['path, mm rms']:.2f} mm rms; feet slip {slip.max():.0f} mm"
        base.annotate(words, (0.05, 50))
        base.set_ylabel(name, fontweight="bold")
        for panel in (base, margin):
            panel.axvspan(PUSH, PUSH + 0.12, color="0.85")
            panel.grid(alpha=0.3)
        margin.axhline(0, color="k", linewidth=0.8)
    axes[0, 0].set(title="distance of the base from its path, mm (grey: a push with 45 % of the weight)", ylim=(0, 60))
    axes[0, 1].set(title="least margin of the expected forces in their cones, N (below 0: outside)", ylim=(-60, 35))
    for panel in axes[-1]:
        panel.set(xlabel="time, s", xlim=(0, 5))
    Path(out).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(out) / f"{Path(__file__).stem}.png", dpi=80)
    return figures


if __name__ == "__main__":
    main()
