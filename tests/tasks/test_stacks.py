"""The stacks that are ready to use: on our robots and on such as others write, in MuJoCo."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tasks
import wbc
from tasks import stacks
from tests.foreign import JOINT, LINK, biped, dog
from wbc.application.trial import try_robot
from wbc.simulation import Push, make_plant


def load(tmp_path, text: str, name: str) -> wbc.Dynamics:
    path = tmp_path / name
    path.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        return wbc.load(path)


def pushed(robot: wbc.Dynamics, simulator: str = "mujoco", share: float = 0.2) -> wbc.Log:
    """Stands for a second and a half, pushed to the side with a share of its weight for 0.2 s in between."""
    controller = wbc.Controller(robot, stacks.standing(robot))
    push = Push(robot.model.root, (0.0, share * 9.81 * robot.mass, 0.0), 0.3, 0.2)
    return wbc.run(controller, make_plant(robot, simulator), 1.5, disturbances=push)


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_our_robots_stand_and_are_pushed(name) -> None:
    pytest.importorskip("mujoco")
    log = pushed(wbc.load(name))
    assert log.ended == "finished" and "failed" not in log.status and log.status[-1] == "optimal"
    away = np.linalg.norm(log.q[:, :3] - log.q[0, :3], axis=1)
    assert 1e-3 < away.max() < 0.06 and away[-1] < 0.02


@pytest.mark.parametrize("simulator", ["mujoco", "builtin"])
def test_a_foreign_biped_stands_as_it_is_loaded(tmp_path, simulator) -> None:
    if simulator == "mujoco":
        pytest.importorskip("mujoco")
    robot = load(tmp_path, biped(), "walker.urdf")
    log = pushed(robot, simulator)
    assert log.ended == "finished"
    assert np.linalg.norm(log.q[-1, :3] - log.q[0, :3]) < 0.03


def test_legs_without_an_ankle_that_rolls_stand_too(tmp_path) -> None:
    pytest.importorskip("mujoco")
    robot = load(tmp_path, biped(ankle_roll=False), "walker.urdf")
    stack = stacks.standing(robot)
    held = stack["contact motion"]
    assert held.rows(*_tick(robot, stack)).lower.shape == (10,)
    log = pushed(robot)
    assert log.ended == "finished"
    arms = [robot.model.q_index[f"{side}_shoulder_pitch"] for side in ("left", "right")]
    assert np.abs(log.q[:, arms] - log.q[0, arms]).max() < 0.1  # rad: they are no reaction wheels


def _tick(robot: wbc.Dynamics, stack: wbc.Stack):
    controller = wbc.Controller(robot, stack)
    seen = []
    task = stack["contact motion"]
    rows = task.rows
    task.rows = lambda *given: (seen.append(given), rows(*given))[1]
    controller.step(robot.model.nominal, np.zeros(robot.nv))
    task.rows = rows
    return seen[-1]


def test_a_foreign_quadruped_stands_and_trots(tmp_path) -> None:
    pytest.importorskip("mujoco")
    robot = load(tmp_path, dog(), "dog.xml")
    log = pushed(robot)
    assert log.ended == "finished" and np.linalg.norm(log.q[-1, :3] - log.q[0, :3]) < 0.02
    trot = tasks.Trot(robot, (0.2, 0.0, 0.0))
    first, *others = trot.swings
    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / (tasks.TorqueLimits() + tasks.FrictionCones())
        / tasks.ContactMotion()
        / sum(others, start=first)
        / trot.base
        / tasks.JointAcceleration()
        / tasks.TorqueMinimization(),
        contacts=stacks.feet(robot),
    )
    log = wbc.run(wbc.Controller(robot, stack), make_plant(robot), 2.0, targets=trot.update)
    assert log.ended == "finished" and log.q[-1, 0] > 0.2


def test_an_arm_reaches() -> None:
    robot = wbc.load("arm")
    stack = stacks.reaching(robot)
    robot.update(robot.model.nominal)
    goal = robot.pose("tool").copy()
    goal[:3, 3] += [0.0, 0.1, 0.05]
    stack["tool"].target = goal
    log = wbc.run(wbc.Controller(robot, stack), make_plant(robot, "builtin"), 1.5)
    robot.update(log.q[-1])
    np.testing.assert_allclose(robot.pose("tool"), goal, atol=2e-3)


def test_a_humanoid_reaches_while_it_stands() -> None:
    robot = wbc.load("humanoid")
    stack = stacks.reaching(robot, "right_hand")
    robot.update(robot.model.nominal)
    goal = robot.pose("right_hand")[:3, 3] + [0.1, 0.0, 0.1]
    stack["right_hand"].target = goal
    log = wbc.run(wbc.Controller(robot, stack), make_plant(robot, "builtin"), 2.0)
    robot.update(log.q[-1])
    assert log.ended == "finished"
    assert np.linalg.norm(robot.pose("right_hand")[:3, 3] - goal) < 5e-3


def test_a_hand_that_does_not_exist_is_named() -> None:
    with pytest.raises(wbc.WbcError, match="no frame 'tol'; did you mean 'tool'"):
        tasks.stacks.reaching(wbc.load("arm", "numpy"), "tol")


def test_gains_follow_the_height_and_the_period() -> None:
    robot = wbc.load("quadruped")
    usual, slow = (stacks.quadruped(robot, period=period)["base"].gains.kp for period in (1e-3, 0.1))
    posed = robot.copy()
    posed.update(robot.model.nominal)
    height = posed.com[2] - min(posed.pose(foot)[2, 3] for foot in robot.model.feet)
    assert usual == pytest.approx(9 * 9.81 / height)
    assert slow == pytest.approx((2 * np.pi * 0.5) ** 2)


def test_a_robot_without_feet_is_told_what_to_do() -> None:
    model = wbc.load("quadruped").model.replace(feet=())
    with pytest.raises(wbc.WbcError, match=r"has no feet to stand on: name them, wbc.load\(..., feet="):
        stacks.standing(wbc.load(model))
    with pytest.raises(wbc.WbcError, match="a stack needs a robot of wbc.load"):
        stacks.standing("quadruped")
    with pytest.raises(wbc.WbcError, match="has no hand: name a frame"):
        stacks.reaching(wbc.load("quadruped"))


def test_an_arm_without_limits_and_with_two_joints_on_its_base_has_a_stack(tmp_path) -> None:
    pytest.importorskip("mujoco")
    path = tmp_path / "stage.xml"
    path.write_text(
        """<mujoco><worldbody><body name="stage"><joint name="x" type="slide" axis="1 0 0"/>
        <joint name="y" type="slide" axis="0 1 0"/><geom size="0.1" pos="0 0 0.2" mass="2"/></body></worldbody>
        <actuator><motor joint="x"/><motor joint="y"/></actuator></mujoco>"""
    )
    assert "joint limits" not in [task.name for task in stacks.standing(wbc.load(path))]
    assert try_robot(str(path), seconds=0.2).stood


def test_an_arm_whose_fingers_hang_on_one_tendon_holds() -> None:
    pytest.importorskip("mujoco")
    gripper = """<mujoco><compiler autolimits="true"/><worldbody>
      <body name="upper"><geom size="0.05" pos="0.2 0 0" mass="1"/><joint name="shoulder" axis="0 1 0"/>
      <body name="hand" pos="0.4 0 0"><geom size="0.05" mass="0.5"/>
      <joint name="wrist" axis="0 1 0"/>
      <body name="l" pos="0.1 0.05 0">
        <joint name="left" type="slide" axis="0 1 0"/><geom size="0.02" mass="0.1"/></body>
      <body name="r" pos="0.1 -0.05 0">
        <joint name="right" type="slide" axis="0 -1 0"/><geom size="0.02" mass="0.1"/></body>
      </body></body></worldbody>
      <tendon><fixed name="both"><joint joint="left" coef="0.5"/><joint joint="right" coef="0.5"/></fixed></tendon>
      <equality><joint name="alike" joint1="left" joint2="right"/></equality>
      <actuator><motor joint="shoulder" ctrlrange="-50 50"/><motor joint="wrist" ctrlrange="-20 20"/>
      <motor tendon="both" ctrlrange="-20 20"/></actuator></mujoco>"""
    import mujoco

    robot = wbc.load(mujoco.MjModel.from_xml_string(gripper))
    for stack in (tasks.stacks.holding(robot), tasks.stacks.arm(robot, "hand")):
        log = wbc.run(wbc.Controller(robot, stack), wbc.Simulator(robot), duration=0.2)
        assert log.ended == "finished"
        assert np.abs(log.q[-1] - robot.model.nominal).max() < 1e-3


def test_feet_do_not_press_sideways_against_each_other(tmp_path) -> None:
    """MuJoCo's friction yields: a foot that is pressed sideways creeps, the faster the softer the ground is."""
    pytest.importorskip("mujoco")
    spread = {f"{leg}_roll": 0.3 if leg[1] == "L" else -0.3 for leg in ("FL", "FR", "HL", "HR")}
    (tmp_path / "dog.xml").write_text(dog())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        robot = wbc.load(tmp_path / "dog.xml", nominal=spread)
    solution = wbc.Controller(robot, stacks.standing(robot)).step(robot.model.nominal, np.zeros(robot.nv))
    forces = np.array(list(solution.forces.values()))
    assert forces[:, 2].sum() == pytest.approx(9.81 * robot.mass)
    assert np.abs(forces[:, :2]).max() < 0.02 * forces[:, 2].min()


