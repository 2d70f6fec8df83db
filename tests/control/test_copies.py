"""Copies of what a user holds: they behave as the original does, bit for bit, and share nothing that changes."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import SOLVERS, contacts, controller, standing
from wbc import compiled, kinematics
from wbc.solvers import HierarchicalQP

COPIES: dict[str, Callable] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),
}
TICKS = 30


def ramping(name: str, backend: str, solver: object) -> wbc.Controller:
    """A controller whose torques depend on all that is remembered: the last torque, the last set, ramps, anchors."""
    robot = wbc.load(name, backend)  # type: ignore[arg-type]
    limits = tasks.TorqueLimits(rate=500.0) + tasks.FrictionCones()
    balance = tasks.EndEffectorAcceleration("base", gains=wbc.Gains(3.0), name="balance")
    rest = balance / tasks.JointAcceleration(name="posture") / tasks.TorqueMinimization()
    levels = tasks.EquationOfMotion() / limits / tasks.ContactMotion() / rest
    return controller(robot, wbc.Stack(levels, contacts=contacts(robot)), solver)


def states(robot: wbc.Dynamics, count: int = TICKS) -> list[tuple[np.ndarray, np.ndarray, float]]:
    rng, found = np.random.default_rng(0), []
    q, v = np.array(robot.model.nominal), np.zeros(robot.nv)
    for tick in range(count):
        q, v = robot.integrate(q, 1e-3 * v), v + 0.02 * rng.normal(size=robot.nv)
        found.append((q, v, 1e-3 * tick))
    return found


def begin(one: wbc.Controller) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Runs it into the middle of ramps; gives the states that come next."""
    before, after = states(one.robot)[:10], states(one.robot)[10:]
    for tick, state in enumerate(before):
        if tick == 3:
            one.stack.open_contact(one.robot.model.feet[0], 0.015)
            one.stack.fade("posture", 3.0, 0.02)
        one.step(*state)
    assert one.stack.support.moving and one.stack.schedule.moving
    return after


def goes_on(one: wbc.Controller, coming: list) -> list[bytes]:
    """What it does from there on: all numbers of its solutions, as bytes."""
    found = []
    for tick, state in enumerate(coming):
        if tick == 12:
            one.stack.close_contact(one.robot.model.feet[0], 0.005)
        solution = one.step(*state)
        found.append(solution._x.tobytes() + solution.status.encode())
    return found


@pytest.mark.parametrize(
    ("name", "backend", "solver"),
    [
        *(("quadruped", "pinocchio", solver) for solver in SOLVERS),
        ("quadruped", "numpy", "hierarchical-qp"),
        ("quadruped", "mujoco", "hierarchical-qp"),
        ("humanoid", "pinocchio", "hierarchical-qp"),
        ("quadruped", "pinocchio", HierarchicalQP(compiled=False)),
    ],
)
def test_a_copy_made_during_ramps_goes_on_bit_for_bit(name: str, backend: str, solver: object) -> None:
    one = ramping(name, backend, solver)
    coming = begin(one)
    made = {how: of(one) for how, of in COPIES.items()}
    wanted = goes_on(one, coming)
    for how, twin in made.items():  # after the original has gone on: nothing of it has moved them
        assert goes_on(twin, coming) == wanted, how


def test_a_copy_speaks_of_its_own_tasks() -> None:
    one = ramping("quadruped", "numpy", "hierarchical-qp")
    for how, of in COPIES.items():
        twin = of(one)
        assert [twin.stack.name_of(task) for task in twin.stack] == list(one.stack.names)
        assert str(twin.stack) == str(one.stack)
        twin.stack["balance"].target = np.eye(4)
        assert one.stack["balance"].target is None, how


