"""What `import wbc, tasks` costs and brings."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tomllib
from pathlib import Path

import wbc

ROOT = Path(__file__).parents[1]


def _seconds(statement: str) -> float:
    """CPU time of a fresh interpreter that runs one statement."""
    code = f"import time; start = time.process_time(); {statement}; print(time.process_time() - start)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)


def test_import_costs_little_more_than_numpy_and_scipy() -> None:
    # the median of ratios taken in turn: machines are shared, and their clocks go up and down
    ratios = [_seconds("import wbc, tasks") / _seconds("import numpy, scipy.linalg") for _ in range(11)]
    assert statistics.median(ratios) < 1.5


def test_import_brings_no_optional_package() -> None:
    code = "import sys, wbc, tasks; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert not {"mujoco", "pinocchio", "matplotlib", "qpsolvers", "typer", "rich"} & set(loaded)


def test_version_is_that_of_the_distribution() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == wbc.__version__
