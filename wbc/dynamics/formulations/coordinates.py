"""Coordinates whose rates are a velocity: the rotations of a robot by Euler angles or rotation vectors.

Our configuration has quaternions and our velocity has angular velocities; textbooks that write q̈ mean coordinates
like these (Liu–Jain section 5.2; ETH 2.262; Kindr, generalised coordinates). They have singularities, ours have none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.dynamics.formulations.representation import VelocityChange
from wbc.errors import WbcError, unknown_name
from wbc.geometry import convert, euler, quaternion, rotation_vector
from wbc.model.model import Model
from wbc.model.space import ConfigurationSpace


class _Maps(NamedTuple):
    """Of one parameterisation, in the body frame."""

    to_velocity: Callable[..., Array]  # E
    to_rates: Callable[..., Array]  # E⁻¹
    derivative: Callable[[Any, Any], Array]  # Ė of parameters and rates


def _euler(sequence: str) -> _Maps:
    maps = euler.rates_to_angular_velocity, euler.angular_velocity_to_rates, euler.rates_to_angular_velocity_derivative
    return _Maps(*(partial(each, sequence=sequence, frame="body") for each in maps))


_MAPS = {
    "rotation-vector": _Maps(
        partial(rotation_vector.rates_to_angular_velocity, frame="body"),
        partial(rotation_vector.angular_velocity_to_rates, frame="body"),
        partial(rotation_vector.rates_to_angular_velocity_derivative, frame="body"),
    ),
    **{f"euler-{sequence}": _euler(sequence) for sequence in euler.SEQUENCES},
    "quaternion": _Maps(
        partial(quaternion.rates_to_angular_velocity, frame="body"),
        partial(quaternion.angular_velocity_to_rates, frame="body"),
        lambda _, rates: quaternion.rates_to_angular_velocity(rates, "body"),  # E is linear in the quaternion
    ),
}

ROTATIONS = tuple(_MAPS)
"""The parameterisations that `Coordinates` knows."""


class Coordinates:
    """Coordinates x of a robot: those of its joints as in `q`, and parameters where `q` has a quaternion.

    The entries of x stand in the order of `q`; with three parameters a rotation, x is as long as v.

    Args:
        model: the robot's.
        rotation: "rotation-vector", "euler-zyx", "euler-xyz", "euler-zyz", "euler-zxz", or "quaternion" (x is q).

    Attributes:
        rotation: the parameterisation.
        size: number of entries of x.
    """

    def __init__(self, model: Model, rotation: str = "rotation-vector") -> None:
        if rotation not in _MAPS:
            raise unknown_name("parameterisation", rotation, ROTATIONS)
        self.rotation, self._maps = rotation, _MAPS[rotation]
        self._space = ConfigurationSpace(model)
        position = self._space.position_of_velocity
        self._plain_v = np.flatnonzero(position >= 0)
        self._plain_q = position[self._plain_v]
        self._angular = np.flatnonzero(position < 0).reshape(-1, 3)
        self._quaternions = np.add.outer(model.quaternions(), np.arange(4)).astype(int).reshape(-1, 4)
        self._own = rotation == "quaternion"
        self._plain = self._plain_q if self._own else self._plain_v
        self._parameters = self._quaternions if self._own else self._angular
        self.size = model.nq if self._own else model.nv

    def from_configuration(self, q: ArrayLike) -> Array:
        """The coordinates of a configuration; where it has several, the one in the ranges of `wbc.geometry`.

        Args:
            q: shape (nq,).
        """
        checked = self._space.configuration(q)
        x = np.empty(self.size)
        x[self._plain] = checked[self._plain_q]
        x[self._parameters] = convert(checked[self._quaternions], "quaternion", self.rotation)
        return x

    def to_configuration(self, x: ArrayLike) -> Array:
        """The configuration of coordinates x, shape (nq,).

        Args:
            x: shape (size,).
        """
        checked = self._checked(x, "x")
        q = np.empty(self._space.nq)
        q[self._plain_q] = checked[self._plain]
        q[self._quaternions] = convert(checked[self._parameters], self.rotation, "quaternion")
        return q

    def rates_to_velocity(self, x: ArrayLike) -> Array:
        """B of v = B ẋ (ETH 2.262; Kindr's F̄), shape (nv, size).

        Args:
            x: shape (size,).
        """
        checked = self._checked(x, "x")
        return self._blocks(1.0, self._maps.to_velocity(checked[self._parameters]))

    def velocity_to_rates(self, x: ArrayLike) -> Array:
        """B⁻¹ of ẋ = B⁻¹ v (Kindr's F), shape (size, nv); at a singularity of the parameters the pseudo-inverse.

        Args:
            x: shape (size,).
        """
        checked = self._checked(x, "x")
        inverse = self._maps.to_rates(checked[self._parameters])
        return self._blocks(1.0, np.swapaxes(inverse, -1, -2)).T

    def change(self, x: ArrayLike, rates: ArrayLike) -> VelocityChange:
        """The change from v to ẋ, by which the equations of motion become M(x) ẍ + C(x, ẋ) ẋ + g(x) = Q.

        Args:
            x: shape (size,).
            rates: ẋ, shape (size,).

        Returns:
            B, Ḃ and B⁻¹, for a robot that is updated with `to_configuration(x)` and the velocity B ẋ.
        """
        if self._own:
            raise WbcError(
                "a quaternion has four rates for three directions of motion, so it has no equations of motion of "
                "its own; take one of " + ", ".join(ROTATIONS[:-1])
            )
        here, moving = self._checked(x, "x"), self._checked(rates, "rates")
        E_dot = self._maps.derivative(here[self._parameters], moving[self._parameters])
        return VelocityChange(self.rates_to_velocity(here), self._blocks(0.0, E_dot), self.velocity_to_rates(here))

    def _blocks(self, plain: float, blocks: Array) -> Array:
        """The matrix with `plain` for each entry that is its own rate and these blocks for the rotations."""
        B = np.zeros((self._space.nv, self.size))
        B[self._plain_v, self._plain] = plain
        B[self._angular[:, :, None], self._parameters[:, None, :]] = blocks
        return B

    def _checked(self, x: ArrayLike, name: str) -> Array:
        if self._own and name == "x":
            return self._space.configuration(x, name)
        return self._space.velocity(x, name)
