"""The equations of ETH 2.6 to 2.10, evaluated beside our functions: printed formulas on one side, ours on the other."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from tests.equations import equation
from tests.kinematics.test_jacobians import along
from wbc import kinematics
from wbc.dynamics import Dynamics
from wbc.geometry import pose, quaternion, so3, twist
from wbc.kinematics import (
    DifferentialKinematics,
    damped_pseudo_inverse,
    null_space_projector,
    pseudo_inverse,
    weighted_pseudo_inverse,
)
from wbc.model import Body, Joint, Model
from wbc.solvers import HierarchicalQP, Level, NullSpace

ANGLES = [(0.3, -0.4, 0.5), (np.pi / 6, np.pi / 3, np.pi / 3), (2.4, -1.3, 2.8)]


def moving(name: str, seed: int, size: float = 1.0) -> Dynamics:
    robot, rng = wbc.load(name, "numpy"), np.random.default_rng(seed)
    robot.update(robot.random(rng), size * rng.normal(size=robot.nv))
    return robot


# --- 2.6, 2.7: one body -----------------------------------------------------------------------------------------------


def poses(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two random transforms and a point."""
    rng = np.random.default_rng(seed)
    T = [pose.homogeneous(so3.exp(2 * rng.normal(size=3)), rng.normal(size=3)) for _ in range(2)]
    return T[0], T[1], rng.normal(size=3)


@equation("ETH 2.109", "a point in another frame", pose.transform_point)
@equation("ETH 2.110", "homogeneous transform of a point", pose.homogeneous)
@equation("ETH 2.111", "inverse of a homogeneous transform", pose.inverse)
@equation("ETH 2.112", "product of homogeneous transforms", pose.compose)
@equation("ETH 2.117", "position of a point of a body", pose.transform_point)
def test_homogeneous_transforms() -> None:
    T_ab, T_bc, p = poses(0)
    C, r = T_ab[:3, :3], T_ab[:3, 3]
    assert np.allclose(pose.transform_point(T_ab, p), r + C @ p)
    assert np.allclose(pose.homogeneous(C, r) @ np.r_[p, 1], np.r_[r + C @ p, 1])
    printed = np.block([[C.T, -(C.T @ r)[:, None]], [np.zeros((1, 3)), 1]])
    assert np.allclose(pose.inverse(T_ab), printed)
    assert np.allclose(pose.compose(T_ab, T_bc), T_ab @ T_bc)
    through = pose.transform_point(T_ab, pose.transform_point(T_bc, p))
    assert np.allclose(pose.transform_point(pose.compose(T_ab, T_bc), p), through)


@equation("ETH 2.113", "the transform of example 2.6.1", pose.homogeneous)
def test_printed_transform() -> None:
    T = pose.homogeneous(so3.elementary_x(np.pi / 2), [0, 3, 1])
    assert np.allclose(T, [[1, 0, 0, 0], [0, 0, -1, 3], [0, 1, 0, 1], [0, 0, 0, 1]])


@equation("ETH 2.119", "velocity of a point, by rotation", Dynamics.twist)
@equation("ETH 2.120", "velocity of a point of a body", Dynamics.twist)
@equation("ETH 2.121", "rigid body formulation of velocity", Dynamics.twist)
@equation("ETH 2.122", "rigid body formulation of acceleration", Dynamics.jacobian_bias)
@equation("ETH 2.118", "derivative of a point's position", Dynamics.twist)
@equation("ETH 2.124", "velocity is the rate in world axes", Dynamics.twist)
@pytest.mark.parametrize("name", ["arm", "humanoid"])
def test_rigid_body_formulation(name) -> None:
    """Two frames of one body: what one does gives what the other does; and positions by differences say the same."""
    robot = moving(name, 3, 2.0)
    robot.add_frame("point", robot.frames[-1], [0.3, -0.2, 0.4])
    rng = np.random.default_rng(0)
    vdot = 5 * rng.normal(size=robot.nv)
    B, P = robot.frames[-2], "point"
    C = robot.pose(B)[:3, :3]
    r_BP = robot.pose(P)[:3, 3] - robot.pose(B)[:3, 3]
    assert np.allclose(r_BP, C @ [0.3, -0.2, 0.4])
    w = robot.twist(B)
    omega = w[3:]
    assert np.allclose(robot.twist(P)[:3], w[:3] + so3.skew(omega) @ C @ [0.3, -0.2, 0.4])
    assert np.allclose(robot.twist(P)[:3], w[:3] + np.cross(omega, r_BP))
    a = robot.jacobian(B) @ vdot + robot.jacobian_bias(B)
    a_P = robot.jacobian(P) @ vdot + robot.jacobian_bias(P)
    assert np.allclose(a_P[:3], a[:3] + np.cross(a[3:], r_BP) + np.cross(omega, np.cross(omega, r_BP)))
    rate = along(robot, robot.q, robot.v, lambda: robot.pose(P)[:3, 3])
    assert np.allclose(rate, robot.twist(P)[:3], atol=1e-7)


