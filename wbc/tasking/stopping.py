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
        approach: time constant of the approach to a greatest speed, and to the limit itself, s; 0: within a period.
        omega: rate of the critically damped motion back from beyond the limit, 1/s.
        inside: how far within the limit the approach and the motion back end, m or rad: neither jumps at the limit.
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
        # the approach ends within the limit, where braking and the motion back do not jump
        bound = np.minimum(bound, self._approaching(np.maximum(way - self.inside, 0.0), v, speed, T))
        beyond = way < 0
        if beyond.any():
            back = self.omega**2 * (way - self.inside) - 2 * self.omega * v
            bound = np.where(beyond, back, bound)
        # what is too fast is slowed as hard as it can be counted on to brake, not at once
        bound = np.minimum(bound, np.maximum((speed - v) / T, -self.braking))
        clipped: Array = np.maximum(np.minimum(bound, self.greatest), -self.greatest)
        return clipped

    def _approaching(self, way: Array, v: Array, speed: Array | float, period: float) -> Array:
        """The greatest acceleration with which something comes up to its greatest speeds as an exponential does.

        h' ≥ -h / approach for what a speed is below the greatest one, h = s - v; s is the limit of speed itself, and
        a speed from which it can still stop in time, which falls as it moves on. With t = approach and a = a_brake that
        is √(2 a (way - a t² / 2)) as far as a t² before the limit, and way / t from there: braking at a would end with
        a jerk, and a speed of √(2 a way) reacts to way the harder the nearer the limit is, by 1 / period at last.

        Args:
            way: to the limit, not negative.
            v: speed towards it.
            speed: greatest one that is allowed.
            period: of the control, s.
        """
        T, a = period, self.braking
        t = max(self.approach, T)
        share, last = T / t, a * t * t
        # the acceleration that takes it to s within a period, and that of s
        reached = ((way - v * T) / t - v) / (T * (1.0 + 0.5 * share))
        falls = np.clip(v / t, 0.0, a)
        far = way > last
        if far.any():
            left = np.where(far, way - 0.5 * last, 0.5 * last)
            half = v + a * (T / 2)
            root = np.sqrt(np.maximum(half * half - v * v + 2 * a * (left - v * T), 0.0))
            reached = np.where(far, (root - half) / T, reached)
            falls = np.where(far, a * np.clip(v / np.sqrt(2.0 * a * left), 0.0, 1.0), falls)
        gentle = np.minimum(share * (speed - v) / T, share * (reached + falls) - falls)
        return np.maximum(gentle, -a)
