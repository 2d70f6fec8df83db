"""Files with more than one robot in them: boxes, targets, links that stand for the world; and other units."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import wbc
from tests.foreign import biped, dog
from wbc.application.trial import try_robot

mujoco = pytest.importorskip("mujoco")

BOX = '<body name="{0}" pos="{1} 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="50"/></body>'


def load(tmp_path, text: str, name: str = "scene.xml", **options) -> tuple[wbc.Dynamics, str]:
    (tmp_path / name).write_text(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = wbc.load(tmp_path / name, **options)
    return robot, " ".join(str(warning.message) for warning in caught)


def test_a_box_behind_the_robot_is_told_of_and_can_be_left_in_place(tmp_path) -> None:
    text = dog().replace("</worldbody>", f"{BOX.format('box', 1)}</worldbody>")
    robot, told = load(tmp_path, text)
    assert "free objects count as parts of the robot, its mass and its centre of mass" in told and robot.nv == 24
    held, told = load(tmp_path, text, ignore=["objects"])
    assert "free objects stay in place" in told and "'box'" in told
    assert held.nv == 18 and held.mass == pytest.approx(robot.mass - 50.0)
    m = held.model.simulated
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    assert np.allclose(d.body("box").xpos, [1.0, 0.0, 0.1])


def test_a_box_before_the_robot_is_not_its_base(tmp_path) -> None:
    text = dog().replace("<worldbody>", f"<worldbody>{BOX.format('box', 1)}")
    with pytest.raises(wbc.WbcError, match=r"'box' comes before the robot.*put the robot's <body> first.*objects"):
        load(tmp_path, text)
    with pytest.raises(wbc.WbcError, match="'box' comes before the robot"):
        wbc.load(mujoco.MjModel.from_xml_string(text))
    robot, _ = load(tmp_path, text, ignore=["objects"])
    plain, _ = load(tmp_path, dog(), "dog.xml")
    assert robot.model.root == "trunk" and robot.model.feet == plain.model.feet
    trial = try_robot(str(tmp_path / "scene.xml"), seconds=0.05)
    assert trial.moved == "base" and "'box'" in trial.found["unusual"]


def test_a_box_that_is_welded_to_the_robot_is_no_object(tmp_path) -> None:
    text = dog().replace("</worldbody>", f"{BOX.format('box', 1)}</worldbody>")
    tied = text.replace("</mujoco>", '<equality><weld body1="trunk" body2="box"/></equality></mujoco>')
    robot, told = load(tmp_path, tied, ignore=["objects"])
    assert robot.nv == 24 and "objects" not in told


def test_a_target_that_is_moved_from_outside_is_not_the_root(tmp_path) -> None:
    target = '<body name="target" mocap="true" pos="1 0 1"><geom size=".02" contype="0" conaffinity="0"/></body>'
    robot, _ = load(tmp_path, dog().replace("<worldbody>", f"<worldbody>{target}"))
    assert robot.model.floating and robot.model.root == "trunk" and len(robot.model.feet) == 4


def test_two_robots_are_named(tmp_path) -> None:
    legs = dog().partition('<body name="trunk"')[2].partition("</worldbody>")[0]
    other = f'<body name="trunk"{legs}'.replace('name="', 'name="other_').replace('pos="0 0 0.6"', 'pos="2 0 0.6"')
    motor = '<motor joint="other_FL_roll" ctrlrange="-9 9"/></actuator>'
    (tmp_path / "two.xml").write_text(
        dog().replace("</worldbody>", f"{other}</worldbody>").replace("</actuator>", motor)
    )
    with pytest.raises(wbc.WbcError, match=r"several robots that float \(other_trunk, trunk\)"):
        try_robot(str(tmp_path / "two.xml"))


def test_feet_that_touch_nothing_are_told_of(tmp_path) -> None:
    _, told = load(tmp_path, dog().replace("<geom ", '<geom contype="0" conaffinity="0" '))
    assert "sink into it in MuJoCo" in told


def test_a_floating_joint_below_a_link_that_stands_for_the_world_is_a_base(tmp_path) -> None:
    text = biped().replace("</robot>", '<link name="odom"/><joint name="free" type="floating"><parent link="odom"/>')
    text += '<child link="trunk"/></joint></robot>'
    robot, _ = load(tmp_path, text, "walker.urdf")
    assert robot.model.floating and robot.model.root == "trunk" and len(robot.model.feet) == 2


def test_units_that_are_likely_others_are_told_of(tmp_path) -> None:
    text = biped().replace('lower="-2" upper="2"', 'lower="-120" upper="120"').replace("0 0 -0.4", "0 0 -400")
    _, told = load(tmp_path, text, "walker.urdf", floating=False)
    assert "radians, not degrees): 'left_hip_pitch'" in told and "metres, not millimetres): 'left_knee'" in told
    with pytest.raises(wbc.WbcError, match="a part of an MJCF model: give the file that includes it"):
        load(tmp_path, "<mujocoinclude/>", "part.xml")


def test_a_planar_joint_is_simulated_and_left_out_of_a_posture(tmp_path) -> None:
    text = """<robot name="cart"><link name="floor"/><link name="cart"><inertial><mass value="9"/>
      <inertia ixx="1" iyy="1" izz="1"/></inertial></link><link name="arm"><inertial><origin xyz=".2 0 0"/>
      <mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"/></inertial></link>
      <joint name="slide" type="planar"><parent link="floor"/><child link="cart"/><axis xyz="0 0 1"/></joint>
      <joint name="lift" type="revolute"><parent link="cart"/><child link="arm"/><axis xyz="0 1 0"/>
      <limit lower="-2" upper="2" effort="20" velocity="5"/></joint></robot>"""
    (tmp_path / "cart.urdf").write_text(text)
    trial = try_robot(str(tmp_path / "cart.urdf"), simulator="mujoco", seconds=0.2)
    assert trial.kind == "joints" and trial.stood


def test_a_joint_is_locked_where_it_stands_in_a_file_without_a_floor(tmp_path) -> None:
    text = dog(keyframe='<keyframe><key qpos="0 0 .5 1 0 0 0 .3 .5 -1 0 .5 -1 0 .5 -1 0 .5 -1"/></keyframe>')
    free, _ = load(tmp_path, text)
    held, _ = load(tmp_path, text, "held.xml", locked=["FL_roll"])
    for robot in (free, held):
        robot.update(robot.model.nominal)
    for name in ("FL_shank", "HR_shank"):
        assert np.allclose(free.pose(name), held.pose(name), atol=1e-9)


def test_fingers_are_locked_with_the_tendon_that_drives_them(tmp_path) -> None:
    finger = '<body><joint name="{0}" type="slide" axis="0 1 0" range="0 .04"/><geom size=".01" pos=".3 0 0"/></body>'
    text = (
        '<mujoco><worldbody><body name="arm"><joint name="a" axis="0 1 0"/><geom size=".1"/>'
        f'{finger.format("left")}{finger.format("right")}</body></worldbody><tendon><fixed name="split">'
        '<joint joint="left" coef=".5"/><joint joint="right" coef=".5"/></fixed></tendon><equality>'
        '<joint joint1="left" joint2="right"/></equality><actuator><motor joint="a"/><position tendon="split" kp="9"/>'
        '</actuator><sensor><tendonpos tendon="split"/></sensor><keyframe><key qpos=".5 .02 .02" ctrl="1 .02"/>'
        "</keyframe></mujoco>"
    )
    held, _ = load(tmp_path, text, "gripper.xml", locked=["left", "right"])
    assert (held.nv, held.na, held.model.nominal.tolist()) == (1, 1, [0.5]) and not held.model.loops
    held.update(held.model.nominal)
    assert np.allclose(held.pose("body_2")[1, 3], 0.02)
    with pytest.raises(wbc.WbcError, match="tendon 'split' couples joint 'right' to a locked one; lock it as well"):
        load(tmp_path, text, "gripper.xml", locked=["left"])


def test_keyframes_keep_what_is_not_locked(tmp_path) -> None:
    """MuJoCo before 4.0 leaves it to who takes joints away."""
    text = dog(keyframe='<keyframe><key qpos="0 0 .5 1 0 0 0 .3 .5 -1 0 .5 -1 0 .4 -1 0 .5 -1"/></keyframe>')
    for joint, at in (("FL_roll", 0), ("HL_roll", 6)):
        held, _ = load(tmp_path, text, "held.xml", locked=[joint])
        wanted = np.delete([0.3, 0.5, -1, 0, 0.5, -1, 0, 0.4, -1, 0, 0.5, -1], at)
        assert held.model.nominal[7:] == pytest.approx(wanted), joint
