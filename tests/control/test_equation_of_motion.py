"""M v̇ + h = Sᵀ τ + Jᵀ f: its residual, what it leaves free, and known wrenches from outside."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from tests.actuated import DIFFERENTIAL
from tests.closed_loops import FOUR_BAR, closed_state
from tests.control.scenes import contacts, controller, moving_state
from wbc.control.equation_of_motion import (
    MotionEquation,
    _combinations,
    _solutions,
    _with,
    force_scale,
)

ROBOTS = ("planar_arm", "arm", "quadruped", "humanoid")


def equation(
    name: str, seed: int = 0, external: np.ndarray | None = None
) -> tuple[wbc.Dynamics, wbc.Tick, MotionEquation]:
    robot = wbc.load(name, "numpy")
    robot.update(*moving_state(robot, np.random.default_rng(seed), 0.3, 0.5))
    tick = wbc.Tick(robot, contacts(robot), external=external)
    return robot, tick, MotionEquation.of(robot, tick)


@pytest.mark.parametrize("name", ROBOTS)
def test_torque_and_residual_are_those_of_forward_dynamics(name: str) -> None:
    """Torques and forces that are drawn at random give accelerations; these give the torques back."""
    robot, tick, physics = equation(name)
    rng = np.random.default_rng(1)
    torque, force = rng.normal(size=robot.na), rng.normal(size=tick.nf)
    wrenches = {contact.frame: contact.wrench(robot, force[tick.force_of(contact.name)]) for contact in tick.contacts}
    vdot = robot.forward_dynamics(robot.q, robot.v, torque, wrenches)
    scale = 1.0 + np.abs(robot.bias).max()
    assert np.abs(physics.residual(vdot, force, torque)).max() < 1e-9 * scale
    assert np.allclose(physics.torque(vdot, force), torque, atol=1e-9 * scale)
    more = np.zeros(robot.na)
    more[0] = 1.0  # N m too much shows where it acts, with its sign
    assert np.allclose(physics.residual(vdot, force, torque + more)[robot.actuated], -more, atol=1e-9 * scale)


@pytest.mark.parametrize("name", ROBOTS)
def test_all_that_it_leaves_free_obeys_it(name: str) -> None:
    robot, tick, physics = equation(name)
    C = physics.basis()
    Z, unactuated = C[:, 1:], robot.nv - robot.na
    assert C.shape == (robot.nv + tick.nf, 1 + robot.nv + tick.nf - unactuated)
    assert np.allclose(Z.T @ Z, np.eye(Z.shape[1]), atol=1e-12)
    assert np.allclose(Z.T @ C[:, 0], 0.0, atol=1e-9 * (1 + np.abs(C[:, 0]).max())), "y0 is the shortest"
    z = np.random.default_rng(2).normal(size=Z.shape[1])
    x = physics.expand(C[:, 0] + Z @ z)
    parts = x[tick.acceleration], x[tick.force], x[tick.torque]
    assert np.abs(physics.residual(*parts)).max() < 1e-8 * (1 + np.abs(x).max())
    straight = physics.expand(C[:, 0]) + physics.freedom() @ z
    assert np.allclose(x, straight, atol=1e-9 * (1 + np.abs(x).max()))


@pytest.mark.parametrize("name", ROBOTS)
def test_its_rows_are_its_residual(name: str) -> None:
    robot, tick, physics = equation(name)
    x = np.random.default_rng(3).normal(size=tick.n)
    rows = physics.rows()
    assert rows.kind == "equation" and len(rows) == robot.nv
    residual = physics.residual(x[tick.acceleration], x[tick.force], x[tick.torque])
    assert np.allclose(rows.matrix(tick) @ x - rows.lower, residual, atol=1e-9 * (1 + np.abs(residual).max()))
    A, b = tasks.EquationOfMotion().matrices(robot, tick)
    assert np.array_equal(A, rows.matrix(tick)) and np.array_equal(b, rows.lower)


def test_its_rows_are_its_residual_where_actuators_drive_several_joints() -> None:
    mujoco = pytest.importorskip("mujoco")
    robot, rng = wbc.load(mujoco.MjModel.from_xml_string(DIFFERENTIAL), "numpy"), np.random.default_rng(3)
    robot.update(*moving_state(robot, rng, 0.3, 0.5))
    tick = wbc.Tick(robot, ())
    physics, x = MotionEquation.of(robot, tick), rng.normal(size=tick.n)
    vdot, torque = x[tick.acceleration], x[tick.torque]
    residual = robot.mass_matrix @ vdot + robot.bias - robot.actuator_force(torque)
    assert np.allclose(physics.residual(vdot, x[tick.force], torque), residual, atol=1e-9)
    assert np.allclose(physics.rows().matrix(tick) @ x - physics.rows().lower, residual, atol=1e-9)


@pytest.mark.parametrize("closure", ["none", "four-bar"])
def test_a_robot_moves_as_torques_make_it_and_its_loops_stay_closed(closure: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    robot, rng = wbc.load("arm", "numpy"), np.random.default_rng(0)
    robot.update(*moving_state(robot, rng, 0.3, 0.5))
    if closure != "none":
        robot = wbc.load(mujoco.MjModel.from_xml_string(FOUR_BAR), "numpy")
        robot.update(*closed_state(robot, 0))
    tick = wbc.Tick(robot, ())
    physics, torque = MotionEquation.of(robot, tick), rng.normal(size=robot.na)
    x = physics.moved(np.ones(tick.nf), torque)
    vdot, force = x[tick.acceleration], x[tick.force]
    assert np.array_equal(x[tick.torque], torque)
    assert np.abs(physics.residual(vdot, force, torque)).max() < 1e-9 * (1.0 + np.abs(force).max(initial=0.0))
    assert np.abs(physics.loop_residual(vdot)).max(initial=0.0) < 1e-9 * (1.0 + np.abs(vdot).max())
    assert (len(force) > 0) == (closure != "none")


def test_forces_are_scaled_by_the_mass() -> None:
    robot, tick, physics = equation("quadruped")
    assert physics.scale == force_scale(robot) == robot.mass
    y = np.zeros(tick.nv + tick.nf)
    y[tick.nv] = 2.0
    assert physics.expand(y)[tick.nv] == 2.0 * robot.mass


# --- known wrenches from outside -------------------------------------------------------------------------------------


def test_a_known_wrench_is_that_of_forward_dynamics() -> None:
    robot = wbc.load("arm", "numpy")
    rng = np.random.default_rng(4)
    q, v, torque, wrench = robot.random(rng), rng.normal(size=7), rng.normal(size=7), rng.normal(size=6)
    robot.update(q, v)
    physics = tasks.EquationOfMotion(external={"tool": wrench})
    force = physics.external_force(robot, 0.0)
    vdot = robot.forward_dynamics(q, v, torque, {"tool": wrench})
    found = MotionEquation.of(robot, wbc.Tick(robot, external=force))
    assert np.abs(found.residual(vdot, np.zeros(0), torque)).max() < 1e-10
    assert tasks.EquationOfMotion().external_force(robot, 0.0) is None


@pytest.mark.parametrize("solver", ["hierarchical-qp", "sequential-qp"])
def test_a_load_that_is_known_is_carried(solver: str) -> None:
    """The arm's plant has a force at the tool; told of it, the controller accelerates as it is asked to."""
    robot = wbc.load("arm", "numpy")
    load = np.array([3.0, -2.0, -20.0])
    physics = tasks.EquationOfMotion(external={"tool": lambda t: load * (t > 0.5)})
    wanted = tasks.JointAcceleration(gains=wbc.Gains(2.0))
    ours = controller(robot, wbc.Stack(physics / wanted), solver)
    q, v = np.array(robot.model.nominal) + 0.1, np.full(7, 0.2)
    for time, acting in ((0.0, 0.0 * load), (1.0, load)):
        solution = ours.step(q, v, time)
        moved = robot.forward_dynamics(q, v, solution.torque, {"tool": acting})
        assert np.allclose(moved, solution.acceleration, atol=1e-8)
        assert solution.certificate.holds
        assert np.abs(solution.levels[0].residual["equation of motion"]).max() < 1e-8
    physics.external["tool"] = [0.0, 0.0, 0.0]  # put down
    assert np.allclose(
        ours.step(q, v, 2.0).torque, robot.inverse_dynamics(q, v, ours.step(q, v, 2.0).acceleration), atol=1e-8
    )


