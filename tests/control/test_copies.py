"""Copies of what a user holds: they behave as the original does, bit for bit, and share nothing that changes."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import SOLVERS, contacts, controller, standing
from wbc import compiled, estimation, kinematics, realtime, simulation
from wbc.application import demo
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


def test_shapes_and_pairs_are_copied_with_what_was_added() -> None:
    robot = wbc.load("arm", "numpy")
    robot.update(robot.model.nominal)
    for engine in ("own", "auto"):
        geometry = wbc.CollisionGeometry(robot, engine=engine)
        geometry.add_sphere("ball", 0.1, (0.6, 0.0, 0.6))
        geometry.move("ball", (0.5, 0.1, 0.6), twist=(-0.5, 0, 0, 0, 0, 0))
        wanted = geometry.nearest(robot, 5)
        avoid = tasks.CollisionAvoidance(geometry)
        for how, of in COPIES.items():
            twin = of(geometry)
            assert twin.nearest(robot, 5) == wanted, how
            assert len(of(avoid).geometry.pairs) == len(geometry.pairs)
            if how != "copy":
                twin.remove("ball")
                assert "ball" in geometry.solids, how


def on(gait: Any, one: wbc.Controller, plant: wbc.Simulator, ticks: int) -> np.ndarray:
    """Torques of a gait's next ticks."""
    torques = []
    for _ in range(ticks):
        gait(plant.time, one)
        plant.apply(one.step(*plant.state, plant.time).torque)
        torques.append(plant.torque)
        plant.step()
    return np.array(torques)


def test_a_gait_with_its_shapes_goes_on_in_a_fresh_process() -> None:
    robot = wbc.load("quadruped", "numpy")
    gait = tasks.locomotion.Gait(robot, "trot", (0.3, 0.0, 0.0))
    levels = list(gait.stack().levels)
    avoid = tasks.CollisionAvoidance(wbc.CollisionGeometry(robot, engine="own"))
    one = wbc.Controller(robot, wbc.Stack([*levels, [avoid]], contacts=gait.stack().contacts))
    plant = wbc.Simulator(robot)
    on(gait, one, plant, 20)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(on, (gait, one, plant, 15))
    assert np.array_equal(found, on(gait, one, plant, 15))


@pytest.mark.parametrize("name", ["humanoid", "quadruped"])
def test_a_gait_goes_on_with_the_controller_that_was_copied_with_it(name: str) -> None:
    robot = wbc.load(name, "numpy")
    gait = tasks.locomotion.Walk(robot, (0.2, 0.0, 0.0)) if name == "humanoid" else tasks.locomotion.Gait(robot, "trot")
    one, plant = wbc.Controller(robot, gait.stack()), wbc.Simulator(robot)

    on(gait, one, plant, 40)
    made = [copy.deepcopy((gait, one, plant)), pickle.loads(pickle.dumps((gait, one, plant)))]
    wanted = on(gait, one, plant, 15)
    for twin in made:
        assert np.array_equal(on(*twin, 15), wanted)


def test_estimators_are_copied_in_the_middle_of_a_run() -> None:
    robot = wbc.load("quadruped", "numpy")
    plant = wbc.Simulator(robot)
    sensors = realtime.PlantIO(plant, errors=realtime.SensorErrors.usual(), base=False)
    estimator, observer = estimation.BaseEstimator(robot), estimation.MomentumObserver(robot)
    readings = []
    for _ in range(30):
        readings.append(sensors.read())
        plant.step()
    zero = np.zeros(robot.na)
    for state in readings[:20]:
        observer.update(*estimator.estimate(state), zero, 1e-3)
    made = [copy.deepcopy((estimator, observer)), pickle.loads(pickle.dumps((estimator, observer)))]
    wanted = [observer.update(*estimator.estimate(state), zero, 1e-3) for state in readings[20:]]
    for estimate, observe in made:
        found = [observe.update(*estimate.estimate(state), zero, 1e-3) for state in readings[20:]]
        assert np.array_equal(found, wanted)


def test_scenes_references_terrains_and_logs_are_copied() -> None:
    robot = wbc.load("arm", "numpy")
    times = np.linspace(0.0, 1.0, 5)
    reference = wbc.Reference(robot, times, np.linspace(robot.model.nominal, robot.model.nominal + 0.4, 5))
    terrain = simulation.stairs(start=0.6, rise=0.08, run=0.35, count=3)
    scene = demo("numpy", simulator="builtin")
    for how in ("deepcopy", "pickle"):
        of = COPIES[how]
        assert all(np.array_equal(*both) for both in zip(of(reference).at(0.3), reference.at(0.3), strict=True))
        assert of(terrain).height((0.7, 0.0)) == terrain.height((0.7, 0.0))
        twin = of(scene)
        assert twin.targets._trot.base is twin.controller.stack[twin.targets._trot.base.name], "the copy has its own"
        log = twin.run(0.03)
        back = of(log)
        assert np.array_equal(back.torque, log.torque) and back.summary() == log.summary()
    assert np.array_equal(scene.run(0.03).torque, log.torque), "and the original was not touched"


@pytest.mark.skipif(compiled.kernel is None, reason="the kernel is not built, or off")
def test_a_plan_takes_up_only_what_a_plan_of_its_sizes_remembers() -> None:
    plan = compiled.kernel.Plan(3, [2, 2], 100, 1e-9)
    plan.recall(plan.memory())
    for odd in (b"", plan.memory()[:-1], plan.memory()[:-1] + b"\x7f", plan.memory()[:-2] + b"\x05\x00"):
        with pytest.raises(ValueError, match="not what a plan of these sizes remembers"):
            plan.recall(odd)
    with pytest.raises(TypeError):
        plan.recall("text")
