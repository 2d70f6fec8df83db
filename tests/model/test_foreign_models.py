"""Robots out of `mujoco.MjModel` and `pinocchio.Model`: the numpy backend says of them what their own library says."""

import importlib
import sys
import warnings

import numpy as np
import pytest

import wbc

TOLERANCE = 1e-9


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=TOLERANCE * max(1.0, float(np.abs(theirs).max(initial=0.0))))


# --- MuJoCo

MJCF = """
<mujoco model="odd">
  <compiler angle="radian"/>
  <option gravity="0.3 -0.2 -9.5"/>
  <worldbody>
    <site name="beacon" pos="1 2 3"/>
    <body name="post" pos="0.2 0 0.1" quat="0.9 0.1 0.2 0.3"><geom type="box" size="0.1 0.1 0.1" mass="7"/></body>
    <body name="trunk" pos="0.1 0.2 0.3" quat="0.8 0 0.6 0">
      <freejoint name="root"/>
      <inertial pos="0.03 -0.02 0.01" quat="0.7 0.1 0.2 0.3" mass="5" diaginertia="0.1 0.08 0.05"/>
      <site name="imu" pos="0.1 0 0.02" quat="0.5 0.5 0.5 0.5"/>
      <body name="hip" pos="0.2 0.1 -0.05" quat="0.9 0.1 -0.3 0.2">
        <joint name="x" type="hinge" axis="1 0 0.2" pos="0.01 0.02 0.03" ref="0.4" armature="0.02" damping="0.3"
          range="-1 1.5" limited="true"/>
        <joint name="slide" type="slide" axis="0 1 1" pos="0.3 0 0" ref="-0.2" stiffness="40" springref="0.1"/>
        <joint name="z" type="hinge" axis="0 0.3 1" pos="-0.05 0.02 0.01" stiffness="3" springref="0.2" damping="0.1"/>
        <inertial pos="0.01 0 -0.1" mass="1.5" fullinertia="0.02 0.03 0.015 0.001 -0.002 0.003"/>
        <body name="shin" pos="0 0.05 -0.3">
          <joint name="ball" type="ball" pos="0.02 0.01 0.05" armature="0.01" damping="0.2"/>
          <geom type="capsule" size="0.03 0.1" mass="0.8"/>
          <body name="foot" pos="0 0 -0.2" quat="0.9 0.2 0 0.1">
            <geom type="box" size="0.05 0.03 0.02" mass="0.3"/>
            <site name="sole" pos="0.01 0 -0.02"/>
          </body>
          <body pos="0.1 0 0"><joint axis="0 1 0"/><geom type="sphere" size="0.04" mass="0.2"/></body>
        </body>
      </body>
    </body>
    <body name="pendulum" pos="1 0 1">
      <joint name="swing" type="hinge" axis="0 1 0" pos="0 0 0.4" ref="-1"/>
      <geom type="cylinder" size="0.02 0.3" mass="0.7"/>
    </body>
    <body name="top" pos="-1 0 1">
      <joint name="spin" type="ball"/>
      <geom type="box" size="0.1 0.2 0.05" mass="0.4"/>
    </body>
  </worldbody>
  <actuator>
    <motor name="mx" joint="x" gear="2" ctrllimited="true" ctrlrange="-3 3"/>
    <position name="ps" joint="slide" kp="100" forcelimited="true" forcerange="-20 20"/>
    <motor name="mz1" joint="z" gear="-3" forcelimited="true" forcerange="-5 5"/>
    <motor name="mz2" joint="z" forcelimited="true" forcerange="-1 1"/>
    <motor name="bx" joint="ball" gear="1 0 0"/>
    <motor name="by" joint="ball" gear="0 1 0"/>
    <motor name="bz" joint="ball" gear="0 1 1"/>
  </actuator>
</mujoco>
"""


def mujoco_state(mujoco, m, seed):
    """MuJoCo's data in a random state, its quaternions unit."""
    rng = np.random.default_rng(seed)
    d = mujoco.MjData(m)
    moved = rng.normal(size=m.nv)
    mujoco.mj_integratePos(m, d.qpos, moved, 1.0)
    d.qvel[:] = rng.normal(size=m.nv)
    mujoco.mj_forward(m, d)
    return d


def full_matrix(mujoco, m, d, M):
    """Writes the mass matrix of a state; older versions of MuJoCo take other arguments."""
    if tuple(map(int, mujoco.__version__.split(".")[:2])) < (3, 10):
        mujoco.mj_fullM(m, M, d.qM)
    else:
        mujoco.mj_fullM(m, d, M)


