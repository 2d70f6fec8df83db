"""The tolerances of the compiled solver are those of its numpy reference."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wbc.solvers import elimination
from wbc.solvers.hierarchical import guess, multipliers, reference, search

KERNEL = Path(__file__).parents[2] / "kernel" / "solver"
SAME = {
    "inside.h": {
        "FEASIBILITY": search.FEASIBILITY,
        "NEGLIGIBLE": multipliers.NEGLIGIBLE,
        "SIGNIFICANT": multipliers.SIGNIFICANT,
        "SETTLED": multipliers.SETTLED,
        "ACCURACY": multipliers.ACCURACY,
        "EXACT": multipliers.EXACT,
        "CLEAR": elimination._CLEAR,
        "EVEN": elimination._EVEN,
    },
    "search.c": {
        "OFTEN": reference._OFTEN,
        "AT_ONCE": search._AT_ONCE,
        "ROUNDING": search._ROUNDING,
        "WRONG": search._WRONG,
        "FAR": reference._FAR,
    },
    "guess.c": {"MEETS": guess._MEETS},
}


@pytest.mark.parametrize("file", SAME)
def test_a_tolerance_of_the_kernel_is_that_of_the_reference(file: str) -> None:
    text = (KERNEL / file).read_text()
    defined = {name: float(value) for name, value in re.findall(r"#define (\w+) ([\d.e+-]+)", text)}
    assert SAME[file] == {name: defined[name] for name in SAME[file]}
