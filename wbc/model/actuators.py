"""Actuators that are not the motors of single joints: on tendons, through gears, at a thruster's frame."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.copies import Remade
from wbc.errors import WbcError, show
from wbc.model.parts import constant


@dataclass(frozen=True, eq=False)
class Actuator(Remade):
    """An actuator that is not a joint motor: a row of G in τ = Gᵀ u, its forces for u = 1.

    Attributes:
        name: unique among the actuators of a model; a motor of a joint is called as its joint.
        effort: the greatest u, N or N m.
        least: the least u, N or N m; None: −effort. 0 for an actuator that only pulls or only pushes.
        joints: the force on each joint for u = 1, by its name, N or N m: a number, or one for each of its velocities.
        frame: that a thruster is fixed to, by its name; empty: none.
        wrench: on that frame for u = 1: force, N, and torque, N m, at its origin, in its axes, shape (6,).
        against: a frame that takes the reaction, and in whose axes the wrench is; empty: nothing of the robot does.
    """

    name: str
    effort: float = math.inf
    least: float | None = None
    joints: Mapping[str, ArrayLike] = field(default_factory=dict)
    frame: str = ""
    wrench: ArrayLike = (0.0,) * 6
    against: str = ""

    def __post_init__(self) -> None:
        whose = f"actuator {show(self.name)}"
        least = -self.effort if self.least is None else self.least
        if not -math.inf <= least <= 0.0 <= self.effort <= math.inf:
            raise WbcError(f"{whose}: its force ranges from {least:g} to {self.effort:g}; this must include 0")
        object.__setattr__(self, "least", least)
        if not isinstance(self.joints, Mapping):
            raise WbcError(
                f"{whose}: joints must be a dict from joint names to forces for u = 1, not {show(self.joints)}"
            )
        rates = {name: np.atleast_1d(numbers(rate, f"{whose}: on {name!r}")) for name, rate in self.joints.items()}
        if not all(np.isfinite(rate).all() for rate in rates.values()):
            raise WbcError(f"{whose}: its forces on joints must be finite")
        object.__setattr__(self, "joints", MappingProxyType(rates))
        object.__setattr__(self, "wrench", constant(self.wrench, (6,), f"{whose}: its wrench"))
        if not (self.acts or (self.frame and self.unit.any())):
            raise WbcError(f"{whose}: it acts on no joint and on no frame")
        if self.against and not self.frame:
            raise WbcError(f"{whose}: it acts against {self.against!r}, but on no frame")

    @property
    def acts(self) -> dict[str, Array]:
        """Its force on each joint for u = 1, N or N m, by name; shape (velocities of the joint,)."""
        return {name: np.asarray(rate) for name, rate in self.joints.items() if np.any(rate)}

    @property
    def unit(self) -> Array:
        """The wrench, N and N m, in the axes of its frame, shape (6,)."""
        return np.asarray(self.wrench)

    @property
    def lowest(self) -> float:
        """The least u, N or N m."""
        return -self.effort if self.least is None else self.least