def compare_with_mujoco(mujoco, m, robot, seed, spring_free=()):
    d = mujoco_state(mujoco, m, seed)
    robot.update(d.qpos, d.qvel)
    M = np.zeros((m.nv, m.nv))
    full_matrix(mujoco, m, d, M)
    close(robot.mass_matrix, M)
    close(robot.passive_force, d.qfrc_passive)
    close(robot.bias, d.qfrc_bias - d.qfrc_passive)
    moving = m.body_weldid != 0
    close(robot.mass, m.body_mass[moving].sum())
    close(robot.com, m.body_mass[moving] @ d.xipos[moving] / m.body_mass[moving].sum())
    for frame in robot.frames:
        J = np.zeros((6, m.nv))
        if frame in {m.site(n).name for n in range(m.nsite)}:
            position, matrix = d.site(frame).xpos, d.site(frame).xmat
            mujoco.mj_jacSite(m, d, J[:3], J[3:], m.site(frame).id)
        else:
            number = next(n for n in range(m.nbody) if (m.body(n).name or f"body_{n}") == frame)
            position, matrix = d.xpos[number], d.xmat[number]
            mujoco.mj_jacBody(m, d, J[:3], J[3:], number)
        close(robot.jacobian(frame), J)
        close(robot.pose(frame)[:3, 3], position)
        close(robot.pose(frame)[:3, :3].ravel(), matrix)
    close(robot.integrate(d.qpos, d.qvel, 0.1), moved_on(mujoco, m, d, 0.1))


def moved_on(mujoco, m, d, dt):
    q = d.qpos.copy()
    mujoco.mj_integratePos(m, q, d.qvel, dt)
    return q


@pytest.fixture(scope="module")
def odd():
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(MJCF)
    return mujoco, m, wbc.load(m, backend="numpy")


@pytest.mark.parametrize("seed", range(4))
def test_mujoco_model_agrees_with_mujoco(odd, seed):
    mujoco, m, robot = odd
    compare_with_mujoco(mujoco, m, robot, seed)


def test_mujoco_model_has_mujocos_layout(odd):
    _, m, robot = odd
    model = robot.model
    assert (model.nq, model.nv) == (m.nq, m.nv) and model.floating
    assert model.joint_names == ("x", "slide", "z", "ball", "joint_5", "swing", "spin")
    np.testing.assert_array_equal(model.nominal, m.qpos0)
    np.testing.assert_array_equal(model.gravity, m.opt.gravity)
    assert {"beacon", "imu", "sole", "body_6"} < set(model.frame_names)
    assert not any(" at " in name for name in model.frame_names)


def test_mujoco_actuators_say_what_is_driven_and_how_hard(odd):
    _, _, robot = odd
    joints = robot.model.joints
    assert [name for name, joint in joints.items() if joint.actuated] == ["x", "slide", "z", "ball"]
    efforts = {name: joints[name].effort for name in ("x", "slide", "z", "ball", "swing")}
    assert efforts == {"x": 6, "slide": 20, "z": 16, "ball": np.inf, "swing": np.inf}
    assert (joints["x"].lower, joints["x"].upper) == (-1, 1.5) and joints["z"].lower == -np.inf


def test_mujoco_model_is_only_read(odd):
    _, m, _ = odd
    before = m.qpos0.copy(), m.body_pos.copy(), m.opt.gravity.copy()
    robot = wbc.load(m, "numpy")
    robot.update(robot.random(np.random.default_rng(0)))
    for now, then in zip((m.qpos0, m.body_pos, m.opt.gravity), before, strict=True):
        np.testing.assert_array_equal(now, then)
    with pytest.raises(wbc.WbcError, match=r"floating= is for URDF files; an MjModel"):
        wbc.load(m, floating=True)


def simple(joint='type="hinge" name="j"', more="", option=""):
    return f"""<mujoco model="m">{option}<worldbody><body name="b"><joint {joint}/>
      <geom size="0.1" mass="1" pos="0.2 0 0"/></body></worldbody>{more}</mujoco>"""


MOTOR = '<actuator><motor name="m" joint="j" {}/></actuator>'


def test_what_an_actuator_adds_to_its_joint_is_counted():
    """Newer versions of MuJoCo give actuators an armature and a damping of their own, through the gear."""
    mujoco = pytest.importorskip("mujoco")
    if not hasattr(mujoco.MjModel, "actuator_armature"):
        pytest.skip("this MuJoCo has none")
    m = mujoco.MjModel.from_xml_string(simple(more=MOTOR.format('armature="0.3" damping="0.2" gear="-4"')))
    compare_with_mujoco(mujoco, m, wbc.load(m, "numpy"), 0)


