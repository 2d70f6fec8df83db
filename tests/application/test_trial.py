"""`wbc try`: a file of somebody's, tried."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

import wbc
from tests.application.test_cli import run
from tests.foreign import biped, biped_of_mjcf, dog
from wbc.application import reports
from wbc.application import trial as trials
from wbc.application.beginning import capture, goes
from wbc.application.commands.robots import _in_folder
from wbc.application.rolling import stack
from wbc.application.round import Loop, in_reach, reaches
from wbc.application.trial import Trial, describe, try_robot


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


def test_a_push_that_the_feet_are_too_short_for_is_told_of(walker, monkeypatch) -> None:
    monkeypatch.setattr(trials, "SHARE", 0.6)
    trial = try_robot(walker, simulator="builtin")
    assert not trial.stood
    needed, room = map(float, re.findall(r"(\d+) mm", trial.found["push"]))
    assert needed > room and "can't be taken without a step" in trial.found["push"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = wbc.load(walker)
    robot.update(robot.model.nominal)
    assert trial.scene is not None
    push = replace(trial.scene.disturbances[0], force=(10.0, 0.0, 0.0))
    # to the front, toes are where the soles end, and a push that lasts has to be stood against
    toes = max(robot.pose(foot)[0, 3] for foot in robot.model.feet) + 0.11
    assert capture(robot, push)[1] == pytest.approx(toes - robot.com[0], abs=2e-3)
    high = robot.pose(robot.model.root)[2, 3]
    stood = 10.0 * high / (9.81 * robot.mass)
    assert capture(robot, replace(push, duration=60.0))[0] == pytest.approx(stood, rel=1e-3)


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


def test_a_base_that_is_fixed_with_wheels_in_the_air_is_told_of() -> None:
    assert "--floating lets it drive" in describe(wbc.load("diffdrive", floating=False), [])["base"]
    assert describe(wbc.load("diffdrive"), [])["base"].endswith(" floats")


def test_ticks_are_counted_in_full() -> None:
    shown = reports.trial(Trial("dog", "legs", {}, "", "m", 0.0, figures={"ticks that were not optimal": 2016}))
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
    assert code == 2 and "no actuator drives a joint" in err and "Traceback" not in err
    pytest.importorskip("mujoco")
    muscle = tmp_path / "muscle.xml"
    muscle.write_text(
        '<mujoco><worldbody><body pos="0 0 1"><joint name="a" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/>'
        '<body pos=".4 0 0"><joint name="b" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body></body></worldbody>'
        '<actuator><muscle joint="a" lengthrange="-1 1"/><motor joint="b" ctrlrange="-9 9"/></actuator></mujoco>'
    )
    out, _, code = run("try", str(muscle), "--json")
    assert code == 2 and "--ignore actuators does not use it" in json.loads(out)["reason"]
    assert json.loads(out)["reason"].startswith(str(muscle))
    assert run("try", str(muscle), "--ignore", "actuators", "--json")[2] in (0, 1)
    thrust = tmp_path / "drone.xml"
    thrust.write_text(
        '<mujoco><worldbody><geom type="plane" size="0 0 1"/><body name="drone" pos="0 0 .1"><freejoint/>'
        '<geom type="box" size=".1 .1 .02"/><site name="up"/></body></worldbody><actuator>'
        '<motor site="up" gear="0 0 1 0 0 0" ctrlrange="0 99"/></actuator></mujoco>'
    )
    out, _, code = run("try", str(thrust), "--json")
    assert code == 2 and "it flies" in json.loads(out)["reason"]


def test_what_no_body_can_be_is_tried_without_strictness(tmp_path) -> None:
    file = tmp_path / "walker.urdf"
    odd = '<inertia ixx="0.05" iyy="0.05" izz="0.2" ixy="0" ixz="0" iyz="0"/>'
    text = biped().replace('<inertia ixx="0.05" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/>', odd, 1)
    file.write_text(text)
    out, _, code = run("try", str(file), "--json")
    assert code == 2 and "--no-strict accepts it" in json.loads(out)["reason"]
    out, _, code = run("try", str(file), "--no-strict", "--simulator", "mujoco", "--json")
    assert code == 2 and "--simulator builtin can" in json.loads(out)["reason"]
    file.write_text(text.replace('izz="0.2"', 'izz="-0.01"'))
    with pytest.warns(wbc.WbcWarning):
        assert type(wbc.load(file, strict=False)).__name__ == "NumpyDynamics", "Pinocchio refuses it"


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


GRIPPER = """<mujoco><option timestep=".001"/><worldbody><body name="palm" pos="0 0 .5"><geom size=".03" mass=".5"/>
  <body name="left" pos="0 .05 0"><joint name="left" axis="1 0 0" range="-1 1"/>
    <geom type="capsule" fromto="0 0 0 0 0 .1" size=".01" mass=".1"/><site name="tip_left" pos="0 0 .1"/></body>
  <body name="right" pos="0 -.05 0"><joint name="right" axis="1 0 0" range="-1 1"/>
    <geom type="capsule" fromto="0 0 0 0 0 .1" size=".01" mass=".1"/><site name="tip_right" pos="0 0 .1"/></body>
  </body></worldbody>
  <actuator><motor joint="left" ctrlrange="-3 3"/><motor joint="right" ctrlrange="-3 3"/></actuator></mujoco>"""


def test_fingers_that_go_to_and_fro_are_held(tmp_path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "gripper.xml"
    file.write_text(GRIPPER)
    trial = try_robot(str(file))
    assert trial.kind == "joints" and trial.stood and trial.followed and trial.unit == "rad"
    assert re.fullmatch(r"\w+, \w+: no loop is in reach there", trial.found["held"])


@pytest.mark.filterwarnings("ignore:.*there are no actuators")
def test_a_hand_that_is_welded_to_the_world_has_no_loop_to_go_round(tmp_path) -> None:
    """As an arm whose file holds its hand by a body that is moved from outside."""
    pytest.importorskip("mujoco")
    links, inner = "", "<site name='tip' pos='0 0 .1'/>"
    for number, axis in enumerate(("0 0 1", "0 1 0", "1 0 0", "0 1 0", "0 0 1", "0 1 0")):
        inner = (
            f'<body name="link{5 - number}" pos=".1 0 .1"><joint name="j{5 - number}" axis="{axis}"/>'
            f'<geom type="capsule" fromto="0 0 0 .1 0 .1" size=".02" mass=".5"/>{inner}</body>'
        )
    links = f"<mujoco><worldbody>{inner}</worldbody><equality><weld body1='link5'/></equality></mujoco>"
    free, held = (wbc.load(mujoco_model(text)) for text in (links.replace("<weld body1='link5'/>", ""), links))
    assert reaches(free, "tip") and not reaches(held, "tip")


def mujoco_model(text: str):
    import mujoco

    return mujoco.MjModel.from_xml_string(text)


def test_a_body_with_several_joints_is_pushed(tmp_path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "table.xml"
    file.write_text(
        '<mujoco><worldbody><body name="table"><joint name="x" type="slide" axis="1 0 0"/>'
        '<joint name="y" type="slide" axis="0 1 0"/><geom size=".1"/></body></worldbody>'
        '<actuator><motor joint="x" ctrlrange="-99 99"/><motor joint="y" ctrlrange="-99 99"/></actuator></mujoco>'
    )
    trial = try_robot(str(file))
    assert trial.stood and trial.followed and trial.figures["off after the push"] > 1e-4


def test_a_robot_on_a_table_is_not_put_into_it(tmp_path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "table.xml"
    key = '<keyframe><key qpos="0 0 .57 1 0 0 0 0 .4 -.8 0 .4 -.8 0 .4 -.8 0 .4 -.8"/></keyframe>'
    table = '<worldbody><geom type="plane" size="0 0 1"/><geom type="box" size="1 1 .04" pos="0 0 .04"/>'
    file.write_text(dog(keyframe=key).replace("<worldbody>", table))
    trial = try_robot(str(file))
    assert trial.stood and trial.figures["off at the end"] < 0.1 and "posture" not in trial.found


def test_a_keyframe_to_begin_in_is_chosen(tmp_path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "steps.xml"
    legs = "0 .4 -.8 0 .4 -.8 0 .4 -.8 0 .4 -.8"
    keys = f'<keyframe><key name="sunk" qpos="0 0 .4 1 0 0 0 {legs}"/><key name="stand" qpos="0 0 .48 1 0 0 0 {legs}"/>'
    file.write_text(
        dog(keyframe=f"{keys}</keyframe>").replace("<worldbody>", '<worldbody><geom type="plane" size="0 0 1"/>')
    )
    out, _, _ = run("try", str(file), "--json")
    assert json.loads(out)["found"]["posture"].endswith("--keyframe begins in another one: stand")
    out, _, code = run("try", str(file), "--keyframe", "stand", "--json")
    assert code == 0 and "posture" not in json.loads(out)["found"]


@pytest.mark.parametrize(
    ("was", "now", "reason"),
    [
        (
            '<freejoint/><geom type="box"',
            '<joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>'
            '<joint name="turn" axis="0 1 0"/><geom type="box"',
            "all of it moves by x, z, turn, which have no motors",
        ),
        ("<body name", '<body gravcomp="1" name', "its feet carry nothing"),
        ('pos="0 0 0.6"', 'pos="0 0 0.6" euler="3.14159 0 0"', "above its feet"),
    ],
)
def test_what_does_not_stand_on_its_feet_is_refused(tmp_path, was: str, now: str, reason: str) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "odd.xml"
    text = dog().replace(was, now)
    assert text != dog()
    file.write_text(text)
    with pytest.raises(wbc.WbcError, match=reason):
        try_robot(str(file), feet=["FL_shank", "FR_shank", "HL_shank", "HR_shank"] if "euler" in now else None)


@pytest.mark.parametrize(
    ("foot", "reason"),
    [
        ('<geom type="sphere" pos="0 0 -.25" size=".04"/>', "are points on a line"),
        ('<geom type="box" pos="2 0 -.25" size=".1 .04 .01"/>', "mm beside its feet"),
    ],
)
def test_what_stands_on_a_line_or_beside_its_feet_is_refused(tmp_path, foot: str, reason: str) -> None:
    """The first fell, and the second was said to stand while it lay."""
    pytest.importorskip("mujoco")
    file = tmp_path / "odd.xml"
    file.write_text(biped_of_mjcf(foot))
    with pytest.raises(wbc.WbcError, match=reason):
        try_robot(str(file))


def test_a_base_that_legs_of_two_joints_cant_move_keeps_its_place(tmp_path) -> None:
    pytest.importorskip("mujoco")
    legs, motors = "", ""
    for number, turn in enumerate((45, 135, 225, 315)):
        legs += (
            f'<body euler="0 0 {turn}"><body pos=".2 0 0"><joint name="hip{number}" axis="0 0 1" range="-30 30"/>'
            '<geom type="capsule" fromto="0 0 0 .2 0 0" size=".04"/><body pos=".2 0 0"><joint '
            f'name="knee{number}" axis="0 1 0" range="30 70"/>'
            '<geom type="capsule" fromto="0 0 0 .4 0 0" size=".04"/></body></body></body>'
        )
        motors += f'<motor joint="hip{number}" ctrlrange="-50 50"/><motor joint="knee{number}" ctrlrange="-50 50"/>'
    file = tmp_path / "ant.xml"
    file.write_text(
        '<mujoco><compiler autolimits="true"/><default><joint armature=".1"/><geom margin=".01"/></default><worldbody>'
        f'<body name="torso" pos="0 0 .6"><freejoint/><geom size=".15"/>{legs}</body></worldbody>'
        f"<actuator>{motors}</actuator></mujoco>"
    )
    trial = try_robot(str(file), seconds=1.5)
    assert trial.followed and trial.radius == 0.0 and trial.health == "good"
    assert trial.figures["off on the loop"] < 1e-3  # contacts carry it at a height of 0.01 m, and knees roll its feet
    assert "has no way to go without turning" in trial.found["no loop"]


@pytest.mark.parametrize(("name", "sideways"), [("diffdrive", False), ("omni", True)])
def test_a_base_on_wheels_drives_and_survives_the_push(name: str, sideways: bool) -> None:
    trial = try_robot(name, simulator="builtin")
    assert trial.kind == "wheels" and trial.unit == "m/s" and trial.stood and trial.followed
    assert trial.log is not None and trial.scene is not None
    log, figures = trial.log, trial.figures
    on_its_way = log.time <= 3.0
    way = log.true_q[on_its_way, :2] - log.true_q[0, :2]
    assert 1.7 * trial.radius < way[:, 0].max() < 2.1 * trial.radius  # forward and back
    assert (np.abs(way[:, 1]).max() > 0.8 * trial.radius) == sideways
    assert np.linalg.norm(way[-1]) < 0.1 * trial.radius
    assert 0.0 < figures["off on the loop"] < 0.1 and figures["off at the end"] < 1e-3


def cart(axles: int) -> str:
    """A cart on two wheels an axle, whose file has no word for a wheel."""
    ends = [(x, y) for x in (0.2, -0.2)[:axles] for y in (0.15, -0.15)]
    wheels = "".join(
        f'<body name="wheel{x}{y}" pos="{x} {y} 0"><joint name="{x}{y}" axis="0 1 0"/>'
        '<geom type="cylinder" size=".1 .02" euler="90 0 0"/></body>'
        for x, y in ends
    )
    motors = "".join(f'<motor joint="{x}{y}" ctrlrange="-20 20"/>' for x, y in ends)
    return (
        '<mujoco model="cart"><option timestep="0.001"/><worldbody><geom type="plane" size="5 5 .1"/>'
        '<body name="cart" pos="0 0 .1"><freejoint/><geom type="box" size=".25 .1 .04" pos="0 0 .05"/>'
        f"{wheels}</body></worldbody><actuator>{motors}</actuator></mujoco>"
    )


def test_wheels_that_a_file_does_not_declare_are_those_of_its_geometry(tmp_path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "cart.xml"
    file.write_text(cart(2))
    trial = try_robot(str(file), simulator="mujoco")
    assert trial.kind == "wheels" and trial.stood and trial.followed
    file.write_text(cart(1))
    with pytest.raises(wbc.WbcError, match="don't carry it alone: name its castors"):
        try_robot(str(file), simulator="mujoco")


def test_a_base_on_two_wheels_and_a_ball_drives(tmp_path) -> None:
    """The wheels' shapes are beside the origin of their bodies; the ball is fixed to the base, and slides."""
    pytest.importorskip("mujoco")
    text = cart(1).replace('euler="90 0 0"/>', 'euler="90 0 0" pos="0 0.01 0"/>')
    ball = '<geom size=".03" pos="-.2 0 -.07" condim="1" priority="1"/><body name="wheel'
    file = tmp_path / "cart.xml"
    file.write_text(text.replace('<body name="wheel', ball, 1).replace('pos="0 0 .05"/>', 'pos="-.05 0 .05"/>'))
    trial = try_robot(str(file), simulator="mujoco")
    assert trial.kind == "wheels" and trial.found["wheels"] == "wheel0.20.15_hub, wheel0.2-0.15_hub, cart_castor"
    assert trial.stood and trial.followed