@equation("ETH 2.125", "velocity of a point, seen from a body", twist.mixed_to_left)
@equation("ETH 2.126", "Euler differentiation rule, by the rate of C", twist.mixed_to_left)
@equation("ETH 2.127", "Euler differentiation rule, by the world's ω", twist.mixed_to_left)
@equation("ETH 2.128", "Euler differentiation rule, by matrices", twist.mixed_to_left)
@equation("ETH 2.129", "Euler differentiation rule", twist.mixed_to_left)
def test_euler_differentiation_rule() -> None:
    """ᴮv_P = d/dt(ᴮr_P) + ᴮω × ᴮr_P for a body that turns, and a point that moves freely."""
    rng = np.random.default_rng(1)
    R0, omega, p0, v = so3.exp(2 * rng.normal(size=3)), rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)
    h = 1e-5

    def in_body(t):
        return so3.integrate(R0, omega, t).T @ (p0 + v * t)

    rate = (in_body(h) - in_body(-h)) / (2 * h)
    left = twist.mixed_to_left(pose.homogeneous(R0, p0)) @ np.r_[v, omega]  # of a frame at P that turns with B
    R_rate = (so3.integrate(R0, omega, h) - so3.integrate(R0, omega, -h)) / (2 * h)
    r = R0.T @ p0
    assert np.allclose(left[:3], R0.T @ (R0 @ rate + R_rate @ r), atol=1e-8)  # (2.126)
    assert np.allclose(left[:3], R0.T @ (R0 @ rate + so3.skew(omega) @ R0 @ r), atol=1e-9)  # (2.127)
    assert np.allclose(left[:3], rate + np.cross(left[3:], R0.T @ p0), atol=1e-9)
    assert np.allclose(left[:3], rate + R0.T @ so3.skew(omega) @ R0 @ R0.T @ p0, atol=1e-9)


# --- 2.8: the planar arm ----------------------------------------------------------------------------------------------


def planar(q) -> Dynamics:
    robot = wbc.load("planar_arm", "numpy")
    robot.update(q, [0.7, -1.1, 0.4])
    return robot


def sums(q):
    """Sin and cos of q₁, q₁ + q₂, q₁ + q₂ + q₃; all lengths are 1."""
    return np.sin(np.cumsum(q)), np.cos(np.cumsum(q))


@pytest.mark.parametrize("q", ANGLES)
@equation("ETH 2.130", "transform of one joint", Dynamics.pose)
@equation("ETH 2.137", "forward kinematics", kinematics.end_effector_coordinates)
@equation("ETH 2.138", "forward kinematics by transforms", Dynamics.pose)
@equation("ETH 2.140", "position and angle of a planar arm", kinematics.end_effector_coordinates)
@equation("ETH 2.141", "position of a planar arm's hand", Dynamics.pose)
@equation("ETH 2.142", "angle of a planar arm's hand", Dynamics.pose)
@equation("ETH 2.169", "rotation of the first link", Dynamics.pose)
@equation("ETH 2.170", "rotation of the second link", Dynamics.pose)
@equation("ETH 2.171", "rotation of the third link", Dynamics.pose)
def test_forward_kinematics_of_the_planar_arm(q) -> None:
    robot, (s, c) = planar(q), sums(q)
    joints = [pose.homogeneous(so3.elementary_y(angle), [0, 0, 1]) for angle in q]
    tip = pose.homogeneous(np.eye(3), [0, 0, 1])
    assert np.allclose(robot.pose("end_effector"), pose.compose(*joints, tip))
    for link, frame in enumerate(["link_1", "link_2", "link_3"]):
        C = [[c[link], 0, s[link]], [0, 1, 0], [-s[link], 0, c[link]]]
        assert np.allclose(robot.pose(frame)[:3, :3], C)
    chi = kinematics.end_effector_coordinates(robot.pose("end_effector"), rotation="rotation-vector")
    assert np.allclose(chi[[0, 2]], [s.sum(), 1 + c.sum()])
    turn = sum(q)
    assert np.allclose(chi[3:], [0, (turn + np.pi) % (2 * np.pi) - np.pi, 0])


@pytest.mark.parametrize("q", ANGLES)
@equation("ETH 2.145", "analytical Jacobian", kinematics.analytical_jacobian)
@equation("ETH 2.148", "position and rotation Jacobian", kinematics.analytical_jacobian)
@equation("ETH 2.149", "position Jacobian, planar arm", kinematics.analytical_jacobian)
@equation("ETH 2.150", "rotation Jacobian, planar arm", kinematics.analytical_jacobian)
@equation("ETH 2.186", "geometric position Jacobian, planar arm", Dynamics.jacobian)
@equation("ETH 2.188", "geometric rotation Jacobian, planar arm", Dynamics.jacobian)
def test_jacobians_of_the_planar_arm(q) -> None:
    robot, (s, c) = planar(q), sums(q)
    x_row, z_row = np.cumsum(c[::-1])[::-1], -np.cumsum(s[::-1])[::-1]
    J = kinematics.analytical_jacobian(robot, "end_effector")
    assert np.allclose(J[[0, 2]], [x_row, z_row])
    assert np.allclose(J[4], 1.0)
    assert np.allclose(J[[1, 3, 5]], 0.0)  # it stays in its plane
    assert np.allclose(robot.jacobian("end_effector")[:3], [x_row, 0 * x_row, z_row])
    assert np.allclose(robot.jacobian("end_effector")[3:], [[0, 0, 0], [1, 1, 1], [0, 0, 0]])


