"""Three robots drive and turn: on two wheels and a castor, on four omni wheels, and on four legs with wheels.

Wheels are contacts that hold the velocity of their lowest points. The first two robots have the stack of
`tasks.wheels.driving`. The wheels of the quadruped are all parallel: it rolls forward, and steps to turn.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import tasks
import wbc
from tasks.wheels import driving, wheel_joints
from wbc.application.drawing import draw
from wbc.simulation import Scene, make_plant

# until, s: forward and left, m/s, and turning, rad/s
COMMANDS = {
    "diffdrive": ((2.0, 1.0, 0.0, 0.0), (4.0, 0.5, 0.0, 1.0), (6.0, 1.0, 0.0, -0.5)),
    "omni": ((2.0, 1.0, 0.0, 0.0), (4.0, 0.0, 0.8, 0.0), (6.0, 0.5, 0.0, 1.0)),
    "wheeled_quadruped": ((2.0, 1.0, 0.0, 0.0), (4.0, 0.5, 0.0, 1.0), (6.0, 0.3, 0.2, 0.0)),
}


def command(name, t):
    """What a robot is told at a time: forward, left, turning."""
    return next((np.array(values) for until, *values in COMMANDS[name] if t < until), np.zeros(3))


def steered(name, robot, solver):
    """A controller that drives, and what tells it how."""
    if name != "wheeled_quadruped":
        stack = driving(robot)

        def told(t, controller):
            stack["base velocity"].target = command(name, t)

        return wbc.Controller(robot, stack, solver), told
    trot = tasks.Trot(robot)
    legs = [joint for joint in robot.joint_names if joint not in wheel_joints(robot)]
    wheels = [wbc.RollingContact(wheel) for wheel in robot.model.wheels]
    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / (tasks.TorqueLimits() + tasks.FrictionCones())
        / tasks.ContactMotion(wbc.Gains(kp=0.0, kd=5.0))
        / trot.steps
        / trot.base
        / tasks.JointAcceleration(joints=legs, gains=wbc.Gains(1.5))  # not of the wheels: they roll as they must
        / tasks.TorqueMinimization(),
        wheels,
    )

    def trotting(t, controller):
        trot.command = command(name, t)
        trot.update(t, controller)

    return wbc.Controller(robot, stack, solver), trotting


def scene(backend="auto", solver="elastic-qp", simulator="mujoco", name="diffdrive", realism=None):
    """One of the robots and its commands."""
    robot = wbc.load(name, backend)
    controller, targets = steered(name, robot, solver)
    return Scene(controller, make_plant(robot, simulator, realism=realism), 6.0, targets)


def main(duration=None, out="out"):
    """Drives all three, says how well the commands were met and how much the wheels slipped."""
    figure, figures = plt.figure(figsize=(14, 8)), {}
    for column, name in enumerate(COMMANDS):
        made = scene(name=name)
        log, robot, wheels = made.run(duration), made.robot, made.controller.stack.contacts
        task, seen, slips = tasks.BaseVelocity(), [], []
        for q, v in zip(log.q, log.v, strict=True):
            robot.update(q, v)
            seen.append(task.velocity(robot))
            down = [wheel for wheel in wheels if wheel.point(robot)[2] < 1e-3]
            slips.append(max((float(np.abs(wheel.slip(robot)).max()) for wheel in down), default=0.0))
        seen, wanted = np.array(seen), np.array([command(name, t) for t in log.time])
        late = (log.time % 2.0 >= 1.0) | (log.time[-1] < 1.0)  # a second to take a command up
        parts = [late & (log.time // 2 == part) for part in np.unique(log.time[late] // 2)]
        off = [float(np.abs(np.mean((seen - wanted)[part], axis=0)).max()) for part in parts]
        figures[name] = {"off, m/s or rad/s": max(off), "slip, mm/s": 1e3 * float(np.median(slips))}
        print(f"{name}: {log.ended}; " + ", ".join(f"{what} {value:.3g}" for what, value in figures[name].items()))
        picture = figure.add_axes((0.33 * column, 0.6, 0.33, 0.36), projection="3d")
        draw(picture, robot, robot.model.nominal)
        picture.set_title(name)
        path = figure.add_axes((0.05 + 0.33 * column, 0.36, 0.26, 0.22), aspect="equal")
        path.plot(log.q[:, 0], log.q[:, 1])
        path.set(xlabel="path, m", adjustable="datalim")
        speed = figure.add_axes((0.05 + 0.33 * column, 0.08, 0.26, 0.2))
        for axis, what in enumerate(("forward, m/s", "left, m/s", "turning, rad/s")):
            speed.plot(log.time, seen[:, axis], f"C{axis}", label=what)
            speed.plot(log.time, wanted[:, axis], f"C{axis}:")
        speed.set(xlabel="time, s (dotted: what was told)")
        speed.legend(fontsize=8)
    Path(out).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(out) / f"{Path(__file__).stem}.png", dpi=70)
    return figures


if __name__ == "__main__":
    main()
