"""Feet, soles, hands, wheels, a base and a posture are found where the file does not tell them."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import wbc
from tests.foreign import AXES, JOINT, LINK, biped, biped_of_mjcf, dog
from wbc.model import packaged_path


@pytest.fixture
def saved(tmp_path):
    def save(text: str, name: str):
        path = tmp_path / name
        path.write_text(text)
        return path

    return save


def quiet(what, **options) -> wbc.Dynamics:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        return wbc.load(what, "numpy", **options)


def test_a_urdf_that_stands_on_legs_floats_and_says_so(saved) -> None:
    path = saved(biped(), "walker.urdf")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", wbc.WbcWarning)
        robot = wbc.load(path, "numpy")
    assert any("it stands on legs, so its base floats" in str(warning.message) for warning in caught)
    assert any("its base floats" in message for message in robot.model.warnings)
    assert robot.model.floating and robot.nv == 6 + 12 + 8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not wbc.load(path, "numpy", floating=False).model.floating


def test_soles_are_the_bottoms_of_boxes(saved) -> None:
    model = quiet(saved(biped(), "walker.urdf")).model
    assert model.feet == ("left_ankle_roll_link_sole", "right_ankle_roll_link_sole")
    for foot in model.feet:
        corners = model.soles[foot]
        assert sorted(map(tuple, np.abs(corners).round(6).tolist())) == [(0.11, 0.05)] * 4
        np.testing.assert_allclose(model.frames[foot].pose[:3, 3], [0.04, 0.0, -0.06], atol=1e-9)
    assert model.hands == ("left_elbow_link", "right_elbow_link")
    assert any("sole of 0.22 × 0.1 m" in note for note in model.notes)


def test_straight_legs_are_bent_with_flat_feet_on_the_ground(saved) -> None:
    path = saved(biped(), "walker.urdf")
    with pytest.warns(wbc.WbcWarning, match="with straight legs; legs are bent"):
        robot = wbc.load(path, "numpy", floating=True)
    model = robot.model
    robot.update(model.nominal)
    feet = [robot.pose(foot) for foot in model.feet]
    for foot in feet:
        np.testing.assert_allclose(foot[:3, 2], [0, 0, 1], atol=2e-3)
        assert abs(foot[2, 3]) < 2e-3
    knees = [model.nominal[model.q_index[f"{side}_knee"]] for side in ("left", "right")]
    assert knees[0] == pytest.approx(knees[1], abs=2e-3) and 0.5 < knees[0] < 1.2
    assert abs(robot.com[0] - feet[0][0, 3]) < 0.02
    smallest = np.linalg.svd(robot.jacobian(model.feet[0])[:3, 6:], compute_uv=False)[-1]
    assert smallest > 0.05  # m: no direction is lost
    again = quiet(path).model
    np.testing.assert_array_equal(again.nominal, model.nominal)


def test_a_straight_leg_is_one_whose_knee_is_straight_however_long_its_foot_is(saved) -> None:
    long = biped().replace('xyz="0.04 0 -0.04"', 'xyz="0.09 0 -0.04"')
    assert long != biped()
    model = quiet(saved(long, "walker.urdf"), floating=True).model
    for side in ("left", "right"):
        assert 0.5 < model.nominal[model.q_index[f"{side}_knee"]] < 1.2


def test_a_leg_is_as_long_as_it_is_to_its_ankle_also_where_the_foot_turns_behind_that(saved) -> None:
    """With a foot that points down the leg seemed longer, and a straight one was bent to be straight: Robotis OP3."""
    text = biped().replace('xyz="0.04 0 -0.04"', 'xyz="0.14 0 -0.04"')
    for side in ("left", "right"):
        child = f'<child link="{side}_ankle_roll_link"/><origin xyz="'
        assert f'{child}0 0 0"' in text
        text = text.replace(f'{child}0 0 0"', f'{child}-0.1 0 0"')
    model = quiet(saved(text, "walker.urdf"), floating=True).model
    for side in ("left", "right"):
        assert 0.5 < model.nominal[model.q_index[f"{side}_knee"]] < 1.2


def test_feet_of_balls_are_points_below_them(saved) -> None:
    with pytest.warns(wbc.WbcWarning, match="with straight legs"):
        robot = wbc.load(saved(dog(), "dog.xml"), "numpy")
    model = robot.model
    assert model.feet == tuple(f"{leg}_shank_foot" for leg in ("FL", "FR", "HL", "HR")) and not model.soles
    robot.update(model.nominal)
    lowest = [
        robot.pose(f"{leg}_shank")[:3, :3] @ [0, 0, -0.25] + robot.pose(f"{leg}_shank")[:3, 3] for leg in ("FL", "HR")
    ]
    for foot, centre in zip((model.feet[0], model.feet[3]), lowest, strict=True):
        assert np.linalg.norm(robot.pose(foot)[:3, 3] - centre) == pytest.approx(0.02)
    assert {round(float(robot.pose(foot)[2, 3]), 4) for foot in model.feet} == {0.0}


def test_balls_that_roll_as_legs_are_bent_are_put_where_contacts_carry_them(saved) -> None:
    """A ball was put into the ground by what it had rolled, and a margin of contacts lifted the robot off it."""
    mujoco = pytest.importorskip("mujoco")
    foot = '<geom type="sphere" pos="0 0 -0.25" size="0.06" mass="0.05" margin="0.01"/>'
    robot = quiet(saved(dog(foot), "dog.xml"))
    plant = wbc.MujocoSimulator(robot)
    plant.reset(robot.model.nominal)
    assert len(robot.model.feet) == 4
    mujoco.mj_forward(plant.mj_model, plant.mj_data)
    contact = plant.mj_data.contact
    np.testing.assert_allclose(contact.dist, contact.includemargin, atol=1e-4)
    robot.update(robot.model.nominal)
    np.testing.assert_allclose([robot.pose(each)[2, 3] for each in robot.model.feet], 0.01, atol=1e-4)


def test_a_posture_that_can_be_stood_in_stays(saved) -> None:
    legs = "0 0.7 -1.4 " * 4
    key = f'<keyframe><key name="home" qpos="0 0 0.42 1 0 0 0 {legs}"/></keyframe>'
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = wbc.load(saved(dog(keyframe=key), "dog.xml"), "numpy").model
    np.testing.assert_array_equal(model.nominal, [0, 0, 0.42, 1, 0, 0, 0, *map(float, legs.split())])


def test_a_lying_capsule_is_two_points(saved) -> None:
    foot = '<geom type="capsule" fromto="-0.06 0 -0.25 0.06 0 -0.25" size="0.02" mass="0.05"/>'
    model = quiet(saved(dog(foot), "dog.xml")).model
    assert model.feet[:2] == ("FL_shank_foot_front", "FL_shank_foot_back")
    ends = [model.frames[foot].pose[:3, 3] for foot in model.feet[:2]]
    np.testing.assert_allclose(ends, [[0.06, 0, -0.27], [-0.06, 0, -0.27]], atol=1e-9)


def test_wheels_are_no_feet(saved) -> None:
    wheel = '<body name="wheel{n}" pos="0 0 -0.25"><joint name="spin{n}" axis="0 1 0" limited="false"/>'
    wheel += '<geom type="cylinder" size="0.05 0.02" zaxis="0 1 0" mass="0.3"/></body>'
    text = dog("@")
    for n in range(4):
        text = text.replace("@", wheel.format(n=n), 1)
    model = quiet(saved(text, "rover.xml")).model
    assert model.notes == ("wheels: wheel0, wheel1, wheel2, wheel3",) and not model.feet


def test_an_arm_stays_fixed_and_its_tool_is_its_hand() -> None:
    text = packaged_path("arm").read_text()
    start, end = text.index("<wbc"), text.index("</wbc>") + len("</wbc>")
    from wbc.dynamics.reading import Options, _completed
    from wbc.model import read_urdf

    model = _completed(read_urdf((text[:start] + text[end:]).encode()), None, Options())
    assert not model.floating and not model.feet and model.hands == ("tool",)


def test_feet_can_be_named(saved) -> None:
    path = saved(dog(), "dog.xml")
    assert quiet(path, feet=["FL_shank", "HR_shank"]).model.feet == ("FL_shank_foot", "HR_shank_foot")
    sole = [[0.1, 0.05], [-0.1, 0.05], [-0.1, -0.05], [0.1, -0.05]]
    model = quiet(path, feet={"FL_shank": sole, "HR_shank": None}, hands="trunk").model
    assert model.feet == ("FL_shank", "HR_shank") and model.hands == ("trunk",)
    np.testing.assert_array_equal(model.soles["FL_shank"], sole)
    with pytest.raises(wbc.WbcError, match="no frame 'FL_shnk'; did you mean 'FL_shank'"):
        quiet(path, feet=["FL_shnk"])
    with pytest.raises(wbc.WbcError, match="the sole of 'FL_shank' must be the corners"):
        quiet(path, feet={"FL_shank": [[0.0, 1.0]]})
    assert quiet(path, feet=[]).model.feet == ()


def test_feet_of_meshes(saved, tmp_path) -> None:
    corners = [(x, y, z) for x in (-0.07, 0.15) for y in (-0.05, 0.05) for z in (-0.06, -0.02)]
    (tmp_path / "foot.obj").write_text("\n".join(f"v {x} {y} {z}" for x, y, z in corners))
    box = '<origin xyz="0.04 0 -0.04"/><geometry><box size="0.22 0.1 0.04"/></geometry>'
    text = biped().replace(f"<collision>{box}", '<collision><geometry><mesh filename="foot.obj"/></geometry>')
    assert text.count("foot.obj") == 2
    model = quiet(saved(text, "walker.urdf")).model
    sole = model.soles["left_ankle_roll_link_sole"]
    np.testing.assert_allclose(np.ptp(sole, axis=0), [0.22, 0.1], atol=1e-9)
    assert any(shape.body == "left_ankle_roll_link" and shape.collides for shape in model.shapes)  # for simulators


def test_a_posture_on_the_ground(saved) -> None:
    key = '<keyframe><key name="low" qpos="1 2 0.3 1 0 0 0 ' + "0 0.7 -1.4 " * 4 + '"/></keyframe>'
    path = saved(dog(keyframe=key), "dog.xml")
    angles = {f"{leg}_{joint}": a for leg in ("FL", "FR", "HL", "HR") for joint, a in (("pitch", 0.5), ("knee", -1.0))}
    model = quiet(path, nominal=angles).model
    assert model.nominal[model.q_index["HR_knee"]] == -1.0 and model.nominal[2] == 0.3
    np.testing.assert_array_equal(quiet(path, nominal="low").model.nominal[:3], [1, 2, 0.3])
    np.testing.assert_array_equal(quiet(path, nominal=model.nominal).model.nominal, model.nominal)
    with pytest.raises(wbc.WbcError, match="no keyframe 'lo'; did you mean 'low'"):
        quiet(path, nominal="lo")
    with pytest.raises(wbc.WbcError, match="nominal: no joint 'FL_kne'"):
        quiet(path, nominal={"FL_kne": 0.1})


def test_a_shank_that_leans_is_no_foot_along_its_length(tmp_path) -> None:
    pytest.importorskip("mujoco")
    pose = "0 0 0.31 1 0 0 0 " + "0 0.6 -1.75 " * 4
    text = dog(foot="", keyframe=f'<keyframe><key qpos="{pose}"/></keyframe>')
    shank = '<geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.015" mass="0.2"/>'
    assert shank in text
    (tmp_path / "dog.xml").write_text(
        text.replace(shank, '<geom type="box" pos="0 0 -0.125" size="0.015 0.012 0.125" mass="0.2"/>')
    )
    robot = wbc.load(tmp_path / "dog.xml")
    assert robot.model.feet == tuple(f"{leg}_shank_foot" for leg in ("FL", "FR", "HL", "HR"))
    assert not robot.model.warnings or "straight" not in str(robot.model.warnings)


HOPPER = """
<mujoco model="hopper">
  <worldbody>
    <body name="trunk" pos="0 0 0.9"><freejoint/><geom type="box" size="0.1 0.1 0.1"/>
      <site name="belly" pos="0 0 -0.1"/>
      <body name="thigh"><joint name="hip" axis="0 1 0" range="-90 90"/>
        <geom type="capsule" size="0.03 0.15" pos="0 0 -0.2"/>
        <body name="shank" pos="0 0 -0.4"><joint name="knee" axis="0 1 0" range="-150 0"/>
          <geom type="capsule" size="0.03 0.15" pos="0 0 -0.2"/><site name="toe" pos="0 0 -0.4"/></body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="hip"/><motor joint="knee"/></actuator>
