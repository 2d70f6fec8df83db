"""The values of a parameter: a grid, alternatives, or one that is drawn for each seed."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wbc.errors import WbcError, number, show

Plain = None | bool | int | float | str | list["Plain"]
"""What a case may hold: what JSON can say."""


@dataclass(frozen=True)
class Drawn:
    """A value that is drawn at random, anew for each seed. The same seed has the same value at every point of a grid.

    Attributes:
        kind: "normal" or "uniform".
        first: mean, or least value, in the unit of the parameter.
        second: standard deviation, or greatest value, in the same unit.
    """

    kind: str
    first: float
    second: float

    def value(self, name: str, seed: int) -> float:
        """The value for a seed.

        Args:
            name: of the parameter: two parameters have values of their own.
            seed: of the case.
        """
        key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
        random = np.random.default_rng([seed, key])
        return float(getattr(random, self.kind)(self.first, self.second))


def grid(low: float, high: float, count: int, *, wrap: bool = False) -> list[float]:
    """Numbers at equal distances.

    Args:
        low: the first.
        high: the last.
        count: how many.
        wrap: whether `high` is `low` again, such as 360° and 0°, and is left out.
    """
    number(low, "the first value of a grid", -math.inf)
    number(high, "the last value of a grid", -math.inf)
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise WbcError(f"the count of a grid = {show(count)} must be a whole number, 1 or more")
    # rounded to what a person would type: 0.3, and not 0.30000000000000004
    return [float(f"{value:.12g}") for value in np.linspace(low, high, count, endpoint=not wrap)]


def normal(mean: float, deviation: float) -> Drawn:
    """A value from a normal distribution, drawn anew for each seed.

    Args:
        mean: of the distribution.
        deviation: standard deviation.
    """
    return Drawn("normal", number(mean, "the mean", -1e300, 1e300), number(deviation, "the deviation", high=1e300))


def uniform(low: float, high: float) -> Drawn:
    """A value from a uniform distribution, drawn anew for each seed.

    Args:
        low: least value.
        high: greatest value.
    """
    return Drawn("uniform", number(low, "low", -1e300, 1e300), number(high, "high", low, 1e300))


def choices(name: str, given: object) -> Sequence[Plain] | Drawn:
    """The values of a parameter, however they were given: a list is its alternatives, anything else is one value.

    Args:
        name: of the parameter, for messages.
        given: its value or values.
    """
    if isinstance(given, Drawn):
        return given
    many = isinstance(given, Iterable) and not isinstance(given, str | bytes | dict)
    found = [plain(name, value) for value in given] if many else [plain(name, given)]  # type: ignore[attr-defined]
    if not found:
        raise WbcError(f"{name} has no value")
    if len({json.dumps(value) for value in found}) < len(found):
        raise WbcError(f"{name} = {show(given)} has a value twice")
    return found


def plain(name: str, value: Any) -> Plain:  # noqa: ANN401  anything may be given
    """A value as plain data.

    Args:
        name: of the parameter, for messages.
        value: of it.

    Raises:
        WbcError: it is something else.
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        raise WbcError(f"{name} = {value} is not finite")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [plain(name, entry) for entry in value]
    raise WbcError(
        f"{name} = {show(value)} must be plain data: a number, a text, true, false, None, or a list of these"
    )


def parse(text: str) -> tuple[str, Sequence[Plain] | Drawn]:
    """A parameter and its values from the command line.

    `push=30:120:10` is a grid, `direction=0:360:16:wrap` one that leaves out its end, `solver=weighted-qp,nullspace`
    are alternatives, `mass=normal(1,0.05)` and `mass=uniform(0.9,1.1)` are drawn for each seed.

    Args:
        text: a name, "=", and values.
    """
    name, equals, values = (part.strip() for part in text.partition("="))
    if not (name and equals and values):
        raise WbcError(f"{show(text)} must be NAME=VALUES, such as push=30:120:10 or solver=weighted-qp,nullspace")
    drawn = re.fullmatch(r"(normal|uniform)\(([^,]+),([^,]+)\)", values)
    try:
        if drawn:
            return name, (normal if drawn[1] == "normal" else uniform)(float(drawn[2]), float(drawn[3]))
        parts = values.split(":")
        if len(parts) in (3, 4) and (len(parts) == 3 or parts[3] == "wrap"):
            return name, grid(float(parts[0]), float(parts[1]), int(parts[2]), wrap=len(parts) == 4)
    except ValueError:
        raise WbcError(f"{show(text)}: {show(values)} must be numbers") from None
    if re.fullmatch(r"[^,:]+:[^,:]+", values) and all(isinstance(_scalar(part), int | float) for part in parts):
        raise WbcError(f"{show(text)} has no count: say how many values, such as {text}:5")
    found = choices(name, [_scalar(value.strip()) for value in values.split(",")])
    return name, found


def _scalar(text: str) -> Plain:
    """A number, true, false or null; anything else is text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if value is None or isinstance(value, bool | int | float) else text
