"""`docs/equations.md` is what the markers say, and what is wrong with the markers is found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import wbc
from tests.equations import public_name

SCRIPT = Path(__file__).parents[1] / "scripts" / "make_equation_table.py"
sys.path.insert(0, str(SCRIPT.parent))

from make_equation_table import Row, problems  # noqa: E402


def test_the_table_is_up_to_date() -> None:
    checked = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr[-2000:]


def test_an_equation_marked_twice_or_unknown_is_found() -> None:
    one, other = (Row("ETH 3.90", "a torque", ("wbc.load",), f"tests/test_x.py::test_{n}") for n in (1, 2))
    found = problems([one, other, Row("ETH 3.500", "none", ("wbc.load",), "tests/y.py::test")], {"ETH 3.90": "no"})
    assert any("ETH 3.90 is marked twice" in line and "test_1" in line and "test_2" in line for line in found)
    assert any("ETH 3.90 is marked in" in line and "too" in line for line in found)
    assert any(line.startswith("ETH: neither marked nor explained: 2.1, ") for line in found)
    assert any("ETH 3.500" in line and "no such equation" in line for line in found)


def test_functions_have_public_names() -> None:
    assert public_name(wbc.load) == "wbc.dynamics.load.load"
    assert public_name(wbc.Gains) == "wbc.gains.Gains"
    with pytest.raises(AssertionError, match="not of wbc"):
        public_name(subprocess.run)
