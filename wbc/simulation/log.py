"""The log of a run: one record per tick, written during the run, so that a killed process loses almost nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from wbc.arrays import Array, IntArray, MaskArray
from wbc.errors import WbcError, number, show
from wbc.model.parts import constant

MAGIC = b"wbc log 3\n"
"""How a log file begins. Version 1 had no true state, 2 no delivered torques and no health; both are read as well."""

_EARLIER = (b"wbc log 1\n", b"wbc log 2\n")

HEALTH_MARK = b"\nhealth: "

MOST_ENTRIES = 1_000_000
"""More than any part of a record has; a header that says so is damaged."""

SAME = 1e-6
"""A torque that is farther than this from the commanded one, N m or as a share of it, was not delivered."""

STATUSES = ("optimal", "relaxed", "failed")


class Cone(NamedTuple):
    """The forces that a contact of a stack can have.

    Attributes:
        frame: of the robot.
        friction: coefficient.
        normal: unit, in the axes of the frame `on`, or of the world, shape (3,).
        on: the body that is touched; empty: the ground.
    """

    frame: str
    friction: float
    normal: tuple[float, ...]
    on: str = ""


class Worry(NamedTuple):
    """A finding of `Solution.health` over a run.

    Attributes:
        kind: see `wbc.control.health.Kind`.
        name: of the task, the contact or the actuator; empty if the file is incomplete.
        ticks: that had it.
        first: the time of the first one, s.
        text: its text at that time.
    """

    kind: str
    name: str
    ticks: int
    first: float
    text: str


@dataclass(eq=False)
class Log:
    """A run, tick by tick.

    Attributes:
        robot: its name.
        contacts: names of the stack's contacts, in the order of `forces`.
        feet: frames whose contact forces were measured, in the order of `measured`: the feet, and the contacts' frames.
        time: s, shape (ticks,).
        q: configurations, as measured, m and rad, shape (ticks, nq).
        v: velocities, as measured, m/s and rad/s, shape (ticks, nv).
        torque: commanded, N m or N, shape (ticks, na).
        forces: commanded at the contacts, world axes, N, shape (ticks, contacts, 3).
        measured: contact forces, their mean over the period before the tick, world axes, N, shape (ticks, feet, 3).
        cost: of each level of the stack, in the units of its rows, shape (ticks, levels).
        cone_margin: least, N, shape (ticks,).
        torque_margin: least, N m, shape (ticks,).
        status: of each tick, "optimal", "relaxed" or "failed".
        tick_time: of `controller.step`, s, shape (ticks,).
        ended: "finished", "stopped", "interrupted", or what went wrong; empty if the file is incomplete.
        true_q: true configurations, m and rad, shape (ticks, nq); equal to `q` if the plant's sensors have no errors.
        true_v: true velocities, m/s and rad/s, shape (ticks, nv).
        errors: desired − measured by task, in the axes of its rows, shape (ticks, rows): see `Task.error`.
        delivered: torques that the plant's actuators exerted, N m or N, their mean over the period after the tick,
            shape (ticks, na); not a number where the plant can't tell.
        actuators: names of the actuators' velocities, in the order of `torque`; empty in logs of earlier versions.
        ill: whether a tick's health was not good, shape (ticks,); None if it was not examined.
        worries: the findings, in the order of their first times.
        cones: of contacts, by their names; empty in logs of earlier versions and of kinematics.
        unwritten: why the file does not have the whole log; empty if it has.
    """

    robot: str
    contacts: tuple[str, ...]
    feet: tuple[str, ...]
    time: Array
    q: Array
    v: Array
    torque: Array
    forces: Array
    measured: Array
    cost: Array
    cone_margin: Array
    torque_margin: Array
    status: list[str]
    tick_time: Array
    ended: str
    true_q: Array
    true_v: Array
    errors: dict[str, Array]
    delivered: Array
    actuators: tuple[str, ...] = ()
    ill: MaskArray | None = None
    worries: tuple[Worry, ...] = ()
    unwritten: str = ""
    cones: dict[str, Cone] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.time)

    def summary(self) -> str:
        """A few lines for a person."""
        if not len(self):
            return f"{self.robot}: no ticks, {self.ended or 'the file is incomplete'}"
        counts = {status: self.status.count(status) for status in STATUSES if status in self.status}
        shares = ", ".join(f"{count} {status}" for status, count in counts.items())
        ms = 1e3 * self.tick_time
        lines = [
            f"{self.robot}: {self.time[-1]:.3g} s in {len(self)} ticks, {self.ended or 'the file is incomplete'}",
            f"ticks: {shares}; {np.median(ms):.3f} ms median, {np.percentile(ms, 99):.3f} ms at 99 %",
        ]
        kinds = ((self.cone_margin, "N in cones"), (self.torque_margin, "N m of torque"))
        margins = [f"{margin.min():.3g} {kind}" for margin, kind in kinds if margin.min() < np.inf]
        if margins:  # where there is nothing to be far from, as with velocities, there is none
            lines.append(f"least margins: {', '.join(margins)}")
        lines += self._undelivered()
        if self.ill is not None:
            lines.append(f"health: {self.health()}")
        return "\n".join(lines)

    def _undelivered(self) -> list[str]:
        """A line about torques that did not reach the joints as they were commanded, or none."""
        missing = np.nan_to_num(np.abs(self.delivered - self.torque))
        late = (missing > SAME * np.maximum(1.0, np.abs(self.torque))).any(axis=1)
        if not late.any():
            return []
        worst = int(missing.max(axis=0).argmax())
        name = self.actuators[worst] if self.actuators else f"actuator {worst}"
        return [f"torque not delivered in {late.sum()} of {len(self)} ticks, up to {missing.max():.3g} N m ({name})"]

    def health(self) -> str:
        """In a line: how many ticks had something to worry about, what came first, and what else there was."""
        if self.ill is None:
            return "nobody looked"
        if not self.ill.any():
            return "good"
        line = f"{int(self.ill.sum())} of {len(self)} ticks not good"
        if not self.worries:
            return line
        first, *others = self.worries
        line += f", from {first.first:.3g} s on: {first.text}"
        kinds = dict.fromkeys(worry.kind for worry in others if worry.kind != first.kind)
        return f"{line}; then {', '.join(kinds)}" if kinds else line


def lengths_of(
    sizes: tuple[int, int, int, int],
    contacts: int,
    feet: int,
    true: bool,
    delivered: bool,
    examined: bool,
    errors: Mapping[str, int],
) -> list[int]:
    """Of the parts of a record, numbers; what it does not have is of length zero."""
    nq, nv, na, levels = sizes
    optional = [nq if true else 0, nv if true else 0, na if delivered else 0, int(examined)]
    return [1, nq, nv, na, 3 * contacts, 3 * feet, levels, 1, 1, 1, 1, *optional, *errors.values()]


def unpack(
    robot: str,
    contacts: tuple[str, ...],
    feet: tuple[str, ...],
    actuators: tuple[str, ...] | None,
    kinds: Sequence[str] | None,
    lengths: list[int],
    errors: Mapping[str, int],
    rows: Array,
    ended: str,
) -> Log:
    """A log of its records.

    Args:
        robot: name.
        contacts: names.
        feet: names.
        actuators: names; None: the records have no delivered torques.
        kinds: of findings that the records have bits for; None: they have none.
        lengths: see `lengths_of`.
        errors: by task, how many numbers its error has.
        rows: the records, shape (ticks, numbers).
        ended: see `Log`.
    """
    parts = np.split(rows, np.cumsum(lengths)[:-1], axis=1)
    true = bool(lengths[11])
    with np.errstate(invalid="ignore"):  # of a damaged file
        found = None if kinds is None else parts[14][:, 0].astype(np.int64)
    return Log(
        robot,
        contacts,
        feet,
        parts[0][:, 0],
        parts[1],
        parts[2],
        parts[3],
        parts[4].reshape(len(rows), len(contacts), 3),
        parts[5].reshape(len(rows), len(feet), 3),
        parts[6],
        parts[7][:, 0],
        parts[8][:, 0],
        [STATUSES[int(code)] for code in parts[9][:, 0]],
        parts[10][:, 0],
        ended,
        parts[11] if true else parts[1].copy(),
        parts[12] if true else parts[2].copy(),
        dict(zip(errors, parts[15:], strict=True)),
        np.full_like(parts[3], np.nan) if actuators is None else parts[13],
        actuators or (),
        None if found is None else found != 0,
        _by_kind(found, kinds or (), parts[0][:, 0]) if found is not None else (),
    )


def _by_kind(found: IntArray, kinds: Sequence[str], time: Array) -> tuple[Worry, ...]:
    """The health of an incomplete file: the kinds of findings."""
    worries = []
    for bit, kind in enumerate(kinds):
        at = np.flatnonzero(found & (1 << bit))
        if len(at):
            worries.append(Worry(kind, "", len(at), float(time[at[0]]), kind))
    return tuple(sorted(worries, key=lambda worry: worry.first))


def read_log(path: str | Path) -> Log:
    """Reads a log file: the same numbers. An incomplete file gives the ticks that it has, with `ended` empty.

    Args:
        path: of the file.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise WbcError(f"can't read {show(str(path))}: {error.strerror}") from None
    if not data.startswith((MAGIC, *_EARLIER)):
        if data.startswith(MAGIC[:8]):
            version = show(data[8:20].split(b"\n")[0].decode(errors="replace"))
            raise WbcError(f"{show(str(path))} is a log of version {version}; this wbc reads versions 1 to 3")
        raise WbcError(f"{show(str(path))} is not a log of wbc: it does not begin with {MAGIC.decode().strip()!r}")
    line_end = data.find(b"\n", len(MAGIC))
    try:
        if line_end < 0:
            raise ValueError("no header")
        header = json.loads(data[len(MAGIC) : line_end])
        sizes, true = tuple(_count(size) for size in header["sizes"]), bool(header.get("true", False))
        robot, contacts, feet = _name(header["robot"]), _names(header["contacts"]), _names(header["feet"])
        errors = {_name(name): _count(count) for name, count in header.get("errors", {}).items()}
        named, kinds = header.get("actuators"), header.get("health")
        actuators, kinds = None if named is None else _names(named), None if kinds is None else _names(kinds)
        cones = {_name(name): _cone(told) for name, told in header.get("cones", {}).items()}
        nq, nv, na, levels = sizes
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, WbcError) as error:
        raise WbcError(f"the log {show(str(path))} is damaged: its header can't be read ({error})") from None
    body, ended = data[line_end + 1 :], ""
    mark = body.rfind(b"\nended: ")
    parts = (nq, nv, na, levels), len(contacts), len(feet)
    lengths = lengths_of(*parts, true, actuators is not None, kinds is not None, errors)
    record = 8 * sum(lengths)
    worries = None
    if mark >= 0 and mark % record == 0:
        body, tail = body[:mark], body[mark + 8 :]
        whole, told = True, b""
        if kinds is not None:
            tail, found, told = tail.rpartition(HEALTH_MARK)
            whole = bool(found) and _is_json(told)  # else nobody was there any more to write the last words
        if whole:
            ended = _name(tail.decode(errors="replace"))
            worries = None if kinds is None else _worries(told, path)
    rows = np.frombuffer(body[: len(body) // record * record]).reshape(-1, record // 8).copy()
    status = 1 + nq + nv + na + 3 * (len(contacts) + len(feet)) + levels + 2
    if len(rows) and not np.isin(rows[:, status], range(len(STATUSES))).all():
        raise WbcError(f"the log {show(str(path))} is damaged: a record has no status")
    log = unpack(robot, contacts, feet, actuators, kinds, lengths, errors, rows, ended)
    log.cones = cones
    if worries is not None:
        log.worries = worries
    return log


def _count(value: object) -> int:
    """A number of entries."""
    if not isinstance(value, int) or not 0 <= value <= MOST_ENTRIES:
        raise ValueError(f"{show(value)} is no number of entries")
    return value


def _name(value: object) -> str:
    """A name, or another word, that can be printed: what a terminal would take for a command is replaced."""
    if not isinstance(value, str):
        raise TypeError(f"{show(value)} is no name")
    return value if value.isprintable() else "".join(letter if letter.isprintable() else "?" for letter in value)


def _names(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(map(_name, values))


def _cone(told: object) -> Cone:
    """What a header says of a contact."""
    if not isinstance(told, list) or len(told) != 4:
        raise ValueError(f"{show(told)} is no cone")
    frame, friction, normal, on = told
    mu, way = number(friction, "friction"), constant(normal, (3,), "normal")
    return Cone(_name(frame), mu, tuple(way.tolist()), _name(on))


def _is_json(told: bytes) -> bool:
    try:
        json.loads(told)
    except (ValueError, RecursionError):
        return False
    return True


def _worries(told: bytes, path: str | Path) -> tuple[Worry, ...]:
    """What the end of a file says of health."""
    try:
        return tuple(
            Worry(_name(k), _name(n), int(count), float(t), _name(text)) for k, n, count, t, text in json.loads(told)
        )
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise WbcError(f"the log {show(str(path))} is damaged: its health can't be read ({error})") from None
