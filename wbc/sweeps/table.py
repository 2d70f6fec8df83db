"""The rows of a sweep, read from its folder."""

from __future__ import annotations

import heapq
import math
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError, unknown_name
from wbc.sweeps.folder import ROWS, read_rows

Z = 1.959963984540054
"""Of the normal distribution, for 95 %."""


class Share(NamedTuple):
    """A share of cases that finished.

    Attributes:
        finished: cases.
        cases: of which.
        low: of the 95 % confidence interval (Wilson's) of the share.
        high: of it.
    """

    finished: int
    cases: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.finished / self.cases

    @classmethod
    def of(cls, finished: int, cases: int) -> Share:
        """The share, and what it may be.

        Args:
            finished: cases.
            cases: of which.
        """
        p, n = finished / cases, cases
        middle, spread = p + Z**2 / (2 * n), Z * math.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
        return cls(
            finished, cases, max((middle - spread) / (1 + Z**2 / n), 0.0), min((middle + spread) / (1 + Z**2 / n), 1.0)
        )


class Table:
    """The rows of a sweep. They are read from its folder each time: it may be as long as it likes.

    Args:
        folder: of the sweep.

    Attributes:
        folder: as given.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if not (self.folder / ROWS).is_file():
            raise WbcError(f"{self.folder} is no folder of a sweep: it has no {ROWS}")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return read_rows(self.folder)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def kinds(self) -> dict[str, int]:
        """How many cases ended how, the most frequent first."""
        return dict(Counter(row["kind"] for row in self).most_common())

    @property
    def varied(self) -> dict[str, list[Any]]:
        """Parameters with more than one value, and their values, in order."""
        found: dict[str, dict[Any, None]] = {}
        for row in self:
            for name, value in row["overrides"].items():
                found.setdefault(name, {})[_key(value)] = None
        return {name: sorted(values, key=_order) for name, values in found.items() if len(values) > 1}

    def case(self, name: str) -> dict[str, Any]:
        """The row of a case.

        Args:
            name: its hash, or the beginning of it.
        """
        found = [row for row in self if row["case"].startswith(name)]
        if not found:
            raise WbcError(f"{self.folder} has no case {name!r}")
        if len(found) > 1:
            raise WbcError(f"{self.folder} has {len(found)} cases that begin with {name!r}: give more digits")
        return found[0]

    def column(self, name: str) -> Array:
        """A number of each row, shape (rows,); NaN where a row has none.

        Args:
            name: of a parameter, or where it stands in a row: "errors.base.rms", "time", "timing.tick_99".
        """
        return np.array([value_of(row, name) for row in self])

    def shares(self, *names: str) -> dict[tuple[Any, ...], Share]:
        """The share of cases that finished, at each combination of values of parameters.

        Args:
            names: of parameters; none: of all cases together.
        """
        counts: dict[tuple[Any, ...], list[int]] = {}
        for row in self:
            for name in names:
                if name not in row["overrides"]:
                    raise unknown_name("parameter of this sweep", name, row["overrides"])
            count = counts.setdefault(tuple(_key(row["overrides"][name]) for name in names), [0, 0])
            count[0] += row["kind"] == "finished"
            count[1] += 1
        ordered = sorted(counts, key=lambda point: [_order(value) for value in point])
        return {point: Share.of(*counts[point]) for point in ordered}

    def worst(self, count: int = 10) -> list[dict[str, Any]]:
        """The cases that went worst: failures first, the earliest first; then those with the least margins.

        Args:
            count: how many, at the most.
        """
        return heapq.nsmallest(count, self, key=_badness)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.kinds.items())
        return f"<Table {str(self.folder)!r}: {kinds or 'no rows'}>"


def value_of(row: Mapping[str, Any], name: str) -> float:
    """A number of a row; NaN where it has none.

    Args:
        row: of a sweep.
        name: of a parameter, or where it stands in the row; names of tasks may have dots and spaces.
    """
    if name in row["overrides"]:
        found: Any = row["overrides"][name]
    else:
        found = row
        rest = name
        while rest and isinstance(found, Mapping):
            key = next((key for key in found if rest == key or rest.startswith(f"{key}.")), None)
            if key is None:
                return math.nan
            found, rest = found[key], rest[len(key) + 1 :]
    return float(found) if isinstance(found, int | float) else math.nan


def _key(value: Any) -> Any:  # noqa: ANN401  of a parameter
    """A value that can be looked up: lists can't."""
    return tuple(map(_key, value)) if isinstance(value, list) else value


def _order(value: Any) -> tuple[int, float, str]:  # noqa: ANN401  of a parameter
    """Numbers by size, then anything else by its text."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return (0, float(value), "") if plain else (1, 0.0, str(value))


def _badness(row: Mapping[str, Any]) -> tuple[int, float, str]:
    """What the worst has least of."""
    if row["kind"] != "finished":
        return 0, row.get("time", 0.0), row["case"]
    margins = [row[name] for name in ("cone_margin", "torque_margin") if row.get(name) is not None]
    return 1, min(margins, default=0.0), row["case"]


def why(row: Mapping[str, Any]) -> str:
    """Why a case did not finish, in words: what was raised and where, or how the run ended; empty if it finished.

    Args:
        row: of the case.
    """
    if row["kind"] == "finished":
        return ""
    error = row.get("error")
    if not error:
        return str(row["ended"])
    kind = "" if error["type"] == row["kind"] else f"{error['type']}: "
    return f"{kind}{error['message']} {error['where']}".strip()


def command(table: Table, row: Mapping[str, Any]) -> str:
    """The command that shows a case again.

    Args:
        table: of the sweep.
        row: of the case.
    """
    return shlex.join(["wbc", "run", row["scene"], "--case", row["case"], "--runs", str(table.folder)])
