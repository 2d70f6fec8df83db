"""The demonstration: a quadruped stands, follows a motion of its base, is pushed, recovers, and trots."""

from __future__ import annotations

import numpy as np

import tasks
import wbc
from tasks.locomotion import Trot
from wbc.arrays import Array
from wbc.control.controller import Controller
from wbc.control.protocol import TorqueController
from wbc.dynamics.base import Dynamics
from wbc.geometry import quaternion, so3
from wbc.scenes.commands import command_at, settled_speeds
from wbc.simulation.log import Log
from wbc.simulation.loop import Push
from wbc.simulation.realism import Realism
from wbc.simulation.scene import Scene, make_plant

MOTION = (0.5, 3.0)
"""From when to when the base moves about, s."""

WAVES = np.array(
    [
        [0.040, -0.020, 0.000, 0.000],  # forward, m
        [-0.015, 0.030, -0.015, 0.000],  # to the left, m
        [0.000, -0.015, 0.030, -0.015],  # up, m
        [-0.050, 0.100, -0.050, 0.000],  # turning about `AXIS`, rad
    ]
)
"""The base's motion: sizes of the sine waves with one to four periods in its time. Each row begins and ends at rest."""

AXIS = np.array([0.6, 0.0, 0.8])
"""What the base turns about, in the world's axes."""

PUSHES = ((3.4, (0.0, 1.0, 0.0), "pushed to the left"), (4.5, (-1.0, 0.0, 0.0), "pushed backwards"))
"""Start in s, direction in the world's axes, and words for it."""

SHARE, PUSHING = 0.3, 0.2
"""A push: its force as a share of the weight, as it comes, and its duration in s."""

TROT = 5.6
"""When the trot begins, s."""

COMMANDS = (
    (TROT, (0.5, 0.0, 0.0), "trots forward"),
    (7.8, (0.3, 0.0, 0.6), "trots round a bend"),
    (10.0, (0.0, 0.0, 0.0), "stops"),
)
"""From when in s, which velocity: forward and to the left in m/s, yaw rate in rad/s; and words for it."""

DURATION = 10.5
"""Of all that, s."""


def demo(
    backend: str = "auto",
    solver: str = "elastic-qp",
    simulator: str = "mujoco",
    share: float = SHARE,
    realism: Realism | None = None,
) -> Scene:
    """The quadruped stands, follows a motion of its base, is pushed to the side and backwards, recovers, and trots.

    Args:
        backend: see `wbc.load`.
        solver: see `wbc.Controller`.
        simulator: "mujoco" or "builtin".
        share: of the weight, with which it is pushed.
        realism: what the plant is that the controller does not know; None: nothing.
    """
    robot = wbc.load("quadruped", backend)  # type: ignore[arg-type]  # a wrong name is told
    base = BaseMotion(robot)
    stand = tasks.EndEffectorAcceleration("base", base.target, wbc.Gains(3.0), name="stand")
    trot = Trot(robot)
    first, *others = trot.swings
    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / (tasks.TorqueLimits(rate=5e3) + tasks.FrictionCones())
        / tasks.ContactMotion()
        / sum(others, start=first)
        / (stand + trot.base)
        / tasks.JointAcceleration(gains=wbc.Gains(1.5))
        / tasks.TorqueMinimization(),
        contacts=[wbc.PointContact(foot, friction=0.6) for foot in robot.model.feet],
    )
    force = share * 9.81 * robot.mass

    return Scene(
        Controller(robot, stack, solver),
        make_plant(robot, simulator, realism=realism),
        DURATION,
        Sequence(trot, stand.name),
        [Push("base", tuple(force * np.array(way)), start, PUSHING) for start, way, _ in PUSHES],
        phases=[
            (0.0, "stands"),
            (MOTION[0], "moves its base"),
            (MOTION[1], "stands"),
            *(
                phase
                for start, _, words in PUSHES
                for phase in ((start, f"{words}, {force:.0f} N"), (start + 3 * PUSHING, "recovers"))
            ),
            *((start, words) for start, _, words in COMMANDS),
        ],
        figures=base.figures,
    )