def test_a_base_on_mesh_wheels_and_swivel_castors_drives_on_the_floor_of_its_file(tmp_path) -> None:
    """Its wheels are meshes, its castors swivel without motors, and its floor is 0.9 m below where its file puts it."""
    pytest.importorskip("mujoco")
    angles = np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False)
    rim = np.column_stack([np.tile(np.cos(angles), 2), np.repeat([-0.15, 0.15], 64), np.tile(np.sin(angles), 2)])
    assets = "".join(
        f'<mesh name="{name}" vertex="{" ".join(f"{x:.9g}" for x in (size * rim).ravel())}"/>'
        for name, size in (("large", 0.1), ("small", 0.03))
    )
    wheels = "".join(
        f'<body name="{side}" pos="0 {y} 0"><joint name="{side}" axis="0 1 0"/><geom type="mesh" mesh="large"/></body>'
        for side, y in (("left", 0.2), ("right", -0.2))
    )
    castors = "".join(
        f'<body pos="{x} {y} -.04"><joint axis="0 0 1" damping=".01"/><geom size=".01" mass=".05" contype="0" '
        f'conaffinity="0"/><body name="castor{x}{y}" pos="-.02 0 -.03"><joint axis="0 1 0"/>'
        '<geom type="mesh" mesh="small" mass=".1"/></body></body>'
        for x in (0.2, -0.2)
        for y in (0.1, -0.1)
    )
    file = tmp_path / "base.xml"
    text = (
        f'<mujoco model="base"><option timestep="0.001"/><asset>{assets}</asset><worldbody>'
        '<geom type="plane" size="0 0 1" pos="0 0 -.8"/><body name="base" pos="0 0 .2"><freejoint/>'
        f'<geom type="box" size=".2 .15 .05" mass="20" pos="0 0 .1"/>{wheels}{castors}</body></worldbody><actuator>'
        '<motor joint="left" ctrlrange="-20 20"/><motor joint="right" ctrlrange="-20 20"/></actuator>{}</mujoco>'
    )
    file.write_text(text.format(""))
    with pytest.warns(wbc.WbcWarning, match="not on the ground"):
        robot = wbc.load(file)
    assert robot.model.nominal[2] == pytest.approx(-0.7, abs=1e-3)
    kinds = {contact.name: contact.wheel.castor for contact in stack(robot, 1e-3).contacts}
    assert kinds == {"left": False, "right": False} | {f"castor{x}{y}": True for x in (0.2, -0.2) for y in (0.1, -0.1)}
    trial = try_robot(str(file), seconds=4.0)
    assert trial.stood and trial.followed and trial.figures["off on the loop"] < 0.05 * trial.radius / 0.05
    file.write_text(text.format('<keyframe><key qpos="0 0 -.69 1 0 0 0 0 0 0 0 0 0 0 0 0 0"/></keyframe>'))
    assert try_robot(str(file), seconds=0.1).found["posture"] == "10 mm above the ground in the file's; put down"


