"""What a user holds tells and does the same after a copy and in another process. New classes are found."""

from __future__ import annotations

import copy
import functools
import inspect
import multiprocessing
import pickle
import warnings
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import standing
from tests.held import examples, public_classes
from wbc import kinematics, realtime, simulation, sweeps, web
from wbc.control.protocol import TorqueController
from wbc.copies import Independent, Remade, Unique
from wbc.kinematics import VelocityVariables
from wbc.solvers import Solver

UNIQUE = {realtime.HardwareSim, realtime.UdpIO, sweeps.LocalProcesses, web.Link, web.Live, web.Replay}
"""What holds sockets, threads or processes; and `Batch`, if it has more than one job."""

DEPTH = 4
"""How far what an object has is looked into."""

TIMES = {"time", "tick_time", "seconds", "source", "folder"}
"""What clocks and folders say."""


def told(thing: Any, depth: int = DEPTH) -> Any:
    """What an object tells by its public attributes, as plain data, numbers to the last bit."""
    if isinstance(thing, np.ndarray):
        return thing.tolist() if thing.dtype == object else (thing.shape, thing.tobytes())
    if thing is None or isinstance(thing, str | bytes | int | float | np.generic):
        return repr(thing)
    if isinstance(thing, Mapping):
        return {str(key): told(value, depth - 1) for key, value in thing.items()} if depth else len(thing)
    if isinstance(thing, list | tuple | set | frozenset):
        parts = sorted(thing, key=str) if isinstance(thing, set | frozenset) else thing
        return [told(one, depth - 1) for one in parts] if depth else len(thing)
    kind = type(thing)
    if inspect.isroutine(thing) or inspect.isclass(thing):
        return thing.__qualname__
    if not depth or kind.__module__.split(".")[0] not in ("wbc", "tasks"):
        return kind.__qualname__
    names = set(vars(thing)) if hasattr(thing, "__dict__") else set()
    names |= {one.name for one in fields(thing)} if is_dataclass(thing) else set()
    names |= {name for name, one in inspect.getmembers(kind) if isinstance(one, property | functools.cached_property)}
    found = {"": kind.__qualname__}
    for name in sorted(names - TIMES):
        if not name.startswith("_"):
            try:
                found[name] = told(getattr(thing, name), depth - 1)
            except wbc.WbcError as error:
                found[name] = str(error)
    return found


SOLE = [[0.1, 0.1], [-0.1, 0.1], [-0.1, -0.1], [0.1, -0.1]]
PROBLEM = [wbc.Level(np.eye(3)[:2], -np.ones(2), np.ones(2)), wbc.Level(np.ones((1, 3)), np.ones(1), np.ones(1))]


def rows(task: wbc.Task) -> Any:
    """Those of a task in a state."""
    if isinstance(task, tasks.WheelSpin):
        robot, contacts = wbc.load("diffdrive", "numpy"), list(task.wheels)
    else:
        robot = wbc.load("quadruped", "numpy")
        sole = wbc.SurfaceContact("RF_foot", corners=SOLE, name="sole")
        contacts = [wbc.PointContact("LF_foot"), sole, wbc.PointContact("LH_foot")]
    robot.update(robot.model.nominal, np.linspace(0.1, 0.2, robot.nv))
    for contact in contacts:
        contact.fit(robot)
    tick = VelocityVariables if type(task).__module__ == "tasks.kinematics" else wbc.Tick
    task.reset()
    return task.rows(robot, tick(robot, contacts, time=0.5))


