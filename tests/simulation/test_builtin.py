"""The built-in simulator: against closed forms, ETH's impact equations, a conic solver, and MuJoCo."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

import wbc
from tests.control.scenes import standing
from tests.equations import equation
from wbc.geometry import quaternion
from wbc.model.model import Model
from wbc.simulation import Push, make_plant, run
from wbc.simulation.builtin import Simulator
from wbc.simulation.contact_impulse import solve_convex, solve_coulomb

CORNERS = [(x, y, -0.05) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
BELLY = [(x, y, -0.08) for x in (-0.25, 0.25) for y in (-0.095, 0.095)]


def brick(gravity=(0.0, 0.0, -9.81)) -> Model:
    """A body of 2 kg, 0.4 × 0.2 × 0.1 m."""
    body = wbc.Body("brick", 2.0, inertia=np.diag([0.0083, 0.0283, 0.0333]))
    return Model("brick", [body], [wbc.Joint("root", "floating", "world", "brick", actuated=False)], gravity=gravity)


def on_slope(angle: float, friction: float, **options: object) -> tuple[Simulator, np.ndarray]:
    """A brick that lies on a slope about y, and the direction down it."""
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    sim = Simulator(brick(), friction=friction, normal=normal, contacts=[("brick", CORNERS)], **options)
    turn = quaternion.from_rotation_vector(np.array([0.0, angle, 0.0]))
    sim.reset(np.concatenate([0.05 * normal, turn]))
    return sim, np.array([np.cos(angle), 0.0, -np.sin(angle)])


def ideal(model: Model, gravity=(0.0, 0.0, 0.0)) -> Model:
    """The same robot without passive forces and limits, and with that gravity."""
    joints = [replace(joint, damping=0.0, friction=0.0, lower=-np.inf, upper=np.inf) for joint in model.joints.values()]
    bodies = [body for body in model.bodies.values() if body.name != "world"]
    rest = {"nominal": model.nominal, "feet": model.feet, "soles": model.soles, "shapes": model.shapes}
    return Model(model.name, bodies, joints, model.frames.values(), gravity=gravity, **rest)


def angle_between(a: np.ndarray, b: np.ndarray) -> float:
    """Degrees between two quaternions."""
    turn = quaternion.multiply(quaternion.inverse(a), b)
    return float(np.degrees(np.linalg.norm(quaternion.to_rotation_vector(turn))))


# --- the convex problem --------------------------------------------------------------------------------------------


def random_problem(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """G, b and friction; half of them with more impulses than the robot has velocities."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    J = rng.normal(size=(3 * n, int(rng.integers(2, 3 * n + 8))))
    return J @ J.T, J @ rng.normal(size=J.shape[1]), rng.uniform(0.1, 1.5, n)


def test_convex_problem_agrees_with_a_conic_solver():
    clarabel = pytest.importorskip("clarabel")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    compared = 0
    for seed in range(120):
        G, b, mu = random_problem(seed)
        n = len(mu)
        cones = -np.diag(np.column_stack([mu, np.ones((n, 2))]).ravel())
        answer = clarabel.DefaultSolver(
            scipy.sparse.csc_matrix(np.triu(G)),
            b,
            scipy.sparse.csc_matrix(cones),
            np.zeros(3 * n),
            [clarabel.SecondOrderConeT(3)] * n,
            settings,
        ).solve()
        ours = solve_convex(G, b, mu)
        assert ours.residual <= 1e-10, seed
        p, w = ours.impulse.reshape(-1, 3), ours.velocity.reshape(-1, 3)
        # Karush–Kuhn–Tucker, from their definition
        assert (np.linalg.norm(p[:, 1:], axis=1) - mu * p[:, 0]).max() < 1e-9
        assert (mu * np.linalg.norm(w[:, 1:], axis=1) - w[:, 0]).max() < 1e-7
        assert np.abs((p * w).sum(axis=1)).max() < 1e-7 * max(1.0, np.abs(p).max())
        if str(answer.status) == "Solved":
            compared += 1
            x = np.array(answer.x)
            assert 0.5 * ours.impulse @ G @ ours.impulse + b @ ours.impulse <= 0.5 * x @ G @ x + b @ x + 1e-6, seed
            np.testing.assert_allclose(ours.velocity, G @ x + b, atol=2e-3)
    assert compared > 100


