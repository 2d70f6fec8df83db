"""Numerical inverse kinematics: what is reachable is reached, what is not is explained, and the textbook's steps."""

from __future__ import annotations

import time

import numpy as np
import pytest

import wbc
from tests.closed_loops import ROBOTS
from tests.equations import equation
from tests.robots import BACKENDS, REAL, load
from wbc import kinematics
from wbc.geometry import convert, pose, so3
from wbc.kinematics import InverseKinematics, inverse_kinematics, pseudo_inverse
from wbc.model import Body, Joint, Model


def reachable(robot, frame, count, seed=0):
    """Random poses of a frame that the robot can reach within its limits."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(count):
        robot.update(robot.random(rng))
        found.append(robot.pose(frame).copy())
    return found


def assert_reached(robot, frame, target, solution, tolerance=1e-6) -> None:
    """Checked anew, from the configuration alone."""
    assert solution.solved
    robot.update(solution.q)
    now = robot.pose(frame)
    assert np.linalg.norm(now[:3, 3] - target[:3, 3]) < tolerance
    assert np.linalg.norm(so3.boxminus(target[:3, :3], now[:3, :3])) < tolerance
    assert (robot.limits.lower[6 * robot.model.floating :] <= solution.q[7 * robot.model.floating :]).all()
    assert (solution.q[7 * robot.model.floating :] <= robot.limits.upper[6 * robot.model.floating :]).all()


@equation("ETH 2.241", "joints from an end-effector's pose", InverseKinematics.solve)
def test_a_thousand_random_poses_of_the_arm() -> None:
    robot = wbc.load("arm")
    targets = reachable(robot, "tool", 1000, 5)
    ik, solved = InverseKinematics(robot, "tool"), 0
    began = time.perf_counter()
    for target in targets:
        solution = ik.solve(target)
        if solution.solved:
            assert_reached(robot, "tool", target, solution)
            solved += 1
    print(f"{solved} of 1000 in {time.perf_counter() - began:.2f} s")
    assert solved >= 990


@pytest.mark.parametrize("backend", BACKENDS)
def test_backends_find_the_same(backend) -> None:
    robot = wbc.load("arm", backend)
    expected = wbc.load("arm", "numpy")
    for target in reachable(robot, "tool", 5, 1):
        solution = inverse_kinematics(robot, "tool", target)
        assert_reached(robot, "tool", target, solution)
        assert np.allclose(solution.q, inverse_kinematics(expected, "tool", target).q, atol=1e-5)


@pytest.mark.parametrize("robot", [REAL[0], REAL[1], REAL[5]], ids=lambda robot: robot.name)
def test_other_robots(robot) -> None:
    ours = load(robot, "numpy")
    frame = {"panda": "panda_hand", "ur5": "tool0", "talos": "gripper_left_base_link"}[robot.name.split(":")[0]]
    rng = np.random.default_rng(3)
    ik = InverseKinematics(ours, frame)
    q0 = np.array(ours.model.nominal)
    for _ in range(5):
        q = q0.copy()
        q[ik._q] = ours.random(rng)[ik._q]
        ours.update(q)
        target = ours.pose(frame).copy()
        solution = ik.solve(target, q0)
        assert_reached(ours, frame, target, solution)
        kept = np.ones(ours.nq, dtype=bool)
        kept[ik._q] = False
        assert np.allclose(solution.q[kept], q0[kept])  # the base and the other limbs


@pytest.mark.parametrize(
    ("method", "options", "count"), [("pseudo-inverse", {}, 30), ("transpose", {"iterations": 3000}, 3)]
)
def test_other_methods(method, options, count) -> None:
    robot = wbc.load("arm")
    ik = InverseKinematics(robot, "tool", method=method, **options)
    for target in reachable(robot, "tool", count, 2):
        assert_reached(robot, "tool", target, ik.solve(target))


@pytest.mark.parametrize("what", ["position", "rotation"])
def test_position_or_rotation_alone(what) -> None:
    robot = wbc.load("arm")
    for target in reachable(robot, "tool", 5, 4):
        part = target[:3, 3] if what == "position" else target[:3, :3]
        solution = inverse_kinematics(robot, "tool", part)
        robot.update(solution.q)
        found = robot.pose("tool")[:3, 3] if what == "position" else robot.pose("tool")[:3, :3]
        assert solution.solved
        assert np.allclose(found, part, atol=2e-6)


def test_named_joints_alone_move() -> None:
    robot = wbc.load("arm")
    q = np.array(robot.model.nominal)
    q[[0, 3]] += [0.5, -0.4]
    robot.update(q)
    target = robot.pose("tool")[:3, 3].copy()
    solution = inverse_kinematics(robot, "tool", target, joints=["joint_1", "joint_4"])
    assert solution.solved
    assert np.allclose(solution.q[[1, 2, 4, 5, 6]], robot.model.nominal[[1, 2, 4, 5, 6]])


def test_what_is_out_of_reach_is_said_to_be() -> None:
    robot = wbc.load("arm")
    ik = InverseKinematics(robot, "tool", restarts=5)
    solution = ik.solve([3.0, 0.0, 0.5])
    assert not solution.solved
    assert "out of reach" in solution.reason
    robot.update(solution.q)
    way = np.array([3.0, 0.0, 0.5]) - robot.pose("tool")[:3, 3]
    assert solution.position_error == pytest.approx(np.linalg.norm(way))
    # it points at it, stretched out: a sphere about the shoulder is touched
    assert np.linalg.norm(robot.jacobian("tool")[:3].T @ way) < 2e-2 * np.linalg.norm(way)
    assert str(solution).startswith("2.0")


@pytest.mark.parametrize(("side", "word"), [(1.0, "upper"), (-1.0, "lower")])
def test_limits_in_the_way_are_named(side, word) -> None:
    robot = wbc.load("planar_arm", "numpy")
    stiff = [
        Joint(j.name, j.kind, j.parent, j.child, j.pose, j.axis, lower=-0.2, upper=0.2) if j.nv else j
        for j in robot.model.joints.values()
    ]
    bodies = [body for body in robot.model.bodies.values() if body.name != "world"]
    narrow = wbc.load(Model("narrow", bodies, stiff, robot.model.frames.values()), "numpy")
    solution = inverse_kinematics(narrow, "end_effector", [side * 2.5, 0.0, 1.0], [0.0, 0.0, 0.0], restarts=2)
    assert not solution.solved
    assert np.allclose(solution.q, side * 0.2)
    expected = ", ".join(f"joint_{k} at its {word} limit" for k in (1, 2, 3))
    assert solution.reason == f"joint limits hold it: {expected}"


@pytest.mark.parametrize("distance", [1.5, 2.0])
def test_limits_are_not_blamed_for_what_is_too_far(distance) -> None:
    """On the way there joints stop at their limits; without these the target would be as far."""
    robot = wbc.load("arm")
    targets = reachable(robot, "tool", 12, 9)
    ik = InverseKinematics(robot, "tool", restarts=3)
    at_limits = 0
    for target in targets:
        target[:3, 3] *= distance / np.linalg.norm(target[:3, 3])
        solution = ik.solve(target)
        assert not solution.solved and solution.reason.startswith("out of reach: no motion of the joints")
        at_limits += solution.reason.endswith("even beyond their limits")
    assert at_limits
    assert (ik._upper == robot.limits.upper).all() and (ik._lower == robot.limits.lower).all()


def test_too_few_steps_are_said_to_be() -> None:
    robot = wbc.load("arm")
    target = reachable(robot, "tool", 1, 6)[0]
    solution = inverse_kinematics(robot, "tool", target, iterations=1, restarts=0)
    assert not solution.solved
    assert "more iterations" in solution.reason
    assert solution.starts == 1


def test_the_same_seed_gives_the_same_and_nothing_is_touched() -> None:
    robot = wbc.load("arm")
    target = reachable(robot, "tool", 1, 7)[0]
    robot.update(robot.model.nominal)
    q0, kept, updates = np.array(robot.model.nominal), target.copy(), robot.updates
    ik = InverseKinematics(robot, "tool")
    first, second = ik.solve(target, q0, seed=3), ik.solve(target, q0, seed=3)
    assert (first.q == second.q).all()
    assert (target == kept).all()
    assert (q0 == robot.model.nominal).all()
    assert robot.updates == updates
    outside = q0.copy()
    outside[1] = 9.0
    assert (ik.solve(target, outside).q <= robot.limits.upper).all()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"frame": "tol"}, "did you mean 'tool'"),
        ({"method": "dampd"}, "did you mean 'damped'"),
        ({"joints": ["joint_9"]}, "no joint 'joint_9'"),
        ({"joints": "joint_1"}, "list of names"),
        ({"joints": 3}, "list of names, not 3"),
        ({"q0": "home"}, "q0 = 'home' is not an array of numbers"),
        ({"coordinates": 3}, "two names"),
        ({"coordinates": "cartesian"}, "two names"),
        ({"scale": 2.0}, "scale = 2.0"),
        ({"restarts": -1}, "restarts = -1"),
        ({"coordinates": ("cartesian", "euler")}, "no rotation coordinates 'euler'"),
        ({"target": np.eye(2)}, r"a pose \(4, 4\)"),
        ({"target": 2 * np.eye(3)}, "rotation matrix"),
        ({"target": [np.nan, 0, 0]}, "finite"),
        ({"q0": "home"}, "q0 = 'home' is not an array of numbers"),
        ({"frame": "world"}, "no joint with one coordinate moves 'world'"),
    ],
)
def test_bad_input_is_named(options, match) -> None:
    for seed in (-1, "x"):
        with pytest.raises(wbc.WbcError, match="seed = .* whole number"):
            InverseKinematics(wbc.load("arm", "numpy"), "tool").solve(np.zeros(3), seed=seed)
    given = {"frame": "tool", "target": np.zeros(3), **options}
    with pytest.raises(wbc.WbcError, match=match):
        inverse_kinematics(wbc.load("arm", "numpy"), given.pop("frame"), given.pop("target"), **given)


# --- the steps of the lecture notes (ETH 2.9.3) -----------------------------------------------------------------------


def wrist() -> wbc.Dynamics:
    """Three joints about z, y and x, one after the other (ETH example 2.9.7)."""
    names = ["world", "yaw", "pitch", "hand"]
    joints = [
        Joint(f"q_{axis}", "continuous", parent, child, axis=np.eye(3)["xyz".index(axis)])
        for axis, parent, child in zip("zyx", names, names[1:], strict=False)
    ]
    return wbc.load(Model("wrist", [Body(name) for name in names[1:]], joints), "numpy")


START, GOAL = np.array([-0.7, 0.0, 1.5]), np.array([0.7, 1.5, -0.5])


@equation("ETH 2.246", "Jacobian of a wrist by its axes", wbc.Dynamics.jacobian)
@equation("ETH 2.247", "Jacobian of a wrist", wbc.Dynamics.jacobian)
@pytest.mark.parametrize("q", [START, GOAL, (2.0, -1.2, 3.0)])
def test_the_jacobian_of_the_wrist(q) -> None:
    robot, (z, y, _) = wrist(), q
    robot.update(q)
    s, c = np.sin, np.cos
    printed = [[0, -s(z), c(y) * c(z)], [0, c(z), c(y) * s(z)], [1, 0, -s(y)]]
    assert np.allclose(robot.jacobian("hand")[3:], printed)
    C_z, C_y = so3.elementary_z(z), so3.elementary_y(y)
    assert np.allclose(printed, np.column_stack([np.eye(3)[2], C_z @ np.eye(3)[1], C_z @ C_y @ np.eye(3)[0]]))
    assert np.allclose(convert(robot.pose("hand")[:3, :3], "matrix", "euler-zyx"), q)


@equation("ETH 2.242", "difference of coordinates by joints", InverseKinematics.solve)
@equation("ETH 2.243", "scaled step of inverse kinematics", InverseKinematics.solve)
@pytest.mark.parametrize("rotation", ["euler-zyx", "euler-xyz", "rotation-vector"])
def test_scaled_steps_in_coordinates_are_those_of_algorithm_1(rotation) -> None:
    robot, k = wrist(), 0.01
    coordinates = ("cartesian", rotation)
    target = so3.compose(so3.elementary_z(GOAL[0]), so3.elementary_y(GOAL[1]), so3.elementary_x(GOAL[2]))
    ik = InverseKinematics(
        robot, "hand", method="pseudo-inverse", scale=k, coordinates=coordinates, iterations=5, restarts=0
    )
    path = ik.solve(target, START, record=True).path
    assert len(path) == 6
    q = START
    for found in path[1:]:
        robot.update(q)
        J_A = kinematics.analytical_jacobian(robot, "hand", *coordinates)[3:]
        chi = convert(robot.pose("hand")[:3, :3], "matrix", rotation)
        q = q + k * pseudo_inverse(J_A) @ (convert(target, "matrix", rotation) - chi)
        assert np.allclose(found, q, atol=1e-9)


@equation("ETH 2.244", "Jacobi-transposed step", InverseKinematics.solve)
def test_a_transposed_step_goes_down_the_gradient() -> None:
    robot = wbc.load("arm", "numpy")
    target = reachable(robot, "tool", 1, 8)[0]
    q0 = np.array(robot.model.nominal)
    ik = InverseKinematics(robot, "tool", method="transpose", scale=0.1, iterations=1, restarts=0)
    step = ik.solve(target, q0, record=True).path[1] - q0
    robot.update(q0)
    e = np.r_[target[:3, 3] - robot.pose("tool")[:3, 3], so3.boxminus(target[:3, :3], robot.pose("tool")[:3, :3])]
    along = robot.jacobian("tool").T @ e
    assert np.allclose(np.linalg.matrix_rank(np.stack([step, along]), tol=1e-9), 1)
    assert step @ along > 0


@equation("ETH 2.248", "rotation error as rotation vector", so3.boxminus)
@equation("ETH 2.249", "relative rotation of two frames", so3.compose)
@equation("ETH 2.250", "rotation error in body axes", so3.log)
@equation("ETH 2.251", "rotation error in world axes", so3.boxminus)
@equation("ETH 2.252", "rotation error, body to world", so3.boxminus)
@equation("ETH 2.253", "rotation vector, turned", so3.log)
@equation("ETH 2.254", "rotation error by both rotations", so3.boxminus)
def test_rotation_error() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        C_IA, C_IB = so3.exp(3 * rng.normal(size=3)), so3.exp(3 * rng.normal(size=3))
        C_AB = so3.compose(so3.inverse(C_IA), C_IB)
        assert np.allclose(C_AB, C_IA.T @ C_IB)
        error = so3.log(C_AB)
        assert np.allclose(C_AB @ error, error)  # the same in A and B
        world = so3.boxminus(C_IB, C_IA)
        assert np.allclose(C_IA @ error, world, atol=1e-9)
        assert np.allclose(so3.log(C_IA @ C_AB @ C_IA.T), world, atol=1e-9)
        assert np.allclose(so3.log(C_IB @ C_IA.T), world, atol=1e-9)
        assert np.allclose(so3.exp(world) @ C_IA, C_IB)
        assert np.linalg.norm(world) <= np.pi + 1e-12
        assert not np.allclose(world, so3.log(C_IB) - so3.log(C_IA), atol=1e-3)


@equation("ETH 2.255", "step by rotation vector", InverseKinematics.solve)
def test_small_steps_by_the_rotation_vector_go_the_shortest_way() -> None:
    robot, k = wrist(), 0.01
    robot.update(GOAL)
    target = robot.pose("hand")[:3, :3].copy()
    ik = InverseKinematics(robot, "hand", method="pseudo-inverse", scale=k, iterations=3000, restarts=0)
    solution = ik.solve(target, START, record=True)
    assert solution.solved
    robot.update(START)
    first = so3.boxminus(target, robot.pose("hand")[:3, :3])
    for q, found in zip(solution.path[:-1:50], solution.path[1::50], strict=False):
        robot.update(q)
        error = so3.boxminus(target, robot.pose("hand")[:3, :3])
        assert np.allclose(found, q + k * pseudo_inverse(robot.jacobian("hand")[3:]) @ error, atol=1e-9)
    for q in solution.path[:: len(solution.path) // 20]:
        robot.update(q)
        left = so3.boxminus(target, robot.pose("hand")[:3, :3])
        assert np.linalg.norm(np.cross(left, first)) < 0.02 * np.linalg.norm(first)


@equation("ETH 2.245", "coordinates of a wrist", wbc.Dynamics.pose)
def test_coordinates_of_the_wrist() -> None:
    robot = wrist()
    robot.update(START)
    expected = so3.compose(so3.elementary_z(START[0]), so3.elementary_y(START[1]), so3.elementary_x(START[2]))
    assert np.allclose(robot.pose("hand"), pose.homogeneous(expected, np.zeros(3)))


def test_joints_in_closed_loops_are_refused():
    mujoco = pytest.importorskip("mujoco")
    robot = wbc.load(mujoco.MjModel.from_xml_string(ROBOTS["four-bar"]), "numpy")
    with pytest.raises(wbc.WbcError, match="joints \\['rocker'\\] are in closed loops"):
        InverseKinematics(robot, "tip")


def test_joints_above_a_closed_loop_are_free():
    """They carry it: they are no part of it, though rounding gives them a share of its Jacobian."""
    mujoco = pytest.importorskip("mujoco")
    arm = '<worldbody><body name="arm" pos="0 .3 1"><joint name="lift" axis="0 1 .3"/><geom size=".05"/>'
    text = ROBOTS["four-bar"].replace("<worldbody>", arm).replace("</worldbody>", "</body></worldbody>")
    text = text.replace('qpos="', 'qpos="0 ')
    robot = wbc.load(mujoco.MjModel.from_xml_string(text), "numpy")
    target = robot.copy()
    q = robot.model.nominal.copy()
    q[robot.model.q_index["lift"]] = 0.4
    target.update(q)
    found = InverseKinematics(robot, "crank", joints=["lift"]).solve(target.pose("crank"))
    assert found.solved and np.allclose(found.q, q, atol=1e-5)
