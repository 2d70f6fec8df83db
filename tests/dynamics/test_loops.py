"""Closed loops: their Jacobians by finite differences, accelerations by MuJoCo, configurations in which they close."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import wbc
from scripts.try_robots import unyielding
from tests.closed_loops import FOUR_BAR, ROBOTS, biped, closed_state, four_bar, mimicking, write
from tests.foreign import biped as walker
from wbc.model import read_urdf

BACKENDS = ("numpy", "pinocchio", "mujoco")
PARTIAL = {
    "hinge": wbc.LoopClosure("end", "tip", ("x", "y", "z", "rx", "rz")),
    "planar": wbc.LoopClosure("end", "tip", "xz"),
    "slider": wbc.LoopClosure("end", "rocker", ("y", "z")),
}


def limit_of_mujoco(m: mujoco.MjModel, q: np.ndarray, v: np.ndarray, ctrl: np.ndarray) -> np.ndarray:
    """MuJoCo's acceleration with equality constraints that do not yield: its impedance d ends at 0.9999, its error is
    a smooth function of (1 − d) / d, and so three solves tell what is beyond.
    """
    m.opt.iterations, m.opt.tolerance = 1000, 0.0
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    found = []
    for yielding in (1e-4, 2e-4, 3e-4):
        m.eq_solimp[:, :2] = 1.0 / (1.0 + yielding)
        d = mujoco.MjData(m)
        d.qpos[:], d.qvel[:], d.ctrl[:] = q, v, ctrl
        mujoco.mj_forward(m, d)
        found.append(d.qacc.copy())
    return 3.0 * found[0] - 3.0 * found[1] + found[2]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ROBOTS)
def test_accelerations_are_those_of_mujoco(name: str, backend: wbc.dynamics.load.BackendName) -> None:
    m = mujoco.MjModel.from_xml_string(ROBOTS[name])
    robot = wbc.load(m, backend)
    for seed in range(5):
        # MuJoCo leaves out what the curvature of a polynomial does to a motion: it is compared at rest
        q, v = closed_state(robot, seed, speed=0.0 if name == "gears" else 1.0)
        tau = np.full(robot.na, 3.0)
        vdot = robot.forward_dynamics(q, v, tau)
        expected = limit_of_mujoco(m, q, v, tau)
        assert np.abs(vdot - expected).max() < 1e-6 * (1.0 + np.abs(expected).max())
        assert np.abs(robot.forward_dynamics(q, v, -tau) - expected).max() > 1e-2


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ROBOTS)
def test_jacobian_and_bias_are_the_derivatives_of_the_gap(name: str, backend: wbc.dynamics.load.BackendName) -> None:
    robot = wbc.load(mujoco.MjModel.from_xml_string(ROBOTS[name]), backend)
    for seed in range(3):
        q, v = closed_state(robot, seed)
        check_derivatives(robot, q, v)


@pytest.mark.parametrize("kind", PARTIAL)
def test_closures_of_some_axes_too(kind: str) -> None:
    m = mujoco.MjModel.from_xml_string(four_bar(""))
    robot = wbc.load(m, "numpy", loops=[PARTIAL[kind]])
    for seed in range(3):
        q, v = closed_state(robot, seed)
        check_derivatives(robot, q, v)


def check_derivatives(robot: wbc.Dynamics, q: np.ndarray, v: np.ndarray, step: float = 1e-6) -> None:
    """φ̇ = J v, for velocities that open the loops as well; φ̈ = J v̇ + J̇v, for those that do not."""

    def gap(u: np.ndarray) -> np.ndarray:
        robot.update(robot.integrate(q, u))
        return robot.loop_motion.gap

    robot.update(q, v)
    assert np.abs(robot.loop_motion.gap).max() < 1e-12
    assert np.abs(robot.loop_motion.J @ v).max() < 1e-12
    J, bias = robot.loop_motion.J.copy(), robot.loop_motion.bias.copy()
    for column in range(robot.nv):
        unit = step * np.eye(robot.nv)[column]
        slope = (gap(unit) - gap(-unit)) / (2 * step)
        assert np.allclose(J @ J.T @ slope, J @ J.T @ J[:, column], atol=1e-7)
    vdot = robot.forward_dynamics(q, v, np.ones(robot.na))
    assert np.abs(J @ vdot + bias).max() < 1e-9 * (1 + np.abs(vdot).max())

    def rate(t: float) -> np.ndarray:
        velocity = v + t * vdot
        robot.update(robot.integrate(q, t * (v + 0.5 * t * vdot)), velocity)
        return robot.loop_motion.J @ velocity

    change = (rate(step) - rate(-step)) / (2 * step)
    assert np.abs(change).max() < 1e-5 * (1 + np.abs(vdot).max())


def test_a_planar_loop_in_space_is_redundant_and_harmless() -> None:
    robot = wbc.load(mujoco.MjModel.from_xml_string(ROBOTS["weld"]), "numpy")
    robot.update(*closed_state(robot, 0))
    assert len(robot.loop_motion.J) == 6 and np.linalg.matrix_rank(robot.loop_motion.J, tol=1e-9) == 3
    rocker = '<body name="rocker" pos=".5 0 0"'
    tilted = ROBOTS["weld"].replace(rocker, f'{rocker} quat="1 1e-8 0 0"')
    assert tilted != ROBOTS["weld"]
    other = wbc.load(mujoco.MjModel.from_xml_string(tilted), "numpy")
    q, v = closed_state(robot, 0)
    vdot = robot.forward_dynamics(q, v, [1.0])
    assert np.abs(vdot).max() > 1.0
    assert np.allclose(other.forward_dynamics(other.close_loops(q), v, [1.0]), vdot, atol=1e-4), "axes parallel to 1e-8"


def test_a_loop_that_a_plant_leaves_open_holds_nothing_above_it() -> None:
    robot = wbc.load(mujoco.MjModel.from_xml_string(biped()), "numpy")
    q, rng = robot.model.nominal.copy(), np.random.default_rng(0)
    for opened in (0.0, 1e-5, 1e-3):
        for side in ("left", "right"):
            q[robot.model.q_index[f"{side}_crank"]] += opened
        robot.update(q)
        J = robot.loop_motion.J
        assert np.linalg.matrix_rank(J, tol=1e-9) == 4, "a parallelogram in a plane is two equations"
        above = [*range(6), *(robot.model.v_index[f"{side}_roll"] for side in ("left", "right"))]
        assert np.abs(J[:, above]).max() < 1e-12, "no loop is held by what carries it"
    v, vdot, step = rng.normal(size=robot.nv), rng.normal(size=robot.nv), 1e-6

    def motion(t: float) -> tuple[np.ndarray, np.ndarray]:
        robot.update(robot.integrate(q, t * (v + 0.5 * t * vdot)), v + t * vdot)
        J, bias = robot.loop_motion.J, robot.loop_motion.bias
        return J @ robot.v, J @ vdot + bias

    (before, _), (after, _), (rate, change) = motion(-step), motion(step), motion(0.0)
    slope = np.add.reduceat(after**2 - before**2, [0, 3]) / (4 * step)
    assert np.allclose(slope, np.add.reduceat(rate * change, [0, 3]), rtol=1e-6), "open loops have a bias of their own"


def test_a_linkage_that_is_not_quite_flat_is_as_in_mujoco() -> None:
    """The digits of a file leave its loops open by some 1e-8 m: where these turned with the robot, accelerations of a
    linkage near its dead centre were off by 1e-6, and here by 6e-8.
    """
    text = biped()
    for side in ("left", "right"):
        text = text.replace(f'<body name="{side}_crank" euler="0 ', f'<body name="{side}_crank" euler="2e-4 ')
    m = mujoco.MjModel.from_xml_string(text)
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    robot, d, tau = wbc.load(m, "numpy"), mujoco.MjData(m), np.full(10, 3.0)
    for seed in range(3):
        q, v = closed_state(robot, seed)
        vdot = robot.forward_dynamics(q, v, tau)
        robot.update(q, v)
        assert 1e-10 < np.abs(robot.loop_motion.gap).max() < 1e-7
        d.qpos[:], d.qvel[:], d.ctrl[:] = q, v, tau
        expected = unyielding(m, d)
        assert np.abs((vdot - expected) / (1.0 + np.abs(expected))).max() < 1e-11


@pytest.mark.parametrize("backend", BACKENDS)
def test_mimic_joints_follow(tmp_path: Path, backend: wbc.dynamics.load.BackendName) -> None:
    robot = wbc.load(write(tmp_path / "gripper.urdf", mimicking()), backend)
    assert robot.na == 1 and [loop.name for loop in robot.model.loops] == ["thumb mimic"]
    finger, thumb = robot.model.nominal
    assert thumb == pytest.approx(0.1 - finger)
    v = np.array([0.7, -0.7])
    vdot = robot.forward_dynamics(robot.model.nominal, v, [2.0])
    assert vdot[1] == pytest.approx(-vdot[0])
    robot.update(robot.model.nominal, v)
    along = np.array([1.0, -1.0])  # the one motion that is left: its own equation of motion, by projection
    force = along @ (np.array([2.0, 0.0]) - robot.bias)
    assert vdot[0] == pytest.approx(force / (along @ robot.mass_matrix @ along))


def test_mimic_joints_that_name_nothing_are_refused() -> None:
    with pytest.raises(wbc.WbcError, match="unknown joint: .*'finge'.*finger"):
        read_urdf(mimicking('<mimic joint="finge"/>'))
    with pytest.raises(wbc.WbcError, match="names no joint"):
        read_urdf(mimicking("<mimic/>"))
    with pytest.raises(wbc.WbcError, match="two joints with one coordinate each"):
        read_urdf(mimicking('<mimic joint="thumb"/>'))


def test_the_nominal_configuration_is_closed() -> None:
    robot = wbc.load(mujoco.MjModel.from_xml_string(FOUR_BAR))
    robot.update(robot.model.nominal)
    end, tip = (robot.pose(frame)[:3, 3] for frame in ("end", "tip"))
    assert np.allclose(end, tip, atol=1e-12)
    with pytest.warns(wbc.WbcWarning, match="loop stays open by"):
        wbc.load(mujoco.MjModel.from_xml_string(FOUR_BAR.replace('name="tip" pos=".3', 'name="tip" pos="2')))


def test_a_velocity_is_projected_as_by_an_impulse_of_the_loops() -> None:
    robot = wbc.load(mujoco.MjModel.from_xml_string(ROBOTS["spatial"]), "numpy")
    q, v = closed_state(robot, 1)
    given = v + np.random.default_rng(0).normal(size=robot.nv)
    kept = robot.project_velocity(q, given)
    robot.update(q, kept)
    J = robot.loop_motion.J
    impulse = robot.mass_matrix @ (kept - given)
    assert np.abs(J @ kept).max() < 1e-12
    assert np.allclose(J.T @ np.linalg.lstsq(J.T, impulse, rcond=None)[0], impulse, atol=1e-9)


def test_copies_have_the_loops_of_their_own_state() -> None:
    robot = wbc.load(mujoco.MjModel.from_xml_string(FOUR_BAR), "numpy")
    robot.update(*closed_state(robot, 0))
    twin = robot.copy()
    assert np.array_equal(twin.loop_motion.J, robot.loop_motion.J)
    twin.update(*closed_state(robot, 1))
    assert not np.allclose(twin.loop_motion.J, robot.loop_motion.J)
    assert not robot.loop_motion.J.flags.writeable


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: wbc.LoopClosure("end", "end"), "close a loop with itself"),
        (lambda: wbc.LoopClosure("end", "tip", "xw"), "no axis 'w'"),
        (lambda: wbc.LoopClosure("end", "tip", ()), "holds no axis"),
        (lambda: wbc.LoopClosure("end", "tip", pose_a=[1.0]), "pose_a"),
        (lambda: wbc.LoopClosure("end", 3), "give their names, not 3"),
        (lambda: wbc.JointCoupling({}), "at least one joint"),
        (lambda: wbc.JointCoupling({"crank": np.nan}), "must be finite"),
        (lambda: wbc.JointCoupling({"crank": 1.0}, {"crank": 1.0}), "on both sides"),
        (lambda: wbc.JointCoupling({"crank": 1.0}, {}, []), "polynomial"),
        (lambda: wbc.LoopClosure("end", "tap"), "frame 'tap'.*'tip'"),
        (lambda: wbc.JointCoupling({"cramp": 1.0}), "joint 'cramp'.*'crank'"),
        (lambda: "end", "must be wbc.LoopClosure or wbc.JointCoupling"),
    ],
)
def test_loops_that_can_not_be_are_named(make, message) -> None:
    m = mujoco.MjModel.from_xml_string(four_bar(""))
    with pytest.raises(wbc.WbcError, match=message):
        wbc.load(m, loops=[make()])


@pytest.mark.filterwarnings("ignore::wbc.WbcWarning")
def test_legs_in_loops_declared_by_hand_keep_the_posture_of_their_file(tmp_path) -> None:
    file = write(tmp_path / "walker.urdf", walker())
    free = wbc.load(file).model
    knee = free.joints["left_knee"]
    rod = wbc.LoopClosure(knee.parent, knee.child, pose_a=knee.pose, name="rod")
    tied = wbc.load(file, loops=[rod]).model
    assert abs(free.nominal[free.q_index["left_knee"]]) > 0.1
    assert not tied.nominal[7:].any()


def test_a_row_that_is_but_rounding_is_no_row() -> None:
    """Across the plane of a linkage nothing is held: a row of 1e-17, judged by its own size, would hold a joint."""
    turned = FOUR_BAR.replace("<worldbody>", '<worldbody><body quat="1 0 0 1">').replace(
        "</worldbody>", "</body></worldbody>"
    )
    flat, robot = (wbc.load(mujoco.MjModel.from_xml_string(text), "numpy") for text in (FOUR_BAR, turned))
    q, v = closed_state(flat, 0)
    q[0] += 1e-4  # a plant's loops are never quite closed
    for one in (flat, robot):
        one.update(q, v)
    sizes = np.linalg.norm(robot.loop_motion.J, axis=1)
    assert ((sizes == 0.0) | (sizes > 1e-3)).all(), sizes
    vdot = [one.forward_dynamics(q, v, [1.0]) for one in (flat, robot)]
    assert np.allclose(*vdot, rtol=1e-9)


def test_a_tendon_whose_limits_leave_little_play_couples_where_that_is_asked_for() -> None:
    couple = """<tendon><fixed name="belt" limited="true" range="-.01 .03"><joint joint="crank" coef="2"/>
      <joint joint="coupler" coef="-1"/></fixed><fixed name="wide" limited="true" range="-1 1">
      <joint joint="crank" coef="1"/><joint joint="rocker" coef="1"/></fixed></tendon>"""
    m = mujoco.MjModel.from_xml_string(FOUR_BAR.replace("<equality>", couple + "<equality>"))
    with pytest.warns(wbc.WbcWarning) as told:
        free = wbc.load(m)
    assert [loop.name for loop in free.model.loops] == ["loop"]
    text = " ".join(str(warning.message) for warning in told)
    assert "limits of 1 tendons" in text and "are left out (ignore=[\"play\"] makes them couplings): 'belt'" in text
    with pytest.warns(wbc.WbcWarning) as told:
        robot = wbc.load(m, ignore=["play"])
    assert any("are couplings: 'belt'" in str(warning.message) for warning in told)
    belt = next(loop for loop in robot.model.loops if loop.name == "belt")
    assert dict(belt.joints) == {"crank": 2.0, "coupler": -1.0} and belt.polynomial == pytest.approx((0.01,))