def test_coulombs_law_where_things_slide():
    slid = converged = 0
    for seed in range(150):
        G, b, mu = random_problem(seed)
        answer = solve_coulomb(G, b, 0.5 * mu)
        p, w = answer.impulse.reshape(-1, 3), answer.velocity.reshape(-1, 3)
        assert (p * w).sum() <= 1e-9, "friction gave energy"
        if answer.change > 1e-8:
            continue
        converged += 1
        speed, bound = np.linalg.norm(w[:, 1:], axis=1), 0.5 * mu * p[:, 0]
        size = np.abs(p).max() + 1.0
        assert w[:, 0].min() > -1e-7
        assert np.abs(w[:, 0] * p[:, 0]).max() < 1e-7 * size, "it pushes while it leaves"
        sliding = (speed > 1e-3) & (p[:, 0] > 1e-6)
        slid += sliding.sum()
        against = (p[:, 1:] * w[:, 1:]).sum(axis=1)
        np.testing.assert_allclose(against[sliding], -(bound * speed)[sliding], atol=1e-6 * size)
    assert slid > 30
    assert converged > 140


# --- free motion ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("integrator", "error"), [("semi-implicit", 0.5 * 9.81 * 1e-3 * 0.3), ("runge-kutta", 1e-9)])
def test_ballistic_flight(integrator, error):
    robot = wbc.load("quadruped")
    sim = Simulator(ideal(robot.model, robot.model.gravity), ground="none", integrator=integrator)
    q, v = np.array(robot.model.nominal), np.zeros(18)
    q[2], v[:6] = 3.0, (1.0, -0.5, 2.0, 0.3, -0.2, 0.4)
    sim.reset(q, v)
    robot.update(q, v)
    com, velocity = robot.com.copy(), robot.com_velocity.copy()
    for _ in range(300):
        sim.step()
    t = sim.time
    robot.update(*sim.state)
    exact = com + velocity * t + 0.5 * t * t * robot.model.gravity
    # semi-implicit Euler uses the velocity at the end of each step: g dt t / 2 too low
    assert t == pytest.approx(0.3)
    assert np.abs(robot.com - exact).max() <= 1.1 * error
    assert (exact - robot.com)[2] == pytest.approx(error if integrator == "semi-implicit" else 0.0, rel=0.1, abs=1e-9)


def test_runge_kutta_keeps_energy_and_is_of_fourth_order():
    model = ideal(wbc.load("quadruped").model, (0.0, 0.0, -9.81))
    rng = np.random.default_rng(2)
    q, v = np.array(model.nominal), rng.normal(scale=2.0, size=18)
    ends, drifts = [], []
    for steps in (25, 50, 400):
        sim = Simulator(model, timestep=0.2 / steps, ground="none", integrator="runge-kutta")
        sim.reset(q, v)
        before = sim.energy
        for _ in range(steps):
            sim.step()
        ends.append(np.concatenate(sim.state))
        drifts.append(abs(sim.energy - before))
    coarse, fine = np.abs(ends[0] - ends[2]).max(), np.abs(ends[1] - ends[2]).max()
    assert 11 < coarse / fine < 22, "halving the timestep must divide the error by 16"
    assert drifts[2] < 1e-7