def test_mistakes_about_wrenches_are_named() -> None:
    robot = wbc.load("arm", "numpy")
    with pytest.raises(wbc.WbcError, match="external must be a dict from frames to wrenches, not 3"):
        tasks.EquationOfMotion(external=3)
    wrong = wbc.Stack(tasks.EquationOfMotion(external={"tol": [0, 0, 1]}) / tasks.JointAcceleration())
    with pytest.raises(wbc.WbcError, match="external: no frame 'tol'; did you mean 'tool'"):
        wbc.Controller(robot, wrong)
    bad = wbc.Stack(tasks.EquationOfMotion(external={"tool": [0, 0]}) / tasks.JointAcceleration())
    with pytest.raises(wbc.WbcError, match="3 or 6 finite numbers"):
        wbc.Controller(robot, bad).step(robot.model.nominal, np.zeros(7))
    with pytest.raises(wbc.WbcError, match="the controller solves the one equation of motion"):
        type("Mine", (tasks.EquationOfMotion,), {})


@pytest.mark.parametrize("rows", [1, 3, 6])
def test_what_actuators_do_is_turned_into_coordinates_and_back(rows: int) -> None:
    G = np.random.default_rng(0).normal(size=(rows, 6))
    P, back = _combinations(G)
    np.testing.assert_allclose(P @ back, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(back[:, :rows], G.T, atol=1e-12)
    np.testing.assert_allclose(back[:, rows:].T @ back[:, rows:], np.eye(6 - rows), atol=1e-12)
    np.testing.assert_allclose(back[:, rows:].T @ G.T, 0.0, atol=1e-12)


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("left", [0.0, 0.3e-8, 0.9e-8, 1e-7])
def test_actuators_that_are_all_but_dependent_have_a_great_cost(left: float, side: float) -> None:
    """What is left of them counts as 1e-8 of the most; what has more, as it is."""
    first = np.array([0.0, 4.0, 0.0])
    G = np.vstack([first, 0.5 * first + [4.0 * left * side, 0.0, 0.0]])
    P, back = _combinations(G)
    np.testing.assert_allclose(P @ back, np.eye(3), atol=1e-7)
    assert np.abs(P).max() <= 1.0 / (4.0 * max(left, 1e-8)) * 1.01
    assert np.abs(back[:, :2] - G.T).max() <= (0.0 if left > 1e-8 else 4e-8 - 4.0 * left) + 1e-15
    none = _combinations(np.zeros((0, 3)))
    np.testing.assert_array_equal(none[0], np.eye(3))


def free(unknowns: int) -> np.ndarray:
    """All y: those of no equation."""
    return _solutions(np.zeros((0, unknowns)), np.zeros(0))


@pytest.mark.parametrize("rows", [0, 1, 3, 5])
def test_solutions_of_equations(rows: int) -> None:
    rng = np.random.default_rng(1)
    E, e = rng.normal(size=(rows, 5)), rng.normal(size=rows)
    for found in (_solutions(E, e), _with(free(5), E, e), _with(_solutions(E[:1], e[:1]), E[1:], e[1:])):
        assert found.shape == (5, 6 - rows)
        np.testing.assert_allclose(E @ found[:, 0], e, atol=1e-12)
        np.testing.assert_allclose(found[:, 0], np.linalg.pinv(E) @ e, atol=1e-12)
        np.testing.assert_allclose(E @ found[:, 1:], 0.0, atol=1e-12)
        np.testing.assert_allclose(found[:, 1:].T @ found[:, 1:], np.eye(5 - rows), atol=1e-12)


def test_solutions_of_equations_that_depend_on_each_other_or_are_of_any_size() -> None:
    rng = np.random.default_rng(2)
    E, e = rng.normal(size=(3, 5)), rng.normal(size=3)
    twice = np.vstack([E, 2.0 * E[0], np.zeros(5)]), np.concatenate([e, [2.0 * e[0] + 1.0, 3.0]])
    found = _with(free(5), *twice)
    np.testing.assert_allclose(found[:, 0], np.linalg.pinv(twice[0]) @ twice[1], atol=1e-12)
    assert found.shape == (5, 3)
    apart = E * np.array([[1e6], [1.0], [1e-6]]), e * np.array([1e6, 1.0, 1e-6])
    found = _with(free(5), *apart)
    assert found.shape == (5, 3)
    np.testing.assert_allclose(E @ found[:, 0], e, atol=1e-6)
    for share, count in ((0.5e-9, 4), (4e-9, 3)):
        near = np.array([[1.0, 0.0, 0.0, 0.0, 0.0], [1.0, 2.0 * share, 0.0, 0.0, 0.0]])
        assert _with(free(5), near, np.ones(2)).shape[1] - 1 == count


@pytest.mark.parametrize("near", [0.0, 1e-16, 1e-12, 1e-6])
def test_rows_that_nearly_depend_on_physics_do_not_break_it(near: float) -> None:
    """Loops in a position in which they lock, say: what they can't have is left, and physics is as it was."""
    rng = np.random.default_rng(3)
    E, e = rng.normal(size=(3, 6)), rng.normal(size=3)
    rows = E[0] + near * rng.normal(size=6)
    found = _with(_solutions(E, e), rows[None], np.array([e[0] + 1.0]))
    assert np.abs(E @ found[:, 0] - e).max() < 1e-13 * (1.0 + np.abs(found[:, 0]).max())
    np.testing.assert_allclose(E @ found[:, 1:], 0.0, atol=1e-13)
    assert found.shape[1] - 1 == (3 if near < 1e-9 else 2)


def test_redundant_loops_that_contradict_each_other_do_not_count_as_open() -> None:
    robot = wbc.load("arm", "numpy")
    robot.update(robot.model.nominal)
    L = np.vstack([np.eye(7)[0], np.eye(7)[0]])

    def with_loops(bias: list[float]) -> MotionEquation:
        return MotionEquation(robot.mass_matrix, robot.bias, L, np.array(bias), robot.actuated, 1.0, np.ones(7))

    still = np.zeros(7)
    assert with_loops([1.0, -1.0]).opening(still) == 0.0 and with_loops([1.0, 1.0]).opening(still) == 2.0
    assert with_loops([1.0, -3.0]).opening(np.eye(7)[0]) == 0.0