def test_an_arm_is_not_shaken_to_keep_the_limits_of_its_fingers(tmp_path) -> None:
    pytest.importorskip("mujoco")
    finger = '<body name="{0}"><joint name="{0}" axis="0 1 0" range="-.1 .1"/><geom size=".02" mass=".1"/></body>'
    joints = "".join(
        f'<body name="{name}" pos="{x} 0 0"><joint name="{name}" axis="{axis}" range="-2 2"/>'
        '<geom type="capsule" size=".02" fromto="0 0 0 .2 0 0" mass=".5"/>'
        for name, x, axis in (("a", 0, "0 0 1"), ("b", 0.2, "0 1 0"), ("c", 0.2, "0 1 0"), ("d", 0.2, "1 0 0"))
    )
    motors = "".join(f'<motor joint="{name}" ctrlrange="-40 40"/>' for name in ("a", "b", "c", "d", "left", "right"))
    robot = load(
        tmp_path,
        '<mujoco><compiler angle="radian" autolimits="true"/><worldbody>'
        f"{joints}{finger.format('left')}{finger.format('right')}</body></body></body></body></worldbody>"
        f"<actuator>{motors}</actuator></mujoco>",
        "arm.xml",
    )
    limits = stacks.arm(robot, "d")["joint limits"]
    assert limits.row_names(robot, wbc.Tick(robot)) == ["a", "b", "c", "d"]


