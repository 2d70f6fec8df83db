"""The centre of mass as an inverted pendulum: its divergent component over a path of the zero-moment point.

At a constant height the centre of mass c accelerates away from the zero-moment point p, c̈ = ω² (c − p) with
ω = √(g / height), and its divergent component ξ = c + ċ / ω goes by ξ̇ = ω (ξ − p) (Englsberger et al. 2015). Along a
straight piece of p that has a closed form; a plan is followed backwards from where it ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from tasks.locomotion.footsteps import Footstep, Moment
from wbc.arrays import Array


class Piece(NamedTuple):
    """The zero-moment point goes straight from one place to another.

    Attributes:
        start: m, shape (2,).
        end: m, shape (2,).
        duration: s.
    """

    start: Array
    end: Array
    duration: float


def before(divergent: Array, piece: Piece, omega: float) -> Array:
    """The divergent component at the start of a piece.

    Args:
        divergent: at its end, m.
        piece: of the zero-moment point's path.
        omega: 1/s.
    """
    start, end, T = piece
    if T <= 1e-9:
        return divergent
    E = math.exp(-omega * T)
    return np.asarray(E * divergent + (1 - E) * start + (end - start) * ((1 - E * (1 + omega * T)) / (omega * T)))


def carried(pieces: Sequence[Piece], omega: float) -> Array:
    """The divergent component at the start of a path that comes to rest over its end."""
    found = pieces[-1].end
    for piece in reversed(pieces):
        found = before(found, piece, omega)
    return found


class Plan:
    """A path of the zero-moment point, and the divergent component over it.

    Args:
        time: at which it begins, s.
        pieces: of the zero-moment point.
        omega: 1/s.
        share: how far what is needed at the next landing goes along with a shift of all steps from then on.
    """

    def __init__(self, time: float, pieces: Sequence[Piece], omega: float, share: float = 1.0) -> None:
        self.time, self.pieces, self.omega, self.share = time, tuple(pieces), omega, share
        self._after = carried(self.pieces[1:], omega) if len(self.pieces) > 1 else self.pieces[-1].end
        self.divergent = before(self._after, self.pieces[0], omega)

    def at(self, time: float) -> tuple[Array, Array]:
        """The divergent component and the zero-moment point, m, shape (2,) each, within its first piece."""
        start, end, T = self.pieces[0]
        done = min(max(time - self.time, 0.0), T)
        zmp = start + (end - start) * (done / T if T > 1e-9 else 1.0)
        return before(self._after, Piece(zmp, end, T - done), self.omega), zmp


class CenterPlanner(Protocol):
    """Decides how the centre of mass goes over the steps."""

    def plan(self, moment: Moment, steps: Sequence[Footstep], zmp: Array | None) -> Plan:
        """How the centre of mass goes from a moment on.

        Args:
            moment: with what is ahead.
            steps: of it, in the order in which feet land.
            zmp: where the zero-moment point of the plan before is now, m, shape (2,); None: there is none.
        """
        ...


class DivergentPlanner:
    """The zero-moment point goes from the middle of some feet to the middle of others, while all of these stand.

    In an interval in which the feet S stand it goes from the middle of those that stood before, too, to the middle of
    those that will stand after it: on one foot it rests, on two it goes from the one to the other, on three or four it
    stays inside.
    """

    def plan(self, moment: Moment, steps: Sequence[Footstep], zmp: Array | None) -> Plan:
        """See `CenterPlanner`."""
        at = {foot: step.position[:2] for foot, step in moment.feet.items()}
        every, landing = tuple(at), iter(steps)
        shift = dict.fromkeys(at, 0.0)
        pieces: list[Piece] = []
        shifts: list[Piece] = []
        standing = [[foot for foot in every if foot not in interval.air] for interval in moment.ahead]
        last, moved = zmp, 0.0
        for k, interval in enumerate(moment.ahead):
            now = standing[k]
            later = standing[k + 1] if k + 1 < len(standing) else now
            both = [foot for foot in now if foot in later] or now
            end, shifted = _mean(at, both), sum(shift[foot] for foot in both) / len(both) if both else moved
            if end is None:  # nothing stands: it flies on
                end = last if last is not None else moment.com[:2]
            start = end if last is None else last
            pieces.append(Piece(start, end, interval.duration))
            shifts.append(Piece(np.array([moved]), np.array([shifted]), interval.duration))
            last, moved = end, shifted
            for foot in interval.air:
                if foot in later:
                    step = next(landing, None)
                    if step is not None:
                        at[step.foot], shift[step.foot] = step.position[:2], 1.0
            if k + 1 < len(standing) and not set(now) & set(later) and later:
                last, moved = _mean(at, later), 1.0
        share = float(carried(shifts[1:], moment.omega)[0]) if len(shifts) > 1 else 1.0
        return Plan(moment.time, pieces, moment.omega, max(share, 0.1))


def _mean(at: dict[str, Array], feet: Sequence[str]) -> Array | None:
    if not feet:
        return None
    return sum((at[foot] for foot in feet), np.zeros(2)) / len(feet)
