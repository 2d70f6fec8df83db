"""What the README shows runs, and is true."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import typer

import wbc
from tests.foreign import biped
from wbc.application.cli import app
from wbc.model import packaged_robots

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.fixture(autouse=True)
def somebodys_file(tmp_path, monkeypatch):
    """The examples run where there is a file of a user's."""
    (tmp_path / "my_robot.urdf").write_text(biped())
    monkeypatch.chdir(tmp_path)


def run(example: str, capsys) -> dict[str, object]:
    names: dict[str, object] = {}
    exec(compile(example, "README.md", "exec"), names)
    assert capsys.readouterr().out
    return names


def test_the_first_example_lets_a_users_robot_stand(capsys) -> None:
    assert EXAMPLES[0].count("my_robot") == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)  # what was chosen for it
        names: dict[str, object] = {}
        exec(compile(EXAMPLES[0], "README.md", "exec"), names)
    assert "2 s in 2000 ticks, finished" in capsys.readouterr().out
    assert names["robot"].model.floating


def test_the_controller_stops_the_push(capsys) -> None:
    names = run(next(example for example in EXAMPLES if "gave it a push" in example), capsys)
    assert names["solution"].status == "optimal"
    assert names["solution"].certificate.holds
    nominal = names["robot"].model.nominal
    assert np.abs(names["q"][:3] - nominal[:3]).max() < 0.02
    assert np.abs(names["v"]).max() < 0.05


def test_the_quadruped_is_held_up(capsys) -> None:
    names = run(next(example for example in EXAMPLES if "lift" in example), capsys)
    assert np.abs(names["torque"][:6]).max() < 1e-3  # N m: the file rounds the height
    assert np.abs(names["torque"][6:]).max() > 5.0
    assert np.abs(names["vdot"]).max() < 1e-2


def test_the_other_examples_run(capsys) -> None:
    assert len(EXAMPLES) > 4
    for example in EXAMPLES[1:]:
        run(example, capsys)


def test_the_table_of_robots_has_each_as_it_is() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (\w+ \| \d+ \| \d+ kg)", README, re.MULTILINE))
    assert sorted(rows) == sorted(packaged_robots())
    for name, row in rows.items():
        model = wbc.load(name, "numpy").model
        base = "floating" if model.floating else "fixed"
        assert row == f"{base} | {len(model.joint_names)} | {model.mass:.0f} kg"


def test_it_counts_the_examples() -> None:
    (count,) = re.findall(r"\[(\d+) examples\]", README)
    assert int(count) == len(list((ROOT / "examples").glob("[0-9]*.py")))


def test_every_command_is_in_its_table() -> None:
    rows = "".join(re.findall(r"^\| `wbc .*", README, re.MULTILINE))
    for command in typer.main.get_group(app).commands:
        assert f"`wbc {command}" in rows


def test_no_row_of_a_table_of_names_stands_twice() -> None:
    tables = re.split(r"\n(?!\|)", README)
    for table in tables[1:]:
        rows = re.findall(r"^\| (`[A-Z].*?) \|", table, re.MULTILINE)
        assert len(rows) == len(set(rows)), sorted(rows)
