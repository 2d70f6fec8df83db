"""The feet of a walk: where each one stands, and those that swing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tasks.locomotion.footsteps import Footstep
from tasks.locomotion.soles import Soles
from tasks.locomotion.swing import FROZEN, Swing
from wbc.arrays import Array
from wbc.control.stack import Stack
from wbc.dynamics import Dynamics

FROZEN_POINT = 0.05
"""As `FROZEN`, for feet that are points: nothing turns them, and they are light."""

CLOSING = 0.02
"""Time over which a foot that has landed takes its force, s."""


NEAR = 0.05
"""A foot that is no farther than this from its place need not step, m."""


class Legs:
    """Lifts feet and lets them land.

    Args:
        soles: of the feet.

    Attributes:
        on: by foot, where it is on the ground, or was last.
        swings: by foot in the air, its path.
        early: feet that landed before their time.
        landed: steps that were made.
        sensed: whether the forces of all feet in the air are measured.
    """

    def __init__(self, soles: Soles) -> None:
        self._soles = soles
        self.on: dict[str, Footstep] = {}
        self.swings: dict[str, Swing] = {}
        self.early: set[str] = set()
        self.landed, self.sensed = 0, False

    @property
    def standing(self) -> tuple[str, ...]:
        """The feet that do not swing."""
        return tuple(foot for foot in self._soles.feet if foot not in self.swings)

    def find(self, robot: Dynamics) -> None:
        """Sees where the feet stand.

        Args:
            robot: updated.
        """
        for foot in self.standing:
            self.on[foot] = self._soles.step(robot, foot)

    def near(self, steps: Sequence[Footstep]) -> bool:
        """Whether all feet are where steps would put them.

        Args:
            steps: planned.
        """
        return all(np.hypot(*(step.position[:2] - self.on[step.foot].position[:2])) < NEAR for step in steps)

    def rests(self, foot: str) -> bool:
        """Whether a foot is neither in the air nor landed early.

        Args:
            foot: its frame.
        """
        return foot not in self.swings and foot not in self.early

    def frozen(self, foot: str) -> float:
        """See `FROZEN`.

        Args:
            foot: its frame.
        """
        return FROZEN if foot in self._soles.flat else FROZEN_POINT

    def lift(self, foot: str, lift: float, usual: float, robot: Dynamics, stack: Stack) -> None:
        """A foot begins to swing.

        Args:
            foot: its frame.
            lift: height of its swing, m.
            usual: time of its swing by the schedule, s.
            robot: updated.
            stack: with its contact and its swing.
        """
        stack.open_contact(foot)
        stack.switch_on(f"swing of {foot}")
        step, R = self._soles.step(robot, foot), self._soles.pose(robot, foot)[:3, :3]
        self.swings[foot] = Swing(step, R, lift, usual=usual, frozen=self.frozen(foot))

    def land(self, foot: str, robot: Dynamics, stack: Stack) -> None:
        """A foot stands.

        Args:
            foot: its frame.
            robot: updated.
            stack: with its contact and its swing.
        """
        stack.switch_off(f"swing of {foot}")
        stack.close_contact(foot, CLOSING)
        del self.swings[foot]
        self.on[foot] = self._soles.step(robot, foot)
        self.landed += 1

    def feel_ground(self, measured: Mapping[str, Array], weight: float, robot: Dynamics, stack: Stack) -> bool:
        """Lets feet land that feel the ground in the second half of their swing.

        Args:
            measured: forces by foot, N.
            weight: force from which on a foot feels it, N.
            robot: updated.
            stack: with the contacts and swings.

        Returns:
            Whether one did.
        """
        self.sensed = all(foot in measured for foot in self.swings)
        found = [
            foot
            for foot, swing in self.swings.items()
            if foot in measured and swing.elapsed > swing.left and float(measured[foot][2]) > weight
        ]
        for foot in found:
            self.land(foot, robot, stack)
            self.early.add(foot)
        return bool(found)

    def target(self, foot: str) -> tuple[Array, Array, Array]:
        """Where a foot is to be: pose (4, 4), or position (3,) of a point; velocity and acceleration, (6,) each.

        Args:
            foot: its frame.
        """
        pose, rates = np.eye(4), np.zeros((2, 6))
        swing = self.swings.get(foot)
        if swing is not None:
            pose[:3, :3], pose[:3, 3] = swing.rotation, swing.state[0, :3]
            rates[:, :3], rates[:, 5] = swing.state[1:, :3], swing.state[1:, 3]
        elif foot in self.on:  # it is on the ground, and its task is off
            pose[:3, :3], pose[:3, 3] = self.on[foot].rotation, self.on[foot].position
        return (pose if foot in self._soles.flat else pose[:3, 3]), rates[0], rates[1]
