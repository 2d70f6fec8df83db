"""Imperfections of a real robot: delayed torques, noisy sensors, model errors."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.errors import WbcError, number, show, unknown_name
from wbc.model.model import WORLD, Model
from wbc.model.parts import constant
from wbc.model.space import ConfigurationSpace
from wbc.simulation.plant import Plant

LARGEST, LONGEST = 1e9, 1e3
"""Greatest factor and deviation, and greatest delay, s, which is stored step by step."""


@dataclass(frozen=True)
class Noise:
    """Standard deviations of the errors in a measured state: white, normal, each reading of each step its own.

    Attributes:
        position: of the joints, rad or m.
        velocity: of the joints, rad/s or m/s.
        base_position: of a floating base, each axis, m.
        base_orientation: about each axis of the base, rad.
        base_velocity: of a floating base, each axis, m/s.
        base_rate: of its angular velocity, each axis, rad/s.
    """

    position: float = 0.0
    velocity: float = 0.0
    base_position: float = 0.0
    base_orientation: float = 0.0
    base_velocity: float = 0.0
    base_rate: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            number(getattr(self, field.name), f"noise: {field.name}, a standard deviation,", high=LARGEST)


@dataclass(frozen=True)
class Realism:
    """The imperfections of a plant, for any simulator; pass it to `make_plant`. By default there are none.

    Attributes:
        mass: factor of masses and inertias against the model that the controller has.
        bodies: bodies with the wrong mass; None: all.
        friction: factor of the ground's friction.
        delay: of the torques, s.
        lag: time constant of the torques, s.
        noise: of the measured state.
        seed: of the noise.
    """

    mass: float = 1.0
    bodies: Iterable[str] | None = None
    friction: float = 1.0
    delay: float = 0.0
    lag: float = 0.0
    noise: Noise | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        number(self.mass, "realism: mass", high=LARGEST, above=True)
        number(self.friction, "realism: friction", high=LARGEST)
        number(self.delay, "realism: delay, s,", high=LONGEST)
        number(self.lag, "realism: lag, s,", high=LARGEST)
        if self.bodies is not None and (isinstance(self.bodies, str) or not isinstance(self.bodies, Iterable)):
            raise WbcError(f"realism: bodies is a list of names, not {show(self.bodies)}")
        if not isinstance(self.seed, int | np.integer) or isinstance(self.seed, bool) or self.seed < 0:
            raise WbcError(f"realism: seed = {show(self.seed)} must be a whole number, 0 or more")
        if self.noise is not None and not isinstance(self.noise, Noise):
            raise WbcError(f"realism: noise = {show(self.noise)} must be a wbc.simulation.Noise")

    def around(self, plant: Plant) -> Plant:
        """The plant behind delay, lag and noise; itself, if there is none of them."""
        if not self.delay and not self.lag and self.noise is None:
            return plant
        return Realistic(plant, self.delay, self.lag, self.noise, self.seed)


class Realistic(Plant):
    """Another plant behind a late, slow, noisy interface. Same seed, same numbers.

    A torque is applied to the plant `delay` after it was given, and reaches it through a first-order lag,
    lag · τ̇ = τ_commanded − τ; until the first arrives there is none. The state is measured once a step: asking twice
    gives the same numbers.

    Args:
        plant: any.
        delay: of the torques, s: whole steps of the plant.
        lag: time constant of the torques, s.
        noise: of the measured state.
        seed: of the noise.

    Attributes:
        plant: the one that was given.
        model: its layout of q, v and τ.
        timestep: its own, s.
    """

    def __init__(
        self, plant: Plant, delay: float = 0.0, lag: float = 0.0, noise: Noise | None = None, seed: int = 0
    ) -> None:
        if not isinstance(plant, Plant):
            raise WbcError(f"plant = {show(plant)} must be a Plant, such as a wbc.simulation.Simulator")
        number(delay, "delay, s,", high=LONGEST)
        number(lag, "lag, s,", high=LARGEST)
        if noise is not None and not isinstance(noise, Noise):
            raise WbcError(f"noise = {show(noise)} must be a wbc.simulation.Noise")
        steps = round(delay / plant.timestep)
        if abs(steps * plant.timestep - delay) > 1e-9:
            raise WbcError(f"delay = {delay:g} s must be a multiple of the plant's timestep, {plant.timestep:g} s")
        self.plant, self.model, self.timestep = plant, plant.model, plant.timestep
        self._steps, self._seed = steps, seed
        self._share = 1.0 if lag == 0 else -np.expm1(-plant.timestep / lag)  # of the way, in a step
        self._space = ConfigurationSpace(self.model)
        self._deviation = None if noise is None else self._deviations(noise)
        self._start()

    def _deviations(self, noise: Noise) -> tuple[Array, Array]:
        """Of the configuration, as an increment, and of the velocity; shapes (nv,)."""
        q, v = np.full(self.model.nv, noise.position), np.full(self.model.nv, noise.velocity)
        if self.model.floating:
            q[:3], q[3:6] = noise.base_position, noise.base_orientation
            v[:3], v[3:6] = noise.base_velocity, noise.base_rate
        return q, v

    def _start(self) -> None:
        self._commanded = np.zeros(self.model.na)
        self._on_the_way: deque[Array] = deque([np.zeros(self.model.na)] * self._steps)
        self._torque = np.zeros(self.model.na)
        self._random = np.random.default_rng(self._seed)
        self._measure()

    def _measure(self) -> None:
        """Takes the readings of this step."""
        q, v = self.plant.state
        if self._deviation is not None and np.isfinite(q).all() and np.isfinite(v).all():
            q = self._space.integrate(q, self._deviation[0] * self._random.normal(size=self.model.nv))
            v = v + self._deviation[1] * self._random.normal(size=self.model.nv)
        self._measured = q, v

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """See `Plant`; the noise starts anew from its seed."""
        self.plant.reset(q, v)
        self._start()

    @property
    def time(self) -> float:
        """See `Plant`."""
        return self.plant.time

    @property
    def state(self) -> tuple[Array, Array]:
        """See `Plant`: what the sensors say."""
        return self._measured[0].copy(), self._measured[1].copy()

    @property
    def true_state(self) -> tuple[Array, Array]:
        """See `Plant`: what the plant's q and v really are."""
        return self.plant.true_state

    @property
    def frames(self) -> tuple[str, ...]:
        """See `Plant`."""
        return self.plant.frames

    def measure(self, frames: Iterable[str]) -> None:
        """See `Plant`."""
        self.plant.measure(frames)

    @property
    def torque(self) -> Array:
        """See `Plant`: what the delay and the lag left of the command, as far as the plant's actuators give it."""
        return self.plant.torque

    def apply(self, torque: ArrayLike) -> None:
        """See `Plant`; it arrives later."""
        self._commanded = constant(torque, (self.model.na,), "torque")

    def push(self, frame: str, wrench: ArrayLike) -> None:
        """See `Plant`."""
        self.plant.push(frame, wrench)

    def step(self) -> None:
        """See `Plant`."""
        self._on_the_way.append(self._commanded)
        self._torque = self._torque + self._share * (self._on_the_way.popleft() - self._torque)
        self.plant.apply(self._torque)
        self.plant.step()
        self._measure()

    @property
    def contact_forces(self) -> dict[str, Array]:
        """See `Plant`."""
        return self.plant.contact_forces

    @property
    def trouble(self) -> str:
        """See `Plant`."""
        return self.plant.trouble


def with_mass_error(model: Model, factor: float, bodies: Iterable[str] | None = None) -> Model:
    """The same robot with heavier or lighter bodies: mass and inertia scaled, centres of mass where they were.

    Args:
        model: it is not changed.
        factor: of masses and inertias.
        bodies: names of those that are scaled; None: all.
    """
    if not isinstance(model, Model):
        raise WbcError(f"a mass error needs a wbc.Model, such as robot.model, not {show(model)}")
    number(factor, "factor", high=LARGEST, above=True)
    chosen = set(model.bodies if bodies is None else bodies)
    for name in chosen:
        if name not in model.bodies:
            raise unknown_name("body", name, model.bodies)
    scaled = [
        replace(body, mass=factor * body.mass, inertia=factor * body.inertia) if body.name in chosen else body
        for body in model.bodies.values()
        if body.name != WORLD
    ]
    return model.replace(bodies=scaled, simulated=None)
