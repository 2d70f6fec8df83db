"""The classical controllers: their laws as printed, the stacks they are equal to, what they do in simulation."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from tests.classical.test_task_space import standing_state, state
from tests.control.scenes import contacts, controller
from tests.equations import equation
from wbc import classical
from wbc.geometry import euler, so3

pytestmark = pytest.mark.filterwarnings("ignore:no task bounds the forces")

EXACT = {"rtol": 1e-8, "atol": 1e-8}
NONE = wbc.Gains(kp=0.0, kd=0.0)


# --- joints -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
@equation("ETH 3.73", "joints as springs and dampers", classical.JointPD)
@equation("ETH 3.75", "PD with gravity compensation", classical.JointPD, tasks.JointImpedance)
@equation("ETH 3.76", "computed torque", classical.ComputedTorque)
@equation("ETH 3.77", "computed torque decouples the joints", classical.ComputedTorque)
@equation("ETH 3.78", "desired acceleration of joints", classical.ComputedTorque, tasks.JointAcceleration)
def test_joint_laws_as_printed(seed: int) -> None:
    robot, rng = state("arm", seed)
    q, dq = robot.q, robot.v
    wanted, rate, acceleration = rng.normal(size=(3, 7))
    kp, kd = rng.uniform(10, 90, 7), rng.uniform(1, 9, 7)
    gains = wbc.Gains(kp=kp, kd=kd)
    spring = kp * (wanted - q) + kd * (rate - dq)

    def path(t: float):
        return wanted, rate, acceleration

    plain = classical.JointPD(robot, path, gains, gravity=False).step(q, dq)
    assert np.allclose(plain.torque, spring, **EXACT)
    assert np.allclose(classical.JointPD(robot, path, gains).step(q, dq).torque, spring + robot.gravity_force, **EXACT)
    tick = wbc.Tick(robot)
    _, torque = tasks.JointImpedance(path, gains=gains).matrices(robot, tick)
    assert np.allclose(torque, spring + robot.gravity_force, **EXACT)
    _, asked = tasks.JointAcceleration(wanted, gains=gains, velocity=rate).matrices(robot, tick)
    assert np.allclose(asked, spring, **EXACT)  # (3.78)
    held = classical.ComputedTorque(robot, path, gains).step(q, dq)
    g = robot.gravity_force
    assert np.allclose(held.torque, robot.mass_matrix @ (acceleration + spring) + (robot.bias - g) + g, **EXACT)
    assert np.allclose(held.acceleration, acceleration + spring, **EXACT)  # (3.77): each joint a unit mass


@pytest.mark.parametrize("seed", range(3))
def test_computed_torque_and_pd_are_stacks(seed: int) -> None:
    robot, rng = state("arm", seed)
    target, gains = rng.normal(size=7), wbc.Gains(2.0, 0.7)
    for law, task in (
        (classical.ComputedTorque(robot, target, gains), tasks.JointAcceleration(target, gains=gains)),
        (classical.JointPD(robot, target, gains), tasks.JointImpedance(target, gains=gains)),
    ):
        one = law.step(robot.q, robot.v)
        stack = wbc.Stack(tasks.EquationOfMotion() / task)
        other = controller(robot, stack, "hierarchical-qp", actuator_limits=False).step(robot.q, robot.v)
        assert np.allclose(one.torque, other.torque, **EXACT)
        assert np.allclose(one.acceleration, other.acceleration, **EXACT)


@pytest.mark.parametrize("simulator", ["builtin", "mujoco"])
@equation("ETH 3.74", "steady-state error without gravity compensation", classical.JointPD)
def test_pd_reaches_its_target_with_gravity_compensation_and_sags_without(simulator: str) -> None:
    robot = wbc.load("arm", "numpy")
    target = robot.model.nominal + 0.2
    gains = wbc.Gains(kp=[300, 300, 200, 200, 50, 50, 20], kd=[40, 40, 30, 30, 5, 5, 2])
    final = {}
    for gravity in (True, False):
        law = classical.JointPD(robot, target, gains, gravity=gravity, period=2e-3)
        plant = wbc.Simulator(robot, timestep=2e-3) if simulator == "builtin" else wbc.MujocoSimulator(robot)
        log = wbc.run(law, plant, 1.4)
        assert log.ended == "finished" and set(log.status) == {"optimal"}
        final[gravity] = log.q[-1]
    assert np.abs(target - final[True]).max() < 2e-3
    away = target - final[False]
    assert np.abs(away).max() > 0.02
    robot.update(final[False])
    friction = [joint.friction for joint in robot.model.joints.values() if joint.nv]
    assert np.allclose(robot.gravity_force, gains.kp * away, atol=0.1 + 1.5 * max(friction))  # (3.74)


@equation("ETH 3.79", "frequency of a controlled joint", wbc.Gains)
@equation("ETH 3.80", "damping ratio of a controlled joint", wbc.Gains)
def test_the_printed_gains_are_those_of_3_hz() -> None:
    gains = wbc.Gains(3.0)
    assert np.sqrt(gains.kp) == pytest.approx(2 * np.pi * 3.0)
    assert gains.kd / (2 * np.sqrt(gains.kp)) == pytest.approx(1.0)
    assert round(gains.kp, -1) in (350, 360) and gains.kp == pytest.approx(350, rel=0.02)  # printed: 350
    assert int(2 * np.sqrt(350.0)) == 37  # printed; critically damped at the printed stiffness
    assert gains.kd == pytest.approx(37, rel=0.02)


# --- end effectors ----------------------------------------------------------------------------------------------------


def reach(robot, rng, scale: float = 3.0):
    """ẇ*, and a task that asks for it."""
    wanted = rng.normal(scale=scale, size=6)
    return wanted, tasks.EndEffectorAcceleration("tool", robot.pose("tool"), NONE, acceleration=wanted)


@pytest.mark.parametrize("seed", range(3))
@equation("ETH 3.90", "torque of end-effector motion", classical.TaskSpaceControl)
@equation("ETH 3.93", "torque of end-effector motion, again", classical.TaskSpaceControl)
def test_task_space_control_is_the_printed_law_and_the_operational_space_solver(seed: int) -> None:
    robot, rng = state("arm", seed)
    wanted, motion = reach(robot, rng)
    solution = classical.TaskSpaceControl(robot, motion).step(robot.q, robot.v)
    J, M, g = robot.jacobian("tool"), robot.mass_matrix, robot.gravity_force
    Lambda = np.linalg.inv(J @ np.linalg.solve(M, J.T))
    mu = Lambda @ (J @ np.linalg.solve(M, robot.bias - g) - robot.jacobian_bias("tool"))
    p = Lambda @ J @ np.linalg.solve(M, g)
    assert np.allclose(solution.torque, J.T @ (Lambda @ wanted + mu + p), rtol=1e-7, atol=1e-6)
    stack = wbc.Stack(tasks.EquationOfMotion() / motion)
    solved = controller(robot, stack, "operational-space", actuator_limits=False).step(robot.q, robot.v)
    assert np.allclose(solution.torque, solved.torque, rtol=1e-7, atol=1e-6)
    assert np.allclose(J @ solution.acceleration + robot.jacobian_bias("tool"), wanted, atol=1e-7)


@pytest.mark.parametrize("seed", range(2))
@equation("ETH 3.94", "end-effector torque by J's inverse", classical.TaskSpace.project)
@equation("ETH 3.95", "task-space control with b and g", classical.TaskSpaceControl)
@equation("ETH 3.96", "task-space control, short", classical.TaskSpaceControl)
def test_with_a_posture_all_of_gravity_is_compensated_and_the_tool_does_not_notice(seed: int) -> None:
    robot, rng = state("arm", seed)
    wanted, motion = reach(robot, rng)
    J, M, h = robot.jacobian("tool"), robot.mass_matrix, robot.bias
    space = classical.TaskSpace.of_frame(robot, "tool")
    Lambda = space.inertia
    inverse_T = np.linalg.inv(J @ np.linalg.solve(M, J.T)) @ J @ np.linalg.inv(M)  # the inverse of Jᵀ in (3.94)
    assert np.allclose(space.project(h), inverse_T @ h, rtol=1e-6, atol=1e-6)
    assert np.allclose(space.project(J.T @ np.arange(6.0)), np.arange(6.0), atol=1e-8)
    idle = classical.ComputedTorque(robot, robot.q, NONE)  # asks for no joint acceleration
    law = classical.TaskSpaceControl(robot, motion, idle)
    tau = law.step(robot.q, robot.v).torque
    g = robot.gravity_force
    b_tilde = (h - g) - J.T @ Lambda @ robot.jacobian_bias("tool")
    assert np.allclose(tau, J.T @ Lambda @ wanted + b_tilde + g, rtol=1e-7, atol=1e-6)  # (3.96)
    # where J can be inverted, (3.93) is it too: six joints of the seven
    stiff = classical.ComputedTorque(robot, robot.q + 0.5, wbc.Gains(3.0))
    moved = classical.TaskSpaceControl(robot, motion, stiff).step(robot.q, robot.v)
    assert np.allclose(J @ moved.acceleration + robot.jacobian_bias("tool"), wanted, atol=1e-6)
    assert not np.allclose(moved.torque, tau, atol=1.0)


@pytest.mark.parametrize("seed", range(2))
@equation("ETH 3.91", "desired acceleration of an end effector", tasks.EndEffectorAcceleration)
def test_desired_acceleration_of_an_end_effector_as_printed(seed: int) -> None:
    robot, rng = state("arm", seed)
    target, velocity = np.eye(4), rng.normal(size=6)
    target[:3, :3], target[:3, 3] = so3.exp(rng.normal(size=3)), rng.normal(size=3)
    gains = wbc.Gains(kp=rng.uniform(10, 90, 6), kd=rng.uniform(1, 9, 6))
    law = classical.TaskSpaceControl(robot, tasks.EndEffectorAcceleration("tool", target, gains, velocity=velocity))
    solution = law.step(robot.q, robot.v)
    T, w = robot.pose("tool"), robot.twist("tool")
    turn = so3.log(target[:3, :3] @ T[:3, :3].T)
    error = np.concatenate([target[:3, 3] - T[:3, 3], turn])
    wanted = gains.kp * error + gains.kd * (velocity - w)
    got = robot.jacobian("tool") @ solution.acceleration + robot.jacobian_bias("tool")
    assert np.allclose(got, wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
@equation("ETH 3.92", "small rotation errors by Euler angles", euler.rates_to_angular_velocity)
def test_small_rotation_errors_by_the_difference_of_euler_angles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    chi, small = rng.uniform(-1.0, 1.0, 3), 1e-5 * rng.normal(size=3)
    R, wanted = euler.to_matrix(chi, "zyx"), euler.to_matrix(chi + small, "zyx")
    error = so3.log(wanted @ R.T)
    assert np.allclose(euler.rates_to_angular_velocity(chi, "zyx") @ small, error, atol=1e-9)
    assert not np.allclose(small, error, atol=1e-6)  # without E it would be wrong


@pytest.mark.parametrize("seed", range(2))
@equation("ETH 3.97", "motion and force of an end effector", classical.HybridControl)
def test_hybrid_control_as_printed(seed: int) -> None:
    robot, rng = state("arm", seed)
    wanted, motion = reach(robot, rng)
    f = rng.normal(scale=20.0, size=6)
    S = classical.selection_matrices((1, 0, 1), (1, 1, 0), so3.exp(rng.normal(size=3)))
    touch = wbc.SurfaceContact("tool", 10.0, corners=[(0.1, 0.1), (-0.1, 0.1), (0, -0.1)])
    law = classical.HybridControl(robot, "tool", motion, f, S, contact=touch)
    solution = law.step(robot.q, robot.v)
    J, space = robot.jacobian("tool"), classical.TaskSpace.of_frame(robot, "tool")
    F_c = -f  # what the robot exerts
    printed = J.T @ (space.inertia @ S.motion @ wanted + S.force @ F_c + space.coriolis + space.gravity)
    assert np.allclose(solution.torque, printed, rtol=1e-8, atol=1e-7)
    # where the environment pushes back like this, the tool moves as wanted and only along the axes of motion
    moved = J @ robot.forward_dynamics(robot.q, robot.v, solution.torque, {"tool": S.force @ f})
    assert np.allclose(moved + robot.jacobian_bias("tool"), S.motion @ wanted, atol=1e-6)
    assert np.allclose(solution.forces["tool"], S.force @ f, atol=1e-9)
    assert solution.certificate.equation_of_motion < 1e-9
    assert np.allclose(J @ solution.acceleration + robot.jacobian_bias("tool"), S.motion @ wanted, atol=1e-6)


def test_hybrid_control_presses_on_a_table_and_slides_along_it() -> None:
    robot = wbc.load("arm", "numpy")
    robot.update(robot.model.nominal)
    start = robot.pose("tool").copy()

    def path(t: float):
        T, w, a = start.copy(), np.zeros(6), np.zeros(6)
        T[1, 3] += 0.05 * (1.0 - np.cos(np.pi * t))
        w[1], a[1] = 0.05 * np.pi * np.sin(np.pi * t), 0.05 * np.pi**2 * np.cos(np.pi * t)
        return T, w, a

    plant = wbc.Simulator(robot, 2e-3, contacts="tool", height=start[2, 3], friction=0.0)
    law = classical.HybridControl(
        robot,
        "tool",
        tasks.EndEffectorAcceleration("tool", path, wbc.Gains(4.0)),
        [0, 0, 15.0, 0, 0, 0],
        classical.selection_matrices((1, 1, 0)),
        classical.ComputedTorque(robot, robot.model.nominal),
        contact=wbc.PointContact("tool"),
        period=2e-3,
    )
    pressed = []
    log = wbc.run(law, plant, 1.0, until=lambda now, solution: pressed.append(plant.point_forces[0, 2]) or False)
    late = log.time > 0.2
    assert np.allclose(np.array(pressed)[late], 15.0, atol=0.5)
    assert np.allclose(log.forces[:, 0], [0, 0, 15.0])
    for t, q in zip(log.time[::25], log.q[::25], strict=True):
        robot.update(q)
        assert np.linalg.norm(robot.pose("tool")[:2, 3] - path(t)[0][:2, 3]) < 2e-3


@pytest.mark.parametrize("seed", range(3))
@equation("ETH 3.82", "tasks of equal priority", classical.multi_task_acceleration)
@equation("ETH 3.83", "tasks in priority", classical.multi_task_acceleration)
def test_multi_task_accelerations_as_printed(seed: int) -> None:
    robot, rng = state("arm", seed)
    a, b = rng.normal(scale=3.0, size=6), rng.normal(scale=3.0, size=6)

    def on(frame: str, wanted: np.ndarray, axes: str, name: str):
        return tasks.EndEffectorAcceleration(frame, robot.pose(frame), NONE, axes=axes, acceleration=wanted, name=name)

    J1, J2 = robot.jacobian("tool"), robot.jacobian("link_4")[:3]
    d1, d2 = robot.jacobian_bias("tool"), robot.jacobian_bias("link_4")[:3]
    # (3.82): together, the rows are more than seven joints can do
    together = classical.multi_task_acceleration(
        robot, on("tool", a, "pose", "tool") + on("link_4", b, "position", "elbow")
    )
    expected = np.linalg.pinv(np.vstack([J1, J2])) @ (np.concatenate([a, b[:3]]) - np.concatenate([d1, d2]))
    assert np.allclose(together, expected, rtol=1e-7, atol=1e-7)
    # (3.83): the recursion, N of the stacked Jacobian of those above
    ordered = classical.multi_task_acceleration(
        robot, on("tool", a, "pose", "tool") / on("link_4", b, "position", "elbow")
    )
    q1 = np.linalg.pinv(J1) @ (a - d1)
    N2 = np.eye(7) - np.linalg.pinv(J1) @ J1
    q2 = np.linalg.pinv(J2 @ N2, rcond=1e-9) @ (b[:3] - d2 - J2 @ q1)
    assert np.allclose(ordered, q1 + N2 @ q2, rtol=1e-6, atol=1e-6)
    assert np.allclose(J1 @ ordered + d1, a, atol=1e-7)
    # weights multiply squared residuals
    heavy = on("link_4", b, "position", "elbow")
    heavy.weight = 9.0
    weighted = classical.multi_task_acceleration(robot, on("tool", a, "pose", "tool") + heavy)
    expected = np.linalg.pinv(np.vstack([J1, 3 * J2])) @ np.concatenate([a - d1, 3 * (b[:3] - d2)])
    assert np.allclose(weighted, expected, rtol=1e-7, atol=1e-7)
    assert not np.allclose(weighted, together, atol=1e-3)


# --- on contacts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "seed"), [("quadruped", 0), ("quadruped", 1), ("humanoid", 0)])
def test_inverse_dynamics_is_the_stack_of_least_torque(name: str, seed: int) -> None:
    robot, rng, _, _, feet = standing_state(name, seed)
    base = tasks.EndEffectorAcceleration("base", robot.model.nominal[:3], axes="position", name="base")
    posture = tasks.JointAcceleration(robot.model.nominal[7:])
    law = classical.InverseDynamics(robot, base / posture, feet)
    solution = law.step(robot.q, robot.v)
    still = tasks.ContactMotion(NONE)
    stack = wbc.Stack(tasks.EquationOfMotion() / still / base / posture / tasks.TorqueMinimization(), contacts=feet)
    solved = controller(robot, stack, "nullspace", actuator_limits=False).step(robot.q, robot.v)
    scale = np.abs(solved.torque).max()
    assert np.allclose(solution.torque / scale, solved.torque / scale, atol=1e-7)
    assert np.allclose(solution.acceleration, solved.acceleration, rtol=1e-6, atol=1e-5)
    assert solution.certificate.equation_of_motion < 1e-8
    # (3.101): what is added changes forces, not motion
    extra = rng.normal(scale=10.0, size=robot.na)
    other = classical.InverseDynamics(robot, base / posture, feet, free_torque=lambda t: extra)
    pushed = other.step(robot.q, robot.v)
    assert np.allclose(pushed.acceleration, solution.acceleration, rtol=1e-6, atol=1e-5)
    assert np.abs(pushed.torque - solution.torque).max() > 1e-2
    A = law.support(robot, wbc.Tick(robot, feet)).null_space.T[:, robot.actuated]
    free = np.eye(robot.na) - np.linalg.pinv(A, rcond=1e-9) @ A
    assert np.allclose(pushed.torque, solution.torque + free @ extra, atol=1e-6 * scale)


@pytest.mark.parametrize("simulator", ["builtin", "mujoco"])
def test_inverse_dynamics_stands_and_takes_a_push(simulator: str) -> None:
    robot = wbc.load("quadruped", "numpy")
    motions = tasks.EndEffectorAcceleration("base", gains=wbc.Gains(2.0)) / tasks.JointAcceleration(
        gains=wbc.Gains(1.5)
    )
    law = classical.InverseDynamics(robot, motions, contacts(robot), period=2e-3)
    plant = wbc.Simulator(robot, timestep=2e-3) if simulator == "builtin" else wbc.MujocoSimulator(robot)
    log = wbc.run(law, plant, 1.2, disturbances=[wbc.Push("base", (20.0, 30.0, 0.0), 0.2, 0.1)])
    assert log.ended == "finished"
    moved = np.abs(log.q[:, :3] - log.q[0, :3])
    assert 1e-3 < moved.max() < 0.05
    assert moved[-1].max() < 3e-3
