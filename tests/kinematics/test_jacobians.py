"""Analytical Jacobians and Hessians against differences along random motions, with the base turned and moving."""

from __future__ import annotations

import numpy as np
import pytest

import wbc
from tests.dynamics.test_joint_kinds import some_tree
from tests.equations import equation
from tests.robots import ALL, BACKENDS, PACKAGED, Robot, load
from wbc import kinematics
from wbc.dynamics import Dynamics
from wbc.geometry import pose, so3
from wbc.kinematics import POSITIONS, ROTATIONS

STEP = 1e-5
FRAMES = {"planar_arm": "end_effector", "arm": "tool", "quadruped": "RH_foot", "humanoid": "left_hand"}


def along(robot: Dynamics, q, v, measure, step=STEP):
    """The derivative of what is measured along v, by differences; leaves the robot at q."""
    ends = []
    for sign in (1, -1):
        robot.update(robot.integrate(q, v, sign * step), v)
        ends.append(np.array(measure()))
    robot.update(q, v)
    return (ends[0] - ends[1]) / (2 * step)


def moving(name: str, seed: int) -> Dynamics:
    robot, rng = wbc.load(name, "numpy"), np.random.default_rng(seed)
    robot.update(robot.random(rng), rng.normal(size=robot.nv))
    return robot


def unwrapped(chi, near, rotation):
    """Coordinates on the branch of others: a quaternion's sign, a whole turn of an angle."""
    if rotation in ("quaternion", "angle-axis"):
        return chi if chi[3:] @ near[3:] > 0 else np.r_[chi[:3], -chi[3:]]
    return chi


@pytest.mark.parametrize("rotation", ROTATIONS)
@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("name", ["arm", "humanoid"])
def test_analytical_jacobian_gives_the_rates_of_the_coordinates(name, position, rotation) -> None:
    for seed in range(4):
        robot, frame = moving(name, seed), FRAMES[name]
        now = kinematics.end_effector_coordinates(robot.pose(frame), position, rotation)

        def coordinates(robot=robot, frame=frame, now=now):
            found = kinematics.end_effector_coordinates(robot.pose(frame), position, rotation)
            return unwrapped(found, now, rotation)

        rates = along(robot, robot.q, robot.v, coordinates)
        scale = 1.0 + np.abs(rates).max()
        J = kinematics.analytical_jacobian(robot, frame, position, rotation)
        assert np.allclose(J @ robot.v, rates, atol=1e-6 * scale, rtol=1e-6)


@pytest.mark.parametrize("rotation", ROTATIONS)
@pytest.mark.parametrize("position", POSITIONS)
@equation("ETH 2.192", "geometric from analytical Jacobian", kinematics.rates_to_twist, kinematics.analytical_jacobian)
def test_the_geometric_jacobian_is_e_times_the_analytical_one(position, rotation) -> None:
    for name, frame in FRAMES.items():
        if name == "planar_arm":
            continue  # its rotations are singular in most coordinates
        robot = moving(name, 7)
        chi = kinematics.end_effector_coordinates(robot.pose(frame), position, rotation)
        E = kinematics.rates_to_twist(chi, position, rotation)
        J = kinematics.analytical_jacobian(robot, frame, position, rotation)
        assert np.allclose(E @ J, robot.jacobian(frame), atol=1e-9)
        assert np.allclose(E @ kinematics.twist_to_rates(chi, position, rotation), np.eye(6), atol=1e-9)


@equation("ETH 2.12", "Cartesian rates are the velocity", kinematics.rates_to_twist, kinematics.twist_to_rates)
@equation("ETH 2.191", "twist from rates of coordinates", kinematics.rates_to_twist)
def test_e_is_made_of_that_of_the_position_and_that_of_the_rotation() -> None:
    robot = moving("arm", 1)
    chi = kinematics.end_effector_coordinates(robot.pose("tool"), "spherical", "euler-zyx")
    E = kinematics.rates_to_twist(chi, "spherical", "euler-zyx")
    r, theta, phi, z, y, _ = chi
    s, c = np.sin, np.cos
    E_P = [  # ETH (2.16)
        [c(theta) * s(phi), -r * s(phi) * s(theta), r * c(phi) * c(theta)],
        [s(phi) * s(theta), r * c(theta) * s(phi), r * c(phi) * s(theta)],
        [c(phi), 0, -r * s(phi)],
    ]
    E_R = [[0, -s(z), c(y) * c(z)], [0, c(z), c(y) * s(z)], [1, 0, -s(y)]]  # ETH (2.86)
    assert np.allclose(E, np.block([[np.array(E_P), np.zeros((3, 3))], [np.zeros((3, 3)), np.array(E_R)]]))
    chi = kinematics.end_effector_coordinates(robot.pose("tool"), "cartesian", "euler-zyx")
    E = kinematics.rates_to_twist(chi, "cartesian", "euler-zyx")
    assert np.allclose(E, np.block([[np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), np.array(E_R)]]))
    assert np.allclose(kinematics.twist_to_rates(chi, "cartesian", "euler-zyx")[:3], np.eye(3, 6))


