"""The packaged robots, read by the standard library and Pinocchio: what the files say, whoever reads them."""

import importlib.util
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import scipy.spatial

pin = pytest.importorskip("pinocchio")

ROOT = Path(__file__).resolve().parents[2]
WHEELED = ["diffdrive", "omni", "wheeled_quadruped"]
NAMES = ["planar_arm", "arm", "quadruped", "humanoid", *WHEELED]
FLOATING = ["quadruped", "humanoid", *WHEELED]


def load_generator():
    spec = importlib.util.spec_from_file_location("make_robots", ROOT / "scripts" / "make_robots.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up here
    spec.loader.exec_module(module)
    return module


generator = load_generator()


def path(name):
    return ROOT / "wbc" / "model" / "robots" / f"{name}.urdf"


def xml(name):
    return ET.parse(path(name)).getroot()


def numbers(words):
    return np.array([float(word) for word in words.split()])


def moving(name):
    return [joint for joint in xml(name).findall("joint") if joint.get("type") != "fixed"]


def standing(name):
    """The feet and wheels."""
    return [foot.get("link") for tag in ("foot", "wheel") for foot in xml(name).findall(f"wbc/{tag}")]


def nominal(name):
    """The nominal configuration: base (position and quaternion w, x, y, z), and joints by name."""
    element = xml(name).find("wbc/nominal")
    return numbers(element.get("base")), {j.get("name"): float(j.get("position")) for j in element.findall("joint")}


def pinocchio_at_nominal(name):
    """Model, data and configuration with the frames and the centre of mass of the nominal configuration computed."""
    floating = [pin.JointModelFreeFlyer()] if name in FLOATING else []
    model = pin.buildModelFromUrdf(str(path(name)), *floating)
    base, joints = nominal(name)
    q = pin.neutral(model)
    if floating:
        q[:7] = [*base[:3], *base[4:], base[3]]
    for joint, position in joints.items():
        q[model.joints[model.getJointId(joint)].idx_q] = position
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    pin.centerOfMass(model, data, q)
    return model, data, q


def frame(model, data, name):
    assert model.existFrame(name), name
    return data.oMf[model.getFrameId(name)]


@pytest.mark.parametrize("name", NAMES)
def test_files_are_what_the_generator_writes(name):
    assert generator.urdf(getattr(generator, name)()) == path(name).read_text(encoding="utf-8")


def test_check_notices_a_file_that_differs(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(generator, "FOLDER", tmp_path)
    assert generator.main(["--check"]) == 1
    assert generator.main([]) == 0
    assert generator.main(["--check"]) == 0
    (tmp_path / "arm.urdf").write_text("<robot/>", encoding="utf-8")
    capsys.readouterr()
    assert generator.main(["--check"]) == 1
    assert capsys.readouterr().out == "differs: arm.urdf\n"


@pytest.mark.parametrize(
    ("name", "joints", "mass", "tolerance"),
    [
        ("planar_arm", 3, 13.0, 1e-9),
        ("arm", 7, 19.0, 1.0),
        ("quadruped", 12, 30.0, 1.5),
        ("humanoid", 31, 60.0, 2.0),
        ("diffdrive", 2, 20.0, 1.0),
        ("omni", 4, 20.0, 1.0),
        ("wheeled_quadruped", 16, 33.0, 1.0),
    ],
)
def test_joints_and_total_mass(name, joints, mass, tolerance):
    assert len(moving(name)) == joints
    total = sum(float(element.get("value")) for element in xml(name).iter("mass"))
    assert total == pytest.approx(mass, abs=tolerance)
    if name in FLOATING:
        assert pin.computeTotalMass(pinocchio_at_nominal(name)[0]) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_names_are_unique_and_the_root_is_the_base(name):
    root = xml(name)
    links = [link.get("name") for link in root.findall("link")]
    joints = [joint.get("name") for joint in root.findall("joint")]
    assert len(set(links)) == len(links)
    assert len(set(joints)) == len(joints)
    assert set(links) - {joint.find("child").get("link") for joint in root.findall("joint")} == {"base"}


@pytest.mark.parametrize("name", NAMES)
def test_inertias_are_those_of_real_bodies(name):
    links = {link.get("name"): link for link in xml(name).findall("link")}
    for joint in moving(name):
        assert links[joint.find("child").get("link")].find("inertial") is not None, joint.get("name")
    for label, link in links.items():
        inertial = link.find("inertial")
        if inertial is None:
            continue
        assert float(inertial.find("mass").get("value")) > 0, label
        i = {key: float(value) for key, value in inertial.find("inertia").attrib.items()}
        matrix = [[i["ixx"], i["ixy"], i["ixz"]], [i["ixy"], i["iyy"], i["iyz"]], [i["ixz"], i["iyz"], i["izz"]]]
        principal = np.linalg.eigvalsh(matrix)
        assert principal[0] > 0, label
        assert principal[0] + principal[1] > principal[2], label


def test_inertia_of_a_link_is_the_sum_over_its_shapes():
    """Two boxes side by side are one box; a rod along x has its length across y and z; a motor has its own mass."""

    def inertial(mass, *shapes):
        link = generator.Link("link", mass)
        link.made_of(*shapes)
        return link.inertial()

    _, com, inertia = inertial(2.0, *(generator.box((0.1, 0.2, 0.3), (x, 0, 0.5), "shell") for x in (0.05, 0.15)))
    _, _, whole = inertial(2.0, generator.box((0.2, 0.2, 0.3), (0.1, 0, 0.5), "shell"))
    np.testing.assert_allclose(com, [0.1, 0, 0.5], atol=1e-15)
    np.testing.assert_allclose(inertia, whole, atol=1e-15)
    np.testing.assert_allclose(np.diag(whole), np.array([0.13, 0.13, 0.08]) / 6, atol=1e-15)
    rod = generator.rod((0, 0, 0), (2, 0, 0), 0.1, "shell")
    np.testing.assert_allclose(inertial(3.0, rod)[2], np.diag([0.015, 1.0075, 1.0075]), atol=1e-12)
    motor = generator.ball(0.1, (4, 0, 0), "dark", 1.0)
    mass, com, inertia = inertial(4.0, rod, motor)
    assert mass == 4.0
    np.testing.assert_allclose(com, [1.75, 0, 0])
    np.testing.assert_allclose(np.diag(inertia), [0.019, 1.0115 + 0.75 * 9, 1.0115 + 0.75 * 9])


@pytest.mark.parametrize("name", NAMES)
def test_limits_armature_and_nominal_configuration(name):
    base, position = nominal(name)
    armature = {j.get("name"): float(j.get("armature")) for j in xml(name).findall("wbc/joint")}
    assert list(position) == list(armature) == [joint.get("name") for joint in moving(name)]
    assert min(armature.values()) >= 0
    assert np.linalg.norm(base[3:]) == pytest.approx(1)
    for joint in moving(name):
        limit = {key: float(value) for key, value in joint.find("limit").attrib.items()}
        if joint.get("type") == "revolute":
            assert limit["lower"] <= 0 <= limit["upper"] or "quadruped" in name, joint.get("name")
            margin = min(position[joint.get("name")] - limit["lower"], limit["upper"] - position[joint.get("name")])
            assert margin > 0.15, joint.get("name")
        assert limit["effort"] > 0
        assert limit["velocity"] > 0
        assert float(joint.find("dynamics").get("friction")) == 0


@pytest.mark.parametrize("name", NAMES)
def test_motors_hold_the_nominal_configuration(name):
    """With gravity shared by the feet, or wheels, no joint needs half of its torque to stay where it is."""
    model, data, q = pinocchio_at_nominal(name)
    torque = pin.computeGeneralizedGravity(model, data, q)
    feet = standing(name)
    for foot in feet:
        J = pin.computeFrameJacobian(model, data, q, model.getFrameId(foot), pin.LOCAL_WORLD_ALIGNED)
        torque -= J[2] * pin.computeTotalMass(model) * 9.81 / len(feet)
    actuated = slice(6 if feet else 0, None)
    assert np.all(np.abs(torque[actuated]) < 0.5 * model.effortLimit[actuated])


@pytest.mark.parametrize(("name", "clearance"), [("quadruped", 0.025), ("humanoid", 0.0)])
def test_stands_on_its_feet(name, clearance):
    model, data, _ = pinocchio_at_nominal(name)
    points = []
    for foot in xml(name).findall("wbc/foot"):
        placement = frame(model, data, foot.get("link"))
        np.testing.assert_allclose(placement.translation[2], clearance, atol=1e-8)
        corners = numbers(foot.get("corners", "0 0")).reshape(-1, 2)
        points += [placement.act(np.array([*corner, 0.0])) for corner in corners]
        if len(corners) > 1:
            np.testing.assert_allclose(placement.rotation, np.eye(3), atol=1e-9)  # the sole lies flat
    points = np.array(points)
    np.testing.assert_allclose(points[:, 2], clearance, atol=1e-8)
    middle = points[:, :2].mean(axis=0)
    np.testing.assert_allclose(data.com[0][:2], middle, atol=1e-3)
    assert np.all(np.abs(points[:, :2] - middle).min(axis=0) > 0.04)  # which is well inside of the support


@pytest.mark.parametrize("name", WHEELED)
def test_stands_on_its_wheels(name):
    """Each touches the ground, collides as what it is said to be, and the centre of mass is between them."""
    model, data, _ = pinocchio_at_nominal(name)
    links, points = {link.get("name"): link for link in xml(name).findall("link")}, []
    for wheel in xml(name).findall("wbc/wheel"):
        placement, radius = frame(model, data, wheel.get("link")), float(wheel.get("radius"))
        np.testing.assert_allclose(placement.translation[2], radius, atol=1e-8)
        points.append(placement.translation[:2])
        (collision,) = links[wheel.get("link")].findall("collision")
        shape = collision.find("geometry")[0]
        assert shape.tag == ("sphere" if wheel.get("castor") else "cylinder")
        assert float(shape.get("radius")) == radius
        joint = next((j for j in moving(name) if j.find("child").get("link") == wheel.get("link")), None)
        if joint is not None:
            axle, axis = numbers(wheel.get("axle", "0 1 0")), numbers(joint.find("axis").get("xyz"))
            np.testing.assert_allclose(axle, axis)
            assert joint.get("type") == "continuous"
    inside = scipy.spatial.Delaunay(np.array(points)).find_simplex(data.com[0][:2]) >= 0
    assert inside


@pytest.mark.parametrize("name", FLOATING)
def test_feet_collide_where_the_contact_is_said_to_be(name):
    root = xml(name)
    links = {link.get("name"): link for link in root.findall("link")}
    for foot in root.findall("wbc/foot"):
        (collision,) = links[foot.get("link")].findall("collision")
        at, shape = numbers(collision.find("origin").get("xyz")), collision.find("geometry")[0]
        if "corners" not in foot.attrib:
            assert shape.tag == "sphere"
            np.testing.assert_allclose(at, 0)
            continue
        half = numbers(shape.get("size")) / 2
        corners = numbers(foot.get("corners")).reshape(-1, 2)
        np.testing.assert_allclose(np.abs(corners), np.tile(half[:2], (4, 1)))
        np.testing.assert_allclose(at, [0, 0, half[2]])  # the sole is the underside of the box


def test_humanoid_is_symmetric_and_has_hands():
    model, data, _ = pinocchio_at_nominal("humanoid")
    assert [hand.get("link") for hand in xml("humanoid").findall("wbc/hand")] == ["left_hand", "right_hand"]
    for part in ("foot", "hand", "shank", "forearm"):
        left, right = (frame(model, data, f"{side}_{part}").translation for side in ("left", "right"))
        np.testing.assert_allclose(left, right * [1, -1, 1], atol=1e-9)
    assert abs(data.com[0][1]) < 1e-9
    assert 1.5 < frame(model, data, "head").translation[2] + 0.19 < 1.7  # the top of the head


def test_arm_reaches_0_85_m():
    """The shoulder is the point that joints 1 to 3 leave where it is; stretched out, the flange is farthest from it."""
    model = pin.buildModelFromUrdf(str(path("arm")))
    data = model.createData()
    flange, shoulder = model.getFrameId("flange"), model.getFrameId("link_2")
    rng = np.random.default_rng(0)
    farthest = 0.0
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    for q in [pin.neutral(model), *rng.uniform(lower, upper, (500, model.nq))]:
        pin.framesForwardKinematics(model, data, q)
        distance = np.linalg.norm(data.oMf[flange].translation - data.oMf[shoulder].translation)
        farthest = max(farthest, distance)
    assert farthest == pytest.approx(0.85, abs=0.03)
    assert model.existFrame("tool")


@pytest.mark.parametrize("q", [(0.0, 0.0, 0.0), (np.pi / 6, np.pi / 3, np.pi / 3), (0.4, -1.3, 2.2)])
def test_planar_arm_is_that_of_the_lecture_notes(q):
    """ETH (2.141), (2.142), (2.186) and (2.187) with l0 = l1 = l2 = l3 = 1."""
    model = pin.buildModelFromUrdf(str(path("planar_arm")))
    data = model.createData()
    angles = np.cumsum(q)
    J = pin.computeFrameJacobian(model, data, np.array(q), model.getFrameId("end_effector"), pin.LOCAL_WORLD_ALIGNED)
    pin.framesForwardKinematics(model, data, np.array(q))
    tip = frame(model, data, "end_effector")
    s, c = np.sin(angles), np.cos(angles)
    np.testing.assert_allclose(tip.translation, [s.sum(), 0, 1 + c.sum()], atol=1e-12)
    np.testing.assert_allclose(tip.rotation, [[c[2], 0, s[2]], [0, 1, 0], [-s[2], 0, c[2]]], atol=1e-12)
    x_row, z_row = np.cumsum(c[::-1])[::-1], -np.cumsum(s[::-1])[::-1]
    np.testing.assert_allclose(J, [x_row, 0 * x_row, z_row, 0 * x_row, np.ones(3), 0 * x_row], atol=1e-12)


def test_planar_arm_gives_the_printed_velocities():
    """ETH (2.224) and (2.225), at the nominal configuration."""
    model, data, q = pinocchio_at_nominal("planar_arm")
    J = pin.computeFrameJacobian(model, data, q, model.getFrameId("end_effector"), pin.LOCAL_WORLD_ALIGNED)[[0, 2]]
    np.testing.assert_allclose(J, 0.5 * np.array([[0, -np.sqrt(3), -np.sqrt(3)], [-4, -3, -1]]), atol=1e-8)
    np.testing.assert_allclose(np.linalg.pinv(J) @ [1, 1], [0.069, -0.560, -0.595], atol=5e-4)


def mujoco_at_nominal(name):
    mujoco = pytest.importorskip("mujoco")
    spec = mujoco.MjSpec.from_file(str(path(name)))
    if name in FLOATING:
        spec.body("base").add_freejoint(name="root")
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1], pos=[0, 0, 1e-6])
    model = spec.compile()
    data = mujoco.MjData(model)
    base, joints = nominal(name)
    if name in FLOATING:
        data.qpos[:7] = base
    for joint, position in joints.items():
        data.joint(joint).qpos = position
    mujoco.mj_forward(model, data)
    return mujoco, model, data


