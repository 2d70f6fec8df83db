"""Parts that are inside of each other in a file's posture: told of, and left out where that is asked for."""

from __future__ import annotations

import pytest

import wbc

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.filterwarnings("ignore:.*free objects count")

ARM = """<mujoco><worldbody><body name="stand"><geom size=".05"/>
  <body name="upper" pos="0 0 .2"><joint name="a" axis="0 1 0"/><geom type="box" size=".1 .02 .02" pos=".1 0 0"/>
    <body><joint name="b" axis="0 1 0" pos=".2 0 0"/><geom type="box" size=".1 .02 .02" pos=".3 0 0"/>
      <body name="hand"><joint name="c" axis="0 1 0" pos=".3 0 0"/><geom type="box" size=".06 .02 .02" pos=".2 0 0"/>
    </body></body></body></body>
  <body name="crate" pos=".1 0 .2"><freejoint/><geom type="box" size=".05 .05 .05"/></body></worldbody>
  <actuator><motor joint="a"/><motor joint="b"/><motor joint="c"/></actuator></mujoco>"""


def contacts(m: object) -> set[tuple[str, str]]:
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    return {tuple(sorted(m.body(m.geom_bodyid[geom]).name for geom in pair)) for pair in d.contact.geom}


def test_overlapping_parts_are_told_of_and_can_be_left_out(tmp_path) -> None:
    file = tmp_path / "arm.xml"
    file.write_text(ARM)
    with pytest.warns(wbc.WbcWarning, match=r"push them: ignore=\[.overlaps.\] leaves these out: 'upper and hand by"):
        robot = wbc.load(file)
    assert ("hand", "upper") in contacts(robot.model.simulated)
    with pytest.warns(wbc.WbcWarning, match="are left out"):
        apart = wbc.load(file, ignore=["overlaps"])
    found = contacts(apart.model.simulated)
    assert ("hand", "upper") not in found and ("upper", "hand") in apart.model.excluded
    assert ("crate", "upper") in found, "a crate is no part of the arm"


def test_parts_without_a_name_and_other_postures(tmp_path) -> None:
    file = tmp_path / "arm.xml"
    file.write_text(ARM.replace(' name="hand"', ""))
    with pytest.warns(wbc.WbcWarning, match="upper and body_4 by"):
        assert ("upper", "body_4") in wbc.load(file, ignore=["overlaps"]).model.excluded
    with pytest.raises(wbc.WbcError, match="is for MJCF files; a compiled MjModel is taken as it is"):
        wbc.load(mujoco.MjModel.from_xml_string(ARM), ignore=["overlaps"])
