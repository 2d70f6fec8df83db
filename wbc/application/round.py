"""The loop that `wbc try` takes a robot round, and how large it can be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np
import scipy.linalg

from wbc.application.posture import can_move, freedom, in_postures, moving_joints, plant_of, touching
from wbc.arrays import Array
from wbc.dynamics.base import Dynamics
from wbc.kinematics import InverseKinematics
from wbc.model.loops import tied_joints
from wbc.simulation import MujocoSimulator

LOOP, AROUND = 1.0, 2.0
"""When the loop begins, and how long it takes, s."""

POINTS = 24
"""On a loop that are looked at."""

HALVINGS = 3
"""How often a loop is made half as large, where a hand can't go round it."""

QUICK = 0.7
"""Share of the greatest speed of a joint that a loop may take of it."""

ASIDE = 0.1
"""Sine of the greatest angle between a loop's plane and where a hand can go."""

FINGER = 4
"""Joints that a finger has at the most: its tip may go to and fro without going round."""

NEAR = 1e-4
"""Of a point on it, m and rad, for the hand to be there."""

FREE = 1e-3
"""A hand that moves in some direction by less than this share of what its joints move it by, in each of some postures,
does not move there: a finger may go to and fro along an arc only."""


class Loop:
    """A circle to one side and down, or up, from rest to rest.

    Args:
        home: where it begins: a point, shape (3,), or a pose, shape (4, 4).
        radius: m.
        side: where it goes first, unit, shape (3,).
        upwards: 1 for up, -1 for down.
    """

    def __init__(self, home: Array, radius: float, side: Array, upwards: float = -1.0) -> None:
        self.home, self.radius, self.side, self.upwards = home, radius, side, upwards

    def target(self, t: float) -> tuple[Array, Array, Array]:
        """Point or pose, velocity and acceleration at a time."""
        s = min(max((t - LOOP) / AROUND, 0.0), 1.0)
        angle = 2 * math.pi * s**3 * (10 - 15 * s + 6 * s * s)
        rate = 2 * math.pi * 30 * s**2 * (1 - s) ** 2 / AROUND
        change = 2 * math.pi * 60 * s * (1 - s) * (1 - 2 * s) / AROUND**2
        up = np.array([0.0, 0.0, -self.upwards])
        along = math.cos(angle) * self.side - math.sin(angle) * up
        around = -math.sin(angle) * self.side - math.cos(angle) * up
        away = self.radius * (math.sin(angle) * self.side + (math.cos(angle) - 1.0) * up)
        velocity, acceleration = self.radius * rate * along, self.radius * (change * along + rate**2 * around)
        if self.home.shape == (3,):
            return self.home + away, velocity, acceleration
        pose = self.home.copy()
        pose[:3, 3] += away
        return pose, np.append(velocity, np.zeros(3)), np.append(acceleration, np.zeros(3))


def reaches(robot: Dynamics, hand: str) -> bool:
    """Whether a hand can go up, and to some side, and in more than one direction: a planar base, or a finger with one
    joint, has no loop to go round.

    Args:
        robot: with a fixed base.
        hand: frame.
    """
    model = robot.model
    joints = [joint.name for joint in model.joints.values() if joint.nq == 1 and model.drives(joint.name)]
    for posed in islice(in_postures(robot, joints), 1 if model.loops else None):
        J = posed.jacobian(hand)[:3]
        least = FREE * np.linalg.norm(J)
        if model.loops:
            J = J @ scipy.linalg.null_space(posed.loop_motion.J)
        size = np.linalg.svd(J, compute_uv=False)
        if len(size) > 1 and min(size[1], np.linalg.norm(J[2]), np.linalg.norm(J[:2])) > least:
            return True
    return False


def in_reach(
    robot: Dynamics, radius: float, loops: Callable[[str, float], Loop], hands: Iterable[str]
) -> tuple[float, tuple[str, ...]]:
    """The radius of a loop that hands can go round from the nominal posture, within limits, touching nothing.

    Args:
        robot: with a fixed base.
        radius: m, to begin with; a half, a quarter, or an eighth of it, where that is too large.
        loops: the loop of a hand with a radius.
        hands: frames.

    Returns:
        The radius, and the hands that can go round the smallest loop, as some thumbs can't. Where none can: those that
        are no fingers.
    """
    plant, smallest = plant_of(robot), radius * 0.5**HALVINGS
    can = tuple(hand for hand in hands if _goes_round(robot, hand, loops(hand, smallest), plant))
    if not can:  # whatever holds them back, the trial shows it
        return radius, tuple(hand for hand in hands if len(moving_joints(robot, hand)) > FINGER)
    for halvings in range(HALVINGS):
        smaller = radius * 0.5**halvings
        if all(_goes_round(robot, hand, loops(hand, smaller), plant) for hand in can):
            return smaller, can
    return smallest, can


def _goes_round(robot: Dynamics, hand: str, loop: Loop, plant: MujocoSimulator | None) -> bool:
    joints = moving_joints(robot, hand)
    if not joints or set(joints) & set[str]().union(*tied_joints(robot.model)):
        return _sets_out(robot, hand, loop)  # balls, and the loops of a linkage, are not kept in what follows
    finder = InverseKinematics(robot, hand, joints=joints, restarts=0, tolerance=NEAR)
    q, posed, model = robot.model.nominal, robot.copy(), robot.model
    ways = freedom(robot, hand, joints)
    before, at = touching(plant, q), [model.q_index[name] for name in joints]
    fastest = np.array([model.joints[name].velocity for name in joints]) * QUICK * AROUND / (POINTS - 1)
    for t in LOOP + AROUND * np.linspace(0.0, 1.0, POINTS):
        found = finder.solve(loop.target(float(t))[0], q)
        posed.update(found.q)
        if not found.solved or not can_move(posed, hand, joints, ways, loop.home.shape == (4, 4), 0.5):
            return False
        if (np.abs(found.q - q)[at] > fastest).any() or touching(plant, found.q) > before:
            return False
        q = found.q
    return True


def _sets_out(robot: Dynamics, hand: str, loop: Loop) -> bool:
    """Whether a hand can move in the plane of a loop where that begins."""
    posed = robot.copy()
    posed.update(robot.model.nominal)
    J = posed.jacobian(hand)[:3]
    U = scipy.linalg.orth(J @ scipy.linalg.null_space(posed.loop_motion.J) if robot.model.loops else J, rcond=FREE)
    ways = np.column_stack([loop.side, [0.0, 0.0, 1.0]])
    return bool(np.linalg.norm(ways - U @ (U.T @ ways), axis=0).max() < ASIDE)
