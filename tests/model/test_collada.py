"""Points of Collada files, against coal's reader and against what was drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wbc.errors import WbcError
from wbc.model.collada import read_collada
from wbc.model.mesh_files import read_points

CORNERS = "1 0 0  0 2 0  0 0 3  9 9 9  0 0 0"
"""The fourth belongs to no face."""

FACES = """<triangles count="2"><input semantic="VERTEX" source="#v" offset="1"/>
  <input semantic="NORMAL" source="#n" offset="0"/><p>7 0 7 1 7 2  7 0 7 1 7 4</p></triangles>"""
PLACED = """<node><translate>0 0 1</translate><rotate>0 0 1 90</rotate><scale>2 2 2</scale>
  <node><matrix>1 0 0 5  0 1 0 0  0 0 1 0  0 0 0 1</matrix><instance_geometry url="#g"/></node></node>
  <node><instance_node url="#twin"/></node>"""
"""What is drawn, and where: turned about z, twice as large, 10 cm along y and 1 cm up; and once more where it is."""

SCENE = '<scene><instance_visual_scene url="#s"/></scene>'


def text(corners: str = CORNERS, faces: str = FACES, placed: str = PLACED, scene: str = SCENE, more: str = "") -> bytes:
    axes = "".join(f'<param name="{axis}" type="float"/>' for axis in "XYZ")
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
 <asset><unit name="centimeter" meter="0.01"/><up_axis>Y_UP</up_axis></asset>
 <library_geometries><geometry id="g"><mesh>
  <source id="c"><float_array id="a" count="15">{corners}</float_array>
   <technique_common><accessor source="#a" count="5" stride="3">{axes}</accessor></technique_common></source>
  <source id="n"><float_array id="b" count="24">{"0 0 1 " * 8}</float_array>
   <technique_common><accessor source="#b" count="8" stride="3">{axes}</accessor></technique_common></source>
  <vertices id="v"><input semantic="POSITION" source="#c"/></vertices>{faces}</mesh></geometry></library_geometries>
 <library_nodes><node id="twin"><instance_geometry url="#g"/></node>{more}</library_nodes>
 <library_visual_scenes><visual_scene id="s">{placed}</visual_scene></library_visual_scenes>{scene}
</COLLADA>""".encode()


def test_meshes_are_where_the_scene_places_them_in_metres() -> None:
    """A point of no face is none of the mesh; the axis that the file calls up changes nothing."""
    drawn = np.array([[1, 0, 0], [0, 2, 0], [0, 0, 3], [0, 0, 0]])
    turned = 2.0 * np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]) @ (drawn + np.array([5, 0, 0])).T
    np.testing.assert_allclose(
        read_collada(text()), 0.01 * np.vstack([turned.T + np.array([0, 0, 1]), drawn]), atol=1e-12
    )
    np.testing.assert_allclose(read_collada(text(scene="")), 0.01 * drawn, atol=1e-12)


def test_it_is_what_coal_reads(tmp_path: Path) -> None:
    """In metres already: coal does not look at the unit."""
    coal = pytest.importorskip("coal")
    path = tmp_path / "mesh.dae"
    path.write_bytes(text().replace(b'meter="0.01"', b'meter="1"'))
    theirs = coal.MeshLoader().load(str(path), np.ones(3)).vertices()
    ours, coals = ({tuple(point) for point in np.round(points, 4) + 0.0} for points in (read_points(path), theirs))
    assert ours == coals and len(ours) == 8


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"corners": "1 0 0 a"}, "<float_array> .* has something else than numbers in it"),
        ({"corners": "1 0 nan"}, "has 3 values; it needs finite numbers"),
        ({"faces": FACES.replace("7 4<", "7 5<")}, "has faces of points up to 5; it has 5 points"),
        ({"placed": '<node><instance_geometry url="#h"/></node>'}, "names 'h', which the file has not"),
        ({"placed": "<node><matrix>1 0</matrix></node>"}, "<matrix> .* has 2 values; it needs 16 finite numbers"),
        ({"placed": "<node><lookat/></node>"}, "placed by <lookat> is not read"),
        ({"more": '<node id="x"><instance_node url="#x"/></node>', "placed": '<node><instance_node url="#x"/></node>'},
         "more than 50 nodes deep, or in itself"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(parts: dict[str, str], words: str) -> None:
    with pytest.raises(WbcError, match=words):
        read_collada(text(**parts))


def test_a_file_without_points_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "mesh.dae"
    path.write_bytes(text(placed=""))
    with pytest.raises(WbcError, match="has no points"):
        read_points(path)
    path.write_bytes(b"<robot/>")
    with pytest.raises(WbcError, match="its first element is <robot>"):
        read_points(path)