@pytest.mark.parametrize("q", ANGLES)
@equation("ETH 2.172", "local axes of the planar arm", Joint)
@equation("ETH 2.173", "first axis of the planar arm", Dynamics.pose)
@equation("ETH 2.174", "second axis of the planar arm", Dynamics.pose)
@equation("ETH 2.175", "third axis of the planar arm", Dynamics.pose)
@equation("ETH 2.176", "first joint to hand, link by link", Dynamics.pose)
@equation("ETH 2.177", "first joint to hand, by rotations", Dynamics.pose)
@equation("ETH 2.178", "from the first joint to the hand", Dynamics.pose)
@equation("ETH 2.179", "second joint to hand, link by link", Dynamics.pose)
@equation("ETH 2.180", "second joint to hand, by rotations", Dynamics.pose)
@equation("ETH 2.181", "from the second joint to the hand", Dynamics.pose)
@equation("ETH 2.182", "third joint to hand, one link", Dynamics.pose)
@equation("ETH 2.183", "third joint to hand, by rotation", Dynamics.pose)
@equation("ETH 2.184", "from the third joint to the hand", Dynamics.pose)
@equation("ETH 2.185", "position Jacobian by axes, planar arm", Dynamics.jacobian)
@equation("ETH 2.187", "rotation Jacobian by axes, planar arm", Dynamics.jacobian)
def test_basic_jacobian_step_by_step(q) -> None:
    """Example 2.8.7."""
    robot, (s, c) = planar(q), sums(q)
    links = [np.array([s[k], 0, c[k]]) for k in range(3)]  # l_k, all 1
    J, axis = robot.jacobian("end_effector"), np.array([0.0, 1.0, 0.0])
    names = ["link_1", "link_2", "link_3", "end_effector"]
    places, turns = [robot.pose(name)[:3, 3] for name in names], [robot.pose(name)[:3, :3] for name in names]
    for k, frame in enumerate(names[:3]):
        joint = robot.model.joint(f"joint_{k + 1}")
        assert np.array_equal(joint.axis, axis)  # (2.172)
        before = np.eye(3) if k == 0 else robot.pose(f"link_{k}")[:3, :3]
        assert np.allclose(before @ joint.axis, axis)
        r_kE = robot.pose("end_effector")[:3, 3] - robot.pose(frame)[:3, 3]
        assert np.allclose(r_kE, sum(b - a for a, b in zip(places[k:], places[k + 1 :], strict=False)))  # (2.176)
        assert np.allclose(r_kE, sum(turn @ [0, 0, 1] for turn in turns[k:3]))  # (2.177)
        assert np.allclose(r_kE, sum(links[k:]))
        assert np.allclose(J[:3, k], np.cross(axis, r_kE))
        assert np.allclose(J[3:, k], axis)


@equation("ETH 2.132", "coordinates of a SCARA robot", Dynamics.pose)
@equation("ETH 2.135", "independent operational space coordinates", Dynamics.jacobian)
@equation("ETH 2.136", "operational space of a SCARA robot", Dynamics.jacobian)
def test_a_scara_robot_has_four_operational_space_coordinates() -> None:
    """Examples 2.8.1 and 2.8.4: three turns about the vertical axis and a slide along it."""
    names, (a, b) = ["world", "upper arm", "forearm", "quill", "hand"], (0.4, 0.3)
    kinds, reach = ["revolute", "revolute", "revolute", "prismatic"], [0.0, a, b, 0.0]
    joints = [
        Joint(name, kind, parent, child, pose.homogeneous(np.eye(3), [out, 0, 0]), axis=np.array([0.0, 0, 1]))
        for name, kind, out, parent, child in zip("αβγζ", kinds, reach, names, names[1:], strict=False)
    ]
    robot = wbc.load(Model("scara", [Body(name, 1.0, inertia=np.eye(3)) for name in names[1:]], joints), "numpy")
    assert robot.joint_names == ("α", "β", "γ", "ζ") and robot.nq == 4
    for q in ([0.3, 0.9, -0.5, 0.1], [-1.2, 2.0, 0.4, -0.2]):
        robot.update(q)
        alpha, beta, gamma, zeta = q
        T, x = robot.pose("hand"), alpha + beta
        assert np.allclose(T[:3, 3], [a * np.cos(alpha) + b * np.cos(x), a * np.sin(alpha) + b * np.sin(x), zeta])
        assert np.allclose(T[:3, :3], so3.elementary_z(x + gamma))
        J = robot.jacobian("hand")
        z, places = np.array([0.0, 0, 1]), [robot.pose(name)[:3, 3] for name in names[1:4]]
        turning = [np.r_[np.cross(z, T[:3, 3] - place), z] for place in places]
        assert np.allclose(J, np.column_stack([*turning, np.r_[z, 0, 0, 0]]))
        assert not J[3:5].any()  # x, y, z and a turn about z are all that the hand can do
        assert np.linalg.matrix_rank(J) == np.linalg.matrix_rank(J[[0, 1, 2, 5]]) == 4
    robot.update([0.3, 0.0, 0.1, 0.0])  # stretched out: m₀ is what there is elsewhere
    assert np.linalg.matrix_rank(robot.jacobian("hand"), tol=1e-9) == 3