# --- impact --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("friction", [0.0, 1e3], ids=["frictionless", "sticking"])
def test_impact_is_eths(friction):
    """ETH (3.63), (3.70): u⁺ = N_c u⁻; (3.71), (3.72): the energy that is lost."""
    model = ideal(wbc.load("quadruped").model)
    sim = Simulator(model, friction=friction)
    v = np.zeros(18)
    v[0], v[2] = 0.2, -0.7  # a translation: no Coriolis forces, so that nothing but the impact changes it
    robot = wbc.load(model)
    robot.update(model.nominal)
    sim.reset(model.nominal - np.eye(19)[2] * (robot.pose("LF_foot")[2, 3] - 0.025), v)
    robot.update(*sim.state)
    before = robot.kinetic_energy
    radius = np.array([0.0, 0.0, -0.025])
    rows = []
    for foot in model.feet:
        J = robot.jacobian(foot)
        point = J[:3] - np.array([[0, -radius[2], 0], [radius[2], 0, 0], [0, 0, 0]]) @ J[3:]
        rows.append(point if friction else point[2:])
    J = np.vstack(rows)
    M_inverse = np.linalg.inv(robot.mass_matrix)
    inertia = np.linalg.inv(J @ M_inverse @ J.T)
    N = np.eye(18) - M_inverse @ J.T @ inertia @ J
    sim.step()
    np.testing.assert_allclose(sim.state[1], N @ v, atol=1e-8)
    lost = 0.5 * (J @ v) @ inertia @ (J @ v)
    robot.update(robot.q, sim.state[1])
    assert before - robot.kinetic_energy == pytest.approx(lost, rel=1e-8)
    assert lost > 0.5


# --- friction ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ground", ["hard", "soft"])
def test_a_brick_on_a_slope_holds_below_the_angle_of_friction_and_slides_above(ground):
    friction = 0.5
    limit = np.arctan(friction)
    sim, down = on_slope(limit - 0.02, friction, ground=ground)
    for _ in range(200):
        sim.step()
    settled = sim.state[0][:3]
    for _ in range(1000):
        sim.step()
    assert np.abs(sim.state[0][:3] - settled).max() < 1e-8
    sim, down = on_slope(limit + 0.05, friction, ground=ground)
    for _ in range(500):
        sim.step()
    expected = 9.81 * (np.sin(limit + 0.05) - friction * np.cos(limit + 0.05)) * 0.5
    assert down @ sim.state[1][:3] == pytest.approx(expected, rel=1e-6 if ground == "hard" else 0.02)


def test_the_convex_problem_alone_lets_what_slides_hover():
    heights = []
    for corrections in (0, 50):
        sim, _ = on_slope(0.0, 0.5, corrections=corrections)
        sim.reset(sim.state[0], [1.0, 0, 0, 0, 0, 0])
        sim.step()
        heights.append(sim.state[1][2])
    assert heights[0] > 0.1, "the trap is gone: say so in contact_impulse"
    assert abs(heights[1]) < 1e-9


def test_friction_may_differ_by_point_and_turns_what_slides():
    sim, _ = on_slope(0.0, [0.1, 0.6, 0.1, 0.6])  # more on the left, y > 0
    sim.reset(sim.state[0], [1.0, 0, 0, 0, 0, 0])
    for _ in range(100):
        sim.step()
    assert sim.state[1][5] > 0.1


# --- a robot comes down --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ground", ["hard", "soft"])
def test_a_dropped_robot_comes_to_rest_and_never_gains_energy(ground):
    robot = wbc.load("quadruped")
    sim = Simulator(robot, ground=ground, friction=0.7, contacts=[*robot.model.feet, ("base", BELLY)])
    q, v = np.array(robot.model.nominal), np.zeros(18)
    q[2] += 0.1
    v[:6] = 0.8, 0.3, 0.0, 0.5, 0.5, 0.5
    sim.reset(q, v)
    energies = [sim.energy]
    for _ in range(2500):
        sim.apply(-2.0 * sim.state[1][6:])
        sim.step()
        energies.append(sim.energy)
    assert not sim.trouble
    assert np.diff(energies).max() < 1e-9
    assert energies[0] - energies[-1] > 50.0
    assert np.abs(sim.state[1]).max() < 1e-2
    q = sim.state[0][7:]
    limits = robot.limits
    assert (limits.lower[6:] - q).max() < 1e-6 and (q - limits.upper[6:]).max() < 1e-6


