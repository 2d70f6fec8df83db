"""Shapes and pairs: what is taken out of a file, what a user adds and removes, and mistakes by their messages."""

from __future__ import annotations

import copy
from pathlib import Path

import mujoco
import numpy as np
import pytest

import wbc
from wbc.collision import CollisionGeometry

URDF = """<robot name="r">
  <link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.05"/></geometry></collision></link>
  <link name="c"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.3"/><geometry><mesh filename="{mesh}" scale="0.1 0.1 0.1"/></geometry></collision>
  </link>
  <joint name="j1" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="j2" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""

CUBE = "".join(f"v {x} {y} {z}\n" for x in (-1, 1) for y in (-1, 1) for z in (-1, 1))


def robot_with(folder: Path, mesh: str) -> wbc.Dynamics:
    (folder / "robot.urdf").write_text(URDF.format(mesh=mesh))
    return wbc.load(folder / "robot.urdf", "numpy")


def test_pairs_are_neither_of_one_part_nor_of_neighbours() -> None:
    geometry = CollisionGeometry(wbc.load("arm", "numpy"))
    assert len(geometry.solids) == 7 and len(geometry.pairs) == 15
    assert ("link_2", "link_4") in geometry.pairs and ("link_2", "link_3") not in geometry.pairs
    assert not any({"tool", "tool #2"} == set(pair) for pair in geometry.pairs)
    assert "7 shapes, 15 pairs" in repr(geometry)


def test_meshes_are_read_from_the_robots_own_folder(tmp_path: Path) -> None:
    (tmp_path / "cube.obj").write_text(CUBE)
    geometry = CollisionGeometry(robot_with(tmp_path, "cube.obj"))
    assert geometry.solids["c"].kind == "convex" and not geometry.notes
    assert geometry.pairs == (("a", "c"),)
    geometry.robot.update(np.zeros(2))
    assert geometry.nearest(geometry.robot)[0].distance == pytest.approx(0.9 - 0.1 - 0.05)


@pytest.mark.parametrize("way", ("{outside}/cube.obj", "file://{outside}/cube.obj", "../outside/cube.obj", "link.obj"))
def test_a_mesh_from_elsewhere_is_read_only_where_the_user_says_so(tmp_path: Path, way: str) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    home.mkdir(), outside.mkdir()
    (outside / "cube.obj").write_text(CUBE)
    (home / "link.obj").symlink_to(outside / "cube.obj")
    robot = robot_with(home, way.format(outside=outside))
    geometry = CollisionGeometry(robot)
    assert "c" not in geometry.solids and "outside of the robot's own folder" in geometry.notes[0]
    assert "c" in CollisionGeometry(robot, meshes=outside).solids


def test_a_package_is_found_near_and_nowhere_else(tmp_path: Path) -> None:
    home = tmp_path / "bot_description" / "urdf"
    home.mkdir(parents=True)
    (tmp_path / "bot_description" / "cube.obj").write_text(CUBE)
    robot = robot_with(home, "package://bot_description/cube.obj")
    assert "c" in CollisionGeometry(robot).solids
    assert "c" in CollisionGeometry(robot_with(home, "package:///bot_description/cube.obj")).solids
    for name in ("package://etc/passwd", "package://../cube.obj", "package://bot_description/../../etc/passwd"):
        lost = CollisionGeometry(robot_with(home, name))
        assert "c" not in lost.solids and len(lost.notes) == 1


def test_a_mesh_that_is_missing_is_noted_by_name(tmp_path: Path) -> None:
    geometry = CollisionGeometry(robot_with(tmp_path, "none.stl"))
    assert geometry.notes[0].startswith("mesh 'none.stl' is left out: there is no file 'none.stl'")


def test_an_mjcf_says_what_never_meets() -> None:
    body = (
        '<body name="{0}" pos="0 0 0.3"><joint name="{0}" axis="0 1 0"/><geom type="sphere" size="0.05" {1}/>{2}</body>'
    )
    chain = body.format("a", "", body.format("b", "", body.format("c", 'contype="0"', body.format("d", "", ""))))
    motors = "".join(f'<motor joint="{name}"/>' for name in "abcd")
    rest = f'<contact><exclude body1="a" body2="d"/></contact><actuator>{motors}</actuator>'
    text = f"<mujoco><worldbody>{chain}</worldbody>{rest}</mujoco>"
    model = mujoco.MjModel.from_xml_string(text)
    assert set(CollisionGeometry(wbc.load(model)).pairs) == {("b", "d"), ("a", "c")}
    text = text.replace('size="0.05" contype="0"', 'size="0.05" contype="0" conaffinity="0"')
    assert set(CollisionGeometry(wbc.load(mujoco.MjModel.from_xml_string(text))).pairs) == {("b", "d")}


def test_what_overlaps_as_it_is_built_is_no_pair_and_said() -> None:
    robot = wbc.load("humanoid", "numpy")
    model = robot.model.replace(shapes=[*robot.model.shapes, wbc.Shape("base", "sphere", (0.4,), collides=True)])
    geometry = CollisionGeometry(wbc.load(model, "numpy"))
    assert "torso and base #2 overlap in every configuration and are left out of the pairs" in geometry.notes
    assert not any({"base #2", "torso"} == set(pair) for pair in geometry.pairs)
    assert any({"base #2", "left_foot"} == set(pair) for pair in geometry.pairs)


def test_shapes_and_pairs_are_added_and_removed(tmp_path: Path) -> None:
    robot = wbc.load("humanoid", "numpy")
    robot.update(robot.model.nominal)
    geometry = CollisionGeometry(robot)
    before, version = geometry.pairs, geometry.version
    geometry.add_capsule("left thigh", 0.06, 0.25, (0, 0, -0.2), "left_thigh")
    new = [pair for pair in geometry.pairs if "left thigh" in pair]
    assert len(new) == 10 and not any("left_shank" in pair for pair in new)  # its neighbour
    geometry.add_plane("floor")
    geometry.add_mesh("stone", np.vstack([np.eye(3), -np.eye(3)]) * 0.1, (1.0, 0.0, 0.1))
    assert not any({"floor", "stone"} == set(pair) for pair in geometry.pairs)
    heights = {pair.first: pair.distance for pair in geometry.nearest(robot, 99) if pair.second == "floor"}
    assert heights["left_foot"] == pytest.approx(0.0, abs=1e-6) and heights["head"] > 1.0
    geometry.remove_pair("left_foot", "floor")
    assert ("left_foot", "floor") not in geometry.pairs
    geometry.add_pair("floor", "left_foot")
    assert ("floor", "left_foot") in geometry.pairs and geometry.version > version
    for name in ("left thigh", "floor", "stone"):
        geometry.remove(name)
    assert geometry.pairs == before
    twin = copy.deepcopy(geometry)
    twin.remove("head")
    assert "head" in geometry.solids and "head" not in twin.solids
    srdf = tmp_path / "r.srdf"
    srdf.write_text('<robot name="r"><disable_collisions link1="torso" link2="head"/></robot>')
    assert geometry.exclude(srdf) == 1 and ("torso", "head") not in geometry.pairs
    version = geometry.version
    geometry.keep_pairs([("left_foot", "right_foot")])
    assert geometry.pairs == (("left_foot", "right_foot"),) and geometry.version > version
    with pytest.raises(wbc.WbcError, match="'torso' and 'head' are not a pair"):
        geometry.keep_pairs([("torso", "head")])


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (lambda g: g.add_sphere("x", 0.1, body="lap"), "shape 'x': no frame 'lap'"),
        (lambda g: g.add_sphere("torso", 0.1), "a shape 'torso' exists already"),
        (lambda g: g.add_sphere("", 0.1), "a shape's name"),
        (lambda g: g.add_sphere("x", -0.1), "shape 'x': the size of a sphere is 1 positive number"),
        (lambda g: g.add_box("x", (1, 1)), "3 positive numbers"),
        (lambda g: g.add_box("x", (1, 1, 1), np.ones((4, 4))), "shape 'x': its pose is not a homogeneous transform"),
        (lambda g: g.add_plane("x", normal=(0, 0, 0)), r"its normal = \(0, 0, 0\) must be a direction"),
        (lambda g: g.add_mesh("x", "nowhere.stl"), "shape 'x': can't read 'nowhere.stl'"),
        (lambda g: g.add_mesh("x", np.ones((2, 2))), "four finite points"),
        (lambda g: g.remove("knee"), "no shape 'knee'"),
        (lambda g: g.move("torso", np.eye(4)), "only shapes on 'world' can be moved"),
        (lambda g: g.move("knee", np.eye(4)), "no shape 'knee'"),
        (lambda g: g.remove_pair("torso", "base"), "'torso' and 'base' are not a pair"),
        (lambda g: g.add_pair("torso", "knee"), "no shape or body with shapes 'knee'"),
        (lambda g: g.add_pair("torso", "torso"), "can't be paired with itself"),
        (lambda g: CollisionGeometry(g.robot, "fcl"), "no collision engine 'fcl'"),
        (lambda g: CollisionGeometry(g.robot, meshes="/no/folder"), "there is no folder"),
        (lambda g: CollisionGeometry(g.robot.model), "needs a robot of wbc.load"),
    ],
)
def test_mistakes_are_named(do: object, words: str) -> None:
    geometry = CollisionGeometry(wbc.load("humanoid", "numpy"))
    geometry.remove_pair("torso", "base")
    with pytest.raises(wbc.WbcError, match=words):
        do(geometry)


SCENE = """
<mujoco model="scene">
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <geom name="table" type="box" pos="0.6 0 0.4" size="0.2 0.4 0.02"/>
    <geom name="paint" type="box" pos="0 0 0" size="1 1 0.001" contype="0" conaffinity="0"/>
    <body name="shelf" pos="-0.6 0 0.5"><geom type="box" size="0.1 0.4 0.02"/></body>
    {robot}
  </worldbody>
  <actuator><motor joint="knee"/></actuator>