@equation("ETH 2.143", "forward kinematics, linearised", kinematics.analytical_jacobian)
@equation("ETH 2.144", "small change of coordinates", kinematics.analytical_jacobian)
@equation("ETH 2.146", "finite change of coordinates", kinematics.analytical_jacobian)
def test_the_linearised_forward_kinematics_misses_by_the_square() -> None:
    robot = moving("arm", 2)
    q, dq = robot.q, np.random.default_rng(0).normal(size=7)
    chi, J = kinematics.end_effector_coordinates(robot.pose("tool")), kinematics.analytical_jacobian(robot, "tool")
    missed = []
    for size in (1e-2, 1e-3):
        robot.update(q + size * dq)
        missed.append(np.abs(kinematics.end_effector_coordinates(robot.pose("tool")) - chi - J @ (size * dq)).max())
    assert missed[0] / missed[1] == pytest.approx(100, rel=0.1)


@equation("ETH 2.147", "rates of an end-effector's coordinates", kinematics.analytical_jacobian)
@equation("ETH 2.189", "rates by the analytical Jacobian", kinematics.analytical_jacobian)
@equation("ETH 2.151", "twist by the geometric Jacobian", Dynamics.jacobian)
@equation("ETH 2.190", "velocity by the geometric Jacobian", Dynamics.jacobian)
@equation("ETH 2.193", "velocity of an end-effector", Dynamics.jacobian)
def test_velocities_by_both_jacobians() -> None:
    robot = moving("arm", 4)
    start = robot.pose("tool")[:3, :3]
    rates = along(robot, robot.q, robot.v, lambda: kinematics.end_effector_coordinates(robot.pose("tool")))
    assert np.allclose(kinematics.analytical_jacobian(robot, "tool") @ robot.v, rates, atol=1e-7)
    w = along(
        robot,
        robot.q,
        robot.v,
        lambda: np.r_[robot.pose("tool")[:3, 3], so3.boxminus(robot.pose("tool")[:3, :3], start)],
    )
    assert np.allclose(robot.jacobian("tool") @ robot.v, w, atol=1e-7)


@equation("ETH 2.152", "twist in other axes", Dynamics.jacobian)
@equation("ETH 2.153", "velocity of a frame by another's", Dynamics.jacobian)
@equation("ETH 2.154", "sum of geometric Jacobians", Dynamics.jacobian)
def test_geometric_jacobians_add_up_in_one_frame() -> None:
    robot = moving("arm", 5)
    B, C = robot.pose("link_4"), robot.pose("tool")
    J_B, J_C = robot.jacobian("link_4").copy(), robot.jacobian("tool")
    J_B[:3] -= so3.skew(C[:3, 3] - B[:3, 3]) @ J_B[3:]  # of the point of B's body at C
    alone = wbc.load("arm", "numpy")
    v = robot.v.copy()
    v[: np.flatnonzero(np.abs(J_B).sum(axis=0))[-1] + 1] = 0.0  # B stands still: what is left is C against B
    alone.update(robot.q, v)
    assert np.allclose((J_C - J_B) @ robot.v, alone.twist("tool"))
    R = C[:3, :3]
    assert np.allclose(robot.jacobian("tool", "left"), np.kron(np.eye(2), R.T) @ J_C)


@equation("ETH 2.155", "velocity from link to link", Dynamics.jacobian)
@equation("ETH 2.156", "velocity as a sum over links", Dynamics.jacobian)
@equation("ETH 2.157", "angular velocity of one joint", Dynamics.jacobian)
@equation("ETH 2.158", "angular velocity from link to link", Dynamics.jacobian)
@equation("ETH 2.159", "angular velocity as a sum", Dynamics.jacobian)
@equation("ETH 2.160", "velocity by joints and links", Dynamics.jacobian)
@equation("ETH 2.161", "velocity by joints, sums exchanged", Dynamics.jacobian)
@equation("ETH 2.162", "velocity by joints", Dynamics.jacobian)
@equation("ETH 2.163", "geometric position Jacobian", Dynamics.jacobian)
@equation("ETH 2.164", "geometric rotation Jacobian", Dynamics.jacobian)
@equation("ETH 2.165", "geometric Jacobian", Dynamics.jacobian)
@equation("ETH 2.166", "geometric Jacobian in world axes", Dynamics.jacobian)
@equation("ETH 2.167", "rotation axis in world axes", Dynamics.pose)
@pytest.mark.parametrize("seed", [0, 1])
def test_geometric_jacobian_by_rotation_axes(seed) -> None:
    """For the 7-joint arm, from link poses and joint axes alone."""
    robot = moving("arm", seed, 2.0)
    joints = [joint for joint in robot.model.joints.values() if joint.nv]
    rates = robot.v
    axes = np.array([robot.pose(joint.child)[:3, :3] @ joint.axis for joint in joints])  # n_k; its link turns about it
    places = np.array([robot.pose(joint.child)[:3, 3] for joint in joints] + [robot.pose("tool")[:3, 3]])
    links = np.diff(places, axis=0)  # r_k(k+1)
    columns = [np.r_[np.cross(n, places[-1] - p), n] for n, p in zip(axes, places, strict=False)]
    J = robot.jacobian("tool")
    assert np.allclose(J, np.array(columns).T)
    omega = np.cumsum(axes * rates[:, None], axis=0)
    assert np.allclose(J[3:] @ rates, omega[-1])
    one, two, three = np.zeros(3), np.zeros(3), np.zeros(3)
    for k in range(7):
        one += np.cross(omega[k], links[k])
        for i in range(k + 1):
            two += np.cross(axes[i] * rates[i], links[k])
        three += np.cross(axes[k] * rates[k], links[k:].sum(axis=0))
    for velocity in (one, two, three):
        assert np.allclose(J[:3] @ rates, velocity)
    for k in range(1, 7):  # from link to link
        before, here = robot.twist(joints[k - 1].child), robot.twist(joints[k].child)
        assert np.allclose(here[:3], before[:3] + np.cross(before[3:], links[k - 1]))
        assert np.allclose(here[3:], before[3:] + axes[k] * rates[k])


