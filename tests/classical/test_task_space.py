"""End-effector dynamics, contact forces, the support's null space, impacts: as printed, and what they mean."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import contacts, controller, moving_state
from tests.equations import equation
from wbc.classical import TaskSpace, impact, selection_matrices
from wbc.simulation.contact_impulse import solve_coulomb

pytestmark = pytest.mark.filterwarnings("ignore:no task bounds the forces")

EXACT = {"rtol": 1e-9, "atol": 1e-9}


def state(name: str, seed: int, backend: str = "numpy", spread: float = 0.3, speed: float = 1.0):
    robot, rng = wbc.load(name, backend), np.random.default_rng(seed)
    if robot.model.floating:
        q, v = moving_state(robot, rng, spread, speed)
    else:
        q, v = robot.random(rng), rng.normal(scale=speed, size=robot.nv)
    robot.update(q, v)
    return robot, rng


def standing_state(name: str, seed: int, backend: str = "numpy"):
    """A state whose contacts are at rest, their Jacobian and bias, and the contacts."""
    robot, rng = state(name, seed, backend)
    feet = contacts(robot)
    J = wbc.Tick(robot, feet).contact_jacobian(robot)
    robot.update(robot.q, robot.v - np.linalg.pinv(J) @ (J @ robot.v))
    tick = wbc.Tick(robot, feet)
    J, bias = tick.contact_motion(robot)
    assert np.abs(J @ robot.v).max() < 1e-12
    return robot, rng, J, bias, feet


def torques(robot: wbc.Dynamics, tau: np.ndarray) -> np.ndarray:
    """Sᵀ τ."""
    force = np.zeros(robot.nv)
    force[robot.actuated] = tau
    return force


# --- end-effector dynamics --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["numpy", "pinocchio", "mujoco"])
@pytest.mark.parametrize("seed", range(3))
@equation("ETH 3.87", "inertia of an end effector", TaskSpace)
@equation("ETH 3.88", "Coriolis force at an end effector", TaskSpace.coriolis)
@equation("ETH 3.89", "gravity at an end effector", TaskSpace.gravity)
def test_end_effector_dynamics_as_printed(seed: int, backend: str) -> None:
    robot, _ = state("arm", seed, backend)
    J, M, g = robot.jacobian("tool"), robot.mass_matrix, robot.gravity_force
    b = robot.bias - g
    Lambda = np.linalg.inv(J @ np.linalg.inv(M) @ J.T)
    space = TaskSpace.of_frame(robot, "tool")
    scale = np.abs(Lambda).max()
    assert space.rank == 6
    assert np.allclose(space.inertia / scale, Lambda / scale, atol=1e-9)
    mu = Lambda @ J @ np.linalg.inv(M) @ b - Lambda @ robot.jacobian_bias("tool")
    assert np.allclose(space.coriolis / scale, mu / scale, atol=1e-9)
    assert np.allclose(space.gravity / scale, Lambda @ J @ np.linalg.inv(M) @ g / scale, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
@equation("ETH 3.84", "acceleration of an end effector", wbc.Dynamics.forward_dynamics, wbc.Dynamics.jacobian_bias)
@equation("ETH 3.85", "torque of an end-effector force", wbc.Dynamics.generalized_force)
@equation("ETH 3.86", "end-effector dynamics", TaskSpace.force)
def test_a_force_at_the_end_effector_moves_it_as_its_dynamics_say(seed: int) -> None:
    robot, rng = state("arm", seed)
    F = rng.normal(scale=20.0, size=6)
    tau = robot.generalized_force("tool", F)
    J, bias = robot.jacobian("tool"), robot.jacobian_bias("tool")
    assert np.allclose(tau, J.T @ F)
    vdot = robot.forward_dynamics(robot.q, robot.v, tau)
    moved = J @ vdot + bias
    assert np.allclose(moved, J @ np.linalg.inv(robot.mass_matrix) @ (tau - robot.bias) + bias, **EXACT)
    probe, ends = robot.copy(), []
    for t in (1e-5, -1e-5):  # ẇ by differences, along the motion that the force makes
        probe.update(robot.integrate(robot.q, robot.v + t / 2 * vdot, t), robot.v + t * vdot)
        ends.append(probe.twist("tool").copy())
    assert np.allclose(moved, (ends[0] - ends[1]) / 2e-5, rtol=1e-5, atol=1e-5)
    space = TaskSpace.of_frame(robot, "tool")
    assert np.allclose(space.inertia @ moved + space.coriolis + space.gravity, F, rtol=1e-7, atol=1e-7)
    assert np.allclose(space.force(moved), F, rtol=1e-7, atol=1e-7)


def test_three_of_six_directions_of_a_planar_arm_can_move() -> None:
    robot, _ = state("planar_arm", 0)
    space = TaskSpace.of_frame(robot, "end_effector")
    assert space.rank == 3 and np.isfinite(space.inertia).all()
    F = space.force(robot.jacobian("end_effector") @ [1.0, 2.0, 3.0] + robot.jacobian_bias("end_effector"))
    assert np.allclose(robot.jacobian("end_effector").T @ F, robot.mass_matrix @ [1, 2, 3] + robot.bias)


def test_a_stretched_arm_gives_numbers_and_keeps_to_the_directions_it_has() -> None:
    robot = wbc.load("planar_arm", "numpy")
    robot.update(np.zeros(3), [0.3, -0.2, 0.5])  # upright: it can't go up or down
    J, bias = robot.jacobian("end_effector")[[0, 2]], robot.jacobian_bias("end_effector")[[0, 2]]
    space = TaskSpace(robot, J, bias)
    assert space.rank == 1
    assert np.abs(space.inertia).max() < 10.0  # kg: a 3 kg arm, not 1e14
    tau = J.T @ space.force([2.0, 5.0])
    moved = J @ np.linalg.solve(robot.mass_matrix, tau - robot.bias) + bias
    assert moved[0] == pytest.approx(2.0)
    # and just beside the singularity it is bounded by the rank tolerance
    robot.update([0.0, 1e-12, 0.0])
    near = TaskSpace(robot, robot.jacobian("end_effector")[[0, 2]], np.zeros(2))
    assert near.rank == 1 and np.abs(near.inertia).max() < 10.0


@equation("ETH 3.98", "axes for motion, axes for force", selection_matrices)
@equation("ETH 3.99", "selection matrices in turned axes", selection_matrices)
def test_selection_matrices_in_turned_axes() -> None:
    C = wbc.geometry.so3.exp([0.3, -0.5, 0.8])
    S = selection_matrices((1, 1, 0), (0, 0, 1), C)
    zero = np.zeros((3, 3))
    Sp, Sr = np.diag([1.0, 1, 0]), np.diag([0.0, 0, 1])
    assert np.allclose(S.motion, np.block([[C.T @ Sp @ C, zero], [zero, C.T @ Sr @ C]]))
    assert np.allclose(S.force, np.block([[C.T @ (np.eye(3) - Sp) @ C, zero], [zero, C.T @ (np.eye(3) - Sr) @ C]]))
    assert np.allclose(S.motion @ S.force, 0.0)
    n = C.T @ [0, 0, 1]  # the contact's normal in the world: where it pushes
    assert np.allclose(S.force[:3, :3] @ n, n) and np.allclose(S.motion[:3, :3] @ n, 0.0)


# --- contacts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["numpy", "pinocchio", "mujoco"])
@pytest.mark.parametrize("seed", range(2))
@equation("ETH 3.62", "contact force from the constraint", TaskSpace.contact_force)
@equation("ETH 3.63", "null space of a support", TaskSpace.null_space)
def test_contact_force_and_null_space_as_printed(seed: int, backend: str) -> None:
    robot, rng, J, bias, feet = standing_state("quadruped", seed, backend)
    support = TaskSpace.of_contacts(robot, feet)
    M, S, tau = robot.mass_matrix, np.eye(robot.nv)[robot.actuated], rng.normal(scale=20.0, size=robot.na)
    Minv = np.linalg.inv(M)
    Lambda = np.linalg.inv(J @ Minv @ J.T)
    F_c = Lambda @ (J @ Minv @ (S.T @ tau - robot.bias) + bias)  # on the ground
    scale = np.abs(F_c).max()
    assert np.allclose(support.contact_force(tau) / scale, -F_c / scale, atol=1e-9)  # on the robot
    N = np.eye(robot.nv) - Minv @ J.T @ Lambda @ J
    assert np.allclose(support.null_space, N, atol=1e-9)


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
@pytest.mark.parametrize("seed", range(2))
@equation("ETH 3.37", "multipliers are contact forces", TaskSpace.contact_force, TaskSpace.acceleration)
@equation("ETH 3.60", "contacts at rest", TaskSpace.null_space)
@equation("ETH 3.61", "contacts stay at rest", TaskSpace.acceleration)
@equation("ETH 3.64", "dynamics with contact forces eliminated", TaskSpace.acceleration)
@equation("ETH 3.65", "constraint-consistent dynamics", TaskSpace.split)
def test_constraint_consistent_dynamics_keep_the_contact_still(name: str, seed: int) -> None:
    robot, rng, J, bias, feet = standing_state(name, seed)
    support = TaskSpace.of_contacts(robot, feet)
    tau = rng.normal(scale=20.0, size=robot.na)
    vdot, f = support.acceleration(tau), support.contact_force(tau)
    scale = np.abs(robot.bias).max()
    assert np.allclose(J @ vdot + bias, 0.0, atol=1e-8)  # (3.61)
    whole = robot.mass_matrix @ vdot + robot.bias - J.T @ f  # (3.37), (3.57) with f = −F_c
    assert np.allclose(whole / scale, torques(robot, tau) / scale, atol=1e-9)
    N, M, h = support.null_space, robot.mass_matrix, robot.bias
    left = M @ vdot + N.T @ h + J.T @ support.inertia @ bias  # (3.64)
    assert np.allclose(left / scale, N.T @ torques(robot, tau) / scale, atol=1e-9)
    assert np.allclose(N.T @ (M @ vdot + h) / scale, N.T @ torques(robot, tau) / scale, atol=1e-9)  # (3.65)
    assert np.allclose(support.split(h), N.T @ h, atol=1e-9 * scale)
    assert np.allclose(N @ N, N, atol=1e-8) and np.allclose(M @ N, N.T @ M, atol=1e-8 * np.abs(M).max())
    assert np.allclose(J @ N, 0.0, atol=1e-8)  # (3.60): what is left to move does not move the contacts
    # against the numbers of the backend's own forward dynamics
    wrenches = {foot.frame: f[k * foot.size : (k + 1) * foot.size] for k, foot in enumerate(feet)}
    assert np.allclose(robot.forward_dynamics(robot.q, robot.v, tau, wrenches), vdot, atol=1e-7)


@equation("ETH 3.12", "contact forces do no work", TaskSpace.null_space)
def test_contact_forces_do_no_work_on_what_the_support_allows() -> None:
    robot, rng, J, _, feet = standing_state("quadruped", 5)
    support = TaskSpace.of_contacts(robot, feet)
    f, dq = support.contact_force(rng.normal(scale=30.0, size=12)), support.null_space @ rng.normal(size=robot.nv)
    assert abs(f @ J @ dq) < 1e-9 * np.linalg.norm(f) * np.linalg.norm(dq)
    assert abs(f @ J @ rng.normal(size=robot.nv)) > 1e-3  # but on others


@pytest.mark.parametrize("seed", range(2))
def test_redundant_contacts_are_as_good_as_independent_ones(seed: int) -> None:
    """Soles by wrenches, by the forces of their corners, and each held twice: the same motion and the same wrenches."""
    robot, rng, J, bias, feet = standing_state("humanoid", seed)
    tau = rng.normal(scale=20.0, size=robot.na)
    plain = TaskSpace.of_contacts(robot, feet)
    corners = [wbc.SurfaceContact(foot.frame, 0.6, foot.corners, forces="corners") for foot in feet]
    spread = TaskSpace.of_contacts(robot, corners)
    twice = TaskSpace(robot, np.vstack([J, J[::-1]]), np.concatenate([bias, bias[::-1]]))
    assert (plain.rank, spread.rank, twice.rank) == (12, 12, 12)
    assert len(spread.jacobian) == 24
    scale = np.abs(plain.contact_force(tau)).max()
    for other in (spread, twice):
        assert np.allclose(other.acceleration(tau), plain.acceleration(tau), atol=1e-7)
        assert np.allclose(other.null_space, plain.null_space, atol=1e-8)
        pull = other.jacobian.T @ other.contact_force(tau)
        assert np.allclose(pull / scale, plain.jacobian.T @ plain.contact_force(tau) / scale, atol=1e-8)
    start = 0
    for foot, corner in zip(feet, corners, strict=True):
        force = spread.contact_force(tau)[start : start + corner.size]
        wrench = plain.contact_force(tau)[6 * feet.index(foot) : 6 * feet.index(foot) + 6]
        assert np.allclose(corner.wrench(robot, force) / scale, wrench / scale, atol=1e-8)
        start += corner.size


def test_without_contacts_nothing_is_held() -> None:
    robot, rng = state("quadruped", 3)
    tau = rng.normal(size=12)
    nothing = TaskSpace.of_contacts(robot, [])
    assert nothing.rank == 0 and nothing.contact_force(tau).shape == (0,)
    assert np.allclose(nothing.acceleration(tau), robot.forward_dynamics(robot.q, robot.v, tau), atol=1e-8)
    assert np.allclose(nothing.null_space, np.eye(18), atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_predicted_forces_are_those_of_the_general_solver(seed: int) -> None:
    """Torques that are given, contacts that are held: a stack finds the same accelerations and forces."""
    robot, rng, _, _, feet = standing_state("quadruped", seed)
    tau = rng.normal(scale=20.0, size=12)
    given = tasks.Rows(wbc.Rows.equal(tau, torque=np.arange(12)), "torques")
    still = tasks.ContactMotion(wbc.Gains(kp=0, kd=0))
    stack = wbc.Stack(tasks.EquationOfMotion() / still / given, contacts=feet)
    solution = controller(robot, stack, "nullspace").step(robot.q, robot.v)
    support = TaskSpace.of_contacts(robot, feet)
    assert np.allclose(solution.acceleration, support.acceleration(tau), atol=1e-6)
    forces = np.concatenate(list(solution.forces.values()))
    assert np.allclose(forces, support.contact_force(tau), rtol=1e-7, atol=1e-6)


# --- impacts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "seed"), [("quadruped", 0), ("quadruped", 1), ("humanoid", 2)])
@equation("ETH 3.66", "impulse and change of velocity", impact)
@equation("ETH 3.67", "impulse of an impact", impact)
@equation("ETH 3.68", "inertia of a support", TaskSpace)
@equation("ETH 3.69", "change of velocity in an impact", impact)
@equation("ETH 3.70", "velocity after an impact", impact, TaskSpace.null_space)
@equation("ETH 3.71", "energy lost in an impact", impact)
@equation("ETH 3.72", "energy lost, seen at the contact", impact)
def test_impacts_as_printed(name: str, seed: int) -> None:
    robot, _ = state(name, seed)
    feet = contacts(robot)
    support = TaskSpace.of_contacts(robot, feet)
    J, M, before = support.jacobian, robot.mass_matrix, robot.v
    hit = impact(support)
    Minv, change = np.linalg.inv(M), hit.velocity - before
    Lambda = np.linalg.inv(J @ Minv @ J.T)
    assert np.allclose(support.inertia, Lambda, rtol=1e-7, atol=1e-7)
    assert np.allclose(M @ change - J.T @ hit.impulse, 0.0, atol=1e-8)  # (3.66), the impulse on the robot
    assert np.allclose(hit.impulse, -(Lambda @ J @ before), rtol=1e-7, atol=1e-7)  # (3.67)
    assert np.allclose(change, -Minv @ J.T @ Lambda @ J @ before, atol=1e-8)  # (3.69)
    assert np.allclose(hit.velocity, support.null_space @ before, atol=1e-9)  # (3.70)
    assert np.allclose(J @ hit.velocity, 0.0, atol=1e-9)  # the feet are at rest
    lost = 0.5 * before @ M @ before - 0.5 * hit.velocity @ M @ hit.velocity
    assert lost > 0.1
    assert hit.energy_loss == pytest.approx(lost)
    assert hit.energy_loss == pytest.approx(0.5 * change @ M @ change)  # (3.71), its negative
    speed = J @ before
    assert hit.energy_loss == pytest.approx(0.5 * speed @ Lambda @ speed)  # (3.72), its negative
    robot.update(robot.q, hit.velocity)
    assert impact(TaskSpace.of_contacts(robot, feet)).energy_loss < 1e-12 * lost  # once is enough


@pytest.mark.parametrize("seed", range(3))
def test_the_impact_is_the_cone_problems_where_nothing_slides_or_parts(seed: int) -> None:
    robot = wbc.load("quadruped", "numpy")
    rng = np.random.default_rng(seed)
    q, v = moving_state(robot, rng, 0.05, 0.02)
    v[2] -= 1.0  # it drops
    robot.update(q, v)
    support = TaskSpace.of_contacts(robot, contacts(robot))
    axes = np.kron(np.eye(4), np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]))  # normal first
    J = axes @ support.jacobian
    G = J @ np.linalg.solve(robot.mass_matrix, J.T)
    answer = solve_coulomb(G, J @ v, np.full(4, 5.0))
    hit = impact(support)
    assert (answer.impulse[::3] > 0.0).all()
    assert np.allclose(axes.T @ answer.impulse, hit.impulse, rtol=1e-6, atol=1e-6)
    after = v + np.linalg.solve(robot.mass_matrix, J.T @ answer.impulse)
    assert np.allclose(after, hit.velocity, atol=1e-6)


# --- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda robot: TaskSpace(robot, np.zeros((2, 5)), np.zeros(2)), r"\(rows, 7\)"),
        (lambda robot: TaskSpace(robot, np.full((1, 7), np.nan), np.zeros(1)), "finite"),
        (lambda robot: TaskSpace.of_frame(robot, "tol"), "did you mean 'tool'"),
        (lambda robot: TaskSpace.of_contacts(robot, ["tool"]), "PointContact, SurfaceContact or RollingContact"),
        (
            lambda robot: TaskSpace.of_frame(robot, "tool").contact_force(np.zeros(3)),
            r"torque must be .* shape \(7,\)",
        ),
        (lambda robot: TaskSpace.of_frame(robot, "tool").force([1.0]), r"must be .* shape \(6,\)"),
        (
            lambda robot: TaskSpace.of_frame(robot, "tool").project([np.inf] * 7),
            r"must be .* shape \(7,\)",
        ),
        (lambda robot: selection_matrices((1, 0.5, 0)), "each 0 .force. or 1"),
        (lambda robot: selection_matrices(axes=np.ones((3, 3))), "rotation matrix"),
    ],
)
def test_mistakes_are_named(call, words: str) -> None:
    robot, _ = state("arm", 0)
    with pytest.raises(wbc.WbcError, match=words):
        call(robot)


def test_what_is_handed_out_is_not_what_is_kept() -> None:
    robot, _ = state("arm", 0)
    J = robot.jacobian("tool").copy()
    space = TaskSpace(robot, J, np.zeros(6))
    before = space.force(np.ones(6))
    J[:] = 0.0
    robot.update(robot.model.nominal)  # it is about the state that it was made in
    assert np.array_equal(space.force(np.ones(6)), before)
