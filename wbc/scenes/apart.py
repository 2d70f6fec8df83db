"""Bodies that would meet: an arm that reaches among obstacles, a humanoid that sends its hands through itself.

Each scene is one of a random family, told by its seed, with and without `tasks.CollisionAvoidance`. What is measured is
measured on the plant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import tasks
from wbc.arrays import Array
from wbc.collision import CollisionGeometry
from wbc.contacts import SurfaceContact
from wbc.control.controller import Controller
from wbc.control.stack import Stack
from wbc.dynamics.base import Dynamics
from wbc.dynamics.load import load
from wbc.geometry import so3
from wbc.tasking.gains import Gains

MARGIN = 0.02
"""Between all pairs, m."""

POSTURE = 0.01
"""Weight of the posture beside the hands. On a level of its own it would say nothing where a bound takes a direction
from a hand: the hand would find another way, by accelerations without measure.
"""

ROOM = 0.05
"""That obstacles leave at the start, m."""

SMOOTH = 5
"""Ticks after a target is given in which torques may jump: it is given at once."""


@dataclass(frozen=True)
class Outcome:
    """What came of a run.

    Attributes:
        least: distance of any pair at any time, m.
        pair: which one.
        jumps: by tick, the greatest change of a torque as a share of its limit, shape (ticks,).
        times: of ticks, s, shape (ticks,).
        relaxed: ticks in which not all bounds could hold.
        short: how far the hand that has the longest way to go was from its target at the end, m.
        moved: the fallen are told by it: how far the base has sunk, m.
        path: of the hands, world axes, m, shape (ticks, hands, 3).
    """

    least: float
    pair: tuple[str, str]
    jumps: Array
    times: Array
    relaxed: int
    short: float
    moved: float
    path: Array


class Apart:
    """A robot that reaches, and what is in its way.

    Args:
        robot: of `wbc.load`.
        stack: has tasks called as the hands.
        geometry: what is measured.
        targets: by hand, m, world axes, shape (3,).
    """

    def __init__(self, robot: Dynamics, stack: Stack, geometry: CollisionGeometry, targets: dict[str, Array]) -> None:
        self.robot, self.geometry, self.targets = robot, geometry, targets
        self.controller = Controller(robot, stack)
        for hand, target in targets.items():
            task: Any = stack[hand]
            task.target = target

    def run(self, duration: float, every: int = 1) -> Outcome:
        """Runs it in MuJoCo at 1 kHz.

        Args:
            duration: s.
            every: distances are measured each so many ticks.
        """
        from wbc.simulation.mujoco import MujocoSimulator

        plant, seen = MujocoSimulator(self.robot), self.robot.copy()
        start, last = float(plant.state[0][2]), None
        least, pair, relaxed = np.inf, ("", ""), 0
        jumps, times, path = [], [], []
        limit = self.robot.limits.effort
        for tick in range(round(duration * 1e3)):
            solution = self.controller.step(*plant.state, tick * 1e-3)
            relaxed += solution.status != "optimal"
            if last is not None and tick > SMOOTH:
                jumps.append(float(np.abs((solution.torque - last) / limit).max()))
            last = solution.torque
            times.append(solution.time.total)
            plant.apply(last)
            plant.step()
            if tick % every == 0:
                seen.update(*plant.state)
                nearest = self.geometry.nearest(seen)[0]
                if nearest.distance < least:
                    least, pair = nearest.distance, nearest[:2]
            path.append([seen.pose(hand)[:3, 3] for hand in self.targets])
        seen.update(*plant.state)
        short = max(float(np.linalg.norm(seen.pose(hand)[:3, 3] - at)) for hand, at in self.targets.items())
        sunk = start - float(plant.state[0][2]) if self.robot.model.floating else 0.0
        return Outcome(least, pair, np.array(jumps), np.array(times), relaxed, short, sunk, np.array(path))


def arm_among_obstacles(seed: int, avoid: bool = True, backend: str = "auto", obstacles: int = 4) -> Apart:
    """An arm whose tool is sent to a random place; two of the obstacles are on its way, the others anywhere.

    Args:
        seed: which of them.
        avoid: whether the stack avoids collisions.
        backend: see `wbc.load`.
        obstacles: spheres, capsules and boxes.
    """
    robot, rng = load("arm", backend), np.random.default_rng(seed)  # type: ignore[arg-type]  # a wrong name is told
    geometry, home = CollisionGeometry(robot), robot.model.nominal
    robot.update(home)
    start = robot.pose("tool")[:3, 3].copy()
    while True:
        robot.update(robot.random(rng))
        goal = robot.pose("tool")[:3, 3].copy()
        if goal[2] > 0.1 and np.linalg.norm(goal - start) > 0.4 and geometry.nearest(robot)[0].distance > MARGIN:
            break
    robot.update(home)
    placed = 0
    while placed < obstacles:
        on_the_way = placed < 2
        along = rng.uniform(0.3, 0.8) if on_the_way else rng.uniform(0.0, 1.0)
        place = np.eye(4)
        place[:3, 3] = start + along * (goal - start) + rng.normal(size=3) * (0.05 if on_the_way else 0.3)
        place[:3, :3] = so3.exp(rng.normal(size=3) * 2.0)
        name = f"obstacle {placed + 1}"
        match rng.integers(3):
            case 0:
                geometry.add_sphere(name, rng.uniform(0.04, 0.1), place)
            case 1:
                geometry.add_capsule(name, rng.uniform(0.03, 0.07), rng.uniform(0.1, 0.4), place)
            case _:
                geometry.add_box(name, rng.uniform(0.05, 0.25, size=3), place)
        if geometry.nearest(robot)[0].distance < ROOM:
            geometry.remove(name)
        else:
            placed += 1
    limits = tasks.TorqueLimits() / tasks.JointLimits()
    if avoid:
        limits = tasks.TorqueLimits() / (tasks.JointLimits() + tasks.CollisionAvoidance(geometry, MARGIN))
    reach = tasks.EndEffectorAcceleration("tool", gains=Gains(1.0), axes="position")
    posture = tasks.JointAcceleration(gains=Gains(0.7), weight=POSTURE)
    stack = Stack(tasks.EquationOfMotion() / limits / (reach + posture) / tasks.TorqueMinimization())
    return Apart(robot, stack, geometry, {"tool": goal})


def humanoid_through_itself(seed: int, avoid: bool = True, backend: str = "auto") -> Apart:
    """A humanoid whose hands are sent through its own trunk, each to the other side, while it stands.

    Thighs and upper arms, which have no collision shapes in its file, are given some.

    Args:
        seed: which of them.
        avoid: whether the stack avoids collisions.
        backend: see `wbc.load`.
    """
    robot, rng = load("humanoid", backend), np.random.default_rng(seed)  # type: ignore[arg-type]  # as above
    geometry = CollisionGeometry(robot)
    for limb in ("left", "right"):
        geometry.add_capsule(f"{limb} thigh", 0.06, 0.25, (0.0, 0.0, -0.2), f"{limb}_thigh")
        geometry.add_capsule(f"{limb} upper arm", 0.044, 0.18, (0.0, 0.0, -0.19), f"{limb}_upper_arm")
    robot.update(robot.model.nominal)
    middle, targets = robot.pose("torso")[:3, 3], dict[str, Array]()
    for hand, side in (("left_hand", 1.0), ("right_hand", -1.0)):
        at = robot.pose(hand)[:3, 3]
        away = rng.uniform(-0.1, 0.25), -side * rng.uniform(0.0, 0.25), rng.uniform(-0.25, 0.35)
        targets[hand] = np.array([middle[0], middle[1], at[2]]) + np.array(away)
    feet = [SurfaceContact(foot, 0.6) for foot in robot.model.feet]
    limits = tasks.TorqueLimits() + tasks.FrictionCones()
    bounds: Any = tasks.JointLimits()
    if avoid:
        bounds = bounds + tasks.CollisionAvoidance(geometry, MARGIN)
    com = tasks.CenterOfMass(gains=Gains(1.0))
    trunk = tasks.EndEffectorAcceleration("base", gains=Gains(1.5), axes="orientation", name="trunk")
    hands = [tasks.EndEffectorAcceleration(hand, gains=Gains(0.8), axes="position") for hand in targets]
    posture = tasks.JointAcceleration(gains=Gains(0.8), weight=POSTURE)
    levels = tasks.EquationOfMotion() / limits / tasks.ContactMotion() / bounds
    stack = Stack(levels / (com + trunk) / (hands[0] + hands[1] + posture) / tasks.TorqueMinimization(), contacts=feet)
    return Apart(robot, stack, geometry, targets)
