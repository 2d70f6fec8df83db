"""Torques reach the joints of a MuJoCo model as they were commanded, or the log and an error say why not."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import tasks
import wbc
from wbc import Body, Joint, Model, WbcError
from wbc.simulation import MujocoSimulator, Realism, Simulator, make_plant, run

CHAIN = """<mujoco><option timestep="0.0005" integrator="{integrator}"/><worldbody>
  <body><joint name="a" axis="0 1 0" damping="0.1"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass="1"/>
  <body pos=".4 0 0"><joint name="b" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass="1"/>
  <body pos=".4 0 0"><joint name="c" type="slide"/><joint name="d" type="ball"/>
    <geom type="box" size=".1 .2 .1" mass="1"/></body></body></body></worldbody>
  <actuator><position joint="a" kp="500" kv="40" gear="-3"/><velocity joint="b" kv="7"/>
    <motor joint="c" gear="5"/><motor joint="c" gear="-2" ctrlrange="-1 1"/>
    <motor joint="d" gear="1 0 0"/><motor joint="d" gear="0 2 0"/><position joint="d" gear="0 1 1" kp="50" kv="10"/>
  </actuator></mujoco>"""

ONE = """<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody><body><joint name="j" axis="0 0 1" {joint}/>
  <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass="1"/></body></worldbody>
  <actuator>{actuators}</actuator></mujoco>"""


def one(actuators: str, joint: str = "") -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(ONE.format(joint=joint, actuators=actuators))


@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicit", "implicitfast"])
def test_what_is_delivered_is_what_was_commanded(integrator: str) -> None:
    """Servos, gears, several motors on a joint and a ball joint, for three steps of the physics at a time."""
    m = mujoco.MjModel.from_xml_string(CHAIN.format(integrator=integrator))
    plant, rng = MujocoSimulator(m), np.random.default_rng(0)
    for _ in range(50):
        torque = rng.normal(size=6) * [5, 3, 7, 1, 1, 1]
        plant.apply(torque)
        for _ in range(3):
            plant.step()
            np.testing.assert_allclose(plant.mj_data.qfrc_actuator, torque, rtol=0, atol=1e-9)
            np.testing.assert_allclose(plant.torque, torque, rtol=0, atol=1e-9)
    assert not plant.trouble


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
def test_a_servo_accelerates_its_joint_as_a_motor_does(integrator: str) -> None:
    """A servo's own damping, integrated implicitly, would take most of the torque."""
    m = one('<position joint="j" kp="500" kv="40"/>')
    m.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
    plant, robot = MujocoSimulator(m), wbc.load(m, "numpy")
    plant.apply([1.0])
    for _ in range(5):
        before = plant.state[1][0]
        plant.step()
        expected = robot.forward_dynamics(*plant.state, [1.0])[0]
        assert (plant.state[1][0] - before) / m.opt.timestep == pytest.approx(expected, rel=1e-9)


def test_the_model_that_is_handed_over_stays_as_it_is() -> None:
    m = one('<position joint="j" kp="500" kv="40" ctrlrange="-1 1"/>', 'actuatorfrcrange="-9 9"')
    before = m.actuator_gainprm.copy(), m.actuator_biasprm.copy(), m.actuator_ctrllimited.copy()
    plant = MujocoSimulator(m, timestep=1e-4)
    plant.apply([1.0])
    plant.step()
    now = m.actuator_gainprm, m.actuator_biasprm, m.actuator_ctrllimited
    assert all(np.array_equal(x, y) for x, y in zip(now, before, strict=True))
    assert m.opt.timestep == 0.002 and m.jnt_actfrclimited[0] and plant.mj_model is not m


