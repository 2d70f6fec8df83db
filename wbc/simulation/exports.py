"""Logs for other programs: pandas, numpy's `.npz`, and MCAP, the format of Foxglove."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError, show
from wbc.simulation.log import STATUSES, Log

NANO = 1_000_000_000
"""MCAP counts nanoseconds."""

_WHOLE = (
    "time",
    "q",
    "v",
    "torque",
    "delivered",
    "cost",
    "cone_margin",
    "torque_margin",
    "tick_time",
    "true_q",
    "true_v",
)
"""Numbers of each tick, by the name that the log has for them."""


def columns(log: Log) -> dict[str, Array]:
    """All numbers of a log, a row a tick: by the names of the log, with a contact, a foot or a task after a dot.

    `forces.LF_foot` and `measured.LF_foot` are N, shape (ticks, 3); `errors.base` are those of a task, shape (ticks,
    its rows); the others are as in `Log`. `status` is 0 optimal, 1 relaxed, 2 failed; `ill` is 1 where the health of a
    tick was not good.

    Args:
        log: of a run.
    """
    if not isinstance(log, Log):
        raise WbcError(f"log = {show(log)} must be a log, of a run or of wbc.read_log")
    found: dict[str, Array] = {name: getattr(log, name) for name in _WHOLE}
    found["status"] = np.array([STATUSES.index(status) for status in log.status], dtype=float)
    if log.ill is not None:
        found["ill"] = log.ill.astype(float)
    for number, name in enumerate(log.contacts):
        found[f"forces.{name}"] = log.forces[:, number]
    for number, name in enumerate(log.feet):
        found[f"measured.{name}"] = log.measured[:, number]
    for name, error in log.errors.items():
        found[f"errors.{name}"] = error
    return found


def _parts(log: Log, name: str, width: int) -> list[str]:
    """Names of the columns of a block."""
    kind, _, _ = name.partition(".")
    if kind in ("torque", "delivered") and len(log.actuators) == width:
        return [f"{name}.{actuator}" for actuator in log.actuators]
    if kind in ("forces", "measured"):
        return [f"{name}.{axis}" for axis in "xyz"]
    return [f"{name}.{number}" for number in range(width)]


def to_pandas(log: Log) -> Any:  # noqa: ANN401  a pandas.DataFrame
    """A log as a `pandas.DataFrame`: a row a tick, by its time in s, a column a number; see `columns`.

    Args:
        log: of a run.
    """
    try:
        import pandas
    except ImportError as error:
        raise WbcError(f"a table of a log is pandas': pip install 'wbc[export]' ({error})") from None
    flat: dict[str, Any] = {}
    for name, block in columns(log).items():
        if name == "time":
            continue
        if block.ndim == 1:
            flat[name] = block
        else:
            flat.update(zip(_parts(log, name, block.shape[1]), block.T, strict=True))
    flat["status"] = pandas.Categorical(log.status, STATUSES)
    table = pandas.DataFrame(flat, index=pandas.Index(log.time, name="time"))
    table.attrs.update(robot=log.robot, ended=log.ended)
    return table


def save_npz(log: Log, path: str | Path) -> None:
    """Writes all numbers of a log into a compressed `.npz` file: see `columns`; beside them `names`, JSON of the rest.

    Args:
        log: of a run.
        path: of the file.
    """
    found = columns(log)
    rest = {"robot": log.robot, "ended": log.ended, "contacts": log.contacts, "feet": log.feet}
    names = json.dumps({**rest, "actuators": log.actuators, "status": STATUSES})
    parts: dict[str, Any] = {"names": np.array(names), **found}
    _writing(path, lambda where: np.savez_compressed(where, **parts))


def save_mcap(log: Log, path: str | Path) -> None:
    """Writes a log as MCAP: a channel for each block of `columns`, messages in JSON.

    A message has `time`, s, and `values`, a number or more; its channel's metadata name them.

    Args:
        log: of a run.
        path: of the file.
    """
    try:
        from mcap.writer import Writer
    except ImportError as error:
        raise WbcError(f"MCAP needs a package: pip install 'wbc[export]' ({error})") from None
    numbers = {"type": "array", "items": {"type": ["number", "null"]}}
    schema = {"type": "object", "properties": {"time": {"type": "number"}, "values": numbers}}

    def write(where: Any) -> None:  # noqa: ANN401  a file
        writer: Any = Writer(where)
        writer.start(profile="", library="wbc")
        form = writer.register_schema("wbc.Values", "jsonschema", json.dumps(schema).encode())
        blocks = {name: block.reshape(len(log), -1) for name, block in columns(log).items() if name != "time"}
        channels = {}
        for name, block in blocks.items():
            parts = [name] if block.shape[1] == 1 else _parts(log, name, block.shape[1])
            meta = {"names": json.dumps(parts), "robot": log.robot, "ended": log.ended}
            channels[name] = writer.register_channel(f"/{name}", "json", form, meta)
        for tick, time in enumerate(log.time):
            stamp = max(round(float(time) * NANO), 0)
            for name, block in blocks.items():
                values = [value if np.isfinite(value) else None for value in block[tick].tolist()]
                data = json.dumps({"time": float(time), "values": values}).encode()
                writer.add_message(channels[name], stamp, data, stamp, tick)
        writer.finish()

    _writing(path, write)


def save(log: Log, path: str | Path) -> None:
    """Writes a log for another program, by the ending of the file: `.npz`, `.mcap` or `.csv`.

    Args:
        log: of a run.
        path: of the file.
    """
    if not isinstance(path, str | Path):
        raise WbcError(f"path = {show(path)} must be that of a file")
    match Path(path).suffix.lower():
        case ".npz":
            save_npz(log, path)
        case ".mcap":
            save_mcap(log, path)
        case ".csv":
            table = to_pandas(log)
            _writing(path, table.to_csv)
        case ending:
            raise WbcError(f"a log is written as .npz, .mcap or .csv, not as {show(ending)}")


def _writing(path: str | Path, write: Any) -> None:  # noqa: ANN401  a function of a file
    try:
        with Path(path).open("wb") as file:
            write(file)
    except OSError as error:
        raise WbcError(f"can't write {show(str(path))}: {error.strerror or error}") from None
