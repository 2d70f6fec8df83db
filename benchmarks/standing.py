"""The standing half of `wbc demo` in 1.8 s: the same quadruped, stack, gains and simulator; it moves, and is pushed.

It is what `make robust` runs thousands of times, and what `benchmarks.tuning` tunes.
"""

from __future__ import annotations

import math

import numpy as np

import tasks
import wbc
from wbc.arrays import Array
from wbc.geometry import so3
from wbc.simulation import Push, Realism, Scene, make_plant

MOTION = (0.1, 0.6)
"""From when to when the base goes to a side and back, s."""

WAY, TURN = np.array([0.03, 0.03, -0.02]), np.array([0.06, 0.0, 0.08])
"""The middle of that way: m, and rad about the world's axes."""

PUSH, DURATION = (0.6, 0.2), 1.8
"""Start and duration of the push, and of all, s."""

EVERY = 20
"""Ticks from one record to the next: what is asked is whether it stands."""


def scene(
    backend: str = "auto",
    solver: str = "elastic-qp",
    simulator: str = "mujoco",
    realism: Realism | None = None,
    share: float = 0.3,
    direction: float = 90.0,
) -> Scene:
    """Stands, moves its base, is pushed, and stands again.

    Args:
        backend: see `wbc.load`.
        solver: see `wbc.Controller`.
        simulator: "mujoco" or "builtin".
        realism: what the plant is that the controller does not know.
        share: of the weight, with which it is pushed.
        direction: of the push, degrees; 0 is forward, 90 to the left.
    """
    robot = wbc.load("quadruped", backend)  # type: ignore[arg-type]  # a wrong name is told
    robot.update(robot.model.nominal)
    home = robot.pose("base").copy()
    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / (tasks.TorqueLimits() + tasks.FrictionCones())
        / tasks.ContactMotion()
        / tasks.EndEffectorAcceleration("base", lambda t: base(home, t), wbc.Gains(3.0), name="stand")
        / tasks.JointAcceleration(gains=wbc.Gains(1.5))
        / tasks.TorqueMinimization(),
        contacts=[wbc.PointContact(foot, friction=0.6) for foot in robot.model.feet],
    )
    angle, force = math.radians(direction), share * 9.81 * robot.mass
    push = Push("base", (force * math.cos(angle), force * math.sin(angle), 0.0), *PUSH)
    plant = make_plant(robot, simulator, realism=realism)
    return Scene(wbc.Controller(robot, stack, solver), plant, DURATION, None, [push], every=EVERY)


def base(home: Array, t: float) -> tuple[Array, Array, Array]:
    """Pose of the base, shape (4, 4), velocity and acceleration, shape (6,), world axes.

    Args:
        home: the pose in which it begins and ends.
        t: s.
    """
    start, end = MOTION
    rate = 2.0 * math.pi / (end - start)
    angle = rate * (min(max(t, start), end) - start)
    share = 0.5 - 0.5 * math.cos(angle), 0.5 * rate * math.sin(angle), 0.5 * rate**2 * math.cos(angle)
    pose = home.copy()
    pose[:3, 3] += share[0] * WAY
    pose[:3, :3] = so3.exp(share[0] * TURN) @ home[:3, :3]
    whole = np.concatenate([WAY, TURN])  # about an axis that stays where it is
    return pose, share[1] * whole, (share[2] if start <= t < end else 0.0) * whole
