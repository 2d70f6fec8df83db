"""`wbc sweep`, `wbc tune` and `wbc run --case`, as a user meets them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import wbc
from tests.application.test_cli import run
from wbc.sweeps import Table

STUB = "tests/sweeps/stub_scene.py"

SHORT = """
import tasks, wbc
from wbc.simulation import Scene, make_plant

def scene(backend, solver, simulator, turn=0.1):
    robot = wbc.load("planar_arm", backend)
    goal = robot.model.nominal + turn
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration(goal))
    return Scene(wbc.Controller(robot, stack, solver), make_plant(robot, simulator), 0.05)
"""


def test_a_sweep_and_its_worst_case_again(tmp_path):
    scene = tmp_path / "short.py"
    scene.write_text(SHORT)
    folder = tmp_path / "runs"
    words = ("sweep", str(scene), "--set", "turn=0.1:0.3:2", "--set", "simulator=builtin", "--out", str(folder))
    out, err, code = run(*words, "--jobs", "1")
    assert code == 0 and "2 finished" in out and "100.0 %" in out, err
    assert err == f"wrote {folder / 'report.html'}\n" and "Sweep of" in (folder / "report.html").read_text()
    again = re.search(r"wbc run (\S+ --case \w+ --runs \S+)", out)[1].split()
    out, err, code = run("run", *again, "--out", str(tmp_path / "out"))
    assert code == 0, err
    case = again[again.index("--case") + 1]
    assert (tmp_path / "out" / f"short_{case}.log").is_file()
    row = Table(folder).case(case)
    log = wbc.read_log(tmp_path / "out" / f"short_{case}.log")
    assert np.sqrt(np.mean(log.torque**2)) == row["effort"] and len(log) == row["ticks"] == 50, "it is the same run"
    assert run("run", STUB, "--case", case, "--runs", str(folder))[1:] == (
        f"case {case} is one of {scene.as_posix()}, not of {STUB}\n",
        2,
    )
    assert "no case whose name begins with 'ffff'" in run("run", str(scene), "--case", "ffff", "--runs", str(folder))[1]


def test_json_says_the_same(tmp_path):
    words = ("sweep", STUB, "--set", "x=-1,1", "--seeds", "3", "--out", str(tmp_path), "--jobs", "1")
    out, _, code = run(*words, "--json")
    found = json.loads(out)
    assert code == 0 and found["rows"] == 6 and found["kinds"] == {"finished": 3, "unstable": 3}
    assert found["finished"]["share"] == 0.5 and found["worst"][0]["kind"] == "unstable"
    assert json.loads(run("sweep", "--show", str(tmp_path), "--json")[0]) == found
    assert "3 finished" in run("sweep", "--show", str(tmp_path))[0]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["sweep"], "give a scene, or --show FOLDER"),
        (["sweep", STUB, "--set", "z=1"], "no parameter of"),
        (["sweep", STUB, "--set", "x"], "must be NAME=VALUES"),
        (["sweep", STUB, "--set", "x=1", "--set", "x=2"], "is there twice"),
        (["sweep", "--show", "/nowhere"], "no folder of a sweep"),
        (["sweep", STUB, "--dask", "nothing"], "Dask"),
        (["tune", STUB, "--range", "y=1", "--score", "x"], "y ="),
        (["tune", STUB, "--range", "y=a:b", "--score", "x"], "must be numbers"),
    ],
)
def test_what_can_not_be_is_told(words, told, tmp_path, monkeypatch):
    where = Path(STUB).resolve()
    monkeypatch.chdir(tmp_path)  # nothing is written elsewhere
    _, err, code = run(*[str(where) if word == STUB else word for word in words])
    assert code == 2 and told in err and err.count("\n") == 1


def test_tuning(tmp_path):
    pytest.importorskip("optuna")
    words = ("tune", STUB, "--range", "y=-3:3", "--score", "overrides.y", "--trials", "4", "--jobs", "1")
    words += ("--out", str(tmp_path / "study.html"))
    out, err, code = run(*words, "--set", "wait=0", "--json")
    assert (tmp_path / "study.html").is_file()
    found = json.loads(out)
    assert code == 0 and found["trials"] == 4 and found["score"] == found["values"]["y"] <= 0.0, err
    assert "Best of 4 trials" in run(*words)[0]
