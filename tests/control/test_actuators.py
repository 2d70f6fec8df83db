"""Robots whose actuators are not the motors of single joints: τ = Gᵀ u, with limits and commands in u."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import tasks
import wbc
from tests.actuated import DIFFERENTIAL, QUADROTOR, ROBOTS
from tests.closed_loops import bar, mjcf
from wbc.control.fallback import fallback_torque
from wbc.model.names import actuator_names
from wbc.solvers import HierarchicalQP

BACKENDS = ("numpy", "pinocchio", "mujoco")

GRIPPER = mjcf(
    f"""
    <body name="left" pos="0 .05 0"><joint name="left" type="slide" axis="0 -1 0" range="0 .05"/>{bar(0.05, 0.1)}</body>
    <body name="right" pos="0 -.05 0"><joint name="right" type="slide" axis="0 1 0" range="0 .05"/>{bar(0.05, 0.1)}
    </body>""",
    """<equality><joint joint1="left" joint2="right"/></equality>
    <tendon><fixed name="split"><joint joint="left" coef=".5"/><joint joint="right" coef=".5"/></fixed></tendon>
    <actuator><position name="grip" tendon="split" kp="200" kv="10" forcerange="-30 30"/></actuator>""",
)


def load(text: str, backend: str = "numpy") -> wbc.Dynamics:
    return wbc.load(mujoco.MjModel.from_xml_string(text), backend)  # type: ignore[arg-type]


def state(robot: wbc.Dynamics, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return robot.integrate(robot.model.nominal, 0.4 * rng.normal(size=robot.nv)), rng.normal(size=robot.nv)


def hovering(robot: wbc.Dynamics, solver: object = "hierarchical-qp") -> wbc.Controller:
    """Thrust can turn the body about all axes and lift it; where it goes follows from its tilt."""
    height = tasks.EndEffectorAcceleration("body", axes="z", gains=wbc.Gains(1.0), name="height")
    level = tasks.EndEffectorAcceleration("body", axes=("rx", "ry", "rz"), gains=wbc.Gains(1.0), name="level")
    levels = tasks.EquationOfMotion() / tasks.TorqueLimits() / (height + level) / tasks.TorqueMinimization()
    return wbc.Controller(robot, wbc.Stack(levels), solver)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ROBOTS)
def test_forces_of_actuators_are_those_of_mujoco(name: str, backend: str) -> None:
    m = mujoco.MjModel.from_xml_string(ROBOTS[name])
    m.actuator_biastype[:], m.actuator_gaintype[:] = mujoco.mjtBias.mjBIAS_NONE, mujoco.mjtGain.mjGAIN_FIXED
    m.actuator_gainprm[:, 0] = 1.0
    robot = load(ROBOTS[name], backend)
    order = [actuator_names(robot.model).index(m.actuator(n).name or "finger") for n in range(m.nu)]
    for seed in range(3):
        q, v = state(robot, seed)
        u = np.random.default_rng(seed).uniform(0.0, 2.0, robot.na)
        d = mujoco.MjData(m)
        d.qpos[:], d.qvel[:], d.ctrl[:] = q, v, u[order]
        d.ctrl[[n for n in range(m.nu) if not m.actuator(n).name]] /= 5.0  # a motor's τ is that of its joint
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        mujoco.mj_forward(m, d)
        robot.update(q, v)
        assert np.allclose(robot.actuator_force(u), d.qfrc_actuator, atol=1e-12)
        vdot = robot.forward_dynamics(q, v, u)
        assert np.abs(vdot - d.qacc).max() < 1e-9 * (1 + np.abs(d.qacc).max())


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("name", ROBOTS)
def test_commands_bring_about_what_is_expected(name: str, compiled: bool) -> None:
    robot = load(ROBOTS[name])
    posture = tasks.AccelerationMinimization()
    levels = tasks.EquationOfMotion() / tasks.TorqueLimits() / posture / tasks.TorqueMinimization()
    one = wbc.Controller(robot, wbc.Stack(levels), HierarchicalQP(compiled=compiled))
    for seed in range(4):
        q, v = state(robot, seed)
        solution = one.step(q, v)
        assert solution.status == "optimal" and solution.certificate.holds
        assert (solution.torque >= robot.limits.least - 1e-9).all()
        assert (solution.torque <= robot.limits.effort + 1e-9).all()
        vdot = robot.forward_dynamics(q, v, solution.torque)
        assert np.allclose(vdot, solution.acceleration, atol=1e-8 * (1 + np.abs(vdot).max()))
        assert np.abs(solution.levels[0].residual["equation of motion"]).max() < 1e-8
        rows = tasks.EquationOfMotion().rows(solution._state(), solution._tick)
        assert np.allclose(rows.matrix(solution._tick) @ solution._x, rows.lower, atol=1e-8)


def test_backends_agree_on_commands() -> None:
    expected, *others = (hovering(load(QUADROTOR, name)).step(*state(load(QUADROTOR), 1)).torque for name in BACKENDS)
    assert np.abs(expected).max() > 0.5
    for u in others:
        assert np.allclose(u, expected, atol=1e-8)


@pytest.mark.parametrize("plant", ["MuJoCo", "ours", "MuJoCo, our description"])
def test_a_quadrotor_hovers(plant: str) -> None:
    m = mujoco.MjModel.from_xml_string(QUADROTOR)
    robot = wbc.load(m)
    pilot = hovering(robot)
    worlds = {"MuJoCo": m, "MuJoCo, our description": robot}
    world = wbc.MujocoSimulator(worlds[plant]) if plant in worlds else wbc.Simulator(robot, ground="none")
    q = np.array(robot.model.nominal)
    world.reset(q, [0.0, 0.0, -0.3, 0.5, -0.5, 0.5])
    targets = {"height": 1.0, "level": np.eye(3)}
    pilot.stack["level"].target = targets["level"]
    pilot.stack["height"].target = np.array([0.0, 0.0, 1.0])
    log = wbc.run(pilot, world, 2.5)
    assert set(log.status) == {"optimal"}
    pose = robot_at(robot, world.state).pose("body")
    assert abs(pose[2, 3] - 1.0) < 2e-3 and np.allclose(pose[:3, :3], np.eye(3), atol=5e-3)
    assert log.torque[-1].sum() == pytest.approx(9.81 * robot.mass, rel=1e-2)


def robot_at(robot: wbc.Dynamics, state: tuple[np.ndarray, np.ndarray]) -> wbc.Dynamics:
    robot.update(*state)
    return robot


def test_thrusters_do_not_pull() -> None:
    """Asked to fall faster than it can, a quadrotor only stops its rotors."""
    robot = load(QUADROTOR)
    down = tasks.EndEffectorAcceleration("body", [0.0, 0.0, -100.0], axes="z", gains=wbc.Gains(2.0))
    one = wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / tasks.TorqueLimits() / down))
    solution = one.step(robot.model.nominal, np.zeros(6))
    assert np.allclose(solution.torque, 0.0, atol=1e-9) and solution.certificate.torque_margin > -1e-9
    assert {active.row for active in solution.active} == {"thrust0", "thrust1", "thrust2", "thrust3"}


@pytest.mark.parametrize("ours", [False, True])
def test_a_gripper_closes(ours: bool) -> None:
    """Two fingers that are coupled, on a tendon with a servo; their limits do not contradict each other."""
    m = mujoco.MjModel.from_xml_string(GRIPPER)
    robot = wbc.load(m)
    assert robot.na == 1 and actuator_names(robot.model) == ["grip"] and robot.limits.effort == [30.0]
    close = tasks.JointAcceleration([0.06, 0.06], gains=wbc.Gains(2.0))
    limits = tasks.TorqueLimits() + tasks.JointLimits()
    hand = wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / limits / close))
    world = wbc.Simulator(robot) if ours else wbc.MujocoSimulator(m)
    log = wbc.run(hand, world, 1.0)
    assert log.status.count("optimal") >= 990  # at the limit MuJoCo's fingers differ by what its coupling gives way
    assert np.allclose(world.state[0], 0.05, atol=1e-3)
    assert np.allclose(log.delivered, log.torque, atol=1e-9)


def test_a_differential_moves_both_joints() -> None:
    m = mujoco.MjModel.from_xml_string(DIFFERENTIAL)
    robot = wbc.load(m)
    posture = tasks.JointAcceleration([0.2, -0.3, 0.1], gains=wbc.Gains(2.0))
    one = wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / tasks.TorqueLimits() / posture))
    world = wbc.MujocoSimulator(m)
    wbc.run(one, world, 1.5)
    assert np.allclose(world.state[0], [0.2, -0.3, 0.1], atol=1e-3)


def test_a_rotor_behind_a_tendon_counts_once_or_is_refused() -> None:
    """It couples the joints of its tendon: MuJoCo's M has it, and no other backend takes such a robot."""
    m = mujoco.MjModel.from_xml_string(DIFFERENTIAL.replace('name="one"', 'name="one" armature=".1"'))
    robot = wbc.load(m)
    robot.update(robot.model.nominal)
    plain = load(DIFFERENTIAL)
    plain.update(plain.model.nominal)
    rotor = np.array([6.0, 4.5, 0.0])
    assert robot.name == "mujoco"
    assert np.allclose(robot.mass_matrix, plain.mass_matrix + 0.1 * np.outer(rotor, rotor))
    with pytest.raises(wbc.WbcError, match="tendons"):
        wbc.load(m, "numpy")


