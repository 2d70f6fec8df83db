"""Finds gains that are unstable at the control period."""

from __future__ import annotations

import warnings

import numpy as np

from wbc.control.stack import Stack
from wbc.errors import WbcWarning, show
from wbc.tasking.gains import Gains

HARDLY = 1.75
"""From k T above this on poses are often lost: their errors are not linear. Of thirty random poses of an arm, 0.3 rad
away in each joint, none is lost at 1.2, a few at 1.5, twelve at 1.8 and all at 1.98."""


def warn_of_unstable_gains(stack: Stack, period: float, stacklevel: int = 3) -> None:
    """Warns of tasks whose gains make their error grow, even if the robot follows exactly.

    A demanded acceleration or velocity is held for a period T. With v̇ = −kd v − kp e, the error becomes e + T v −
    (T²/2) (kd v + kp e) and its rate v − T (kd v + kp e): a map whose eigenvalues are inside the unit circle if and
    only if 0 < kd T < 2 and kp T < 2 kd. For v = −k e the condition is k T < 2; a gain near that is warned of, too.

    Args:
        stack: of the controller.
        period: between ticks, s.
        stacklevel: of the warning.
    """
    for task in stack:
        gains, gain, name = getattr(task, "gains", None), getattr(task, "gain", None), show(stack.name_of(task))
        told = ""
        if reason := _unstable(gains, gain, period):
            told = f"{name} has gains that are unstable at a period of {period:g} s: {reason}"
        elif reason := _hardly_stable(gain, period):
            told = f"{name} has a gain that is hardly stable at a period of {period:g} s: {reason}"
        if told and not task.gains_of_forces:
            warnings.warn(told, WbcWarning, stacklevel=stacklevel)


def _unstable(gains: object, gain: object, period: float) -> str:
    """Why an error grows; empty if it does not, or if the task has no such gains."""
    if isinstance(gains, Gains):
        kp, kd = np.broadcast_arrays(np.atleast_1d(gains.kp), np.atleast_1d(gains.kd))
        worst = int(kd.argmax())
        if kd[worst] * period >= 2.0:
            bound = f"2 / period = {2.0 / period:.4g}, as Gains(f) has it below {1.0 / (2.0 * np.pi * period):.3g} Hz"
            return f"kd = {kd[worst]:.4g} 1/s must be below {bound}"
        stiff = kp * period > 2.0 * kd
        if stiff.any():
            worst = int(np.where(stiff, kp, 0.0).argmax())
            bound = f"kp · period / 2 = {kp[worst] * period / 2.0:.4g} 1/s"
            return f"kp = {kp[worst]:.4g} 1/s² has too little damping: kd must be above {bound}"
    elif isinstance(gain, float | np.ndarray) and np.size(gain):
        most = float(np.max(gain))
        if most * period >= 2.0:
            return f"a gain of {most:.4g} 1/s must be below 2 / period = {2.0 / period:.4g}"
    return ""


def _hardly_stable(gain: object, period: float) -> str:
    """Why an error of a frame may grow, though that of a joint would not; empty if it does not."""
    if not isinstance(gain, float | np.ndarray) or not np.size(gain):
        return ""
    most = float(np.max(gain))
    if most * period <= HARDLY:
        return ""
    beyond = f"a gain of {most:.4g} 1/s overshoots by {most * period - 1.0:.0%} in each tick"
    return f"{beyond}, and errors of frames may grow: stay below 1 / period = {1.0 / period:.4g}"
