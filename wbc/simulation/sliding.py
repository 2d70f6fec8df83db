"""The behaviour of MuJoCo's contacts under sliding: they lift the contact, and above some speed they lose it.

The law, its derivation and figures are in `docs/pressing.md`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

from wbc.arrays import numbers
from wbc.errors import WbcError, WbcWarning, number, show

SOLREF, SOLIMP = (0.02, 1.0), (0.9, 0.95)
"""MuJoCo's defaults: time constant, s, and damping ratio; impedance at no depth and at some."""

LOOKS, TURNS = 100, 20
"""A contact that comes and goes so often in so many looks is lifted again and again."""


def sliding_speed_limit(
    force: float,
    mass: float,
    friction: float,
    solref: Sequence[float] = SOLREF,
    solimp: Sequence[float] = SOLIMP,
) -> float:
    """The speed from which on a contact of MuJoCo lets go of what slides on it, again and again.

    s = F τ d₁ (1 − d₀)(1 + μ²) / (2 d₀ m μ). It says as well how soft a floor must be: τ grows with m μ s / F.

    Args:
        force: F, with which the ground is pressed, N.
        mass: m, what of the robot's inertia moves along the normal, kg: 1 / (J M⁻¹ Jᵀ).
        friction: μ.
        solref: τ, s, and a damping ratio of the contact, MuJoCo's `solref`.
        solimp: d₀ and d₁, its impedance at no depth and at its width, MuJoCo's `solimp`; more is not looked at.

    Returns:
        m/s.

    Raises:
        WbcError: a value is invalid.
    """
    F, m, mu = (
        number(value, name, above=True)
        for value, name in ((force, "force, N,"), (mass, "mass, kg,"), (friction, "friction"))
    )
    reference, impedance = numbers(solref, "solref"), numbers(solimp, "solimp")
    if reference.shape != (2,) or not reference[0] > 0.0:
        raise WbcError(f"solref must be a time constant in s and a damping ratio, both positive, not {show(solref)}")
    if len(impedance) < 2 or not ((impedance[:2] > 0.0) & (impedance[:2] < 1.0)).all():
        raise WbcError(f"solimp must begin with two impedances between 0 and 1, not {show(solimp)}")
    nothing, deep = float(impedance[0]), float(impedance[1])
    return F * float(reference[0]) * deep * (1.0 - nothing) * (1.0 + mu**2) / (2.0 * nothing * m * mu)


SLIDES = 1e-3
"""Speed, m/s, from which on it slides."""


class Chatter:
    """Notices contacts that come and go, and says so once for each."""

    def __init__(self) -> None:
        self._looks: dict[str, int] = {}
        self._turns: dict[str, int] = {}
        self._touched: dict[str, bool] = {}

    def look(self, frame: str, touches: bool, speed: Callable[[], float]) -> None:
        """Takes a look at a measured contact.

        Args:
            frame: where it is.
            touches: whether there is a force.
            speed: gives that of the frame, m/s.
        """
        if self._turns.get(frame, 0) < 0:
            return
        turned = touches != self._touched.get(frame, touches)
        self._touched[frame] = touches
        self._turns[frame] = self._turns.get(frame, 0) + turned
        self._looks[frame] = self._looks.get(frame, 0) + 1
        if self._looks[frame] < LOOKS:
            return
        sliding = speed() if self._turns[frame] >= TURNS else 0.0
        if sliding > SLIDES:
            self._turns[frame] = -1
            warnings.warn(
                f"MuJoCo lifts {frame!r}, which slides with {sliding:.2g} m/s, from its ground again and again: its "
                "force is right in the mean at the best; slide slower, press harder, make the ground softer (solref) "
                "or take wbc.Simulator: docs/pressing.md, wbc.simulation.sliding_speed_limit",
                WbcWarning,
                stacklevel=4,
            )
            return
        self._looks[frame] = self._turns[frame] = 0
