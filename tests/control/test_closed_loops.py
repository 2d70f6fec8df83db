"""Controllers of robots with closed loops: exact loops, whatever the solver and the backend, and robots that stand."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import tasks
import wbc
from tests.closed_loops import FOUR_BAR, ROBOTS, biped, closed_state, mimicking, write
from tests.control.scenes import SOLVERS, controller
from tests.control.soaking import wrong
from wbc.control.fallback import fallback_torque
from wbc.solvers import HierarchicalQP

CORNERS = [[0.1, 0.05], [0.1, -0.05], [-0.1, -0.05], [-0.1, 0.05]]


def linkage(name: str, backend: str = "numpy") -> wbc.Dynamics:
    return wbc.load(mujoco.MjModel.from_xml_string(ROBOTS[name]), backend)  # type: ignore[arg-type]


def moving_crank(robot: wbc.Dynamics, solver: object = "hierarchical-qp") -> wbc.Controller:
    joint = "one" if "one" in robot.joint_names else "crank"
    crank = tasks.JointAcceleration([0.5], joints=[joint], gains=wbc.Gains(2.0))
    levels = tasks.EquationOfMotion() / tasks.TorqueLimits() / crank / tasks.TorqueMinimization()
    return controller(robot, wbc.Stack(levels), solver)


def standing(robot: wbc.Dynamics, solver: object = "hierarchical-qp") -> wbc.Controller:
    feet = [wbc.SurfaceContact(f"{side}_sole", corners=CORNERS) for side in ("left", "right")]
    limits = tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion()
    upright = tasks.EndEffectorAcceleration("base", axes=("rx", "ry", "rz"), gains=wbc.Gains(2.0))
    posture = tasks.JointAcceleration(gains=wbc.Gains(1.5))
    tail = tasks.CenterOfMass(gains=wbc.Gains(2.0)) / upright / posture / tasks.ForceMinimization()
    stack = wbc.Stack(tasks.EquationOfMotion() / limits / tail / tasks.TorqueMinimization(), contacts=feet)
    return controller(robot, stack, solver)


@pytest.mark.parametrize("plant", ["MuJoCo", "ours"])
def test_a_robot_stands_on_legs_with_closed_loops(plant: str) -> None:
    m = mujoco.MjModel.from_xml_string(biped())
    robot = wbc.load(m)
    walker = standing(robot, "elastic-qp")  # strict levels ask for 1e3 rad/s² while the rods settle
    world = wbc.MujocoSimulator(m) if plant == "MuJoCo" else wbc.Simulator(robot, contacts=walker.stack.contacts)
    log = wbc.run(walker, world, 0.6)
    assert log.ended == "finished" and set(log.status) == {"optimal"}
    assert np.abs(world.state[0] - robot.model.nominal).max() < 6e-3  # rad: MuJoCo's loops give way
    assert np.linalg.norm(walker.errors()["center of mass"]) < 1e-3
    solution = walker.step(*world.state)
    assert solution.certificate.holds
    left, right = solution.loop_forces["left"], solution.loop_forces["right"]
    assert np.linalg.norm(left) > 10.0, "the rods carry the weight"
    assert np.allclose(left, right, atol=1.0)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", ROBOTS)
def test_what_a_controller_expects_is_what_its_torques_bring_about(name: str, solver: str) -> None:
    robot = linkage(name)
    one = moving_crank(robot, solver)
    for seed in range(3):
        q, v = closed_state(robot, seed)
        solution = one.step(q, v)
        assert solution.status == "optimal" or solver == "weighted-qp"
        assert solution.certificate.loops < 1e-8 and solution.certificate.equation_of_motion < 1e-8
        assert np.abs(solution.torque).max() > 1e-3
        vdot = robot.forward_dynamics(q, v, solution.torque)
        assert np.allclose(vdot, solution.acceleration, atol=1e-6 * (1 + np.abs(vdot).max()))


def test_the_kernel_is_as_the_reference() -> None:
    """Also where loops are redundant, and contacts are closed beside them."""
    for robot, make in (
        (linkage("weld"), moving_crank),
        (linkage("spatial"), moving_crank),
        (wbc.load(mujoco.MjModel.from_xml_string(biped()), "numpy"), standing),
    ):
        pair = [make(robot, HierarchicalQP(compiled=compiled)) for compiled in (True, False)]
        for seed in range(5):
            q, v = closed_state(robot, seed, 0.02, 0.1)
            compiled, reference = (one.step(q, v, 1e-3 * seed) for one in pair)
            assert compiled.status == reference.status == "optimal"
            scale = 1.0 + np.abs(reference._x).max()
            assert np.allclose(compiled._x, reference._x, atol=1e-7 * scale)


def test_torques_of_the_backends_agree() -> None:
    m = mujoco.MjModel.from_xml_string(biped())
    robots = [wbc.load(m, backend) for backend in ("numpy", "pinocchio", "mujoco")]
    q, v = closed_state(robots[0], 1, 0.02, 0.1)
    expected, *others = (standing(robot).step(q, v).torque for robot in robots)
    for torque in others:
        assert np.allclose(torque, expected, atol=1e-7)


def test_loops_that_measurements_leave_open_do_not_fail_a_tick() -> None:
    """Redundant rows that contradict each other by what the state is off."""
    robot = linkage("weld")
    rng = np.random.default_rng(0)
    q, v = closed_state(robot, 0)
    solution = moving_crank(robot).step(q + 1e-3 * rng.normal(size=robot.nq), v + 1e-2 * rng.normal(size=robot.nv))
    assert solution.status == "optimal" and np.isfinite(solution.torque).all()
    assert solution.certificate.equation_of_motion < 1e-8


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", ROBOTS)
def test_what_a_controller_says_holds_in_states_in_which_loops_are_open_or_lock(name: str, solver: str) -> None:
    robot, rng = linkage(name), np.random.default_rng(4)
    joint = "one" if "one" in robot.joint_names else "crank"
    crank = tasks.JointAcceleration([0.5], joints=[joint], gains=wbc.Gains(2.0))
    speed = tasks.FrameSpeedLimit(robot.model.frame_names[-1], 0.3)
    levels = tasks.EquationOfMotion() / tasks.TorqueLimits() / crank / speed / tasks.TorqueMinimization()
    ours = controller(robot, wbc.Stack(levels), solver)
    for k in range(40):
        q = robot.integrate(robot.model.nominal, 10.0 ** rng.uniform(-3.0, 4.0) * rng.normal(size=robot.nv))
        solution = ours.step(q, rng.normal(size=robot.nv), 1e-3 * k)
        assert not wrong(robot, solution, False), (k, wrong(robot, solution, False))


def test_joint_limits_of_coupled_joints_do_not_contradict_each_other(tmp_path: Path) -> None:
    robot = wbc.load(write(tmp_path / "gripper.urdf", mimicking('<mimic joint="finger" multiplier="1"/>')), "numpy")
    finger = tasks.JointAcceleration([5.0], joints=["finger"], gains=wbc.Gains(2.0))
    levels = tasks.EquationOfMotion() / (tasks.TorqueLimits() + tasks.JointLimits()) / finger
    one, plant = wbc.Controller(robot, wbc.Stack(levels)), wbc.Simulator(robot)
    log = wbc.run(one, plant, 1.5)
    assert log.status.count("optimal") >= 0.99 * len(log)  # at the limit both bounds are met, to rounding
    assert np.allclose(plant.state[0], 2.0, atol=1e-3), "both stop at the limit"


def test_physics_tells_of_its_loops() -> None:
    robot = linkage("four-bar")
    one = moving_crank(robot)
    solution = one.step(*closed_state(robot, 0))
    tick = solution._tick
    physics = tasks.EquationOfMotion()
    rows = physics.rows(robot_in(robot, solution), tick)
    assert len(rows) == robot.nv + 3 == len(physics.row_names(robot, tick))
    assert physics.row_names(robot, tick)[-1] == "z of loop" and tick.loop_force_of("loop") == slice(0, 3)
    assert np.allclose(rows.matrix(tick) @ solution._x, rows.lower, atol=1e-9)
    assert "equation of motion: holds" in solution.explain()
    assert np.abs(solution.levels[0].residual["equation of motion"]).max() < 1e-9
    with pytest.raises(wbc.WbcError, match="loop 'lop'.*'loop'"):
        tick.loop_force_of("lop")


def robot_in(robot: wbc.Dynamics, solution: wbc.Solution) -> wbc.Dynamics:
    robot.update(solution.q, solution.v)
    return robot


def test_the_fallback_holds_the_weight_through_the_loops() -> None:
    robot = linkage("four-bar")
    robot.update(robot.model.nominal)
    torque = fallback_torque(robot, wbc.Tick(robot).contact_jacobian(robot))
    assert np.abs(robot.forward_dynamics(robot.q, robot.v, torque)).max() < 1e-6
    assert np.abs(torque).max() > 0.1


def test_formulas_for_trees_are_refused() -> None:
    robot = wbc.load(mujoco.MjModel.from_xml_string(FOUR_BAR))
    with pytest.raises(wbc.WbcError, match="closed loops \\('loop', ...\\)"):
        wbc.classical.JointPD(robot)