# --- 2.9.1, 2.9.2: inverse differential kinematics --------------------------------------------------------------------


def answer(*levels):
    """By the solver, of levels that are lists of (J, w)."""
    made = [Level(np.vstack([J for J, _ in level]), *2 * [np.concatenate([w for _, w in level])]) for level in levels]
    return HierarchicalQP().solve(made).x


def two_tasks(seed: int):
    robot, rng = moving("arm", seed), np.random.default_rng(seed)
    return robot.jacobian("tool")[:3], rng.normal(size=3), robot.jacobian("link_4"), rng.normal(size=6)


@equation("ETH 2.194", "joint velocity by pseudo-inverse", pseudo_inverse, DifferentialKinematics)
@equation("ETH 2.209", "joint velocity of least norm", pseudo_inverse, DifferentialKinematics)
def test_one_task_is_the_pseudo_inverse() -> None:
    robot = moving("arm", 1)
    w = np.random.default_rng(0).normal(size=6)
    stack = wbc.Stack(tasks.EndEffectorVelocity("tool", velocity=w))
    v = DifferentialKinematics(robot, stack).step(robot.q).velocity
    J = robot.jacobian("tool")
    assert np.allclose(v, pseudo_inverse(J) @ w, atol=1e-9)
    assert np.allclose(v, J.T @ np.linalg.solve(J @ J.T, w), atol=1e-9)


@equation("ETH 2.208", "damped joint velocity", damped_pseudo_inverse, tasks.VelocityMinimization)
def test_damping_is_a_small_task_on_the_same_level() -> None:
    robot = wbc.load("arm", "numpy")
    robot.update(np.zeros(7))  # stretched out
    w, damping = np.array([0.3, -0.2, 1, 0.5, 0.4, -0.6]), 0.05
    soft = tasks.EndEffectorVelocity("tool", velocity=w) + tasks.VelocityMinimization(weight=damping**2)
    v = DifferentialKinematics(robot, wbc.Stack(soft)).step(robot.q).velocity
    assert np.allclose(v, damped_pseudo_inverse(robot.jacobian("tool"), damping) @ w, atol=1e-9)
    assert np.linalg.norm(v) < np.linalg.norm(w) / (2 * damping)
    J = robot.jacobian("tool")
    assert np.allclose(v, J.T @ np.linalg.inv(J @ J.T + damping**2 * np.eye(6)) @ w, atol=1e-8)


@equation("ETH 2.210", "joint velocity and null-space motion", null_space_projector)
@equation("ETH 2.211", "null-space motion leaves the hand alone", null_space_projector)
@equation("ETH 2.216", "first task and null-space motion", null_space_projector)
def test_null_space_motion_leaves_the_hand_alone() -> None:
    J, w, _, _ = two_tasks(0)
    N, q0 = null_space_projector(J), np.random.default_rng(3).normal(size=7)
    assert np.allclose(J @ (pseudo_inverse(J) @ w + N @ q0), w)
    assert np.linalg.norm(N @ q0) > 0.5


@equation("ETH 2.214", "tasks of equal priority", DifferentialKinematics)
def test_equal_priority_is_the_stacked_pseudo_inverse() -> None:
    robot, w, dq = moving("arm", 2), np.arange(1.0, 7.0), np.linspace(-1, 1, 7)
    hand = tasks.EndEffectorVelocity("tool", velocity=w)
    joints = tasks.JointVelocity(gain=0.0, velocity=dq)
    v = DifferentialKinematics(robot, wbc.Stack(hand + joints)).step(robot.q).velocity
    printed = pseudo_inverse(np.vstack([robot.jacobian("tool"), np.eye(7)])) @ np.r_[w, dq]
    assert np.allclose(v, printed, atol=1e-9)


