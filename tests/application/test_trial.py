"""`wbc try`: a file of somebody's, tried."""

from __future__ import annotations

import json

import pytest

from tests.application.test_cli import run
from tests.foreign import biped, dog
from wbc.application.trial import try_robot


@pytest.fixture(scope="module")
def walker(tmp_path_factory):
    path = tmp_path_factory.mktemp("trial") / "walker.urdf"
    path.write_text(biped())
    return str(path)


def test_a_biped_stands_follows_and_survives_the_push(walker) -> None:
    trial = try_robot(walker, simulator="builtin")
    assert trial.stood and trial.followed and trial.moved == "center of mass"
    figures = trial.figures
    assert figures["off on the loop"] < 2e-3 < figures["off after the push"] < 0.06
    assert figures["off at the end"] < 3e-3
    assert "it stands on legs" in trial.found["unusual"]


def test_an_arm_follows_on_the_command_line() -> None:
    out, err, code = run("try", "arm", "--simulator", "builtin", "--json")
    assert (err, code) == ("", 0)
    found = json.loads(out)
    assert found["kind"] == "arm" and found["stood"] and found["followed"]
    assert found["figures"]["off on the loop"] < 1e-3


def test_what_falls_ends_with_one(tmp_path) -> None:
    pytest.importorskip("mujoco")
    weak = tmp_path / "weak.xml"
    weak.write_text(dog().replace('ctrlrange="-40 40"', 'ctrlrange="-1 1"'))
    out, _, code = run("try", str(weak), "--out", str(tmp_path))
    assert code == 1 and "verdict" in out


def test_what_cant_be_tried_ends_with_two_and_a_reason(tmp_path) -> None:
    out, _, code = run("try", "nowhere.urdf", "--json")
    assert code == 2 and "no file 'nowhere.urdf'" in json.loads(out)["reason"]
    still = tmp_path / "still.urdf"
    still.write_text('<robot name="still"><link name="a"/></robot>')
    _, err, code = run("try", str(still), "--out", str(tmp_path))
    assert code == 2 and "no actuators that drive a joint" in err and "Traceback" not in err


def test_robots_prints_what_was_found(walker) -> None:
    out, _, code = run("robots", walker)
    assert code == 0 and "foot left_ankle_roll_link_sole: a sole of 0.22 × 0.1 m" in out