@equation("ETH 2.134", "parameters of an end-effector's pose", kinematics.end_effector_coordinates)
@pytest.mark.parametrize(("position", "rotation", "m"), [("cartesian", "euler-xyz", 6), ("spherical", "matrix", 12)])
def test_the_number_of_coordinates_is_that_of_example_2_8_2(position, rotation, m) -> None:
    robot = moving("arm", 2)
    chi = kinematics.end_effector_coordinates(robot.pose("tool"), position, rotation)
    assert chi.shape == (m,)
    (x, y, z), R = robot.pose("tool")[:3, 3], robot.pose("tool")[:3, :3]
    r, across = np.sqrt(x**2 + y**2 + z**2), np.hypot(x, y)
    P = {"cartesian": [x, y, z], "spherical": [r, np.arctan2(y, x), np.arctan2(across, z)]}[position]
    angles = [np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(R[0, 2]), np.arctan2(-R[0, 1], R[0, 0])]  # (2.45)
    assert np.allclose(chi, np.r_[P, {"euler-xyz": angles, "matrix": R.ravel()}[rotation]])
    assert kinematics.analytical_jacobian(robot, "tool", position, rotation).shape == (m, 7)


def test_analytical_jacobian_is_finite_where_coordinates_are_singular() -> None:
    robot = wbc.load("planar_arm", "numpy")
    robot.update(np.zeros(3))  # upright: no azimuth, and the identity
    for position in POSITIONS:
        for rotation in ROTATIONS:
            assert np.isfinite(kinematics.analytical_jacobian(robot, "end_effector", position, rotation)).all()


def test_wrong_names_and_shapes_are_named() -> None:
    robot = moving("arm", 0)
    with pytest.raises(wbc.WbcError, match="did you mean 'spherical'"):
        kinematics.analytical_jacobian(robot, "tool", "sperical")
    with pytest.raises(wbc.WbcError, match="did you mean 'euler-zyx'"):
        kinematics.analytical_jacobian(robot, "tool", rotation="euler-zyxx")
    with pytest.raises(wbc.WbcError, match="7 finite numbers"):
        kinematics.twist_to_rates(np.zeros(6), rotation="quaternion")
    with pytest.raises(wbc.WbcError, match=r"shape \(4, 4\)"):
        kinematics.end_effector_coordinates(np.eye(3))


# --- Hessians ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ALL, ids=lambda robot: robot.name)
@equation("Kindr 15", "derivative of a Jacobian's column", kinematics.jacobian_hessian)
@equation("Kindr 16", "Hessian along one velocity", kinematics.jacobian_hessian)
def test_hessian_is_the_derivative_of_the_jacobian_along_each_velocity(robot: Robot) -> None:
    ours, rng = load(robot, "numpy"), np.random.default_rng(3)
    ours.update(ours.random(rng), rng.normal(size=ours.nv))
    frame = ours.frames[-1] if robot.name not in FRAMES else FRAMES[robot.name]
    H = kinematics.jacobian_hessian(ours, frame)
    q = ours.q
    for k in range(ours.nv):
        unit = np.eye(ours.nv)[k]
        assert np.allclose(H[k], along(ours, q, unit, lambda: ours.jacobian(frame)), atol=1e-8), k


@pytest.mark.parametrize("seed", range(4))
def test_hessian_with_joints_of_every_kind(seed) -> None:
    robot, rng = wbc.load(some_tree(seed), "numpy"), np.random.default_rng(seed)
    for frame in robot.frames:
        robot.update(robot.random(rng), rng.normal(size=robot.nv))
        H, q = kinematics.jacobian_hessian(robot, frame), robot.q
        for k in range(robot.nv):
            change = along(robot, q, np.eye(robot.nv)[k], lambda frame=frame: robot.jacobian(frame))
            assert np.allclose(H[k], change, atol=1e-8), (frame, k)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("robot", PACKAGED, ids=lambda robot: robot.name)
@equation("Kindr 17", "rate of a Jacobian's entry", Dynamics.jacobian_derivative)
@equation("Kindr 18", "rate of a Jacobian", Dynamics.jacobian_derivative, kinematics.jacobian_hessian)
def test_the_derivative_of_the_jacobian_is_its_hessian_times_the_velocity(robot: Robot, backend: str) -> None:
    ours, rng = load(robot, backend), np.random.default_rng(4)
    for frame in rng.choice(ours.frames, 3):
        ours.update(ours.random(rng), 3 * rng.normal(size=ours.nv))
        J_dot = np.einsum("kij,k->ij", kinematics.jacobian_hessian(ours, frame), ours.v)
        assert np.allclose(J_dot, ours.jacobian_derivative(frame), atol=1e-10)


def test_the_printed_case_of_an_outer_joint_is_wrong() -> None:
    """Kindr (15) for i < j: J_Rj × J_Pi; it is J_Ri × J_Pj."""
    robot = moving("arm", 5)
    J, H = robot.jacobian("tool"), kinematics.jacobian_hessian(robot, "tool")
    i, j = 1, 4
    assert np.allclose(H[j][:3, i], np.cross(J[3:, i], J[:3, j]))
    assert not np.allclose(H[j][:3, i], np.cross(J[3:, j], J[:3, i]), atol=1e-3)


# --- moving bodies (ETH 2.6, 2.7) --------------------------------------------------------------------------------


@equation("ETH 2.114", "a point through a transform", pose.transform_point)
def test_a_point_through_the_printed_transform() -> None:
    """Example 2.6.1, with the transform (2.113)."""
    T = pose.homogeneous([[1, 0, 0], [0, 0, -1], [0, 1, 0]], [0, 3, 1])
    assert (np.array([[1, 0, 0, 0], [0, 0, -1, 3], [0, 1, 0, 1], [0, 0, 0, 1]]) == T).all()
    assert np.allclose(pose.transform_point(T, [0, 1, 1]), [0, 2, 2])
    assert so3.is_rotation(T[:3, :3])