@equation("ETH 2.215", "weighted pseudo-inverse", weighted_pseudo_inverse, DifferentialKinematics)
def test_weights_are_those_of_the_weighted_pseudo_inverse() -> None:
    robot, w, dq = moving("arm", 3), np.arange(1.0, 7.0), np.linspace(-1, 1, 7)
    hand = tasks.EndEffectorVelocity("tool", velocity=w, weight=5.0)
    joints = tasks.JointVelocity(gain=0.0, velocity=dq, weight=0.3)
    v = DifferentialKinematics(robot, wbc.Stack(hand + joints)).step(robot.q).velocity
    J, weights = np.vstack([robot.jacobian("tool"), np.eye(7)]), np.r_[np.full(6, 5.0), np.full(7, 0.3)]
    W = np.diag(weights)
    assert np.allclose(v, np.linalg.inv(J.T @ W @ J) @ J.T @ W @ np.r_[w, dq], atol=1e-9)
    assert np.allclose(v, weighted_pseudo_inverse(J, weights) @ np.r_[w, dq], atol=1e-9)


@equation("ETH 2.217", "second task in the first's null space", HierarchicalQP)
@equation("ETH 2.218", "null-space motion for the second task", HierarchicalQP)
@equation("ETH 2.219", "two tasks in priority", HierarchicalQP)
@pytest.mark.parametrize("seed", range(3))
def test_two_tasks_in_priority(seed) -> None:
    J1, w1, J2, w2 = two_tasks(seed)
    N1 = null_space_projector(J1)
    q0 = pseudo_inverse(J2 @ N1, 1e-7) @ (w2 - J2 @ pseudo_inverse(J1) @ w1)
    printed = pseudo_inverse(J1) @ w1 + N1 @ q0
    found = answer([(J1, w1)], [(J2, w2)])
    assert np.allclose(found, printed, atol=1e-8)
    assert np.allclose(J1 @ found, w1)
    missed = np.linalg.norm(J2 @ found - w2)  # as near as the first one allows
    assert all(np.linalg.norm(J2 @ (printed + N1 @ d) - w2) >= missed - 1e-9 for d in np.eye(7))


@equation("ETH 2.220", "any number of tasks in priority", NullSpace, HierarchicalQP)
def test_many_tasks_in_priority() -> None:
    """(2.220), with each null space that of all tasks above (it is printed one off)."""
    robot, rng = moving("humanoid", 6), np.random.default_rng(1)
    made = [
        tasks.EndEffectorVelocity("left_hand", velocity=rng.normal(size=6)),
        tasks.EndEffectorVelocity("right_foot", velocity=rng.normal(size=6)),
        tasks.CenterOfMassVelocity(velocity=rng.normal(size=3)),
        tasks.EndEffectorVelocity("right_hand", velocity=rng.normal(size=6)),
        tasks.EndEffectorVelocity("base", velocity=rng.normal(size=6)),
        tasks.JointVelocity(velocity=rng.normal(size=31)),
    ]
    tick = kinematics.VelocityVariables(robot)
    u, above = np.zeros(robot.nv), np.zeros((0, robot.nv))
    for task in made:
        J, w = task.matrices(robot, tick)
        N = null_space_projector(above) if len(above) else np.eye(robot.nv)
        u = u + N @ pseudo_inverse(J @ N, 1e-7) @ (w - J @ u)
        above = np.vstack([above, J])
    for solver in ("nullspace", "hierarchical-qp", "sequential-qp"):
        dk = DifferentialKinematics(robot, wbc.Stack([[task] for task in made]), solver)
        assert np.allclose(dk.step(robot.q).velocity, u, atol=1e-6), solver


@equation("ETH 2.213", "a task: Jacobian and velocity", wbc.Task.matrices)
@equation("ETH 2.221", "desired motion of the hand", tasks.EndEffectorVelocity)
@equation("ETH 2.223", "desired velocity of the hand, numbers", tasks.EndEffectorVelocity)
@equation("ETH 2.224", "Jacobian of the hand, numbers", Dynamics.jacobian)
@equation("ETH 2.227", "velocity of two joints", tasks.JointVelocity)
@equation("ETH 2.237", "null-space projector, numbers", null_space_projector)
def test_example_2_9_1_by_stacks() -> None:
    robot = planar((np.pi / 6, np.pi / 3, np.pi / 3))
    J = robot.jacobian("end_effector")[[0, 2]]
    r = np.sqrt(3)
    assert np.allclose(J, 0.5 * np.array([[0, -r, -r], [-4, -3, -1]]))
    assert np.allclose(null_space_projector(J), np.array([[1, -2, 2], [-2, 4, -4], [2, -4, 4]]) / 9)
    printed = {  # (2.225), (2.230), (2.238)
        "alone": [0.069, -0.560, -0.595],
        "equal": [-0.133, -0.067, -1.132],
        "first": [-0.169, -0.085, -1.070],
    }
    for way, expected in printed.items():
        hand = tasks.EndEffectorVelocity("end_effector", velocity=[1, 0, 1, 0, 0, 0], axes="xz")
        still = tasks.JointVelocity(joints=["joint_1", "joint_2"], gain=0.0)
        A, b = hand.matrices(robot, kinematics.VelocityVariables(robot))
        assert np.allclose(A, J)
        assert np.allclose(b, [1, 1])
        A, b = still.matrices(robot, kinematics.VelocityVariables(robot))
        assert np.array_equal(A, np.eye(2, 3))
        assert not b.any()
        stack = {"alone": wbc.Stack(hand), "equal": wbc.Stack(hand + still), "first": wbc.Stack(hand / still)}[way]
        v = DifferentialKinematics(robot, stack).step(robot.q).velocity
        assert np.abs(v - expected).max() < 5.1e-4, way