@pytest.mark.parametrize("flag", ["gravity", "spring", "damper"])
def test_what_is_switched_off_is_off(flag):
    mujoco = pytest.importorskip("mujoco")
    option = f'<option><flag {flag}="disable"/></option>'
    joint = 'type="hinge" name="j" axis="0 1 0" stiffness="3" damping="2"'
    m = mujoco.MjModel.from_xml_string(simple(joint, MOTOR.format(""), option))
    compare_with_mujoco(mujoco, m, wbc.load(m, "numpy"), 1)


@pytest.mark.parametrize("backend", ["numpy", "pinocchio", "mujoco"])
def test_inertias_that_rounding_makes_asymmetric_are_taken(backend):
    """Thin capsules in odd directions: entries that cancel in R D Rᵀ leave nothing but their rounding."""
    mujoco = pytest.importorskip("mujoco")
    ends = ("0.2 0.2 0", "-0.2 0.2 0", "-0.34 0.01 -0.4", "0.1 0.3 -1e-7", "0 0 -0.3")
    rods = "".join(
        f'<body pos="0 0 {n}"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 {end}" size="0.008"/></body>'
        for n, end in enumerate(ends)
    )
    m = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{rods}</worldbody></mujoco>")
    with pytest.warns(wbc.WbcWarning, match="no actuators"):
        robot = wbc.load(m, backend)
    compare_with_mujoco(mujoco, m, robot, 0)


LEFT_OUT = {
    "no actuators": (simple(), ["no actuators", "actuated", "1 joints"]),
    "asymmetric motor": (
        simple(more=MOTOR.format('forcelimited="true" forcerange="-1 3"')),
        ["stronger one way", "'m'"],
    ),
    "tendon": (
        simple(
            more='<tendon><fixed limited="true" range="0 1"><joint joint="j" coef="1"/></fixed></tendon>'
            + MOTOR.format("")
        ),
        ["left out", "limits of 1 tendons"],
    ),
}


@pytest.mark.parametrize("case", LEFT_OUT)
def test_what_a_mujoco_model_has_beyond_rigid_bodies_is_a_warning(case):
    mujoco = pytest.importorskip("mujoco")
    text, words = LEFT_OUT[case]
    with pytest.warns(wbc.WbcWarning) as caught:
        robot = wbc.load(mujoco.MjModel.from_xml_string(text), "numpy")
    messages = " | ".join(str(warning.message) for warning in caught)
    assert "MuJoCo model 'm'" in messages and caught[0].filename == __file__
    for word in words:
        assert word in messages
    assert all(warning in messages for warning in robot.model.warnings)


