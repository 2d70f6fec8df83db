"""What an MJCF file has to stand on."""

from __future__ import annotations

from pathlib import Path

import pytest

import wbc

ROBOT = """<mujoco><worldbody>{ground}<body name="box" pos="0 0 1"><freejoint/>
    <geom name="sole" type="box" size=".1 .1 .1" mass="1" {types}/><body name="arm"><joint name="j" axis="0 1 0"/>
    <geom size=".05" mass=".1" contype="0" conaffinity="0"/></body></body></worldbody>{rest}
    <actuator><motor joint="j"/></actuator></mujoco>"""

FLOOR = '<geom name="floor" type="plane" size="1 1 1" contype="0" conaffinity="0"/>'
SEEN, PAIR = 'contype="0" conaffinity="0"', '<contact><pair geom1="sole" geom2="floor"/></contact>'


@pytest.mark.parametrize(
    ("ground", "types", "rest", "planes"),
    [("", "", "", ["floor"]), (FLOOR, SEEN, PAIR, ["floor"]), (FLOOR, "", "", ["floor", "floor_0"])],
)
def test_a_floor_is_put_where_nothing_holds(
    ground: str, types: str, rest: str, planes: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "box.xml"
    file.write_text(ROBOT.format(ground=ground, types=types, rest=rest))
    m = wbc.load(file, "numpy").model.simulated
    assert [m.geom(number).name for number in range(m.ngeom) if m.geom_type[number] == 0] == planes