def touching(model, data):
    return {tuple(model.body(model.geom_bodyid[geom]).name for geom in contact.geom) for contact in data.contact}


@pytest.mark.parametrize("name", NAMES)
def test_mujoco_reads_it_and_it_touches_nothing_but_the_floor(name):
    _, model, data = mujoco_at_nominal(name)
    assert touching(model, data) == {("world", foot) for foot in standing(name)}
    if name not in WHEELED:  # how many points a cylinder has is MuJoCo's affair
        assert len(data.contact) == {"quadruped": 4, "humanoid": 8}.get(name, 0)
    bodies = {model.body(index).name for index in range(model.nbody)}
    assert bodies == {"world", *(link.get("name") for link in xml(name).findall("link"))}  # no frame was fused away


@pytest.mark.parametrize("name", FLOATING)
def test_stands_in_mujoco_with_stiff_joints(name):
    """For 2 s, on its feet alone, within the torques that the file gives."""
    mujoco, model, data = mujoco_at_nominal(name)
    height, target = data.subtree_com[0][2], data.qpos[7:].copy()
    largest = model.jnt_actfrcrange[1:, 1]
    np.testing.assert_allclose(largest, [float(j.find("limit").get("effort")) for j in moving(name)])
    stiffness = 12 * largest
    model.dof_damping[6:] += 0.03 * stiffness  # MuJoCo integrates damping implicitly, so that light wrists are stable
    for _ in range(round(2 / model.opt.timestep)):
        data.qfrc_applied[6:] = stiffness * (target - data.qpos[7:])
        assert np.all(np.abs(data.qfrc_applied[6:]) < 0.5 * largest)
        mujoco.mj_step(model, data)
    assert touching(model, data) == {("world", foot) for foot in standing(name)}
    assert abs(data.subtree_com[0][2] - height) < 0.02
    assert np.abs(data.qvel).max() < 0.05
