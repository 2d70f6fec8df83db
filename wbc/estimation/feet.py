"""Feet as an inertial sensor sees them: where they are in its axes, how well that is known, how they turn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wbc.arrays import Array
from wbc.compiled import kernel
from wbc.dynamics.backend import FramesMotion
from wbc.estimation.invariant_filter import FilterNoise

JOINTS = 6
"""The first column of joints in a Jacobian of a robot with a floating base."""


class Feet(NamedTuple):
    """Feet in the axes of the sensor.

    Attributes:
        places: from the sensor, its axes, m, shape (feet, 3).
        noise: covariance of the places, axes of the sensor, m², shape (feet, 3, 3).
        rolling: how they turn in the base, axes of the sensor, rad/s, shape (feet, 3).
    """

    places: Array
    noise: Array
    rolling: Array

    @classmethod
    def seen(cls, motion: FramesMotion, turn: Array, arm: Array, noise: FilterNoise) -> Feet:
        """Feet of a robot whose base is at the origin and at rest.

        Args:
            motion: of the feet.
            turn: axes of the sensor in the base, shape (3, 3).
            arm: place of the sensor in the base, m, shape (3,).
            noise: of the encoders, and of what they do not explain.
        """
        count = len(motion.poses)
        if kernel is not None:
            found = cls(np.empty((count, 3)), np.empty((count, 3, 3)), np.empty((count, 3)))
            poses, J, _, velocity = motion
            kernel.feet_seen(poses, J, velocity, JOINTS, turn, arm, noise.encoder, noise.kinematics, *found)
            return found
        J = turn.T @ motion.jacobian.reshape(count, 6, -1)[:, :3, JOINTS:]
        spread = noise.encoder**2 * J @ J.transpose(0, 2, 1) + noise.kinematics**2 * np.eye(3)
        places = (motion.poses[:, :3, 3] - arm) @ turn
        return cls(places, np.asarray(spread), motion.velocity.reshape(-1, 6)[:, 3:] @ turn)

    def rolled(self, rate: Array, rotation: Array, radii: Array, dt: float) -> Array:
        """How far feet roll on the ground: the centre of a ball goes by ω × r, r from where it touches to the centre.

        Args:
            rate: angular velocity of the base, axes of the sensor, rad/s, shape (3,).
            rotation: of the sensor in the world, shape (3, 3).
            radii: of the feet, m, shape (feet,).
            dt: s.

        Returns:
            World axes, m, shape (feet, 3).
        """
        found: Array = np.empty(self.rolling.shape)
        if kernel is not None:
            kernel.feet_rolled(self.rolling, rate, rotation, radii, dt, found)
            return found
        spin = (self.rolling + rate) @ rotation.T
        found[:, 0], found[:, 1], found[:, 2] = spin[:, 1] * radii * dt, -spin[:, 0] * radii * dt, 0.0
        return found