BALL = (
    "<actuator>" + "".join(f'<motor joint="j" gear="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1")) + "</actuator>"
)
UNKNOWN_FORCES = {
    "fluid": [
        simple(more=MOTOR.format(""), option='<option density="1"/>'),
        simple(more=MOTOR.format(""), option='<option viscosity="1"/>'),
    ],
    "springs": [
        simple('type="ball" name="j" stiffness="1"', BALL),
        simple('type="hinge" name="j" stiffness="1 2"', MOTOR.format("")),
        simple('type="hinge" name="j" damping="1 2"', MOTOR.format("")),
    ],
    "tendons": [
        simple(more=f'<tendon><fixed name="t" {what}><joint joint="j" coef="1"/></fixed></tendon>' + MOTOR.format(""))
        for what in ('stiffness="3"', 'damping="2"', 'armature="1"')
    ],
}


@pytest.mark.parametrize("word", UNKNOWN_FORCES)
def test_forces_that_only_mujoco_computes_are_refused_elsewhere_or_left_out_by_name(word):
    mujoco = pytest.importorskip("mujoco")
    for text in UNKNOWN_FORCES[word]:
        try:
            m = mujoco.MjModel.from_xml_string(text)
        except ValueError:  # an older version knows no nonlinear springs
            continue
        for backend in ("numpy", "pinocchio"):
            with pytest.raises(wbc.WbcError, match=rf'"mujoco", or without them: ignore=\[\'{word}\'\]'):
                wbc.load(m, backend)
            assert wbc.load(m, backend, ignore=word).model.left_out == ()
        robot = wbc.load(m)
        assert robot.name == "mujoco" and robot.model.left_out == (word,)
        compare_with_mujoco(mujoco, m, robot, 0)
        with pytest.raises(wbc.WbcError, match=f"left out|leaves out: {word}"):
            wbc.MujocoSimulator(robot.model.replace(simulated=None))
        with pytest.raises(wbc.WbcError, match="does not compute"):
            wbc.simulation.Simulator(robot.model.replace(simulated=None))
        assert wbc.MujocoSimulator(m).model.na == robot.na
        assert wbc.MujocoSimulator(robot).mj_model.nu == m.nu  # in its own model, which has these forces
    with pytest.raises(wbc.WbcError, match="no word for what to ignore 'fluids'; did you mean 'fluid'"):
        wbc.load(m, ignore=["fluids"])


@pytest.mark.parametrize("backend", ["numpy", "pinocchio", "mujoco"])
@pytest.mark.parametrize("by_motors", ["false", "true"])
def test_gravity_compensation_is_a_passive_force_on_every_backend(backend, by_motors):
    """Also where MuJoCo lets the motors give it: it comes on top of the torques that are commanded."""
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><body name="base" pos="0 0 1" gravcomp="0.3"><freejoint/>
        <inertial mass="2" pos="0.1 0 0.2" diaginertia="0.1 0.1 0.1"/>
        <body name="arm" gravcomp="1.5"><joint name="j" axis="0 1 0" pos="0.1 0 0" actuatorgravcomp="{by_motors}"/>
        <geom type="box" size="0.1 0.2 0.3" pos="0.2 0.1 0" mass="1"/>
        <body pos="0.3 0 0" gravcomp="-0.5"><geom type="sphere" size="0.1" pos="0.3 0 0" mass="1"/></body>
        </body></body></worldbody><actuator><motor joint="j"/></actuator></mujoco>"""
    )
    robot = wbc.load(m, backend)
    d = mujoco_state(mujoco, m, 3)
    robot.update(d.qpos, d.qvel)
    M = np.zeros((m.nv, m.nv))
    full_matrix(mujoco, m, d, M)
    close(robot.mass_matrix, M)
    close(robot.passive_force, d.qfrc_gravcomp)
    close(robot.bias, d.qfrc_bias - d.qfrc_gravcomp)
    close(robot.forward_dynamics(d.qpos, d.qvel, [0.0]), d.qacc)
    close(robot.inverse_dynamics(d.qpos, d.qvel, d.qacc), np.zeros(m.nv))
    robot.update(d.qpos)
    close(robot.gravity_force, robot.bias)
    at_rest, vdot, energies = robot.bias.copy(), np.arange(1.0, 8.0), []
    for sign in (1, -1):
        robot.update(robot.integrate(d.qpos, sign * 1e-5 * vdot))
        energies.append(robot.potential_energy)
    assert np.isclose((energies[0] - energies[1]) / 2e-5, at_rest @ vdot, rtol=1e-6)
    plant = wbc.MujocoSimulator(m)
    plant.reset(d.qpos, d.qvel)
    plant.apply([2.0])
    plant.step()
    close(plant.mj_data.qacc, robot.forward_dynamics(d.qpos, d.qvel, [2.0]))


def test_a_compensated_robot_of_ours_is_simulated_as_such():
    pytest.importorskip("mujoco")
    post, arm = wbc.Body("post", 2.0), wbc.Body("arm", 1.0, [0.3, 0, 0], 0.01 * np.eye(3), compensation=0.8)
    robot = wbc.load(
        wbc.Model(
            "m",
            [post, arm],
            [wbc.Joint("fix", "fixed", "world", "post"), wbc.Joint("j", "revolute", "post", "arm", axis=[0, 1, 0])],
        ),
        "numpy",
    )
    robot.update([0.0])
    close(robot.gravity_force, [-0.2 * 0.3 * 9.81])
    plant = wbc.MujocoSimulator(robot)
    plant.step()
    close(plant.mj_data.qacc, robot.forward_dynamics([0.0], [0.0], [0.0]))
    hand = wbc.Body("hand", 1.0)
    mixed = wbc.Model(
        "m", [arm, hand], [wbc.Joint("j", "revolute", "world", "arm"), wbc.Joint("fix", "fixed", "arm", "hand")]
    )
    with pytest.raises(wbc.WbcError, match=r"move as one with 'arm' have different shares .* compensated, 0, 0\.8"):
        wbc.MujocoSimulator(mixed)


@pytest.mark.parametrize("backend", ["numpy", "pinocchio", "mujoco"])
def test_friction_of_a_mujoco_model_brakes(backend):
    mujoco = pytest.importorskip("mujoco")
    text = simple('type="hinge" name="j" frictionloss="0.3" damping="0.1"', MOTOR.format(""))
    robot = wbc.load(mujoco.MjModel.from_xml_string(text), backend)
    for rate in (2.0, -2.0):
        robot.update([0.1], [rate])
        np.testing.assert_allclose(robot.passive_force, [-0.1 * rate - 0.3 * np.sign(rate)], atol=1e-12)


BEYOND = """<mujoco model="beyond"><option {option}/><worldbody><site name="anchor" pos="1 0 0"/>
  <body name="a"><joint name="j" axis="0 1 0" damping="0.1"/>
    <geom type="capsule" size="0.05 0.2" pos="0 0 0.3" mass="1"/>
    <body name="b" pos="0 0 0.5" {body}><joint name="k" axis="1 0 0" stiffness="2" springref="0.3" ref="0.1"/>
      <geom type="box" size="0.05 0.1 0.2" mass="2"/><site name="tip" pos="0 0 0.2"/></body></body>
  </worldbody><tendon>{tendon}</tendon><actuator><motor joint="j"/><motor joint="k"/></actuator></mujoco>"""

FIXED = '<fixed {}><joint joint="j" coef="1"/><joint joint="k" coef="-2"/></fixed>'
SPATIAL = '<spatial {}><site site="tip"/><site site="anchor"/></spatial>'

BEYOND_RIGID = {
    "spring of a tendon": {"tendon": FIXED.format('stiffness="5" damping="1" springlength="0.2"')},
    "inertia of a tendon": {"tendon": FIXED.format('armature="0.5"')},
    "inertia of a tendon that bends": {"tendon": SPATIAL.format('armature="0.5" stiffness="3" springlength="0.4"')},
    "gravity compensation": {"body": 'gravcomp="1"'},
    "fluid": {"option": 'density="100" viscosity="1"'},
}


@pytest.mark.filterwarnings("ignore::wbc.WbcWarning")
@pytest.mark.parametrize("case", BEYOND_RIGID)
def test_mujoco_backend_computes_what_a_tree_of_rigid_bodies_leaves_out(case):
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(BEYOND.format(**{"option": "", "body": "", "tendon": "", **BEYOND_RIGID[case]}))
    robot = wbc.load(m, "mujoco")
    compare_with_mujoco(mujoco, m, robot, 2)
    q, v, vdot = np.array([0.4, -0.7]), np.array([1.1, -0.3]), np.array([0.8, 2.0])
    for first, second in (("mass_matrix", "bias"), ("bias", "mass_matrix")):  # whatever is asked for first
        robot.update(q, v)
        getattr(robot, first), getattr(robot, second)
        force = robot.mass_matrix @ vdot + robot.bias
        close(robot.inverse_dynamics(q, v, vdot), force)
        close(robot.forward_dynamics(q, v, force), vdot)
    moved = []
    for sign in (1, -1):
        robot.update(q + sign * 1e-5 * vdot)
        moved.append(robot.potential_energy)
    robot.update(q)
    assert np.isclose((moved[0] - moved[1]) / 2e-5, robot.bias @ vdot, rtol=1e-6)


def test_names_that_are_made_up_never_clash():
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body><joint/><geom size="0.1"/><site name="body_1"/></body>
        <body name="body_1"><joint name="joint_0"/><geom size="0.1"/></body></worldbody>
        <actuator><motor joint="joint_0"/></actuator></mujoco>"""
    )
    model = wbc.load(m, "numpy").model
    assert len(set(model.bodies)) == 3 and len(set(model.joints)) == 2 and model.na == 1
    assert model.joints["joint_0"].child == "body_1" and "body_1_site" in model.frames


