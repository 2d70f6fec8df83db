"""What `import wbc, tasks` costs and brings."""

from __future__ import annotations

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
    ours, theirs = [], []
    for _ in range(10):  # in turn, and the least of each: machines are shared
        ours.append(_seconds("import wbc, tasks"))
        theirs.append(_seconds("import numpy, scipy.linalg"))
    assert min(ours) < 1.5 * min(theirs)


def test_import_brings_no_optional_package() -> None:
    code = "import sys, wbc, tasks; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert not {"mujoco", "pinocchio", "matplotlib", "qpsolvers", "typer", "rich"} & set(loaded)


def test_version_is_that_of_the_distribution() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == wbc.__version__