def test_limits_hold_an_arm():
    arm = wbc.load("arm")
    sim = Simulator(arm, timestep=2e-3)
    for _ in range(1000):
        sim.apply([0.0, 80.0, 0.0, 50.0, 0.0, 0.0, 0.0])
        sim.step()
    q = sim.state[0]
    assert q[1] == pytest.approx(arm.limits.upper[1], abs=1e-6)
    assert (q <= arm.limits.upper + 1e-6).all() and (q >= arm.limits.lower - 1e-6).all()


def test_an_arm_presses_on_a_table():
    arm = wbc.load("arm")
    arm.update(arm.model.nominal)
    place = arm.pose("tool")[:3, 3]
    sim = Simulator(arm, contacts="tool", height=place[2], friction=0.3)
    for _ in range(300):
        q, v = sim.state
        arm.update(q, v)
        press = arm.generalized_force("tool", [0.0, 0.0, -10.0])
        sim.apply(arm.bias + press - 20.0 * v)
        sim.step()
    np.testing.assert_allclose(sim.point_forces[0], [0.0, 0.0, 10.0], atol=1e-6)
    arm.update(*sim.state)
    assert arm.pose("tool")[2, 3] == pytest.approx(place[2], abs=1e-6)
    np.testing.assert_allclose(sim.contact_forces["tool"], sim.point_forces[0])


def slide(sim: wbc.simulation.Plant, q: np.ndarray, v: np.ndarray, seconds: float) -> tuple[np.ndarray, float]:
    """Where a quadruped whose joints hold the nominal posture ends, and how far it slid, m."""
    sim.reset(q, v)
    for _ in range(round(seconds / sim.timestep)):
        now, speed = sim.state
        sim.apply(400.0 * (sim.model.nominal[7:] - now[7:]) - 15.0 * speed[6:])
        sim.step()
    end = sim.state[0]
    return end, float(np.linalg.norm(end[:2] - q[:2]))


@pytest.mark.parametrize("speed", [(0.8, 0.3, 0.5), (-0.5, 0.6, -0.7), (0.2, -0.8, 0.3)])
def test_a_dropped_and_sliding_quadruped_rests_where_mujocos_does(speed):
    """On MuJoCo's floor as `MujocoSimulator` makes it; on one as soft as MuJoCo's own it goes 12 mm farther."""
    pytest.importorskip("mujoco")
    robot = wbc.load("quadruped")
    q, v = np.array(robot.model.nominal), np.zeros(18)
    q[2] += 0.05
    v[:2], v[5] = speed[:2], speed[2]
    ends = []
    for simulator in ("mujoco", "builtin"):
        end, far = slide(make_plant(robot, simulator, friction=0.6), q, v, 1.5)
        ends.append(end)
        assert far > 0.08
    theirs, ours = ends
    apart, turned = float(np.linalg.norm(ours[:3] - theirs[:3])), angle_between(ours[3:7], theirs[3:7])
    print(f"slid {1e3 * far:.1f} mm; apart {1e3 * apart:.2f} mm, {turned:.2f}°")
    assert apart < 5e-3
    assert turned < 0.6
    assert np.abs(ours[7:] - theirs[7:]).max() < np.radians(1.0)


def test_mujocos_floor_gives_no_energy():
    """As our own never does (above): nothing on this floor rebounds, though it is a spring."""
    pytest.importorskip("mujoco")
    robot = wbc.load("quadruped")
    plant = make_plant(robot, "mujoco", friction=0.7)
    q, v = np.array(robot.model.nominal), np.zeros(18)
    q[2] += 0.1
    v[:6] = 0.8, 0.3, 0.0, 0.5, 0.5, 0.5
    plant.reset(q, v)
    energies = []
    for _ in range(1500):
        robot.update(*plant.state)
        energies.append(robot.kinetic_energy + robot.potential_energy)
        plant.apply(-2.0 * plant.state[1][6:])
        plant.step()
    assert np.diff(energies).max() < 1e-6
    assert energies[0] - energies[-1] > 50.0