@pytest.mark.parametrize(
    ("actuators", "joint", "effort", "asked", "given"),
    [
        ('<position joint="j" kp="10" ctrlrange="-1 1"/>', "", 10, 30, 10),
        ('<position joint="j" kp="10" ctrlrange="1 4"/>', "", 15, -20, -15),
        ('<velocity joint="j" kv="4" ctrlrange="-2 2"/>', "", 8, -9, -8),
        ('<position joint="j" kp="10" ctrlrange="-9 9" forcerange="-3 3" gear="2"/>', "", 6, 8, 6),
        ('<position joint="j" kp="1" ctrlrange="-1 1" forcerange="-7 7"/>', "", 7, 30, 7),
        ('<position joint="j" kp="1" ctrlrange="0 2" gear="2"/>', 'actuatorfrcrange="-7 7"', 7, 30, 7),
        ('<motor joint="j" gear="3" ctrlrange="-1 1"/>', "", 3, -7, -3),
        ('<motor joint="j" gear="3"/>', 'actuatorfrcrange="-2 2"', 2, 7, 2),
        ('<motor joint="j" gear="3" ctrlrange="-1 1"/><motor joint="j" ctrlrange="-1 1"/>', "", 4, 7, 4),
        ('<motor joint="j" ctrlrange="0 5"/><motor joint="j" gear="-1" ctrlrange="0 5"/>', "", 5, -4, -4),
    ],
)
def test_what_actuators_can_not_give_is_a_limit_and_is_cut_off(
    actuators: str, joint: str, effort: float, asked: float, given: float
) -> None:
    m = one(actuators, joint)
    plant = MujocoSimulator(m)
    assert plant.model.limits.effort.tolist() == [effort]
    plant.apply([asked])
    plant.step()
    assert plant.torque == pytest.approx([given], abs=1e-12)
    assert plant.mj_data.qfrc_actuator == pytest.approx([given], abs=1e-12)


def test_the_effort_of_a_ball_joint_is_what_its_motors_give_about_any_axis() -> None:
    motors = "".join(f'<motor joint="j" gear="{gear}" ctrlrange="-6 6"/>' for gear in ("2 0 0", "0 1 0", "0 1 1"))
    m = mujoco.MjModel.from_xml_string(ONE.format(joint='type="ball"', actuators=motors))
    plant = MujocoSimulator(m)
    assert plant.model.limits.effort == pytest.approx([3.0] * 3)
    for signs in np.ndindex(2, 2, 2):
        torque = 3.0 * (2.0 * np.array(signs) - 1.0)
        plant.apply(torque)
        plant.step()
        np.testing.assert_allclose(plant.torque, torque, atol=1e-12)
        np.testing.assert_allclose(plant.mj_data.qfrc_actuator, torque, atol=1e-12)
    plant.apply([100.0, 0.0, 0.0])
    plant.step()
    np.testing.assert_allclose(plant.torque, [12.0, 0.0, 0.0], atol=1e-12)


@pytest.mark.parametrize(
    "actuator",
    [
        '<position name="slow" joint="j" kp="30" timeconst="0.1" ctrlrange="-0.5 0.5"/>',
        '<intvelocity name="slow" joint="j" kp="30" actrange="-1 1" forcerange="-15 15"/>',
    ],
)
def test_actuators_that_answer_late_are_refused_or_taken_as_motors(actuator: str) -> None:
    m = one(actuator)
    for make in (wbc.load, MujocoSimulator):
        with pytest.raises(WbcError, match=r"'slow' has dynamics of its own .* ignore=\[\"filters\"\]"):
            make(m)
    robot, plant = wbc.load(m, ignore="filters"), MujocoSimulator(m, ignore=["filters"])
    assert robot.na == plant.model.na == 1
    plant.apply([2.0])
    for _ in range(3):
        plant.step()
        assert plant.mj_data.qacc == pytest.approx(robot.forward_dynamics([0], [0], [2.0]), rel=1e-12)
        assert plant.torque.tolist() == [2.0]
    plant.apply([99.0])
    plant.step()
    assert plant.torque.tolist() == robot.limits.effort.tolist() == [15.0]


def test_a_file_without_actuators_is_driven_all_the_same() -> None:
    m = one("")
    with pytest.warns(wbc.WbcWarning, match="no actuators"):
        robot = wbc.load(m)
    plant = MujocoSimulator(m)
    plant.apply([2.0])
    plant.step()
    assert plant.mj_data.qacc == pytest.approx(robot.forward_dynamics([0.0], [0.0], [2.0]), rel=1e-12)
    assert plant.torque.tolist() == [2.0]