def test_an_mjcf_file_is_told_from_a_urdf_by_what_is_in_it(tmp_path):
    pytest.importorskip("mujoco")
    path = tmp_path / "robot.urdf"
    path.write_text("<!-- not a <robot> -->" + simple(more=MOTOR.format("")))
    assert wbc.load(path, "numpy").joint_names == ("j",)
    path.write_text("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>")
    with pytest.raises(wbc.WbcError, match="MuJoCo can't read it") as caught:
        wbc.load(str(path))
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


# --- Pinocchio


def random_inertia(pin, rng):
    masses, points = rng.uniform(0.2, 1.0, 5), rng.normal(size=(5, 3)) * 0.2
    com = masses @ points / masses.sum()
    inertia = sum(m * ((r @ r) * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points - com, strict=True))
    return pin.Inertia(float(masses.sum()), com, inertia)


def unbounded(pin, axis):
    joint = pin.JointModelRevoluteUnboundedUnaligned()
    joint.axis = axis
    return joint


def joint_models(pin):
    axis = np.array([0.48, 0.6, 0.64])
    return {
        "rx": pin.JointModelRX(),
        "ry": pin.JointModelRY(),
        "rz": pin.JointModelRZ(),
        "px": pin.JointModelPX(),
        "py": pin.JointModelPY(),
        "pz": pin.JointModelPZ(),
        "turns": pin.JointModelRevoluteUnaligned(axis),
        "slides": pin.JointModelPrismaticUnaligned(axis),
        "endless_x": pin.JointModelRUBX(),
        "endless_y": pin.JointModelRUBY(),
        "endless_z": pin.JointModelRUBZ(),
        "endless": unbounded(pin, axis),
        "spherical": pin.JointModelSpherical(),
        "zyx": pin.JointModelSphericalZYX(),
        "translation": pin.JointModelTranslation(),
        "planar": pin.JointModelPlanar(),
        "free": pin.JointModelFreeFlyer(),
    }