# --- under control -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ground", ["hard", "soft"])
def test_the_quadruped_stands_and_recovers_from_a_push(ground):
    controller, q = standing("quadruped")
    sim = Simulator(controller.robot, ground=ground)
    log = run(controller, sim, 1.0)
    assert log.ended == "finished" and set(log.status) == {"optimal"}
    assert np.abs(log.q[:, :3] - q[:3]).max() < 2e-3
    assert sum(sim.contact_forces.values())[2] == pytest.approx(9.81 * controller.robot.mass, rel=1e-3)
    controller.reset()
    sim.reset()
    log = run(controller, sim, 1.5, disturbances=[Push("base", (0.0, 88.0, 0.0), 0.1, 0.2)])
    assert log.ended == "finished"
    assert np.abs(log.q[:, 1]).max() > 5e-3, "the push did nothing"
    assert np.abs(log.q[-1, :3] - q[:3]).max() < 2e-3


def test_the_humanoid_stands_on_its_soles():
    controller, q = standing("humanoid", "numpy")
    sim = make_plant(controller.robot, "builtin")
    assert len(sim.points) == 8
    log = run(controller, sim, 0.3, disturbances=[Push("base", (60.0, 0.0, 0.0), 0.05, 0.1)])
    assert log.ended == "finished"
    assert np.abs(log.q[-1, :3] - q[:3]).max() < 2e-2
    assert sum(sim.contact_forces.values())[2] == pytest.approx(9.81 * controller.robot.mass, rel=0.05)


def test_soft_contact_is_the_same_with_both_integrators():
    ends = []
    for integrator in ("semi-implicit", "runge-kutta"):
        sim, _ = on_slope(0.3, 0.2, ground="soft", integrator=integrator, timestep=2e-4, damping=200.0)
        q = sim.state[0]
        sim.reset(q + 0.01 * np.eye(7)[2], [0.3, 0.1, 0.0, 0.0, 0.0, 0.0])
        for _ in range(750):
            sim.step()
        ends.append(sim.state)
    np.testing.assert_allclose(ends[0][0], ends[1][0], atol=1e-3)
    np.testing.assert_allclose(ends[0][1], ends[1][1], atol=2e-2)


def test_soft_contact_sinks_by_weight_over_stiffness():
    sim, _ = on_slope(0.0, 0.5, ground="soft", stiffness=2e4)
    for _ in range(1500):
        sim.step()
    assert sim.state[0][2] == pytest.approx(0.05 - 2.0 * 9.81 / (4 * 2e4), abs=1e-8)


@equation("ETH 3.58", "soft contact", Simulator)
def test_soft_contact_is_a_spring_and_a_damper():
    """F_c = k (r − r₀) + d ṙ on the ground, and as much back on the robot: here along the normal."""
    k, d = 2e4, 300.0
    sim, _ = on_slope(0.0, 0.5, ground="soft", stiffness=k, damping=d, integrator="runge-kutta", timestep=1e-6)
    sim.reset([0, 0, 0.05 - 0.001, 1, 0, 0, 0], [0, 0, -0.2, 0, 0, 0])
    sim.step()
    np.testing.assert_allclose(sim.point_forces[:, 2], -(k * -0.001 + d * -0.2), rtol=1e-3)


# --- what touches --------------------------------------------------------------------------------------------------


