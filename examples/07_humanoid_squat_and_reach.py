"""A humanoid squats, reaches for a point with a hand, and is pushed meanwhile: balance, then reaching, then posture."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import tasks
import wbc
from wbc.application.drawing import draw
from wbc.geometry import so3
from wbc.simulation import Push, Realism, Scene, make_plant

DEPTH, FREQUENCY, BEGIN, SQUATTED, LEAN = 0.2, 0.25, 0.5, 8.5, 1.5  # of the squats: m, Hz, s, s, rad a m of depth
POINT, REACHED = np.array([0.40, -0.30, 1.15]), 10.5  # for the right hand: m, world axes; s
PUSHES, PUSHED = ((0, 1, 0), (1, 0, 0), (0, -1, 0), (-1, 0, 0)), (11.5, 14.0, 16.5, 19.0)  # whither, and when: s


def lowered(t: float) -> tuple[float, float, float]:
    """How far below standing the centre of mass should be, and its derivatives: m, m/s, m/s²."""
    if not BEGIN <= t <= SQUATTED:
        return 0.0, 0.0, 0.0
    omega, half = 2 * np.pi * FREQUENCY, DEPTH / 2
    turn = half * np.exp(1j * omega * (t - BEGIN))
    return half - turn.real, omega * turn.imag, omega**2 * turn.real


def scene(
    backend: str = "auto",
    solver: str = "elastic-qp",
    simulator: str = "mujoco",
    pushed: tuple[float, ...] = PUSHED,
    begin: float = 0.0,
    realism: Realism | None = None,
) -> Scene:
    """The humanoid and its plan from the time `begin` on, with pushes at the times `pushed` of the plan (s)."""
    robot = wbc.load("humanoid", backend)
    feet = [wbc.SurfaceContact(foot, 0.6) for foot in robot.model.soles]
    com = tasks.CenterOfMass(gains=wbc.Gains([1.0, 1.0, 2.0]))
    trunk = tasks.EndEffectorAcceleration("torso", np.eye(3), wbc.Gains(2.0), axes="orientation", name="trunk")
    hand = tasks.EndEffectorAcceleration("right_hand", POINT, wbc.Gains(1.0), axes="position")
    # Balance before reaching: a point too far away is then missed, and not fallen for. Limits of joints below those of
    # motors: a joint near its stop never asks a motor for more than it has. A push brings the soles to the edge of what
    # they can do, where the best torques jump: so the rate (N m/s) is limited too.
    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / (tasks.TorqueLimits(rate=1e4) + tasks.FrictionCones())
        / tasks.ContactMotion()
        / tasks.JointLimits()
        / (com + trunk)
        / hand
        / tasks.JointAcceleration(gains=wbc.Gains(1.5))
        / tasks.TorqueMinimization(),
        contacts=feet,
    )
    stack.switch_off("right_hand")  # for the time being the arm belongs to the posture
    robot.update(robot.model.nominal, np.zeros(robot.nv))
    stand = robot.com

    def center(t: float) -> tuple[np.ndarray, ...]:
        low, *rates = (np.array([0.0, 0.0, -x]) for x in lowered(t + begin))
        return stand + low, *rates

    def lean(t: float) -> tuple[np.ndarray, ...]:  # forward when low: else the ankles come to their limits
        angle, *rates = (np.array([0.0, LEAN * x, 0.0]) for x in lowered(t + begin))
        return so3.exp(angle), *(np.append(np.zeros(3), rate) for rate in rates)

    com.target, trunk.target = center, lean

    def targets(t: float, controller: wbc.Controller) -> None:
        if t + begin >= SQUATTED:  # gently: the tolerance of the task shrinks over a second
            controller.stack.switch_on("right_hand", duration=1.0)

    forces = 0.2 * 9.81 * robot.mass * np.array(PUSHES)
    pushes = [Push("torso", tuple(f), when - begin, 0.1) for f, when in zip(forces, pushed, strict=False)]
    end, plant = PUSHED[-1] + 3.0 - begin, make_plant(robot, simulator, realism=realism)
    return Scene(wbc.Controller(robot, stack, solver), plant, end, targets, pushes)


def measure(log: wbc.Log, begin: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Errors of the centre of mass, and of the hand from its point, m, at each tick, shape (ticks, 3) each."""
    robot = wbc.load("humanoid")
    robot.update(log.q[0], log.v[0])
    stand, com, hand = robot.com, [], []
    for t, q, v in zip(log.time, log.q, log.v, strict=True):
        robot.update(q, v)
        com.append(robot.com - stand + [0, 0, lowered(t + begin)[0]])
        hand.append(robot.pose("right_hand")[:3, 3] - POINT)
    return np.array(com), np.array(hand)


def main(duration: float | None = None, out: str = "out") -> None:
    """Runs it, says how well it went, and draws errors and poses."""
    made = scene()
    log = made.run(duration)
    com, hand = (1e3 * np.linalg.norm(error, axis=1) for error in measure(log))
    print(log.summary())
    print(f"squat: centre of mass within {com[log.time < SQUATTED].max():.2f} mm of its target")
    if log.time[-1] > PUSHED[0]:
        print(f"hand: within {hand[(log.time > REACHED) & (log.time < PUSHED[0])].max():.2f} mm of its point")
        print(f"pushes: centre of mass off by {com[log.time > PUSHED[0]].max():.0f} mm; at the end by {com[-1]:.2f} mm")

    figure = Figure(figsize=(11, 7.5), layout="constrained")
    for column, (moment, title) in enumerate(((0.0, "stands"), (2.5, "squats"), (11.0, "reaches"))):
        axes = figure.add_subplot(2, 3, column + 1, projection="3d", title=title)
        axes.view_init(12, -50)
        draw(axes, made.controller.robot, log.q[min(round(moment / 1e-3), len(log) - 1)])
    axes = figure.add_subplot(2, 1, 2, xlabel="time, s", ylabel="distance from the target, mm")
    axes.vlines(PUSHED, 1e-3, 1e3, color="0.7", lw=4)
    axes.semilogy(log.time, com + 1e-3, label="centre of mass")
    axes.semilogy(log.time[log.time > SQUATTED], hand[log.time > SQUATTED] + 1e-3, label="right hand")
    axes.legend(title="two squats, a reach, four pushes (grey)", loc="upper left")
    Path(out).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(out) / "07_humanoid_squat_and_reach.png", dpi=110)


if __name__ == "__main__":
    main()