# --- 2.9.4: trajectory control ----------------------------------------------------------------------------------------


@equation("ETH 2.256", "position error", tasks.EndEffectorVelocity.error)
@equation("ETH 2.257", "position trajectory control", tasks.EndEffectorVelocity)
@equation("ETH 2.258", "orientation trajectory control", tasks.EndEffectorVelocity)
@pytest.mark.parametrize("name", ["arm", "quadruped"])
def test_trajectory_control(name) -> None:
    robot, rng = moving(name, 8), np.random.default_rng(0)
    frame = {"arm": "tool", "quadruped": "base"}[name]
    T = pose.homogeneous(so3.exp(2 * rng.normal(size=3)), rng.normal(size=3))
    w, k = rng.normal(size=6), 3.0
    task = tasks.EndEffectorVelocity(frame, lambda t: (T, w, np.zeros(6)), k)
    v = DifferentialKinematics(robot, wbc.Stack(task)).step(robot.q).velocity
    now = robot.pose(frame)
    position, rotation = T[:3, 3] - now[:3, 3], so3.boxminus(T[:3, :3], now[:3, :3])
    tick = kinematics.VelocityVariables(robot)
    assert np.allclose(task.error(robot, tick), np.r_[position, rotation])
    printed = pseudo_inverse(robot.jacobian(frame)) @ np.r_[w[:3] + k * position, w[3:] + k * rotation]
    assert np.allclose(v, printed, atol=1e-8)


# --- 2.10: floating bases ---------------------------------------------------------------------------------------------


@equation("ETH 2.260", "position and rotation of a base", Dynamics.pose)
@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_a_floating_base_has_a_position_and_a_rotation(name) -> None:
    robot = moving(name, 16)
    assert np.allclose(robot.pose("base"), pose.homogeneous(quaternion.to_matrix(robot.q[3:7]), robot.q[:3]))


@equation("ETH 2.261", "generalised velocity and acceleration", Dynamics.twist)
@equation("ETH 2.262", "generalised velocity from rates", kinematics.configuration_rates_to_velocity)
@pytest.mark.parametrize("name", ["quadruped", "humanoid", "arm"])
def test_generalised_velocity(name) -> None:
    robot = moving(name, 9, 2.0)
    q, v = robot.q, robot.v
    rates = along(robot, q, v, lambda: robot.q)  # of the quaternion too
    E = kinematics.configuration_rates_to_velocity(robot.model, q)
    assert np.allclose(E @ rates, v, atol=1e-7)
    assert np.allclose(kinematics.velocity_to_configuration_rates(robot.model, q) @ v, rates, atol=1e-7)
    if name != "arm":
        assert np.allclose(E[3:6, 3:7], quaternion.rates_to_angular_velocity(q[3:7], "body"))
        C = robot.pose("base")[:3, :3]
        assert np.allclose(robot.twist("base"), np.r_[v[:3], C @ v[3:6]])
        vdot = np.random.default_rng(0).normal(size=robot.nv)
        a = robot.jacobian("base") @ vdot + robot.jacobian_bias("base")
        assert np.allclose(a, np.r_[vdot[:3], C @ vdot[3:6]])


@equation("ETH 2.263", "position of a frame on a floating base", Dynamics.pose)
@equation("ETH 2.264", "velocity of a point on a floating base", Dynamics.jacobian)
@equation("ETH 2.265", "rotation of a frame on a floating base", Dynamics.pose)
@equation("ETH 2.266", "rate of that rotation", Dynamics.twist)
@equation("ETH 2.267", "angular velocity on a floating base", Dynamics.jacobian)
@equation("ETH 2.268", "spatial Jacobian of a floating base", Dynamics.jacobian)
@pytest.mark.parametrize(("name", "frame"), [("quadruped", "RH_foot"), ("humanoid", "left_hand")])
def test_floating_base_kinematics(name, frame) -> None:
    """From the same robot with its base at the origin, which is the one with a fixed base."""
    robot, fixed = moving(name, 10, 2.0), wbc.load(name, "numpy")
    at_rest = np.r_[0, 0, 0, 1, 0, 0, 0, robot.q[7:]]
    fixed.update(at_rest, np.r_[np.zeros(6), robot.v[6:]])
    B_r, C_BQ, B_J = fixed.pose(frame)[:3, 3], fixed.pose(frame)[:3, :3], fixed.jacobian(frame)[:, 6:]
    base = robot.pose("base")
    C = base[:3, :3]
    assert np.allclose(robot.pose(frame)[:3, 3], base[:3, 3] + C @ B_r)
    assert np.allclose(robot.pose(frame)[:3, :3], C @ C_BQ)
    printed = np.block([[np.eye(3), -C @ so3.skew(B_r), C @ B_J[:3]], [np.zeros((3, 3)), C, C @ B_J[3:]]])
    assert np.allclose(robot.jacobian(frame), printed)
    R = robot.pose(frame)[:3, :3]
    rate = along(robot, robot.q, robot.v, lambda: robot.pose(frame)[:3, :3])
    omega = C @ robot.v[3:6] + C @ fixed.twist(frame)[3:]
    assert np.allclose(robot.twist(frame)[3:], omega)
    assert np.allclose(rate, so3.skew(omega) @ R, atol=1e-6)