def test_the_fallback_shares_the_weight() -> None:
    robot = load(QUADROTOR)
    robot.update(robot.model.nominal)
    u = fallback_torque(robot, np.zeros((0, 6)))
    assert u.sum() == pytest.approx(9.81 * robot.mass, rel=1e-2)


def test_the_fallback_brakes_what_actuators_move_together() -> None:
    robot = load(DIFFERENTIAL)
    robot.update(robot.model.nominal, np.full(robot.nv, 0.02))
    G, braked = robot.actuation_matrix, robot.gravity_force - 5.0 * np.diagonal(robot.mass_matrix) * robot.v
    assert np.allclose(G.T @ fallback_torque(robot, np.zeros((0, 3))), braked, atol=1e-9)


def test_formulas_for_motors_are_refused() -> None:
    with pytest.raises(wbc.WbcError, match="actuators that are not joint motors"):
        wbc.classical.JointPD(load(DIFFERENTIAL))


def test_redundant_actuators_are_named() -> None:
    twice = QUADROTOR.replace("</actuator>", '<motor name="more" site="rotor0" gear="0 0 1 0 0 .02"/></actuator>')
    robot = load(twice)
    assert np.isfinite(robot.forward_dynamics(robot.model.nominal, np.zeros(6), np.ones(5))).all()
    with pytest.raises(wbc.WbcError, match="5 actuators, of which 4 are independent"):
        hovering(robot)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: wbc.Actuator("a"), "no joint and on no frame"),
        (lambda: wbc.Actuator("a", 1.0, 0.5, {"pitch": 1.0}), "this must include 0"),
        (lambda: wbc.Actuator("a", joints={"pitch": np.nan}), "must be finite"),
        (lambda: wbc.Actuator("a", joints=3), "a dict"),
        (lambda: wbc.Actuator("a", joints={"pitch": 1.0}, against="hand"), "on no frame"),
        (lambda: wbc.Actuator("a", frame="hand", wrench=[1.0]), "its wrench"),
        (lambda: wbc.Actuator("finger", joints={"pitch": 1.0}), "share the name"),
        (lambda: wbc.Actuator("a", joints={"pich": 1.0}), "'pich'.*'pitch'"),
        (lambda: wbc.Actuator("a", joints={"pitch": [1.0, 2.0]}), "has 1 velocities, not 2"),
        (lambda: wbc.Actuator("a", frame="hnd", wrench=np.ones(6)), "'hnd'.*'hand'"),
        (lambda: "motor", "must be wbc.Actuator objects"),
    ],
)
def test_actuators_that_can_not_be_are_named(make, message) -> None:
    model = load(DIFFERENTIAL).model
    bodies = [body for body in model.bodies.values() if body.name != "world"]
    with pytest.raises(wbc.WbcError, match=message):
        wbc.Model("m", bodies, model.joints.values(), actuators=[make()])