def test_any_frame_contact_or_point_touches():
    """A sole by its name, another as a contact, a hand, a frame that was added to the robot, points on a body."""
    robot = wbc.load("humanoid")
    robot.add_frame("knee", "left_shank", (0.0, 0.0, -0.1))
    sole = wbc.SurfaceContact("right_foot", corners=robot.model.soles["right_foot"][:3])
    sim = Simulator(robot, contacts=["left_foot", sole, wbc.PointContact("left_hand"), "knee", ("base", np.eye(3))])
    assert [point.frame for point in sim.points] == [*["left_foot"] * 4, *["right_foot"] * 3, "left_hand", "knee"] + [
        "base"
    ] * 3
    np.testing.assert_array_equal(sim.points[-1].offset, (0, 0, 1))
    assert set(sim.contact_forces) == {"left_foot", "right_foot", "left_hand", "knee", "base"}
    assert Simulator(robot, contacts="left_hand").points[0].frame == "left_hand"
    assert Simulator(robot, contacts=[("base", [(0.1, 0.2)])]).points[0].offset.tolist() == [0.1, 0.2, 0.0]


def test_a_floating_robot_without_feet_must_say_what_touches():
    with pytest.raises(wbc.WbcError, match="'brick' has no feet.*contacts="):
        Simulator(brick())
    falling = Simulator(brick(), contacts=())
    for _ in range(10):
        falling.step()
    assert falling.state[1][2] == pytest.approx(-9.81 * 0.01)
    assert Simulator(wbc.load("arm")).points == (), "an arm is free"


def test_sensors_share_the_forces_of_their_part_by_nearness():
    robot = wbc.load(brick())
    for name, x in (("front", 0.2), ("rear", -0.2), ("also front", 0.2)):
        robot.add_frame(name, "brick", (x, 0.0, 0.0))
    sim = Simulator(robot, contacts=[("brick", CORNERS)])
    sim.reset([0.0, 0.0, 0.05, 1.0, 0.0, 0.0, 0.0])
    sim.push("brick", [0.0, 0.0, 0.0, 0.0, 1.0, 0.0])  # it leans on its front
    for _ in range(5):
        sim.step()
    weight = 2.0 * 9.81
    assert sim.contact_forces["brick"][2] == pytest.approx(weight)
    sim.measure(["front", "rear", "also front"])
    forces = sim.contact_forces
    assert forces["front"][2] - forces["rear"][2] == pytest.approx(1.0 / 0.2)
    assert forces["front"][2] + forces["rear"][2] == pytest.approx(weight)
    np.testing.assert_array_equal(forces["also front"], forces["front"])
    assert not forces["brick"].any(), "all points are nearer to another sensor"
    with pytest.raises(wbc.WbcError, match="did you mean 'front'"):
        sim.measure(["frnt"])