def chain(pin, *names, seed=0, branch=False):
    """A chain of those joints with random placements and bodies, or all of them on the first."""
    rng = np.random.default_rng(seed)
    m, parent = pin.Model(), 0
    for name in names:
        number = m.addJoint(parent, joint_models(pin)[name], pin.SE3.Random(), f"j_{name}")
        m.appendBodyToJoint(number, random_inertia(pin, rng), pin.SE3.Identity())
        m.addBodyFrame(f"b_{name}", number, pin.SE3.Identity(), 0)
        m.addFrame(pin.Frame(f"f_{name}", number, pin.SE3.Random(), pin.FrameType.OP_FRAME))
        if name not in ("free", "planar"):  # whose velocities turn with the body there, and not here
            m.armature[m.joints[number].idx_v : m.joints[number].idx_v + m.joints[number].nv] = rng.uniform(0, 0.1)
        parent = 1 if branch else number
    m.gravity.linear = np.array([0.3, -0.2, -9.5])
    return m


def to_ours(pin, m, q, v, vdot):
    """Pinocchio's coordinates as ours, the velocity's transform T with v_ours = T v_pin, and Ṫ v_pin."""
    ours, T, rate = [], np.eye(m.nv), np.zeros(m.nv)
    for joint in list(m.joints)[1:]:
        at, i = q[joint.idx_q : joint.idx_q + joint.nq], joint.idx_v
        kind = joint.shortname()
        if kind == "JointModelFreeFlyer":
            R = pin.Quaternion(*np.roll(at[3:], 1)).matrix()
            ours += [*at[:3], at[6], *at[3:6]]
            T[i : i + 3, i : i + 3] = R
            rate[i : i + 3] = R @ np.cross(v[i + 3 : i + 6], v[i : i + 3])
        elif kind == "JointModelSpherical":
            ours += [at[3], *at[:3]]
        elif kind == "JointModelPlanar":
            c, s = at[2:]
            R = np.array([[c, -s], [s, c]])
            ours += [*at[:2], np.arctan2(s, c)]
            T[i : i + 2, i : i + 2] = R
            rate[i : i + 2] = v[i + 2] * R @ [-v[i + 1], v[i]]
        elif joint.nq == 2 and joint.nv == 1:
            ours.append(np.arctan2(at[1], at[0]))
        else:
            ours += list(at)
    return np.array(ours), T, rate


def compare_with_pinocchio(pin, m, seed):
    """M, the whole equation of motion and frames, in Pinocchio's coordinates."""
    robot = wbc.load(m, backend="numpy")
    pin.seed(seed)
    rng = np.random.default_rng(seed)
    q, v, a = pin.integrate(m, pin.neutral(m), rng.normal(size=m.nv)), *rng.normal(size=(2, m.nv))
    data = m.createData()
    q_ours, T, rate = to_ours(pin, m, q, v, a)
    robot.update(q_ours, T @ v)
    M, nle = pin.crba(m, data, q), pin.nle(m, data, q, v)
    M = np.triu(M) + np.triu(M, 1).T
    close(T.T @ robot.mass_matrix @ T, M)
    close(T.T @ (robot.bias + robot.mass_matrix @ rate), nle)
    close(T.T @ robot.inverse_dynamics(q_ours, T @ v, T @ a + rate), pin.rnea(m, data, q, v, a))
    pin.framesForwardKinematics(m, data, q)
    for frame in m.frames:
        if frame.name in robot.frames:
            close(robot.pose(frame.name), data.oMf[m.getFrameId(frame.name)].homogeneous)
            J = pin.computeFrameJacobian(m, data, q, m.getFrameId(frame.name), pin.LOCAL_WORLD_ALIGNED)
            close(robot.jacobian(frame.name) @ T, J)
    close(robot.com, pin.centerOfMass(m, data, q))
    return robot


