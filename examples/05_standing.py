"""A quadruped stands, moves its base about, and is pushed from all sides with 30 % of its weight.

Physics first, then what must hold (torque limits, friction, feet on the ground), then the base, then the posture.
When a push is more than friction and base motion together allow, the stack says which of them gives way: the base.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import tasks
import wbc
from wbc.application.drawing import draw
from wbc.geometry import quaternion, so3
from wbc.simulation import Push, Realism, Scene, make_plant

STAND, MOVE = 2.0, 6.0  # s: until when it stands still, and until when it moves its base
DIRECTIONS = {"front": (1, 0, 0), "left": (0, 1, 0), "back": (-1, 0, 0), "right": (0, -1, 0)}


def scene(backend="auto", solver="elastic-qp", simulator="mujoco", realism=None, share=0.3):
    """Standing, moving, four pushes; with `realism` the plant is not what the controller knows."""
    robot = wbc.load("quadruped", backend)
    robot.update(robot.model.nominal)
    home = robot.pose("base").copy()

    def loop(t):  # in all six directions; it begins and ends at rest
        s = np.clip((t - STAND) / (MOVE - STAND), 0.0, 1.0)
        wave, turn = np.sin(2 * np.pi * s) * np.sin(np.pi * s), np.sin(np.pi * s) ** 2
        T = home.copy()
        T[:3, 3] += [0.04 * wave, 0.05 * turn, -0.06 * turn]
        T[:3, :3] = so3.exp([0.12 * wave, 0.10 * turn, 0.15 * wave]) @ home[:3, :3]
        return T

    def base(t, h=1e-3):  # with velocity and acceleration by differences, so that nothing lags behind
        before, now, after = loop(t - h), loop(t), loop(t + h)
        come = np.append(now[:3, 3] - before[:3, 3], so3.log(now[:3, :3] @ before[:3, :3].T)) / h
        go = np.append(after[:3, 3] - now[:3, 3], so3.log(after[:3, :3] @ now[:3, :3].T)) / h
        return now, (come + go) / 2, (go - come) / h

    # A foot on soft ground creeps a little under load. It is not pulled back (kp = 0): that would move the base.
    still = tasks.ContactMotion(wbc.Gains(kp=0.0, kd=20.0))
    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / (tasks.TorqueLimits() + tasks.FrictionCones() + still)
        / tasks.EndEffectorAcceleration("base", base, wbc.Gains(3.0))
        / tasks.JointAcceleration(gains=wbc.Gains(1.5))
        / tasks.TorqueMinimization(),
        contacts=[wbc.PointContact(foot, friction=0.6) for foot in robot.model.feet],
    )
    plant = make_plant(robot, simulator, realism=realism)
    force = share * 9.81 * plant.model.mass
    pushes = [
        Push("base", tuple(force * np.array(way)), MOVE + 1.0 + 2.0 * number, 0.2)
        for number, way in enumerate(DIRECTIONS.values())
    ]
    return Scene(wbc.Controller(robot, stack, solver), plant, MOVE + 9.0, None, pushes)


def main(duration=None, out="out"):
    """Runs it, right and wrong about the masses."""
    figure = plt.figure(figsize=(14, 7), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1, 2.4))
    drawing = left.add_axes((0.0, 0.1, 1.0, 0.85), projection="3d")
    upper, middle, lower = right.subplots(3, 1, sharex=True)
    figures = {}
    for factor, style in ((1.0, "-"), (1.1, "--")):
        run = scene(realism=Realism(mass=factor))
        log = run.run(duration)
        wanted = [run.controller.stack["base"].target(t)[0] for t in log.time]
        off = 1e3 * (log.q[:, :3] - [T[:3, 3] for T in wanted])
        turned = [so3.log(quaternion.to_matrix(q[3:7]) @ T[:3, :3].T) for q, T in zip(log.q, wanted, strict=True)]
        angle = np.degrees(np.linalg.norm(turned, axis=1))
        name, still = f"masses {100 * (factor - 1):+.0f} %", log.time < STAND
        for column, axis in enumerate("xyz"):
            upper.plot(log.time, off[:, column], f"C{column}{style}", label=axis if factor == 1.0 else None)
        middle.plot(log.time, angle, f"k{style}", label=name)
        known = factor == 1.0
        lower.plot(log.time, log.cone_margin, f"C3{style}", label="force to the edge of its cone, N" if known else None)
        lower.plot(log.time, log.torque_margin, f"C0{style}", label="torque to its limit, N m" if known else None)
        pushed = log.time > MOVE
        figures[name] = {
            "standing, mm": float(np.linalg.norm(off[still], axis=1).max()),
            "standing, deg": float(angle[still].max()),
            "pushed, mm": float(np.linalg.norm(off[pushed], axis=1).max(initial=0.0)),
            "after, mm": float(np.linalg.norm(off[-1])),
        }
        print(f"{name}: {log.ended}; " + ", ".join(f"{what} {value:.2f}" for what, value in figures[name].items()))
    draw(drawing, run.controller.robot, log.q[min(len(log) - 1, 4000)])  # halfway on its loop
    for axes in (upper, middle, lower):
        for push in run.disturbances:
            axes.axvspan(push.start, push.start + push.duration, color="0.88")
        axes.axvspan(STAND, MOVE, color="C0", alpha=0.07, linewidth=0)
        axes.legend(fontsize=9, loc="upper left", ncols=3)
    for name, push in zip(DIRECTIONS, run.disturbances, strict=True):
        upper.annotate(f"to the {name}", (push.start + 0.1, 10.5), fontsize=9, ha="center", annotation_clip=True)
    upper.annotate("the base moves", ((STAND + MOVE) / 2, 10.5), fontsize=9, ha="center", annotation_clip=True)
    upper.set(title="Distance of the base from its target (grey: pushes)", ylabel="mm", ylim=(-12, 22))
    middle.set(title="Angle of the base from its target", ylabel="degrees", ylim=(0, 0.14))
    lower.set(title="Margins of the commanded forces and torques (the least of all)", xlabel="time, s", ylim=(-2, 85))
    lower.set_xlim(0, log.time[-1])
    left.text(0.5, 0.02, "solid: masses known; dashed: 10 % heavier", ha="center")
    Path(out).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(out) / f"{Path(__file__).stem}.png", dpi=80)
    return figures


if __name__ == "__main__":
    main()
