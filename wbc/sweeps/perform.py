"""One case, performed in this process: what becomes of it is always a row."""

from __future__ import annotations

import contextlib
import errno
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

from wbc.errors import WbcError, WbcWarning
from wbc.simulation.signals import TerminatedError
from wbc.sweeps import rows
from wbc.sweeps.case import Case
from wbc.sweeps.overrides import load_case
from wbc.sweeps.versions import versions

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says where nothing more can be written."""


PART = ".part"
"""How a log ends while it is written."""


class DiskFullError(WbcError):
    """Nothing more can be written. It is no property of the case, so it is no row."""


def perform(case: Case, logs: str = "none", folder: str | None = None) -> dict[str, Any]:
    """Runs a case, and gives its row.

    Args:
        case: to run.
        logs: whose log is kept: "failures", "all", or "none".
        folder: of the logs; None, or one that is not there: none are kept.

    Raises:
        DiskFullError: nothing more can be written.
    """
    try:
        return _perform(case, logs, folder)
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise DiskFullError(f"the log of {case.hash} can't be written: {error.strerror}") from None


def _perform(case: Case, logs: str, folder: str | None) -> dict[str, Any]:
    started = time.perf_counter()
    row: dict[str, Any] = {"case": case.hash, **case.plain()}
    timing: dict[str, float] = {}
    kept = Path(folder) / f"{case.hash}.log" if folder is not None and Path(folder).is_dir() else None
    record = None if logs == "none" or kept is None else kept.with_suffix(PART)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WbcWarning)  # they are the same in every case
            scene = load_case(case.scene, case.overrides, case.seed)
            timing["load"] = time.perf_counter() - started
            log = scene.run(record=record)
        if log.unwritten:
            raise DiskFullError(log.unwritten)
        row |= rows.outcome(log, scene)
        timing |= rows.timing(log)
    except (DiskFullError, TerminatedError):
        raise
    except (Exception, SystemExit) as error:
        for cause in (error, error.__context__):
            if isinstance(cause, OSError) and cause.errno in FULL:
                raise cause from None
        row |= {"kind": "error", "error": _told(error)}
    row["log"] = None
    if record is not None and kept is not None and record.is_file():
        if logs == "all" or row["kind"] != "finished":
            record.replace(kept)
            row["log"] = f"{kept.parent.name}/{kept.name}"
        else:
            record.unlink()
    timing["wall"] = time.perf_counter() - started
    return {**row, "timing": timing, "versions": versions()}


def lost(case: Case, kind: str, why: str, seconds: float, folder: str | None = None) -> dict[str, Any]:
    """The row of a case whose process did not live to give one. Its log is kept as far as it goes.

    Args:
        case: that was run.
        kind: "hung" or "died".
        why: in words.
        seconds: that it took.
        folder: of the logs, where it is to be kept.
    """
    log = None
    if folder is not None:
        kept = Path(folder) / f"{case.hash}.log"
        with contextlib.suppress(FileNotFoundError):
            kept.with_suffix(PART).replace(kept)
            log = f"{kept.parent.name}/{kept.name}"
    error = {"type": kind, "message": why, "where": ""}
    row = {"case": case.hash, **case.plain(), "kind": kind, "error": error, "log": log}
    return {**row, "timing": {"wall": seconds}, "versions": versions()}


def _told(error: BaseException) -> dict[str, str]:
    """An error as plain data, with the line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""
    return {"type": type(error).__name__, "message": str(error), "where": where}