def test_a_tendon_over_sites_is_named_as_what_it_is() -> None:
    """The fingers of a hand hung loose, and a warning said that their actuators drive no joint."""
    m = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><site name="a" pos="0 0 .2"/><body><joint name="j" axis="0 1 0"/><geom size=".1"/>
        <site name="b" pos=".2 0 0"/></body></worldbody><tendon><spatial name="t"><site site="a"/><site site="b"/>
        </spatial></tendon><actuator><motor name="m" tendon="t"/></actuator></mujoco>"""
    )
    with pytest.warns(wbc.WbcWarning, match="pull a tendon over sites .what hangs on it is loose., not used: 'm'"):
        assert wbc.load(m).na == 0


def test_actuators_that_are_switched_off_are_no_actuators() -> None:
    m = one('<motor name="m" joint="j" group="3"/>')
    m.opt.disableactuator = 1 << 3
    with pytest.warns(wbc.WbcWarning, match="drive no joint, not used: 'm'"):
        assert wbc.load(m).na == 0
    m.opt.disableactuator, m.opt.disableflags = 0, int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    with pytest.raises(WbcError, match="switches its actuators off"):
        wbc.load(m)


def test_a_robot_of_ours_with_a_driven_ball_joint_is_simulated() -> None:
    head = Body("head", 1.0, [0.0, 0.0, 0.1], 0.01 * np.eye(3))
    robot = wbc.load(Model("neck", [head], [Joint("neck", "spherical", "world", "head", effort=2.0)]), "numpy")
    plant = MujocoSimulator(robot)
    plant.apply([1.0, -1.5, 5.0])
    plant.step()
    np.testing.assert_allclose(plant.torque, [1.0, -1.5, 2.0], atol=1e-12)
    np.testing.assert_allclose(plant.mj_data.qacc, robot.forward_dynamics([1, 0, 0, 0], np.zeros(3), plant.torque))


def reaching(m: mujoco.MjModel, kp: float = 400.0) -> wbc.Controller:
    robot = wbc.load(m, "numpy")
    posture = tasks.JointAcceleration(gains=wbc.Gains(kp=kp, kd=40.0), target=[1.0])
    return wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / posture), period=2e-3, actuator_limits=False)


def test_the_log_has_what_was_delivered_and_says_what_was_not() -> None:
    m = one('<position joint="j" kp="1" kv="0.1" ctrlrange="-3 3"/>')
    log = run(reaching(m), MujocoSimulator(m), 0.1)
    assert log.actuators == ("j",) and log.delivered.shape == log.torque.shape
    short = np.abs(log.delivered - log.torque)[:, 0] > 1e-6
    assert log.torque[0, 0] > 10.0 and log.delivered[0, 0] == pytest.approx(3.0, rel=1e-3)
    line = next(line for line in log.summary().splitlines() if "not delivered" in line)
    assert line.startswith(f"torque not delivered in {short.sum()} of 50 ticks, up to") and line.endswith("(j)")
    log = run(reaching(m, kp=4.0), MujocoSimulator(m), 0.1)
    np.testing.assert_allclose(log.delivered, log.torque, rtol=0, atol=1e-9)
    assert "not delivered" not in log.summary()


@pytest.mark.parametrize("simulator", ["mujoco", "builtin"])
def test_a_late_torque_is_told_by_the_log(simulator: str) -> None:
    robot = wbc.load("planar_arm")
    posture = tasks.JointAcceleration(gains=wbc.Gains(2.0), target=[0.3, 0.2, 0.1])
    stack = wbc.Stack(tasks.EquationOfMotion() / posture)
    plant = make_plant(robot, simulator, realism=Realism(delay=2e-3))
    log = run(wbc.Controller(robot, stack), plant, 0.02)
    assert not log.delivered[:2].any()
    limit = robot.limits.effort
    np.testing.assert_allclose(log.delivered[2:], np.clip(log.torque[:-2], -limit, limit), rtol=0, atol=1e-12)
    assert "not delivered" in log.summary()


def test_a_simulator_gives_no_more_than_the_limits() -> None:
    plant = Simulator(wbc.load("planar_arm"), ground="none")
    limit = plant.model.limits.effort
    plant.apply(2 * limit)
    plant.step()
    np.testing.assert_array_equal(plant.torque, limit)
