"""The README's tables of times are what the script makes of the run that is kept; nothing is timed here."""

from __future__ import annotations

import re

import numpy as np
import pytest

from benchmarks import readme, tables
from benchmarks.ticks import Ticks

README = readme.README.read_text(encoding="utf-8")


def test_the_readme_has_the_tables_of_the_run_that_is_kept():
    parts = re.findall(f"{readme.BEGIN}\n(.*?)\n{readme.END}", README, re.DOTALL)
    assert parts == readme.blocks(readme.load())
    assert readme.written(README, parts) == README


def test_every_table_says_what_ran_and_has_our_solver_and_its_peers():
    kept = readme.load()
    speed, backends = readme.blocks(kept)
    for table in (tables.beside_peers(kept), tables.growth(kept), tables.changes(kept)):
        assert kept.solver in table.partition("|")[0]
        assert table in speed
    for row in tables.PEER_ROWS.values():
        assert f"\n| {row} | " in speed
    assert backends.count("\n| `") == len(tables.BACKEND_ROWS)
    for line in (speed + backends).splitlines():
        assert not line.startswith("|") or line.endswith(" |")


def test_a_ratio_is_taken_within_a_repetition():
    assert tables.against([2.0, 9.0, 5.0], [1.0, 3.0, 2.0]) == "2.5 × (2–3)"
    assert tables.against([2e-6, 4e-6], [2e-6, 4e-6], True) == "1 (3 µs)"
    assert tables.against([], [1.0]) == "-"
    assert tables.milliseconds([1.234e-3, 4.567e-4, 8.9e-3], True) == "1.23 ms (0.46–8.9)"


def test_a_run_is_kept_as_it_was(tmp_path):
    kept = readme.load()
    readme.save(kept, tmp_path / "results.json")
    assert (tmp_path / "results.json").read_text() == readme.KEPT.read_text()
    assert Ticks.of(np.array([1e-4, 2e-4, 6e-4])).over_half == pytest.approx(1 / 3)


def test_markers_that_are_missing_are_told():
    with pytest.raises(SystemExit, match="2 pairs of"):
        readme.written(README.replace(readme.END, "", 1), ["a", "b"])