def test_a_controller_of_velocities_is_copied_alike() -> None:
    robot = wbc.load("arm")
    task = tasks.EndEffectorVelocity("tool", target=np.array([0.4, 0.1, 0.5]), axes="position")
    one = kinematics.DifferentialKinematics(robot, wbc.Stack(task / tasks.JointVelocity()))
    q = np.array(robot.model.nominal)
    one.step(q, t=0.0)
    made = {how: of(one) for how, of in COPIES.items()}
    wanted = one.step(q + 0.1, t=0.1).velocity
    for how, twin in made.items():
        assert np.array_equal(twin.step(q + 0.1, t=0.1).velocity, wanted), how


@pytest.mark.parametrize("backend", ["numpy", "pinocchio", "mujoco"])
def test_what_a_user_holds_is_copied(backend: str) -> None:
    one, q = standing("quadruped", backend)
    solution = one.step(q, np.full(one.robot.nv, 0.1), 0.0)
    one.robot.add_frame("tip", "LF_foot", [0.0, 0.0, 0.1])
    for how, of in COPIES.items():
        robot = of(one.robot)
        assert np.array_equal(robot.pose("tip"), one.robot.pose("tip")), how
        assert np.array_equal(robot.mass_matrix, one.robot.mass_matrix)
        model = of(one.robot.model)
        assert model.joint_names == robot.model.joint_names and model.mass == robot.model.mass
        assert not model.nominal.flags.writeable and not next(iter(model.joints.values())).pose.flags.writeable
        assert type(of(one.solver)) is type(one.solver)
        told = of(solution)
        assert told.explain() == solution.explain()
        assert told.certificate == solution.certificate
        assert not any(array.flags.writeable for array in (told.torque, told.acceleration, told.q, told.v))
        assert all(np.array_equal(told.forces[foot], solution.forces[foot]) for foot in robot.model.feet)


def test_a_solution_that_was_copied_is_about_its_own_state() -> None:
    one, q = standing("quadruped", "numpy")
    solution = one.step(q, np.zeros(one.robot.nv), 0.0)
    told = solution.certificate
    del solution.__dict__["certificate"]
    one.step(q, np.full(one.robot.nv, 0.5), 0.001)
    assert pickle.loads(pickle.dumps(solution)).certificate == told


@pytest.mark.parametrize("make", [wbc.Simulator, wbc.MujocoSimulator])
def test_a_simulator_is_copied_in_the_middle_of_a_run(make: Callable) -> None:
    plant = make(wbc.load("quadruped"))
    torque = np.linspace(-5.0, 5.0, 12)
    plant.apply(torque)
    for _ in range(20):
        plant.step()
    made = {how: of(plant) for how, of in COPIES.items() if how != "copy"}
    for twin in made.values():
        for _ in range(5):
            twin.step()
    for _ in range(5):
        plant.step()
    for how, twin in made.items():
        assert twin.time == plant.time, how
        assert all(np.array_equal(*both) for both in zip(twin.state, plant.state, strict=True)), how


def elsewhere(one: wbc.Controller, coming: list) -> tuple[list[bytes], wbc.Controller]:
    return goes_on(one, coming), one


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_a_controller_goes_on_in_another_process(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system does not {method}")
    one = ramping("quadruped", "pinocchio", "hierarchical-qp")
    coming = begin(one)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads beside a fork
        with multiprocessing.get_context(method).Pool(1) as pool:
            found, back = pool.apply(elsewhere, (one, coming))
    assert found == goes_on(one, coming)
    q, v, _ = coming[-1]
    assert np.array_equal(back.step(q, v, 1.0).torque, one.step(q, v, 1.0).torque)


@pytest.mark.skipif(compiled.kernel is None, reason="the kernel is not built, or off")
def test_a_plan_takes_up_only_what_a_plan_of_its_sizes_remembers() -> None:
    plan = compiled.kernel.Plan(3, [2, 2], 100, 1e-9)
    plan.recall(plan.memory())
    for odd in (b"", plan.memory()[:-1], plan.memory()[:-1] + b"\x7f", plan.memory()[:-2] + b"\x05\x00"):
        with pytest.raises(ValueError, match="not what a plan of these sizes remembers"):
            plan.recall(odd)
    with pytest.raises(TypeError):
        plan.recall("text")
