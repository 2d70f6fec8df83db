"""Where and when a pushed robot steps: a small QP (Khadiv et al. 2020)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tasks.locomotion.footsteps import Footstep, Moment, turn
from tasks.locomotion.pendulum import Plan
from tasks.locomotion.swing import Swing
from tasks.locomotion.tracking import nearest
from wbc.arrays import Array
from wbc.errors import number
from wbc.solvers import HierarchicalQP, Level

QUINTIC = 5.78
"""Greatest acceleration on a path of least jerk over a unit length in a unit time."""

UPSET = 0.03
"""Error at landing from which on the next support is counted on, m; from twice of it on, fully."""

FREE = 1e-3
"""Weight of a deviation at landing that the next support takes away."""

SOONEST = 0.04
"""The shortest time until landing that is demanded of a foot, s."""


class Adapted(NamedTuple):
    """A change of a step.

    Attributes:
        shift: change of its place, m, world axes, shape (2,).
        left: time until then, s.
    """

    shift: Array
    left: float


class StepAdaptation:
    """Shifts the next steps, and their time, where the zero-moment point can't bring the robot back to its plan.

    An error e of the divergent component grows by σ = exp(ω t) until the step lands at t. A zero-moment point that is z
    off its plan takes z (σ − 1) of that away; the support bounds z. Where what is left is more than `heedless`, a step
    is sought: with ξ the divergent component, p the zero-moment point, u the shift of the step, s the share with which
    what the plan needs at landing goes along with it, and b what is off then,

        (ξ − p) σ = needed + s u + b + F f,     least  w_u |u|² + w_t (t − t_nominal)² + w_b |b|²,

    u within what the legs reach and not into the other foot, σ within the times in which the foot gets there. F f, with
    f between −1 and 1, costs nothing: what is too little to be heeded, and what the zero-moment point takes away in the
    next swing. Two feet that are points leave it the line between them: a trot that is pushed to the side steps across
    that line, by half as much as in the way of the push.

    Args:
        off: w_b, weight of the deviation from the plan at landing.
        place: w_u, of the shift.
        time: w_t, of another time, m²/s².
        heedless: error at landing, forward and to the side, that steps are not changed for, m: that of a leg that
            swings comes and goes in every step. More than twice of it counts as a whole.
        fastest: least time of a swing, s.
        slowest: greatest time of a swing, as a share of what the schedule has.
        swiftest: greatest acceleration of a foot, m/s².
    """

    def __init__(
        self,
        off: float = 100.0,
        place: float = 1.0,
        time: float = 2.0,
        *,
        heedless: tuple[float, float] = (0.03, 0.03),
        fastest: float = 0.22,
        slowest: float = 1.2,
        swiftest: float = 40.0,
    ) -> None:
        self.off, self.place = number(off, "off", above=True), number(place, "place", above=True)
        self.time = number(time, "time, m²/s²,", above=True)
        self.heedless = np.array([number(way, "heedless, m,") for way in heedless])
        self.fastest, self.slowest = number(fastest, "fastest, s,", above=True), number(slowest, "slowest", low=1.0)
        self.swiftest = number(swiftest, "swiftest, m/s²,", above=True)
        self._solver = HierarchicalQP()

    def react(
        self,
        moment: Moment,
        plan: Plan,
        step: Footstep,
        swing: Swing,
        left: float,
        whole: float,
        support: Array,
        room: tuple[Array, Array],
        later: Array | None = None,
    ) -> Adapted | None:
        """What a step is to be changed to; None where it need not be.

        Args:
            moment: now.
            plan: with the step as it was planned.
            step: as it was planned.
            swing: of its foot.
            left: time until it is to land, s.
            whole: time of a swing in the schedule, s.
            support: corners of what the feet stand on, counter-clockwise, m, shape (n, 2).
            room: least and most shift, heading's axes, m, shape (2,) each.
            later: how far a zero-moment point can leave its plan on the feet that stand in the next swing: half the
                diagonals of a parallelogram, m, the columns, world axes, shape (2, n); None: not at all.
        """
        omega, R = moment.omega, turn(moment.heading)[:2, :2]
        grows = math.exp(omega * left)
        divergent, zmp = plan.at(moment.time)
        e = moment.divergent - divergent
        p = nearest(support, zmp + e * grows / (grows - 1))
        beyond = R.T @ (e * grows - (p - zmp) * (grows - 1))
        dead = np.clip(beyond, -self.heedless, self.heedless)
        if np.array_equal(dead, beyond):
            return None
        needed = R.T @ ((divergent - zmp) * grows - (p - zmp))
        way = float(np.linalg.norm(step.position[:2] - swing.state[0, :2]))
        soonest = min(max(self.fastest - swing.elapsed, math.sqrt(QUINTIC * way / self.swiftest), SOONEST), left)
        latest = max(self.slowest * whole - swing.elapsed, soonest + 0.01)
        away = R.T @ (moment.divergent - p)
        free = np.diag(self.heedless * np.clip(2 - np.abs(beyond) / np.maximum(self.heedless, 1e-9), 0.0, 1.0))
        if later is not None:
            upset = min(max(float(np.hypot(*beyond)) / UPSET - 1.0, 0.0), 1.0)
            free = np.column_stack([free, upset * R.T @ later])
        found = self.adapt(away, needed, plan.share, omega, left, (soonest, latest), room, free)
        return None if found is None else Adapted(R @ found.shift, found.left)

    def adapt(
        self,
        away: Array,
        needed: Array,
        share: float,
        omega: float,
        nominal: float,
        times: tuple[float, float],
        room: tuple[Array, Array],
        free: Array | None = None,
    ) -> Adapted | None:
        """The best step; None where the problem has no solution.

        Args:
            away: the divergent component from the zero-moment point now, m, shape (2,).
            needed: the same at landing, as the plan wants it, m, shape (2,).
            share: s, how far what is needed goes along with the step.
            omega: 1/s.
            nominal: time until the step lands, s.
            times: between which it may be, s.
            room: least and most shift, m, shape (2,) each.
            free: deviation at landing that costs nothing: half the diagonals of a parallelogram, m, the columns, shape
                (2, n); None: none.
        """
        free = np.zeros((2, 0)) if free is None else free
        sigma, n = math.exp(omega * nominal), free.shape[1]
        A = np.zeros((2, 5 + n))  # in x = (u, σ, b, f): s u − away σ + b + F f = −needed
        A[0, 0] = A[1, 1] = share
        A[0, 3] = A[1, 4] = 1.0
        A[:, 2], A[:, 5:] = -away, free
        lower = np.array([*room[0], math.exp(omega * times[0]), *np.full(n, -1.0)])
        upper = np.maximum(np.array([*room[1], math.exp(omega * times[1]), *np.ones(n)]), lower)
        weights = [self.place, self.place, self.time / (omega * sigma) ** 2, self.off, self.off, *np.full(n, FREE)]
        scale, wanted = np.sqrt(weights), np.zeros(5 + n)
        wanted[2] = scale[2] * sigma
        levels = [
            Level(A, -needed, -needed),
            Level(np.delete(np.eye(5 + n), (3, 4), axis=0), lower, upper),
            Level(np.diag(scale), wanted, wanted),
        ]
        x = self._solver.solve(levels).x
        if not np.isfinite(x).all():
            return None
        return Adapted(x[:2], math.log(min(max(float(x[2]), lower[2]), upper[2])) / omega)
