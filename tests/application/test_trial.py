"""`wbc try`: a file of somebody's, tried."""

from __future__ import annotations

import json

import pytest

import tasks
import wbc
from tests.application.test_cli import run
from tests.foreign import biped, dog
from wbc.application import reports
from wbc.application.cli import _in_folder
from wbc.application.trial import Trial, try_robot


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


def test_an_arm_in_a_plane_goes_round_and_is_pushed_within_it() -> None:
    trial = try_robot("planar_arm", simulator="builtin")
    assert trial.stood and trial.followed
    assert trial.figures["off on the loop"] < 1e-3 < trial.figures["off after the push"]


def test_a_scene_is_written_under_the_name_of_its_folder(tmp_path, monkeypatch) -> None:
    (tmp_path / "pup").mkdir()
    (tmp_path / "pup" / "scene.xml").write_text(dog())
    monkeypatch.chdir(tmp_path / "pup")
    assert _in_folder(tmp_path, "scene.xml") == tmp_path / "try_pup_scene.log"
    assert _in_folder(tmp_path, "quadruped") == tmp_path / "try_quadruped.log"


def test_wheels_get_their_stack_named() -> None:
    with pytest.raises(wbc.WbcError, match=r"rolls on wheels.*tasks\.wheels\.driving"):
        try_robot("diffdrive")
    with pytest.raises(wbc.WbcError, match=r"no feet to stand on.*tasks\.wheels\.driving"):
        tasks.stacks.standing(wbc.load("diffdrive"))


def test_ticks_are_counted_in_full() -> None:
    shown = reports.trial(Trial("dog", "legs", {}, "", 0.0, figures={"ticks that were not optimal": 2016}))
    assert list(shown.columns[1].cells)[-1] == "2016"


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


def test_robots_prints_what_stands_beside_the_tree(tmp_path) -> None:
    pytest.importorskip("mujoco")
    gripper = tmp_path / "gripper.xml"
    gripper.write_text("""<mujoco><worldbody>
      <body name="l"><joint name="left" axis="0 0 1"/><geom size="0.1"/></body>
      <body name="r"><joint name="right" axis="0 0 1"/><geom size="0.1"/></body></worldbody>
      <tendon><fixed name="both"><joint joint="left" coef="1"/><joint joint="right" coef="1"/></fixed></tendon>
      <equality><joint name="alike" joint1="left" joint2="right"/></equality>
      <actuator><motor name="grip" tendon="both" ctrlrange="-1 1"/></actuator></mujoco>""")
    out, _, code = run("robots", str(gripper))
    assert code == 0
    assert "further actuators (1): grip, on left and right" in out
    assert "closed loops and couplings (1): alike, left and right go together" in out


def test_robots_prints_what_was_found(walker) -> None:
    out, _, code = run("robots", walker)
    assert code == 0 and "foot left_ankle_roll_link_sole: a sole of 0.22 × 0.1 m" in out