</mujoco>
"""
ARM = """
<body name="stand"><geom type="cylinder" size="0.1 0.1" pos="0 0 0.1"/>
  <body name="upper" pos="0 0 0.3"><joint axis="0 1 0"/><geom type="capsule" size="0.04 0.1" pos="0 0 0.15"/>
    <body name="lower" pos="0 0 0.35"><joint name="knee" axis="0 1 0"/>
      <geom type="capsule" size="0.03 0.1" pos="0 0 0.15"/></body>
  </body>
</body>"""
WALKER = """
<body name="trunk" pos="0 0 0.7"><freejoint/><geom type="box" size="0.1 0.1 0.1"/>
  <body name="shank" pos="0 0 -0.2"><joint name="knee" axis="0 1 0"/>
    <geom type="capsule" size="0.04 0.1" pos="0 0 -0.15"/>
    <site name="foot" pos="0 0 -0.29"/></body>
</body>"""


def scene(tmp_path: Path, robot: str, **options: object) -> wbc.CollisionGeometry:
    (tmp_path / "scene.xml").write_text(SCENE.format(robot=robot))
    return wbc.CollisionGeometry(wbc.load(tmp_path / "scene.xml", "numpy", **options))


def test_what_surrounds_a_robot_in_its_file_is_there(tmp_path: Path) -> None:
    """Floor, table and shelf are paired with all links of an arm, but not with the stand that carries it."""
    geometry = scene(tmp_path, ARM)
    around = {"world": "box", "world #2": "plane", "shelf": "box"}
    assert {name: geometry.solids[name].kind for name in around} == around
    assert "world #3" not in geometry.solids, "what meets nothing is no shape"
    pairs = {frozenset(pair) for pair in geometry.pairs}
    assert pairs == {frozenset((one, other)) for one in around for other in ("upper", "lower")} | {
        frozenset(("stand", "lower"))
    }
    robot = geometry.robot
    robot.update([np.pi / 2, 0.0])
    distances = {frozenset(near[:2]): near.distance for near in geometry.nearest(robot, 9)}
    assert distances[frozenset(("lower", "world #2"))] == pytest.approx(0.3 - 0.03)
    assert distances[frozenset(("lower", "world"))] < 0.1


def test_feet_may_touch_what_surrounds_a_robot(tmp_path: Path) -> None:
    geometry = scene(tmp_path, WALKER, feet=["foot"], nominal=[0, 0, 0.7, 1, 0, 0, 0, 0])
    pairs = {frozenset(pair) for pair in geometry.pairs}
    assert pairs == {frozenset((one, "trunk")) for one in ("world", "world #2", "shelf")}
    assert any("feet and wheels may touch" in note for note in geometry.notes)
    assert not any("feet and wheels" in note for note in wbc.CollisionGeometry(wbc.load("quadruped")).notes)
