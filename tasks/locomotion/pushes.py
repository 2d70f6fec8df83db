"""What pushes a robot that walks, as its centre of mass tells: the present push, and what it will still do."""

from __future__ import annotations

import math

import numpy as np

from wbc.arrays import Array
from wbc.errors import number


class PushEstimate:
    """Estimates the horizontal acceleration that something outside gives to the centre of mass.

    The centre of mass accelerates otherwise than was asked for; the filtered difference a is what pushes. A push goes
    on for a while: until a foot lands it moves the divergent component by a / ω² (1 − exp(−ω τ)) as seen from now, with
    τ the while. Steps that know of this begin early, while the foot can still get there.

    Args:
        lag: time constant of the filter, s.
        lasting: how much longer a push is thought to last, s.
        heedless: a / ω² up to which nothing pushes, m; up to twice of it, it counts in part. Feet that land and legs
            that swing accelerate the body, too.
        memory: time in which a push is forgotten, s.
        constant: time constant with which what pushes all the time is left out, s, as a slope or a wrong mass does;
            `math.inf`: it is not left out.

    Attributes:
        acceleration: a, m/s², world, shape (2,).
        recent: 1 while a push goes on, and less and less after it, down to 0.
        steady: what pushes all the time, m/s², world, shape (2,), as joints and feet that roll with friction do: learnt
            while no push is recent.
    """

    def __init__(
        self,
        lag: float = 0.04,
        lasting: float = 0.1,
        heedless: float = 0.07,
        memory: float = 2.0,
        constant: float = math.inf,
    ) -> None:
        self.lag, self.lasting = number(lag, "lag, s,", above=True), number(lasting, "lasting, s,")
        self.heedless = number(heedless, "heedless, m,", above=True)
        self.memory = number(memory, "memory, s,", above=True)
        self.constant = number(constant, "constant, s,", above=True)
        self.reset()

    def reset(self) -> None:
        """Forgets the past."""
        self.acceleration, self.recent = np.zeros(2), 0.0
        self._velocity: Array | None = None
        self._always, self.steady = np.zeros(2), np.zeros(2)

    def update(self, velocity: Array, wanted: Array, omega: float, dt: float) -> None:
        """Sees the next state.

        Args:
            velocity: of the centre of mass, horizontal, world, m/s, shape (2,).
            wanted: acceleration that was asked for since the last state, m/s², shape (2,).
            omega: rate with which the robot falls, 1/s.
            dt: since the last state, s.
        """
        if self._velocity is not None:
            found = (velocity - self._velocity) / dt - wanted
            share = min(dt / self.constant, 1.0)
            self._always = self._always + share * (found - self._always)
            if not self.recent:
                self.steady = self.steady + share * (found - self.steady)
            found = found - self._always
            self.acceleration = self.acceleration + min(dt / self.lag, 1.0) * (found - self.acceleration)
        self._velocity = velocity.copy()
        self.recent = max(self.recent - dt / self.memory, self._counts(omega))

    def ahead(self, left: float, omega: float) -> Array:
        """How far the push will move the divergent component until a foot lands, as seen from now, m, shape (2,).

        Args:
            left: time until then, s.
            omega: rate with which the robot falls, 1/s.
        """
        grown = 1 - math.exp(-omega * min(self.lasting, left))
        return np.asarray(self._counts(omega) * grown / omega**2 * self.acceleration)

    def _counts(self, omega: float) -> float:
        """How far the acceleration counts as a push, 0 to 1."""
        size = float(np.hypot(*self.acceleration)) / omega**2
        return min(max(size / self.heedless - 1.0, 0.0), 1.0)