FEET = ["LF_foot", "RF_foot", "LH_foot", "RH_foot"]


@equation("ETH 2.269", "a contact does not move", tasks.ContactVelocity)
@equation("ETH 2.270", "contact constraint on velocity, acceleration", tasks.ContactVelocity, tasks.ContactMotion)
@equation("ETH 2.271", "stacked contact constraints", wbc.Tick.contact_motion)
def test_contact_constraints() -> None:
    robot = moving("quadruped", 11)
    contacts = [wbc.PointContact(foot) for foot in FEET[:3]]
    J_c = np.vstack([robot.jacobian(foot)[:3] for foot in FEET[:3]])
    A, b = tasks.ContactVelocity().matrices(robot, kinematics.VelocityVariables(robot, contacts))
    assert np.allclose(A, J_c)
    assert not b.any()
    A, b = tasks.ContactMotion(wbc.Gains(kp=0, kd=0)).matrices(robot, wbc.Tick(robot, contacts))
    rate = along(robot, robot.q, robot.v, lambda: np.vstack([robot.jacobian(foot)[:3] for foot in FEET[:3]]))
    assert np.allclose(A[:, :18], J_c)
    assert np.allclose(b, -rate @ robot.v, atol=1e-6)  # J u̇ + J̇ u = 0


@equation("ETH 2.272", "base and joints in contact constraints", kinematics.support_ranks)
@pytest.mark.parametrize(("feet", "ranks"), [(1, (3, 3, 0)), (2, (6, 5, 1)), (3, (9, 6, 3)), (4, (12, 6, 6))])
def test_ranks_of_point_contacts(feet, ranks) -> None:
    """As printed in 2.10.4: two points leave the base free to tip, three hold it and hold the legs to each other."""
    robot = moving("quadruped", 12)
    found = kinematics.support_ranks(robot, [wbc.PointContact(foot) for foot in FEET[:feet]])
    assert (found.constraints, found.base, found.internal) == ranks
    J_c = np.vstack([robot.jacobian(foot)[:3] for foot in FEET[:feet]])
    locked = null_space_projector(np.vstack([J_c, np.eye(18)[6:]]))  # motions with no joint moving
    assert np.trace(locked) == pytest.approx(6 - found.base)


@pytest.mark.parametrize(("points", "rank"), [(1, 3), (2, 5), (3, 6), (4, 6)])
def test_ranks_of_points_on_one_foot(points, rank) -> None:
    """Figure 2.18: 3, 5 and 6 independent constraints of one, two and three points of a foot."""
    robot = moving("humanoid", 13)
    corners = robot.model.soles["left_foot"]
    for number, corner in enumerate(corners[:points]):
        robot.add_frame(f"corner {number}", "left_foot", [*corner[:2], 0.0])
    contacts = [wbc.PointContact(f"corner {number}") for number in range(points)]
    found = kinematics.support_ranks(robot, contacts)
    assert (found.constraints, found.base, found.internal) == (rank, rank, 0)


@equation("ETH 2.273", "contacts as a task", tasks.ContactVelocity)
@equation("ETH 2.274", "motion that contacts allow", null_space_projector)
@equation("ETH 2.275", "task-space motion of a floating base", tasks.EndEffectorVelocity)
@equation("ETH 2.276", "support-consistent inverse kinematics", DifferentialKinematics)
@pytest.mark.parametrize("feet", [2, 3, 4])
def test_support_consistent_kinematics(feet) -> None:
    robot = moving("quadruped", 14)
    w = np.random.default_rng(2).normal(size=6)
    contacts = [wbc.PointContact(foot) for foot in FEET[:feet]]
    stack = wbc.Stack(tasks.ContactVelocity() / tasks.EndEffectorVelocity("base", velocity=w), contacts=contacts)
    u = DifferentialKinematics(robot, stack).step(robot.q).velocity
    J_c = np.vstack([robot.jacobian(foot)[:3] for foot in FEET[:feet]])
    N_c, J_t = null_space_projector(J_c), robot.jacobian("base")
    assert np.allclose(J_c @ u, 0, atol=1e-9)
    assert np.allclose(N_c @ u, u, atol=1e-9)
    assert np.allclose(u, N_c @ pseudo_inverse(J_t @ N_c, 1e-7) @ w, atol=1e-8)
    assert np.allclose(J_t @ u, w, atol=1e-8)


def test_the_null_space_of_contacts_is_that_of_the_ranks() -> None:
    robot = moving("quadruped", 15)
    contacts = [wbc.PointContact(foot) for foot in FEET]
    J = np.vstack([robot.jacobian(foot)[:3] for foot in FEET])
    free = np.trace(null_space_projector(J))
    assert free == pytest.approx(18 - kinematics.support_ranks(robot, contacts).constraints)