def test_a_planar_base_holds_its_joints(tmp_path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "planar.xml"
    file.write_text(
        '<mujoco><option timestep="0.001"/><worldbody><body name="cart" pos="0 0 .1">'
        '<joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>'
        '<joint name="turn" axis="0 0 1"/><geom type="box" size=".25 .2 .05"/></body></worldbody><actuator>'
        '<motor joint="x" ctrlrange="-99 99"/><motor joint="y" ctrlrange="-99 99"/>'
        '<motor joint="turn" ctrlrange="-9 9"/></actuator></mujoco>'
    )
    trial = try_robot(str(file), simulator="builtin")
    assert (trial.kind, trial.unit) == ("joints", "rad") and trial.stood and trial.followed


def test_two_arms_go_round_their_loops_at_once(tmp_path) -> None:
    pytest.importorskip("mujoco")
    link = '<geom type="capsule" size=".02" fromto="0 0 0 .25 0 0" mass=".5"/>'
    arms = "".join(
        f'<body name="{side}1" pos="0 {y} 0"><joint name="{side}a" axis="0 0 1"/><geom size=".05" mass="1"/>'
        f'<body name="{side}2"><joint name="{side}b" axis="0 1 0"/>{link}'
        f'<body name="{side}3" pos=".25 0 0"><joint name="{side}c" axis="0 1 0"/>{link}'
        f'<body name="{side}hand" pos=".25 0 0"><geom size=".02" mass=".1"/></body></body></body></body>'
        for side, y in (("left", 0.4), ("right", -0.4))
    )
    motors = "".join(
        f'<motor joint="{side}{joint}" ctrlrange="-40 40"/>' for side in ("left", "right") for joint in "abc"
    )
    file = tmp_path / "arms.xml"
    file.write_text(
        f'<mujoco><option timestep="0.001"/><worldbody>{arms}</worldbody><actuator>{motors}</actuator>'
        '<keyframe><key qpos="0 -0.8 1.6 0 -0.8 1.6"/></keyframe></mujoco>'
    )
    trial = try_robot(str(file), simulator="builtin", seconds=3.2)
    assert trial.frames == ("lefthand", "righthand") and trial.moved == "lefthand, righthand"
    assert trial.log is not None and trial.followed and trial.figures["off on the loop"] < 1e-3
    for arm in (slice(0, 3), slice(3, 6)):
        assert np.ptp(trial.log.true_q[:, arm], axis=0).max() > 0.05


def test_an_arm_at_its_limits_is_tried_from_where_it_can_move(tmp_path) -> None:
    link = '<geom type="capsule" size=".02" fromto="0 0 0 .25 0 0" mass=".5" contype="0" conaffinity="0"/>'
    joints = [("a", "0 0 1", "-2 2"), ("b", "0 1 0", "-1.5 0"), ("c", "0 1 0", "0 2")]
    bodies = "".join(
        f'<body pos="{0.25 * (name == "c")} 0 0"><joint name="{name}" axis="{axis}" range="{span}"/>{link}'
        for name, axis, span in joints
    )
    motors = "".join(f'<motor joint="{name}" ctrlrange="-40 40"/>' for name, _, _ in joints)
    hand = '<body name="hand" pos=".25 0 0"><geom size=".02" mass=".1" contype="0" conaffinity="0"/></body>'
    file = tmp_path / "folded.xml"
    file.write_text(
        '<mujoco><option timestep="0.001"/><compiler angle="radian"/><worldbody><body name="stand" pos="0 0 1">'
        f"{bodies}{hand}</body></body></body></body></worldbody><actuator>{motors}</actuator></mujoco>"
    )
    trial = try_robot(str(file), simulator="builtin", seconds=3.2)
    assert "tried from a " in trial.found["posture"]
    assert trial.stood and trial.followed and trial.figures["off on the loop"] < 1e-3
    as_told = try_robot(str(file), simulator="builtin", seconds=0.1, nominal={"b": -0.4, "c": 0.9})
    assert "posture" not in as_told.found


def test_an_arm_that_touches_itself_is_tried_from_where_nothing_does(tmp_path) -> None:
    pytest.importorskip("mujoco")
    link = '<geom type="capsule" size=".02" fromto="0 0 0 .25 0 0" mass=".5" contype="0" conaffinity="0"/>'
    bump = '<geom size=".02" pos="{}" mass=".01"/>'
    x, z = 0.25 + 0.05 * np.sin(1.0), 0.05 * np.cos(1.0)  # where the bump of the last link is, in the one before
    at = np.cos(0.6) * x - np.sin(0.6) * z, 0.0395, np.sin(0.6) * x + np.cos(0.6) * z  # half a millimetre in it
    file = tmp_path / "folded.xml"
    file.write_text(
        '<mujoco><option timestep="0.001"/><compiler angle="radian"/><worldbody><body name="stand" pos="0 0 1">'
        f'<body><joint name="a" axis="0 0 1"/>{bump.format(" ".join(map(str, at)))}<body><joint name="b" axis="0 1 0"/>'
        f'{link}<body name="fore" pos=".25 0 0"><joint name="c" axis="0 1 0"/>{link}'
        f'{bump.format("0 0 .05")}<body name="hand" pos=".25 0 0"><geom size=".02" mass=".1" contype="0"/></body>'
        '</body></body></body></body></worldbody><actuator><motor joint="a" ctrlrange="-40 40"/><motor joint="b" '
        'ctrlrange="-40 40"/><motor joint="c" ctrlrange="-40 40"/></actuator><keyframe><key qpos="0 -.6 1"/></keyframe>'
        "</mujoco>"
    )
    trial = try_robot(str(file), seconds=3.2)
    assert "parts that touch" in trial.found["posture"]
    assert trial.log is not None and np.abs(trial.log.q[0] - [0.0, -0.6, 1.0]).max() > 0.02
    assert trial.stood and trial.followed and trial.figures["off on the loop"] < 1e-4


def test_meshes_that_are_missing_are_told_of(tmp_path) -> None:
    file = tmp_path / "walker.urdf"
    file.write_text(re.sub(r"<box[^>]*/>", '<mesh filename="package://nowhere/a.stl"/>', biped()))
    with pytest.raises(wbc.WbcError, match="points on a line.*; collision meshes not read: package://nowhere/a.stl$"):
        try_robot(str(file), floating=True, seconds=0.01)


@pytest.mark.parametrize(("motor", "held"), [(1.0, 0.5), (5.0, np.inf)])
def test_a_hand_is_pushed_no_harder_than_its_motors_hold(tmp_path, motor: float, held: float) -> None:
    """Nor with more than a fifth of the arm's weight: the base of 100 kg that it slides on does not count."""
    pytest.importorskip("mujoco")
    link = '<geom type="capsule" size=".02" fromto="0 0 0 .25 0 0" mass=".5"/>'
    file = tmp_path / "cart.xml"
    file.write_text(
        '<mujoco><option timestep="0.001"/><worldbody><body name="cart"><joint name="y" type="slide" axis="0 1 0"/>'
        '<geom type="box" size=".2 .2 .05" pos="0 0 -.2" mass="100"/>'
        f'<body name="upper"><joint name="a" axis="0 0 1"/><geom size=".03" mass=".2"/>'
        f'<body name="lower"><joint name="b" axis="0 1 0"/>{link}'
        f'<body name="fore" pos=".25 0 0"><joint name="c" axis="0 1 0"/>{link}'
        '<body name="hand" pos=".25 0 0"><geom size=".02" mass=".1"/></body></body></body></body></body></worldbody>'
        '<actuator><position joint="y" kp="1e6"/><motor joint="a" '
        f'ctrlrange="-{motor} {motor}"/><motor joint="b" '
        'ctrlrange="-20 20"/><motor joint="c" ctrlrange="-20 20"/></actuator>'
        '<keyframe><key qpos="0 0 -0.8 1.6"/></keyframe></mujoco>'
    )
    trial = try_robot(str(file), simulator="builtin")
    assert trial.kind == "arm" and trial.stood and trial.followed
    assert trial.scene is not None
    force = np.linalg.norm(trial.scene.disturbances[0].force)
    reach = 0.5 * np.cos(0.8)
    assert force == pytest.approx(min(held * motor / reach, 0.2 * 9.81 * 1.1), rel=0.1)


def test_legs_without_a_roll_go_forward(tmp_path) -> None:
    pytest.importorskip("mujoco")
    for text, sideways in ((dog(), True), (re.sub(r'<(joint name|motor joint)="[^"]*_roll"[^>]*/>', "", dog()), False)):
        (tmp_path / "pup.xml").write_text(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            robot = wbc.load(tmp_path / "pup.xml")
        robot.update(robot.model.nominal)
        assert len(robot.model.feet) == 4 and goes(robot, 1) is sideways


def test_an_arm_in_a_plane_of_its_own_goes_round_in_it(tmp_path) -> None:
    """A plane between forward and to the side; and joints that begin outside of their limits."""
    link = '<geom type="capsule" size=".02" fromto="0 0 0 .25 0 0" mass=".5" contype="0" conaffinity="0"/>'
    file = tmp_path / "planar.xml"
    file.write_text(
        '<mujoco><option timestep="0.001"/><compiler angle="radian"/><worldbody><body pos="0 0 1" euler="0 0 .7">'
        f'<joint name="a" axis="0 1 0" range="-2 2"/>{link}<body pos=".25 0 0"><joint name="b" axis="0 1 0" '
        f'range=".5 2"/>{link}<body name="hand" pos=".25 0 0"><geom size=".01" mass=".1" contype="0"/></body></body>'
        '</body></worldbody><actuator><motor joint="a" ctrlrange="-40 40"/><motor joint="b" ctrlrange="-40 40"/>'
        "</actuator></mujoco>"
    )
    trial = try_robot(str(file), simulator="builtin", seconds=3.2)
    assert "b " in trial.found["posture"] and trial.log is not None
    assert (trial.log.q[0, 1] > 0.5) and trial.followed and trial.figures["off on the loop"] < 1e-4


def test_a_loop_is_as_large_as_a_hand_can_go_round() -> None:
    robot = wbc.load("arm")
    posed, hand = robot.copy(), robot.model.hands[0]
    posed.update(robot.model.nominal)
    home, side = posed.pose(hand).copy(), np.array([0.0, 1.0, 0.0])
    found = [in_reach(robot, radius, lambda _, size: Loop(home, size, side), [hand]) for radius in (0.05, 0.4, 50.0)]
    assert found[0] == (0.05, (hand,)) and found[1][0] in (0.05, 0.1, 0.2)
    assert found[2] == (50.0, (hand,)), "what is never in reach is tried as it was told"
    slow = wbc.load(robot.model.replace(joints=[replace(j, velocity=0.5) for j in robot.model.joints.values()]))
    assert in_reach(slow, 0.05, lambda _, size: Loop(home, size, side), [hand])[0] < 0.05, "joints are too slow for it"
    elbow = list(robot.model.bodies)[4]
    far = in_reach(robot, 0.05, lambda name, size: Loop(home, size if name == hand else 50.0, side), [hand, elbow])
    assert far == (0.05, (hand,)), "a hand that can't go round a loop is held"


def test_fingers_of_four_joints_on_a_wrist_of_two_are_tried(tmp_path) -> None:
    """Six joints can turn a finger's tip, but only four of them are its own: this ended in an IndexError."""
    pytest.importorskip("mujoco")
    link = '<geom type="capsule" size=".01" fromto="0 0 0 .1 0 0" mass=".05"/>'
    fingers, motors = "", ["w0", "w1"]
    for side, y in (("left", 0.03), ("right", -0.03)):
        names = [f"{side}{number}" for number in range(4)]
        axes = ("0 0 1", "0 1 0", "0 0 1", "1 0 0")
        fingers += "".join(
            f'<body name="{name}" pos="{".1 0" if number else f".1 {y}"} 0"><joint name="{name}" axis="{axis}" '
            f'range="0 1"/>{link}'
            for number, (name, axis) in enumerate(zip(names, axes, strict=True))
        )
        fingers += "</body>" * 4
        motors += names
    file = tmp_path / "hand.xml"
    file.write_text(
        '<mujoco><compiler angle="radian" autolimits="true"/><worldbody><body name="palm" pos="0 0 1">'
        '<joint name="w0" axis="0 0 1" range="-1 1"/><joint name="w1" axis="0 1 0" range="-1 1"/>'
        f'<geom type="box" size=".05 .05 .01" mass=".3"/>{fingers}</body></worldbody><actuator>'
        + "".join(f'<motor name="{name}" joint="{name}" ctrlrange="-2 2"/>' for name in motors)
        + "</actuator></mujoco>"
    )
    trial = try_robot(str(file), seconds=1.5)
    assert trial.stood and trial.kind == "arm"