class Sequence:
    """Stands until `TROT`, then trots: the targets of the demonstration. It is a class so that a scene can be pickled.

    Args:
        trot: the gait.
        stand: name of the task that holds the base before.
    """

    def __init__(self, trot: Trot, stand: str) -> None:
        self._trot, self._stand = trot, stand

    def __call__(self, t: float, controller: TorqueController) -> None:
        """Sets tasks and the command for the tick at a time, s."""
        stack, trot = controller.stack, self._trot
        walking = t >= TROT
        for task in () if walking else (trot.base, *trot.swings):
            stack.switch_off(task.name)
        (stack.switch_off if walking else stack.switch_on)(self._stand)
        if walking:
            stack.switch_on(trot.base.name)
            trot.command = command_at(COMMANDS, t)
            trot.update(t, controller)


class BaseMotion:
    """Where the base should be when, and how well a log keeps to it.

    Args:
        robot: its nominal configuration is where the base begins and ends.
    """

    def __init__(self, robot: Dynamics) -> None:
        posed = robot.copy()
        posed.update(robot.model.nominal)
        self._home = posed.pose("base").copy()
        self._rates = 2 * np.pi * np.arange(1, WAVES.shape[1] + 1) / (MOTION[1] - MOTION[0])

    def target(self, t: float) -> tuple[Array, Array, Array]:
        """Pose, shape (4, 4), velocity and acceleration, shape (6,), world axes.

        Args:
            t: s.
        """
        start, end = MOTION
        rates = self._rates
        angles = rates * (min(max(t, start), end) - start)
        sines = np.sin(angles)
        place, velocity, acceleration = np.array([sines, rates * np.cos(angles), -(rates**2) * sines]) @ WAVES.T
        pose = self._home.copy()
        pose[:3, 3] += place[:3]
        pose[:3, :3] = so3.exp(AXIS * place[3]) @ pose[:3, :3]
        # about an axis that stays where it is, angular velocity and acceleration are those of the angle
        return (
            pose,
            np.concatenate([velocity[:3], AXIS * velocity[3]]),
            np.concatenate([acceleration[:3], AXIS * acceleration[3]]),
        )

    def figures(self, log: Log) -> dict[str, str]:
        """How far the base was from where it should be, and how fast it trotted; of what the log reaches.

        Args:
            log: of the demonstration.
        """
        found = {}
        standing = log.time < TROT
        wanted = [self.target(t)[0] for t in log.time[standing]]
        off = 1e3 * np.array([np.linalg.norm(q[:3] - T[:3, 3]) for q, T in zip(log.true_q, wanted, strict=False)])
        R = quaternion.to_matrix(log.true_q[standing, 3:7])
        angle = np.degrees([np.linalg.norm(so3.log(T[:3, :3] @ R.T)) for T, R in zip(wanted, R, strict=True)])
        moving = (log.time[standing] >= MOTION[0]) & (log.time[standing] < MOTION[1])
        if moving.any():
            root = np.sqrt(np.mean(off[moving] ** 2))
            most = f"{off[moving].max():.2f} mm and {angle[moving].max():.2f}° at the most"
            found["base motion"] = f"off by {root:.2f} mm (root mean square), {most}"
        ends = [*(start for start, _, _ in PUSHES[1:]), TROT]
        for (start, _, words), end in zip(PUSHES, ends, strict=True):
            after = (log.time[standing] >= start) & (log.time[standing] < end)
            if after.any():
                found[words] = f"gave way by {off[after].max():.1f} mm, off by {off[after][-1]:.2f} mm at the end"
        for words, command, (forward, left, turning) in settled_speeds(log, COMMANDS, DURATION):
            found[words] = (
                f"{forward:.2f} m/s forward ({command[0]:g} wanted), {left:.2f} to the left ({command[1]:g}), "
                f"turning {turning:.2f} rad/s ({command[2]:g})"
            )
        return found
