"""Collects what happens in a run, and writes it to the file of its log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from wbc.arrays import Array
from wbc.control.health import KINDS, Finding
from wbc.control.stack import Stack
from wbc.errors import WbcError, show
from wbc.simulation.log import HEALTH_MARK, MAGIC, Cone, Log, Worry, lengths_of, unpack
from wbc.simulation.log_file import LogFile


def cones_of(stack: Stack) -> dict[str, Cone]:
    """The cones of the contacts of a stack, by their names.

    Args:
        stack: of a controller.
    """
    return {
        contact.name: Cone(contact.frame, contact.friction, tuple(map(float, contact.normal)), contact.on or "")
        for contact in stack.contacts
    }


@dataclass(eq=False)
class Recorder:
    """Collects records, and writes them to a file if there is one.

    Args:
        robot: name.
        contacts: names.
        feet: names.
        sizes: entries of q, v, τ, and levels.
        true: whether a record has the true q and v.
        actuators: names, where a record ends with the torques that they delivered; None: it does not.
        path: of the file, or None.
        examined: whether a record has the health of its tick.
        cones: of contacts, by their names.
    """

    robot: str
    contacts: tuple[str, ...]
    feet: tuple[str, ...]
    sizes: tuple[int, int, int, int]
    true: bool = False
    actuators: tuple[str, ...] | None = None
    path: Path | None = None
    examined: bool = False
    cones: Mapping[str, Cone] = field(default_factory=dict)
    _worries: dict[tuple[str, str], Worry] = field(default_factory=dict)
    _rows: list[Array] = field(default_factory=list)
    _file: LogFile | None = None
    _header: bytes = b""
    _errors: dict[str, int] | None = None

    def __post_init__(self) -> None:
        if self.path is not None:
            self._file = LogFile(self.path)

    def _begin(self, errors: dict[str, int]) -> None:
        """Writes the header, once it is known what a record has."""
        self._errors = errors
        self._header = self.header(errors)
        if self._file is not None:
            self._file.write(self._header)

    def header(self, errors: Mapping[str, int]) -> bytes:
        """How the file begins.

        Args:
            errors: by task, how many numbers its error has.
        """
        names = {"robot": self.robot, "contacts": self.contacts, "feet": self.feet, "actuators": self.actuators}
        header: dict[str, object] = {**names, "sizes": self.sizes, "true": self.true, "errors": errors}
        if self.examined:
            header["health"] = KINDS
        if self.cones:
            header["cones"] = self.cones
        return MAGIC + json.dumps(header).encode() + b"\n"

    def add(self, row: Array, time: float, errors: Mapping[str, Array], health: Iterable[Finding] = ()) -> None:
        """Takes one record; the file has all up to the last tenth of a second.

        Args:
            row: all but health and errors.
            time: s.
            errors: by task, the same tasks each time.
            health: of the tick, where it was examined.
        """
        if self._errors is None:
            for name, error in errors.items():
                if not isinstance(error, np.ndarray) or error.ndim != 1:
                    raise WbcError(f"{name}: error() must give an array of one dimension, or None, not {show(error)}")
            self._begin({name: len(error) for name, error in errors.items()})
        row = np.concatenate([row, [self._note(time, health)] if self.examined else [], *errors.values()])
        self._rows.append(row)
        if self._file is not None:
            self._file.write(row.tobytes(), time)

    def _note(self, time: float, health: Iterable[Finding]) -> float:
        """Counts the findings of a tick; a number with a bit for each kind of them."""
        kinds, seen = 0, set()
        for finding in health:
            kinds |= 1 << KINDS.index(finding.kind)
            whose = finding.kind, finding.name
            if whose in seen:
                continue
            seen.add(whose)
            before = self._worries.get(whose)
            self._worries[whose] = (
                Worry(*whose, 1, time, finding.text) if before is None else before._replace(ticks=before.ticks + 1)
            )
        return float(kinds)

    def close(self, ended: str) -> Log:
        """Closes the file with the reason why the run ended, and returns the log."""
        if self._errors is None:
            self._begin({})
        errors = self._errors or {}
        tail = b"\nended: " + ended.encode()
        if self.examined:
            tail += HEALTH_MARK + json.dumps(list(self._worries.values())).encode()
        if self._file is not None:
            self._file.write(tail)
            self._file.close(lambda: (self._header, *(row.tobytes() for row in self._rows), tail))
        kinds = KINDS if self.examined else None
        sizes = self.sizes, len(self.contacts), len(self.feet)
        lengths = lengths_of(*sizes, self.true, self.actuators is not None, self.examined, errors)
        rows = np.array(self._rows).reshape(-1, sum(lengths))
        log = unpack(self.robot, self.contacts, self.feet, self.actuators, kinds, lengths, errors, rows, ended)
        log.worries = tuple(self._worries.values())
        log.cones = dict(self.cones)
        log.unwritten = "" if self._file is None else self._file.trouble
        return log