</mujoco>"""


def test_a_robot_on_one_leg_bends_it(saved) -> None:
    with pytest.warns(wbc.WbcWarning, match="legs are bent"):
        robot = wbc.load(saved(HOPPER, "hopper.xml"), "numpy", feet=["toe"])
    hip, knee = robot.model.nominal[7:]
    assert knee < -0.3 and 0.1 < hip < -knee
    robot.update(robot.model.nominal)
    assert abs(robot.pose("toe")[2, 3]) < 0.05


def test_a_foot_that_no_joint_moves_leaves_the_posture_as_it_is(saved) -> None:
    robot = wbc.load(saved(HOPPER, "hopper.xml"), "numpy", feet=["belly"])
    assert robot.model.nominal[2] == 0.9 and not robot.model.nominal[7:].any()


def test_cylinders_that_lie_side_by_side_bear_a_foot_on_the_lines_where_they_touch(saved) -> None:
    lying = '<geom type="cylinder" fromto="-.1 {y} -.25 .1 {y} -.25" size=".015" mass=".05"/>'
    text = biped_of_mjcf("".join(lying.format(y=y) for y in (-0.025, 0.025)))
    model = quiet(saved(text, "walker.xml")).model
    assert len(model.soles) == 2
    for corners in model.soles.values():
        np.testing.assert_allclose(np.ptp(corners, axis=0), [0.2, 0.05], atol=1e-9)


def test_feet_that_touch_by_meshes_or_named_pairs_do_not_sink(saved) -> None:
    pytest.importorskip("mujoco")
    x, y, z = np.meshgrid([-0.1, 0.1], [-0.03, 0.03], [-0.02, 0.02])
    corners = " ".join(f"{value:g}" for value in np.stack([x, y, z], axis=-1).ravel())
    assets = f'<asset><mesh name="sole" vertex="{corners}"/></asset>'
    meshes = biped_of_mjcf('<geom type="mesh" mesh="sole" pos="0 0 -.25" mass=".05"/>', assets)
    box = '<geom name="{side}" type="box" pos="0 0 -.25" size=".1 .03 .02" mass=".05" contype="0" conaffinity="0"/>'
    pairs = "".join(f'<pair geom1="floor" geom2="{side}"/>' for side in ("left", "right"))
    named = biped_of_mjcf(box, f"<contact>{pairs}</contact>")
    for text in (meshes, named):
        model = quiet(saved(text, "walker.xml")).model
        assert len(model.soles) == 2 and not any("sink" in text for text in model.warnings)
        assert not any(shape.size == (0.2, 0.06, 0.01) for shape in model.shapes)  # no box stands for the sole
    told = quiet(saved(biped_of_mjcf(box), "walker.xml")).model.warnings
    assert any("sink into it in MuJoCo: 'left_foot', 'right_foot'" in text for text in told)


def test_what_hangs_lowest_on_a_fixed_base_is_no_foot(saved) -> None:
    """Two arms that hang from a spine: they are hands, and lower than the base."""
    text = biped()
    spine = [("turn", "yaw", "0 0 0", -1, 1), ("lean", "roll", "0 0 0", -1, 1)]
    parts = [LINK.format(name="stand", at="0 0 0.1", mass=5, size="0.1 0.1 0.1")]
    parent = "stand"
    for name, axis, at, lower, upper in spine:
        parts.append(LINK.format(name=f"{name}_link", at="0 0 0.1", mass=2, size="0.1 0.1 0.1"))
        names = {"name": name, "parent": parent, "child": f"{name}_link"}
        parts.append(JOINT.format(**names, at=at, axis=AXES[axis], lower=lower, upper=upper))
        parent = f"{name}_link"
    ends = {"name": "hang", "parent": parent, "child": "trunk"}
    parts.append(JOINT.format(**ends, at="0 0 0.2", axis="0 0 1", lower=-1, upper=1))
    model = quiet(saved(text.replace("</robot>", "".join(parts) + "</robot>"), "torso.urdf")).model
    assert not model.floating and not model.feet and len(model.hands) == 4


def test_feet_without_collision_shapes_are_those_of_visible_meshes(saved, tmp_path) -> None:
    x, y, z = np.meshgrid([-0.11, 0.11], [-0.05, 0.05], [-0.02, 0.02])
    corners = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    (tmp_path / "foot.obj").write_text("".join(f"v {a} {b} {c}\n" for a, b, c in corners) + "f 1 2 3\n")
    text = re.sub(
        r'<collision>(<origin xyz="0.04 0 -0.04"/>)<geometry><box[^>]*/></geometry></collision>',
        r'<visual>\1<geometry><mesh filename="foot.obj"/></geometry></visual>',
        biped(),
    )
    assert text.count("foot.obj") == 2
    model = quiet(saved(text, "walker.urdf")).model
    assert [foot for foot in model.feet if foot in model.soles] == list(model.feet) and len(model.feet) == 2
    assert all(mesh.bits == (0, 0) for mesh in model.meshes), "they meet nothing"
    ankle = '<link name="left_ankle_roll_link">'
    fixed = '<link name="cap"><visual><geometry><mesh filename="foot.obj"/></geometry></visual></link><joint name="on" '
    fixed += 'type="fixed"><parent link="left_elbow_link"/><child link="cap"/></joint>'
    meshes = quiet(saved(text.replace(ankle, fixed + ankle), "walker.urdf")).model.meshes
    assert {mesh.body for mesh in meshes} == {"left_ankle_roll_link", "right_ankle_roll_link"}, "an arm has its own"
    for corners in model.soles.values():
        assert sorted(map(tuple, np.abs(corners).round(6).tolist())) == [(0.11, 0.05)] * 4


def test_legs_whose_limits_exclude_zero_are_bent_a_little_and_arms_rest_amid_theirs(saved) -> None:
    text = (
        biped()
        .replace('lower="0" upper="2.5"', 'lower="0.4" upper="2.5"')
        .replace('upper="0" effort', 'upper="-1" effort')
    )
    assert text.count('lower="0.4"') == 2 and text.count('upper="-1"') == 2
    model = quiet(saved(text, "walker.urdf")).model
    assert any("outside of the limits of joints; legs are bent" in text for text in model.warnings)
    knee, elbow = (model.nominal[model.q_index[f"left_{name}"]] for name in ("knee", "elbow"))
    assert 0.4 < knee < 1.0 and elbow == -1.5 and len(model.soles) == 2


def test_wheels_of_meshes_beside_their_file_carry_a_robot(saved) -> None:
    """Meshes of a URDF touch nothing in a simulator: a robot stood on what was above its wheels. Onshape's exporter
    names meshes `package:///wheel.obj`, without a package.
    """
    pytest.importorskip("mujoco")
    rim = [(0.1 * np.cos(a), y, 0.1 * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 33)[:-1] for y in (-0.02, 0.02)]
    mass = '<inertial><mass value="{}"/><inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>'
    text = f'<robot name="cart"><link name="base">{mass.format(10)}<collision><geometry><box size=".4 .2 .1"/>'
    text += "</geometry></collision></link>"
    mesh = '<collision><geometry><mesh filename="package:///wheel.obj"/></geometry></collision>'
    for name, x, y in (("FL", 0.2, 0.2), ("FR", 0.2, -0.2), ("RL", -0.2, 0.2), ("RR", -0.2, -0.2)):
        text += (
            f'<link name="{name}">{mass.format(0.5)}{mesh}</link><joint name="{name}_joint" type="continuous">'
            f'<parent link="base"/><child link="{name}"/><origin xyz="{x} {y} 0"/><axis xyz="0 1 0"/>'
            '<limit effort="20" velocity="30"/></joint>'
        )
    path = saved(text + "</robot>", "cart.urdf")
    path.with_name("wheel.obj").write_text("".join(f"v {x:.6f} {y:.6f} {z:.6f}\n" for x, y, z in rim))
    robot = quiet(path, floating=True)
    wheels = [shape for shape in robot.model.shapes if shape.kind == "cylinder"]
    assert sorted(shape.body for shape in wheels) == ["FL", "FR", "RL", "RR"]
    assert all(shape.size == pytest.approx((0.1, 0.04), abs=1e-6) for shape in wheels)
    plant = wbc.MujocoSimulator(robot)
    plant.reset(robot.model.nominal)
    for _ in range(200):
        plant.step()
    assert plant.mj_data.qpos[2] == pytest.approx(0.1, abs=2e-3)
