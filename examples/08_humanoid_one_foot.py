"""A humanoid shifts its weight over one foot, lifts the other, stands so for ten seconds, and comes back."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import tasks
import wbc
from wbc.application.drawing import draw
from wbc.simulation import Realism, Scene, make_plant

SHIFT, UNLOAD, LIFT = 2.0, 0.5, 1.5  # how long it takes to shift the weight, to unload a foot, to lift it, s
RAISED = 0.12  # height of the foot, m
BEGIN = 0.5  # s


def glide(a: np.ndarray, b: np.ndarray, s: float, duration: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A point on the way from a to b, its velocity and its acceleration; at rest at both ends."""
    x = min(max(s, 0.0), 1.0)
    share = x**3 * (10 - 15 * x + 6 * x * x)
    rate, change = 30 * x**2 * (1 - x) ** 2 / duration, 60 * x * (1 - x) * (1 - 2 * x) / duration**2
    return a + share * (b - a), rate * (b - a), change * (b - a)


def scene(
    backend: str = "auto",
    solver: str = "elastic-qp",
    simulator: str = "mujoco",
    hold: float = 10.0,
    realism: Realism | None = None,
) -> Scene:
    """The humanoid and its plan; it stands on one foot, with the other one up, for the time `hold` (s)."""
    robot = wbc.load("humanoid", backend)
    feet = [wbc.SurfaceContact(foot, 0.6) for foot in robot.model.soles]
    com = tasks.CenterOfMass(gains=wbc.Gains(1.5))
    trunk = tasks.EndEffectorAcceleration("torso", np.eye(3), wbc.Gains(2.0), axes="orientation", name="torso")
    foot = tasks.EndEffectorAcceleration("right_foot", gains=wbc.Gains(3.0))
    # The centre of mass and the free foot share a level above the trunk: where something must give, trunk and arms do.
    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / (tasks.TorqueLimits() + tasks.FrictionCones())
        / tasks.ContactMotion()
        / tasks.JointLimits()
        / (com + foot)
        / trunk
        / tasks.JointAcceleration(gains=wbc.Gains(1.0))
        / tasks.TorqueMinimization(),
        contacts=feet,
    )
    stack.switch_off("right_foot")  # as long as the contact holds it
    robot.update(robot.model.nominal, np.zeros(robot.nv))
    middle, standing = robot.com, robot.pose("left_foot")[:3, 3]
    over = np.array([standing[0], standing[1], middle[2] - 0.02])  # a bit lower, so that the standing knee stays bent
    ground, up = robot.pose("right_foot").copy(), np.array([0.0, 0.0, RAISED])

    opened, lifted = BEGIN + SHIFT, BEGIN + SHIFT + UNLOAD
    lowering = lifted + LIFT + hold
    landed, back = lowering + LIFT, lowering + LIFT + UNLOAD

    def center(t: float) -> tuple[np.ndarray, ...]:
        if t < back:
            return glide(middle, over, (t - BEGIN) / SHIFT, SHIFT)
        return glide(over, middle, (t - back) / SHIFT, SHIFT)

    def place(t: float) -> tuple[np.ndarray, ...]:
        since, a, b = (lifted, 0 * up, up) if t < lowering else (lowering, up, 0 * up)
        rise, *rates = glide(a, b, (t - since) / LIFT, LIFT)
        pose = ground.copy()
        pose[:3, 3] += rise
        return pose, *(np.append(rate, np.zeros(3)) for rate in rates)

    com.target, foot.target = center, place

    def targets(t: float, controller: wbc.Controller) -> None:
        if opened <= t < landed:
            controller.stack.open_contact("right_foot", duration=UNLOAD)  # its force goes to zero first
        elif t >= landed:
            controller.stack.close_contact("right_foot", duration=UNLOAD)
        if lifted <= t < landed:
            controller.stack.switch_on("right_foot")
        else:
            controller.stack.switch_off("right_foot")

    controller = wbc.Controller(robot, stack, solver)
    return Scene(controller, make_plant(robot, simulator, realism=realism), back + SHIFT + 0.5, targets)


def main(duration: float | None = None, out: str = "out") -> None:
    """Runs it, says how long it stood on one foot, and draws forces and poses."""
    made = scene()
    log = made.run(duration)
    robot = made.controller.robot
    com = []
    for q, v in zip(log.q[::10], log.v[::10], strict=True):
        robot.update(q, v)
        com.append(robot.com)
    force = log.measured[:, :, 2]
    alone = force[:, log.feet.index("right_foot")] < 1.0
    print(log.summary())
    print(f"on the left foot alone for {alone.sum() * 1e-3:.2f} s, the centre of mass at last {np.round(com[-1], 3)} m")

    figure = Figure(figsize=(11, 7.5), layout="constrained")
    for column, (moment, title) in enumerate(((0.0, "on two feet"), (2.5, "shifted"), (6.0, "on one foot"))):
        axes = figure.add_subplot(2, 3, column + 1, projection="3d", title=title)
        axes.view_init(10, 15)
        draw(axes, robot, log.q[min(round(moment / 1e-3), len(log) - 1)])
    left = figure.add_subplot(2, 2, 3, xlabel="time, s", ylabel="N", title="vertical force: left blue, right orange")
    left.plot(log.time, force)
    right = figure.add_subplot(2, 2, 4, xlabel="x, mm", ylabel="y, mm", title="soles and centre of mass from above")
    robot.update(log.q[0])
    for foot in log.feet:  # where the soles are on the ground
        right.fill(*(1e3 * (robot.pose(foot)[:2, 3] + robot.model.soles[foot][[0, 1, 3, 2]])).T, alpha=0.3)
    right.plot(*(1e3 * np.array(com)[:, :2].T), "k", lw=1)
    Path(out).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(out) / "08_humanoid_one_foot.png", dpi=110)


if __name__ == "__main__":
    main()
