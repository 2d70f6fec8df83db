"""The part of a foot that touches the ground: a sole with its middle and corners, or a point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tasks.locomotion.footsteps import Footstep
from wbc.arrays import Array
from wbc.dynamics import Dynamics


class Plane(NamedTuple):
    """A plane that is not upright.

    Attributes:
        point: on it, m, world, shape (3,).
        normal: unit, upwards, shape (3,).
    """

    point: Array
    normal: Array

    def height(self, at: Array) -> float:
        """At a place, m.

        Args:
            at: m, world, shape (2,).
        """
        n = self.normal
        return float(self.point[2] - n[:2] @ (at - self.point[:2]) / n[2])


class Soles:
    """The feet of a robot as footsteps know them, whatever the axes of their frames are.

    Args:
        robot: of `wbc.load`; in its nominal configuration it stands on flat ground.
        feet: frames.
        points: whether all of them are points, whatever soles they have.

    Attributes:
        offsets: of the middle of each sole in its frame, with axes that are level in the nominal configuration, (4, 4).
        corners: of each sole in these axes, m, shape (n, 3); one point where it has no sole.
        flat: the feet with soles.
    """

    def __init__(self, robot: Dynamics, feet: tuple[str, ...], points: bool = False) -> None:
        posed = robot.copy()
        posed.update(robot.model.nominal, np.zeros(robot.nv))
        self.feet = feet
        self.flat = () if points else tuple(foot for foot in feet if foot in robot.model.soles)
        self.offsets: dict[str, Array] = {}
        self.corners: dict[str, Array] = {}
        self.nominal: dict[str, Array] = {}
        for foot in feet:
            offset, corners = np.eye(4), np.zeros((1, 3))
            if foot in self.flat:
                R = posed.pose(foot)[:3, :3]
                given = np.asarray(robot.model.soles[foot], dtype=float)
                if given.shape[1] == 2:
                    given = np.column_stack([given, np.zeros(len(given))])
                offset[:3, :3] = R.T
                offset[:3, 3] = (given.min(axis=0) + given.max(axis=0)) / 2
                corners = (given - offset[:3, 3]) @ R.T
            self.offsets[foot], self.corners[foot] = offset, corners
            self.nominal[foot] = (posed.pose(foot) @ offset)[:3, 3]

    def pose(self, robot: Dynamics, foot: str) -> Array:
        """Of a sole in the world, shape (4, 4)."""
        return np.asarray(robot.pose(foot) @ self.offsets[foot])

    def step(self, robot: Dynamics, foot: str) -> Footstep:
        """Where a foot is."""
        pose = self.pose(robot, foot)
        if foot not in self.flat:
            return Footstep(foot, pose[:3, 3].copy())
        R = pose[:3, :3]
        return Footstep(
            foot, pose[:3, 3].copy(), math.atan2(R[1, 0], R[0, 0]), (float(R[0, 2]), float(R[1, 2]), float(R[2, 2]))
        )

    def normal(self, steps: Sequence[Footstep]) -> Array:
        """The normal of the plane through footsteps, or of their soles where there are too few of them, shape (3,)."""
        if len(steps) < 3:
            found = np.sum([step.normal for step in steps], axis=0)
        else:
            points = np.array([step.position for step in steps])
            A = np.column_stack([points[:, :2] - points[:, :2].mean(axis=0), np.ones(len(points))])
            a, b, _ = np.linalg.lstsq(A, points[:, 2], rcond=None)[0]
            found = np.array([-a, -b, 1.0])
        return np.asarray(found / np.linalg.norm(found))

    def plane(self, steps: Sequence[Footstep]) -> Plane:
        """The plane through footsteps."""
        return Plane(np.mean([step.position for step in steps], axis=0), self.normal(steps))

    def support(self, robot: Dynamics, feet: tuple[str, ...], share: float) -> Array:
        """The corners of some feet, soles made smaller, m, world, shape (n, 3)."""
        found = []
        for foot in feet:
            pose = self.pose(robot, foot)
            found.append(share * self.corners[foot] @ pose[:3, :3].T + pose[:3, 3])
        return np.vstack(found)