def test_a_motor_that_turns_a_hip_through_gears_is_the_legs(tmp_path) -> None:
    """Held still as a joint of the arms, it would lock the leg."""
    text = biped().replace("</robot>", "")
    inertia = '<inertia ixx="1e-4" iyy="1e-4" izz="1e-4"/>'
    part = f'<link name="{{0}}_gear"><inertial><mass value=".1"/>{inertia}</inertial></link>'
    joint = (
        '<joint name="{0}_drive" type="revolute"><parent link="trunk"/><child link="{0}_gear"/><axis xyz="0 0 1"/>'
        '<limit lower="-2" upper="2" effort="50" velocity="9"/></joint>'
    )
    for side in ("left", "right"):
        text += part.format(side) + joint.format(side)
    robot = load(tmp_path, text + "</robot>", "geared.urdf")
    quiet = stacks.standing(robot)["arms"].joints
    assert "left_drive" in quiet
    gears = [wbc.JointCoupling({f"{side}_hip_yaw": 1.0}, {f"{side}_drive": 1.0}) for side in ("left", "right")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        geared = wbc.load(tmp_path / "geared.urdf", loops=gears)
    assert set(stacks.standing(geared)["arms"].joints) == set(quiet) - {"left_drive", "right_drive"}


def test_a_pelvis_below_a_waist_is_no_reaction_wheel(tmp_path) -> None:
    """Its waist was left to the legs: at the edge of the soles the pelvis swung at 21 rad/s, and ToddlerBot fell."""
    pytest.importorskip("mujoco")
    text = biped().replace("</robot>", "")
    for side in ("left", "right"):
        text = text.replace(
            f'<parent link="trunk"/><child link="{side}_hip_yaw_link"/>',
            f'<parent link="pelvis"/><child link="{side}_hip_yaw_link"/>',
        )
    text += LINK.format(name="pelvis", at="0 0 0", mass=1, size="0.1 0.1 0.1")
    ends = {"parent": "trunk", "child": "pelvis", "at": "0 0 0", "axis": "1 0 0", "lower": -1, "upper": 1}
    text += JOINT.format(name="waist", **ends)
    robot = load(tmp_path, text + "</robot>", "walker.urdf")
    quiet = stacks.standing(robot)["arms"].joints
    assert "waist" in quiet and "left_hip_yaw" not in quiet
    log = pushed(robot, share=0.25)
    assert log.ended == "finished" and np.abs(log.v[:, 6:]).max() < 5.0  # 21 rad/s
    assert np.linalg.norm(log.q[-1, :3] - log.q[0, :3]) < 0.02


def test_a_light_wrist_that_is_pushed_is_braked_and_the_arm_does_not_swing_instead(tmp_path) -> None:
    """Its limits, 6 rad away, left it 370 rad/s²; a UR5e's hand came 0.9 m off."""
    pytest.importorskip("mujoco")
    joints = [("a", "0 0 0", "0 0 1", 1.0), ("b", "0 0 .1", "0 1 0", 4.0), ("c", "0 0 .4", "0 1 0", 3.0)]
    joints += [("d", "0 0 .4", "0 1 0", 0.3), ("e", "0 .1 0", "0 0 1", 0.2), ("f", "0 0 .1", "0 1 0", 0.1)]
    bodies = "".join(
        f'<body name="{name}" pos="{at}"><joint name="{name}" axis="{axis}" range="-6.28 6.28"/>'
        f'<geom type="capsule" size=".03" fromto="0 0 0 {next_at}" mass="{mass}"/>'
        for (name, at, axis, mass), next_at in zip(
            joints, ["0 0 .1", "0 0 .4", "0 0 .4", "0 .1 0", "0 0 .1", "0 .1 0"], strict=True
        )
    )
    motors = "".join(
        f'<motor joint="{name}" ctrlrange="-{most} {most}"/>'
        for (name, *_), most in zip(joints, (150, 150, 150, 28, 28, 28), strict=True)
    )
    robot = load(
        tmp_path,
        '<mujoco><compiler angle="radian" autolimits="true"/><worldbody>'
        f'{bodies}<site name="hand" pos="0 .15 0"/>{"</body>" * 6}</worldbody><actuator>{motors}</actuator>'
        '<keyframe><key qpos="0.3 0.6 1.2 -0.5 0.8 0.5"/></keyframe></mujoco>',
        "arm.xml",
    )
    controller = wbc.Controller(robot, stacks.arm(robot, "hand"))
    log = wbc.run(controller, make_plant(robot, "mujoco"), 0.8, disturbances=Push("hand", (0.0, 10.0, 0.0), 0.1, 0.2))
    off = np.linalg.norm(log.errors["hand"][:, :3], axis=1)
    assert off.max() < 0.1 and off[-1] < 1e-3  # 0.4 m, and 0.06 m at the end