ALL = ("rx", "ry", "rz", "px", "py", "pz", "turns", "slides", "endless_x", "endless_y", "endless_z", "endless")
CHAINS = {
    "every elementary joint": ALL,
    "free flyer and spherical": ("free", "spherical", "rx"),
    "zyx": ("rz", "zyx", "spherical"),
    "translation": ("translation", "zyx", "endless"),
    "planar": ("rx", "planar", "ry"),
    "free flyer in the middle": ("ry", "free", "planar", "turns"),
}


@pytest.mark.parametrize("case", CHAINS)
@pytest.mark.parametrize("seed", [0, 1])
def test_pinocchio_model_agrees_with_pinocchio(case, seed):
    pin = pytest.importorskip("pinocchio")
    robot = compare_with_pinocchio(pin, chain(pin, *CHAINS[case], seed=seed), seed)
    assert {"b_" + name for name in CHAINS[case]} <= set(robot.frames)


def test_pinocchio_tree_agrees_with_pinocchio():
    pin = pytest.importorskip("pinocchio")
    compare_with_pinocchio(pin, chain(pin, "free", "rx", "zyx", "endless", "spherical", branch=True), 3)


def upper(m, ours: str) -> np.ndarray:
    """Limits of a model of Pinocchio's, which version 4 calls otherwise."""
    new, old = {
        "velocity": ("upperVelocityLimit", "velocityLimit"),
        "effort": ("upperEffortLimit", "effortLimit"),
        "friction": ("upperDryFrictionLimit", "friction"),
    }[ours]
    return getattr(m, new if hasattr(m, new) else old)


@pytest.mark.parametrize("name", ["planar_arm", "arm", "quadruped", "humanoid"])
def test_packaged_robots_by_way_of_pinocchio(name):
    pin = pytest.importorskip("pinocchio")
    from wbc.model import packaged_path

    free = [pin.JointModelFreeFlyer()] if name in ("quadruped", "humanoid") else []
    m = pin.buildModelFromUrdf(str(packaged_path(name)), *free)
    m.damping[:], upper(m, "friction")[:] = 0, 0  # Pinocchio's own algorithms leave them out
    robot = compare_with_pinocchio(pin, m, 0)
    ours = wbc.load(name, "numpy")
    assert set(ours.model.frame_names) <= set(robot.frames)
    assert robot.mass == pytest.approx(ours.mass) and robot.na == ours.na
    for joint in ours.joint_names:
        for value in ("lower", "upper", "velocity", "effort"):
            assert getattr(robot.model.joints[joint], value) == getattr(ours.model.joints[joint], value)


def indices(m):
    return [(joint.id, joint.idx_q, joint.idx_v) for joint in list(m.joints)[1:]]


def test_pinocchio_model_is_only_read():
    pin = pytest.importorskip("pinocchio")
    m = chain(pin, *ALL)
    before = indices(m)
    wbc.load(m, "numpy")
    assert indices(m) == before
    with pytest.raises(wbc.WbcError, match=r"floating= is for URDF files; a Model"):
        wbc.load(m, floating=True)


def test_pinocchio_values_of_joints_are_taken_over():
    pin = pytest.importorskip("pinocchio")
    m = chain(pin, "free", "rx", "spherical", "endless")
    m.lowerPositionLimit[7], m.upperPositionLimit[7] = -0.5, 0.7
    upper(m, "velocity")[6], upper(m, "effort")[6], upper(m, "friction")[6] = 2, 30, 6
    m.armature[6], m.damping[6] = 4, 5
    upper(m, "effort")[7:10], upper(m, "velocity")[7:10] = [3, 2, 1], [1, 2, 3]
    joints = wbc.load(m, "numpy").model.joints
    rx, ball, endless = joints["j_rx"], joints["j_spherical"], joints["j_endless"]
    assert (rx.lower, rx.upper, rx.velocity, rx.effort) == (-0.5, 0.7, 2, 30)
    assert (rx.armature, rx.damping, rx.friction) == (4, 5, 6)
    assert (ball.effort, ball.velocity) == (1, 1) and (endless.kind, endless.effort) == ("continuous", np.inf)
    assert [joint.actuated for joint in joints.values()] == [False, True, True, True]
    m.armature[8] += 1
    with pytest.raises(wbc.WbcError, match=r"joint 'j_spherical': its armature \[.*\] differs by direction"):
        wbc.load(m, "numpy")