def done(thing: Any) -> Any:
    """What an object does when it is used."""
    if isinstance(thing, wbc.Task):
        return rows(thing)
    if isinstance(thing, Solver):
        return thing.solve(PROBLEM).x
    if isinstance(thing, TorqueController):
        robot = thing.robot
        q = robot.integrate(robot.model.nominal, np.linspace(0.02, 0.03, robot.nv))
        if isinstance(thing, kinematics.DifferentialKinematics):
            return thing.step(q, t=0.1).velocity
        return [thing.step(q, np.linspace(0.1, 0.2, robot.nv), 0.1 + 1e-3 * k).torque for k in range(3)]
    if isinstance(thing, simulation.Plant):
        for _ in range(5):
            thing.step()
        return thing.state
    if isinstance(thing, simulation.Plants | wbc.Batch):
        robot = thing.plants[0].model if isinstance(thing, simulation.Plants) else thing.controllers[0].robot.model
        if isinstance(thing, simulation.Plants):
            thing.step(np.ones((len(thing), robot.na)), 3)
            return thing.state
        return thing.step([robot.nominal] * len(thing), np.full((len(thing), robot.nv), 0.1), 0.1).torque
    if isinstance(thing, wbc.CollisionGeometry):
        robot = wbc.load("arm", "numpy")
        robot.update(robot.model.nominal)
        return thing.nearest(robot, 5)
    if isinstance(thing, wbc.Contact):
        robot = wbc.load("quadruped", "numpy")
        robot.update(robot.model.nominal, np.full(robot.nv, 0.1))
        return [thing.motion(robot), thing.cone(robot, 4)]
    if isinstance(thing, realtime.PlantIO | realtime.Sensors):
        return [thing.read() for _ in range(3)]
    if isinstance(thing, simulation.Scene):
        return thing.run(0.01).torque
    if isinstance(thing, tasks.locomotion.Gait | tasks.locomotion.Walk | tasks.Trot):
        robot = wbc.load("humanoid" if isinstance(thing, tasks.locomotion.Walk) else "quadruped", "numpy")
        return walked(thing, robot)
    return None


def walked(gait: Any, robot: wbc.Dynamics) -> Any:
    """Torques of a gait's first steps."""
    levels = gait.stack() if hasattr(gait, "stack") else tasks.stacks.standing(robot)
    one, plant = wbc.Controller(robot, levels), wbc.Simulator(robot)
    torques = []
    for _ in range(3):
        if hasattr(gait, "stack"):
            gait(plant.time, one)
        torques.append(one.step(*plant.state, plant.time).torque)
        plant.apply(torques[-1])
        plant.step()
    return torques


def behaviour(things: list[Any]) -> list[Any]:
    """What each tells, does, and tells afterwards."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)  # of solvers without inequalities, and of others in C
        return [(told(one), told(done(one)), told(one)) for one in things]


def differing(things: list[Any], found: list[Any], wanted: list[Any]) -> list[str]:
    """Names of those that are not alike."""
    pairs = zip(things, found, wanted, strict=True)
    return [type(one).__name__ for one, is_, should in pairs if is_ != should]


def test_there_is_one_of_each_public_class() -> None:
    made = {type(one) for one in examples()}
    assert {one.__name__ for one in public_classes() - made - UNIQUE} == set(), "give each an example in tests/held.py"


@functools.cache
def kept() -> tuple[bytes, list[Any]]:
    """One of each, pickled, and what they tell and do."""
    things = list(examples())
    return pickle.dumps(things), behaviour(things)


def behaviour_of(pickled: bytes) -> list[Any]:
    """What things do that were pickled."""
    return behaviour(pickle.loads(pickled))


@pytest.mark.parametrize("how", ["deepcopy", "pickle", "copy"])
def test_copies_tell_and_do_the_same(how: str) -> None:
    pickled, wanted = kept()
    things = pickle.loads(pickled)
    if how == "copy":  # of what keeps apart even then
        chosen = [index for index, one in enumerate(things) if isinstance(one, Independent)]
        twins = [copy.copy(things[index]) for index in chosen]
        assert differing(twins, behaviour(twins), behaviour([things[index] for index in chosen])) == []
    else:
        assert differing(things, behaviour(copy.deepcopy(things) if how == "deepcopy" else things), wanted) == []


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_another_process_tells_and_does_the_same(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system does not {method}")
    pickled, wanted = kept()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads beside a fork
        with multiprocessing.get_context(method).Pool(1) as pool:
            found = pool.apply(behaviour_of, (pickled,))
    assert differing(pickle.loads(pickled), found, wanted) == []


def test_what_is_read_only_is_so_in_a_copy() -> None:
    for one in (one for one in examples() if isinstance(one, Remade)):
        for twin in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
            for name, value in vars(twin).items():
                assert not (isinstance(value, np.ndarray) and value.flags.writeable), f"{type(one).__name__}.{name}"


def test_what_is_unique_says_so() -> None:
    assert all(issubclass(one, Unique) for one in UNIQUE)
    dog, _ = standing("quadruped", "numpy")
    with wbc.Batch(dog, 2, jobs=2, workers="threads") as batch, pytest.raises(wbc.WbcError) as error:
        pickle.dumps(batch)
    assert str(error.value) == "Batch can't be copied or pickled: it holds threads or processes; make another Batch"
    io = realtime.UdpIO(12)
    for how in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(wbc.WbcError, match="it holds a socket"):
            how(io)
    io.close()
