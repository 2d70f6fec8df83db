"""How hard something that has a limit may be accelerated towards it, so that it still stops before it.

This mathematics is shared by the limits of joints and by all barriers: from the distance to a limit and the speed
towards it follows the greatest acceleration, in discrete time, with which the limit holds for all time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wbc.arrays import Array
from wbc.compiled import kernel


@dataclass(frozen=True)
class Stopping:
    """The parameters of an approach to a limit. Units are those of the distance (m or rad) and seconds.

    With d the distance to the limit, v the speed towards it and T the period, the bound is the greatest a with
    (v + a T)² ≤ 2 a_brake (d − v T − a T²/2). The approach to a greatest speed, and to the speed from which it can
    still stop, is exponential, so that the acceleration does not jump when a limit becomes active.

    Attributes:
        braking: acceleration a_brake that is always available to stop, m/s² or rad/s².
        greatest: greatest acceleration that is ever demanded, to either side, m/s² or rad/s².
        approach: time constant of the approach to a greatest speed, s; 0: within a period.
        omega: rate of the critically damped motion back from beyond the limit, 1/s.
        inside: how far within the limit that motion ends, m or rad, so that it gets there in finite time.
    """

    braking: float
    greatest: float
    approach: float
    omega: float
    inside: float = 1e-3

    @cached_property
    def _parameters(self) -> Array:
        return np.array([self.braking, self.greatest, self.approach, self.omega, self.inside])

    def most(self, way: Array, v: Array, speed: Array | float, period: float) -> Array:
        """The greatest acceleration towards a limit with which the limit can still be kept.

        Args:
            way: to the limit; negative beyond it. Any shape.
            v: speed towards it.
            speed: greatest one that is allowed.
            period: of the control, s.
        """
        if kernel is not None:
            speeds = np.asarray(speed, dtype=float, order="C")
            if way.shape == v.shape and speeds.shape in ((), way.shape[-1:], way.shape):
                found = np.empty(way.shape)
                way, v = np.ascontiguousarray(way), np.ascontiguousarray(v)
                kernel.stopping_most(self._parameters, way, v, speeds, period, found)
                return found
        T, d = period, np.maximum(way, 0.0)
        # what it takes to stop in time, where that is more than the braking acceleration
        a = np.maximum(self.braking, np.maximum(v, 0.0) ** 2 / (2 * np.maximum(d, 1e-9)))
        # (v + x)² ≤ 2 a (d − v T − x T / 2) in x = acceleration · T: the greater root, if it still moves to the limit,
        half = v + a * (T / 2)
        left = d - v * T
        x = np.sqrt(np.maximum(half * half - v * v + 2 * a * left, 0.0)) - half
        turns = v + x < 0
        if turns.any():  # else it stops or turns within the period, and must not be beyond the limit at its end
            x = np.where(turns, np.minimum(-v, 2 / T * left), x)
        bound = x / T
        bound = np.minimum(bound, self._approaching(bound, d, v, speed, T))
        beyond = way < 0
        if beyond.any():
            back = self.omega**2 * (way - self.inside) - 2 * self.omega * v
            bound = np.where(beyond, back, bound)
        # what is too fast is slowed as hard as it can be counted on to brake, not at once
        bound = np.minimum(bound, np.maximum((speed - v) / T, -self.braking))
        clipped: Array = np.maximum(np.minimum(bound, self.greatest), -self.greatest)
        return clipped

    def _approaching(self, bound: Array, way: Array, v: Array, speed: Array | float, period: float) -> Array:
        """The greatest acceleration with which something comes up to its greatest speeds as an exponential does.

        h' ≥ -h / approach for what a speed is below the greatest one, h = s - v; s is the limit of speed itself, and
        the speed from which braking still stops it in time, √(2 a_brake way), which falls as it moves on.

        Args:
            bound: with which it comes up to the second one within a period.
            way: to the limit, not negative.
            v: speed towards it.
            speed: greatest one that is allowed.
            period: of the control, s.
        """
        share = period / max(self.approach, period)
        stoppable = np.sqrt(2.0 * self.braking * way)
        falls = self.braking * np.clip(v / np.maximum(stoppable, 1e-9), 0.0, 1.0)
        gentle = np.minimum(share * (speed - v) / period, share * (bound + falls) - falls)
        return np.maximum(gentle, -self.braking)