def unsupported(pin):
    composite = pin.JointModelComposite()
    composite.addJoint(pin.JointModelRX())
    composite.addJoint(pin.JointModelRY())
    return {
        "JointModelComposite": composite,
        "JointModelHX": pin.JointModelHX(0.1),
        "JointModelHelicalUnaligned": pin.JointModelHelicalUnaligned(np.array([0.0, 0.0, 1.0]), 0.1),
        "JointModelUniversal": pin.JointModelUniversal(np.eye(3)[0], np.eye(3)[1]),
    }


@pytest.mark.parametrize(
    "kind", ["JointModelComposite", "JointModelHX", "JointModelHelicalUnaligned", "JointModelUniversal"]
)
def test_pinocchio_joints_without_an_equivalent_are_named(kind):
    pin = pytest.importorskip("pinocchio")
    m = chain(pin, "rx")
    m.addJoint(1, unsupported(pin)[kind], pin.SE3.Identity(), "odd one")
    with pytest.raises(wbc.WbcError, match=f"joint 'odd one' of the Pinocchio model is a {kind}"):
        wbc.load(m, "numpy")


def test_pinocchio_mimic_joint_is_named():
    pin = pytest.importorskip("pinocchio")
    if not hasattr(pin, "transformJointIntoMimic"):
        pytest.skip("this Pinocchio has none")
    m = pin.transformJointIntoMimic(chain(pin, "rx", "ry"), 1, 2, 1.0, 0.0)
    with pytest.raises(wbc.WbcError, match="joint 'j_ry' of the Pinocchio model is a JointModelMimic"):
        wbc.load(m, "numpy")


def test_pinocchio_joints_that_are_not_depth_first_are_a_warning():
    pin = pytest.importorskip("pinocchio")
    m = pin.Model()
    for parent, name in ((0, "a"), (0, "b"), (1, "c")):
        number = m.addJoint(parent, pin.JointModelRX(), pin.SE3.Identity(), name)
        m.appendBodyToJoint(number, pin.Inertia.Random(), pin.SE3.Identity())
    with pytest.warns(wbc.WbcWarning, match="another order than Pinocchio's.*a, c, b") as caught:
        robot = wbc.load(m, "numpy")
    assert robot.joint_names == ("a", "c", "b") and caught[0].filename == __file__


def test_pinocchio_frames_that_share_a_name_are_a_warning():
    pin = pytest.importorskip("pinocchio")
    m = chain(pin, "rx", "ry")
    joint = m.njoints - 1
    for offset, kind in ((0.1, pin.FrameType.SENSOR), (0.1, pin.FrameType.OP_FRAME), (0.2, pin.FrameType.FIXED_JOINT)):
        m.addFrame(pin.Frame("imu", joint, 0, pin.SE3(np.eye(3), np.array([offset, 0, 0])), kind), False)
    with pytest.warns(wbc.WbcWarning, match="left out, because another elsewhere has the same name: 'imu'$") as caught:
        robot = wbc.load(m, "numpy")
    assert len(caught) == 1
    assert robot.model.frames["imu"].pose[0, 3] == 0.1


@pytest.mark.parametrize("package", ["mujoco", "pinocchio"])
def test_a_package_that_is_missing_is_named(package, monkeypatch):
    for name in [name for name in sys.modules if name.startswith((f"wbc.model.{package}", package))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(wbc.WbcError, match=rf"pip install 'wbc\[{package}\]'"):
        importlib.import_module(f"wbc.model.{package}")


def test_a_mesh_that_is_missing_says_where_to_look(tmp_path) -> None:
    file = tmp_path / "robot.xml"
    file.write_text(
        '<mujoco><compiler meshdir="assets"/><asset><mesh file="trunk.stl"/></asset>'
        '<worldbody><geom type="mesh" mesh="trunk"/></worldbody></mujoco>'
    )
    with pytest.raises(wbc.WbcError, match=r"trunk.stl.*look in the folders .* \(meshdir, texturedir\)"):
        wbc.load(file)


def test_no_warning_is_left_over():
    with warnings.catch_warnings():
        warnings.simplefilter("error", wbc.WbcWarning)
        for name in ("planar_arm", "arm", "quadruped", "humanoid"):
            wbc.load(name, "numpy")
