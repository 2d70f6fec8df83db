"""`wbc run stack.toml --robot FILE` and the page's options, as a user meets them."""

from __future__ import annotations

from pathlib import Path

import pytest

import tasks
import wbc
from tests.application.test_cli import run


def test_a_stack_in_a_file_is_run(tmp_path: Path) -> None:
    path = tmp_path / "stack.toml"
    path.write_text(tasks.to_toml(tasks.stacks.standing(wbc.load("quadruped", "numpy"))))
    options = ("--duration", "0.02", "--simulator", "builtin", "--out", str(tmp_path))
    out, err, code = run("run", str(path), "--robot", "quadruped", *options)
    assert (code, err) == (0, "")
    assert "quadruped" in out
    assert (tmp_path / "stack.log").is_file()
    _, err, code = run("run", str(path), *options)
    assert code == 2
    assert "--robot FILE" in err
    _, err, code = run("run", "demo", "--robot", "arm", *options)
    assert code == 2
    assert "has its own robot" in err
    path.write_text(path.read_text().replace("weight", "weigth").replace("friction =", "fricton ="))
    _, err, code = run("run", str(path), "--robot", "quadruped", *options)
    assert code == 2
    assert "did you mean 'friction'" in err


def test_pages_that_cannot_be_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, err, code = run("run", "demo", "--web", "--view")
    assert code == 2
    assert "give --web or --view, not both" in err
    _, err, code = run("run", "demo", "--web", "--port", "70000", "--out", str(tmp_path))
    assert code == 2
    assert "the port = 70000" in err
    log = tmp_path / "x.log"
    robot = wbc.load("quadruped", "numpy")
    made = wbc.Controller(robot, tasks.stacks.standing(robot))
    wbc.run(made, wbc.Simulator(robot), 0.01, record=log)
    _, _, code = run("show", str(log), "--export", str(tmp_path / "x.npz"))
    assert (code, (tmp_path / "x.npz").is_file()) == (0, True)
    _, err, code = run("show", str(log), "--export", str(tmp_path / "x.bag"))
    assert code == 1
    assert "not as '.bag'" in err
    monkeypatch.setattr("wbc.application.live.importlib.util.find_spec", lambda name: None)
    _, err, code = run("show", str(log), "--web")
    assert code == 1
    assert "pip install 'wbc[web]'" in err
    monkeypatch.undo()
    log.write_bytes(log.read_bytes().replace(b'"robot": "quadruped"', b'"robot": "quadruple"', 1))
    _, err, code = run("show", str(log), "--web")
    assert code == 1
    assert ("--robot FILE" in err) or ("pip install" in err)