def test_sensors_find_points_that_are_offset_in_a_turned_frame():
    """A quarter turn about z: what is at x in the frame is at y in the body."""
    robot = wbc.load(brick())
    turned = np.eye(4)
    turned[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    robot.add_frame("turned", "brick", turned)
    robot.add_frame("left", "brick", (0.0, 0.1, 0.0))
    robot.add_frame("right", "brick", (0.0, -0.1, 0.0))
    sim = Simulator(robot, contacts=[("turned", [(y, -x, z) for x, y, z in CORNERS])])
    sim.measure(["left", "right"])
    sim.reset([0.0, 0.0, 0.05, 1.0, 0.0, 0.0, 0.0])
    sim.push("brick", [0.0, 0.0, 0.0, -0.5, 0.0, 0.0])  # it leans to its left
    for _ in range(5):
        sim.step()
    forces = sim.contact_forces
    assert forces["left"][2] - forces["right"][2] == pytest.approx(0.5 / 0.1)
    assert forces["left"][2] + forces["right"][2] == pytest.approx(2.0 * 9.81)


# --- the interface -------------------------------------------------------------------------------------------------


def test_height_and_ball_of_the_foot():
    robot = wbc.load("quadruped")
    sim = Simulator(robot, height=0.3)
    assert [point.radius for point in sim.points] == [0.025] * 4
    q = np.array(robot.model.nominal)
    q[2] += 0.31
    sim.reset(q)
    for _ in range(200):
        now, v = sim.state
        sim.apply(400.0 * (robot.model.nominal[7:] - now[7:]) - 15.0 * v[6:])
        sim.step()
    robot.update(*sim.state)
    for foot in robot.model.feet:
        assert robot.pose(foot)[2, 3] == pytest.approx(0.325, abs=1e-5)


def test_what_is_handed_out_is_a_copy_and_the_same_run_gives_the_same_numbers():
    sim = Simulator(wbc.load("quadruped"), friction=0.3)
    ends = []
    for _ in range(2):
        sim.reset(v=[0.8, 0.3, -0.3, *np.full(15, 0.1)])
        for _ in range(50):  # it still slides at the end: the contact problem's warm start matters
            sim.step()
            sim.state[0][:] = 7.0
            sim.contact_forces["LF_foot"][:] = 7.0
        ends.append(np.concatenate([*sim.state, *sim.contact_forces.values()]))
    assert (ends[0] == ends[1]).all()
    q = np.array(sim.model.nominal)
    sim.reset(q)
    q[:] = 7.0
    assert sim.state[0][2] < 1.0


def test_a_push_accelerates_and_ends():
    model = brick((0.0, 0.0, 0.0))
    sim = Simulator(model, ground="none")
    sim.push("brick", [4.0, 0.0, 0.0, 0.0, 0.0, 0.0333])
    for _ in range(100):
        sim.step()
    np.testing.assert_allclose(sim.state[1], [0.2, 0, 0, 0, 0, 0.1], atol=1e-9)
    sim.push("brick", np.zeros(3))
    sim.step()
    np.testing.assert_allclose(sim.state[1], [0.2, 0, 0, 0, 0, 0.1], atol=1e-9)
    sim.push("brick", np.ones(3))
    sim.reset()
    sim.step()
    assert not sim.state[1].any(), "a reset ends pushes"


def test_an_unstable_simulation_says_so():
    sim, _ = on_slope(0.0, 0.5, ground="soft", integrator="runge-kutta", stiffness=1e13, timestep=1e-2)
    q, v = sim.state
    q[2] -= 1e-3
    sim.reset(q, v)
    for _ in range(100):
        sim.step()
    assert "unstable" in sim.trouble
    assert np.isfinite(np.concatenate(sim.state)).all()
    sim.reset()
    assert not sim.trouble


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"timestep": 0.0}, "timestep"),
        ({"ground": "hrd"}, "did you mean 'hard'"),
        ({"integrator": "euler"}, "semi-implicit"),
        ({"integrator": "runge-kutta"}, "hard ground has none"),
        ({"friction": -1.0}, "friction"),
        ({"friction": [1.0, 1.0]}, "4 points"),
        ({"normal": (0, 0, 0)}, "normal"),
        ({"contacts": [("LF_fot", (0, 0, 0))]}, "did you mean 'LF_foot'"),
        ({"contacts": "LF_fot"}, "did you mean 'LF_foot'"),
        ({"contacts": [3]}, "can't touch the ground"),
        ({"contacts": [wbc.PointContact("LF_foot", on="RF_foot")]}, "only contacts with the ground"),
        ({"contacts": [("base", (0, 0))]}, "the points on 'base'"),
        ({"stiffness": 0.0}, "stiffness"),
        ({"height": np.nan}, "height"),
    ],
)
def test_wrong_options_are_named(options, words):
    with pytest.raises(wbc.WbcError, match=words):
        Simulator(wbc.load("quadruped"), **options)


def test_wrong_input_is_named():
    sim = Simulator(wbc.load("quadruped"))
    with pytest.raises(wbc.WbcError, match="torque"):
        sim.apply(np.zeros(11))
    with pytest.raises(wbc.WbcError, match="did you mean 'base'"):
        sim.push("bse", np.zeros(3))
    with pytest.raises(wbc.WbcError, match="push on 'base'"):
        sim.push("base", np.zeros(4))
    with pytest.raises(wbc.WbcError, match="q has shape"):
        sim.reset(np.zeros(4))
    with pytest.raises(wbc.WbcError, match="can't simulate"):
        Simulator("quadruped")
