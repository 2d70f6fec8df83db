"""Sweeps of thousands of runs: their cases, execution, results, and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wbc.lazy import lazy

if TYPE_CHECKING:
    from wbc.sweeps.case import Case, Cases, cases
    from wbc.sweeps.executors import LocalProcesses, dask_executor
    from wbc.sweeps.report import write_report, write_study
    from wbc.sweeps.rows import compared
    from wbc.sweeps.runner import Progress, sweep
    from wbc.sweeps.table import Share, Table
    from wbc.sweeps.tuning import Best, Comparison, tune
    from wbc.sweeps.values import grid, normal, uniform

__all__ = [
    "Best",
    "Case",
    "Cases",
    "Comparison",
    "LocalProcesses",
    "Progress",
    "Share",
    "Table",
    "cases",
    "compared",
    "dask_executor",
    "grid",
    "normal",
    "sweep",
    "tune",
    "uniform",
    "write_report",
    "write_study",
]

_LATER = {
    "Best": "wbc.sweeps.tuning",
    "Comparison": "wbc.sweeps.tuning",
    "Case": "wbc.sweeps.case",
    "Cases": "wbc.sweeps.case",
    "LocalProcesses": "wbc.sweeps.executors",
    "Progress": "wbc.sweeps.runner",
    "Share": "wbc.sweeps.table",
    "Table": "wbc.sweeps.table",
    "cases": "wbc.sweeps.case",
    "compared": "wbc.sweeps.rows",
    "dask_executor": "wbc.sweeps.executors",
    "grid": "wbc.sweeps.values",
    "normal": "wbc.sweeps.values",
    "sweep": "wbc.sweeps.runner",
    "tune": "wbc.sweeps.tuning",
    "uniform": "wbc.sweeps.values",
    "write_report": "wbc.sweeps.report",
    "write_study": "wbc.sweeps.report",
}
"""Names that are imported on first use, and their modules."""

__getattr__ = lazy(__name__, _LATER)
