"""Levels that are traded for a while, where strict ones would change torques to and fro as fast as they may.

Where a limit takes a direction from a level, a strict hierarchy serves it with whatever is left: a base that balances
on two feet is turned by a leg that is flung about, and torques go from one bound on their rates to the other. Whoever
looks at equations alone does not see that coming, so it is known by what it does: for `PATIENCE` torques are at the
bound. Then the levels below limits, contacts and the bound are weighed against each other, as `WeightedQP` does, until
the strict answer is smooth again: its torques too keep to the bound for `CALM`, and take over along `BACK`. Where that
does not last it is tried less often.

Noise of the sensors moves torques to and fro as well, and there weights would help nothing. It is known by what
follows it: see `wbc.control.innovation`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wbc.arrays import Array
from wbc.control.innovation import Innovation
from wbc.solvers import WeightedQP
from wbc.tasking.layout import Layout

PATIENCE, AGAIN = 0.02, 0.015
"""Levels are traded where torques were at the bound for so long, s; the second one where they just were traded."""

REST, LOOKS, LONGEST = 0.1, 0.5, 2.0
"""They are traded for so long, s, before the strict answer is looked at; twice as long each time that it is not smooth,
up to the second one, and each time that it does not last, up to the third one. Each look lets some of it through."""

CALM, BACK = 0.1, 0.2
"""So long must strict torques keep to the bound, s; and so long does it take to hand over to them."""

JUST = 1.0
"""A strict answer that lasts for so long, s, lasts."""

RATIOS = 300.0, 100.0, 50.0
"""How much more a level weighs than the next one, so that singular directions are damped. Without contacts the last one
holds. With some it is the first one, and the next one where traded levels, too, have torques at the bound for
`PATIENCE`: for as long as levels are traded, a posture that closed chains can't follow pulls as well. A centre of mass
over the toes came 9 mm off a loop of 30 mm with the first one, and 18 mm with the second one; H1 in a crouch chatters
with the first one, and arms that reach too far with any but the last one."""

ALIKE = 0.5
"""Where innovations of v that follow each other are less alike, torques may follow the noise of sensors: no trade
begins. One that is under way ends where they are not alike at all, smooth or not. See `wbc.control.innovation`."""

UNLIKE = -0.25
"""Where they are less alike than this it is the noise of sensors, whose innovations are -1/2 alike."""


class State(NamedTuple):
    """Where a compromise stands.

    Attributes:
        share: of the traded answer in what is commanded, 0 to 1.
        since: when it began, or had to begin anew, s.
        ended: when it ended last, s.
        rest: how long the strict answer is not looked at, s.
        calm: for how long the strict answer has kept to the bound, or is noisy, s.
        strict: its torques in the last tick, N m or N, shape (na,); None where it was not looked at.
        innovation: of v.
        step: which of the ratios holds.
        pressed: for how long traded levels have had torques at the bound, s; times in between count half.
    """

    share: float = 0.0
    since: float = -np.inf
    ended: float = -np.inf
    rest: float = REST
    calm: float = 0.0
    strict: Array | None = None
    innovation: Innovation = Innovation()
    step: int = 0
    pressed: float = 0.0


class Compromise:
    """Whether levels are traded, and how far. A tick once more changes nothing.

    Attributes:
        solvers: that trade them, by how far a level weighs less.
    """

    def __init__(self) -> None:
        self.solvers = tuple(WeightedQP(ratio) for ratio in RATIOS)
        self.forget()

    def forget(self) -> None:
        """Forgets the ticks before."""
        self._time = np.nan
        self._layout: Layout | None = None
        self._state = self._before = State()

    def at(
        self,
        time: float,
        layout: Layout,
        innovation: Array | None = None,
        passed: float = 0.0,
        expected: float = 0.0,
    ) -> None:
        """Begins a tick. Where contacts change all is new: strict levels go on, within the bound.

        Args:
            time: s.
            layout: of its x.
            innovation: of v, m/s and rad/s, shape (nv,); None: it is not known.
            passed: since the tick before, s.
            expected: |T v̇|, how far v was to change, m/s and rad/s.
        """
        if time != self._time:
            state = self._state
            if not time - self._time <= 1.5 * passed:  # the last one was long ago
                state = state._replace(innovation=state.innovation._replace(last=None))
            self._time = time
            if layout is not self._layout:
                self._layout, state = layout, State(innovation=state.innovation)
            self._before = state
        self._state = self._before
        if innovation is not None:
            self._state = self._state._replace(
                innovation=self._before.innovation.followed(innovation, passed, expected)
            )

    @property
    def share(self) -> float:
        """Of the traded answer in what is commanded, 0 to 1."""
        return self._state.share

    @property
    def step(self) -> int:
        """Which of the solvers trades them."""
        return self._state.step

    @property
    def noisy(self) -> bool:
        """Whether torques may follow the noise of sensors."""
        return self._state.innovation.likeness < ALIKE

    @property
    def surely_noisy(self) -> bool:
        """Whether nothing but noise of sensors explains how v differs from what was expected."""
        return self._state.innovation.likeness < UNLIKE

    def begins(self, pressed: float) -> bool:
        """Whether levels are traded from now on.

        Args:
            pressed: for how long torques have been at the bound, s.
        """
        state = self._state
        just = self._time - state.ended < JUST
        if pressed < (AGAIN if just else PATIENCE) or self.noisy:
            return False
        rest = min(2.0 * state.rest, LONGEST) if just else REST
        first = 0 if self._layout is None or self._layout.contacts else len(RATIOS) - 1
        step = state.step if just else first
        self._state = State(1.0, self._time, state.ended, rest, innovation=state.innovation, step=step)
        return True

    def note(self, at_bound: bool, passed: float) -> None:
        """Notes whether traded levels have torques at the bound: for long, and they weigh less from the next tick on.

        Args:
            at_bound: whether they have.
            passed: since the last tick, s.
        """
        state = self._state
        pressed = state.pressed + passed if at_bound else max(state.pressed - 0.5 * passed, 0.0)
        if pressed >= PATIENCE and state.step < len(RATIOS) - 1:
            self._state = state._replace(step=state.step + 1, pressed=0.0)
        else:
            self._state = state._replace(pressed=pressed)

    def end(self) -> None:
        """Goes back to strict levels at once."""
        self._state = self._state._replace(share=0.0, ended=self._time)

    def begin_anew(self) -> None:
        """The strict answer is not smooth yet: it is looked at less often."""
        rest = max(self._state.rest, min(2.0 * self._state.rest, LOOKS))
        self._state = self._state._replace(share=1.0, since=self._time, rest=rest, calm=0.0, strict=None)

    @property
    def looks(self) -> bool:
        """Whether it is time to look at the strict answer."""
        return self._time - self._state.since >= self._state.rest

    def look(self, torque: Array, most: Array, passed: float) -> float:
        """Looks at the strict answer; gives the share of the traded one.

        Args:
            torque: of the strict answer, shape (na,).
            most: by which torques may change in the tick, shape (na,).
            passed: since the last tick, s.
        """
        state = self._state
        jumps = state.strict is not None and (np.abs(torque - state.strict) > most).any()
        if jumps and state.innovation.likeness > 0.0:
            self.begin_anew()
            return 1.0
        calm = state.calm + (passed if state.strict is not None else 0.0)
        share = max(state.share - passed / BACK, 0.0) if calm > CALM else state.share
        self._state = state._replace(calm=calm, strict=torque, share=share)
        if share == 0.0:
            self.end()
        return share
