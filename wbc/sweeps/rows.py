"""Rows: the result of a run as plain data."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from itertools import groupby
from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.geometry import quaternion
from wbc.simulation import Log, Runnable

KINDS = ("finished", "fell", "unstable", "error", "hung", "died")
"""How a case can end: as planned; the robot fell; the plant became unstable; it raised; it was ended after its time
limit; its process died, and died again when it was repeated."""

PLANNED = ("finished", "stopped")
"""What a log says of a run that went on to its end."""

MEASURED = ("timing", "versions")
"""Parts of a row that differ from run to run. The others are the same, bit for bit on one kind of machine."""

EVERY = 0.02
"""Between the moments at which feet are looked at for slip, s."""

TOUCHING = 1.0
"""A foot with more force than this is on the ground, N."""


def compared(row: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a row that is the same on any executor.

    Args:
        row: of a sweep.
    """
    return {name: value for name, value in row.items() if name not in MEASURED}


def line(row: Mapping[str, Any]) -> str:
    """A row as a line of JSON, without its end."""
    return json.dumps(row, separators=(",", ":"), allow_nan=False)


def outcome(log: Log, scene: Runnable) -> dict[str, Any]:
    """What a log says, as a part of a row; numbers that are not finite are None.

    Args:
        log: of a run.
        scene: that was run.
    """
    kind = "finished" if log.ended in PLANNED else "fell" if log.ended == "fell" else "unstable"
    return {
        "kind": kind,
        "ended": log.ended,
        "error": None,
        "time": _number(log.time[-1]) if len(log) else 0.0,
        "duration": _number(scene.duration),
        "ticks": len(log),
        "fall": _fall(log) if kind == "fell" and len(log) else None,
        "errors": {name: _error(error) for name, error in log.errors.items() if error.size},
        "effort": _number(np.sqrt(np.mean(log.torque**2))) if log.torque.size else None,
        "slip": _slip(log, scene) if len(log) else None,
        "cone_margin": _number(log.cone_margin.min()) if len(log) else None,
        "torque_margin": _number(log.torque_margin.min()) if len(log) else None,
        "statuses": {status: log.status.count(status) for status in sorted(set(log.status))},
        "health": _health(log),
    }


def timing(log: Log) -> dict[str, float]:
    """Times of the ticks, s."""
    if not len(log):
        return {}
    return {
        "tick_median": float(np.median(log.tick_time)),
        "tick_99": float(np.percentile(log.tick_time, 99)),
        "tick_max": float(log.tick_time.max()),
    }


def _number(value: float | np.floating[Any]) -> float | None:
    """A number that JSON can say."""
    return float(value) if math.isfinite(value) else None


def _error(error: Array) -> dict[str, float | None]:
    """Of a task's error: root mean square, largest and last norm."""
    norms = np.linalg.norm(error, axis=1)
    return {"rms": _number(np.sqrt(np.mean(norms**2))), "max": _number(norms.max()), "end": _number(norms[-1])}


def _fall(log: Log) -> dict[str, float | None]:
    """How it fell: height of the base against its first, tilt and direction of its way from there, degrees."""
    first, last = log.true_q[0], log.true_q[-1]
    upright = quaternion.to_matrix(last[3:7])[2, 2]
    return {
        "height": _number(last[2] / first[2]),
        "tilt": _number(np.degrees(np.arccos(np.clip(upright, -1.0, 1.0)))),
        "direction": _number(np.degrees(np.arctan2(last[1] - first[1], last[0] - first[0]))),
    }


def _slip(log: Log, scene: Runnable) -> float | None:
    """The longest way of a foot along the ground while it touches it, m; None where there are no feet."""
    robot = scene.robot
    feet = [name for name in log.feet if name in robot.model.feet or name in robot.model.soles]
    if not feet or len(log) < 2:
        return None
    robot = robot.copy()
    steps = max(round(EVERY / (log.time[1] - log.time[0])), 1)
    ticks = range(0, len(log), steps)
    places = np.empty((len(ticks), len(feet), 2))
    for number, tick in enumerate(ticks):
        robot.update(log.true_q[tick], log.true_v[tick])
        for foot, name in enumerate(feet):
            places[number, foot] = robot.pose(name)[:2, 3]
    loads = log.measured[:, [log.feet.index(name) for name in feet], 2]
    least = np.array([loads[tick + 1 : tick + steps + 1].min(axis=0) for tick in ticks[:-1]])
    way = np.linalg.norm(np.diff(places, axis=0), axis=2) * (least > TOUCHING)
    return _number(way.sum(axis=0).max()) if len(way) else None


def _health(log: Log) -> dict[str, Any]:
    """How many ticks were not well, the most that failed in a row, and what was found: see `Solution.health`."""
    worries = [worry._asdict() for worry in log.worries]
    return {
        "ill": None if log.ill is None else int(log.ill.sum()),
        "failed_in_a_row": _longest(log.status, "failed"),
        "worries": [{name: worry[name] for name in ("kind", "name", "ticks", "first")} for worry in worries],
    }


def _longest(statuses: list[str], which: str) -> int:
    """Ticks in a row with a status, at most."""
    return max((len(list(run)) for status, run in groupby(statuses) if status == which), default=0)
